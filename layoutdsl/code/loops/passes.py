"""How a box of digits is moved: in one pass, or in two by way of scratch where no kernel does it.

Any order of the digits may be that of the scratch. Each is tried, and costs what the kernels of
both passes cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.costs import cycles
from layoutdsl.code.loops.kernels import GATHERED
from layoutdsl.code.loops.leaf import held
from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.expr import Add, Constant, Expr, Index, Mul

MOST_DIGITS = 6
UNIT = 16
"""Bytes of the largest unit; what lies together further is a run."""


@dataclass(frozen=True, slots=True)
class Item:
    """A digit of a box: its steps, and how far apart these are on both sides, in elements."""

    count: int
    source: Expr
    target: Expr


Items = tuple[Item, ...]
Leaf = Callable[[tree.Place, tree.Place], tree.Node]
"""What is moved at once, from these places on: in the target, and in the source."""
Numbers = tuple[tuple[Items, Items], ...]
"""Numbers by the digits that the source has of them, and by those that the target has."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A box moved at once but for some loops; a run where it has neither rows nor columns."""

    unit: Items
    rows: Items
    columns: Items
    loops: Items

    @property
    def moved(self) -> Items:
        """What is moved at once."""
        return (*self.unit, *self.rows, *self.columns)

    @property
    def is_run(self) -> bool:
        """What lies together is all that is moved at once."""
        return not self.rows and not self.columns

    def cost(self, width: int, into: bool = False) -> float:
        """Return about how many cycles it takes for the box, ``into`` scratch or not."""
        together = held(self.unit) * width
        tables = _strides(self.rows, "source"), _strides(self.columns, "target")
        return held(self.loops) * cycles(together, *tables, width, into)

    def leaf(self, target: tree.Place, source: tree.Place) -> tree.Node:
        """Return what is moved at once, from these places on."""
        count = held(self.unit)
        if self.is_run:
            return tree.Run(target, source, Constant(count))
        rows = tuple(tree.Step(each.count, each.source) for each in self.rows)
        columns = tuple(tree.Step(each.count, each.target) for each in self.columns)
        return tree.Move(target, source, count, rows, columns)

    def names(self, name: str) -> list[str]:
        """Return names of its loops, which begin with ``name``."""
        return [f"{name}{number}" for number in range(len(self.loops))]

    def nest(
        self, target: tree.Place, source: tree.Place, name: str, leaf: Leaf | None = None
    ) -> tree.Node:
        """Return all of it; names of loops begin with ``name``, and ``leaf`` may make another."""
        names = self.names(name)
        to, out = target.offset, source.offset
        for variable, item in zip(names, self.loops, strict=True):
            to = Add(to, Mul(Index(variable), item.target))
            out = Add(out, Mul(Index(variable), item.source))
        places = tree.Place(target.buffer, simplify(to)), tree.Place(source.buffer, simplify(out))
        node = self.leaf(*places) if leaf is None else leaf(*places)
        for variable, item in zip(names, self.loops, strict=True):
            node = tree.For(variable, Constant(item.count), node)
        return node


def _strides(items: Items, side: str) -> tuple[tuple[int, int | None], ...]:
    """Steps and strides, as far as these are numbers."""
    return tuple((each.count, _number(getattr(each, side))) for each in items)


def _number(expr: Expr) -> int | None:
    return expr.value if isinstance(expr, Constant) else None


@lru_cache(maxsize=4096)
def one_pass(items: Items, width: int, into: bool = False, out: bool = False) -> Pass:
    """Return the cheapest move over a box, ``into`` scratch, or ``out`` of it, or neither."""
    return min(_passes(items, width, not out), key=lambda each: each.cost(width, into))


