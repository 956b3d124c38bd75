"""Properties that hold as trying every index of a small range shows."""

from __future__ import annotations

from layoutdsl.language.digits.inverse import Inverse, invert
from layoutdsl.language.meaning.claims import AnyClaim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values
from layoutdsl.proof.properties.known import property_of
from layoutdsl.proof.properties.record import part_claims
from layoutdsl.proof.refute import refute
from layoutdsl.proof.refute.exhaust import everywhere, read_alike, reads_back, whole_range
from layoutdsl.proof.refute.table_refute import table_seen_to_hold
from layoutdsl.proof.statements import table_statement
from layoutdsl.proof.statements.applied_statement import INDICES
from layoutdsl.proof.statements.printed import formulas_read_back
from layoutdsl.proof.statements.sound import (
    BOUNDS,
    EXTENTS,
    INJECTIVE,
    INVERSE,
    ONTO,
    PADDING,
    PRINTED,
)
from layoutdsl.proof.statements.terms import NotExpressible

IN_INTEGERS = {EXTENTS, BOUNDS, INJECTIVE, INDICES}
"""The properties of the layout itself; the others speak of formulas that we derive from it."""


def seen_to_hold(layout: Layout, shapes: tuple[Values, ...]) -> set[str]:
    """Return the properties that hold as trying every index of every shape of the range shows.

    Where no two elements share a slot, the index is found again from its slot, and padding is the
    rest, by the definition of `Layout.decode`. A closed inverse is evaluated at every slot; where
    it is none, there is no padded box.
    """
    if everywhere(shapes, refute.unsound(layout)):
        return set()
    decided = {*IN_INTEGERS, INVERSE, PADDING}
    inverse = invert(layout)
    if isinstance(inverse, Inverse) and reads_back(layout, inverse, shapes):
        decided.add(ONTO)
    try:
        if read_alike(layout, formulas_read_back(layout, None), shapes):
            decided.add(PRINTED)
    except NotExpressible:
        pass
    return decided


def inhabited(claim: AnyClaim) -> bool:
    """Return whether a shape is found that the claim speaks of: of none, anything holds."""
    if isinstance(claim, TableClaim):
        frame = table_statement.common(claim).frame
    elif isinstance(claim, RecordClaim):
        frame = claim.ranged.frame
    elif isinstance(claim.predicate, Sound):
        frame = claim.ranged
    else:
        frame = property_of(claim).common
    return refute.first_element(frame) is not None


def seen(claim: AnyClaim) -> set[str]:
    """Return the properties of a claim that hold as trying every index of a small range shows."""
    if isinstance(claim, TableClaim):
        return table_seen_to_hold(claim)
    if isinstance(claim, RecordClaim):
        return {each.named(name) for each in part_claims(claim) for name in seen(each.claim)}
    if isinstance(claim.predicate, Sound):
        shapes = whole_range(claim.ranged)
        return set() if shapes is None else seen_to_hold(claim.ranged, shapes)
    found = property_of(claim)
    shapes, at = whole_range(found.common), found.tries()
    if shapes is None or at is None or everywhere(shapes, at):
        return set()
    return {found.words}
