"""A kernel as C: the loops around what is moved at once, and the function that others call.

The kernel of a move from one side to another, for one element width, is two functions:
`NAME_units`, how many pieces of work there are at a shape, and `NAME`, which moves some of them.
All index arithmetic is in 64 bits.
"""

from __future__ import annotations

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.lanes import LINE_BYTES
from layoutdsl.codegen.native.leaves import leaf
from layoutdsl.codegen.native.move_text import move_text
from layoutdsl.codegen.native.nest import FEW_BLOCKS
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.walk_text import WalkText
from layoutdsl.integers.bounds import product, simplify
from layoutdsl.integers.expr import CeilDiv, Constant, Mul

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
        self.move = move_text(name, chains, chosen, (width, vector), words, cuts=True)
        self.nest, self.walk = self.move.nest, self.move.walk

    def functions(self) -> list[str]:
        """Everything, in the order in which C needs it."""
        return [*self.move.functions(), *self._turned(), *self._units(), *self._entry()]

    def _turned(self) -> list[str]:
        """Return the function that says whether to go in the order of the source."""
        if self.move.turned is None:
            return []
        orders, walk = self.move.turned
        used, sign = [orders.blocks], "<=" if orders.cut == "source" else ">"
        tests = [f"({self.words.text(orders.blocks)}) {sign} {FEW_BLOCKS}"]
        if orders.bytes % LINE_BYTES:
            used.append(self.chains.target.size)
            tests.append(f"{walk.bytes(used[1])} < STREAM_BYTES")
        return [
            "",
            f"INLINED int {self.name}_is_turned(const int64_t *shape)",
            "{",
            *(f"    {line}" for line in self.words.unpacked(used)),
            "    (void)shape;",
            f"    return {' && '.join(tests)};",
            "}",
        ]

    def _units(self) -> list[str]:
        walks = [self.walk, *([self.move.turned[1]] if self.move.turned else [])]
        used = [loop.count for each in walks for loop in each.nest.units]
        for each in walks:
            used += [] if each.cut_turns() is None else each.cut_extents()
        lines = self._pieces(walks[0])
        if self.move.turned:
            turned = (f"    {line}" for line in self._pieces(walks[1]))
            lines = [f"if ({self.name}_is_turned(shape)) {{", *turned, "}", *lines]
        return [
            "",
            f"int64_t {self.name}_units(const int64_t *shape)",
            "{",
            *(f"    {line}" for line in self.words.unpacked(used)),
            "    (void)shape;",
            *(f"    {line}" for line in lines),
            "}",
        ]

    def _pieces(self, walk: WalkText) -> list[str]:
        """Return what says how many pieces of work a walk has."""
        # counts that are plain numbers would be multiplied in `int`
        counts = (f"({self.words.text(loop.count)})" for loop in walk.nest.units)
        turns = walk.cut_turns()
        cut = "units" if turns is None else f"units*pieces(units, {turns})"
        return [f"const int64_t units = {'*'.join(['(int64_t)1', *counts])};", f"return {cut};"]

    def _walks(self, stream: int) -> list[str]:
        """Return the call that moves some units, in either order."""
        given = f"(p, q, shape, end, rest, first, past, {stream});"
        walk = f"{self.name}_walk{given}"
        if self.move.turned is None:
            return [walk]
        turned = f"{self.move.turned[1].name}_walk{given}"
        return [f"if ({self.name}_is_turned(shape)) {turned}", f"else {walk}"]

    def _entry(self) -> list[str]:
        source, target = self.chains.source, self.chains.target
        prefill = list[str]()
        if target.gaps:
            start = self.walk.bytes(target.start)
            prefill = [
                f"const int64_t start = {start};",
                "if (first < past)",
                "    run((uint8_t *)dst + start, src, 0, bytes - start, src, rest, 0);",
            ]
        aligned = "".join(f" | (uint64_t){each}" for each in self._target_strides())
        sweep = self.move.sweep
        pitches = [self.walk.bytes(each) for each in sweep.pitches()] if sweep else []
        lines = " | ".join(f"(uint64_t){each}" for each in pitches) or "0"
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
            f"    const uint64_t lines = {lines};",
            f"    if (bytes >= STREAM_BYTES && places % 16 == 0 && lines % {LINE_BYTES} == 0) {{",
            *(f"        {line}" for line in self._walks(1)),
            "        streamed(1);",
            "    } else {",
            *(f"        {line}" for line in self._walks(0)),
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
            steps = CeilDiv(axis.extent, Constant(loop.slides))
            loops.append(simplify(product((steps, loop.sliding(axis).target, width))))
        kept = dict.fromkeys(
            self.words.text(each)
            for each in (*strides, *loops)
            if not (isinstance(each, Constant) and (each.value < 16 or each.value % 16 == 0))
        )
        return [f"({each})" for each in kept]
