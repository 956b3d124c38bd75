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
from math import gcd
from typing import TypeAlias

from layoutdsl.language.integers.bounds import (
    ONE,
    ZERO,
    at_least,
    polynomial,
    product,
    reach,
    simplify,
)
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
    Sub,
    indices,
    substitute,
    walk,
)
from layoutdsl.language.integers.written_out import settled
from layoutdsl.language.meaning.elements import Fill, FillAny
from layoutdsl.language.meaning.interface import ScaleOffset
from layoutdsl.language.meaning.model import Applied, Axis, Layout
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


def applied(outer: Layout, index_map: Layout, *, padded: bool = False) -> Layout:
    """Return ``R(c) = outer(index_map(c))``.

    The result keeps the coordinates, the chunks, the fill and the element type of ``outer``, on the
    axes of ``index_map``. It holds an element where both layouts do.

    Args:
        outer: without open parameters that ``index_map`` does not have.
        index_map: its coordinates are the indices of ``outer``, copies and bits included, with the
            extents of the axes of ``outer``.
        padded: the indices are those of the padded box of ``outer``: the coordinates of
            ``index_map`` have the padded extents, and the extents of ``outer`` stay as they are.

    Raises:
        NotApplicable: a condition of ``outer`` holds for no shape, or the result is too large.
    """
    index, sizes = _values(outer, index_map, padded)
    own: Axes = {axis.name: axis.extent for axis in index_map.axes}
    found = _applied(outer, index_map, padded)
    places = tuple(
        settled(Coordinate(_substituted(each.value, index, sizes, own), exact(size), each.declared))
        for each in outer.coordinates
        for size in (substitute(each.extent, sizes),)
    )
    return natural(replace(found, coordinates=places)).as_written


def substituted(outer: Layout, index_map: Layout, *, padded: bool = False) -> Layout:
    """Return the same layout as `applied`, letter by letter: names are replaced, and no more.

    Every extent is declared. Proofs compare a shorter spelling with this layout.
    """
    index, sizes = _values(outer, index_map, padded)
    both = {**sizes, **index}
    places = tuple(
        Coordinate(substitute(each.value, both), substitute(each.extent, sizes), declared=True)
        for each in outer.coordinates
    )
    return replace(_applied(outer, index_map, padded), coordinates=places)


def _values(
    outer: Layout, index_map: Layout, padded: bool
) -> tuple[dict[str, Expr], dict[str, Expr]]:
    """Return the indices, and the extents, of the applied layout as expressions of the result."""
    names = [axis.name for axis in outer.axes]
    index = dict(zip(names, (each.value for each in index_map.coordinates), strict=True))
    sizes: dict[str, Expr] = {}
    if not padded:
        for axis, place in zip(outer.axes, index_map.coordinates, strict=True):
            if isinstance(axis.extent, Extent):
                sizes.setdefault(axis.extent.name, place.extent)
    return index, sizes


def _applied(outer: Layout, index_map: Layout, padded: bool) -> Layout:
    """The result but for its coordinates."""
    index, sizes = _values(outer, index_map, padded)
    both = {**sizes, **index}
    _refuse_large(outer, both)
    own: Axes = {axis.name: axis.extent for axis in index_map.axes}
    extents = [substitute(axis.extent, sizes) for axis in outer.axes]
    if padded:
        extents = [each.extent for each in index_map.coordinates]
    asked = tuple(
        Coordinate(place.value, extent, declared=True)
        for place, extent in zip(index_map.coordinates, extents, strict=True)
        if not _stays_below(place.value, extent, own)
    )
    conditions = possible((*outer.where, *outer.domain), both)
    return replace(
        outer,
        axes=index_map.axes,
        start=substitute(outer.start, sizes),
        where=_once(index_map.where, (each for each in conditions if not each.indices)),
        domain=_once(index_map.domain, (each for each in conditions if each.indices)),
        parameters=index_map.parameters,
        copies=index_map.copies,
        interface=_interface(outer, index),
        origin=None,
        derivation=None,
        applied=(
            *index_map.applied,
            *([Applied(outer.name, asked)] if asked else []),
            *(each.substituted(both) for each in outer.applied),
        ),
    )


