"""Two axes that slide, as C: tiles in the order that suits the shape.

Where a tile lies is a sum of what each axis adds, so any order is as good as another but for the
cache. The shorter axis is gone along first: what lies together on one side is then read or written
as one stretch. A last tile starts early, so that it is whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.codegen.native.lanes import LINE_BYTES
from layoutdsl.codegen.native.tile_text import TileText
from layoutdsl.digits import same
from layoutdsl.expr import Constant

ASKED_BYTES = 3 << 18
"""From so many bytes on, the source is asked for before it is read."""


@dataclass(frozen=True, slots=True)
class SweepText:
    """The spelling of a sweep.

    Attributes:
        tile: what is moved at once.
        along: the axis whose elements lie together in the target.
        across: the one whose elements lie together in the source.
    """

    tile: TileText
    along: int
    across: int

    def test(self) -> str:
        """Return whether both axes hold a tile."""
        extents = self.tile.tile.extents
        return " && ".join(f"e{axis} >= {extents[axis]}" for axis in (self.along, self.across))

    def call(self, source: str, target: str) -> str:
        """Return the call that moves all of both axes."""
        words = (source, target, *self.tile.strides(), *self._extents(), "end", "rest", "stream")
        return f"{self.tile.prefix}_sweep({', '.join(words)});"

    def _extents(self) -> tuple[str, str]:
        return f"e{self.along}", f"e{self.across}"

    def function(self) -> list[str]:
        """Return the function."""
        strides = [f"ptrdiff_t {name}" for name in self.tile.strides()]
        extents = [f"int64_t {name}" for name in self._extents()]
        parameters = (
            *("const uint8_t *p0", "uint8_t *q0"),
            *strides,
            *extents,
            *("const uint8_t *end", "v16 rest", "int stream"),
        )
        a, b, width = self.along, self.across, self.tile.width
        step, turn = self.tile.tile.extents[a], self.tile.tile.extents[b]
        line = LINE_BYTES
        (whole,), (part,) = self.tile.whole(), self.tile.swept()
        return [
            "",
            f"INLINED void {self.tile.prefix}_sweep({', '.join(parameters)})",
            "{",
            f"    const int turned = e{b} < e{a};",
            "    /* Streams start where a line of the target does. */",
            f"    const int lines = stream && t_{b}_1 % {line} == 0;",
            f"    const int64_t lead = lines ? (int64_t)(-(uintptr_t)q0 % {line}/{width}) : 0;",
            f"    const int64_t before = lead ? {step} - lead : 0;",
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
            *self._asking(),
            "    for (int64_t k = 0; k < turns; k++) {",
            "        const int64_t x = least(k ? k*step_outer - skip_outer : 0, last_outer);",
            "        const uint8_t *p = p0 + x*s_o;",
            "        uint8_t *q = q0 + x*t_o;",
            "        int64_t y = 0, skip = skip_inner;",
            "        for (int64_t left = tiles; left > 0; left--) {",
            *(f"            {line}" for line in self._asked()),
            f"            if (stream && (!lines || (uintptr_t)q % {line}))",
            f"                {whole}",
            "            else",
            f"                {part}",
            "            const int64_t go = (left == 2 ? last_inner : y + step_inner - skip) - y;",
            "            p += go*s_i;",
            "            q += go*t_i;",
            "            y += go;",
            "            skip = 0;",
            "        }",
            "    }",
            "}",
        ]

    def _chosen(self, name: str, outer: str, inner: str, along: str, across: str) -> list[str]:
        """What belongs to the outer and to the inner loop."""
        return [
            f"    const int64_t {name}_{outer} = turned ? {along} : {across};",
            f"    const int64_t {name}_{inner} = turned ? {across} : {along};",
        ]

    def _shares(self) -> tuple[int, int]:
        """How many tiles share the lines that they ask for, and for how many each asks."""
        a, b = self.along, self.across
        shares = max(1, LINE_BYTES // (self.tile.tile.extents[b] * self.tile.width))
        return shares, self.tile.tile.extents[a] // shares

    def _asking(self) -> list[str]:
        a, b, width = self.along, self.across, self.tile.width
        shares, _ = self._shares()
        ahead = LINE_BYTES * (1 if shares > 1 else 2)
        far = f"turned ? {self.tile.tile.extents[a]}*s_{a}_1 : {ahead}"
        return [
            f"    const int ask = e{a}*e{b}*{width} >= {ASKED_BYTES};",
            f"    const ptrdiff_t far = {far};",
        ]

    def _asked(self) -> list[str]:
        """Ask for the next lines of the source, each tile for its share of the rows."""
        shares, share = self._shares()
        return [
            "if (ask) {",
            f"    const int64_t part = (turned ? left : k) % {shares};",
            f"    const uint8_t *next = p + far + part*{share}*s_{self.along}_1;",
            "    UNROLL(4)",
            f"    for (int n = 0; n < {share}; n++, next += s_{self.along}_1) ASK(next);",
            "}",
        ]


def sweep_text(tile: TileText, loops: tuple[int, ...]) -> SweepText | None:
    """Return the sweep of a tile, where the loops inside a unit run over two sliding axes.

    Args:
        tile: what is moved at once.
        loops: the axes of all loops that are not units.
    """
    axes, extents = tile.chains.axes, tile.tile.extents
    if len(set(loops)) != 2 or not all(axes[number].slides for number in loops):
        return None
    ends = [
        [
            number
            for number in set(loops)
            if same(getattr(axes[number].digits[0], side), Constant(1))
        ]
        for side in ("target", "source")
    ]
    if [len(each) for each in ends] != [1, 1] or ends[0] == ends[1]:
        return None
    along, across = ends[0][0], ends[1][0]
    if any(extent > 1 for number, extent in enumerate(extents) if number not in (along, across)):
        return None
    return SweepText(tile, along, across)
