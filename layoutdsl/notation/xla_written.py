"""What a text of XLA says: extents, order, tiles and attributes; and the text that says it.

Source: OpenXLA, `Layout::Print` and `ShapeUtil::PrintHumanStringWithLayout`, for the spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from layoutdsl.language.meaning.elements import Fill, FillAny, FillValue

UNSPECIFIED = FillAny()
PADDING: dict[str, Fill] = {
    "INVALID_PAD": UNSPECIFIED,
    "UNKNOWN_PAD": UNSPECIFIED,
    "ZERO_PAD": FillValue(0),
    "ONE_PAD": FillValue(1),
}
"""What padding of the older proto holds."""


@dataclass(frozen=True, slots=True)
class Room:
    """The extent of a dimension; ``bounded`` where it is only the largest, ``None`` for ``?``."""

    value: int | None
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """Where a dimension, counted from the most major, is split among memories."""

    dimension: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What a text says, before it means anything.

    Attributes:
        order: dimensions from the most minor; ``None`` where the text has no braces.
        kind: the element type as XLA calls it, ``None`` where the braces stand alone.
        extents: of the shape, where there is one.
        tiles: their sizes, ``None`` for ``*``.
        tail: elements whose multiple the size is rounded up to.
        bits: of an element, 0 where the text does not say.
        space: number of the memory space.
        prefix: bytes before the first element.
        index: type of the indices, ``pointer`` of the pointers, of a sparse array.
        buffer: whether the shape stands in ``b(...)``.
        padded: extents of the older proto, with ``fill``.
    """

    order: tuple[int, ...] | None
    kind: str | None = None
    extents: tuple[Room, ...] | None = None
    tiles: tuple[tuple[int | None, ...], ...] = ()
    tail: int = 1
    bits: int = 0
    space: int = 0
    splits: tuple[Split, ...] = ()
    prefix: int = 0
    index: str | None = None
    pointer: str | None = None
    buffer: bool = False
    padded: tuple[int, ...] = ()
    fill: Fill = UNSPECIFIED

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        given = self.extents if self.order is None else self.order
        return 0 if given is None else len(given)


def spelled(written: Written) -> str:
    """Return the text, as XLA prints it; what it leaves out is left out."""
    if written.padded or written.fill != UNSPECIFIED:
        return _proto(written)
    if written.kind is None or written.extents is None:
        return _braces(written)
    array = f"{written.kind}[{','.join(map(_room, written.extents))}]"
    braces = _braces(written)
    array += "" if braces == "{}" else braces
    return f"b({array})" if written.buffer else array


def _room(extent: Room) -> str:
    return "?" if extent.value is None else f"{'<=' if extent.bounded else ''}{extent.value}"


def _braces(written: Written) -> str:
    order = range(written.rank - 1, -1, -1) if written.order is None else written.order
    attributes = "".join(_attributes(written))
    return f"{{{_listed(order)}{':' if attributes else ''}{attributes}}}"


def _attributes(written: Written) -> Iterator[str]:
    if written.tiles:
        yield "T" + "".join(
            f"({_listed('*' if n is None else n for n in t)})" for t in written.tiles
        )
    if written.tail != 1:
        yield f"L({written.tail})"
    if written.index is not None:
        yield f"#({written.index})"
    if written.pointer is not None:
        yield f"*({written.pointer})"
    if written.bits:
        yield f"E({written.bits})"
    if written.space:
        yield f"S({written.space})"
    if written.splits:
        yield "SC" + "".join(
            f"({each.dimension}:{_listed(each.places)})" for each in written.splits
        )
    if written.prefix:
        yield f"M({written.prefix})"


def _listed(words: Iterable[object]) -> str:
    return ",".join(map(str, words))


def _proto(written: Written) -> str:
    words = [f"minor_to_major: [{', '.join(map(str, written.order or ()))}]"]
    if written.padded:
        words.append(f"padded_dimensions: [{', '.join(map(str, written.padded))}]")
    names = [name for name, fill in PADDING.items() if fill == written.fill != UNSPECIFIED]
    return " ".join([*words, *(f"padding_value: {name}" for name in names)])
