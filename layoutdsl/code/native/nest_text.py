"""A tree of loops as C: a function of the pieces that threads share, and one that counts them.

The text is regular, so that it can be read back as the tree that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.kernels import LINE
from layoutdsl.code.loops.pieces import shared, span, turns
from layoutdsl.code.native.ahead import of_runs
from layoutdsl.code.native.guard_text import Bound, below, bound, exceeds
from layoutdsl.code.native.kernel_text import Call, words_in
from layoutdsl.code.native.move_text import Moves
from layoutdsl.code.native.spelling import Spelling
from layoutdsl.language.integers.bounds import ONE, product, simplify
from layoutdsl.language.integers.expr import Expr

PART = (
    "const void *restrict src, void *restrict dst, const int64_t *shape, const void *fill,"
    " int64_t first, int64_t past"
)
GIVEN = ("s", "d", "shape", "rest", "first", "past", "stream")
"""What a walk is given."""


def functions(
    name: str, node: tree.Node, size: Expr, width: int, words: Spelling
) -> tuple[list[str], frozenset[Call]]:
    """Return the functions of one move, ``NAME_units`` and ``NAME_part``, and what they call.

    Args:
        name: of the function.
        node: the tree.
        size: elements of the target.
        width: bytes of an element.
        words: how extents are spelled.

    Raises:
        OverflowError: it works out numbers of more than 64 bits at every shape.
    """
    large = f"{words.text(size)}*{width} >= STREAM_BYTES"
    nest = _Nest(Moves(width, words))
    body = nest.pieces(node)
    sized, told = ([size], [f"const int large = {large};"]) if nest.moves.asks else ([], [])
    numbers = [*nest.moves.used, *nest.moves.strides(), *nest.moves.multiples, size]
    most = bound(node, numbers, width)
    if exceeds(most):
        raise OverflowError("numbers leave 64 bits at every shape")
    named = words.unpacked([*nest.moves.used, *nest.moves.strides(), *sized])
    within = [*named, *told, *nest.moves.inside(), *body]
    lines = [
        "",
        f"INLINED void {name}_walk(const uint8_t *s, uint8_t *d, const int64_t *shape,",
        "    const uint8_t *rest, int64_t first, int64_t past, int stream)",
        "{",
        *indented([*_unused(within), *within]),
        "}",
        *_units(name, node, most, words),
        *_part(name, size, large, most, nest.moves),
    ]
    return lines, frozenset(nest.moves.calls)


def _unused(lines: Iterable[str]) -> list[str]:
    """The statement that names the parameters a walk does not use, so that no compiler warns."""
    used = words_in("\n".join(lines))
    left = [f"(void){name}" for name in GIVEN if name not in used]
    return [f"{', '.join(left)};"] if left else []


def _units(name: str, node: tree.Node, most: Bound, words: Spelling) -> list[str]:
    """The function that counts pieces: one where numbers on the way might leave 64 bits."""
    spoken, least = below(most, words)
    used = list[Expr](spoken)

    def counted(each: tree.Node) -> list[str]:
        if isinstance(each, tree.If):
            used.extend((each.condition.left, each.condition.right))
            return [
                f"if ({compared(each, words)}) {{",
                *indented(counted(each.then)),
                "}",
                *counted(each.other),
            ]
        counts = [turns(loop) for loop in shared(each)[0]]
        used.extend(counts)
        return [f"return {' * '.join(map(words.text, counts)) or '1'};"]

    lines = counted(node)
    return [
        "",
        f"int64_t {name}_units(const int64_t *shape)",
        "{",
        *indented(words.unpacked(used) or ["(void)shape;"]),
        f"    if (!({least})) return 1; /* numbers on the way might leave 64 bits */",
        *indented(lines),
        "}",
    ]


def _part(name: str, size: Expr, large: str, most: Bound, moves: Moves) -> list[str]:
    """The function that does some pieces, and says where numbers might leave 64 bits.

    It asks that itself: who goes through pieces one by one has to hear of it.
    """
    width, words = moves.width, moves.words
    spoken, least = below(most, words)
    walk = f"{name}_walk(src, dst, shape, rest, first, past, 0);"
    walks, used = [walk], list[Expr]()
    if moves.streams:
        used = [size, *moves.multiples]
        whole = [f"{words.text(each)} % {LINE} == 0" for each in moves.multiples]
        whole += [f"(uintptr_t)dst % {LINE} == 0"] if whole else []
        pays = " && ".join([large, *whole])
        walks = [
            f"if ({pays})",
            f"    {name}_walk(src, dst, shape, rest, first, past, 1), streamed(1);",
            "else",
            f"    {walk}",
        ]
    return [
        "",
        f"int {name}_part({PART})",
        "{",
        *indented(words.unpacked([*used, *spoken]) or ["(void)shape;"]),
        f"    if (!({least})) return 3;",
        "    uint8_t rest[16] = {0};",
        f"    for (int k = 0; fill && k < 16; k += {width})",
        f"        memcpy(rest + k, fill, {width});",
        *indented(walks),
        "    return 0;",
        "}",
    ]


def compared(node: tree.If, words: Spelling) -> str:
    """Return the condition of a node as C."""
    left, right = words.text(node.condition.left), words.text(node.condition.right)
    return f"{left} {node.condition.operator} {right}"


@dataclass(slots=True)
class _Nest:
    moves: Moves

    def pieces(self, node: tree.Node) -> list[str]:
        """The part of a tree that lies from ``first`` up to ``past``."""
        if isinstance(node, tree.If):
            return self._branches([node], self.pieces(node.then), self.pieces(node.other))
        loops, body = shared(node)
        if not loops:
            return ["if (first < past) {", *indented(self._inside(node)), "}"]
        inner = self._within(loops, body)
        counts = list(map(turns, loops))
        for number in reversed(range(len(loops))):
            below = simplify(product(tuple(counts[number + 1 :])))
            piece = "u" if below == ONE else f"u / {self._said(below)}"
            if number:
                piece = f"{piece} % {self._said(counts[number])}"
            inner = self._piece(loops[number], piece, inner)
        return ["for (int64_t u = first; u < past; u++) {", *indented(inner), "}"]

    def _piece(self, loop: tree.For | tree.Slide, piece: str, inner: list[str]) -> list[str]:
        """Those turns of a loop that are one piece."""
        name, whole = self.moves.words.name(loop.name), span(loop)
        if isinstance(loop, tree.For) and whole == 1:
            return [f"const int64_t {name} = {piece};{_note(loop)}", *inner]
        extent = loop.count if isinstance(loop, tree.For) else loop.extent
        most = self._said(extent)
        past = f"p_{name} + 1 == {self._said(turns(loop))} ? {most} : (p_{name} + 1) * {whole}"
        lines = [f"const int64_t p_{name} = {piece};", f"const int64_t e_{name} = {past};"]
        if isinstance(loop, tree.For):
            head = f"for (int64_t {name} = p_{name} * {whole}; {name} < e_{name}; {name}++) {{"
            return [*lines, head + _note(loop), *indented(inner), "}"]
        turn, step = f"t_{name}", loop.step
        return [
            *lines,
            f"for (int64_t {turn} = p_{name} * {whole}; {turn} < e_{name}; {turn} += {step}) {{"
            f"{_note(loop)}",
            f"    const int64_t {name} = least({turn}, {most} - {step});",
            *indented(inner),
            "}",
        ]

    def lines(self, node: tree.Node) -> list[str]:
        """A node as C."""
        moves = self.moves
        match node:
            case tree.For(name, count, body):
                variable = moves.words.name(name)
                most = self._said(count)
                head = f"for (int64_t {variable} = 0; {variable} < {most}; {variable}++) {{"
                asked = self._asked(node)
                return [*asked, head + _note(node), *indented(self._within([node], body)), "}"]
            case tree.Slide(name, extent, step, body):
                variable, most = moves.words.name(name), self._said(extent)
                turn = f"t_{variable}"
                return [
                    f"for (int64_t {turn} = 0; {turn} < {most}; {turn} += {step}) {{{_note(node)}",
                    f"    const int64_t {variable} = least({turn}, {most} - {step});",
                    *indented(self._within([node], body)),
                    "}",
                ]
            case tree.If():
                return self._chosen(node)
            case tree.Seq(parts):
                return [line for part in parts for line in self.lines(part)]
            case tree.Scratch():
                return ["{", *indented(self._inside(node)), "}"]
            case tree.Fill(target, count):
                return [f"filled({moves.place(target)}, rest, {moves.bytes(count)});"]
            case tree.Run(target, source, count):
                if count == ONE:
                    return [f"memcpy({moves.place(target)}, {moves.place(source)}, {moves.width});"]
                return [moves.run(node)]
            case tree.Move():
                return moves.text(node)

    def _inside(self, node: tree.Node) -> list[str]:
        """A node between braces that are there already, so that scratch needs none of its own."""
        if not isinstance(node, tree.Scratch):
            return self.lines(node)
        size = node.size * self.moves.width
        fill = [f"filled({node.name}, rest, {size});"] if node.filled else []
        return [f"uint8_t {node.name}[{size}];", *fill, *self.lines(node.body)]

    def _asked(self, node: tree.For) -> list[str]:
        """What is asked for before loops over runs: before the outermost of them."""
        around = self.moves.loops[-1:]
        if around and isinstance(around[0], tree.For) and of_runs(around[0]) is not None:
            return []
        move = of_runs(node)
        return [] if move is None else self.moves.asked(move)

    def _within(self, loops: Sequence[tree.For | tree.Slide], body: tree.Node) -> list[str]:
        """What some loops do, one in the other."""
        self.moves.loops += loops
        lines = self._inside(body)
        del self.moves.loops[-len(loops) :]
        return lines

    def _chosen(self, node: tree.If) -> list[str]:
        """One of two; what is done where either of two conditions fails stands there once."""
        then, both = node.then, [node]
        while isinstance(then, tree.If) and then.other == node.other:
            both.append(then)
            then = then.then
        return self._branches(both, self._inside(then), self._inside(node.other))

    def _branches(self, both: Sequence[tree.If], then: list[str], other: list[str]) -> list[str]:
        for each in both:
            self.moves.used += [each.condition.left, each.condition.right]
        asked = " && ".join([compared(each, self.moves.words) for each in both])
        lines = [f"if ({asked}) {{", *indented(then)]
        if isinstance(both[0].other, tree.If):
            return [*lines, f"}} else {other[0]}", *other[1:]]
        return [*lines, *(["} else {", *indented(other)] if other else []), "}"]

    def _said(self, expr: Expr) -> str:
        self.moves.used.append(expr)
        return self.moves.words.text(expr)


def _note(loop: tree.For | tree.Slide) -> str:
    return f" /* {loop.note} */" if loop.note else ""


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines, one step further in."""
    return [f"    {line}" if line else line for line in lines]
