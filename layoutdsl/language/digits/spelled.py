"""The same layout in other words: sums that are digits written as digits, tuples part by part.

`c - c/16*16` is `c%16`, `c/16*16 + c%16` is `c`, `m%2*4 + k/8%4` is `(m%2, k/8%4)`, and a tuple is
its parts, side by side. What comes out has the same offsets and as many slots; that it has is
proved wherever such a spelling is read in place of the layout. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.digits.sums import spread
from layoutdsl.language.digits.weighted import weighted
from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.digit import exact_quotient, read, same
from layoutdsl.language.integers.expr import (
    BitAnd,
    BitXor,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
)
from layoutdsl.language.meaning.model import Layout

Axes = Mapping[str, Expr]


def spellings(layout: Layout) -> Iterator[Layout]:
    """Yield other spellings of a layout: coordinate by coordinate, and with tuples taken apart."""
    axes: Axes = {axis.name: axis.extent for axis in layout.axes}
    alike = tuple(
        Coordinate(tidy(each.value, axes), each.extent, declared=True)
        for each in layout.coordinates
    )
    apart = tuple(part for each in alike for part in _apart(each, axes))
    for coordinates in dict.fromkeys((alike, apart)):
        if [each.value for each in coordinates] != [each.value for each in layout.coordinates]:
            yield replace(layout, coordinates=coordinates, chunk_rank=None)


def tidy(expr: Expr, axes: Axes) -> Expr:
    """Return an expression with the sums in it as digits, as far as they are sums of digits."""
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case MixedRadix(parts):
            return MixedRadix(
                tuple(Coordinate(tidy(each.value, axes), each.extent) for each in parts)
            )
        case BitXor(left, right):
            found = None if spread(expr) == expr else weighted(expr, axes)
            if found is not None:
                return found.expr()
            return BitXor(_tuple(tidy(left, axes), axes), _tuple(tidy(right, axes), axes))
        case FloorDiv(left, right) | Mod(left, right) if read(expr) is None:
            inner = tidy(left, axes)
            found = weighted(inner, axes)
            halves = None if found is None else found.divided(simplify(right))
            if halves is not None:
                return halves[0 if isinstance(expr, FloorDiv) else 1].expr()
            return type(expr)(_tuple(inner, axes), right)
        case FloorDiv() | Mod() | BitAnd():
            found = weighted(expr, axes)
            return expr if found is None else found.expr()
        case _:
            plain = type(expr)(tidy(expr.left, axes), tidy(expr.right, axes))
            found = weighted(plain, axes)
            return plain if found is None else found.expr()


def _tuple(expr: Expr, axes: Axes) -> Expr:
    """A sum of digits in places of their own as one tuple, which can be cut like an index."""
    found = None if read(expr) is not None else weighted(expr, axes)
    places = None if found is None else found.places(None)
    if places is None or len(places) < 2:
        return expr
    return MixedRadix(tuple(Coordinate(each.value, each.extent) for each in places))


def _apart(coordinate: Coordinate, axes: Axes) -> Iterator[Coordinate]:
    """The parts of a tuple or of a sum as coordinates; as it is where they do not fill it."""
    parts = _parts(coordinate, axes)
    if parts is None:
        yield coordinate
        return
    for each in parts:
        yield from _apart(each, axes)


def _parts(coordinate: Coordinate, axes: Axes) -> tuple[Coordinate, ...] | None:
    match coordinate.value:
        case MixedRadix((top, *minor)):
            below = product(tuple(each.extent for each in minor))
            room = exact_quotient(coordinate.extent, below) if minor else coordinate.extent
            if room is None:
                return None
            extent = top.extent if same(room, top.extent) else room
            first = Coordinate(top.value, extent, declared=True)
            return (first, *(replace(each, declared=True) for each in minor))
        case value:
            found = None if read(value) is not None else weighted(value, axes)
            places = None if found is None else found.places(coordinate.extent)
            return places if places is not None and len(places) > 1 else None
