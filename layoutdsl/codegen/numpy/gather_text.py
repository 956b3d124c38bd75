"""The way without a plan, as Python: every element goes to the offset that the formula gives it.

The offsets of a piece of the tensor are computed at once, by the text of the formula itself; pieces
are cut along the first axis, so that memory stays bounded. Integers have 64 bits at shapes where
nothing on the way to an offset can leave them, and are Python's at all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from layoutdsl.codegen.magnitude import peaks
from layoutdsl.codegen.numpy.words import Words, indented, offset_parts, tuple_text, wrapped
from layoutdsl.integers.expr import Expr
from layoutdsl.integers.written_out import written_out
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.offsets import offset_expr

PIECE = 65536
"""Elements whose offsets are held at once, where one step of the first axis has fewer."""


def gather_functions(layout: Layout, words: Words) -> list[str]:
    """Return the functions that compute offsets piece by piece."""
    functions = [
        *_pieces_function(layout),
        *_kind_function(layout, words),
        *_offsets_function(layout, words),
    ]
    if layout.domain:
        functions += _held_function(layout, words)
    return functions


def _pieces_function(layout: Layout) -> list[str]:
    rest = "*".join(f"shape[{axis}]" for axis in range(1, layout.rank)) or "1"
    return [
        "",
        "",
        "def _pieces(shape: tuple[int, ...]) -> list[tuple[int, int]]:",
        *indented(
            [
                '"""Cut the first axis, so that the offsets of a piece fit into the cache."""',
                f"rows = max(1, {PIECE}//max(1, {rest}))",
                "firsts = range(0, shape[0] if all(shape) else 0, rows)",
                "return [(first, min(first + rows, shape[0])) for first in firsts]",
            ]
        ),
    ]


def _kind_function(layout: Layout, words: Words) -> list[str]:
    axes = {axis.name: axis.extent for axis in layout.axes}
    computed = [offset_expr(layout), *_sides(layout)]
    most = list(dict.fromkeys(each for expr in computed for each in peaks(written_out(expr), axes)))
    return [
        "",
        "",
        "def _kind(shape: tuple[int, ...]) -> type[object]:",
        *indented(
            [
                '"""Return the integers to count in: of 64 bits where all on the way have them."""',
                *words.unpacked(most),
                *wrapped("most = max(", ["1", *map(words.text, most)], ")"),
                "return np.int64 if most < 2**63 else object",
            ]
        ),
    ]


def _sides(layout: Layout) -> list[Expr]:
    return [side for each in layout.domain for side in (each.left, each.right)]


def _offsets_function(layout: Layout, words: Words) -> list[str]:
    body = [*words.unpacked(offset_parts(layout)), *_ranges(layout)]
    text = _of_arrays(words.text(offset_expr(layout)))
    return [
        "",
        "",
        "def _offsets(first: int, past: int, shape: tuple[int, ...]) -> NDArray[np.int64]:",
        *indented(
            [
                '"""Return the offsets of a piece, by the formula of `offset`."""',
                *body,
                f"offsets = {text}",
                f"return _entries(offsets, {_piece(layout)})",
            ]
        ),
    ]


def _ranges(layout: Layout) -> Iterator[str]:
    """Each index of a piece, along its own dimension."""
    yield "kind = _kind(shape)"
    for number, axis in enumerate(layout.axes):
        ends = "first, past" if number == 0 else f"shape[{number}]"
        shape = tuple_text(["-1" if k == number else "1" for k in range(layout.rank)])
        yield f"i_{axis.name} = np.arange({ends}, dtype=kind).reshape{shape}"


def _piece(layout: Layout) -> str:
    return tuple_text(["past - first", *(f"shape[{k}]" for k in range(1, layout.rank))])


def _of_arrays(text: str) -> str:
    return re.sub(r"\b(min|max)\(", r"np.\1imum(", text)


def _held_function(layout: Layout, words: Words) -> list[str]:
    tests = [
        f"({_of_arrays(words.text(each.left))} {each.operator} "
        f"{_of_arrays(words.text(each.right))})"
        for each in layout.domain
    ]
    return [
        "",
        "",
        "def _held(first: int, past: int, shape: tuple[int, ...]) -> _Array:",
        *indented(
            [
                '"""Return, for each index of a piece, whether it has a slot."""',
                *words.unpacked(_sides(layout)),
                *_ranges(layout),
                f"held = {' & '.join(tests)}",
                f"return np.broadcast_to(np.asarray(held, dtype=bool), {_piece(layout)})",
            ]
        ),
    ]
