"""A table at a shape, drawn: every slot with the index that is read off it, every element.

A cell says what `Table.decode` says. Of what is too large the ends of the buffer are drawn, and the
tensor is not: which slots hold an element is known once every slot was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod

from layoutdsl.language.integers.expr import text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Shape
from layoutdsl.language.meaning.table import Table
from layoutdsl.view.cells import Cell, Drawn, Entry, Kind, Line, Tensor
from layoutdsl.view.folding import kept, numbers
from layoutdsl.view.grounds import EIGHT
from layoutdsl.view.panels import panels
from layoutdsl.view.picture import FEW, FOLDED, MOST_REASONS, cut_into
from layoutdsl.view.rows import place_of
from layoutdsl.view.words import at_shape


def drawn_table(table: Table, shape: Shape, columns: int | None = None, most: int = FEW) -> Drawn:
    """Return the picture of a table at a shape; what is too large is folded.

    Args:
        table: what is drawn.
        shape: of the tensor.
        columns: slots of a row; ``None`` for the most minor coordinates that fit.
        most: slots, or elements, that are drawn whole.

    Raises:
        ValueError: the shape does not fit, or there are no slots.
    """
    return _Painter(table, table.frame.bind(shape), columns, most).drawn()


class _Painter:
    """A table at a shape while it is drawn."""

    def __init__(
        self, table: Table, values: Mapping[str, int], columns: int | None, most: int
    ) -> None:
        frame = table.frame
        self.table, self.values = table, values
        self.box = frame.box(values) or (1,)
        if min(self.box) < 1:
            raise ValueError(f"`{table.name}` has no slots at this shape")
        self.size, self.extents = prod(self.box), frame.shape_of(values)
        self.cut = cut_into(frame, self.box, columns)
        self.whole = max(self.size, prod(self.extents)) <= most
        self.most = most if self.whole else min(most, FOLDED)
        self.reasons = 0
        self.written = [k for k, extent in enumerate(self.extents) if extent > 1]

    def bound(self, slot: int) -> dict[str, int]:
        place = place_of(slot, self.box)
        names = [each.name for each in self.table.slots]
        return {**self.values, **dict(zip(names, place, strict=False))}

    def index(self, slot: int) -> tuple[int, ...] | None:
        return self.table.decode_at(self.bound(slot), self.extents)

    @cached_property
    def holders(self) -> Mapping[tuple[int, ...], list[int]]:
        """The slots of each element, where all is drawn."""
        found: dict[tuple[int, ...], list[int]] = {}
        for slot in range(self.size) if self.whole else ():
            index = self.index(slot)
            if index is not None:
                found.setdefault(index, []).append(slot)
        return found

    def key(self, index: Sequence[int]) -> int:
        """The number of an element, row by row."""
        number = 0
        for place, extent in zip(index, self.extents, strict=True):
            number = number * extent + place
        return number

    # The buffer.

    def ground(self, slot: int) -> int:
        """The number of a colour: that of the run along the last coordinate that moves."""
        return slot // self.inner % len(EIGHT)

    @cached_property
    def inner(self) -> int:
        return next((extent for extent in reversed(self.box) if extent > 1), 1)

    def cell(self, slot: int) -> Cell:
        index, opens = self.index(slot), slot % self.inner == 0
        if index is None:
            reason = self.reason(slot) if self.reasons < MOST_REASONS else ""
            return Cell(slot, "padding", "", reason=reason, opens=opens)
        label = ",".join(str(index[k]) for k in self.written) or "*"
        kind: Kind = "shared" if len(self.holders.get(index, ())) > 1 else "element"
        ground = self.ground(slot)
        return Cell(slot, kind, label, ground, (self.key(index),), opens=opens)

    def reason(self, slot: int) -> str:
        """Which index lies outside of the tensor, and how it is read off the slot."""
        self.reasons += 1
        at, words = self.bound(slot), list[str]()
        rows = zip(self.table.axes, self.table.index, self.extents, strict=True)
        for axis, expr, extent in rows:
            value = evaluate(expr, at)
            if not 0 <= value < extent:
                read = "" if text(expr) == str(value) else f" = {value}"
                words.append(f"{axis.name} = {text(expr)}{read} is outside 0..{extent - 1}")
        return "; ".join(words)

    def lines(self) -> Iterator[Line]:
        cut, box, before = self.cut, self.box, -1
        across = -(-box[cut.at] // cut.per)
        outer = (*box[: cut.at], across)
        for row in numbers(kept(outer, max(1, self.most // (cut.per * cut.inner))), outer):
            group, part = divmod(row, across)
            low = part * cut.per
            first = (group * box[cut.at] + low) * cut.inner
            count = min(cut.per, box[cut.at] - low) * cut.inner
            cells = tuple(self.cell(first + k) for k in range(count))
            yield Line(first, cut.head(first), cells, row - before - 1)
            before = row

    # The tensor.

    def entry(self, place: tuple[int, ...]) -> Entry:
        slots = tuple(self.holders.get(place, ()))
        more = f" +{len(slots) - 1}" if len(slots) > 1 else ""
        label = f"{slots[0]}{more}" if slots else "none"
        return Entry(self.key(place), label, slots, self.ground(slots[0]) if slots else 0)

    # The whole.

    def drawn(self) -> Drawn:
        table, lines = self.table, tuple(self.lines())
        named = tuple((axis.name, n) for axis, n in zip(table.axes, self.extents, strict=True))
        found = panels(named, self.entry, self.most) if self.whole else ()
        return Drawn(
            at_shape(table.name, tuple(self.values.items())),
            self.counts(),
            "offset",
            tuple(table.slots[k].name for k in self.cut.shown),
            lines,
            (Tensor("", named, 0, found),),
            tuple(self.legend(lines)),
            (),
            len(EIGHT),
            "",
            self.folded(lines),
        )

    def counts(self) -> str:
        elements = prod(self.extents)
        words = [f"{self.size} slots", f"{elements} elements"]
        if self.whole:
            held = sum(map(len, self.holders.values()))
            words += [f"{self.size - held} of padding"]
            lost = elements - len(self.holders)
            words += [f"{lost} in no slot"] if lost else []
        return ", ".join(words)

    def legend(self, lines: Sequence[Line]) -> Iterator[str]:
        names = [axis.name for axis in self.table.axes]
        if self.written:
            written = ", ".join(names[k] for k in self.written)
            yield f"Each slot shows the index {written} of its element."
        else:
            yield "The slot of the only element shows *."
        if self.whole:
            yield "Each element of the tensor shows its first slot."
        kinds = {cell.kind for line in lines for cell in line.cells}
        if "padding" in kinds:
            yield "Hatched slots are padding."
        if "shared" in kinds:
            yield "Red slots hold an element that another slot holds as well."
        if self.whole and len(self.holders) < prod(self.extents):
            yield "An element that no slot holds shows none."
        runs = [
            each.name
            for each, extent in zip(self.table.slots, self.box, strict=False)
            if extent > 1
        ]
        if runs:
            yield f"Each colour is one run along {runs[-1]}."

    def folded(self, lines: Sequence[Line]) -> str:
        if self.whole:
            return ""
        slots = sum(len(line.cells) for line in lines)
        words = f"Too large to be drawn whole: {slots} of {self.size} slots are shown"
        return f"{words}, and of the tensor nothing."
