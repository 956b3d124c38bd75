"""From the digits of two sides to the tree of loops that moves everything once."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from math import gcd, inf

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.around import Around, Loop, when
from layoutdsl.code.loops.boxes import Box, cheapest
from layoutdsl.code.loops.chains import ChainAxis, Chains, Digit
from layoutdsl.code.loops.costs import LINE, PAST
from layoutdsl.code.loops.leaf import held, radix_of, stretch
from layoutdsl.code.loops.leaves import Leaf, whole_axis
from layoutdsl.language.integers.bounds import ONE, polynomial, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.digit import exact_quotient
from layoutdsl.language.integers.expr import CeilDiv, Constant, Expr, Sub, extents

OWN = re.compile(r"([aby]|m[ab])[0-9]")
"""How names of loops inside of a leaf begin, over what lies in scratch."""
PIECES = {1: (192, 128), 2: (512, 256), 4: (512, 256), 8: (512, 256)}
"""By bytes of a unit, of which two axes are exchanged: how many indices of the target's and of the
source's are one piece of work. Their pages are at hand; and of bytes, of which a tile reads a part
of each line, all lines of the piece are in the first cache.
"""


@dataclass(frozen=True, slots=True)
class Unplanned:
    """Why there is no tree, in a few words."""

    reason: str


def planned(chains: Chains, width: int) -> tree.Node:
    """Return the tree that moves one side to another, for elements of ``width`` bytes."""
    body = _Plan(chains, width).body()
    if not chains.target.gaps:
        return body
    start = chains.target.start
    size = simplify(Sub(chains.target.size, start))
    return tree.Seq((tree.Fill(tree.Place(tree.TARGET, start), size), body))


class _Plan:
    """The loops of a move, and the leaf in them."""

    def __init__(self, chains: Chains, width: int) -> None:
        self.chains, self.width = chains, width
        self.along = stretch(chains, width)
        self.box = Box(()) if self.along is not None else cheapest(chains, width)
        self._inner = {(each.axis, each.digit) for each in self.box.inner}
        self._names = {name for axis in chains.axes for name in extents(axis.extent)}

    def body(self) -> tree.Node:
        """Return all loops, and the leaf in them."""
        loops = list[Loop]()
        for number, axis in enumerate(self.chains.axes):
            if number != self.along:
                loops += [each for d in axis.digits for each in self._loops(number, axis, d)]
        return self._nested(self._ordered(loops), Around(self.chains, tuple(self._blocks())))

    def _ordered(self, loops: list[Loop]) -> list[Loop]:
        """Loops in the order of the source or of the target, the outer first.

        Of long runs each is in pages of its own on the side that is not followed. Few turns of the
        last loop touch few pages before the next runs, which are in the same ones.
        """
        target = sorted(loops, key=partial(self._order, 0))
        source = sorted(loops, key=partial(self._order, 1))
        if self.along is not None:
            return min(source, target, key=_last_turns)
        if self._follows_target():
            return target
        return self._crossed(source) if loops else loops

    def _crossed(self, loops: list[Loop]) -> list[Loop]:
        """Loops in the order of the source; of two axes that are exchanged the target's is inside.

        Rows of a power of two of bytes have all lines of a column in a few sets of the cache, from
        where what is written is driven out before it was gathered; lines that go on in a row have
        not. Nor are lines of other rows, most of which begin within one, brought in for each part
        that a tile writes; bytes of which it writes more than a line have hardly any such parts.
        """
        along, unit = loops[-1], held(self.box.unit) * self.width
        if unit not in PIECES or (unit == 1 and held(self.box.together("target")) > LINE):
            return loops
        tiled, last = False, along
        for each in loops:
            over_all = unit == 1 and each.digit.radix is None and each.step > 1
            if not each.slides and not over_all:
                continue
            tiled = tiled or each is along
            if each.digit.place[0] > last.digit.place[0]:
                last = each
        if not tiled or last is along:
            return loops
        others, (rows, columns) = [each for each in loops[:-1] if each is not last], PIECES[unit]
        return [*others, replace(along, together=columns), replace(last, together=rows)]

    def _follows_target(self) -> bool:
        """Whether loops are in the order of the target, and not in that of the source.

        One side is gone through in its order, which a processor fetches ahead; on the other each
        turn is elsewhere. That had better be the side on which a leaf has the longer runs. What is
        read is waited for and what is written is not, so that the source is followed where both
        are as long, and where whole lines are written past the cache.
        """
        run = self.box.together("target")
        if held(run) >= held(self.box.together("source")):
            return False
        size, counts = self.chains.target.size, dict[tuple[int, Digit], int]()
        for each in run:
            counts[each.axis, each.digit] = each.count
        past = not isinstance(size, Constant) or size.value * self.width >= PAST
        for number, axis in enumerate(self.chains.axes):
            for digit in axis.digits:
                step = gcd(*polynomial(digit.target).values()) * counts.get((number, digit), 1)
                past = past and step * self.width % LINE == 0
        return not past

    def _order(self, first: int, loop: Loop) -> tuple[bool, int, int, int]:
        digit = loop.digit
        is_inner = loop.step == 1 and (loop.axis, digit) in self._inner
        return is_inner, digit.place[first], -digit.divisor, digit.place[1 - first]

    def _held(self, number: int, digit: Digit) -> int:
        for each in self.box.parts:
            if (each.axis, each.digit) == (number, digit):
                return each.count
        return 1

    def _blocks(self) -> list[int]:
        """Of each axis, how many indices one turn of its top loop goes over."""
        tops = [axis.digits[-1] for axis in self.chains.axes]
        return [top.divisor * self._held(number, top) for number, top in enumerate(tops)]

    def _loops(self, number: int, axis: ChainAxis, digit: Digit) -> list[Loop]:
        """The loops over a digit: those of its steps that are not in the leaf, and inner ones."""
        found, held = list[Loop](), self._held(number, digit)
        if (number, digit) in self._inner:
            found.append(self._loop(number, digit, 1, Constant(held)))
        if digit.radix is not None:
            count: Expr = Constant(digit.radix // held)
        else:
            block = Constant(digit.divisor * held)
            whole = exact_quotient(axis.target, block)
            count = simplify(CeilDiv(axis.target, block) if whole is None else whole)
        if count == ONE:
            return found
        slides = digit.radix is None and axis.slides and held > 1
        slides = slides and axis.multiple % held != 0
        return [replace(self._loop(number, digit, held, count), slides=slides), *found]

    def _loop(self, number: int, digit: Digit, step: int, count: Expr) -> Loop:
        axis, times = self.chains.axes[number], digit.divisor * step
        name = "_".join(axis.names) + (f"_{times}" if times > 1 else "")
        if OWN.match(name):
            name = f"x_{name}"
        while name in self._names:
            name += "_"
        self._names.add(name)
        return Loop(name, number, digit, step, count, note=_note(axis, digit, step))

    def _nested(self, loops: list[Loop], around: Around) -> tree.Node:
        if not loops:
            return self._leaf(around)
        loop, *rest = loops
        if loop.slides:
            return self._slid(loop, rest, around)
        within = around.within(loop)
        block = loop.digit.divisor * loop.step
        if rest and block == within.blocks[loop.axis] and loop.axis in within.open():
            whole = self._nested(rest, within.closing(loop.axis))
            other = self._nested(rest, within.ending(loop.axis))
            if isinstance(whole, tree.If) and _moves(whole.other) and _moves(other):
                whole = replace(whole, other=other)  # which does as much of it as there is
            body = when(within.ends(loop.axis, block), whole, other)
        else:
            body = self._nested(rest, within)
        return tree.For(loop.name, loop.count, body, loop.note)

    def _slid(self, loop: Loop, rest: list[Loop], around: Around) -> tree.Node:
        """A loop whose last turn is moved back, where there is a whole one.

        Where parts of moves are done anyway, as another axis ends there, its last turn is a part
        too: that takes no loop of its own where no turn is whole.
        """
        if around.ended:
            turned = around.within(replace(loop, slides=False)).ending(loop.axis)
            parts = tree.For(loop.name, loop.count, self._nested(rest, turned), loop.note)
            if _moves(parts):
                return parts
        extent = self.chains.axes[loop.axis].extent
        inner = self._nested(rest, around.within(loop).closing(loop.axis))
        slid = tree.Slide(loop.name, extent, loop.step, inner, loop.note, loop.together)
        enough = Condition(extent, ">=", Constant(loop.step))
        return when(enough, slid, self._nested(rest, around.ending(loop.axis)))

    def _leaf(self, around: Around) -> tree.Node:
        if self.along is not None:
            return whole_axis(around, self.along)
        return Leaf(self.box, around, self.width).node()


def _moves(node: tree.Node) -> bool:
    """Whether all that a tree does is moves, whole ones or parts."""
    match node:
        case tree.For() | tree.Slide():
            return _moves(node.body)
        case tree.If():
            return _moves(node.then) and _moves(node.other)
    return isinstance(node, tree.Move)


def _last_turns(loops: list[Loop]) -> float:
    return loops[-1].count.value if loops and isinstance(loops[-1].count, Constant) else inf


def _note(axis: ChainAxis, digit: Digit, step: int) -> str:
    """What a loop walks, as an engineer would write it."""
    index = axis.names[-1]
    if len(axis.names) > 1:
        index = f"({', '.join(axis.names)})"
    times = digit.divisor * step
    over = f"/{times}" if times > 1 else ""
    radix = radix_of(axis, digit)
    below = f"%{radix // step}" if digit.radix is not None and radix is not None else ""
    return f"{index}{over}{below}"


__all__ = ["Unplanned", "planned"]
