"""Whether every bit of a record holds what it has to, by the formulas of its parts.

The address of every bit is that of `Record.bit_address`, worked out for many elements at once from
the layouts of the parts, and not what the code that packs has made of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.pieces.cut import Piece
from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.weights.compared import ASTRAY, Difference, Fault, Unlike, bits_at
from layoutdsl.files.weights.given import Given, as_item
from layoutdsl.files.weights.rows import Rows
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Field
from layoutdsl.language.offsets.arrays import slots


@dataclass(frozen=True, slots=True)
class PlacedFields:
    """Tensors and the record that they became, as unsigned integers.

    Attributes:
        name: of what they became.
        rows: of the record.
        tensors: the names of the tensors, in the order of the fields.
        given: these; nothing where there are only free bits to look at.
        made: the bytes of the record, of one axis.
    """

    name: str
    rows: Rows
    tensors: tuple[str, ...]
    given: tuple[Given, ...]
    made: Stored

    def cost(self, elements: int, slots_: int) -> int:
        """Return the bytes that some rows take while they are looked at."""
        record, values = self.rows.record, self.rows.values
        largest = max(
            prod(each.shape(values)) * (2 * each.element.item[1] + 60) for each in record.fields
        )
        return elements * -(-largest // self.rows.count) + 11 * slots_

    def differs(self, piece: Piece) -> Fault | None:
        """Return the first difference within some rows."""
        made = np.empty(piece.slots, self.made.dtype)
        self.made.read((piece.first,), made)
        free = np.ones(8 * len(made), bool)
        for number, field in enumerate(self.rows.record.fields):
            found = self._field(field, piece, made, free)
            if isinstance(found, Unlike | Difference):
                return found
            if self.given:
                wanted = self.given[number].read(self._box(field, piece))
                fault = self._unlike(number, field, piece, found, wanted)
                if fault is not None:
                    return fault
        return self._free(piece, made, free)

    def _box(self, field: Field, piece: Piece) -> Piece:
        return self.rows.field_box(field.shape(self.rows.values), piece)

    def _field(self, field: Field, piece: Piece, made: Array, free: Array) -> Array | Unlike:
        """The elements of a field that lie in some rows, as unsigned integers."""
        width = field.element.item[1]
        whole = np.zeros(self._box(field, piece).extents, f"<u{width}")
        for part in field.parts:
            digits = [each for picks in part.picks for each in picks]
            extents = [evaluate(each.extent, self.rows.of(piece)) for each in digits]
            picked = tuple(slice(None) if each.name else each.fixed for each in digits)
            held = whole.reshape(extents)[(*picked, ...)]
            for bit, places in self._addresses(part, piece):
                inside = places - 8 * piece.first
                if inside.size and not 0 <= inside.min() <= inside.max() < len(free):
                    return Unlike(self.name, ASTRAY)
                free[inside] = False
                found = bits_at(made, inside).astype(whole.dtype)
                held |= (found << whole.dtype.type(part.low + bit)).reshape(held.shape)
        return as_item(whole, field.element)

    def _addresses(self, part: Part, piece: Piece) -> Iterator[tuple[int, Array]]:
        """Where each bit of the elements of a part lies, in bits of the whole record."""
        layout, values = part.in_bits, part.shape(self.rows.values)
        shape = layout.shape_of(values)
        starts, ends = [0] * len(shape), list(shape)
        if self.rows.along is not None:
            starts[0], ends[0] = piece.starts[0], piece.starts[0] + piece.extents[0]
        for bit in range(shape[-1]):
            starts[-1], ends[-1] = bit, bit + 1
            grids = [
                np.arange(start, end).reshape([-1 if n == axis else 1 for n in range(len(shape))])
                for axis, (start, end) in enumerate(zip(starts, ends, strict=True))
            ]
            extents = [end - start for start, end in zip(starts, ends, strict=True)]
            found = np.broadcast_to(np.asarray(slots(layout, values, grids)), extents)
            yield bit, found[..., 0]

    def _unlike(
        self, number: int, field: Field, piece: Piece, found: Array, wanted: Array
    ) -> Fault | None:
        wrong = found != wanted
        if not wrong.any():
            return None
        at = np.unravel_index(int(wrong.argmax()), wrong.shape)
        has, needs = int(found[at]), int(wanted[at])
        starts = self._box(field, piece).starts
        index = tuple(int(s + i) for s, i in zip(starts, at, strict=True))
        name, bit = self.tensors[number], ((has ^ needs) & -(has ^ needs)).bit_length() - 1
        if bit >= field.element.bits:
            return Unlike(name, f"holds {needs:#x} at {index}, which is no {field.element.name}")
        values = dict(self.rows.values)
        place = self.rows.record.bit_address(field.name, index, bit, values)
        return Difference(name, index, place, "bit", needs >> bit & 1, has >> bit & 1)

    def _free(self, piece: Piece, made: Array, free: Array) -> Difference | None:
        if isinstance(self.rows.record.fill, FillAny):
            return None
        places = np.flatnonzero(free)
        wrong = bits_at(made, places) != 0
        if not wrong.any():
            return None
        place = int(places[int(wrong.argmax())]) + 8 * piece.first
        return Difference(self.name, None, place, "padding bit", 0, 1)