def _passes(items: Items, width: int, gathers: bool) -> Iterator[Pass]:
    whole, left = _together(items, None)
    yield Pass(whole, (), (), left)
    units = [_together(items, UNIT // width)]
    size = held(whole)
    if gathers and left and size & (size - 1) and size * width in GATHERED:
        units.append((whole, left))
    for unit, more in units:
        for first in ("rows", "columns"):
            yield _grown(unit, more, first)


def _together(items: Items, most: int | None) -> tuple[Items, Items]:
    """What lies together on both sides, and the rest; a unit is a power of two, and no larger."""
    left, found, size = list(items), list[Item](), 1
    while True:
        both = next((i for i in left if _number(i.source) == _number(i.target) == size), None)
        if both is None:
            break
        more = size * both.count
        if most is not None and (more > most or more & (more - 1)):
            break
        left.remove(both)
        found.append(both)
        size = more
    return tuple(found), tuple(left)


def _grown(unit: Items, items: Items, first: str) -> Pass:
    """Rows follow each other in the target, columns in the source, taken in turns."""
    left, size = list(items), held(unit)
    tables: dict[str, list[Item]] = {"rows": [], "columns": []}
    ends, sides = {"rows": size, "columns": size}, {"rows": "target", "columns": "source"}
    turns, stuck = ["rows", "columns"] if first == "rows" else ["columns", "rows"], 0
    while stuck < 2:
        table = turns[0]
        found = next((i for i in left if _number(getattr(i, sides[table])) == ends[table]), None)
        turns.reverse()
        stuck += 1
        if found is not None:
            left.remove(found)
            tables[table].append(found)
            ends[table] *= found.count
            stuck = 0
    return Pass(unit, tuple(tables["rows"]), tuple(tables["columns"]), tuple(left))


def two_passes(items: Items, width: int) -> tuple[Pass, Pass] | None:
    """Return the cheapest two passes, by way of scratch in any order of the digits."""
    items = _merged(items)
    return in_scratch(tuple(((each,), (each,)) for each in items), width) if items[1:] else None


def in_scratch(numbers: Numbers, width: int) -> tuple[Pass, Pass] | None:
    """Return the cheapest passes into scratch and out of it, in any order of some numbers there."""
    if len(numbers) > MOST_DIGITS:
        return None
    best, found = float("inf"), None
    for order in permutations(range(len(numbers))):
        strides, below = [0] * len(numbers), 1
        for number in order:
            strides[number], below = below, below * held(numbers[number][0])
        pairs = list(zip(numbers, strides, strict=True))
        laid = (Item(i.count, i.source, at) for (into, _), s in pairs for i, at in _laid(into, s))
        one = one_pass(tuple(laid), width, into=True)
        cost = one.cost(width, into=True)
        if cost >= best:
            continue
        laid = (Item(i.count, at, i.target) for (_, out), s in pairs for i, at in _laid(out, s))
        other = one_pass(tuple(laid), width, out=True)  # vectors over several stores wait for them
        cost += other.cost(width)
        if cost < best:
            best, found = cost, (one, other)
    return found


def _laid(items: Items, stride: int) -> Iterator[tuple[Item, Expr]]:
    """Digits of a number, the most minor first, with their strides where it lies in one piece."""
    for each in items:
        yield each, Constant(stride)
        stride *= each.count


def _merged(items: Items) -> Items:
    """Digits that follow each other on both sides are one."""
    left = list(items)
    for minor in items:
        for major in items:
            if minor in left and major in left and _follow(minor, major):
                joined = Item(minor.count * major.count, minor.source, minor.target)
                left[left.index(minor)] = joined
                left.remove(major)
                return _merged(tuple(left))
    return tuple(left)


def _follow(minor: Item, major: Item) -> bool:
    pairs = ((minor.source, major.source), (minor.target, major.target))
    return all(simplify(Mul(below, Constant(minor.count))) == above for below, above in pairs)


def staged(
    both: tuple[Pass, Pass], target: tree.Place, source: tree.Place, size: int, name: str
) -> tree.Node:
    """Return both passes, by way of scratch."""
    scratch = tree.Place(name, ZERO)
    one, other = both
    parts = one.nest(scratch, source, f"{name}a"), other.nest(target, scratch, f"{name}b")
    return tree.Scratch(name, size, filled=False, body=tree.Seq(parts))
