"""A box that goes through a block of its own, as C."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.loop_text import Ends
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.staged import APART, Staged


@dataclass(frozen=True, slots=True)
class StagedText:
    """The spelling of one such box.

    Attributes:
        prefix: of the names of its functions.
        chains: what is moved.
        staged: the leaf.
        width: bytes of an element.
        words: how extents are spelled.
        ways: the functions that turn stretches round, and those that spread them.
        units: of both.
    """

    prefix: str
    chains: Chains
    staged: Staged
    width: int
    words: Spelling
    ways: tuple[list[str], list[str]]
    units: tuple[int, int]

    @property
    def lanes(self) -> tuple[int, ...]:
        """None: at an edge a box is moved whole, from or to a box of its own."""
        return ()

    def whole(self) -> list[str]:
        """Return the call for a whole box."""
        return [f"{self.prefix}_whole(p, q, {self._far()}, shape, end, rest, stream);"]

    def cut(self, ends: Ends) -> list[str]:  # noqa: ARG002
        """Return the same: nothing ends inside of vectors alone."""
        return self.whole()

    def edge(self, ends: Ends) -> list[str]:
        """Return the call at an edge."""
        pairs = {self.staged.row: ("0", "0"), self.staged.top: ("0", "0")}
        pairs |= {axis: (str(self.staged.extents[axis]),) * 2 for axis in pairs if axis not in ends}
        given = [end for axis in pairs for end in ends.get(axis, pairs[axis])]
        others = [f"{v} > 0" for axis, (v, _) in ends.items() if axis not in pairs]
        if others:  # along them nothing is left but padding, so no stretch holds anything
            given[0] = f"{' && '.join(others)} ? {given[0]} : 0"
        words = ", ".join(["p", "q", self._far(), *given, "shape", "end", "rest", "stream"])
        return [f"{self.prefix}_edge({words});"]

    rest = edge

    def _far(self) -> str:
        digit = self.chains.axes[self.staged.row].digits[0]
        return self.words.text(digit.source if self.staged.side == "source" else digit.target)

    def functions(self) -> list[str]:
        """Return those of both ways, `_whole`, and `_edge`."""
        return [*self.ways[0], *self.ways[1], *self._whole(), *self._edge()]

    def _whole(self) -> list[str]:
        size = self.staged.rows * self.staged.stretch * self.width
        far = self.words.name(APART)
        turn, spread = f"{self.prefix}_turn_walk", f"{self.prefix}_spread_walk"
        if self.staged.side == "source":
            ways = [
                f"{turn}(p, block, shape, end, rest, 0, {self.units[0]}, 0, {far});",
                f"{spread}(block, q, shape, end, rest, 0, {self.units[1]}, stream);",
            ]
        else:
            ways = [
                f"{spread}(p, block, shape, end, rest, 0, {self.units[1]}, 0);",
                f"{turn}(block, q, shape, end, rest, 0, {self.units[0]}, stream, {far});",
            ]
        return [
            "",
            f"APART void {self.prefix}_whole(const uint8_t *p, uint8_t *q, int64_t {far},"
            " const int64_t *shape, const uint8_t *end, v16 rest, int stream)",
            "{",
            f"    _Alignas(64) uint8_t block[{size}];",
            *(f"    {line}" for line in ways),
            "}",
        ]

    def _edge(self) -> list[str]:
        """The valid part of every stretch is copied into, or out of, a whole box.

        What is no element is filled, so that a box holds nothing that was never written.
        """
        stretch = self.staged.stretch * self.width
        rows, step = self.staged.rows, self.staged.step * self.width
        far = self.words.name(APART)
        copied = (
            f"box + k*{stretch}, p + k*{far}*{self.width}, k < v0 ? v1*{step} : 0, {stretch}, end"
        )
        lines = [
            f"for (int k = 0; k < {rows}; k++) run({copied}, rest, 0);",
            f"{self.prefix}_whole(box, q, {self.staged.stretch}, shape, box + sizeof box, rest,"
            " stream);",
        ]
        if self.staged.side == "target":
            copied = f"q + k*{far}*{self.width}, box + k*{stretch}, w1*{step}, w1*{step}"
            blank = f"q + k*{far}*{self.width}, box, 0, w1*{step}"
            lines = [
                "if (v0 == 0) {",
                f"    for (int k = 0; k < w0; k++) run({blank}, box, rest, 0);",
                "    return;",
                "}",
                f"{self.prefix}_whole(p, box, {self.staged.stretch}, shape, end, rest, 0);",
                f"for (int k = 0; k < w0; k++) run({copied}, box + sizeof box, rest, 0);",
            ]
        return [
            "",
            f"APART void {self.prefix}_edge(const uint8_t *p, uint8_t *q, int64_t {far},"
            " int64_t v0, int64_t w0, int64_t v1, int64_t w1, const int64_t *shape,"
            " const uint8_t *end, v16 rest, int stream)",
            "{",
            f"    _Alignas(64) uint8_t box[{rows * stretch}];",
            *(f"    {line}" for line in lines),
            "    (void)v0, (void)w0, (void)v1, (void)w1, (void)end, (void)stream;",
            "}",
        ]
