"""A reading of a layout tried at a few small shapes, in plain integers.

It tells likely readings from unlikely ones before anyone looks for a proof; it proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from math import prod

from layoutdsl.language.digits.steps import Inverse
from layoutdsl.language.integers.conditions import all_hold
from layoutdsl.language.integers.expr import CeilDiv, Constant, Extent, FloorDiv, Mod, indices, walk
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout

MOST_SHAPES = 4
MOST_INDICES = 96
"""Shapes that are tried, and indices of the padded box of each."""

MOST_SLOTS = 200
CANDIDATES = 1500


def reads(layout: Layout, inverse: Inverse) -> bool:
    """Return whether, at small shapes, an inverse reads every slot of its padded box."""
    tried = 0
    for values in _shapes(layout):
        try:
            box = [evaluate(extent, values) for _, extent in inverse.padded]
            if not 0 < prod(box) <= MOST_INDICES:
                continue
            tried += 1
            if not _reads_at(layout, inverse, values, box):
                return False
        except ZeroDivisionError:
            return False
        if tried == MOST_SHAPES:
            break
    return True


def _reads_at(layout: Layout, inverse: Inverse, values: Mapping[str, int], box: list[int]) -> bool:
    shape = layout.shape_of(values)
    if any(low > high for low, high in zip(shape, box, strict=True)):
        return False
    names = [axis.name for axis in layout.axes]
    held: dict[int, tuple[int, ...]] = {}
    for index in product(*map(range, box)):
        at = {**values, **dict(zip(names, index, strict=True))}
        if not all(
            0 <= evaluate(each.value, at) < evaluate(each.extent, at) for each in layout.coordinates
        ):
            return False
        held[layout.offset_at(at)] = index
    start, size = evaluate(layout.start, values), layout.size(values)
    looked_at = range(start, size) if size - start <= MOST_SLOTS else held
    return all(inverse.read(slot, values) == held.get(slot) for slot in looked_at)


def _shapes(layout: Layout) -> Iterator[dict[str, int]]:
    """Yield shapes of the range at the borders of blocks, the largest of the small ones first."""
    near = _borders(layout)
    choices = [sorted(near[name]) for name in layout.symbols]
    shapes = (
        dict(zip(layout.symbols, each, strict=True))
        for each in islice(product(*choices), CANDIDATES)
    )
    fitting = [
        values
        for values in shapes
        if prod(layout.shape_of(values)) <= MOST_INDICES and all_hold(layout.where, values)
    ]
    fitting.sort(key=lambda values: (-prod(layout.shape_of(values)), *values.values()))
    step = max(1, len(fitting) // MOST_SHAPES)
    yield from fitting[::step]
    yield from fitting


def _borders(layout: Layout) -> dict[str, set[int]]:
    """For each extent small numbers, and those around the blocks of its axes."""
    near: dict[str, set[int]] = {name: {1, 2, 3} for name in layout.symbols}
    for axis in layout.axes:
        if isinstance(axis.extent, Extent):
            for each in (part for one in layout.coordinates for part in walk(one.value)):
                match each:
                    case (
                        FloorDiv(left, Constant(block))
                        | Mod(left, Constant(block))
                        | CeilDiv(left, Constant(block))
                    ) if axis.name in indices(left) and block < MOST_INDICES:
                        near[axis.extent.name] |= {block - 1, block, block + 1, 2 * block + 1}
    return {name: {each for each in found if each > 0} for name, found in near.items()}
