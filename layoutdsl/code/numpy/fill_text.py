"""What padding holds, as Python: the argument `fill`, the item that it is, the buffer it fills."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from layoutdsl.code.moves import Plan
from layoutdsl.code.numpy.element_text import within
from layoutdsl.code.numpy.regions_text import leaves_gaps, leaves_slots_beyond, split_name
from layoutdsl.code.numpy.words import Words, indented
from layoutdsl.language.meaning.elements import ElementType, Fill, FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.model import Layout


def fill_argument(fill: Fill) -> str:
    """Return the argument for the number in padding."""
    if isinstance(fill, FillValue):
        return f"fill: _Number = {number_text(fill.value)}"
    return "fill: _Number | None = None"


def number_text(value: float) -> str:
    """Return a number as Python, which has no literal for infinity and NaN."""
    return str(value) if isfinite(value) else f"float({str(value)!r})"


def fill_words(fill: Fill) -> str:
    """Return what is said of the argument `fill`."""
    match fill:
        case FillValue():
            return "the number in padding; what the type cannot hold is refused."
        case FillAny():
            new = "without it, 0 in a new buffer, and `out` keeps its own."
            return f"the number in padding; {new}"
        case FillZeroPoint():
            return "the quantised zero, which padding holds."


def fill_item(fill: Fill, element: ElementType | None, source: str = "tensor") -> list[str]:
    """Return the lines that make the fill one item, of the type of the source."""
    match fill:
        case FillValue():
            lines = [f"item = _item(fill, {source}.dtype)"]
        case FillAny():
            lines = [f"item = _item(0 if fill is None else fill, {source}.dtype)"]
        case FillZeroPoint():
            lines = [
                "if fill is None:",
                '    raise TypeError("`fill` is missing: it is the quantised zero of the tensor")',
                f"item = _item(fill, {source}.dtype)",
            ]
    return [*lines, *within(element, "item")]


def guarded(fill: Fill, lines: Sequence[str]) -> list[str]:
    """Return lines that fill, unless `out` is to keep its padding."""
    if isinstance(fill, FillAny) and lines:
        return ["if out is None or fill is not None:", *indented(lines)]
    return list(lines)


def fill_gaps(plan: Plan) -> list[str]:
    """Return the lines that fill the padding of a buffer that is split."""
    lines: list[str] = []
    if leaves_slots_beyond(plan):
        lines += ["for rest in _beyond(buffer, shape):", "    _fill(rest, item)"]
    if leaves_gaps(plan):
        lines += ["for gap in gaps:", f"    _fill({split_name(plan)}[gap], item)"]
    return lines


def destination(layout: Layout, words: Words, source: str = "tensor") -> list[str]:
    """Return the lines that make a buffer of the type of the source, or take `out` for it."""
    fresh = [f"buffer = np.empty(box, {source}.dtype)"]
    if layout.is_flat:
        fresh.append(f"buffer[:{words.text(layout.start)}] = item")
    return [
        "if out is None:",
        *indented(fresh),
        "else:",
        f"    buffer = _destination(out, box, {source})",
    ]
