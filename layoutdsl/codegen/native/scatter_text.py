"""The way without common digits, as C: every element goes to the offset that the formula gives it.

All offsets are worked out before anything is written; where one leaves its buffer, the function
returns 1 and nothing was written. What is outside the layout's domain is neither read nor written.

Numbers on the way to an offset may be far larger than it is. What none of them exceeds is worked
out first, in floating point; where that leaves 62 bits the function returns 3 and does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.codegen.magnitude import peaks
from layoutdsl.codegen.native.kernel_text import PART
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.integers.bounds import ONE, ZERO
from layoutdsl.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    MixedRadix,
    Mul,
    extents,
)
from layoutdsl.integers.value import evaluate
from layoutdsl.integers.written_out import horner_expr, written_out
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.offsets import offset_expr, size_expr

Side = Layout | None
"""A layout, or the tensor itself."""

TOO_LARGE = 1 << 62
"""Numbers stay below it: half of what 64 bits hold, as bounds are worked out in floating point."""


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
    bounds = _bounds(layout, [*places, *conditions], [Mul(e, Constant(width)) for e in sizes])
    if any(_least(each) >= TOO_LARGE for each in bounds):
        return [*_units(name), *_refusal(name)]
    used = [*(axis.extent for axis in layout.axes), *places, *sizes, *conditions, *bounds]
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
        *_units(name),
        "",
        f"int {name}_part({PART})",
        "{",
        *(f"    {line}" for line in words.unpacked(used)),
        *(f"    if (!({_floating(each, words)} < {TOO_LARGE}.0)) return 3;" for each in bounds),
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


def _units(name: str) -> list[str]:
    return [
        "",
        f"int64_t {name}_units(const int64_t *shape)",
        "{",
        "    (void)shape;",
        "    return 1;",
        "}",
    ]


def _refusal(name: str) -> list[str]:
    """The function where numbers are too large at every shape, and may be no literals of C."""
    return [
        "",
        f"int {name}_part({PART})",
        "{",
        "    (void)src, (void)dst, (void)shape, (void)fill, (void)first, (void)past;",
        "    return 3;",
        "}",
    ]


def _bounds(layout: Layout, places: Sequence[Expr], bytes_: Sequence[Expr]) -> list[Expr]:
    """What the numbers on the way to some places nowhere exceed, nor those on the way to sizes."""
    axes = {axis.name: axis.extent for axis in layout.axes}
    most = [each for expr in (*places, *bytes_) for each in peaks(written_out(expr), axes)]
    return [each for each in dict.fromkeys(most) if extents(each) or _least(each) >= TOO_LARGE]


def _least(bound: Expr) -> int:
    """A bound where every extent is 1: it grows with each of them."""
    return evaluate(bound, dict.fromkeys(extents(bound), 1))


def _floating(bound: Expr, words: Spelling) -> str:
    """A bound in C, in floating point: a sum of products."""
    match bound:
        case Constant(value):
            return f"{value}.0"
        case Extent(name):
            return f"(double){words.name(name)}"
        case Index() | MixedRadix():
            raise TypeError("a bound is over extents alone")
    sign = "*" if isinstance(bound, Mul) else "+"
    return f"({_floating(bound.left, words)} {sign} {_floating(bound.right, words)})"


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
