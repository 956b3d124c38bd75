"""Axes that slide, as C: tiles in the order that suits the shape, and where lines of cache start.

Where a tile lies is a sum of what each axis adds, so any order is as good as another but for the
cache. Of two axes the shorter is gone along first: what lies together on one side is then read or
written as one stretch. A last tile starts early, so that it is whole. Streams start where a line of
the target does; a line that is written in parts costs more than one that is read first.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.codegen.native.lanes import LINE_BYTES
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.tile_text import TileText
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Constant, Expr

ASKED_BYTES = 3 << 18
"""From so many bytes on, the source is asked for before it is read."""

AHEAD_BYTES = 4096
"""How far ahead of what is read a sweep of one axis asks; as far as a tile reaches at most."""


@dataclass(frozen=True, slots=True)
class SweepText:
    """The spelling of a sweep.

    Attributes:
        tile: what is moved at once.
        along: the axis whose elements lie together in the target.
        across: the one whose elements lie together in the source, if it slides as well.
    """

    tile: TileText
    along: int
    across: int | None

    def axes(self) -> tuple[int, ...]:
        """Return the axes that are swept."""
        return (self.along,) if self.across is None else (self.along, self.across)

    def test(self) -> str:
        """Return whether all axes hold a tile."""
        extents = self.tile.tile.extents
        return " && ".join(f"e{axis} >= {extents[axis]}" for axis in self.axes())

    def pitches(self) -> list[Expr]:
        """Return how far, in elements, the lines of a tile are apart in the target."""
        extents = self.tile.tile.extents
        return [
            digit.target
            for number, axis in enumerate(self.tile.chains.axes)
            for digit in axis.digits
            if number != self.along and digit.divisor < extents[number]
        ]

    def turns(self, words: Spelling) -> str:
        """Return, in C, how many turns the outer loop has at least."""
        extents = {n: words.text(self.tile.chains.axes[n].extent) for n in self.axes()}
        turns = [f"{extents[n]}/{self.tile.tile.extents[n]}" for n in self.axes()]
        if self.across is None:
            return turns[0]
        return f"({extents[self.across]} < {extents[self.along]} ? {turns[0]} : {turns[1]})"

    def call(self, source: str, target: str, piece: tuple[str, str, str]) -> str:
        """Return the call that moves a piece of these axes.

        Args:
            source: a pointer.
            target: another.
            piece: its number, where to stop, and how many there are.
        """
        extents = (f"e{axis}" for axis in self.axes())
        words = (source, target, *self.tile.strides(), *extents, "end", "rest", "stream", *piece)
        return f"{self.tile.prefix}_sweep({', '.join(words)});"

    def function(self) -> list[str]:
        """Return the function."""
        strides = [f"ptrdiff_t {name}" for name in self.tile.strides()]
        extents = [f"int64_t e{axis}" for axis in self.axes()]
        parameters = (
            *("const uint8_t *p0", "uint8_t *q0"),
            *strides,
            *extents,
            *("const uint8_t *end", "v16 rest", "int stream"),
            *("int64_t piece", "int64_t stop", "int64_t all"),
        )
        step, a = self.tile.tile.extents[self.along], self.along
        lead = f"(int64_t)(-(uintptr_t)q0 % {self._row()}/{self.tile.width})"
        return [
            "",
            f"INLINED void {self.tile.prefix}_sweep({', '.join(parameters)})",
            "{",
            f"    const int64_t lead = stream ? {lead} : 0;",
            f"    const int64_t before = lead ? {step} - lead : 0;",
            *(self._one(a, step) if self.across is None else self._two(a, self.across)),
            "}",
        ]

    def _one(self, a: int, step: int) -> list[str]:
        return [
            f"    const int64_t last = e{a} - {step};",
            f"    const int64_t tiles = (last + before + {step - 1})/{step} + 1;",
            "    const int64_t upto = cut(tiles, stop, all);",
            "    for (int64_t k = cut(tiles, piece, all); k < upto; k++) {",
            f"        const int64_t x = least(k ? k*{step} - before : 0, last);",
            f"        const uint8_t *p = p0 + x*s_{a}_1;",
            f"        uint8_t *q = q0 + x*t_{a}_1;",
            *(f"        {line}" for line in self._lines_ahead()),
            *(f"        {line}" for line in self._moved()),
            "    }",
        ]

    def _lines_ahead(self) -> list[str]:
        """Ask for what a later tile reads, where tiles follow each other in the source.

        A machine foresees what is read in order; inside a tile it rarely is.
        """
        axis, width = self.tile.chains.axes[self.along], self.tile.width
        match axis.digits[0].source, axis.extent:
            case Constant(stride), Constant(extent) if extent * stride * width <= AHEAD_BYTES:
                return []
            case Constant(stride), _ if self._tile() * stride * width <= AHEAD_BYTES:
                reach = self._tile() * stride * width
                ask = f"ASK(p + {AHEAD_BYTES} + n);"
                return [f"for (int n = 0; n < {reach}; n += {LINE_BYTES}) {ask}"]
        return []

    def _tile(self) -> int:
        return self.tile.tile.extents[self.along]

    def _moved(self) -> list[str]:
        (whole,), (part,) = self.tile.whole(), self.tile.swept()
        return [f"if (stream && (uintptr_t)q % {self._row()}) {whole}", f"else {part}"]

    def _row(self) -> int:
        """Bytes of a row of a tile in the target, a line at most."""
        return min(LINE_BYTES, self.tile.tile.extents[self.along] * self.tile.width)

    def _two(self, a: int, b: int) -> list[str]:
        step, turn = self.tile.tile.extents[a], self.tile.tile.extents[b]
        return [
            f"    const int turned = e{b} < e{a};",
            *self._chosen("step", "outer", "inner", str(step), str(turn)),
            *self._chosen("last", "outer", "inner", f"e{a} - {step}", f"e{b} - {turn}"),
            *self._chosen("skip", "outer", "inner", "before", "0"),
            *self._chosen("s", "o", "i", f"s_{a}_1", f"s_{b}_1"),
            *self._chosen("t", "o", "i", f"t_{a}_1", f"t_{b}_1"),
            *(
                f"    const int64_t {name} ="
                f" (last_{loop} + skip_{loop} + step_{loop} - 1)/step_{loop} + 1;"
                for name, loop in (("turns", "outer"), ("tiles", "inner"))
            ),
            *self._asking(a, b),
            "    const int64_t upto = cut(turns, stop, all);",
            "    for (int64_t k = cut(turns, piece, all); k < upto; k++) {",
            "        const int64_t x = least(k ? k*step_outer - skip_outer : 0, last_outer);",
            "        const uint8_t *p = p0 + x*s_o;",
            "        uint8_t *q = q0 + x*t_o;",
            "        int64_t y = 0, skip = skip_inner;",
            "        for (int64_t left = tiles; left > 0; left--) {",
            *(f"            {line}" for line in (*self._asked(a, b), *self._moved())),
            "            const int64_t go = (left == 2 ? last_inner : y + step_inner - skip) - y;",
            "            p += go*s_i;",
            "            q += go*t_i;",
            "            y += go;",
            "            skip = 0;",
            "        }",
            "    }",
        ]

    def _chosen(self, name: str, outer: str, inner: str, along: str, across: str) -> list[str]:
        """What belongs to the outer and to the inner loop."""
        return [
            f"    const int64_t {name}_{outer} = turned ? {along} : {across};",
            f"    const int64_t {name}_{inner} = turned ? {across} : {along};",
        ]

    def _shares(self, a: int, b: int) -> tuple[int, int]:
        """How many tiles share the lines that they ask for, and for how many each asks."""
        shares = max(1, LINE_BYTES // (self.tile.tile.extents[b] * self.tile.width))
        return shares, self.tile.tile.extents[a] // shares

    def _asking(self, a: int, b: int) -> list[str]:
        """Say whether to ask for lines of the source before they are read, and for which.

        Vectors of whole lines are rarely aligned, and have touched the next line already.
        """
        ahead = LINE_BYTES * (1 if self._shares(a, b)[0] > 1 else 2)
        far = f"turned ? {self.tile.tile.extents[a]}*s_{a}_1 : {ahead}"
        return [
            f"    const int ask = e{a}*e{b}*{self.tile.width} >= {ASKED_BYTES};",
            f"    const ptrdiff_t far = {far};",
        ]

    def _asked(self, a: int, b: int) -> list[str]:
        shares, share = self._shares(a, b)
        return [
            "if (ask) {",
            f"    const int64_t part = (turned ? left : k) % {shares};",
            f"    const uint8_t *next = p + far + part*{share}*s_{a}_1;",
            "    UNROLL(4)",
            f"    for (int n = 0; n < {share}; n++, next += s_{a}_1) ASK(next);",
            "}",
        ]


def sweep_text(tile: TileText, loops: tuple[int, ...]) -> SweepText | None:
    """Return the sweep of a tile, where the loops inside a unit run over axes that slide.

    Args:
        tile: what is moved at once.
        loops: the axes of all loops that are not units.
    """
    axes, extents = tile.chains.axes, tile.tile.extents
    swept = tuple(dict.fromkeys(loops))
    if not all(axes[number].slides for number in swept):
        return None
    ends = [
        [number for number in swept if same(getattr(axes[number].digits[0], side), Constant(1))]
        for side in ("target", "source")
    ]
    if len(swept) == 1 and ends == [list(swept), []]:
        return SweepText(tile, swept[0], None)
    if len(swept) != 2 or [len(each) for each in ends] != [1, 1] or ends[0] == ends[1]:
        return None
    if any(extent > 1 for number, extent in enumerate(extents) if number not in swept):
        return None
    return SweepText(tile, ends[0][0], ends[1][0])
