"""Proofs about codes: divisions read back, and products with the step told apart. Not trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.theorem import By, Proof, Ring, Term, Theorem
from layoutdsl.proof.statements.interface_statement import ROUNDED

_STEP = "d"


def interface_proofs(theorems: Iterable[Theorem]) -> Iterator[tuple[Theorem, Proof]]:
    """Yield theorems about codes with their proofs, in their order.

    Raises:
        NoProof: a theorem says something else than it is expected to.
    """
    known = lemmas.stated()
    for theorem in theorems:
        builder = ProofBuilder(theorem, known)
        _prove(builder, known)
        yield theorem, builder.proof
        known = {**known, theorem.name: theorem}


def _prove(builder: ProofBuilder, known: Mapping[str, Theorem]) -> None:
    facts: list[str] = []
    match builder.theorem.name:
        case "codes.rounded":
            facts = _divisions(builder)
        case "codes.nearest":
            facts = [*_rounding(builder, known), *_codes_apart(builder)]
        case "codes.step":
            facts = _rounding(builder, known)
        case "codes.zero":
            facts = [*_rounding(builder, known), *_no_steps(builder)]
            same = builder.have(("=", "code", "z"), *builder.hypotheses, *facts)
            _nothing(builder, "code", same)
            return
        case "codes.padding":
            same = builder.have(("=", "fill", "z"), *builder.hypotheses)
            _nothing(builder, "fill", same)
            return
    _close(builder, *facts)


def _close(builder: ProofBuilder, *facts: str) -> None:
    for goal in builder.theorem.goals:
        builder.have(goal, *builder.hypotheses, *facts)


def _nothing(builder: ProofBuilder, code: str, same: str) -> None:
    """A code that is the zero point stands for 0."""
    builder.calculate(("*", ("-", code, "z"), "p"), By(same), Ring(0))


def _positive_step(builder: ProofBuilder) -> str:
    (product,) = builder.use("POSITIVE", {"a": "b", "b": "p"})
    return builder.rewrite(product, By(_STEP, backwards=True))


def _divisions(builder: ProofBuilder) -> list[str]:
    """Both divisions as products, and that they differ by one step at most."""
    positive = _positive_step(builder)
    twice: Term = ("*", 2, _STEP)
    builder.have(("<", 0, twice), positive)
    facts = [positive]
    for name in ("up", "down"):
        match builder.find_definition(name):
            case ("div", whole, _):
                quotient: Term = ("div", whole, twice)
                facts += builder.use("DIVISION", {"x": whole, "B": twice})
                product: Term = ("*", 2, ("*", name, _STEP))
                named = By(name, backwards=True)
                facts.append(builder.calculate(("*", quotient, twice), named, Ring(product)))
                facts.append(name)
    facts += _product(builder, ("-", ("-", "up", "down"), 2))
    facts += _product(builder, ("-", "down", "up"))
    return facts


def _product(builder: ProofBuilder, count: Term) -> list[str]:
    """So many steps, where they are not negative, are no negative number."""
    (fact,) = builder.use("PRODUCT", {"a": count, "b": _STEP})
    return [fact, builder.calculate(("*", count, _STEP), Ring(_spread(count)))]


def _spread(count: Term) -> Term:
    """A difference times the step, as a difference of products."""
    match count:
        case ("-", left, right):
            return ("-", _spread(left), _spread(right))
    return ("*", count, _STEP)


def _rounding(builder: ProofBuilder, known: Mapping[str, Theorem]) -> list[str]:
    """What is known of the number of steps, and that a step is positive."""
    stated = known[ROUNDED]
    return [
        *builder.use(ROUNDED, {each: each for each in stated.variables}),
        _positive_step(builder),
    ]


def _codes_apart(builder: ProofBuilder) -> list[str]:
    """The errors as products, and which of them grow where codes lie further apart."""
    mine: Term = ("-", "code", "z")
    theirs: Term = ("-", "other", "z")
    of_codes = (("*", each, _STEP) for each in (mine, theirs))
    facts = ["error", "wrong", *(builder.calculate(e, Ring(_spread(e[1]))) for e in of_codes)]
    for one, other in ((mine, theirs), (theirs, mine), (mine, "steps"), ("steps", mine)):
        facts += _product(builder, ("-", one, other))
    for one, other in (("steps", theirs), (theirs, "steps"), ("steps", mine), (mine, "steps")):
        facts += _product(builder, ("-", ("-", one, other), 1))
    return facts


def _no_steps(builder: ProofBuilder) -> list[str]:
    """Of 0 there is no step."""
    nothing = builder.have(("=", "a", 0), *builder.hypotheses)
    facts = [builder.calculate("n", By("n"), By(nothing), Ring(0))]
    facts += _product(builder, ("-", "steps", 1))
    facts += _product(builder, ("-", ("-", 0, "steps"), 1))
    return facts
