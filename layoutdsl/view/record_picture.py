"""A record at a shape, drawn: every byte of the buffer, every element of each field.

A byte says which elements have bits in it. Where all is drawn `Record.every_bit` says which those
are; of what is too large the ends are drawn, and each bit of them is looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Protocol

from layoutdsl.language.meaning.model import Shape
from layoutdsl.language.meaning.part import part_address
from layoutdsl.language.meaning.record import Field, Held, Record
from layoutdsl.view.cells import Bits, Cell, Colour, Drawn, Entry, Kind, Line, Tensor
from layoutdsl.view.folding import kept
from layoutdsl.view.grounds import EIGHT
from layoutdsl.view.panels import panels
from layoutdsl.view.record_words import axis_names
from layoutdsl.view.words import at_shape, filled_text

BYTE = 8
COLUMNS = 16
FEW, FOLDED = 1 << 14, 256
"""Bytes, or elements of a field, that are drawn; and how many where each bit is searched for."""

IN_A_BYTE = 2
"""Elements of one byte that are written in it; where there are more, how many."""

Piece = tuple[int, int, int]
"""A bit of a byte, the number of its element, and which bit of it that is."""


def drawn_record(
    record: Record, shape: Shape, columns: int | None = None, most: int = FEW
) -> Drawn:
    """Return the picture of a record at a shape; what is too large is folded.

    Args:
        record: what is drawn.
        shape: of it.
        columns: bytes of a row.
        most: bytes, or elements of a field, that are drawn whole.

    Raises:
        ValueError: the shape does not fit.
    """
    return _Painter(record, record.bind(shape), columns or COLUMNS, most).drawn()


class _Known(Protocol):
    """Who says what lies where."""

    def held(self, byte: int) -> Sequence[tuple[int, Held]]:
        """The bits of a byte that hold something, each with what it holds."""

    def bytes_of(self, field: Field, index: tuple[int, ...]) -> tuple[int, ...]:
        """The bytes that hold an element."""


class _Listed:
    """All bits of a record, listed once."""

    def __init__(self, record: Record, values: Mapping[str, int]) -> None:
        self.of_byte: dict[int, list[tuple[int, Held]]] = {}
        self.of_element: dict[tuple[str, tuple[int, ...]], set[int]] = {}
        for _, held, address in record.every_bit(values):
            byte, bit = divmod(address, BYTE)
            self.of_byte.setdefault(byte, []).append((bit, held))
            self.of_element.setdefault((held.field, held.index), set()).add(byte)

    def held(self, byte: int) -> Sequence[tuple[int, Held]]:
        return self.of_byte.get(byte, ())

    def bytes_of(self, field: Field, index: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(self.of_element.get((field.name, index), ())))


class _LookedUp:
    """The bits of a record, each looked up when it is asked for."""

    def __init__(self, record: Record, values: Mapping[str, int]) -> None:
        self.record, self.values = record, values
        self.size = record.size_bits_at(values)

    def held(self, byte: int) -> Sequence[tuple[int, Held]]:
        last = min(BYTE, self.size - byte * BYTE)
        return [
            (bit, held)
            for bit in range(last)
            for held in self.record.holders(byte * BYTE + bit, self.values)
        ]

    def bytes_of(self, field: Field, index: tuple[int, ...]) -> tuple[int, ...]:
        found: set[int] = set()
        for part in field.parts:
            own = part.own_index(index, self.values)
            if own is not None:
                bits = range(len(part.bits))
                found |= {part_address(part, own, bit, self.values) // BYTE for bit in bits}
        return tuple(sorted(found))


class _Painter:
    """A record at a shape while it is drawn."""

    def __init__(self, record: Record, values: dict[str, int], columns: int, most: int) -> None:
        self.record, self.values, self.columns = record, values, columns
        self.size = record.size_bits_at(values)
        self.bytes = -(-self.size // BYTE)
        self.shapes = {each.name: each.shape(values) for each in record.fields}
        self.whole = max(self.bytes, *map(prod, self.shapes.values())) <= most
        self.most = most if self.whole else min(most, FOLDED)
        self.known: _Known = (_Listed if self.whole else _LookedUp)(record, values)
        self.bases: dict[str, int] = {}
        before = 0
        for name, extents in self.shapes.items():
            self.bases[name] = before
            before += prod(extents)

    def key(self, field: str, index: Sequence[int]) -> int:
        number = 0
        for place, extent in zip(index, self.shapes[field], strict=True):
            number = number * extent + place
        return self.bases[field] + number

    def named(self, key: int) -> tuple[int, str]:
        """The number of the field of an element, and its index as it is written in a byte."""
        names = list(self.bases)
        number = max(k for k, name in enumerate(names) if self.bases[name] <= key)
        rest, index = key - self.bases[names[number]], list[str]()
        for extent in reversed(self.shapes[names[number]]):
            rest, place = divmod(rest, extent)
            index.insert(0, str(place))
        long = [k for k, extent in enumerate(self.shapes[names[number]]) if extent > 1]
        name = names[number]
        dot = "." if name[-1].isdigit() and long else ""
        return number, f"{name}{dot}{','.join(index[k] for k in long)}"

    # The buffer.

    def cell(self, byte: int) -> Cell:
        pieces = sorted(
            (bit, self.key(held.field, held.index), held.bit) for bit, held in self.known.held(byte)
        )
        bits = tuple(self._bits(byte, pieces))
        if not pieces:
            return Cell(byte, "padding", "", bits=bits)
        keys = tuple(dict.fromkeys(key for _, key, _ in pieces))
        places = [bit for bit, _, _ in pieces]
        kind: Kind = "element" if len(set(places)) == len(places) else "shared"
        words = [self.named(key) for key in keys]
        label = " ".join(text for _, text in words[:IN_A_BYTE])
        more = f" +{len(words) - IN_A_BYTE}" if len(words) > IN_A_BYTE else ""
        return Cell(byte, kind, label + more, words[0][0], keys, bits=bits)

    def _bits(self, byte: int, pieces: Sequence[Piece]) -> Iterator[Bits]:
        """Runs of bits that hold bits of one element, and those that hold none."""
        at = 0
        for bit, key, of in pieces:
            if bit > at:
                yield Bits(at, bit - 1, None, 0)
            yield Bits(bit, bit, key, of)
            at = bit + 1
        end = min(BYTE, self.size - byte * BYTE)
        if at < end:
            yield Bits(at, end - 1, None, 0)

    def lines(self) -> Iterator[Line]:
        rows = -(-self.bytes // self.columns)
        (drawn,) = kept((rows,), max(2, self.most // self.columns))
        before = -1
        for row in drawn:
            low = row * self.columns
            last = min(low + self.columns, self.bytes)
            cells = tuple(_gathered(self.cell(byte)) for byte in range(low, last))
            yield Line(low, (), cells, row - before - 1)
            before = row

    # The fields.

    def tensor(self, field: Field, ground: int) -> Tensor:
        extents = self.shapes[field.name]
        axes = tuple(zip(axis_names(field), extents, strict=True))

        def entry(place: tuple[int, ...]) -> Entry | None:
            key = self.key(field.name, place)
            where = self.known.bytes_of(field, place)
            label = str(where[0]) if where else "none"
            return Entry(key, label, where, ground)

        found = panels(axes, entry, self.most)
        return Tensor(field.name, axes, self.bases[field.name], found)

    def drawn(self) -> Drawn:
        fields, lines = self.record.fields, tuple(self.lines())
        tensors = tuple(self.tensor(each, k) for k, each in enumerate(fields))
        elements = sum(map(prod, self.shapes.values()))
        counts = [f"{self.bytes} bytes", f"{elements} elements of {len(fields)} fields"]
        kinds = [cell.kind for line in lines for cell in line.cells]
        if self.whole and "padding" in kinds:
            counts.append(f"{kinds.count('padding')} bytes of padding")
        return Drawn(
            at_shape(self.record.name, tuple(self.values.items())),
            ", ".join(counts),
            "byte",
            (),
            lines,
            tensors,
            tuple(self.legend(kinds)),
            tuple(Colour(k, f"{f.name}: {f.element.name}") for k, f in enumerate(fields)),
            len(EIGHT),
            filled_text(self.record.fill),
            self.folded(len(kinds), elements, tensors),
        )

    def legend(self, kinds: Sequence[Kind]) -> Iterator[str]:
        yield "Each byte shows the elements that have bits in it."
        yield "Each element of a field shows its first byte."
        if "padding" in kinds:
            yield f"Hatched bytes are padding{filled_text(self.record.fill)}."
        if "shared" in kinds:
            yield "Red bytes have a bit that several elements want."
        yield "Each colour is one field."

    def folded(self, drawn: int, elements: int, tensors: Sequence[Tensor]) -> str:
        every = [panel for tensor in tensors for panel in tensor.panels]
        shown = sum(len(row) for panel in every for row in panel.rows)
        if drawn == self.bytes and shown == elements:
            return ""
        words = f"Too large to be drawn whole: {drawn} of {self.bytes} bytes"
        return f"{words} and {shown} of {elements} elements are shown."


def _gathered(cell: Cell) -> Cell:
    """The same, where neighbouring bits of one element are a run."""
    runs: list[Bits] = []
    for each in cell.bits:
        last = runs[-1] if runs and each.key is not None else None
        follows = last and (last.key, last.first + last.high - last.low + 1)
        if last and follows == (each.key, each.first):
            runs[-1] = Bits(last.low, each.high, last.key, last.first)
        else:
            runs.append(each)
    return Cell(cell.number, cell.kind, cell.label, cell.ground, cell.holds, bits=tuple(runs))
