"""A record at a shape, drawn: every byte of the buffer, every element of each field.

A byte says which elements have bits in it, and `Record.every_bit` says which those are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from layoutdsl.meaning.model import Shape
from layoutdsl.meaning.record import Field, Record
from layoutdsl.showing.cells import Bits, Cell, Colour, Drawn, Entry, Kind, Line, Tensor
from layoutdsl.showing.grounds import EIGHT
from layoutdsl.showing.panels import panels
from layoutdsl.showing.words import at_shape, filled_text

BYTE = 8
COLUMNS = 16
MOST_BYTES = 1 << 14
"""Of a buffer that is drawn, and elements of a field."""

IN_A_BYTE = 2
"""Elements of one byte that are written in it; where there are more, how many."""

Piece = tuple[int, int, int]
"""A bit of a byte, the number of its element, and which bit of it that is."""


class TooLargeToDrawError(ValueError):
    """A picture would have too many cells."""


def drawn_record(record: Record, shape: Shape, columns: int | None = None) -> Drawn:
    """Return the picture of a record at a shape.

    Raises:
        TooLargeToDrawError: it has too many bytes or elements.
        ValueError: the shape does not fit.
    """
    return _Painter(record, record.bind(shape), columns or COLUMNS).drawn()


class _Painter:
    """A record at a shape while it is drawn."""

    def __init__(self, record: Record, values: dict[str, int], columns: int) -> None:
        self.record, self.values, self.columns = record, values, columns
        self.size = record.size_bits_at(values)
        self.bytes = -(-self.size // BYTE)
        self.shapes = {each.name: each.shape(values) for each in record.fields}
        largest = max(self.bytes, *map(prod, self.shapes.values()))
        if largest > MOST_BYTES:
            message = f"`{record.name}` has {self.bytes} bytes at this shape"
            raise TooLargeToDrawError(
                f"{message}, and {MOST_BYTES} bytes or elements can be drawn; take a smaller shape"
            )
        self.bases: dict[str, int] = {}
        before = 0
        for name, extents in self.shapes.items():
            self.bases[name] = before
            before += prod(extents)
        self.held: dict[int, list[Piece]] = {}
        self.of_element: dict[int, set[int]] = {}
        for _, held, address in record.every_bit(values):
            key = self.key(held.field, held.index)
            byte, bit = divmod(address, BYTE)
            self.held.setdefault(byte, []).append((bit, key, held.bit))
            self.of_element.setdefault(key, set()).add(byte)

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
        pieces = sorted(self.held.get(byte, ()))
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
        for low in range(0, self.bytes, self.columns):
            last = min(low + self.columns, self.bytes)
            cells = tuple(_gathered(self.cell(byte)) for byte in range(low, last))
            yield Line(low, (), cells)

    # The fields.

    def tensor(self, field: Field, ground: int) -> Tensor:
        extents = self.shapes[field.name]
        axes = tuple((f"[{k}]", extent) for k, extent in enumerate(extents))

        def entry(place: tuple[int, ...]) -> Entry | None:
            key = self.key(field.name, place)
            where = tuple(sorted(self.of_element.get(key, ())))
            label = str(where[0]) if where else "none"
            return Entry(key, label, where, ground)

        found = panels(axes, entry, MOST_BYTES)
        return Tensor(field.name, axes, self.bases[field.name], found)

    def drawn(self) -> Drawn:
        fields = self.record.fields
        free = self.bytes - len(self.held)
        elements = sum(map(prod, self.shapes.values()))
        counts = [f"{self.bytes} bytes", f"{elements} elements of {len(fields)} fields"]
        if free:
            counts.append(f"{free} bytes of padding")
        return Drawn(
            at_shape(self.record.name, tuple(self.values.items())),
            ", ".join(counts),
            "byte",
            (),
            tuple(self.lines()),
            tuple(self.tensor(each, k) for k, each in enumerate(fields)),
            tuple(self.legend(free)),
            tuple(Colour(k, f"{f.name}: {f.element.name}") for k, f in enumerate(fields)),
            len(EIGHT),
            filled_text(self.record.fill),
            "",
        )

    def legend(self, free: int) -> Iterator[str]:
        yield "A byte says the elements that have bits in it; an element, its first byte."
        yield "Colours tell fields apart."
        if free:
            yield f"Hatched is padding{filled_text(self.record.fill)}."
        if any(cell.kind == "shared" for line in self.lines() for cell in line.cells):
            yield "Red: a bit is held twice."


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
