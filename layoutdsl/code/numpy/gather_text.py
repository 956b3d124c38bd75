"""The way without a plan, as Python: every element goes to the offset that the formula gives it.

The offsets of a piece of the tensor are computed at once, by the text of the formula itself; pieces
are cut along one axis, so that memory stays bounded. Where elements lie together along an axis, the
offsets are those of whole runs (`together`). Integers have 64 bits at shapes where nothing on the
way to an offset can leave them, and are Python's at all others.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from layoutdsl.code.magnitude import peaks
from layoutdsl.code.moves import Rows
from layoutdsl.code.numpy.words import Words, indented, offset_parts, tuple_text, wrapped
from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.expr import Expr, indices
from layoutdsl.language.integers.written_out import written_out
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr

PIECE = 65536
"""Elements whose offsets are held at once, where one step of the first axis has fewer."""


def gather_functions(layout: Layout, rows: Rows | None, words: Words) -> list[str]:
    """Return the functions that compute offsets piece by piece."""
    functions = [*_pieces_function(layout, rows), *_kind_function(layout, rows, words)]
    functions += _offsets_function(layout, rows, words)
    if rows is not None and layout.domain:
        functions += _end_function(layout, rows, rows.low, "lows", "begin", words)
        functions += _end_function(layout, rows, rows.high, "highs", "end", words)
    elif layout.domain:
        functions += _held_function(layout, words)
    return functions


def _pieces_function(layout: Layout, rows: Rows | None) -> list[str]:
    across = 0 if rows is None else rows.across
    rest = "*".join(f"shape[{axis}]" for axis in range(layout.rank) if axis != across) or "1"
    times = "" if rows is None or rows.axis != across else f"*{rows.run}"
    return [
        "",
        "",
        "def _pieces(shape: tuple[int, ...]) -> list[tuple[int, int]]:",
        *indented(
            [
                f'"""Cut axis {across}, so that the offsets of a piece fit into the cache."""',
                f"rows = max(1, {PIECE}//max(1, {rest})){times}",
                f"firsts = range(0, shape[{across}] if all(shape) else 0, rows)",
                f"return [(first, min(first + rows, shape[{across}])) for first in firsts]",
            ]
        ),
    ]


def _kind_function(layout: Layout, rows: Rows | None, words: Words) -> list[str]:
    axes: dict[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
    if rows is not None and rows.run is None:
        axes[layout.axes[rows.axis].name] = ONE  # of a row the first index is asked for, 0
    ends = _sides(layout) if rows is None else [rows.low, rows.high]
    computed = [offset_expr(layout), *ends]
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


def _offsets_function(layout: Layout, rows: Rows | None, words: Words) -> list[str]:
    body = [*words.unpacked(offset_parts(layout)), *_ranges(layout, rows)]
    text = _of_arrays(words.text(offset_expr(layout)))
    each = "the offsets of a piece"
    if rows is not None:
        each = "the offset of each run of a piece"
    return [
        "",
        "",
        "def _offsets(first: int, past: int, shape: tuple[int, ...]) -> NDArray[np.int64]:",
        *indented(
            [
                f'"""Return {each}, by the formula of `offset`."""',
                *body,
                f"offsets = {text}",
                f"return _entries(offsets, {_piece(layout, rows)})",
            ]
        ),
    ]


def _end_function(
    layout: Layout, rows: Rows, end: Expr, name: str, word: str, words: Words
) -> list[str]:
    ranges = _ranges(layout, rows, indices(end)) if indices(end) else ()
    return [
        "",
        "",
        f"def _{name}(first: int, past: int, shape: tuple[int, ...]) -> NDArray[np.int64]:",
        *indented(
            [
                f'"""Return where the elements of each row of a piece {word} that have a slot."""',
                *words.unpacked([end]),
                *ranges,
                f"{name} = {_of_arrays(words.text(end))}",
                f"return _entries({name}, {_piece(layout, rows)})",
            ]
        ),
    ]


def _ranges(layout: Layout, rows: Rows | None, used: Container[str] | None = None) -> Iterator[str]:
    """Each index of a piece that is used, along its own dimension; of runs their first."""
    yield "kind = _kind(shape)"
    for number, axis in enumerate(layout.axes):
        if used is None or axis.name in used:
            shape = tuple_text(["-1" if k == number else "1" for k in range(layout.rank)])
            yield f"i_{axis.name} = {_range(number, rows)}.reshape{shape}"


def _range(number: int, rows: Rows | None) -> str:
    cut = number == (0 if rows is None else rows.across)
    if rows is None or number != rows.axis:
        return f"np.arange({'first, past' if cut else f'shape[{number}]'}, dtype=kind)"
    if rows.run is None:
        return "np.zeros(1, dtype=kind)"
    ends = "first, past" if cut else f"0, shape[{number}]"
    return f"np.arange({ends}, {rows.run}, dtype=kind)"


def _piece(layout: Layout, rows: Rows | None) -> str:
    across = 0 if rows is None else rows.across
    sizes = ["past - first" if k == across else f"shape[{k}]" for k in range(layout.rank)]
    if rows is not None:
        run, whole = rows.run, sizes[rows.axis]
        sizes[rows.axis] = "1" if run is None else f"({whole} + {run - 1})//{run}"
    return tuple_text(sizes)


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
                *_ranges(layout, None),
                f"held = {' & '.join(tests)}",
                f"return np.broadcast_to(np.asarray(held, dtype=bool), {_piece(layout, None)})",
            ]
        ),
    ]
