"""The slots without an element, as boxes that may overlap, and the statements that fill them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from layoutdsl.code.arrays.axes import Axes, CutAxis
from layoutdsl.code.arrays.names import Names
from layoutdsl.code.arrays.views import bare, split_statements
from layoutdsl.code.validate.arrays.frame import indented
from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.expr import CeilDiv, Constant, Expr, FloorDiv, Mod
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Beyond:
    """Slots beyond the end of an axis, where a digit of it has no more indices.

    Attributes:
        left: an extent; there are no such slots if it is 0. `None` if there always are.
        at: the position in each dimension that has only one.
        dimension: the dimension in which the slots lie behind others.
        first: the first position there.
    """

    left: Expr | None
    at: Mapping[int, Expr]
    dimension: int
    first: Expr


def beyond(axes: Axes) -> Iterator[Beyond]:
    """Yield all slots without an element in the split buffer of a target without gaps."""
    dimensions = enumerate(axes.target.dimensions)
    still = {k: Constant(each.constant) for k, each in dimensions if each.constant is not None}
    for axis in axes.cut:
        yield from _beyond(axis, still)


def fills(axes: Axes, names: Names, layout: Layout, buffer: str = "buffer") -> tuple[str, ...]:
    """Return statements that fill all slots of a buffer without an element with `item`.

    Args:
        axes: of the move whose target is the buffer.
        names: of the extents.
        layout: that of the target.
        buffer: its name.
    """
    shape = "src.shape" if buffer == "buffer" else "shape"
    start = layout.start
    lead = list[str]()
    if start != ZERO:
        lead = ["if out is None:", f"    {buffer}[:{names.text(start)}] = item"]
    if not axes.has_padding:
        return tuple(names.named(shape, lead))
    if axes.has_gaps:
        places = "..." if start == ZERO else f"{names.text(start)}:"
        return tuple(names.named(shape, [*lead, f"{buffer}[{places}] = item"]))
    splits = split_statements(axes.target, "slots", names, buffer)
    rank, filled = len(axes.target.dimensions), "slots" if splits else buffer
    lines = [line for each in beyond(axes) for line in _fill(each, rank, names, filled)]
    return tuple(names.named(shape, [*lead, *splits, *lines]))


def _beyond(axis: CutAxis, still: Mapping[int, Expr]) -> Iterator[Beyond]:
    """Yield the slots beyond an axis: behind its last block, and in each last part of a block."""
    extent, places, ends = axis.extent, axis.places[1], axis.ends
    for k, place in enumerate(places):
        if (axis.padded[1] is None) if k == 0 else axis.multiple % ends[k - 1] == 0:
            continue
        left = extent if k == 0 else simplify(Mod(extent, Constant(ends[k - 1])))
        if left == ZERO:
            continue
        at = dict(still)
        for j in range(k):
            over = extent if j == 0 else Mod(extent, Constant(ends[j - 1]))
            at[places[j].dimension] = FloorDiv(over, Constant(ends[j]))
        first = CeilDiv(left, Constant(ends[k]))
        is_there = k == 0 or isinstance(left, Constant)
        yield Beyond(None if is_there else left, at, place.dimension, first)


def _fill(box: Beyond, rank: int, names: Names, buffer: str) -> Iterator[str]:
    slots = [names.text(box.at[k]) if k in box.at else ":" for k in range(rank)]
    slots[box.dimension] = f"{names.text(box.first)}:"
    line = f"{buffer}[{', '.join(bare(slots))}] = item"
    yield from [line] if box.left is None else [f"if {names.text(box.left)}:", *indented([line])]
