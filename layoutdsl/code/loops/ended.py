"""Two passes of a box in which axes end: what there is of it is read, and written, by prefixes.

What is not read is the fill in scratch, and out of it goes what has slots. Where an end is no
prefix, the box is copied run by run instead (`leaves`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.around import Around, Loop, reach_of, when
from layoutdsl.code.loops.boxes import Box
from layoutdsl.code.loops.edges import edge_into, edge_out, follow
from layoutdsl.code.loops.leaf import Parts, SideName, held
from layoutdsl.code.loops.passes import Item, Items, Pass
from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.expr import Constant, Expr, Mul


def ended(around: Around, box: Box, axes: list[int], name: str) -> tree.Node | None:
    """Return both passes of a box where some axes end, if they do in prefixes.

    Args:
        around: the loops around the box.
        box: with two passes.
        axes: that end, or ended before.
        name: of scratch.
    """
    assert box.both is not None
    scratch = tree.Place(name, ZERO)
    places = (scratch, around.place(tree.SOURCE)), (around.place(tree.TARGET), scratch)
    parts = list[tree.Node]()
    for moved, (target, source), letter in zip(box.both, places, "ab", strict=True):
        into = target == scratch
        leaf = _Ended(around, box, moved, axes, f"{name}{letter}", into=into)
        if not leaf.is_prefix:
            return None
        parts.append(moved.nest(target, source, f"{name}{letter}", leaf))
    filled = box.both[0].is_run  # a run leaves alone what is behind it
    return tree.Scratch(name, held(box.moved), filled=filled, body=tree.Seq(tuple(parts)))


class _Ended:
    """What is moved at once in one of the passes.

    Attributes:
        is_prefix: the axes end in prefixes of it.
    """

    def __init__(
        self, around: Around, box: Box, moved: Pass, axes: list[int], name: str, *, into: bool
    ) -> None:
        self._moved, self._into = moved, into
        side: SideName = "source" if into else "target"
        parts = box.of(side)
        self._parts = {(p.count, simplify(p.stride(side))): p for p in parts}
        items = (*moved.moved, *moved.loops)
        # of digits with one stride, all but one of which are always 0, none knows which is which
        apart = len(self._parts) == len(parts)
        self.is_prefix = apart and all(self._key(each) in self._parts for each in items)
        if self.is_prefix:
            self._around = around.within(*self._loops(name))
            self._outside = [n for n in axes if not self._holds(n)]
            self._inside = [n for n in axes if self._holds(n)]
            self._edge = self._run = None
            if moved.is_run:
                self._run = self._stretch()
            else:
                edge = edge_into if into else edge_out
                unit, rows, columns = map(self._own, (moved.unit, moved.rows, moved.columns))
                self._edge = edge(self._around, Box(unit, rows, columns), self._inside)
            self.is_prefix = self._run is not None or self._edge is not None

    def _key(self, item: Item) -> tuple[int, Expr]:
        return item.count, item.source if self._into else item.target

    def _own(self, items: Items) -> Parts:
        return tuple(self._parts[self._key(each)] for each in items)

    def _loops(self, name: str) -> Iterator[Loop]:
        moved = self._moved
        for variable, part in zip(moved.names(name), self._own(moved.loops), strict=True):
            yield Loop(variable, part.axis, part.digit, 1, ONE)

    def _holds(self, axis: int) -> bool:
        return any(each.axis == axis for each in self._own(self._moved.moved))

    @property
    def _turned(self) -> list[int]:
        """The axis that ends inside, where loops go over parts of it: of these but one ends."""
        turned = {each.axis for each in self._own(self._moved.loops)}
        return [each for each in self._inside if self._inside == [each] and each in turned]

    def _filled(self, node: tree.Move) -> tree.Node:
        """What stands in scratch for a move of which nothing is there."""
        assert node.edge is not None
        size, left = 1, list(self._moved.moved)
        while each := next((i for i in left if i.target == Constant(size)), None):
            left.remove(each)
            size *= each.count
        if not left:
            return tree.Fill(node.target, Constant(size))
        return replace(node, edge=replace(node.edge, rows_read=ZERO))

    def _end(self, axis: int) -> Expr:
        """Where what is read of an axis ends, or what is written."""
        found = self._around.chains.axes[axis]
        return found.extent if self._into else found.target

    def _stretch(self) -> Expr | None:
        """How much there is of a run, if one axis ends in it, above all others."""
        unit = self._own(self._moved.unit)
        if not self._inside:
            return Constant(held(unit))
        number = self._inside[0]
        mine = tuple(each for each in unit if each.axis == number)
        if self._inside[1:] or unit[-len(mine) :] != mine or not follow(mine):
            return None
        divisor, below = mine[0].digit.divisor, held(unit) // held(mine)
        steps = self._around.left(number, self._end(number), divisor, held(mine))
        return simplify(Mul(Constant(below), steps))

    def __call__(self, target: tree.Place, source: tree.Place) -> tree.Node:
        """Return as much as there is of it from these places on."""
        node = self._moved.leaf(target, source)
        nothing: tree.Node = tree.EMPTY
        if isinstance(node, tree.Move) and self._edge is not None:
            whole, node = node, replace(node, edge=self._edge)
            if self._into:
                nothing = self._filled(node)
            for number in self._turned:
                reach = reach_of(self._own(self._moved.moved), number)
                node = when(self._around.before(number, self._end(number)), node, nothing)
                node = when(self._around.ends(number, reach), whole, node)
        elif isinstance(node, tree.Run) and self._run is not None:
            node = replace(node, count=self._run)
        for number in self._outside:
            before = self._around.before(number, self._end(number))
            node = when(before, node, nothing)
        return node
