"""The way without common digits, as C: every element goes to the offset that the formula gives it.

All offsets are worked out before anything is written; where one leaves its buffer, the function
returns 1 and nothing was written. What is outside the layout's domain is neither read nor written.
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.bounds import ONE, ZERO
from layoutdsl.codegen.native.kernel_text import PART
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.expr import Coordinate, Expr, Index, Mul
from layoutdsl.formula import horner_expr, offset_expr, size_expr
from layoutdsl.model import Layout

Side = Layout | None
"""A layout, or the tensor itself."""


def scatter_functions(
    name: str, layout: Layout, ends: tuple[Side, Side], width: int, words: Spelling
) -> list[str]:
    """Return the functions of one kernel, by formula.

    Args:
        name: of the function.
        layout: whose axes are run over.
        ends: what is read, and what is written.
        width: bytes of an element.
        words: how extents are spelled.
    """
    source, target = ends
    places = [_offset(layout, each) for each in (source, target)]
    sizes = [_size(layout, each) for each in (source, target)]
    start: Expr = target.start if target is not None else ZERO
    conditions = [side for each in layout.domain for side in (each.left, each.right)]
    used = [*(axis.extent for axis in layout.axes), *places, *sizes, *conditions]
    depth = layout.rank + 1
    pad = "    " * depth
    check = [
        f"{pad}const int64_t from = {words.text(places[0])}, to = {words.text(places[1])};",
        f"{pad}if (from < 0 || from >= sizes[0] || to < 0 || to >= sizes[1]) return 1;",
    ]
    move = [
        f"{pad}const int64_t from = {words.text(places[0])}, to = {words.text(places[1])};",
        f"{pad}memcpy(q + to*{width}, p + from*{width}, {width});",
    ]
    fill = f"run(q + start*{width}, p, 0, (sizes[1] - start)*{width}, p, splat(fill, {width}), 0);"
    return [
        "",
        f"int64_t {name}_units(const int64_t *shape)",
        "{",
        "    (void)shape;",
        "    return 1;",
        "}",
        "",
        f"int {name}_part({PART})",
        "{",
        *(f"    {line}" for line in words.unpacked(used)),
        f"    const int64_t sizes[2] = {{{words.text(sizes[0])}, {words.text(sizes[1])}}};",
        f"    const int64_t start = {words.text(start)};",
        "    const uint8_t *p = src;",
        "    uint8_t *q = dst;",
        "    (void)start, (void)fill;",
        "    if (first > 0 || past < 1) return 0;",
        *_loops(layout, words, check),
        *([f"    {fill}"] if target is not None else []),
        *_loops(layout, words, move),
        "    return 0;",
        "}",
    ]


def _offset(layout: Layout, side: Side) -> Expr:
    if side is not None:
        return offset_expr(side)
    axes = layout.axes
    return horner_expr(tuple(Coordinate(Index(axis.name), axis.extent) for axis in axes))


def _size(layout: Layout, side: Side) -> Expr:
    if side is not None:
        return size_expr(side)
    total: Expr = ONE
    for axis in layout.axes:
        total = Mul(total, axis.extent)
    return total


def _loops(layout: Layout, words: Spelling, body: Sequence[str]) -> list[str]:
    lines = list[str]()
    for number, axis in enumerate(layout.axes):
        pad, name = "    " * (number + 1), words.name(axis.name)
        past = words.text(axis.extent)
        lines.append(f"{pad}for (int64_t {name} = 0; {name} < {past}; {name}++)")
    lines[-1] += " {"
    pad = "    " * (layout.rank + 1)
    for each in layout.domain:
        left, right = words.text(each.left), words.text(each.right)
        lines.append(f"{pad}if (!(({left}) {each.operator} ({right}))) continue;")
    return [*lines, *body, "    " * layout.rank + "}"]
