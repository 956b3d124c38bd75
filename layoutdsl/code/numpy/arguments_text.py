"""What is asked of a shape, as Python: its checks, the shape of its buffer, the offset of an index.

`offset` returns the printed formula, the very text that is proved.
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.code.moves import Limit, Plan, Planned
from layoutdsl.code.numpy.words import Words, indented, literal, offset_parts, targets, tuple_text
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Mod,
    Sub,
    extents,
    text,
    walk,
)
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr, physical_exprs


def argument_functions(layout: Layout, planned: Planned, words: Words) -> list[str]:
    """Return `_extents`, `physical_shape` and `offset`."""
    limits = planned.limits if isinstance(planned, Plan) else ()
    return [
        *extents_function((layout,), limits, words),
        *_physical_shape(layout, words),
        *_offset(layout, words),
    ]


def extents_text(layout: Layout) -> str:
    """Return the extents of the axes as the language writes them."""
    return tuple_text([text(axis.extent) for axis in layout.axes])


def extents_function(layouts: Sequence[Layout], limits: Sequence[Limit], words: Words) -> list[str]:
    """Return `_extents`, which takes what every one of these layouts takes; they share axes."""
    layout = layouts[0]
    names, repeated, seen = list[str](), list[str](), set[str]()
    for axis in layout.axes:
        known = words.text(axis.extent)
        if isinstance(axis.extent, Extent) and axis.extent.name not in seen:
            seen.add(axis.extent.name)
            names.append(known)
            continue
        names.append(f"e_{axis.name}")
        message = f"axis `{axis.name}` does not have the extent {text(axis.extent)}"
        repeated += _refusal(f"e_{axis.name} != {known}", message)
    checks = list(repeated)
    for each in layouts:
        checks += [*_never_empty(each, words), *_never_negative(each, words)]
    checks += [*_conditions(layouts, words), *_limited(limits, words)]
    return [
        "",
        "",
        "def _extents(shape: object) -> tuple[int, ...]:",
        *indented(
            [
                f'"""Return {extents_text(layout)}, checked; ValueError or TypeError otherwise."""',
                f'extents = _integers(shape, {layout.rank}, "shape")',
                *([f"{targets(names)} = extents"] if checks else []),
                *checks,
                "return extents",
            ]
        ),
    ]


def _conditions(layouts: Sequence[Layout], words: Words) -> list[str]:
    lines: list[str] = []
    names = " and ".join(layout.name for layout in layouts)
    said = f"layout {names} is" if len(layouts) == 1 else f"layouts {names} are both"
    for condition in dict.fromkeys(each for layout in layouts for each in layout.where):
        left, right = words.text(condition.left), words.text(condition.right)
        test = f"not ({left}) {condition.operator} ({right})"
        lines += _refusal(test, f"{said} defined where {condition}")
    return lines


def _limited(limits: Sequence[Limit], words: Words) -> list[str]:
    lines: list[str] = []
    for limit in limits:
        least, most = words.text(limit.least), words.text(limit.most)
        message = f"{limit.words}: {text(limit.least)} <= {text(limit.most)} does not hold"
        lines += _refusal(f"{least} > {most}", message)
    return lines


def _never_empty(layout: Layout, words: Words) -> list[str]:
    """An empty tensor has a buffer, unless something is divided by its extent."""
    sides = (side for each in layout.where for side in (each.left, each.right))
    places = [*offset_parts(layout), *sides, *_of_domain(layout)]
    nodes = [node for place in places for node in walk(place)]
    divisors = [node.right for node in nodes if isinstance(node, FloorDiv | CeilDiv | Mod)]
    lines: list[str] = []
    for name in sorted(frozenset[str]().union(*map(extents, divisors))):
        message = f"extent {name} of layout {layout.name} must be >= 1"
        lines += _refusal(f"{words.name(name)} < 1", message)
    return lines


def _never_negative(layout: Layout, words: Words) -> list[str]:
    """A difference of extents may fall below zero, if only where the tensor is empty."""
    lines: list[str] = []
    for size in dict.fromkeys((layout.start, *(each.extent for each in layout.coordinates))):
        if any(_may_be_negative(node) for node in walk(size)):
            message = f"layout {layout.name} has no buffer where {text(size)} < 0"
            lines += _refusal(f"{words.text(size)} < 0", message)
    return lines


def _may_be_negative(node: Expr) -> bool:
    return isinstance(node, Sub) or (isinstance(node, Constant) and node.value < 0)


def _refusal(condition: str, message: str) -> list[str]:
    return [f"if {condition}:", *indented([f"raise ValueError({literal(message)})"])]


def _physical_shape(layout: Layout, words: Words) -> list[str]:
    flat = "; flat, because of its `offset`" if layout.is_flat else ""
    return [
        "",
        "",
        "def physical_shape(shape: tuple[int, ...] | list[int]) -> tuple[int, ...]:",
        *indented(
            [
                f'"""Return the shape of the buffer{flat}.',
                "",
                "Args:",
                f"    shape: the extents {extents_text(layout)} of the tensor.",
                "",
                "Raises:",
                "    ValueError: the layout has no such shape.",
                '"""',
                "return _box(_extents(shape))",
            ]
        ),
        *box_function(layout, words),
    ]


def box_function(layout: Layout, words: Words, name: str = "_box") -> list[str]:
    """Return the function that gives the shape of the buffer."""
    needed = [layout.start, *(each.extent for each in layout.coordinates)]
    return [
        "",
        "",
        f"def {name}(shape: tuple[int, ...]) -> tuple[int, ...]:",
        *indented(
            [
                '"""Return the shape of the buffer, for extents that were checked."""',
                *words.unpacked(needed),
                f"return {words.tuple(physical_exprs(layout))}",
            ]
        ),
    ]


def _of_domain(layout: Layout) -> list[Expr]:
    return [side for each in layout.domain for side in (each.left, each.right)]


def _no_such_index(layout: Layout) -> str:
    return "no such index has a slot" if layout.domain else "the shape no such index"


def _without_slot(layout: Layout, words: Words) -> list[str]:
    lines: list[str] = []
    for each in layout.domain:
        test = f"not {words.text(each.left)} {each.operator} {words.text(each.right)}"
        lines += _refusal(test, f"layout {layout.name} holds elements where {each}")
    return lines


def _offset(layout: Layout, words: Words) -> list[str]:
    integers = "tuple[int, ...] | list[int]"
    return [
        "",
        "",
        f"def offset(index: {integers}, shape: {integers}) -> int:",
        *indented(
            [
                '"""Return where an element lies, in elements from the start of the buffer.',
                "",
                "Args:",
                f"    index: {tuple_text([axis.name for axis in layout.axes])}.",
                f"    shape: the extents {extents_text(layout)} of the tensor.",
                "",
                "Raises:",
                f"    ValueError: the layout has no such shape, or {_no_such_index(layout)}.",
                '"""',
                "extents = _extents(shape)",
                *words.unpacked([*offset_parts(layout), *_of_domain(layout)], "extents"),
                f"{targets([f'i_{axis.name}' for axis in layout.axes])} = _index(index, extents)",
                *_without_slot(layout, words),
                f"return {words.text(offset_expr(layout))}",
            ]
        ),
    ]
