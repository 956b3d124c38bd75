"""The loops around boxes as C: units one after another, and in each of them all its boxes."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.codegen.native.box_text import BoxText
from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.loop_text import At, counted, indented, looped, may_slide, turns
from layoutdsl.codegen.native.nest import Loop, Nest
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.sweep_text import SweepText
from layoutdsl.codegen.native.tile_text import TileText
from layoutdsl.integers.bounds import simplify
from layoutdsl.integers.expr import Constant, Expr, Mul

WALK = (
    "const uint8_t *p0, uint8_t *q0, const int64_t *shape, const uint8_t *end, v16 rest,"
    " int64_t first, int64_t past, int stream"
)
"""The parameters of the function that moves some units."""

TOGETHER = 64
"""Indices of a whole axis that are not cut: these are whole lines, if they start with one."""


def _turns(extent: str) -> str:
    return f"({extent} + {TOGETHER - 1})/{TOGETHER}"


@dataclass(frozen=True, slots=True)
class WalkText:
    """The spelling of all loops.

    Attributes:
        name: of the kernel.
        chains: what is moved.
        nest: the loops.
        box: what is inside.
        sweep: what moves a unit where its axes hold a tile; the loops are for other shapes then.
        ragged: the axes that may end inside a box.
        width: bytes of an element.
        words: how extents are spelled.
        cuts: whether threads share units, so that few of them are cut into pieces.
        more: names of numbers that the function is told.
    """

    name: str
    chains: Chains
    nest: Nest
    box: BoxText
    sweep: SweepText | None
    ragged: tuple[int, ...]
    width: int
    words: Spelling
    cuts: bool
    more: tuple[str, ...] = ()

    def function(self) -> list[str]:
        """Return the function `_walk`."""
        more = "".join(f", int64_t {name}" for name in self.more)
        names = [*self.words.unpacked(self.used()), *self._constants()]
        return [
            "",
            f"INLINED void {self.name}_walk({WALK}{more})",
            "{",
            *indented([*names, *self._units()]),
            "    (void)end, (void)rest, (void)stream, (void)shape;",
            "}",
        ]

    def used(self) -> list[Expr]:
        """Return the expressions whose extents are needed."""
        sides = (self.chains.source, self.chains.target)
        axes = [e for a in self.chains.axes for e in (a.extent, a.source, a.target)]
        strides = [e for a in self.chains.axes for d in a.digits for e in (d.source, d.target)]
        return [*axes, *strides, *(e for s in sides for e in (s.first, s.size, s.start))]

    def bytes(self, expr: Expr) -> str:
        """Return so many elements as bytes."""
        return self.words.text(simplify(Mul(expr, Constant(self.width))))

    def _loops(self) -> tuple[Loop, ...]:
        return (*self.nest.units, *self.nest.loops, *self.nest.inner)

    def _constants(self) -> list[str]:
        lines = list[str]()
        for number, axis in enumerate(self.chains.axes):
            for letter, extent in (("e", axis.extent), ("r", axis.target)):
                lines.append(f"const int64_t {letter}{number} = {self.words.text(extent)};")
            lines.append(f"(void)e{number}, (void)r{number};")
        for number, loop in enumerate(self._loops()):
            lines += [
                f"const ptrdiff_t a{number} = {self.bytes(loop.source)};",
                f"const ptrdiff_t b{number} = {self.bytes(loop.target)};",
                f"const int64_t c{number} = {self.words.text(loop.count)};",
            ]
            if loop.slides:
                digit = loop.sliding(self.chains.axes[loop.axis])
                lines += [
                    f"const ptrdiff_t ua{number} = {self.bytes(digit.source)};",
                    f"const ptrdiff_t ub{number} = {self.bytes(digit.target)};",
                    f"(void)a{number}, (void)b{number};",
                ]
        if isinstance(self.box.leaf, TileText):
            for name, digit, side in self.box.leaf.stride_values():
                lines.append(f"const ptrdiff_t {name} = {self.bytes(getattr(digit, side))};")
        return lines

    def _units(self) -> list[str]:
        """The turns of the outer loops are worked out once, and counted up from there."""
        numbers = range(len(self.nest.units))
        turns, start = self.cut_turns(), list[str]()
        if turns is not None:
            units = "*".join(["(int64_t)1", *(f"c{number}" for number in numbers)])
            start = [f"const int64_t all = pieces({units}, {turns});"]
        if numbers:
            start += [f"int64_t left = first{'/all' if turns else ''};"]
        for number in reversed(numbers):
            start += [f"int64_t k{number} = left % c{number};", f"left /= c{number};"]
        at = At("pu", "qu", ("0",) * len(self.chains.axes))
        for number in numbers:
            at = At("pu", "qu", counted(at, number, self.nest.units[number]))
        sums = ["".join(f" + k{number}*{letter}{number}" for number in numbers) for letter in "ab"]
        count = list[str]()
        for number in numbers:
            count = [
                f"if (++k{number} == c{number}) {{",
                f"    k{number} = 0;",
                *indented(count),
                "}",
            ]
        loop = ["for (int64_t unit = first; unit < past; unit++) {"]
        if turns is not None:
            loop = [
                "for (int64_t done = first; done < past;) {",
                "    const int64_t piece = done % all, stop = least(all, piece + past - done);",
                "    done += stop - piece;",
            ]
        return [
            *start,
            *loop,
            *indented(
                [
                    f"const uint8_t *pu = p0{sums[0]};",
                    f"uint8_t *qu = q0{sums[1]};",
                    *self._unit(at),
                    *count,
                ]
            ),
            "}",
        ]

    def cut_extents(self) -> list[Expr]:
        """Return what `cut_turns` is made of."""
        if self.sweep is not None:
            return [self.chains.axes[number].extent for number in self.sweep.axes()]
        if self.nest.loops:
            return [self.nest.loops[0].count]
        whole = self._whole_axis()
        return [] if whole is None else [self.chains.axes[whole].extent]

    def cut_turns(self) -> str | None:
        """Return, in C, how many turns there are in a unit to be cut; ``None`` for none."""
        if not self.cuts or self.chains.target.gaps:
            return None
        if self.sweep is not None:
            return self.sweep.turns(self.words)
        if self.nest.loops:
            return self.words.text(self.nest.loops[0].count)
        whole = self._whole_axis()
        return None if whole is None else _turns(self.words.text(self.chains.axes[whole].extent))

    def _whole_axis(self) -> int | None:
        """The axis that a leaf moves as a whole."""
        return self.nest.steps.index(0) if 0 in self.nest.steps else None

    def _unit(self, at: At) -> list[str]:
        whole = self._whole_axis()
        if whole is None:
            return self._moved(at)
        ends = ["0", f"e{whole}"]
        if not self.nest.loops and self.cut_turns() is not None:
            turns = _turns(f"e{whole}")
            cuts = (f"cut({turns}, {each}, all)*{TOGETHER}" for each in ("piece", "stop"))
            ends = [f"least({each}, e{whole})" for each in cuts]
        return [f"const int64_t from = {ends[0]}, upto = {ends[1]};", *self._moved(at)]

    def _moved(self, at: At) -> list[str]:
        if self.sweep is None:
            return self._nested(len(self.nest.units), at)
        piece = ("0", "1", "1") if self.cut_turns() is None else ("piece", "stop", "all")
        call = self.sweep.call(at.source, at.target, piece)
        if not self.ragged:
            return [call]
        others = [axis for axis in self.ragged if axis not in self.sweep.axes()]
        tests = " && ".join([self.sweep.test(), *(self._is_whole(axis, at) for axis in others)])
        return [
            f"if ({tests}) {{",
            f"    {call}",
            "} else {",
            *indented(self._nested(len(self.nest.units), at)),
            "}",
        ]

    def _nested(self, number: int, at: At) -> list[str]:
        inside = number - len(self.nest.units)
        if inside == len(self.nest.loops):
            return self._box_alone(at)
        loop = self.nest.loops[inside]
        past, lines = f"c{number}", list[str]()
        if loop.ragged:
            past, lines = f"m{number}", turns(number, loop, at)
        ends = "0", past
        if inside == 0 and self.cut_turns() is not None:
            ends = f"g{number}", f"h{number}"
            cuts = [f"cut({past}, {each}, all)" for each in ("piece", "stop")]
            lines += [f"const int64_t {ends[0]} = {cuts[0]}, {ends[1]} = {cuts[1]};"]
        if inside + 1 == len(self.nest.loops):
            return [*lines, *self._innermost(number, loop, at, ends)]
        body = looped(number, loop, at, ends, lambda inner: self._nested(number + 1, inner))
        return [*lines, *body]

    def _innermost(self, number: int, loop: Loop, at: At, ends: tuple[str, str]) -> list[str]:
        """Two loops: while everything is whole, and then the rest."""
        first, past = ends
        if self.sweep:
            return looped(number, loop, at, ends, self.box.edge)
        if not self.ragged:
            return looped(number, loop, at, ends, self.box.whole)
        tests = [self._is_whole(axis, at) for axis in self.ragged if axis != loop.axis]
        whole = past
        if loop.axis in self.ragged:
            step = self.nest.boxes[loop.axis]
            left = f"e{loop.axis} - ({at.indices[loop.axis]})"
            turns = f"clamped({left} < {step} ? 0 : ({left} - {step})/{loop.step} + 1, {past})"
            whole = f"({may_slide(loop)} ? {past} : {turns})" if loop.slides else turns
        if tests:
            whole = f"{' && '.join(tests)} ? {whole} : 0"
        if first != "0":
            whole = f"greatest({whole}, {first})"
        return [
            f"const int64_t whole = {whole};",
            *looped(number, loop, at, (first, "whole"), self.box.whole),
            *looped(number, loop, at, ("whole", past), self.box.edge),
        ]

    def _box_alone(self, at: At) -> list[str]:
        if self.sweep:
            return self.box.edge(at)
        if not self.ragged:
            return self.box.whole(at)
        tests = " && ".join(self._is_whole(axis, at) for axis in self.ragged)
        whole, edge = self.box.whole(at), self.box.edge(at)
        return [f"if ({tests}) {{", *indented(whole), "} else {", *indented(edge), "}"]

    def _is_whole(self, axis: int, at: At) -> str:
        return f"{at.indices[axis]} + {self.nest.boxes[axis]} <= e{axis}"
