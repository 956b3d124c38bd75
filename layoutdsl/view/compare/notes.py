"""What two layouts say differently without lying differently: fill, chunks, element type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.digit import times
from layoutdsl.language.integers.expr import Expr, text
from layoutdsl.language.meaning.elements import Fill, FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Note:
    """A difference that is none of offsets and sizes; what either layout says, in words."""

    subject: Literal["fill", "chunks", "element"]
    one: str
    other: str


def notes(one: Layout, other: Layout) -> tuple[Note, ...]:
    """Return what two layouts say differently of anything but offsets and sizes."""
    pairs: tuple[tuple[Literal["fill", "chunks", "element"], str, str], ...] = (
        ("fill", _fill(one.fill), _fill(other.fill)),
        ("chunks", _chunks(one), _chunks(other)),
        ("element", _element(one), _element(other)),
    )
    return tuple(Note(*each) for each in pairs if each[1] != each[2])


def _fill(fill: Fill) -> str:
    match fill:
        case FillValue(value):
            return f"padding holds {value}"
        case FillAny():
            return "padding holds no particular value"
        case FillZeroPoint():
            return "padding holds the quantised zero"


def _chunks(layout: Layout) -> str:
    if layout.chunk_rank is None:
        return "there are no chunks"
    size: Expr = ONE
    for each in layout.coordinates[layout.chunk_rank :]:
        size = times(size, each.extent)
    return f"a chunk has {text(size)} elements"


def _element(layout: Layout) -> str:
    if layout.element is None:
        return "elements are of any type"
    codes = "" if layout.interface is None else ", codes of real numbers"
    return f"of {layout.element.name}{codes}"
