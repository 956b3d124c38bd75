"""A box as a node of the tree: whole, or with axes that end inside of it.

Where these end in prefixes the move is the same, with an edge. Where they do not, what there is of
the box is copied run by run, to scratch before the move or from scratch behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.around import Around, reach_of, when
from layoutdsl.code.loops.boxes import Box
from layoutdsl.code.loops.copies import Ending, Laid, copies, ordered, packed, run_of
from layoutdsl.code.loops.edges import edge_of
from layoutdsl.code.loops.ended import ended
from layoutdsl.code.loops.leaf import Parts, held
from layoutdsl.code.loops.passes import Item, in_scratch, one_pass, staged, two_passes
from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Add, Constant, Sub

IN, OUT, BETWEEN = "a", "b", "m"
"""Names of scratch: before a move, behind it, and between two passes."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A box inside of loops.

    Attributes:
        box: what is moved at once.
        around: the loops.
        width: bytes of an element.
    """

    box: Box
    around: Around
    width: int

    def node(self) -> tree.Node:
        """Return the leaf, with all that may end in it."""
        axes = self.around.open()
        if not axes:
            return self._whole(tree.WHOLE)
        if self.box.is_run:
            return self._alone(axes)
        inside = [number for number in axes if self._holds(number)]
        outside = [number for number in axes if number not in inside]
        filled = partial(self._filled, inside, outside)
        return bounded(self.around, outside, self._decided(inside, []), filled)

    def _alone(self, axes: list[int]) -> tree.Node:
        """What there is of the box, each unit a run."""
        sides = Laid(tree.SOURCE), Laid(tree.TARGET)
        return copies(self.around, self.box.moved, *sides, self._endings(axes))

    def _holds(self, number: int) -> bool:
        return any(each.axis == number for each in self.box.moved)

    def _filled(self, inside: list[int], outside: list[int]) -> tree.Node:
        """The leaf behind the end of an axis that has no digit in it."""
        edge = edge_of(self.around, self.box, inside)
        if edge is None:
            apart = self._alone if self.box.is_gathered else self._copied
            return apart([*inside, *outside])
        return self._whole(replace(edge, rows_read=ZERO))

    def _decided(self, left: list[int], ending: list[int]) -> tree.Node:
        """Ask of each axis whether it ends here; of two that end in prefixes nothing more."""
        if not left:
            return self._ending(ending)
        number, *rest = left
        reach = reach_of(self.box.moved, number)
        both = [*ending, *left]
        prefix = self.box.is_gathered or edge_of(self.around, self.box, both) is not None
        other = self._ending(both) if prefix else self._decided(rest, [*ending, number])
        if number in self.around.ended and reach == self.around.blocks[number]:
            return other
        return when(self.around.ends(number, reach), self._decided(rest, ending), other)

    def _ending(self, axes: list[int]) -> tree.Node:
        """The leaf where some axes end, or ended before; nothing where there are no slots."""
        node = self._ended(axes)
        for number in axes:
            if self.around.loops_over(number) and not self.around.slots_whole(number):
                has_slots = self.around.before(number, self.around.chains.axes[number].target)
                node = when(has_slots, node, tree.EMPTY)
        return node

    def _ended(self, axes: list[int]) -> tree.Node:
        """The leaf where some axes end, if there are slots: by an edge, by passes, or copied."""
        edge = edge_of(self.around, self.box, axes)
        if edge is not None:
            return self._whole(edge)
        if self.box.is_gathered:
            return self._alone(axes)
        if self.box.both is not None:
            passes = ended(self.around, self.box, axes, BETWEEN)
            return self._copied(axes) if passes is None else passes
        return self._padded(axes, self._copied(axes))

    def _padded(self, axes: list[int], node: tree.Node) -> tree.Node:
        """A leaf that copies where the axes have elements, and writes padding alone behind them."""
        if not all(map(self.around.slots_whole, axes)):
            return node
        nothing = self._whole(tree.Edge(rows_read=ZERO))
        for number in axes:
            axis = self.around.chains.axes[number]
            if self.around.loops_over(number) and not same(axis.target, axis.extent):
                node = when(self.around.before(number, axis.extent), node, nothing)
        return node

    def _whole(self, edge: tree.Edge) -> tree.Node:
        """All of the box, or as much as an edge says."""
        target, source = self.around.place(tree.TARGET), self.around.place(tree.SOURCE)
        box = self.box
        if box.both is not None:
            return staged(box.both, target, source, held(box.moved), BETWEEN)
        if box.is_run:
            return tree.Run(target, source, Constant(held(box.unit)))
        rows = tuple(tree.Step(each.count, each.digit.source) for each in box.rows)
        columns = tuple(tree.Step(each.count, each.digit.target) for each in box.columns)
        return tree.Move(target, source, held(box.unit), rows, columns, edge)

    def _items(self, parts: Parts, source: Laid | None, target: Laid | None) -> tuple[Item, ...]:
        """Parts with their strides, none on a side that is not asked for."""
        return tuple(
            Item(each.count, *(ZERO if s is None else simplify(s.stride(each)) for s in both))
            for both in ((source, target),)
            for each in parts
        )

    def _moved(self, source: Laid, target: Laid) -> tree.Node:
        """All of the box, where it may lie in scratch."""
        places = target.place(self.around, {}), source.place(self.around, {})
        if self.box.own:
            read = (self._items(into, source, None) for into, _ in self.box.own)
            written = (self._items(out, None, target) for _, out in self.box.own)
            both = in_scratch(tuple(zip(read, written, strict=True)), self.width)
            assert both is not None  # as of the whole box
            return staged(both, *places, held(self.box.moved), BETWEEN)
        items = self._items(self.box.moved, source, target)
        both = two_passes(items, self.width)
        one = one_pass(items, self.width)
        if both is None or one.cost(self.width) <= sum(each.cost(self.width) for each in both):
            return one.nest(*places, BETWEEN)
        return staged(both, *places, held(self.box.moved), BETWEEN)

    def _endings(self, axes: list[int]) -> dict[int, Ending]:
        """What is copied of axes, and what is filled."""
        found = dict[int, Ending]()
        for number in axes:
            axis = self.around.chains.axes[number]
            whole = self.around.slots_whole(number)
            found[number] = Ending(axis.extent, None if whole else axis.target)
        return found

    def _slots(self, number: int) -> Ending:
        """What is written of an axis, from where its padding is there already."""
        end = self.around.chains.axes[number].target
        return Ending(end, end)

    def _read(self, number: int) -> Ending:
        """What is read of an axis: padding too, where nothing has to be filled."""
        axis = self.around.chains.axes[number]
        end = axis.source if same(axis.target, axis.extent) else axis.extent
        return Ending(end, end)

    def _copied(self, axes: list[int]) -> tree.Node:
        """What there is of the box, by way of scratch."""
        around = self.around
        read, written = (
            ordered(self.box.of("source"), "source"),
            ordered(self.box.of("target"), "target"),
        )
        source, target = Laid(tree.SOURCE), Laid(tree.TARGET)
        before, behind = Laid(IN, packed(read)), Laid(OUT, packed(written))
        ends = self._endings(axes)
        size, valid = held(read), {n: self._read(n) for n in axes}
        from_source = all(map(around.source_whole, axes))
        to_target = all(map(around.slots_whole, axes))
        if from_source and to_target:
            runs = run_of(written, behind, target, ends), run_of(read, source, before, valid)
            to_target = held(runs[0]) <= held(runs[1])
        if to_target:
            copied = copies(around, read, source, before, valid)
            body = tree.Seq((copied, self._moved(before, target)))
            return tree.Scratch(IN, size, filled=True, body=body)
        last = ends
        if not from_source:
            last = {n: self._slots(n) for n in axes}
        copied = copies(around, written, behind, target, last)
        given = source if from_source else before
        body = tree.Seq((self._moved(given, behind), copied))
        node: tree.Node = tree.Scratch(OUT, size, filled=False, body=body)
        if from_source:
            return node
        copied = copies(around, read, source, before, valid)
        return tree.Scratch(IN, size, filled=True, body=tree.Seq((copied, node)))


def bounded(
    around: Around, axes: list[int], node: tree.Node, filled: Callable[[], tree.Node]
) -> tree.Node:
    """Return a leaf without digits of some axes, where none of these ended before.

    Args:
        around: the loops.
        axes: those axes.
        node: the leaf.
        filled: makes what stands for it behind the end of one, where there are slots.
    """
    chained = around.chains.axes
    padded = [n for n in axes if not same(chained[n].target, chained[n].extent)]
    for number in padded:
        node = when(around.before(number, chained[number].extent), node, filled())
    for number in axes:
        if number not in padded or not around.slots_whole(number):
            node = when(around.before(number, chained[number].target), node, tree.EMPTY)
    return node


def whole_axis(around: Around, number: int) -> tree.Node:
    """Return the leaf that is all of an axis, which lies together on both sides."""
    axis = around.chains.axes[number]
    target, source = around.place(tree.TARGET), around.place(tree.SOURCE)
    node: tree.Node = tree.Run(target, source, axis.extent)
    if not same(axis.extent, axis.target):
        past = tree.Place(tree.TARGET, simplify(Add(target.offset, axis.extent)))
        behind = tree.Fill(past, simplify(Sub(axis.target, axis.extent)))
        node = tree.Seq((node, behind))
    others = [other for other in around.open() if other != number]
    return bounded(around, others, node, lambda: tree.Fill(target, axis.target))
