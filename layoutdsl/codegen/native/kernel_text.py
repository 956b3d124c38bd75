"""A kernel as C: the loops around what is moved at once, and the function that others call.

The kernel of a move from one side to another, for one element width, is two functions:
`NAME_units`, how many pieces of work there are at a shape, and `NAME`, which moves some of them.
All index arithmetic is in 64 bits.
"""

from __future__ import annotations

from layoutdsl.bounds import product, simplify
from layoutdsl.codegen.native.box_text import BoxText, LeafText
from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.comb_text import CombText
from layoutdsl.codegen.native.lanes import fits
from layoutdsl.codegen.native.nest import Nest, nest
from layoutdsl.codegen.native.run_text import RunText
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.sweep_text import sweep_text
from layoutdsl.codegen.native.tile_text import TileText
from layoutdsl.codegen.native.tiles import Comb, Leaf, Run, Tile, leaf
from layoutdsl.codegen.native.walk_text import WalkText
from layoutdsl.digits import same
from layoutdsl.expr import Constant, Mul

PART = (
    "const void *restrict src, void *restrict dst, const int64_t *shape, const void *fill,"
    " int64_t first, int64_t past"
)
"""The parameters of a function that moves some units."""


def kernel_functions(
    name: str, chains: Chains, width: int, vector: int, words: Spelling
) -> list[str]:
    """Return the functions of one kernel.

    Args:
        name: of the function; what belongs to it starts with the same.
        chains: what is moved.
        width: bytes of an element: 1, 2, 4 or 8.
        vector: bytes of the widest vector: 16, 32 or 64.
        words: how extents are spelled.
    """
    return _Kernel(name, chains, width, vector, words).functions()


class _Kernel:
    def __init__(self, name: str, chains: Chains, width: int, vector: int, words: Spelling) -> None:
        self.name, self.chains, self.width, self.words = name, chains, width, words
        chosen = leaf(chains, width, vector)
        self.nest = nest(chains, chosen, width)
        ragged = tuple(n for n in range(len(chains.axes)) if _may_end(chains, chosen, self.nest, n))
        self.leaf = self._leaf(chosen, ragged)
        vectors = chosen.vectors(width) if isinstance(chosen, Tile) else 1
        box = BoxText(chains, self.nest, self.leaf, vectors, ragged)
        self.sweep = None
        if isinstance(self.leaf, TileText):
            inside = (*self.nest.loops, *self.nest.inner)
            self.sweep = sweep_text(self.leaf, tuple(loop.axis for loop in inside))
        self.walk = WalkText(name, chains, self.nest, box, self.sweep, ragged, width, words)

    def _leaf(self, chosen: Leaf, ragged: tuple[int, ...]) -> LeafText:
        match chosen:
            case Run():
                return RunText(self.chains, chosen, self.width, ragged)
            case Tile():
                return TileText(self.name, self.chains, chosen, self.width, ragged)
            case Comb():
                return CombText(self.name, self.chains, chosen, self.width, self.words)

    def functions(self) -> list[str]:
        """Everything, in the order in which C needs it."""
        return [
            *self._leaf_functions(),
            *self.walk.function(),
            *self._units(),
            *self._entry(),
        ]

    def _leaf_functions(self) -> list[str]:
        if self.sweep is None:
            return self.leaf.functions()
        return [*self.sweep.tile.swept_functions(), *self.sweep.function()]

    def _units(self) -> list[str]:
        used = [loop.count for loop in self.nest.units]
        product = "*".join(f"({self.words.text(each)})" for each in used) or "1"
        return [
            "",
            f"int64_t {self.name}_units(const int64_t *shape)",
            "{",
            *(f"    {line}" for line in self.words.unpacked(used)),
            "    (void)shape;",
            f"    return {product};",
            "}",
        ]

    def _entry(self) -> list[str]:
        source, target = self.chains.source, self.chains.target
        prefill = list[str]()
        if target.gaps:
            start = self.walk.bytes(target.start)
            prefill = [
                f"const int64_t start = {start};",
                "run((uint8_t *)dst + start, src, 0, bytes - start, src, rest, 0);",
            ]
        aligned = "".join(f" | (uint64_t){each}" for each in self._target_strides())
        return [
            "",
            f"int {self.name}_part({PART})",
            "{",
            *(f"    {line}" for line in self.words.unpacked(self.walk.used())),
            f"    const uint8_t *p = (const uint8_t *)src + {self.walk.bytes(source.first)};",
            f"    uint8_t *q = (uint8_t *)dst + {self.walk.bytes(target.first)};",
            f"    const uint8_t *end = (const uint8_t *)src + {self.walk.bytes(source.size)};",
            f"    const int64_t bytes = {self.walk.bytes(target.size)};",
            f"    const v16 rest = splat(fill, {self.width});",
            *(f"    {line}" for line in prefill),
            f"    const uint64_t places = (uint64_t)(uintptr_t)q{aligned};",
            "    if (bytes >= STREAM_BYTES && places % 16 == 0) {",
            f"        {self.name}_walk(p, q, shape, end, rest, first, past, 1);",
            "        streamed(1);",
            "    } else {",
            f"        {self.name}_walk(p, q, shape, end, rest, first, past, 0);",
            "    }",
            "    return 0;",
            "}",
        ]

    def _target_strides(self) -> list[str]:
        """Strides in bytes that decide whether every vector of the target is aligned."""
        width = Constant(self.width)
        strides = [
            simplify(Mul(digit.target, width)) for axis in self.chains.axes for digit in axis.digits
        ]
        every = (*self.nest.units, *self.nest.loops, *self.nest.inner)
        loops = [simplify(Mul(loop.target, width)) for loop in every]
        for loop in (each for each in every if each.slides):
            axis = self.chains.axes[loop.axis]
            loops.append(simplify(product((axis.extent, axis.digits[0].target, width))))
        kept = dict.fromkeys(
            self.words.text(each)
            for each in (*strides, *loops)
            if not (isinstance(each, Constant) and (each.value < 16 or each.value % 16 == 0))
        )
        return [f"({each})" for each in kept]


def _may_end(chains: Chains, chosen: Leaf, loops: Nest, number: int) -> bool:
    """Whether what is moved at once may reach beyond the end of an axis."""
    axis, step = chains.axes[number], loops.boxes[number]
    whole = same(axis.extent, axis.target)
    if isinstance(chosen, Tile) and chosen.extents[number] == step and fits(axis, step):
        return False
    if step == 0 or (step == 1 and whole):
        return False
    return not (whole and isinstance(axis.extent, Constant) and axis.extent.value % step == 0)
