"""The loops around a leaf: where its first element lies, and which axes may end inside of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.chains import Chains, Digit
from layoutdsl.code.loops.leaf import Parts
from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Add, CeilDiv, Constant, Expr, Index, Max, Min, Mul, Sub


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over steps of a digit.

    Attributes:
        name: of its variable.
        axis: by its number.
        digit: of the axis.
        step: steps of the digit for each turn.
        count: turns; of a top digit those that all slots take.
        slides: the variable is the index itself, and the last turn is moved back.
        note: what it walks.
        together: indices that had better be one piece of work, where that is not 0.
    """

    name: str
    axis: int
    digit: Digit
    step: int
    count: Expr
    slides: bool = False
    note: str = ""
    together: int = 0

    def turned(self, side: str) -> Expr:
        """Return how far a turn is from the first, in elements of a side."""
        per = self.digit.source if side == tree.SOURCE else self.digit.target
        return Mul(Index(self.name), per if self.slides else Mul(Constant(self.step), per))

    @property
    def index(self) -> Expr:
        """What a turn adds to the index along the axis."""
        times = self.digit.divisor * (1 if self.slides else self.step)
        return Mul(Index(self.name), Constant(times))


@dataclass(frozen=True, slots=True)
class Around:
    """The loops around a leaf.

    Attributes:
        chains: what is moved.
        blocks: of each axis, the indices that one turn of its top loop goes over.
        loops: the outer first.
        closed: axes of which all that is left lies within the extent.
        ended: axes of which not all of a block lies within the extent.
    """

    chains: Chains
    blocks: tuple[int, ...]
    loops: tuple[Loop, ...] = ()
    closed: frozenset[int] = frozenset()
    ended: frozenset[int] = frozenset()

    def within(self, *loops: Loop) -> Around:
        """Return the same inside of more loops."""
        return replace(self, loops=(*self.loops, *loops))

    def closing(self, *axes: int) -> Around:
        """Return the same where axes are known not to end."""
        return replace(self, closed=self.closed | set(axes))

    def ending(self, axis: int) -> Around:
        """Return the same where a block of an axis is known to end, or to be beyond."""
        return replace(self, ended=self.ended | {axis})

    def place(self, side: str) -> tree.Place:
        """Return where the first element lies."""
        first = self.chains.source.first if side == tree.SOURCE else self.chains.target.first
        for each in self.loops:
            first = Add(first, each.turned(side))
        return tree.Place(side, simplify(first))

    def index(self, axis: int) -> Expr:
        """Return the index of the first element along an axis."""
        total: Expr = ZERO
        for each in self.loops:
            if each.axis == axis:
                total = Add(total, each.index)
        return simplify(total)

    def open(self) -> list[int]:
        """The axes that may end inside of the leaf, or before it."""
        return [n for n in range(len(self.chains.axes)) if n not in self.closed and self._ends(n)]

    def _ends(self, number: int) -> bool:
        axis, block = self.chains.axes[number], self.blocks[number]
        if not same(axis.extent, axis.target):
            return True
        return axis.multiple % block != 0

    def slots_whole(self, number: int) -> bool:
        """Whether all that the loops reach are slots of the target."""
        axis = self.chains.axes[number]
        return _whole(axis.target, axis.tops[1], self.blocks[number])

    def source_whole(self, number: int) -> bool:
        """Whether all that the loops reach are slots of the source."""
        axis = self.chains.axes[number]
        if isinstance(axis.source, Constant) and isinstance(axis.target, Constant):
            block = self.blocks[number]
            return axis.source.value >= -(-axis.target.value // block) * block
        as_far = same(axis.extent, axis.target) or self._rounded(number, axis.extent)
        return as_far and _whole(axis.source, axis.tops[0], self.blocks[number])

    def loops_over(self, number: int) -> bool:
        """Whether there are loops over an axis whose turns are less than a block."""
        return any(
            each.axis == number and each.digit.divisor * each.step < self.blocks[number]
            for each in self.loops
        )

    def left(self, number: int, end: Expr, divisor: int, most: int) -> Expr:
        """Return how many of ``most`` steps of a digit lie before an end."""
        left = simplify(Sub(end, self.index(number)))
        if self.beyond(number, end):
            left = simplify(Max(left, ZERO))
        steps = left if divisor == 1 else CeilDiv(left, Constant(divisor))
        return simplify(Min(steps, Constant(most)))

    def beyond(self, number: int, end: Expr) -> bool:
        """Whether the first index of an axis may lie beyond an end."""
        axis, block = self.chains.axes[number], self.blocks[number]
        if self.index(number) == ZERO:
            return False
        if self.loops_over(number):
            return True
        if same(end, axis.target):
            return False
        if isinstance(end, Constant) and isinstance(axis.target, Constant):
            return -(-end.value // block) * block < axis.target.value
        return not self._rounded(number, end)

    def _rounded(self, number: int, end: Expr) -> bool:
        """Whether all slots of an axis lie in blocks that begin before an end."""
        axis, top = self.chains.axes[number], Constant(self.chains.axes[number].tops[1])
        rounded = Mul(top, CeilDiv(end, top))
        return self.blocks[number] % top.value == 0 and same(rounded, axis.target)

    def ends(self, number: int, reach: int) -> Condition:
        """Return the condition that so many indices of an axis lie within its extent."""
        last = simplify(Add(self.index(number), Constant(reach)))
        return Condition(last, "<=", self.chains.axes[number].extent)

    def before(self, number: int, end: Expr) -> Condition:
        """Return the condition that the first index of an axis lies before an end."""
        return Condition(self.index(number), "<", end)


def _whole(slots: Expr, top: int, block: int) -> bool:
    """Whether slots are a multiple of a block; those that are no number are one of a top digit."""
    if isinstance(slots, Constant):
        return slots.value % block == 0
    return top % block == 0


def reach_of(parts: Parts, number: int) -> int:
    """Return how far the indices of an axis reach within some parts, from the first."""
    return 1 + sum((each.count - 1) * each.digit.divisor for each in parts if each.axis == number)


def when(condition: Condition, then: tree.Node, other: tree.Node) -> tree.Node:
    """Return a choice, made where both sides are numbers."""
    if then == other:
        return then
    if isinstance(condition.left, Constant) and isinstance(condition.right, Constant):
        return then if condition.holds({}) else other
    return tree.If(condition, then, other)
