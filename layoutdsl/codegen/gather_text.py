"""The way without a plan, as Python: every element goes to the offset that the formula gives it.

The offsets of a piece of the tensor are computed at once, in 64-bit integers, by the text of the
formula itself; pieces are cut along the first axis, so that memory stays bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from layoutdsl.bounds import reach
from layoutdsl.codegen.words import Words, indented, offset_parts, tuple_text
from layoutdsl.expr import Add, Mul, Sub, indices, walk
from layoutdsl.formula import Formula
from layoutdsl.formula_text import python
from layoutdsl.model import Layout

PIECE = 65536
"""Elements whose offsets are held at once, where one step of the first axis has fewer."""


def gather_functions(formula: Formula, words: Words) -> list[str]:
    """Return the functions that compute offsets piece by piece."""
    functions = [*_pieces_function(formula, words), *_offsets_function(formula, words)]
    if formula.layout.domain:
        functions += _held_function(formula.layout, words)
    return functions


def _pieces_function(formula: Formula, words: Words) -> list[str]:
    layout = formula.layout
    bounds = list(dict.fromkeys(_bounds(formula, words)))
    check = [
        f"for bound in {tuple_text(bounds)}:",
        "    if not -(2**63) < bound < 2**63:",
        "        raise ValueError('the offsets of this shape do not fit 64 bits')",
    ]
    rest = "*".join(f"shape[{axis}]" for axis in range(1, layout.rank)) or "1"
    return [
        "",
        "",
        "def _pieces(shape: tuple[int, ...]) -> list[tuple[int, int]]:",
        *indented(
            [
                '"""Cut the first axis, so that the offsets of a piece fit into the cache."""',
                *([*words.unpacked(axis.extent for axis in layout.axes), *check] if bounds else []),
                f"rows = max(1, {PIECE}//max(1, {rest}))",
                "firsts = range(0, shape[0], rows)",
                "return [(first, min(first + rows, shape[0])) for first in firsts]",
            ]
        ),
    ]


def _bounds(formula: Formula, words: Words) -> Iterator[str]:
    """How far each sum and product of indices reaches, over extents."""
    axes = {axis.name: axis.extent for axis in formula.layout.axes}
    layout = formula.layout
    sides = [side for each in layout.domain for side in (each.left, each.right)]
    for spoken in (*(coordinate.value for coordinate in layout.coordinates), *sides):
        for part in walk(spoken):
            if not isinstance(part, Add | Sub | Mul) or not indices(part):
                continue
            found = reach(part, axes)
            if found is not None:
                yield from (words.text(end) for end in (found.low, found.high))


def _offsets_function(formula: Formula, words: Words) -> list[str]:
    layout = formula.layout
    body = [*words.unpacked(offset_parts(layout)), *_ranges(layout)]
    text = _of_arrays(python(formula.offset, words.name))
    return [
        "",
        "",
        "def _offsets(first: int, past: int, shape: tuple[int, ...]) -> NDArray[np.int64]:",
        *indented(
            [
                '"""Return the offsets of a piece, by the formula of `offset`."""',
                *body,
                f"offsets = {text}",
                f"return np.broadcast_to(np.asarray(offsets, dtype=np.int64), {_piece(layout)})",
            ]
        ),
    ]


def _ranges(layout: Layout) -> Iterator[str]:
    """Each index of a piece, along its own dimension."""
    for number, axis in enumerate(layout.axes):
        ends = "first, past" if number == 0 else f"shape[{number}]"
        shape = tuple_text(["-1" if k == number else "1" for k in range(layout.rank)])
        yield f"i_{axis.name} = np.arange({ends}, dtype=np.int64).reshape{shape}"


def _piece(layout: Layout) -> str:
    return tuple_text(["past - first", *(f"shape[{k}]" for k in range(1, layout.rank))])


def _of_arrays(text: str) -> str:
    return re.sub(r"\b(min|max)\(", r"np.\1imum(", text)


def _held_function(layout: Layout, words: Words) -> list[str]:
    sides = [side for each in layout.domain for side in (each.left, each.right)]
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
                *words.unpacked(sides),
                *_ranges(layout),
                f"held = {' & '.join(tests)}",
                f"return np.broadcast_to(np.asarray(held, dtype=bool), {_piece(layout)})",
            ]
        ),
    ]
