"""Whether the index functions of a layout compute in integers of some width, with the proof.

Proofs go through the largest values of extents; a slot is followed digit by digit.
Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.integers.expr import Constant, Extent
from layoutdsl.language.meaning.claims import Claim, Computes, Fits, OffsetsFit
from layoutdsl.language.meaning.elements import IntegerType
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.shapes import ceilings
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Proved, Refuted, Undecided, in_words, unproved
from layoutdsl.proof.refute.refute import first_element
from layoutdsl.proof.statements import functions_statement
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics import functions_proof

LARGEST_POWER = 62


@dataclass(frozen=True, slots=True)
class Enough:
    """A type that is enough for the functions of a layout in its range, and the proof of it."""

    layout: Layout
    type: IntegerType
    proved: Proved


def enough(
    layout: Layout, inverse: Inverse | None, types: Sequence[IntegerType]
) -> Enough | Refuted | Undecided:
    """Return the first of some types that is enough; what is found of the last one, if none is.

    Where the range has no largest shape, types of 64 bits are looked at in the part of it up to a
    power of two. What refutes a type is a shape, with an index whose offset or the way to it does
    not fit, or whose buffer does not.
    """
    found = attempts(layout, inverse, types)
    if isinstance(found, Enough):
        return found
    if types[-1].largest > 1 << 32 and _unbounded(layout):
        return bounded(layout, inverse, types) or found
    refuted = _refuted(layout, types[-1])
    return found if refuted is None else refuted


def attempts(
    layout: Layout, inverse: Inverse | None, types: Sequence[IntegerType]
) -> Enough | Undecided:
    """Return the first of some types that is proved to be enough; never a refutation."""
    *others, last = types
    for each in others:
        finding = attempt(layout, inverse, each)
        if isinstance(finding, Proved):
            return Enough(layout, each, finding)
    finding = attempt(layout, inverse, last)
    return Enough(layout, last, finding) if isinstance(finding, Proved) else finding


def attempt(layout: Layout, inverse: Inverse | None, type_: IntegerType) -> Proved | Undecided:
    """Return what comes of trying to prove it; never a refutation.

    Args:
        layout: its ``where`` clause is the range.
        inverse: the closed inverse that is one of the functions, if there is one.
        type_: of all values on the way.
    """
    name = _property(type_)
    try:
        stated = functions_statement.functions(layout, inverse, type_)
        proofs = [(each.theorem, functions_proof.proof(ground, each)) for ground, each in stated]
    except (NoProof, NotExpressible) as reason:
        return unproved(name, str(reason))
    outcomes = establish(proofs).values()
    failed = next((each for each in outcomes if not each.established), None)
    if failed is not None:
        return Undecided(name, in_words(failed.reason))
    questions = sum(each.questions for each in outcomes)
    return Proved(name, (), Certificate(tuple(proofs)), questions)


def _property(type_: IntegerType) -> str:
    return f"index functions compute in {type_.name}"


def _refuted(layout: Layout, type_: IntegerType) -> Refuted | None:
    for predicate in (OffsetsFit(type_), Computes(type_), Fits(type_)):
        for finding in check(Claim("prove", layout, predicate)).findings:
            if isinstance(finding, Refuted):
                return finding
    return None


def _unbounded(layout: Layout) -> list[str]:
    bounded = ceilings(layout)
    return [name for name in layout.symbols if name not in bounded]


def bounded(layout: Layout, inverse: Inverse | None, types: Sequence[IntegerType]) -> Enough | None:
    """Return the type that is enough for extents up to the largest power of two, and that range.

    Extents that have a largest value keep it. ``None`` where none is enough for any power.
    """
    free = _unbounded(layout)
    found: Enough | None = None
    low = 0
    for type_ in types:
        high = LARGEST_POWER + 1
        while low < high:
            power = (low + high) // 2
            narrow = _upto(layout, free, power)
            finding = attempt(narrow, inverse, type_)
            if isinstance(finding, Proved):
                found, low = Enough(narrow, type_, finding), power + 1
            else:
                high = power
    return found if found is not None and first_element(found.layout) else None


def _upto(layout: Layout, extents: list[str], power: int) -> Layout:
    most = Constant(1 << power)
    narrow = tuple(Condition(Extent(name), "<=", most) for name in extents)
    return replace(layout, where=(*layout.where, *narrow))
