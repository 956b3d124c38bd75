"""What a certificate has to prove: the theorems of a claim, written anew from the claim alone.

Trusted, with the statements that it calls: a certificate stands for a claim only where its theorems
are these. Nothing here has seen a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutdsl.claims import INTEGER_TYPES, Claim, Fits, Sound
from layoutdsl.inverse import Inverse, invert
from layoutdsl.model import Layout
from layoutdsl.prove import claim_statement, statement
from layoutdsl.prove.check import (
    Predicate,
    common_range,
    conditions_of,
    property_of,
    stated,
    tries,
)
from layoutdsl.prove.exhaust import everywhere, whole_range
from layoutdsl.prove.layout_check import RESTS_ON, UNBOUNDED, printed, seen_to_hold
from layoutdsl.prove.terms import Unstated
from layoutdsl.prove.theorem import Theorem
from layoutdsl.prove.verdict import ONTO, PROPERTIES, SIZE

_OF_SLOTS = {
    "shape": statement.shape,
    "encode": statement.encode,
    "element": statement.element,
    "injective": statement.injective,
    "decode": statement.decode,
    "padding": statement.padding,
}
_IN_BOUNDS = ("shape", "encode", "element")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of one property.

    Attributes:
        property: in words.
        rests_on: the theorems that it is; with none, its conditions say all.
        conditions: under which it is said to be proved.
        optional: whether it may be left out where every index was tried.
    """

    property: str
    rests_on: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    optional: bool = False


def wanted(claim: Claim, theorems: Mapping[str, Theorem]) -> tuple[Wanted, ...]:
    """Return the properties of a claim, and on which of the theorems at hand each has to rest."""
    if isinstance(claim.predicate, Sound):
        return tuple(_wanted_of_layout(name, theorems) for name in PROPERTIES)
    name = property_of(claim.predicate)
    conditions = conditions_of(claim.ranged, claim.predicate)
    return (Wanted(name, _named(claim.predicate), conditions),)


def _wanted_of_layout(name: str, theorems: Mapping[str, Theorem]) -> Wanted:
    if name == SIZE and "fits" not in theorems:
        return Wanted(name, (), UNBOUNDED)
    return Wanted(name, RESTS_ON[name], optional=name == ONTO)


def _named(predicate: Predicate) -> tuple[str, ...]:
    kind = type(predicate).__name__
    own = {
        "EqualsLayout": "equal",
        "EqualsFormula": "formula",
        "Fits": "fits",
        "Keeps": "contiguous",
        "Aligns": "aligned",
    }[kind]
    return (own, *_IN_BOUNDS) if isinstance(predicate, Fits) else (own,)


def restated(claim: Claim, shape: Mapping[str, int] | None) -> dict[str, Theorem]:
    """Return every theorem of a claim by name, as far as the checker's terms can say it.

    Args:
        claim: what the theorems are about.
        shape: a shape that the range is said to contain.
    """
    layout, predicate = claim.ranged, claim.predicate
    found: dict[str, Theorem] = {}
    if isinstance(predicate, Sound):
        found |= _of_layout(layout, shape)
    else:
        try:
            theorem = stated(layout, predicate)[1]
            found[theorem.name] = theorem
        except Unstated:
            pass
        if isinstance(predicate, Fits):
            found |= {n: each for n, each in _of_slots(layout).items() if n in _IN_BOUNDS}
    return found


def _of_layout(layout: Layout, shape: Mapping[str, int] | None) -> dict[str, Theorem]:
    found = _of_slots(layout)
    inverse = invert(layout)
    try:
        ground = statement.ground(layout)
        if shape is not None:
            found["range"] = statement.nonempty(ground, shape)
        found["fits"] = claim_statement.fits(ground, INTEGER_TYPES["int64"].largest)
        closed = inverse if isinstance(inverse, Inverse) else None
        found["printed"] = printed(layout, closed)[1]
    except Unstated:
        pass
    return found


def _of_slots(layout: Layout) -> dict[str, Theorem]:
    inverse = invert(layout)
    if not isinstance(inverse, Inverse):
        return {}
    try:
        ground = statement.ground(layout, tuple(extent for _, extent in inverse.padded))
        return {name: state(ground, inverse) for name, state in _OF_SLOTS.items()}
    except Unstated:
        return {}


def seen(claim: Claim) -> set[str]:
    """Return the properties of a claim that hold as trying every index of a small range shows."""
    layout, predicate = claim.ranged, claim.predicate
    if isinstance(predicate, Sound):
        shapes = whole_range(layout)
        return set() if shapes is None else seen_to_hold(layout, shapes)
    shapes = whole_range(common_range(layout, predicate))
    name = property_of(predicate)
    at = tries(layout, predicate, name)
    if shapes is None or at is None or everywhere(shapes, at):
        return set()
    return {name}
