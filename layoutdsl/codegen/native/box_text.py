"""The inside of a box as C: one that is whole, and one at an edge.

At an edge everything that does not change with the innermost loop is worked out before it: how far
the lanes reach, and how many turns are whole but for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.comb_text import CombText
from layoutdsl.codegen.native.loop_text import At, Ends, indented, looped, turns
from layoutdsl.codegen.native.nest import Loop, Nest
from layoutdsl.codegen.native.run_text import RunText
from layoutdsl.codegen.native.staged_text import StagedText
from layoutdsl.codegen.native.tile_text import TileText
from layoutdsl.integers.expr import Constant

LeafText = RunText | TileText | CombText | StagedText

MOST_UNROLLED = 16
"""Vectors that one turn of an unrolled loop moves."""


@dataclass(frozen=True, slots=True)
class BoxText:
    """The spelling of a box.

    Attributes:
        chains: what is moved.
        nest: the loops.
        leaf: what is moved at once.
        vectors: that it takes.
        ragged: the axes that may end inside a box.
    """

    chains: Chains
    nest: Nest
    leaf: LeafText
    vectors: int
    ragged: tuple[int, ...]

    def whole(self, at: At) -> list[str]:
        """Return the lines that move a box without a look at its edges."""
        return self._whole(self._first(), at)

    def _first(self) -> int:
        return len(self.nest.units) + len(self.nest.loops)

    def _loop(self, number: int) -> Loop | None:
        inside = number - self._first()
        return self.nest.inner[inside] if inside < len(self.nest.inner) else None

    def _whole(self, number: int, at: At) -> list[str]:
        loop = self._loop(number)
        if loop is None:
            return [*_pointers(at), *self.leaf.whole()]
        body = looped(
            number, loop, at, ("0", f"c{number}"), lambda inner: self._whole(number + 1, inner)
        )
        return [f"UNROLL({self._unrolled(number)})", *body]

    def _unrolled(self, number: int) -> int:
        counts = [loop.count for loop in self.nest.inner[number - self._first() :]]
        numbers = [each.value for each in counts if isinstance(each, Constant)]
        assert len(numbers) == len(counts)
        return max(1, min(numbers[0], MOST_UNROLLED // (self.vectors * prod(numbers[1:]))))

    def edge(self, at: At) -> list[str]:
        """Return the lines that move a box as far as there are indices, and fill the rest."""
        first = self._first()
        moving = self._moving()
        still = [axis for axis in self.ragged if axis not in moving]
        lines = [line for axis in still for line in self._ends(axis, at)]
        if not moving:
            return [*lines, *_pointers(at), *self._alone(still)]
        easy = [*self._turns(first, at, self._moving()), *self._easy(first, at)]
        tests = [self._goes_on(axis) for axis in still]
        if not tests:
            return [*lines, *easy]
        hard = [*self._turns(first, at, self._moving()), *self._hard(first, at)]
        test = " && ".join(tests)
        return [*lines, f"if ({test}) {{", *indented(easy), "} else {", *indented(hard), "}"]

    def _moving(self) -> frozenset[int]:
        """The axes that loops inside the box move along."""
        return frozenset(loop.axis for loop in self.nest.inner)

    def _alone(self, still: list[int]) -> list[str]:
        """A leaf that is the whole of a box."""
        edge, cut = self.leaf.edge(self._names()), self.leaf.cut(self._names())
        if not self.leaf.lanes:
            return edge
        test = " && ".join(self._goes_on(axis) for axis in still)
        return [f"if ({test}) {{", *indented(cut), "} else {", *indented(edge), "}"]

    def _goes_on(self, axis: int) -> str:
        """When an axis ends at most inside of vectors."""
        if axis in self.leaf.lanes:
            return f"v{axis} > 0"
        return f"v{axis} == {self.nest.steps[axis]}"

    def _names(self) -> Ends:
        return {axis: (f"v{axis}", f"w{axis}") for axis in self.ragged}

    def _ends(self, axis: int, at: At) -> list[str]:
        """Say how many indices of an axis are valid, and how many have a slot, at a leaf."""
        left, step = at.indices[axis], self.nest.steps[axis]
        return [
            f"const int64_t v{axis} = clamped(e{axis} - ({left}), {step});",
            f"const int64_t w{axis} = clamped(r{axis} - ({left}), {step});",
            f"(void)v{axis}, (void)w{axis};",
        ]

    def _turns(self, first: int, at: At, axes: frozenset[int]) -> list[str]:
        """Say of the next loop of some axes how many turns there are, `m`.

        Those that end at most inside of vectors, `f`, come first.
        """
        lines, seen = list[str](), set(self._moving()) - axes
        for number, loop in enumerate(self.nest.inner[first - self._first() :], first):
            if loop.axis in seen:
                continue
            seen.add(loop.axis)
            if loop.axis not in self.ragged:
                lines.append(f"const int64_t m{number} = c{number}, f{number} = c{number};")
                lines.append(f"(void)m{number}, (void)f{number};")
                continue
            parts = loop.axis in self.leaf.lanes or self._again(number)
            begun = loop.step - (1 if parts else self.nest.steps[loop.axis])
            left = f"e{loop.axis} - ({at.indices[loop.axis]}) + {begun}"
            lines += turns(number, loop, at)
            lines.append(
                f"const int64_t f{number} = clamped({left}, {loop.step}*m{number})/{loop.step};"
            )
            lines.append(f"(void)m{number}, (void)f{number};")
        return lines

    def _again(self, number: int) -> bool:
        """Whether a loop further in is one of the same axis."""
        inner = self.nest.inner[number - self._first() :]
        return inner[0].axis in {loop.axis for loop in inner[1:]}

    def _turn(self, number: int, loop: Loop, at: At) -> list[str]:
        """What is said anew in a turn of a loop."""
        if self._again(number):
            return self._turns(number + 1, at, frozenset((loop.axis,)))
        return self._ends(loop.axis, at) if loop.axis in self.ragged else []

    def _easy(self, number: int, at: At) -> list[str]:
        """Loops while nothing ends but inside of vectors, and then the others."""
        loop = self._loop(number)
        if loop is None:
            return [*_pointers(at), *self.leaf.cut(self._names())]

        def easy(inner: At) -> list[str]:
            return [*self._turn(number, loop, inner), *self._easy(number + 1, inner)]

        def hard(inner: At) -> list[str]:
            return [*self._turn(number, loop, inner), *self._hard(number + 1, inner)]

        lines = looped(number, loop, at, ("0", f"f{number}"), easy)
        if loop.axis in self.ragged:
            lines += looped(number, loop, at, (f"f{number}", f"m{number}"), hard)
        return lines

    def _hard(self, number: int, at: At) -> list[str]:
        """Loops where some axis has ended."""
        loop = self._loop(number)
        if loop is None:
            return [*_pointers(at), *self.leaf.rest(self._names())]

        def body(inner: At) -> list[str]:
            return [*self._turn(number, loop, inner), *self._hard(number + 1, inner)]

        return looped(number, loop, at, ("0", f"m{number}"), body)


def _pointers(at: At) -> list[str]:
    return [f"const uint8_t *p = {at.source};", f"uint8_t *q = {at.target};"]
