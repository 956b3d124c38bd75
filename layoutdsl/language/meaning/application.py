"""Application: a layout at a computed index, ``R(c) = A(f(c))``.

Example: with ``NCHW16c`` as ``A`` and ``[n, c, h1*8 + h0 : H, w]`` as the index map ``f``,
`applied` returns the layout ``[n, c/16, h1*8 + h0, w, c%16]``.

An index map is a layout whose coordinates are the indices of ``A``, one for each axis of ``A``,
each with the extent that this axis has. Fixed indices, windows, tiles, merged axes, permutations
and compositions are all applications; they differ in the index map alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, product, reach, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.digit import exact_quotient, same
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    indices,
    substitute,
    walk,
)
from layoutdsl.language.integers.written_out import settled
from layoutdsl.language.meaning.elements import Fill, FillAny
from layoutdsl.language.meaning.interface import ScaleOffset
from layoutdsl.language.meaning.model import Applied, Layout
from layoutdsl.language.meaning.offsets import size_expr

LARGEST = 4000
"""Names, numbers and operators in an applied layout: applications of applications grow fast."""


Axes: TypeAlias = Mapping[str, Expr]
"""The extent of each axis."""


class NotApplicable(ValueError):  # noqa: N818  the reason is what callers show
    """Why a layout cannot be applied to an index map; `hint` says what to do."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.hint = hint


def applied(outer: Layout, index_map: Layout) -> Layout:
    """Return ``R(c) = outer(index_map(c))``.

    The result keeps the coordinates, the chunks, the fill and the element type of ``outer``, on the
    axes of ``index_map``. It holds an element where both layouts do.

    Args:
        outer: without open parameters that ``index_map`` does not have.
        index_map: its coordinates are the indices of ``outer``, copies and bits included, with the
            extents of the axes of ``outer``.

    Raises:
        NotApplicable: a condition of ``outer`` holds for no shape, or the result is too large.
    """
    names = [axis.name for axis in outer.axes]
    index = dict(zip(names, (each.value for each in index_map.coordinates), strict=True))
    sizes: dict[str, Expr] = {}
    for axis, place in zip(outer.axes, index_map.coordinates, strict=True):
        if isinstance(axis.extent, Extent):
            sizes.setdefault(axis.extent.name, place.extent)
    both: dict[str, Expr] = {**sizes, **index}
    _refuse_large(outer, both)
    extents = [substitute(axis.extent, sizes) for axis in outer.axes]
    own: Axes = {axis.name: axis.extent for axis in index_map.axes}
    asked = tuple(
        Coordinate(place.value, extent, declared=True)
        for place, extent in zip(index_map.coordinates, extents, strict=True)
        if not _stays_below(place.value, extent, own)
    )
    conditions = _possible((*outer.where, *outer.domain), both)
    interface = outer.interface
    if interface is not None and interface.per is not None:
        along = index[interface.per]
        if not isinstance(along, Index):
            per = interface.per
            reason = f"its codes have a scale per `{per}`, and the index along `{per}` is computed"
            raise NotApplicable(reason, f"write an axis as the index along `{per}`")
        interface = ScaleOffset(along.name)
    found = replace(
        outer,
        axes=index_map.axes,
        coordinates=tuple(
            settled(
                Coordinate(
                    _substituted(each.value, index, sizes, own),
                    exact(substitute(each.extent, sizes)),
                    each.declared,
                )
            )
            for each in outer.coordinates
        ),
        start=substitute(outer.start, sizes),
        where=_once(index_map.where, (each for each in conditions if not each.indices)),
        domain=_once(index_map.domain, (each for each in conditions if each.indices)),
        parameters=index_map.parameters,
        copies=index_map.copies,
        interface=interface,
        origin=None,
        applied=(
            *index_map.applied,
            *([Applied(outer.name, asked)] if asked else []),
            *(each.substituted(both) for each in outer.applied),
        ),
    )
    return natural(found).as_written


def offset_of(layout: Layout) -> Expr:
    """Return the offset of a layout as a number below its size, for use in a coordinate."""
    value: Expr = MixedRadix(layout.coordinates)
    if len(layout.coordinates) == 1 and not layout.coordinates[0].declared:
        value = layout.coordinates[0].value
    return value if layout.start == ZERO else Add(layout.start, value)


def natural(layout: Layout) -> Layout:
    """Return a layout that declares no extent that its coordinate has anyway."""
    axes = {axis.name: axis.extent for axis in layout.axes}
    return replace(layout, coordinates=tuple(_natural(each, axes) for each in layout.coordinates))


def _natural(place: Coordinate, axes: Axes) -> Coordinate:
    bound = reach(place.value, axes)
    if bound is None or not same(bound.high, place.extent):
        return place
    return Coordinate(place.value, bound.high)


def fill_of_both(outer: Layout, inner: Layout) -> Fill:
    """Return the padding of a tensor that is packed by ``inner``, and then by ``outer``."""
    elements = product(tuple(axis.extent for axis in inner.axes))
    is_full = not inner.domain and same(elements, size_expr(inner))
    return outer.fill if is_full or outer.fill == inner.fill else FillAny()


