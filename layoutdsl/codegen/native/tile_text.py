"""A tile as C: its vectors loaded, turned round by the network, and stored.

The whole tile is a function, and so are one that ends inside its vectors, one at any edge, one of
padding only, and the plain one, element by element, that says what the others mean; compilers
without vectors use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Literal

from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.lanes import SideName, fits, holds
from layoutdsl.codegen.native.loop_text import Ends, indented
from layoutdsl.codegen.native.tiles import Tile
from layoutdsl.codegen.native.vector_text import VectorText, Which
from layoutdsl.integers.digit import same

LARGE_TILE = 1024
"""A tile of so many bytes is a function of its own, which compilers look at once."""


@dataclass(frozen=True, slots=True)
class TileText:
    """The spelling of one tile.

    Attributes:
        prefix: of the names of its functions.
        chains: what is moved.
        tile: the leaf.
        width: bytes of an element.
        ragged: the axes that may end inside a tile.
    """

    prefix: str
    chains: Chains
    tile: Tile
    width: int
    ragged: tuple[int, ...]

    def strides(self) -> tuple[str, ...]:
        """Return the names of the strides that the functions take, in bytes."""
        return tuple(f"{letter}_{axis}_{digit}" for letter, axis, digit in self._inside())

    def _inside(self) -> Iterator[tuple[str, int, int]]:
        for number, extent in enumerate(self.tile.extents):
            for digit in self.chains.axes[number].digits:
                if digit.divisor < extent:
                    yield "s", number, digit.divisor
                    yield "t", number, digit.divisor

    def stride_values(self) -> list[tuple[str, Digit, SideName]]:
        """Return each stride with the digit and the side it belongs to."""
        values = list[tuple[str, Digit, SideName]]()
        for letter, number, divisor in self._inside():
            digit = next(d for d in self.chains.axes[number].digits if d.divisor == divisor)
            side: SideName = "source" if letter == "s" else "target"
            values.append((f"{letter}_{number}_{divisor}", digit, side))
        return values

    def functions(self) -> list[str]:
        """Return the function of whole tiles and, where edges are ragged, those for edges."""
        kind = "APART" if self._large() else "INLINED"
        return [*self._at_edges("EDGE"), "", *self._vectors("whole", kind)]

    def swept_functions(self) -> list[str]:
        """Return the same, apart; for a small tile also `_tile`: `_whole`, a part of its caller."""
        if self._large():
            return [*self._at_edges("APART"), "", *self._vectors("whole", "APART")]
        _, *body = self._vectors("whole", "INLINED")
        given = self.arguments("whole")
        return [
            *self._at_edges("APART"),
            *("", f"INLINED void {self.prefix}_tile({given})", *body),
            *("", f"APART void {self.prefix}_whole({given})"),
            *("{", f"    {self._call('tile', ())}", "}"),
        ]

    def _large(self) -> bool:
        return prod(self.tile.extents) * self.width >= LARGE_TILE

    def _at_edges(self, kind: str) -> list[str]:
        if not self.ragged:
            return ["", "#if !VECTORS", *self._plain(), "#endif"]
        kind = "APART" if self._large() else kind
        lines = ["", *self._plain()]
        lines += ["", *self._vectors("cut", kind)] if self.lanes else []
        lines += ["", *self._vectors("edge", kind)]
        return [*lines, *(["", *self._vectors("blank", "APART")] if self._fills() else [])]

    def arguments(self, which: Which | Literal["plain"]) -> str:
        """Return the parameters of a function."""
        strides = [f"ptrdiff_t {name}" for name in self.strides()]
        ends = [name for axis in self._open(which) for name in (f"v{axis}", f"w{axis}")]
        return ", ".join(
            (
                *("const uint8_t *p", "uint8_t *q"),
                *strides,
                *(f"int64_t {name}" for name in ends),
                *("const uint8_t *end", "v16 rest", "int stream"),
            )
        )

    def _open(self, which: Which | Literal["plain"]) -> tuple[int, ...]:
        """The axes whose ends a function is told."""
        match which:
            case "whole":
                return ()
            case "cut":
                return self.lanes
        return self.ragged

    @property
    def lanes(self) -> tuple[int, ...]:
        """The axes of which a vector may hold a part at an edge."""
        return VectorText(self.chains, self.tile, self.ragged, "edge").lanes()

    def whole(self) -> list[str]:
        """Return the call for a whole tile."""
        return [self._call("whole", ())]

    def swept(self) -> list[str]:
        """Return the call for a whole tile in a sweep."""
        return self.whole() if self._large() else [self._call("tile", ())]

    def cut(self, ends: Ends) -> list[str]:
        """Return the call for a tile that ends inside its vectors only, if at all.

        Args:
            ends: for each axis of `lanes`, how many indices are valid, and how many have a slot.
        """
        if not self.lanes:
            return self.whole()
        tests = " && ".join(f"{ends[axis][0]} == {self.tile.extents[axis]}" for axis in self.lanes)
        call = self._call("cut", [end for axis in self.lanes for end in ends[axis]])
        return [f"if (!MASKS && {tests}) {self._call('whole', ())}", f"else {call}"]

    def edge(self, ends: Ends) -> list[str]:
        """Return the call at an edge; the ends are those of every ragged axis."""
        valid = " && ".join(f"{v} > 0" for v, _ in ends.values())
        given = [end for axis in self.ragged for end in ends[axis]]
        lines = [f"if ({valid}) {self._call('edge', given)}"]
        return [*lines, f"else {self._call('blank', given)}"] if self._fills() else lines

    rest = edge

    def _call(self, which: str, ends: Iterable[str]) -> str:
        words = ["p", "q", *self.strides(), *ends, "end", "rest", "stream"]
        return f"{self.prefix}_{which}({', '.join(words)});"

    def _plain(self) -> list[str]:
        """Element by element: fill where no index is valid, nothing where no slot exists."""
        lines = [f"APART void {self.prefix}_plain({self.arguments('plain')})", "{"]
        depth = 1
        for number, extent in enumerate(self.tile.extents):
            if extent == 1 and number not in self.ragged:
                continue
            past = f"w{number}" if number in self.ragged else str(extent)
            if number not in self.ragged and fits(self.chains.axes[number], extent):
                past = str(getattr(self.chains.axes[number].target, "value", extent))
            lines.append(
                f"{'    ' * depth}for (int64_t x{number} = 0; x{number} < {past}; x{number}++)"
            )
            depth += 1
        if depth == 1:
            lines.append("    {")
            depth = 2
        else:
            lines[-1] += " {"
        tests = [f"x{axis} < v{axis}" for axis in self.ragged]
        for number, extent in enumerate(self.tile.extents):
            axis = self.chains.axes[number]
            if number not in self.ragged and fits(axis, extent):
                tests.append(f"x{number} < {getattr(axis.extent, 'value', extent)}")
        valid = " && ".join(tests) or "1"
        sums = [" + ".join(self._plain_terms(letter)) or "0" for letter in "st"]
        pad = "    " * depth
        lines += [
            f"{pad}const uint8_t *from = {valid} ? p + {sums[0]} : (const uint8_t *)&rest;",
            f"{pad}memcpy(q + {sums[1]}, from, {self.width});",
            f"{'    ' * (depth - 1)}}}",
            "    (void)end, (void)rest, (void)stream;",
            "}",
        ]
        return lines

    def _plain_terms(self, letter: str) -> Iterator[str]:
        for number, extent in enumerate(self.tile.extents):
            digits = [d for d in self.chains.axes[number].digits if d.divisor < extent]
            for position, digit in enumerate(digits):
                value = f"x{number}" if digit.divisor == 1 else f"x{number}/{digit.divisor}"
                if position + 1 < len(digits):
                    value = f"{value}%{digits[position + 1].divisor // digit.divisor}"
                yield f"{value}*{letter}_{number}_{digit.divisor}"

    def _vectors(self, which: Which, kind: str) -> list[str]:
        lines = [f"{kind} void {self.prefix}_{which}({self.arguments(which)})", "{"]
        given = self._open(which)
        extents = self.tile.extents
        plain = self._call(
            "plain",
            [
                f"{letter}{axis}" if axis in given else str(extents[axis])
                for axis in self.ragged
                for letter in "vw"
            ],
        )
        names = (*self.strides(), *(f"{letter}{axis}" for axis in given for letter in "vw"))
        if which in ("cut", "edge") and self._mixes():
            return [*lines, *self._mixed(given), f"    {plain}", "}"]
        body = VectorText(self.chains, self.tile, self.ragged, which).body()
        names = ("p", *names, "end", "rest")
        return [
            *lines,
            "#if VECTORS",
            *indented(body),
            "#else",
            f"    {plain}",
            "#endif",
            *(f"    (void){name};" for name in names),
            "}",
        ]

    def _mixed(self, given: tuple[int, ...]) -> list[str]:
        """Where every slot exists, on both sides: moved whole, and filled where it is padding."""
        extents = self.tile.extents
        padded = [axis for axis in given if self._may_be_padding(axis)]
        for number, axis in enumerate(self.chains.axes):
            if number in self.ragged and not holds(axis, "source", extents[number]):
                return []
            if number not in self.ragged and _mixes(axis):
                return []
        tests = " && ".join(f"w{axis} == {extents[axis]}" for axis in given) or "1"
        whole = VectorText(self.chains, self.tile, self.ragged, "whole").body()
        fills = (line for axis in padded for line in self._filled(axis))
        return [
            "#if VECTORS",
            f"    if ({tests}) {{",
            *indented(indented([*whole, *fills, "return;"])),
            "    }",
            "#endif",
        ]

    def _filled(self, axis: int) -> list[str]:
        """Return the loops that fill a tile from the first index on that is padding."""
        lines = list[str]()
        for number, extent in enumerate(self.tile.extents):
            first = f"v{number}" if number == axis else "0"
            past: object = extent
            if number not in self.ragged and fits(self.chains.axes[number], extent):
                past = getattr(self.chains.axes[number].target, "value", extent)
            x = f"x{number}"
            lines.append(f"for (int64_t {x} = {first}; {x} < {past}; {x}++)")
        terms = " + ".join(self._plain_terms("t")) or "0"
        return [*lines, f"    memcpy(q + {terms}, &rest, {self.width});"]

    def _may_be_padding(self, axis: int) -> bool:
        return not same(self.chains.axes[axis].extent, self.chains.axes[axis].target)

    def _fills(self) -> bool:
        """Whether there may be a tile of padding only."""
        return any(map(self._may_be_padding, self.ragged))

    def _mixes(self) -> bool:
        """Whether padding of the source could be carried into padding of the target."""
        return any(map(_mixes, self.chains.axes))


def _mixes(axis: ChainAxis) -> bool:
    return not same(axis.extent, axis.source) and not same(axis.extent, axis.target)
