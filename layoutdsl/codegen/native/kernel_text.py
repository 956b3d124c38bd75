"""A kernel as C: the loops around what is moved at once, and the function that others call.

The kernel of a move from one side to another, for one element width, is two functions:
`NAME_units`, how many pieces of work there are at a shape, and `NAME`, which moves some of them.
All index arithmetic is in 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from layoutdsl.bounds import product, simplify
from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.comb_text import CombText
from layoutdsl.codegen.native.lanes import fits
from layoutdsl.codegen.native.nest import Loop, Nest, nest
from layoutdsl.codegen.native.run_text import Moved
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.sweep_text import SweepText, sweep_text
from layoutdsl.codegen.native.tile_text import TileText
from layoutdsl.codegen.native.tiles import Comb, Leaf, Run, Tile, leaf
from layoutdsl.digits import same
from layoutdsl.expr import Constant, Expr, Mul

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


@dataclass
class _Kernel:
    name: str
    chains: Chains
    width: int
    vector: int
    words: Spelling
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.leaf: Leaf = leaf(self.chains, self.width, self.vector)
        self.nest: Nest = nest(self.chains, self.leaf, self.width)
        self.loops: tuple[Loop, ...] = (*self.nest.units, *self.nest.loops, *self.nest.inner)
        self.outer = len(self.loops) - len(self.nest.inner)
        self.ragged = tuple(n for n in range(len(self.chains.axes)) if self._may_end(n))
        self.tile: TileText | None = None
        self.sweep: SweepText | None = None
        self.comb: CombText | None = None
        if isinstance(self.leaf, Comb):
            self.comb = CombText(self.name, self.chains, self.leaf, self.width, self.words)
        if isinstance(self.leaf, Tile):
            self.tile = TileText(self.name, self.chains, self.leaf, self.width, self.ragged)
            inside = self.loops[len(self.nest.units) :]
            self.sweep = sweep_text(self.tile, tuple(loop.axis for loop in inside))

    def functions(self) -> list[str]:
        """Everything, in the order in which C needs it."""
        return [
            *(self._tile_functions()),
            *(self.comb.function() if self.comb else []),
            *(self.sweep.function() if self.sweep else []),
            *self._walk(),
            *self._units(),
            *self._entry(),
        ]

    def _tile_functions(self) -> list[str]:
        if self.tile is None:
            return []
        return self.tile.swept_functions() if self.sweep else self.tile.functions()

    def _may_end(self, number: int) -> bool:
        """Whether what is moved at once may reach beyond the end of an axis."""
        axis, step = self.chains.axes[number], self.nest.boxes[number]
        whole = same(axis.extent, axis.target)
        if isinstance(self.leaf, Tile) and self.leaf.extents[number] == step and fits(axis, step):
            return False
        if step == 0 or (step == 1 and whole):
            return False
        return not (whole and isinstance(axis.extent, Constant) and axis.extent.value % step == 0)

    def _bytes(self, expr: Expr) -> str:
        return self.words.text(simplify(Mul(expr, Constant(self.width))))

    def _walk(self) -> list[str]:
        self.lines = []
        parameters = (
            "const uint8_t *p0, uint8_t *q0, const int64_t *shape, const uint8_t *end, v16 rest,"
            " int64_t first, int64_t past, int stream"
        )
        self._say(0, f"INLINED void {self.name}_walk({parameters})")
        self._say(0, "{")
        for line in [*self.words.unpacked(self._used()), *self._constants()]:
            self._say(1, line)
        self._say(1, "for (int64_t unit = first; unit < past; unit++) {")
        if self.nest.units:
            self._say(2, "int64_t left = unit;")
        indices = dict.fromkeys(range(len(self.chains.axes)), "0")
        pointer = ["p0", "q0"]
        for number in reversed(range(len(self.nest.units))):
            self._say(2, f"const int64_t k{number} = left % c{number};")
            self._say(2, f"left /= c{number};")
            for side, letter in enumerate("ab"):
                pointer[side] += f" + k{number}*{letter}{number}"
            self._count(indices, number, f"k{number}")
        self._say(2, f"const uint8_t *pu = {pointer[0]};")
        self._say(2, f"uint8_t *qu = {pointer[1]};")
        if self.sweep:
            self._say(2, f"if ({self.sweep.test()}) {{")
            self._say(3, self.sweep.call("pu", "qu"))
            self._say(3, "continue;")
            self._say(2, "}")
        self._nested(len(self.nest.units), 2, ("pu", "qu"), indices)
        for line in ("    }", "    (void)end, (void)rest, (void)stream, (void)shape;", "}"):
            self._say(0, line)
        return ["", *self.lines]

    def _say(self, depth: int, line: str) -> None:
        self.lines.append(f"{'    ' * depth}{line}")

    def _used(self) -> list[Expr]:
        sides = (self.chains.source, self.chains.target)
        axes = [e for a in self.chains.axes for e in (a.extent, a.source, a.target)]
        strides = [e for a in self.chains.axes for d in a.digits for e in (d.source, d.target)]
        return [*axes, *strides, *(e for s in sides for e in (s.first, s.size, s.start))]

    def _constants(self) -> list[str]:
        lines = list[str]()
        for number, axis in enumerate(self.chains.axes):
            for letter, extent in (("e", axis.extent), ("r", axis.target)):
                lines.append(f"const int64_t {letter}{number} = {self.words.text(extent)};")
            lines.append(f"(void)e{number}, (void)r{number};")
        for number, loop in enumerate(self.loops):
            lines += [
                f"const ptrdiff_t a{number} = {self._bytes(loop.source)};",
                f"const ptrdiff_t b{number} = {self._bytes(loop.target)};",
                f"const int64_t c{number} = {self.words.text(loop.count)};",
            ]
            if loop.slides:
                digit = self.chains.axes[loop.axis].digits[0]
                lines += [
                    f"const ptrdiff_t ua{number} = {self._bytes(digit.source)};",
                    f"const ptrdiff_t ub{number} = {self._bytes(digit.target)};",
                ]
                lines.append(f"(void)a{number}, (void)b{number};")
        for name, digit, side in self.tile.stride_values() if self.tile else []:
            lines.append(f"const ptrdiff_t {name} = {self._bytes(getattr(digit, side))};")
        return lines

    def _count(self, indices: dict[int, str], number: int, turn: str) -> None:
        """Add what the turns of a loop add to the index of its axis."""
        loop = self.loops[number]
        term = f"{turn}*{loop.step}" if loop.step > 1 else turn
        before = indices[loop.axis]
        indices[loop.axis] = term if before == "0" else f"{before} + {term}"

    def _nested(
        self, number: int, depth: int, pointers: tuple[str, str], indices: dict[int, str]
    ) -> None:
        if number == self.outer:
            self._box_alone(depth, pointers, indices)
            return
        loop, last = self.loops[number], number + 1 == self.outer
        turns = f"c{number}"
        if loop.ragged:
            turns = f"m{number}"
            slots = f"r{loop.axis} - ({indices[loop.axis]})"
            count = f"least(c{number}, ({slots} + {loop.step - 1})/{loop.step})"
            self._say(depth, f"const int64_t {turns} = {count};")
        if last:
            self._innermost(number, depth, pointers, indices, turns)
            return
        self._say(depth, f"for (int64_t k{number} = 0; k{number} < {turns}; k{number}++) {{")
        inner = dict(indices)
        names = self._step(number, depth + 1, pointers, inner)
        self._nested(number + 1, depth + 1, names, inner)
        self._say(depth, "}")

    def _step(
        self, number: int, depth: int, pointers: tuple[str, str], indices: dict[int, str]
    ) -> tuple[str, str]:
        """Say where a turn of a loop is; the index of its axis is updated."""
        loop = self.loops[number]
        names = f"p{number + 1}", f"q{number + 1}"
        if loop.slides:
            axis, base = loop.axis, indices[loop.axis]
            self._say(depth, f"int64_t at{number} = {base} + k{number}*{loop.step};")
            test = f"at{number} + {loop.step} > e{axis} && e{axis} >= {loop.step}"
            self._say(depth, f"if ({test}) at{number} = e{axis} - {loop.step};")
            away = f"(at{number} - ({base}))"
            self._say(depth, f"const uint8_t *{names[0]} = {pointers[0]} + {away}*ua{number};")
            self._say(depth, f"uint8_t *{names[1]} = {pointers[1]} + {away}*ub{number};")
            indices[axis] = f"at{number}"
            return names
        self._say(depth, f"const uint8_t *{names[0]} = {pointers[0]} + k{number}*a{number};")
        self._say(depth, f"uint8_t *{names[1]} = {pointers[1]} + k{number}*b{number};")
        self._count(indices, number, f"k{number}")
        return names

    def _innermost(
        self,
        number: int,
        depth: int,
        pointers: tuple[str, str],
        indices: dict[int, str],
        turns: str,
    ) -> None:
        """Two loops: while everything is whole, and then the rest."""
        loop = self.loops[number]
        others = [axis for axis in self.ragged if axis != loop.axis]
        tests = [self._is_whole(axis, indices) for axis in others]
        whole = turns
        if loop.axis in self.ragged:
            step = self.nest.boxes[loop.axis]
            if loop.slides:
                tests.append(f"e{loop.axis} >= {step}")
            else:
                left = f"e{loop.axis} - ({indices[loop.axis]})"
                whole = f"clamped({left} < {step} ? 0 : ({left} - {step})/{loop.step} + 1, {turns})"
        if tests:
            whole = f"{' && '.join(tests)} ? {whole} : 0"
        if not self.ragged:
            self._turns(number, depth, pointers, dict(indices), ("0", turns), "whole")
            return
        self._say(depth, f"const int64_t whole = {whole};")
        self._turns(number, depth, pointers, dict(indices), ("0", "whole"), "whole")
        self._turns(number, depth, pointers, dict(indices), ("whole", turns), "edge")

    def _turns(
        self,
        number: int,
        depth: int,
        pointers: tuple[str, str],
        indices: dict[int, str],
        ends: tuple[str, str],
        which: str,
    ) -> None:
        variable = f"k{number}"
        first, past = ends
        self._say(
            depth, f"for (int64_t {variable} = {first}; {variable} < {past}; {variable}++) {{"
        )
        names = self._step(number, depth + 1, pointers, indices)
        self._box(number + 1, depth + 1, names, indices, which)
        self._say(depth, "}")

    def _box(
        self,
        number: int,
        depth: int,
        pointers: tuple[str, str],
        indices: dict[int, str],
        which: str,
    ) -> None:
        """The loops inside a box: to their ends where it is whole, else as far as slots exist."""
        if number == len(self.loops):
            self._say(depth, f"const uint8_t *p = {pointers[0]};")
            self._say(depth, f"uint8_t *q = {pointers[1]};")
            self._leaf(depth, which, indices)
            return
        loop, turns = self.loops[number], f"c{number}"
        if which == "edge" and loop.axis in self.ragged:
            turns = f"m{number}"
            slots = f"r{loop.axis} - ({indices[loop.axis]})"
            count = f"least(c{number}, ({slots} + {loop.step - 1})/{loop.step})"
            self._say(depth, f"const int64_t {turns} = {count};")
        if which == "whole":
            self._say(depth, f"UNROLL({self._unrolled(number)})")
        self._say(depth, f"for (int64_t k{number} = 0; k{number} < {turns}; k{number}++) {{")
        inner = dict(indices)
        names = self._step(number, depth + 1, pointers, inner)
        self._box(number + 1, depth + 1, names, inner, which)
        self._say(depth, "}")

    def _unrolled(self, number: int) -> int:
        count = self.loops[number].count
        assert isinstance(count, Constant)
        vectors = 1
        if self.tile is not None:
            vectors = self.tile.tile.vectors(self.width)
        for loop in self.loops[number + 1 :]:
            assert isinstance(loop.count, Constant)
            vectors *= loop.count.value
        return max(1, min(count.value, 16 // vectors))

    def _box_alone(self, depth: int, pointers: tuple[str, str], indices: dict[int, str]) -> None:
        if not self.ragged:
            self._box(self.outer, depth, pointers, indices, "whole")
            return
        tests = " && ".join(self._is_whole(axis, indices) for axis in self.ragged)
        self._say(depth, f"if ({tests}) {{")
        self._box(self.outer, depth + 1, pointers, indices, "whole")
        self._say(depth, "} else {")
        self._box(self.outer, depth + 1, pointers, indices, "edge")
        self._say(depth, "}")

    def _is_whole(self, axis: int, indices: dict[int, str]) -> str:
        return f"{indices[axis]} + {self.nest.boxes[axis]} <= e{axis}"

    def _leaf(self, depth: int, which: str, indices: dict[int, str]) -> None:
        ends = [
            f"clamped({letter}{axis} - ({indices[axis]}), {self.nest.steps[axis]})"
            for axis in self.ragged
            for letter in "er"
        ]
        if self.tile is not None and which == "edge":
            tests = [
                f"{indices[axis]} + {self.nest.steps[axis]} <= e{axis}" for axis in self.ragged
            ]
            self._say(depth, f"if ({' && '.join(tests)}) {self.tile.call('whole')}")
            self._say(depth, f"else {self.tile.call('edge', ends)}")
            return
        if self.tile is not None:
            self._say(depth, self.tile.call(which))
            return
        if self.comb is not None:
            self._say(depth, self.comb.call())
            return
        assert isinstance(self.leaf, Run)
        move = Moved(self.chains, self.leaf, self.width, self.ragged, indices)
        for line in move.whole() if which == "whole" else move.edge():
            self._say(depth, line)

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
            start = self._bytes(target.start)
            prefill = [
                f"const int64_t start = {start};",
                "run((uint8_t *)dst + start, src, 0, bytes - start, src, rest, 0);",
            ]
        aligned = "".join(f" | (uint64_t){each}" for each in self._target_strides())
        return [
            "",
            f"int {self.name}_part({PART})",
            "{",
            *(f"    {line}" for line in self.words.unpacked(self._used())),
            f"    const uint8_t *p = (const uint8_t *)src + {self._bytes(source.first)};",
            f"    uint8_t *q = (uint8_t *)dst + {self._bytes(target.first)};",
            f"    const uint8_t *end = (const uint8_t *)src + {self._bytes(source.size)};",
            f"    const int64_t bytes = {self._bytes(target.size)};",
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
        loops = [simplify(Mul(loop.target, width)) for loop in self.loops]
        for loop in (each for each in self.loops if each.slides):
            axis = self.chains.axes[loop.axis]
            loops.append(simplify(product((axis.extent, axis.digits[0].target, width))))
        kept = dict.fromkeys(
            self.words.text(each)
            for each in (*strides, *loops)
            if not (isinstance(each, Constant) and (each.value < 16 or each.value % 16 == 0))
        )
        return [f"({each})" for each in kept]
