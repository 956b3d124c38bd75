"""What dividing a number that is not negative leaves: a lemma, proved like everything else."""

from __future__ import annotations

from functools import cache

from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.checker import Proof, Ring, Term, Theorem

_Q: Term = ("div", "x", "B")
_R: Term = ("mod", "x", "B")
_UP: Term = ("+", "x", ("-", "B", 1))
_C: Term = ("div", _UP, "B")

DIVIDE = Theorem(
    "DIVIDE",
    ("x", "B"),
    (("<=", 0, "x"), ("<", 0, "B")),
    (
        ("=", ("+", ("*", _Q, "B"), _R), "x"),
        ("<=", 0, _R),
        ("<", _R, "B"),
        ("<=", 0, _Q),
        (
            "or",
            ("and", ("=", _C, _Q), ("=", _R, 0)),
            ("and", ("=", _C, ("+", _Q, 1)), ("<", 0, _R)),
        ),
    ),
)
"""Quotient, remainder, and the quotient that is rounded up."""


@cache
def divide() -> tuple[Theorem, Proof]:
    """Return the lemma with its proof."""
    builder = ProofBuilder(DIVIDE, lemmas.stated())
    facts = [*builder.hypotheses, *builder.use("DIVISION", {"x": "x", "B": "B"})]
    facts += builder.use("DIVISION", {"x": _UP, "B": "B"})
    below: Term = ("-", ("-", 0, 1), _Q)
    facts += _product(builder, below, ("-", ("-", 0, "B"), ("*", _Q, "B")))
    for step in (0, 1, 2):
        over: Term = ("-", ("-", _C, _Q), step)
        gap: Term = ("-", ("*", _C, "B"), ("*", _Q, "B"))
        facts += _product(builder, over, ("-", gap, ("*", step, "B")))
        facts += _product(builder, ("-", 0, over), ("-", ("*", step, "B"), gap))
    facts += _product(
        builder,
        ("-", ("-", _Q, _C), 1),
        ("-", ("-", ("*", _Q, "B"), ("*", _C, "B")), "B"),
    )
    for goal in DIVIDE.goals:
        builder.have(goal, *facts)
    return DIVIDE, builder.proof


def _product(builder: ProofBuilder, left: Term, expanded: Term) -> list[str]:
    """A number that is not negative, times the divisor, is not negative."""
    (fact,) = builder.use("PRODUCT", {"a": left, "b": "B"})
    return [fact, builder.calculate(("*", left, "B"), Ring(expanded))]
