"""A run as C: whole, and at an edge, where a part of it is copied and the rest filled."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.lanes import holds
from layoutdsl.codegen.native.loop_text import Ends
from layoutdsl.codegen.native.tiles import Run
from layoutdsl.integers.digit import same

MOST_SHORT = 256
"""Bytes of a run whose edge is moved by masks."""


@dataclass(frozen=True, slots=True)
class RunText:
    """The spelling of one run, where `p` and `q` are at its first elements.

    Attributes:
        chains: what is moved.
        run: the leaf.
        width: bytes of an element.
        ragged: the axes that may end inside a box.
    """

    chains: Chains
    run: Run
    width: int
    ragged: tuple[int, ...]

    @property
    def lanes(self) -> tuple[int, ...]:
        """The axes that are moved in part at an edge: there the run is shorter."""
        return tuple(axis for axis in self.ragged if axis == self.run.axis)

    def functions(self) -> list[str]:
        """Return none: what is needed stands in the prelude."""
        return []

    def whole(self) -> list[str]:
        """Return the lines that copy all of it."""
        if self.run.count is None:
            number = self._axis()
            axis, size = self.chains.axes[number], f"e{number}*{self.width}"
            start = f"from*{self.width}"
            lines = [f"memcpy(q + {start}, p + {start}, (size_t)((upto - from)*{self.width}));"]
            if not same(axis.extent, axis.target):
                left = f"(r{number} - e{number})*{self.width}"
                lines.append(f"if (upto == e{number}) run(q + {size}, p, 0, {left}, end, rest, 0);")
            return lines
        size = str(self.run.count * self.width)
        if int(size) % 16:
            return [f"memcpy(q, p, {size});"]
        blocks = f"for (int b = 0; b < {size}; b += 16) put16(q + b, get16(p + b), 1);"
        return [f"if (stream) {blocks}", f"else memcpy(q, p, {size});"]

    def cut(self, ends: Ends) -> list[str]:
        """Return the lines that copy a run of which something is valid, and fill its rest."""
        return [self._valid(ends)]

    def edge(self, ends: Ends) -> list[str]:
        """Return the lines that copy what is valid, and fill what else there is."""
        tests = [f"{v} > 0" for v, _ in ends.values()]
        if not tests:
            return self.cut(ends)
        return [f"if ({' && '.join(tests)}) {self._valid(ends)}", f"else {self.rest(ends)[0]}"]

    def rest(self, ends: Ends) -> list[str]:
        """Return the lines that fill a run of which nothing is valid."""
        return [f"run(q, p, 0, {self._sizes(ends)[1]}, end, rest, stream);"]

    def _valid(self, ends: Ends) -> str:
        n, slots = self._sizes(ends)
        if self.run.count is None or self.run.count * self.width > MOST_SHORT:
            return f"run(q, p, least({n}, {slots}), {slots}, end, rest, stream);"
        most = self.run.count * self.width
        return f"short_run(q, p, {n}, {slots}, end, rest, stream, {most});"

    def _sizes(self, ends: Ends) -> tuple[str, str]:
        """The bytes that are copied, and those that are written.

        Where the source has as many slots as the run has elements, all of them can be read.
        """
        if self.run.count is None:
            number = self._axis()
            return f"e{number}*{self.width}", f"r{number}*{self.width}"
        size = str(self.run.count * self.width)
        if self.run.axis not in ends:
            return size, size
        axis, (valid, slots) = self.chains.axes[self._axis()], ends[self._axis()]
        written = f"{slots}*{self.width}"
        if holds(axis, "target", self.run.count):
            written = size
        if holds(axis, "source", self.run.count) and same(axis.extent, axis.target):
            return size, written
        return f"{valid}*{self.width}", written

    def _axis(self) -> int:
        assert self.run.axis is not None
        return self.run.axis
