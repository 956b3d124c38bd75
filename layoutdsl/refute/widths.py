"""Counterexamples to claims about the width of integers.

They are looked for where sizes double, and made small by halving.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from itertools import product as boxes

from layoutdsl.integers.expr import Constant, Expr, FloorDiv, Mod, evaluate, indices, text, walk
from layoutdsl.meaning import shapes
from layoutdsl.meaning.claims import Computes, Fits, OffsetsFit
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.shapes import Values
from layoutdsl.refute import refute
from layoutdsl.refute.counterexample import Counterexample, Point
from layoutdsl.refute.refute import At, Examples
from layoutdsl.statements import width_statement
from layoutdsl.statements.terms import Unstated
from layoutdsl.statements.width_statement import Width

MOST_INDICES = 64
"""Indices of a shape that are tried for a large offset."""


def tries(layout: Layout, predicate: Width, name: str) -> At | None:
    """Return what tries whether a claim fails at some index of a shape; ``None`` if nothing can."""
    if isinstance(predicate, Computes) and not _spelled(layout):
        return None

    def at(values: Values) -> Examples:
        if isinstance(predicate, Fits) and _too_large(layout, predicate, values):
            return {name: _of_size(layout, predicate, values)}
        for index in shapes.indices(layout, values):
            words = _wrong_at(layout, predicate, shapes.bind_index(layout, values, index))
            if words is not None:
                return {name: _example(layout, predicate, values, index, words)}
        return {}

    return at


def fails_at(
    layout: Layout, predicate: Width, values: Values, index: tuple[int, ...]
) -> Counterexample | None:
    """Return what does not fit at an index of a shape, if anything: the size comes first."""
    if isinstance(predicate, Fits) and _too_large(layout, predicate, values):
        return _of_size(layout, predicate, values)
    if isinstance(predicate, Computes) and not _spelled(layout):
        return None
    words = _wrong_at(layout, predicate, shapes.bind_index(layout, values, index))
    return None if words is None else _example(layout, predicate, values, index, words)


def overflow(layout: Layout, predicate: Width) -> Counterexample | None:
    """Return a smallest shape of the range at which a claim fails, where large extents do that."""
    if isinstance(predicate, Fits):
        values = refute.smallest(layout, lambda shape: _too_large(layout, predicate, shape))
        return None if values is None else _of_size(layout, predicate, values)
    if isinstance(predicate, Computes) and not _spelled(layout):
        return None
    values = refute.smallest(layout, lambda shape: _first(layout, predicate, shape) is not None)
    found = None if values is None else _first(layout, predicate, values)
    if values is None or found is None:
        return None
    return _example(layout, predicate, values, *found)


def _spelled(layout: Layout) -> bool:
    """Whether C has an expression for the offset whose parts can be stated."""
    try:
        return bool(width_statement.worked_out(layout))
    except Unstated:
        return False


def _too_large(layout: Layout, predicate: Fits, values: Values) -> bool:
    size = refute.layout_size(layout, values)
    bits = 8 if predicate.element is None else predicate.element.bits
    return size * bits > 8 * predicate.type.largest


def _of_size(layout: Layout, predicate: Fits, values: Values) -> Counterexample:
    last = tuple(extent - 1 for extent in layout.shape_of(values))
    bound = shapes.bind_index(layout, values, last)
    if not layout.holds(bound):
        found = refute.too_large_at(layout, values, 0, predicate.type.name)
        assert found is not None
        return found
    offset = layout.offset_at(bound)
    size, element = refute.layout_size(layout, values), predicate.element
    words = f"-> offset {offset}; the size is {size}"
    if element is not None:
        words += f" elements of {element.name}, {-(-size * element.bits // 8)} bytes"
    return _example(
        layout, predicate, values, last, f"{words}, at most {predicate.type.largest} fits"
    )


def _example(
    layout: Layout, predicate: Width, values: Values, index: tuple[int, ...], words: str
) -> Counterexample:
    sentence = f"`{layout.name}` does not fit {predicate.type.name}"
    match predicate:
        case OffsetsFit():
            sentence = f"an offset of `{layout.name}` does not fit {predicate.type.name}"
        case Computes():
            sentence = f"`{layout.name}` does not compute in {predicate.type.name}"
    names = [axis.name for axis in layout.axes]
    point = Point(tuple(zip(names, index, strict=True)), words)
    return Counterexample(sentence, tuple(values.items()), (point,))


def _wrong_at(layout: Layout, predicate: Width, bound: Values) -> str | None:
    """What does not fit at an index, in words."""
    type_ = predicate.type
    if isinstance(predicate, Computes):
        for each in width_statement.worked_out(layout):
            value = evaluate(each, bound)
            if not type_.least <= value <= type_.largest:
                return f"-> `{text(each)}` is {value}, outside {type_.least}..{type_.largest}"
        return None
    offset, element = layout.offset_at(bound), predicate.element
    if element is None:
        fits = 0 <= offset <= type_.largest
        return None if fits else f"-> offset {offset}, outside 0..{type_.largest}"
    first, last = offset * element.bits // 8, ((offset + 1) * element.bits - 1) // 8
    if first >= 0 and last <= type_.largest:
        return None
    return f"-> offset {offset}, byte {last}, outside 0..{type_.largest}"


def _first(layout: Layout, predicate: Width, values: Values) -> tuple[tuple[int, ...], str] | None:
    """The first of the far indices at which a claim fails, and how."""
    for index in _far(layout, values):
        words = _wrong_at(layout, predicate, shapes.bind_index(layout, values, index))
        if words is not None:
            return index, words
    return None


def _far(layout: Layout, values: Values) -> Iterator[tuple[int, ...]]:
    """Indices that are likely to lie far: the last along each axis, and the last of full blocks."""
    choices = []
    for axis, extent in zip(layout.axes, layout.shape_of(values), strict=True):
        last = {extent - 1} | {extent // block * block - 1 for block in _blocks(layout, axis.name)}
        choices.append(sorted((each for each in last if each >= 0), reverse=True))
    yield from islice(boxes(*choices), MOST_INDICES)


def _blocks(layout: Layout, axis: str) -> set[int]:
    parts: Iterator[Expr] = (each for c in layout.coordinates for each in walk(c.value))
    return {
        each.right.value
        for each in parts
        if isinstance(each, FloorDiv | Mod)
        and isinstance(each.right, Constant)
        and axis in indices(each.left)
    }
