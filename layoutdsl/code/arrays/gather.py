"""The way without digits: every element goes to the offset that the formula gives it."""

from __future__ import annotations

from layoutdsl.code.arrays.names import Names, targets, tuple_text
from layoutdsl.code.validate.arrays.frame import GRIDS, HELD, OFFSET, OFFSETS, function, indented
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.languages import NUMPY, PYTHON
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr


def gather_fills(layout: Layout, names: Names) -> tuple[str, ...]:
    """Return the statements that fill all slots before elements are put into theirs."""
    start = names.text(layout.start)
    if layout.start == ZERO:
        return ("buffer[...] = item",)
    lead = ("if out is None:", f"    buffer[:{start}] = item")
    return tuple(names.named("src.shape", [*lead, f"buffer[{start}:] = item"]))


def gather_functions(layout: Layout, names: Names, *, grids: bool) -> list[str]:
    """Return `_slots`, which yields the offsets of some elements at a time, and what it calls.

    Of a layout with copies `_slots` yields all slots, and `_first_slots` those that are read.

    Args:
        layout: any.
        names: of its extents.
        grids: offsets are computed in arrays of 64 bits; else one by one, as integers of any size.
    """
    first = _slots(layout.first_copy, "_first_slots", names, grids=grids) if layout.copies else []
    return [
        *_slots(layout, "_slots", names, grids=grids),
        *first,
        *(HELD if layout.domain and grids else []),
        *(GRIDS if grids else []),
    ]


def _slots(layout: Layout, name: str, names: Names, *, grids: bool) -> list[str]:
    index = [names[axis.name] for axis in layout.axes]
    own = [names[axis.name] for axis in layout.element_axes]
    several = targets(index) or "()"
    place = names.exactly(offset_expr(layout), NUMPY if grids else PYTHON)
    found = f"yield {tuple_text(own)}, {place}"
    inner = [found]
    if layout.domain and grids:
        tests = " & ".join(f"({names.condition(each, NUMPY)})" for each in layout.domain)
        inner = [f"{several} = _held({tuple_text(index)}, {tests})", found]
    elif layout.domain:
        tests = " and ".join(names.condition(each) for each in layout.domain)
        inner = [f"if {tests}:", f"    {found}"]
    shape = names.tuple([axis.extent for axis in layout.axes]) if layout.copies else "shape"
    lines = [f"for {several} in {f'_grids({shape})' if grids else f'np.ndindex(*{shape})'}:"]
    body = names.named("shape", [*lines, *indented(inner)])
    said = '"""Yield indices of elements, and the offset of each."""'
    return function(name, "shape: tuple[int, ...]", OFFSETS if grids else OFFSET, [said, *body])
