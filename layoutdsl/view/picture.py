"""A layout at a shape, drawn: every slot of the buffer, every element of the tensor.

Where both are small enough slots are found from the offsets of all elements; of what is too large
the ends are drawn, and each slot of them is looked up. Either way a cell says what `Layout.decode`
says. `html` and `svg` write what is returned here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import prod

from layoutdsl.language.integers.expr import Expr, coordinate_text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Layout, Shape
from layoutdsl.language.meaning.shapes import bind_index, indices
from layoutdsl.view.cells import Cell, Colour, Drawn, Entry, Kind, Line, Tensor
from layoutdsl.view.folding import kept, numbers
from layoutdsl.view.grounds import EIGHT, WAYS, Telling, telling
from layoutdsl.view.panels import panels
from layoutdsl.view.rows import SHORT, Cut, changing
from layoutdsl.view.slots import MOST_HOLDERS, reasons
from layoutdsl.view.words import at_shape, filled_text

FEW, MANY = 1 << 14, 1 << 16
"""Cells of either side that are drawn without being asked for, and those that can be drawn."""

FOLDED = 512
"""Cells of either side that are drawn where not all are: each slot of them is searched for."""

MOST_REASONS = 512
"""Slots of padding of which it is worked out why they are."""

COLUMNS, WIDEST = 16, 32
MOST_COLOURS = 12
"""That a legend names."""

MOST_MARKED = 16
"""Rows with marks that are drawn besides the ends, where not all rows are."""

FEWEST_LEFT_OUT = 3
"""Rows of padding: fewer are drawn, as the words for them take a row as well."""

Indices = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """How a picture is drawn.

    Attributes:
        colour: ``block``, ``chunk``, ``bank``, or an axis.
        columns: cells of a row; ``None`` for the most minor coordinates that fit.
        most: cells of either side that are drawn.
        element: the type of elements, for banks.
        marked: indices that are pointed out.
        slots: likewise.
        formula: of a claim: the slots that it gives to the marked elements are marked as wrong.
        brief: leave out rows that hold nothing but padding, and none of the marks.
    """

    colour: str = "block"
    columns: int | None = None
    most: int = FEW
    element: ElementType | None = None
    marked: Indices = ()
    slots: tuple[int, ...] = ()
    formula: Expr | None = None
    brief: bool = False


def drawn(layout: Layout, shape: Shape, asked: Asked) -> Drawn:
    """Return the picture of a layout at a shape.

    Raises:
        ValueError: the shape does not fit, or there is no such colour.
    """
    return _Painter(layout, layout.bind(shape), asked).drawn()


class _Painter:
    """A layout at a shape while it is drawn: colours that were given away, slots that are known."""

    def __init__(self, layout: Layout, values: dict[str, int], asked: Asked) -> None:
        self.layout, self.values, self.asked = layout, values, asked
        self.box = layout.box(values) or (1,)
        if min(self.box) < 1:
            raise ValueError(f"`{layout.name}` has no slots at this shape")
        self.size = layout.size(values)
        self.start = self.size - prod(self.box)
        self.cut = cut_into(layout, self.box, asked.columns)
        self.axes = layout.element_axes
        self.extents = layout.element_shape(values)
        names = [axis.name for axis in layout.axes]
        self.own = [names.index(axis.name) for axis in self.axes]
        written = changing(layout, layout.coordinates, values)
        self.written = [names.index(name) for name in written]
        self.tell: Telling = telling(layout, asked.colour, values, asked.element)
        self.colours: dict[int, str] = {}
        self.reasons = 0

    @cached_property
    def whole(self) -> bool:
        """Whether all is drawn."""
        return max(self.size, prod(self.extents)) <= self.asked.most

    @cached_property
    def most(self) -> int:
        return self.asked.most if self.whole else FOLDED

    @cached_property
    def held(self) -> dict[int, list[tuple[int, ...]]]:
        """The indices of each slot, where all is drawn."""
        found: dict[int, list[tuple[int, ...]]] = {}
        for index in indices(self.layout, self.values):
            slot = self.layout.offset_at(bind_index(self.layout, self.values, index))
            found.setdefault(slot, []).append(index)
        return found

    @cached_property
    def slots(self) -> range:
        """Those that the box has."""
        return range(self.start, self.size)

    @cached_property
    def outside(self) -> int:
        """Elements that a wrong layout puts outside of these, where all is drawn."""
        return sum(len(found) for slot, found in self.held.items() if slot not in self.slots)

    def holders(self, slot: int) -> Sequence[tuple[int, ...]]:
        if self.whole:
            return self.held.get(slot, ())[:MOST_HOLDERS]
        return tuple(islice(self.layout.holders(slot, self.values), MOST_HOLDERS))

    def key(self, index: tuple[int, ...]) -> int:
        """The number of an element, row by row."""
        number = 0
        for place, extent in zip(self.own, self.extents, strict=True):
            number = number * extent + index[place]
        return number

    @cached_property
    def marked(self) -> set[int]:
        return {self.key(index) for index in self.asked.marked}

    @cached_property
    def wrong(self) -> tuple[int, ...]:
        """The slots that the formula gives to the marked elements, where it has a value."""
        found, formula = list[int](), self.asked.formula
        if formula is None:
            return ()
        for index in self.asked.marked:
            with suppress(ZeroDivisionError):
                found.append(evaluate(formula, bind_index(self.layout, self.values, index)))
        return tuple(found)

    # The buffer.

    def cell(self, slot: int) -> Cell:
        if slot < self.start:
            return Cell(slot, "before", "", reason="lies before the first slot")
        found = self.holders(slot)
        opens = (slot - self.start) % self.inner == 0
        here, wrong = slot in self.asked.slots, slot in self.wrong
        if not found:
            reason = self.reason(slot)
            return Cell(slot, "padding", "", reason=reason, opens=opens, marked=here, wrong=wrong)
        ground, words = self.tell(slot, found[0])
        self.colours.setdefault(ground, words)
        keys = tuple(self.key(index) for index in found)
        label = ",".join(str(found[0][k]) for k in self.written) or "*"
        kind: Kind = "element" if len(found) == 1 else "shared"
        marked = here or any(key in self.marked for key in keys)
        return Cell(slot, kind, label, ground, keys, "", opens, marked, wrong)

    @cached_property
    def inner(self) -> int:
        """Slots of a block in a row: of the last coordinate that has several positions."""
        return next((extent for extent in reversed(self.box) if extent > 1), 1)

    def reason(self, slot: int) -> str:
        self.reasons += 1
        if self.reasons > MOST_REASONS:
            return ""
        return "; ".join(reasons(self.layout, slot, self.values))

    def lines(self) -> Iterator[Line]:
        every = self._lines()
        return _without_padding(list(every)) if self.asked.brief else every

    def _lines(self) -> Iterator[Line]:
        yield from self._before()
        cut, before = self.cut, -1
        for row, first, count in self._rows():
            head = cut.head(first)
            cells = tuple(self.cell(self.start + first + k) for k in range(count))
            left_out = row - before - 1
            yield Line(self.start + first, head, cells, left_out, self._opens(first))
            before = row

    def _before(self) -> Iterator[Line]:
        """The slots before the first, which no coordinate speaks of."""
        width = self.cut.per * self.cut.inner
        shown = self.start if self.start <= width else 0
        if shown:
            cells = tuple(self.cell(slot) for slot in range(shown))
            yield Line(0, ("",) * len(self.cut.shown), cells)

    def _rows(self) -> Iterator[tuple[int, int, int]]:
        """Each row that is drawn: its number, where it starts, and how many cells it has."""
        cut, box = self.cut, self.box
        across = -(-box[cut.at] // cut.per)
        outer = (*box[: cut.at], across)
        most = max(1, self.most // (cut.per * cut.inner))
        rows = numbers(kept(outer, most), outer)
        if not self.whole:
            rows = sorted({*rows, *self._marked_rows(across)})
        for row in rows:
            group, part = divmod(row, across)
            low = part * cut.per
            first = (group * box[cut.at] + low) * cut.inner
            yield row, first, min(cut.per, box[cut.at] - low) * cut.inner

    def _marked_rows(self, across: int) -> Iterator[int]:
        cut, values = self.cut, self.values
        found = (bind_index(self.layout, values, each) for each in self.asked.marked[:MOST_MARKED])
        marked = [self.layout.offset_at(known) for known in found]
        for slot in [*marked, *self.asked.slots, *self.wrong][:MOST_MARKED]:
            if slot in self.slots:
                run = self.box[cut.at] * cut.inner
                group, rest = divmod(slot - self.start, run)
                yield group * across + rest // cut.inner // cut.per

    def _opens(self, first: int) -> int:
        if first == 0:
            return 0
        inside = prod(self.box[self.layout.chunk_rank or 0 :])
        if self.layout.chunk_rank and first % inside == 0:
            return 2
        turning = [k for k in range(self.cut.at + 1) if self.box[k] > 1 and k in self.cut.shown]
        return int(bool(turning) and first % prod(self.box[turning[-1] :]) == 0)

    # The tensor.

    def entry(self, place: tuple[int, ...]) -> Entry | None:
        index = dict(zip((axis.name for axis in self.axes), place, strict=True))
        zero = {axis.name: index.get(axis.name, 0) for axis in self.layout.axes}
        known = {**self.values, **zero}
        if not self.layout.holds(known):
            return None
        slots = self.layout.slots(index, self.values) if self.layout.copies else ()
        first = self.layout.offset_at(known)
        label = str(first) + (f" +{len(slots) - 1}" if len(slots) > 1 else "")
        full = tuple(zero[axis.name] for axis in self.layout.axes)
        ground, words = self.tell(first, full)
        self.colours.setdefault(ground, words)
        key = self.key(full)
        return Entry(key, label, slots or (first,), ground, key in self.marked)

    # The whole.

    def drawn(self) -> Drawn:
        lines = tuple(self.lines())
        named = tuple((axis.name, n) for axis, n in zip(self.axes, self.extents, strict=True))
        tensor = Tensor("", named, 0, panels(named, self.entry, self.most))
        colours = [Colour(ground, words) for ground, words in sorted(self.colours.items())]
        return Drawn(
            at_shape(self.layout.name, tuple(self.values.items())),
            self.counts(),
            "offset",
            tuple(coordinate_text(self.layout.coordinates[k]) for k in self.cut.shown),
            lines,
            (tensor,),
            tuple(self.legend(lines)),
            tuple(colours[:MOST_COLOURS]),
            32 if self.asked.colour == "bank" else len(EIGHT),
            filled_text(self.layout.fill),
            self.folded(lines, tensor),
        )

    def counts(self) -> str:
        slots, each = self.size - self.start, self.layout.copies_of_each(self.values)
        words = [_plural(slots, "slot")]
        if not self.layout.domain or self.whole:
            elements = self.layout.elements(self.values)
            words.append(_plural(elements, "element"))
            if each > 1:
                words.append(f"each in {_plural(each, 'slot')}")
            if self.whole:
                words.append(f"{slots - sum(slot in self.slots for slot in self.held)} of padding")
                words += [f"{self.outside} in no slot"] if self.outside else []
        if self.start:
            words.append(f"{_plural(self.start, 'slot')} before the first")
        return ", ".join(words)

    def legend(self, lines: Sequence[Line]) -> Iterator[str]:
        names = [axis.name for axis in self.layout.axes]
        if self.written:
            written = ", ".join(names[k] for k in self.written)
            yield f"Each slot shows the index {written} of its element."
        else:
            yield "The slot of the only element shows *."
        shape = self.layout.shape_of(self.values)
        single = [f"{n}=0" for k, n in enumerate(names) if k not in self.written and shape[k] == 1]
        if single and self.written:
            yield f"Not written: {', '.join(single)}, the only index there is."
        yield "Each element of the tensor shows the offset of its slot."
        yield from self._marks(lines)
        if self.layout.domain:
            held = ", ".join(map(str, self.layout.domain))
            yield f"Only an index with {held} has an element; the rest of the tensor is grey."
        by = self.asked.colour
        named = f"; the first {MOST_COLOURS} are listed" if len(self.colours) > MOST_COLOURS else ""
        yield f"Each colour is one {by if by in WAYS else f'value of {by}'}{named}."

    def _marks(self, lines: Sequence[Line]) -> Iterator[str]:
        kinds = {cell.kind for line in lines for cell in line.cells}
        size = f"{self.start}..{self.size - 1}"
        if "padding" in kinds:
            yield f"Hatched slots are padding{filled_text(self.layout.fill)}."
        if "before" in kinds:
            yield "Grey slots lie before the start of the buffer."
        if "shared" in kinds:
            yield "Red slots would have to hold several elements at once."
        if self.whole and self.outside:
            yield f"Offsets outside {size} are not in the buffer."
        if self.asked.marked or self.asked.slots:
            yield "Red frame: where the layout puts what the message names."
        inside = [each for each in self.wrong if each in self.slots]
        outside = [str(each) for each in self.wrong if each not in self.slots]
        if inside:
            yield "Dashed frame: where the formula puts it."
        if outside:
            yield f"The formula gives {', '.join(outside)}, outside the buffer of slots {size}."
        if self.asked.brief and self.whole and any(line.left_out for line in lines):
            yield "Rows that hold only padding are left out."

    def folded(self, lines: Sequence[Line], tensor: Tensor) -> str:
        slots = sum(len(line.cells) for line in lines)
        shown = sum(len(row) for panel in tensor.panels for row in panel.rows)
        if slots >= self.size - (self.start if self.start > slots else 0) and shown >= prod(
            self.extents
        ):
            return ""
        words = f"Too large to be drawn whole: {slots} of {_plural(self.size, 'slot')}"
        return f"{words} and {shown} of {_plural(prod(self.extents), 'element')} are shown."


def _without_padding(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines without runs of rows that hold only padding; the last line is kept."""
    left_out: list[Line] = []
    for line in lines:
        if line is not lines[-1] and all(_is_blank(each) for each in line.cells):
            left_out.append(line)
            continue
        if len(left_out) < FEWEST_LEFT_OUT:
            yield from left_out
            yield line
        else:
            rows = len(left_out) + sum(each.left_out for each in left_out)
            yield replace(line, left_out=line.left_out + rows)
        left_out = []


def _is_blank(cell: Cell) -> bool:
    return cell.kind == "padding" and not (cell.marked or cell.wrong)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def cut_into(layout: Layout, box: tuple[int, ...], columns: int | None) -> Cut:
    """Return the coordinates of a row: as many of the most minor ones as fit wholly in it.

    Where that leaves a short row, some positions of the next one are joined to it. No row goes
    over the border of a chunk.
    """
    border = layout.chunk_rank or 0
    room = columns or (box[-1] if COLUMNS < box[-1] <= WIDEST else COLUMNS)
    at_ = len(box) - 1
    while at_ > border and prod(box[at_ - 1 :]) <= room:
        at_ -= 1
    cells = prod(box[at_:])
    if at_ > border and (cells <= SHORT or columns) and room // cells > 1:
        return Cut(at_ - 1, min(box[at_ - 1], room // cells), box)
    return Cut(at_, min(box[at_], max(1, room // prod(box[at_ + 1 :]))), box)
