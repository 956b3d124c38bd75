"""Proof of `bounds`: coordinates stay in their extents, and offsets in the buffer.

It needs no inverse, so it is tried where a layout has none, or where none was proved. Not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.checker import By, Term, Theorem
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import index_name
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.congruence import Wanted
from layoutdsl.proof.tactics.polynomials import Bounds


def prove_bounds(
    ground: Ground, theorem: Theorem, lemmas: Mapping[str, Theorem], wanted: Wanted
) -> ProofBuilder:
    """Return the finished builder.

    Raises:
        NoProof: a step could not be found.
    """
    builder, arithmetic = in_range(ground, theorem, ProofBuilder(theorem, lemmas), wanted)
    _slot(ground, arithmetic)
    return builder


def in_range(
    ground: Ground, theorem: Theorem, builder: ProofBuilder, wanted: Wanted
) -> tuple[ProofBuilder, Arithmetic]:
    """Prove that every coordinate is below its extent, from the bounds of its digits.

    Raises:
        NoProof: a step could not be found.
    """
    names = [name for name, _ in theorem.definitions]
    expand = frozenset(name for name in names if name.startswith("v."))
    shared = frozenset(name for name in names if name.startswith("r."))
    arithmetic = Arithmetic(builder, expand, shared, wanted)
    for axis in ground.layout.axes:
        name, extent = index_name(axis.name), ground.extent(axis.name)
        low, high = builder.find(("<=", 0, name)), builder.find(("<", name, extent))
        assert low is not None
        assert high is not None
        arithmetic.digit(name, Bounds(extent, low, high))
    arithmetic.assumed(theorem)
    for each in ground.layout.all_coordinates:
        value, extent = ground.vocabulary.term(each.value), ground.vocabulary.term(each.extent)
        arithmetic.in_range(value, extent)
    return builder, arithmetic


def _slot(ground: Ground, arithmetic: Arithmetic) -> None:
    """Coordinates below their extents join to a slot below their product."""
    builder = arithmetic.builder
    low, high = arithmetic.in_range("v.0", ground.radix(0))
    low = builder.rewrite(low, By("h.0", backwards=True))
    high = builder.rewrite(high, By("h.0", backwards=True))
    high = builder.calculate_in(high, ("<", "h.0", "p.0"), "p.0")
    for number in range(1, len(ground.layout.coordinates)):
        radix = ground.radix(number)
        arithmetic.in_range(f"v.{number}", radix)
        values: dict[str, Term] = {
            "a": f"h.{number - 1}",
            "b": f"v.{number}",
            "A": f"p.{number - 1}",
            "B": radix,
        }
        fold = (By(f"h.{number}", backwards=True), By(f"p.{number}", backwards=True))
        low, high = (builder.rewrite(each, *fold) for each in builder.use("PAIR", values)[:2])
    for goal in builder.theorem.goals:
        match goal:
            case ("<=" | "<", _, "slot") | ("<", "slot", _):
                builder.have(goal, "slot", low, high)
