"""What there is of a box, copied run by run: between a side and scratch, or from side to side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.around import Around, Loop, reach_of, when
from layoutdsl.code.loops.leaf import Part, Parts, held
from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Add, Constant, Expr, Index, Mul, Sub

LONGER = 4
"""How many runs that an axis ends in are copied as one where it does not."""


@dataclass(frozen=True, slots=True)
class Laid:
    """Where the digits of a box lie: ``strides`` in scratch, ``None`` on a side of the move."""

    buffer: str
    strides: Mapping[Part, int] | None = None

    def stride(self, part: Part) -> Expr:
        """Return the elements per step of a digit."""
        return part.stride(self.buffer) if self.strides is None else Constant(self.strides[part])

    def place(self, around: Around, loops: Mapping[Part, Loop]) -> tree.Place:
        """Return where the first element lies, inside of loops over some of the digits."""
        if self.strides is None:
            return around.place(self.buffer)
        offset: Expr = ZERO
        for part, loop in loops.items():
            offset = Add(offset, Mul(Index(loop.name), Constant(self.strides[part])))
        return tree.Place(self.buffer, simplify(offset))


@dataclass(frozen=True, slots=True)
class Ending:
    """An axis that ends in a box.

    Attributes:
        copied: where its elements end.
        slots: where its slots end; those behind the elements are filled. ``None``: not in the box.
    """

    copied: Expr
    slots: Expr | None

    @property
    def fills(self) -> bool:
        """Slots lie behind the elements."""
        return self.slots is None or not same(self.slots, self.copied)


def ordered(parts: Parts, side: str) -> Parts:
    """Return parts in the order in which they lie on a side, as far as they follow there."""
    left, found, reach = list(parts), list[Part](), 1
    while True:
        each = next((each for each in left if same(each.stride(side), Constant(reach))), None)
        if each is None:
            return (*found, *left)
        left.remove(each)
        found.append(each)
        reach *= each.count


def packed(parts: Parts) -> dict[Part, int]:
    """Return the strides of a box whose parts follow each other, the first one below all."""
    found, below = dict[Part, int](), 1
    for each in parts:
        found[each], below = below, below * each.count
    return found


def run_of(parts: Parts, source: Laid, target: Laid, ends: Mapping[int, Ending]) -> Parts:
    """Return the digits that are copied as one run: what follows on both sides up to an end."""
    run, reach, left = list[Part](), Constant(1), list(parts)
    ending: Part | None = None
    while True:
        found = [
            each
            for each in left
            if same(source.stride(each), reach) and same(target.stride(each), reach)
            if ending is None
            or (
                each.axis == ending.axis
                and each.digit.divisor == ending.reach
                and ending.digit.radix == ending.count
            )
        ]
        if not found:
            return tuple(run)
        left.remove(found[0])
        run.append(found[0])
        ending = found[0] if found[0].axis in ends else None
        reach = Constant(reach.value * found[0].count)


def copies(
    around: Around, parts: Parts, source: Laid, target: Laid, ends: Mapping[int, Ending]
) -> tree.Node:
    """Return the copy of a box, in which some axes end.

    Args:
        around: the loops around the box.
        parts: the digits of the box.
        source: where they lie in what is read.
        target: where they lie in what is written.
        ends: the axes that end, or that ended before.
    """
    run = run_of(parts, source, target, ends)
    prefix = next(
        each.buffer
        for each in (source, target, Laid("y"))
        if each.strides is not None or each.buffer == "y"
    )
    loops = {
        each: Loop(f"{prefix}{each.axis}_{each.digit.divisor}", each.axis, each.digit, 1, ONE)
        for each in parts
        if each not in run and each.count > 1
    }
    inner = around.within(*loops.values())
    by_scratch = source.strides is not None or target.strides is not None
    one = _run if by_scratch else _one_of
    node = one(inner, run, (target.place(inner, loops), source.place(inner, loops)), ends)
    whole = run_of(parts, source, target, {})
    longer = len(ends) == 1 and held(whole) >= LONGER * held(run)
    outside = {part: loop for part, loop in loops.items() if not (longer and part in whole)}
    for part, loop in loops.items():
        if part not in outside:
            node = tree.For(loop.name, Constant(part.count), node)
    if longer:
        outer = around.within(*outside.values())
        places = target.place(outer, outside), source.place(outer, outside)
        ((number, end),) = ends.items()
        last = simplify(Add(outer.index(number), Constant(reach_of(whole, number))))
        is_whole = Condition(last, "<=", end.copied)
        node = when(is_whole, tree.Run(*places, Constant(held(whole))), node)
    for part, loop in outside.items():
        node = tree.For(loop.name, Constant(part.count), node)
    return node


def _one_of(
    inner: Around,
    run: Parts,
    places: tuple[tree.Place, tree.Place],
    ends: Mapping[int, Ending],
) -> tree.Node:
    """A run; where an axis ends in one of several, the others are of a length that is known."""
    node, last = _run(inner, run, places, ends), run[-1].axis if run else -1
    if last not in ends or not inner.loops_over(last):
        return node
    others = {number: end for number, end in ends.items() if number != last}
    is_whole = inner.ends(last, reach_of(run, last))
    return when(is_whole, _run(inner, run, places, others), node)


def _run(
    inner: Around,
    run: Parts,
    places: tuple[tree.Place, tree.Place],
    ends: Mapping[int, Ending],
) -> tree.Node:
    """One run, where it begins before all ends, and what is filled behind or instead of it."""
    target, source = places
    last = run[-1].axis if run and run[-1].axis in ends else None
    copied: Expr = Constant(held(run))
    slots: Expr = copied
    if last is not None:
        mine = tuple(each for each in run if each.axis == last)
        below, divisor = held(run) // held(mine), mine[0].digit.divisor

        def until(end: Expr) -> Expr:
            steps = inner.left(last, end, divisor, held(mine))
            return simplify(Mul(Constant(below), steps))

        copied, past = until(ends[last].copied), ends[last].slots
        slots = slots if past is None else until(past)
    node: tree.Node = tree.Run(target, source, copied)
    if not same(copied, slots):
        behind = tree.Place(target.buffer, simplify(Add(target.offset, copied)))
        node = tree.Seq((node, tree.Fill(behind, simplify(Sub(slots, copied)))))
    others = {number: end for number, end in ends.items() if number != last}
    for number, end in others.items():
        if end.fills:
            node = when(inner.before(number, end.copied), node, tree.Fill(target, slots))
    for number, end in others.items():
        if end.slots is not None:
            node = when(inner.before(number, end.slots), node, tree.EMPTY)
    return node
