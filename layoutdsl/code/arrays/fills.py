"""Statements that fill slots without an element, each a box; boxes may overlap each other."""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.code.arrays.axes import Axes, CutAxis
from layoutdsl.code.arrays.names import Names
from layoutdsl.code.arrays.views import bare, split_statements
from layoutdsl.code.validate.arrays.frame import indented
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import CeilDiv, Constant, Expr, FloorDiv, Mod
from layoutdsl.language.meaning.model import Layout


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
    lines = [line for axis in axes.cut for line in _beyond(axis, axes, names, bool(splits), buffer)]
    return tuple(names.named(shape, [*lead, *splits, *lines]))


def _beyond(axis: CutAxis, axes: Axes, names: Names, is_split: bool, buffer: str) -> Iterator[str]:
    """Fill what lies beyond an axis: beyond its last block, and in each last part of a block."""
    extent, places = axis.extent, axis.places[1]
    ends = [axis.divisors[place.past - 1] for place in places]
    for k, place in enumerate(places):
        if (axis.padded is None) if k == 0 else not axis.is_ragged:
            continue
        left: Expr = extent if k == 0 else Mod(extent, Constant(ends[k - 1]))
        slots = [":" if d.constant is None else str(d.constant) for d in axes.target.dimensions]
        for j in range(k):
            over = extent if j == 0 else Mod(extent, Constant(ends[j - 1]))
            slots[places[j].dimension] = names.text(FloorDiv(over, Constant(ends[j])))
        slots[place.dimension] = f"{names.text(CeilDiv(left, Constant(ends[k])))}:"
        line = f"{'slots' if is_split else buffer}[{', '.join(bare(slots))}] = item"
        yield from [line] if k == 0 else [f"if {names.text(left)}:", *indented([line])]
