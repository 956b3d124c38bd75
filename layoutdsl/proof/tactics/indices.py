"""Proof that applied indices stay in their shapes: `applied_statement.indices`. Not trusted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from layoutdsl.language.integers.bounds import Reach, reach
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    indices,
    text,
)
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof, ProofBuilder
from layoutdsl.proof.kernel.certificate import establish
from layoutdsl.proof.kernel.theorem import By, Proof, Term, Theorem
from layoutdsl.proof.statements import applied_statement
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.congruence import Wanted
from layoutdsl.proof.tactics.domain_proof import Working
from layoutdsl.proof.tactics.polynomials import Bounds
from layoutdsl.proof.tactics.tries import tried
from layoutdsl.proof.tactics.within import in_range


def prove_indices(layout: Layout) -> tuple[Theorem, Proof]:
    """Return the theorem about the applied indices of a layout, with a proof.

    Raises:
        NoProof: no proof was found.
        NotExpressible: the checker's terms cannot say an index.
    """
    ground, theorem = applied_statement.indices(layout)
    last = None
    for proof in _proofs(ground, theorem):
        last = proof
        (outcome,) = establish([(theorem, proof)]).values()
        if outcome.established:
            break
    if last is None:
        raise NoProof("no bounds of an applied index were found")
    return theorem, last


def _proofs(ground: Ground, theorem: Theorem) -> Iterator[Proof]:
    """Yield candidates: by the bounds of digits, by natural extents, by all hypotheses at once."""

    def by_digits(wanted: Wanted) -> ProofBuilder:
        return in_range(ground, theorem, ProofBuilder(theorem, lemmas.stated()), wanted)[0]

    with suppress(NoProof):
        yield tried(by_digits).proof
    with suppress(NoProof):
        yield _by_reach(ground, theorem)
    working = Working(ground, ProofBuilder(theorem, lemmas.stated()))
    for goal in theorem.goals:
        if working.builder.find(goal) is None:
            working.have(goal)
    yield working.builder.proof


def _by_reach(ground: Ground, theorem: Theorem) -> Proof:
    reaching = _Reaching(ground, ProofBuilder(theorem, lemmas.stated()))
    for each in ground.layout.coordinates:
        reaching.prove(each)
    return reaching.builder.proof


class _Reaching:
    """Bounds of expressions by the rules of natural extents: ``p/W`` is below ``ceil(P/W)``."""

    def __init__(self, ground: Ground, builder: ProofBuilder) -> None:
        self._ground, self.builder = ground, builder
        names = [name for name, _ in builder.theorem.definitions]
        shared = frozenset(name for name in names if name.startswith("r."))
        self.arithmetic = Arithmetic(builder, frozenset(), shared)

    def prove(self, index: Coordinate) -> None:
        """Prove that an index is in its extent."""
        extent = self._term(index.extent)
        axes = {axis.name: axis.extent for axis in self._ground.layout.axes}
        match index.value, reach(index.value, axes):
            case FloorDiv(left, right), Reach(_, high) if not same(high, index.extent):
                self._below_exactly(left, self._term(right), extent)
            case _:
                self.arithmetic.below(self._bounds(index.value).high, extent)

    def _below_exactly(self, left: Expr, divisor: Term, extent: Term) -> None:
        """``p/H < C`` because ``p < P`` and the range says ``P == C*H``."""
        whole = self._bounds(left)
        self.arithmetic.positive(divisor)
        high = whole.high
        for hypothesis in self.builder.hypotheses:
            match self.builder.formula(hypothesis):
                case ("=", upper, _) if upper == whole.upper:
                    high = self.builder.rewrite(high, By(hypothesis))
                    break
        self.arithmetic.below(high, ("*", extent, divisor))
        values = {"x": self._term(left), "A": extent, "B": divisor}
        self.builder.use("UNPAIR", values)

    def _term(self, expr: Expr) -> Term:
        return self._ground.vocabulary.term(expr)

    def _bounds(self, expr: Expr) -> Bounds:
        """Return an upper bound, and the facts ``0 <= expr`` and ``expr < upper``."""
        builder, term = self.builder, self._term(expr)
        match expr:
            case Index(name):
                upper = self._ground.extent(name)
                low, high = builder.find(("<=", 0, term)), builder.find(("<", term, upper))
                assert low is not None
                assert high is not None
                return Bounds(upper, low, high)
            case Constant() | Extent():
                upper = ("+", term, 1)
                low = self.arithmetic.not_negative(term)
                return Bounds(upper, low, builder.have(("<", term, upper)))
            case FloorDiv(left, right):
                return self._quotient(self._bounds(left), left, self._term(right))
            case Mod(left, right):
                divisor = self._term(right)
                self.arithmetic.positive(divisor)
                facts = builder.use("DIVISION", {"x": self._term(left), "B": divisor})
                return Bounds(divisor, facts[1], facts[2])
            case Mul(left, right) if not indices(right):
                return self._product(self._bounds(left), left, self._term(right))
            case Add(left, right):
                one, other = self._bounds(left), self._bounds(right)
                upper = ("-", ("+", one.upper, other.upper), 1)
                low = builder.have(("<=", 0, term), one.low, other.low)
                return Bounds(upper, low, builder.have(("<", term, upper), one.high, other.high))
            case MixedRadix(parts):
                return self._joined(parts)
        raise NoProof(f"no bounds of `{text(expr)}` are known")

    def _quotient(self, whole: Bounds, left: Expr, divisor: Term) -> Bounds:
        builder = self.builder
        self.arithmetic.positive(divisor)
        upper: Term = ("div", ("+", whole.upper, ("-", divisor, 1)), divisor)
        value = self._term(left)
        if builder.find(("<", 0, whole.upper)) is None:
            builder.have(("<", 0, whole.upper), whole.low, whole.high)
        _, covers = builder.use("CEILING", {"E": whole.upper, "B": divisor})
        builder.have(("<", value, ("*", upper, divisor)), whole.high, covers)
        facts = builder.use("UNPAIR", {"x": value, "A": upper, "B": divisor})
        return Bounds(upper, facts[0], facts[1])

    def _product(self, factor: Bounds, left: Expr, right: Term) -> Bounds:
        builder, value = self.builder, self._term(left)
        self.arithmetic.not_negative(right)
        last: Term = ("-", factor.upper, 1)
        builder.have(("<=", value, last), factor.high)
        (most,) = builder.use("MONOTONE", {"a": value, "b": last, "k": right})
        (least,) = builder.use("PRODUCT", {"a": value, "b": right})
        term: Term = ("*", value, right)
        upper: Term = ("+", ("*", last, right), 1)
        nonnegative = builder.find(("<=", 0, right))
        assert nonnegative is not None
        low = builder.have(("<=", 0, term), least, factor.low, nonnegative)
        return Bounds(upper, low, builder.have(("<", term, upper), most))

    def _joined(self, parts: tuple[Coordinate, ...]) -> Bounds:
        first, *rest = parts
        found = self._bounds(first.value)
        upper = self._term(first.extent)
        found = Bounds(upper, found.low, self.arithmetic.below(found.high, upper))
        so_far = self._term(first.value)
        for each in rest:
            digit, radix, value = (
                self._bounds(each.value),
                self._term(each.extent),
                self._term(each.value),
            )
            self.arithmetic.below(digit.high, radix)
            facts = self.builder.use("PAIR", {"a": so_far, "b": value, "A": upper, "B": radix})
            so_far = ("+", ("*", so_far, radix), value)
            upper = ("*", upper, radix)
            found = Bounds(upper, facts[0], facts[1])
        return found
