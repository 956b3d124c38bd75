"""Where an element of a record lies, bit by bit, and what a byte of its buffer holds.

Nothing is printed here; `record_words` writes it. The answers are `Part.own_index` and
`Record.holders`, in plain integers, so they are also right of a record that is wrong: where a bit
is in two parts, both are said, and where it is in none, that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from layoutdsl.language.integers.expr import substitute, text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Indices, Shape
from layoutdsl.language.meaning.parameters import constants
from layoutdsl.language.meaning.part import Part, part_address
from layoutdsl.language.meaning.record import Held, Record
from layoutdsl.view.places import Named, Term, terms

BYTE = 8


@dataclass(frozen=True, slots=True)
class Run:
    """Bits of an element that lie side by side, the lowest first.

    Attributes:
        part: that holds them, as messages call it.
        low: the lowest bit of the element.
        high: the highest.
        address: where the lowest lies, in bits from the start of the buffer.
        offset: of the slot that holds it, as the part counts.
        slot_bits: of such a slot.
        start: slots before the first.
        terms: what each coordinate of the part adds to the offset.
    """

    part: str
    low: int
    high: int
    address: int
    offset: int
    slot_bits: int
    start: int
    terms: tuple[Term, ...]

    @property
    def byte(self) -> int:
        """The byte in which the lowest bit lies."""
        return self.address // BYTE

    @property
    def bit(self) -> int:
        """The bit of that byte, low bits first."""
        return self.address % BYTE


@dataclass(frozen=True, slots=True)
class RecordPlacement:
    """Where the bits of an element lie.

    Attributes:
        shape: every extent and parameter of the record with its value.
        element: the type of the field.
        runs: part by part.
        missing: bits that are in no part, each run as its lowest and its highest.
    """

    record: Record
    shape: Named
    field: str
    index: tuple[int, ...]
    element: ElementType
    runs: tuple[Run, ...]
    missing: tuple[tuple[int, int], ...]


def record_where(
    record: Record, field: str, index: Indices, shape: Shape, bit: int | None = None
) -> RecordPlacement:
    """Return where the bits of an element lie, or one of them.

    Raises:
        ValueError: there is no such field, element or bit, or the shape does not fit.
    """
    values, found = record.bind(shape), record.field(field)
    given = found.index(index, values)
    asked = range(found.element.bits) if bit is None else range(found.bit(bit), bit + 1)
    runs: list[Run] = []
    for part in found.parts:
        own = part.own_index(given, values)
        held = range(max(asked[0], part.low), min(asked[-1], part.bits[-1]) + 1)
        if own is not None and held:
            runs += _runs(part, own, held, values)
    within = [number for each in runs for number in range(each.low, each.high + 1)]
    missing = tuple(_gathered([each for each in asked if each not in within]))
    shown = tuple(values.items())
    return RecordPlacement(record, shown, field, given, found.element, tuple(runs), missing)


def _runs(part: Part, own: tuple[int, ...], held: range, values: dict[str, int]) -> Iterator[Run]:
    """The bits of an element that a part holds, cut where the next is not beside the last."""
    addresses = [part_address(part, own, bit - part.low, values) for bit in held]
    start = 0
    for place in range(1, len(held) + 1):
        if place == len(held) or addresses[place] != addresses[place - 1] + 1:
            yield _run(part, own, held[start:place], addresses[start], values)
            start = place


def _run(
    part: Part, own: tuple[int, ...], held: range, address: int, values: dict[str, int]
) -> Run:
    layout, extents = part.layout, part.shape(values)
    index = own if layout.bit_of is None else (*own, held[0] - part.low)
    names = [axis.name for axis in layout.axes]
    numbers = {**extents, **dict(zip(names, index, strict=True))}
    put = constants(numbers)
    return Run(
        part.label,
        held[0],
        held[-1],
        address,
        layout.offset_at(numbers),
        part.slot_bits,
        evaluate(layout.start, extents),
        terms(
            layout,
            [evaluate(each.value, numbers) for each in layout.coordinates],
            [text(substitute(each.value, put)) for each in layout.coordinates],
            extents,
        ),
    )


def _gathered(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Numbers that follow each other, as the first and the last."""
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], numbers[place - 1]
            start = place


@dataclass(frozen=True, slots=True)
class HeldBits:
    """Bits of one byte that hold bits of one element, or padding.

    Attributes:
        low: the lowest bit of the byte.
        high: the highest.
        holds: an element, padding, or nothing, where the buffer ends within the byte.
        field: of the element; ``None`` where there is none, as for the others.
        index: of the element.
        first: which bit of the element the lowest is.
    """

    low: int
    high: int
    holds: Literal["element", "padding", "after"]
    field: str | None = None
    index: tuple[int, ...] | None = None
    first: int | None = None


@dataclass(frozen=True, slots=True)
class HeldByte:
    """What one byte of the buffer of a record holds; ``bytes`` are how many it has."""

    record: Record
    shape: Named
    byte: int
    bytes: int
    bits: tuple[HeldBits, ...]


def record_at(record: Record, byte: int, shape: Shape, bit: int | None = None) -> HeldByte:
    """Return what a byte of the buffer holds, or one bit of it.

    Raises:
        ValueError: the shape does not fit, or there is no such byte or bit.
    """
    values = record.bind(shape)
    size = record.size_bits_at(values)
    count = -(-size // BYTE)
    if not 0 <= byte < count:
        raise ValueError(f"byte {byte} is outside the buffer of {count} bytes")
    if bit is not None and not 0 <= bit < BYTE:
        raise ValueError(f"bit {bit} is outside 0..{BYTE - 1} of a byte")
    asked = range(BYTE) if bit is None else range(bit, bit + 1)
    shown = tuple(values.items())
    held = [(each, _held(record, byte * BYTE + each, size, shape)) for each in asked]
    return HeldByte(record, shown, byte, count, tuple(_joined(held)))


def _held(record: Record, address: int, size: int, shape: Shape) -> tuple[Held | str, ...]:
    if address >= size:
        return ("after",)
    return tuple(record.holders(address, shape)) or ("padding",)


def _joined(held: Sequence[tuple[int, tuple[Held | str, ...]]]) -> Iterator[HeldBits]:
    """Bits side by side that hold bits side by side of one element; what is held twice, by bits."""
    start = 0
    for place in range(1, len(held) + 1):
        if place == len(held) or not _follows(held[place - 1][1], held[place][1]):
            low, high = held[start][0], held[place - 1][0]
            yield from (_bits(low, high, each) for each in held[start][1])
            start = place


def _follows(last: tuple[Held | str, ...], next_: tuple[Held | str, ...]) -> bool:
    after = tuple(
        Held(each.field, each.index, each.bit + 1) if isinstance(each, Held) else each
        for each in last
    )
    return after == next_


def _bits(low: int, high: int, held: Held | str) -> HeldBits:
    match held:
        case Held(field, index, bit):
            return HeldBits(low, high, "element", field, index, bit)
        case "after":
            return HeldBits(low, high, "after")
    return HeldBits(low, high, "padding")
