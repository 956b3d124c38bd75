"""`_views`: views of both sides, part by part, that hold the same elements in the same order.

>>> print("\\n".join(views(axes, names, layout)))
def _views(tensor: Array, buffer: Array) -> Iterator[tuple[Array, Array]]:
    ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from layoutdsl.code.arrays.axes import Axes, CutAxis, Place
from layoutdsl.code.arrays.names import Names
from layoutdsl.code.moves import Plan
from layoutdsl.code.validate.arrays.frame import (
    INTEGERS,
    VIEWS,
    WIDTH,
    cut,
    cut_name,
    function,
    indented,
)
from layoutdsl.language.integers.bounds import ZERO, product
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Expr
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Counts:
    """How much of each digit of an axis there is in a part, as text.

    Attributes:
        first: the first index of the part; `None` for all of an axis that is not cut into parts.
        digits: so many indices of each digit, most major first.
        sizes: the same as expressions, for an axis that is not cut into parts.
    """

    first: str | None
    digits: tuple[str, ...]
    sizes: tuple[Expr, ...]


def counted(axes: Axes, names: Names) -> tuple[dict[str, Counts], list[str]]:
    """Return the counts of each axis, and the loops over the parts of those that are ragged."""
    counts, loops = dict[str, Counts](), list[str]()
    for axis in axes.cut:
        if not axis.is_ragged:
            sizes = (axis.blocks, *map(Constant, axis.radices))
            counts[axis.name] = Counts(None, tuple(map(names.text, sizes)), sizes)
            continue
        name = axis.name.strip("()").replace(", ", "_")
        first = names[name] if name == axis.name else names.fresh(name)
        depth = len(axis.divisors) - 1
        digits = tuple(names.fresh(f"{name}{k}") for k in range(depth, -1, -1))
        counts[axis.name] = Counts(first, digits, ())
        given = ", ".join([names.text(axis.extent), *map(str, axis.divisors[:-1])])
        loops.append(f"for {first}, {', '.join(digits)} in {cut_name(depth)}({given}):")
    return counts, loops


def views(
    axes: Axes, names: Names, layout: Layout, sides: tuple[str, str] = ("tensor", "buffer")
) -> list[str]:
    """Return `_views`, and the functions that cut axes.

    Args:
        axes: of the move.
        names: of the extents.
        layout: that of the target.
        sides: what is read and what is written.
    """
    counts, loops = counted(axes, names)
    source, target = (_Side(axes, k, sides[k], names, layout, counts) for k in (0, 1))
    order = [source.digits.index(each) for each in target.digits]
    part = source.view(copied=bool(layout.copies))
    if order != sorted(order):
        part = (*part, f".transpose({', '.join(map(str, order))})")
    body = _yielded(part, target.view(), 4 * (1 + len(loops)))
    is_tensor = axes.sides[0] is None
    lines = [*source.splits, *target.splits]
    for depth, loop in enumerate(loops):
        lines += indented([loop], depth)
    lines += indented(body, len(loops))
    lines = [
        f'"""Yield views of {sides[0]} and {sides[1]}: the same elements in the same order."""',
        *names.named(f"{sides[0]}.shape" if is_tensor else "shape", lines),
    ]
    arguments = ", ".join(f"{side}: Array" for side in sides)
    arguments += "" if is_tensor else f", shape: {INTEGERS}"
    depths = sorted({len(axis.divisors) - 1 for axis in axes.cut if axis.is_ragged})
    return [
        *function("_views", arguments, VIEWS, lines),
        *(line for d in depths for line in cut(d)),
    ]


def _yielded(part: Sequence[str], slots: Sequence[str], depth: int) -> list[str]:
    """The statement that yields two views, each a chain of calls, in as few lines as fit."""
    short = f"yield {''.join(part)}, {''.join(slots)}"
    if len(short) + depth <= WIDTH - 4 and len(part) + len(slots) < 4:
        return [short]
    lines = list[str]()
    for name, chain in (("part", part), ("slots", slots)):
        line = f"{name} = {chain[0]}"
        for call in chain[1:]:
            if len(line) + len(call) + depth > WIDTH:
                lines.append(line)
                line = name
                call = f" = {name}{call}"  # noqa: PLW2901
            line += call
        lines.append(line)
    return [*lines, "yield part, slots"]


class _Side:
    """One side of the move, within the loops over parts.

    Attributes:
        splits: statements that split the dimensions of the buffer, before all loops.
        digits: the axis and the level of each digit, in the order of this side.
    """

    def __init__(
        self,
        axes: Axes,
        which: int,
        name: str,
        names: Names,
        layout: Layout,
        counts: Mapping[str, Counts],
    ) -> None:
        self._plan, self._name, self._names = axes.sides[which], name, names
        self._which = which
        self._copied = frozenset(layout.copies) if self._plan is None else frozenset[str]()
        self._axes, self._counts = axes.cut, counts
        self._layout = layout
        own = ((axis, place) for axis in axes.cut for place in axis.places[which])
        self._places = {place.dimension: (axis, place) for axis, place in own}
        if self._plan is not None:
            self.splits = split_statements(self._plan, name, names)
            self._rank = len(self._plan.dimensions)
        else:
            joined = any(len(axis.axes) > 1 for axis in axes.cut)
            sizes = ", ".join(names.text(axis.extent) for axis in axes.cut)
            self.splits = [f"{name} = {name}.reshape({sizes})"] if joined else []
            self._rank = len(axes.cut)
        self.digits = [
            (axis.name, level)
            for dimension in range(self._rank)
            if dimension in self._places and self._constant(dimension) is None
            for axis, place in [self._places[dimension]]
            for level in range(place.first, place.past)
        ]

    def _constant(self, dimension: int) -> int | None:
        return None if self._plan is None else self._plan.dimensions[dimension].constant

    def view(self, *, copied: bool = False) -> tuple[str, ...]:
        """Return the view of a part: a slice, and a reshape if a dimension has several digits."""
        places = bare(list(self._slices()))
        if not self.digits and places:  # one element: a slice keeps it an array
            places[-1] = f"{places[-1]}:{int(places[-1]) + 1}"
        start = f"{self._name}[{', '.join(places)}]" if places else self._name
        if not self.digits and not places:
            return start, ".reshape(1)"
        several = any(place.past - place.first > 1 for _, place in self._places.values())
        if not several and not (copied and self._plan is None):
            return (start,)
        return start, f".reshape({', '.join(self._digit_counts())})"

    def _digit_counts(self) -> Iterator[str]:
        for name, level in self.digits:
            yield "1" if name in self._copied else self._counts[name].digits[level]

    def _slices(self) -> Iterator[str]:
        for dimension in range(self._rank):
            constant = self._constant(dimension)
            if constant is not None:
                yield str(constant)
            elif dimension not in self._places:
                if self._axes[dimension].name not in self._copied:
                    yield "0"
            else:
                axis, place = self._places[dimension]
                if axis.name not in self._copied:
                    yield self._slice(axis, place)

    def _slice(self, axis: CutAxis, place: Place) -> str:
        counts = self._counts[axis.name]
        first, past = place.first, place.past
        if counts.first is None:
            whole = product(counts.sizes[first:past])
            plan = self._plan
            if plan is None or (first == 0 and axis.padded[self._which] is None):
                return ":"
            is_whole = same(plan.dimensions[place.dimension].extent, whole)
            return ":" if is_whole else f":{self._names.text(whole)}"
        many = "*".join(counts.digits[first:past])
        divisor = axis.divisors[past - 1]
        if first == 0:
            low = counts.first if divisor == 1 else f"{counts.first}//{divisor}"
        elif past == len(axis.divisors) and past - first == 1:
            return f":{many}"  # parts begin at whole blocks of the least digit
        else:
            low = f"{counts.first}%{axis.divisors[first - 1]}"
            low += f"//{divisor}" if divisor > 1 else ""
        return f"{low}:{low} + {many}"


def bare(places: list[str]) -> list[str]:
    """Return places without those at the end that take all of a dimension."""
    while places and places[-1] == ":":
        places.pop()
    return places


def split_statements(plan: Plan, name: str, names: Names, whole: str | None = None) -> list[str]:
    """Return the statements that split a buffer until each dimension is one digit.

    Args:
        plan: of the layout.
        name: of what becomes the split buffer.
        names: of the extents.
        whole: the name of the buffer, if that is another.
    """
    lines, extents = list[str](), [each.extent for each in plan.layout.coordinates]
    is_behind = plan.layout.start != ZERO
    if is_behind:
        lines.append(f"{name} = {whole or name}[{names.text(plan.layout.start)}:]")

    def add(call: str) -> None:
        lines.append(f"{name} = {name if lines else whole or name}{call}")

    def reshape() -> None:
        call = f".reshape({', '.join(map(names.text, extents))})"
        if len(lines) == 1 and lines[0].endswith(":]"):
            lines[0] += call
        else:
            add(call)

    for split in plan.splits:
        before = ":, " * split.dimension
        if split.leaves_padding or split.turned:
            if is_behind:
                reshape()
                is_behind = False
            if split.turned:
                add(f"[{before}::-1]")
            if split.leaves_padding:
                past = "" if same(split.past, split.extent) else names.text(split.past)
                add(f"[{before}{split.first or ''}:{past}]")
        extents[split.dimension : split.dimension + 1] = split.parts
        is_behind = is_behind or len(split.parts) > 1
    if is_behind:
        reshape()
    return lines


def is_short(axes: Axes, layout: Layout) -> bool:
    """Return whether the last dimension of a view may be short, or a run on both sides.

    Such are copied faster by `_put`.
    """
    last, dimensions = len(axes.target.dimensions) - 1, axes.target.dimensions
    end = dimensions[-1].extent if dimensions else None
    is_run = any(
        axis.places[1] and axis.places[1][-1].dimension == last and _is_last(axis, axes, layout)
        for axis in axes.cut
    )
    return not isinstance(end, Constant) or end.value <= 8 or is_run or bool(layout.copies)


def _is_last(axis: CutAxis, axes: Axes, layout: Layout) -> bool:
    """Whether the least digit of an axis is the last dimension of what is read."""
    source = axes.sides[0]
    if source is None:
        return axis.axes[-1] == len(layout.axes) - 1
    return axis.places[0][-1].dimension == len(source.dimensions) - 1


def first_copies(axes: Axes, layout: Layout) -> str:
    """Return the places of the first copies in a view of slots."""
    copied = {
        place.dimension
        for axis in axes.cut
        if layout.axes[axis.axes[0]].name in layout.copies
        for place in axis.places[1]
    }
    kept = (k for k, each in enumerate(axes.target.dimensions) if each.constant is None)
    return ", ".join(":1" if k in copied else ":" for k in kept) or ":1"  # of one slot
