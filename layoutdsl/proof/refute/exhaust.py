"""Ranges of few shapes, decided by trying every index of every shape in plain integers.

Where the range bounds every extent, and all its shapes together have few elements, nothing needs to
be proved: it can be looked at. This is what decides fixed shapes whose coordinates are no digits.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import (
    Values,
    bind_index,
    ceilings,
    in_range,
    indices,
    volume,
)
from layoutdsl.proof.refute.refute import At, Examples
from layoutdsl.proof.statements.claim_statement import sides

MOST_SHAPES = 4096
MOST_ELEMENTS = 40_000
MOST_SLOTS = 20_000
"""Of all shapes together, those of the padded box included, at which an inverse is evaluated."""


def whole_range(layout: Layout) -> tuple[Values, ...] | None:
    """Return every shape of the range, the smallest first; ``None`` where they are too many."""
    most = ceilings(layout)
    names = layout.symbols
    if not set(names) <= set(most) or prod(most[name] for name in names) > MOST_SHAPES:
        return None
    boxes = product(*(range(1, most[name] + 1) for name in names))
    shapes = [dict(zip(names, extents, strict=True)) for extents in boxes]
    within = [values for values in shapes if in_range(layout, values)]
    if sum(volume(layout, values) for values in within) > MOST_ELEMENTS:
        return None
    return tuple(sorted(within, key=lambda values: volume(layout, values)))


def everywhere(shapes: tuple[Values, ...], at: At) -> Examples:
    """Return what fails at the smallest shape at which anything does; nothing, if it holds."""
    return next(filter(None, map(at, shapes)), {})


def read_alike(layout: Layout, read: dict[str, Expr], shapes: tuple[Values, ...]) -> bool:
    """Return whether formulas that were read back say what the layout says, at every index."""
    return all(_alike(layout, read, values) for values in shapes)


def _alike(layout: Layout, read: dict[str, Expr], values: Values) -> bool:
    box = tuple(evaluate(each.extent, values) for each in layout.coordinates)
    if evaluate(read["size"], values) != layout.size(values):
        return False
    if any(evaluate(read[f"box.{number}"], values) != extent for number, extent in enumerate(box)):
        return False
    domain = [*sides("domain", layout.domain)]
    every = (bind_index(layout, values, i) for i in indices(replace(layout, domain=()), values))
    return all(
        all(evaluate(read[name], at) == evaluate(side, at) for name, side in domain)
        and (not layout.holds(at) or evaluate(read["offset"], at) == layout.offset_at(at))
        for at in every
    )


def reads_back(layout: Layout, inverse: Inverse, shapes: tuple[Values, ...]) -> bool:
    """Return whether an inverse is one, at every slot and index of every shape.

    Indices below the padded extents, those of the shape among them, lie in slots of their own, each
    of which is read to its index; all other slots are read to none. Where that is too much to try,
    the answer is no.
    """
    left = MOST_SLOTS
    for values in shapes:
        try:
            padded = [evaluate(extent, values) for _, extent in inverse.padded]
            left -= layout.size(values) + prod(padded)
            if left < 0 or not _reads_back(layout, inverse, values, padded):
                return False
        except ZeroDivisionError:
            return False
    return True


def _reads_back(layout: Layout, inverse: Inverse, values: Values, padded: list[int]) -> bool:
    names = [axis.name for axis in layout.axes]
    shape, start = layout.shape_of(values), evaluate(layout.start, values)
    if any(low > high for low, high in zip(shape, padded, strict=True)):
        return False
    every = layout.all_coordinates
    held: dict[int, tuple[int, ...]] = {}
    for index in product(*map(range, padded)):
        at = {**values, **dict(zip(names, index, strict=True))}
        if not all(0 <= evaluate(each.value, at) < evaluate(each.extent, at) for each in every):
            return False
        if held.setdefault(layout.offset_at(at), index) != index:
            return False
    slots = range(start, layout.size(values))
    return held.keys() <= set(slots) and all(
        inverse.read(slot, values) == held.get(slot) for slot in slots
    )
