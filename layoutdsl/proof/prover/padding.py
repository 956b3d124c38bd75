"""Proofs that a buffer has at most so many slots for each element. Not trusted.

The ratio of slots to elements is a product of small quotients, ``ceil(C/16)*16`` over ``C``, each
with a bound of its own. That is one question in linear arithmetic for each; BOUND multiplies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.checker import Proof, Term, Theorem
from layoutdsl.proof.prover.verdict import Proved, Undecided, in_words, unproved
from layoutdsl.proof.statements import claim_statement, statement
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import NotExpressible, Vocabulary
from layoutdsl.proof.tactics.arith import Arithmetic

PADDING = "the buffer has no more slots for an element"


@dataclass(frozen=True, slots=True)
class Share:
    """A quotient that is at most ``most``: a few factors of the size, over a few extents."""

    top: Expr
    bottom: Expr
    most: Fraction


def prove_ratio(
    layout: Layout, most: Fraction, shares: Sequence[Sequence[Share]]
) -> Proved | Undecided:
    """Prove that the slots are at most ``most`` times the elements, for all shapes of the range.

    Args:
        layout: gives the range.
        most: the bound.
        shares: for the box, and for the slots before it if there are such, quotients whose product
            is the slots per element.
    """
    try:
        ground = statement.ground(layout)
        theorem = claim_statement.per_element(ground, most.numerator, most.denominator)
        proved = [(theorem, _proof(ground, theorem, shares))]
    except (NoProof, NotExpressible) as reason:
        return unproved(PADDING, str(reason))
    outcome = establish(proved)[theorem.name]
    if not outcome.established:
        return Undecided(PADDING, in_words(outcome.reason))
    return Proved(PADDING, (), Certificate(tuple(proved)), outcome.questions)


def _proof(ground: Ground, theorem: Theorem, shares: Sequence[Sequence[Share]]) -> Proof:
    builder = ProofBuilder(theorem, lemmas.stated())
    arithmetic = Arithmetic(builder, frozenset(name for name, _ in theorem.definitions))
    writer = _Writer(arithmetic, Vocabulary(_extremes(ground)))
    facts = [fact for each in shares for fact in writer.product(each)]
    (goal,) = theorem.goals
    match goal:
        case ("<=", left, right):
            facts += [writer.plain(left), writer.plain(right)]
    builder.have(goal, *facts)
    return builder.proof


def _extremes(ground: Ground) -> dict[Expr, str]:
    return {e: name for e, name in ground.vocabulary.shared.items() if name.startswith("m.")}


class _Writer:
    def __init__(self, arithmetic: Arithmetic, vocabulary: Vocabulary) -> None:
        self._arithmetic = arithmetic
        self._builder = arithmetic.builder
        self._vocabulary = vocabulary

    def plain(self, term: Term) -> str:
        """Return the fact that a term equals its normal form."""
        return self._arithmetic.values.equation(term)

    def product(self, shares: Sequence[Share]) -> list[str]:
        """Bound a product of quotients; both sides are said in normal form as well."""
        top, bottom = self._share(shares[0])
        for each in shares[1:]:
            one, other = self._share(each)
            values = {"a": top, "b": one, "A": bottom, "B": other}
            self._builder.use("BOUND", values)
            top, bottom = ("*", top, one), ("*", bottom, other)
        bound = self._builder.find(("<=", top, bottom))
        if bound is None:
            raise NoProof("the bounds of the parts do not fit together")
        return [bound, self.plain(top), self.plain(bottom)]

    def _share(self, share: Share) -> tuple[Term, Term]:
        above, below = self._vocabulary.term(share.top), self._vocabulary.term(share.bottom)
        top = _times(share.most.denominator, above)
        bottom = _times(share.most.numerator, below)
        hypotheses = self._builder.hypotheses
        self._not_negative(above, top)
        self._builder.have(("<=", top, bottom), *hypotheses)
        return top, bottom

    def _not_negative(self, term: Term, multiple: Term) -> None:
        fact = self._arithmetic.not_negative(term)
        self._builder.have(("<=", 0, multiple), fact)


def _times(number: int, term: Term) -> Term:
    return term if number == 1 else ("*", number, term)