def digits_of(number: Expr, sizes: Iterable[Expr]) -> tuple[Coordinate, ...]:
    """Return a number as row-major digits: ``p/(H*W)``, ``p/W%H`` and ``p%W``.

    The first digit takes whatever is left. Its extent is declared, as are all others.
    """
    found: list[Coordinate] = []
    below: Expr = ONE
    extents = list(sizes)
    for place, extent in reversed([*enumerate(extents)]):
        digit = number if below == ONE else FloorDiv(number, below)
        value = Mod(digit, extent) if place else digit
        found.insert(0, Coordinate(value, extent, declared=True))
        below = product((below, extent))
    return tuple(found)


def _substituted(
    value: Expr, index: Mapping[str, Expr], sizes: Mapping[str, Expr], axes: Axes
) -> Expr:
    """Return a coordinate of the applied layout with its indices and extents put in.

    A sum that is cut is written as a tuple, ``(c1, c0)/16`` for ``(c1*8 + c0)/16``: it has the same
    value, and its digits are seen.
    """
    if isinstance(value, Index):
        return index[value.name]
    digits = {name: _as_tuple(each, axes) for name, each in index.items()}
    return substitute(value, {**sizes, **digits})


def _as_tuple(value: Expr, axes: Axes) -> Expr:
    """Return ``c1*8 + c0`` as ``(c1, c0)`` if ``c0`` has the extent 8; else the value itself."""
    match value:
        case Add(Mul(above, factor), below) | Add(Mul(factor, above), below) if not indices(factor):
            low, high = reach(below, axes), reach(above, axes)
            if low is None or high is None or not same(low.high, factor):
                return value
            if not (at_least(low.low, 0) and at_least(high.low, 0)):
                return value
            parts = (Coordinate(_as_tuple(above, axes), high.high), Coordinate(below, low.high))
            return MixedRadix(parts)
    return value


def exact(extent: Expr) -> Expr:
    """Return an expression over extents with exact divisions worked out.

    >>> text(exact(CeilDiv(Mul(Constant(8), Extent("H1")), Constant(8))))
    'H1'
    """
    match extent:
        case Index() | Extent() | Constant() | MixedRadix():
            return extent
    left, right = exact(extent.left), exact(extent.right)
    if isinstance(extent, CeilDiv | FloorDiv | Mod) and at_least(right, 1):
        whole = exact_quotient(left, right)
        if whole is not None:
            return ZERO if isinstance(extent, Mod) else simplify(whole)
    return simplify(type(extent)(left, right))


def _stays_below(value: Expr, extent: Expr, axes: Axes) -> bool:
    """Whether an index is in the shape by definition: an axis of that extent, or a number."""
    match value, extent:
        case Index(name), _:
            return axes.get(name) == extent
        case Constant(number), Constant(size):
            return 0 <= number < size
        case (Mod(_, divisor), _) if isinstance(divisor, Constant | Extent):
            return divisor == extent
    return False


def _once(first: Iterable[Condition], second: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _possible(conditions: Iterable[Condition], values: Mapping[str, Expr]) -> list[Condition]:
    """Return conditions with names replaced, without those that hold for every shape.

    Raises:
        NotApplicable: one of them holds for none.
    """
    found = list[Condition]()
    for each in conditions:
        plain = _plain(each.substituted(values))
        if isinstance(plain.left, Constant) and isinstance(plain.right, Constant):
            if not plain.holds({}):
                reason = f"it is defined where {each}, which is {plain} here"
                raise NotApplicable(reason, "choose indices of a shape for which it is defined")
        else:
            found.append(plain)
    return found


def _plain(condition: Condition) -> Condition:
    """Return a condition with its numbers worked out: ``8*C1 % 4 == 0`` is ``0 == 0``."""

    def side(expr: Expr) -> Expr:
        if indices(expr):
            return settled(Coordinate(expr, ZERO)).value
        match expr:
            case Mod(left, right) if exact_quotient(left, right) is not None:
                return ZERO
        return simplify(expr)

    return Condition(side(condition.left), condition.operator, side(condition.right))


def _refuse_large(outer: Layout, values: dict[str, Expr]) -> None:
    """Refuse a result of too many nodes before it is built."""
    sizes = {name: sum(1 for _ in walk(each)) for name, each in values.items()}
    sides = [side for each in (*outer.where, *outer.domain) for side in (each.left, each.right)]
    spoken = [part for each in outer.all_coordinates for part in (each.value, each.extent)]
    spoken += [each.value for one in outer.applied for each in one.index]
    total = 0
    for expr in (*spoken, *sides):
        for each in walk(expr):
            total += sizes.get(each.name, 1) if isinstance(each, Index | Extent) else 1
            if total > LARGEST:
                reason = f"the result has more than {LARGEST} names, numbers and operators"
                raise NotApplicable(reason, "use each index once, or apply a simpler layout")
