"""That a layout is right: its properties in words, and the theorems that each of them is."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TypeAlias

from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.statements.applied_statement import applied_properties
from layoutdsl.proof.statements.interface_statement import interface_properties

Theorems: TypeAlias = tuple[str, ...]

RANGE = "the shape range is not empty"
EXTENTS = "every coordinate stays within its extent"
BOUNDS = "every offset is in bounds"
INJECTIVE = "injective"
INVERSE = "decode inverts encode"
ONTO = "onto the padded box"
FULL = "every slot holds an element"
PADDING = "padding is exact"
PRINTED = "the printed formula is the proved one"
SIZE = "the size fits int64"
PROPERTIES = (RANGE, EXTENTS, BOUNDS, INJECTIVE, INVERSE, ONTO, PADDING, PRINTED, SIZE)
"""What is found of every layout, in this order; with a domain, FULL takes the place of ONTO.

There FULL is found where it is so: padding is no fault. More is found of codes and of applied
layouts, behind these.
"""

FILLING = ("domain.rows", "domain.full")
"""The theorems that say that every slot holds an element; not every layout is to pass them."""

UNBOUNDED = ("the buffer has at most 2**63 - 1 elements",)
"""Under this condition the size fits int64, where the range leaves an extent unbounded."""

_IN_THE_BOX: Mapping[str, Theorems] = {
    RANGE: ("range",),
    EXTENTS: ("shape", "element"),
    BOUNDS: ("shape", "element"),
    INJECTIVE: ("element", "injective"),
    INVERSE: ("element",),
    ONTO: ("encode", "decode"),
    PADDING: ("element", "padding"),
    PRINTED: ("printed",),
    SIZE: ("fits",),
}

IN_THE_DOMAIN: Mapping[str, Theorems] = {
    EXTENTS: ("domain.element",),
    BOUNDS: ("domain.element",),
    INJECTIVE: ("domain.injective",),
    INVERSE: ("domain.own", "domain.read"),
    PADDING: ("domain.own", "domain.read", "domain.decode"),
}


def rests_on(layout: Layout, known: Container[str]) -> dict[str, Theorems]:
    """Return the theorems that each property is, in the order of the properties.

    All of them have to be established. Those that say that every slot holds an element are asked
    for only where they are among the `known` ones: padding is no fault.
    """
    if not layout.domain:
        alone = ("bounds",) if "bounds" in known else None  # shown without an inverse
        in_the_box = {
            name: alone if alone and name in (EXTENTS, BOUNDS) else theorems
            for name, theorems in _IN_THE_BOX.items()
        }
        return in_the_box | interface_properties(layout) | applied_properties(layout)
    found: dict[str, Theorems] = {}
    for name, theorems in _IN_THE_BOX.items():
        if name != ONTO:
            found[name] = IN_THE_DOMAIN.get(name, theorems)
        elif all(each in known for each in FILLING):
            found[FULL] = ("domain.decode", *FILLING)
    return found | interface_properties(layout) | applied_properties(layout)


def properties_of(layout: Layout) -> Theorems:
    """Return what is found of a layout, as far as that is known before it is looked at."""
    return (*PROPERTIES, *interface_properties(layout), *applied_properties(layout))
