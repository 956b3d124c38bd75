"""A tile as C: its vectors loaded, turned round by the network, and stored.

Three functions: the whole tile, one at a ragged edge, and the plain one, element by element, that
says what the other two mean; compilers without vectors use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from layoutdsl.codegen.native.chains import Chains, Digit
from layoutdsl.codegen.native.lanes import SideName, fits
from layoutdsl.codegen.native.tiles import Tile
from layoutdsl.codegen.native.vector_text import VectorText
from layoutdsl.digits import same

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
        """Return the functions `_whole` and, where edges are ragged, `_edge`."""
        large = prod(self.tile.extents) * self.width >= LARGE_TILE
        return [*self._others(), "", *self._vectors("whole", "APART" if large else "INLINED")]

    def swept_functions(self) -> list[str]:
        """Return the same, and `_tile`: `_whole`, but a part of what calls it."""
        words = ", ".join(["p", "q", *self.strides(), "end", "rest", "stream"])
        return [
            *self._others(),
            *("", *self._vectors("tile", "INLINED"), ""),
            f"APART void {self.prefix}_whole({self.arguments('whole')})",
            *("{", f"    {self.prefix}_tile({words});", "}"),
        ]

    def _others(self) -> list[str]:
        if not self.ragged:
            return ["", "#if !VECTORS", *self._plain(), "#endif"]
        large = prod(self.tile.extents) * self.width >= LARGE_TILE
        return ["", *self._plain(), "", *self._vectors("edge", "APART" if large else "EDGE")]

    def arguments(self, which: str) -> str:
        """Return the parameters of a function."""
        strides = [f"ptrdiff_t {name}" for name in self.strides()]
        ends = self._ends() if which in ("edge", "plain") else []
        return ", ".join(
            (
                *("const uint8_t *p", "uint8_t *q"),
                *strides,
                *(f"int64_t {name}" for name in ends),
                *("const uint8_t *end", "v16 rest", "int stream"),
            )
        )

    def call(self, which: str, ends: Iterable[str] = ()) -> str:
        """Return a call; ``ends`` are the valid and the existing indices of each ragged axis."""
        words = ["p", "q", *self.strides(), *ends, "end", "rest", "stream"]
        return f"{self.prefix}_{which}({', '.join(words)});"

    def _ends(self) -> list[str]:
        return [f"{letter}{axis}" for axis in self.ragged for letter in "vw"]

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

    def _vectors(self, which: str, kind: str) -> list[str]:
        head = f"{kind} void {self.prefix}_{which}"
        lines = [f"{head}({self.arguments(which)})", "{"]
        if which == "edge" and self._mixes():
            names = ", ".join(["p", "q", *self.strides(), *self._ends(), "end", "rest", "stream"])
            return [*lines, f"    {self.prefix}_plain({names});", "}"]
        plain = self._plain_call(which)
        return [
            *lines,
            "#if VECTORS",
            *(f"    {line}" for line in self._moved(which)),
            "#else",
            f"    {plain}",
            "#endif",
            *self._unused(),
            "}",
        ]

    def _unused(self) -> list[str]:
        return [f"    (void){name};" for name in (*self.strides(), "end", "rest")]

    def _plain_call(self, which: str) -> str:
        if which == "edge":
            ends = self._ends()
        else:
            ends = [str(self.tile.extents[axis]) for axis in self.ragged for _ in "vw"]
        words = ["p", "q", *self.strides(), *ends, "end", "rest", "stream"]
        return f"{self.prefix}_plain({', '.join(words)});"

    def _mixes(self) -> bool:
        """Whether padding of the source could be carried into padding of the target."""
        return any(
            not same(axis.extent, axis.source) and not same(axis.extent, axis.target)
            for axis in self.chains.axes
        )

    def _moved(self, which: str) -> Iterator[str]:
        return VectorText(self.chains, self.tile, self.ragged, which == "edge").body()
