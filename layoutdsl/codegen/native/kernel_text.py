"""A kernel as C: the loops around what is moved at once, and the function that others call.

The kernel of a move from one side to another, for one element width, is two functions:
`NAME_units`, how many pieces of work there are at a shape, and `NAME`, which moves some of them.
All index arithmetic is in 64 bits.
"""

from __future__ import annotations

from layoutdsl.bounds import product, simplify
from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.lanes import LINE_BYTES
from layoutdsl.codegen.native.leaves import leaf
from layoutdsl.codegen.native.move_text import move_text
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.expr import CeilDiv, Constant, Mul

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
        return [*self.move.functions(), *self._units(), *self._entry()]

    def _units(self) -> list[str]:
        used = [loop.count for loop in self.nest.units]
        # counts that are plain numbers would be multiplied in `int`
        product = "*".join(["(int64_t)1", *(f"({self.words.text(each)})" for each in used)])
        turns = self.walk.cut_turns()
        used += [] if turns is None else self.walk.cut_extents()
        cut = "units" if turns is None else f"units*pieces(units, {turns})"
        return [
            "",
            f"int64_t {self.name}_units(const int64_t *shape)",
            "{",
            *(f"    {line}" for line in self.words.unpacked(used)),
            "    (void)shape;",
            f"    const int64_t units = {product};",
            f"    return {cut};",
            "}",
        ]

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
            steps = CeilDiv(axis.extent, Constant(loop.slides))
            loops.append(simplify(product((steps, loop.sliding(axis).target, width))))
        kept = dict.fromkeys(
            self.words.text(each)
            for each in (*strides, *loops)
            if not (isinstance(each, Constant) and (each.value < 16 or each.value % 16 == 0))
        )
        return [f"({each})" for each in kept]