def _interface(outer: Layout, index: Mapping[str, Expr]) -> ScaleOffset | None:
    """The codes of the result, which have a scale along the axis that takes the place of theirs."""
    per = None if outer.interface is None else outer.interface.per
    if per is None:
        return outer.interface
    along = index[per]
    if not isinstance(along, Index):
        reason = f"its codes have a scale per `{per}`, and the index along `{per}` is computed"
        raise NotApplicable(reason, f"write an axis as the index along `{per}`")
    return ScaleOffset(along.name)


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
    value = place.value
    if isinstance(value, MixedRadix):
        value = MixedRadix(tuple(_natural(each, axes) for each in value.parts))
    bound = reach(value, axes)
    if bound is None or not same(bound.high, place.extent):
        return replace(place, value=value)
    return Coordinate(value, bound.high)


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


def composes_by_index(outer: Layout, inner: Layout) -> bool:
    """Return whether each coordinate of ``inner`` is an index of ``outer`` in ``outer[inner]``."""
    if inner.start != ZERO or len(outer.axes) != len(inner.coordinates):
        return False
    pairs = zip(outer.axes, inner.coordinates, strict=True)
    sizes = [(axis.extent, place.extent) for axis, place in pairs]
    return all(x == y for x, y in sizes if isinstance(x, Constant) and isinstance(y, Constant))


def extents_of_slots(
    outer: Layout, size: Expr, values: Mapping[str, Expr]
) -> tuple[Expr, ...] | Axis:
    """Return the extents of ``outer`` if its elements are numbers below a size, row-major.

    Args:
        outer: its first extent may be open, and is as large as the size needs.
        size: of the buffer of another layout.
        values: extents of ``outer`` that are known; if others are not, their axis is returned.
    """
    first, *rest = (
        values.get(axis.extent.name) if isinstance(axis.extent, Extent) else axis.extent
        for axis in outer.axes
    )
    known = [each for each in rest if each is not None]
    if len(known) < len(rest):
        return outer.axes[1 + rest.index(None)]
    # Not shortened: it is the natural extent of the first index, by whose rule it is proved.
    return (first or simplify(CeilDiv(size, product(tuple(known)))), *known)


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
    if isinstance(extent, CeilDiv | FloorDiv) and isinstance(right, Constant):
        common = gcd(right.value, *polynomial(left).values())
        if common > 1:  # ceil(8*x/16) is ceil(x/2)
            less = exact_quotient(left, Constant(common))
            assert less is not None, "every coefficient is a multiple"
            left, right = simplify(less), Constant(right.value // common)
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


def possible(
    conditions: Iterable[Condition], values: Mapping[str, Expr] | None = None
) -> list[Condition]:
    """Return conditions with names replaced, without those that hold for every shape.

    Raises:
        NotApplicable: one of them holds for none.
    """
    found = list[Condition]()
    for each in conditions:
        plain = _plain(each.substituted(values or {}))
        holds = _always(plain)
        if holds is False:
            reason = f"it is defined where {each}, which is {plain} here"
            if plain == each:
                reason = f"no shape satisfies {each}"
            raise NotApplicable(reason, "choose indices of a shape for which it is defined")
        if holds is None:
            found.append(plain)
    return found


def _always(condition: Condition) -> bool | None:
    """Whether a condition holds for all shapes; `False` if for none, `None` if that is unknown."""
    left, right = condition.left, condition.right
    if isinstance(left, Constant) and isinstance(right, Constant):
        return condition.holds({})
    if condition.operator in (">", ">="):
        left, right = right, left
    elif condition.operator not in ("<", "<="):
        return True if condition.operator == "==" and left == right else None
    least = 1 if condition.operator in ("<", ">") else 0
    if at_least(simplify(Sub(right, left)), least):
        return True
    return False if at_least(simplify(Sub(left, right)), 1 - least) else None


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
