"""A run as C: whole, and at an edge, where a part of it is copied and the rest filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.lanes import holds
from layoutdsl.codegen.native.tiles import Run
from layoutdsl.digits import same

MOST_SHORT = 256
"""Bytes of a run whose edge is moved by masks."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The spelling of one run, where `p` and `q` are at its first elements.

    Attributes:
        chains: what is moved.
        run: the leaf.
        width: bytes of an element.
        ragged: the axes that may end inside a box.
        indices: of each axis, at the run.
    """

    chains: Chains
    run: Run
    width: int
    ragged: tuple[int, ...]
    indices: Mapping[int, str]

    def whole(self) -> list[str]:
        """Return the lines that copy all of it."""
        if self.run.count is None:
            number = self._axis()
            axis, size = self.chains.axes[number], f"e{number}*{self.width}"
            lines = [f"memcpy(q, p, (size_t)({size}));"]
            if not same(axis.extent, axis.target):
                left = f"(r{number} - e{number})*{self.width}"
                lines.append(f"run(q + {size}, p, 0, {left}, end, rest, 0);")
            return lines
        size = str(self.run.count * self.width)
        if int(size) % 16:
            return [f"memcpy(q, p, {size});"]
        blocks = f"for (int b = 0; b < {size}; b += 16) put16(q + b, get16(p + b), 1);"
        return [f"if (stream) {blocks}", f"else memcpy(q, p, {size});"]

    def edge(self) -> list[str]:
        """Return the lines that copy what is valid, and fill what else there is."""
        if self.run.count is None:
            number = self._axis()
            return [
                f"const int64_t n = ({self._valid(number)}) ? e{number} : 0;",
                f"memcpy(q, p, (size_t)(n*{self.width}));",
                f"run(q + n*{self.width}, p, 0, (r{number} - n)*{self.width}, end, rest, 0);",
            ]
        number = -1 if self.run.axis is None else self.run.axis
        valid, slots = (
            [f"clamped({end}{number} - ({self.indices[number]}), {self.run.count})" for end in "er"]
            if number in self.ragged
            else [str(self.run.count)] * 2
        )
        if number >= 0 and holds(self.chains.axes[number], "target", self.run.count):
            slots = str(self.run.count)
        most = self.run.count * self.width
        kind, last = ("short_run", f", {most}") if most <= MOST_SHORT else ("run", "")
        return [
            f"const int64_t n = ({self._valid(number)}) ? {valid} : 0;",
            f"{kind}(q, p, n*{self.width}, {slots}*{self.width}, end, rest, stream{last});",
        ]

    def _axis(self) -> int:
        assert self.run.axis is not None
        return self.run.axis

    def _valid(self, run: int) -> str:
        tests = [f"{self.indices[axis]} < e{axis}" for axis in self.ragged if axis != run]
        return " && ".join(tests) or "1"
