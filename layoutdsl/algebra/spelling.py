"""Shorter spellings of derived layouts. Not trusted: each is proved to be what is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.digits.inverse import read_back, tidy
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.digits.weighted import Axes, Weighted, weighted
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import Coordinate, Expr, MixedRadix, walk
from layoutdsl.language.integers.written_out import settled, written_out
from layoutdsl.language.meaning.application import exact, natural
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr


def spellings(layout: Layout, meant: Layout) -> Iterator[Layout]:
    """Yield spellings of a layout, the shorter ones first; the last is what is meant, word by word.

    Args:
        layout: the layout.
        meant: the same map with indices put in letter by letter.
    """
    axes = Axes({axis.name: axis.extent for axis in layout.axes})
    places = tuple(shortest(each, axes, sums=bool(layout.domain)) for each in layout.coordinates)
    yield natural(replace(layout, coordinates=places)).as_written
    yield layout
    yield natural(replace(layout, coordinates=tuple(map(settled, meant.coordinates)))).as_written


def shortest(place: Coordinate, axes: Axes, *, sums: bool = False) -> Coordinate:
    """Return the shortest of some spellings; `sums` stay where a domain is solved for one index."""
    written = settled(place).value
    value = tidy(written_out(written), axes)
    found = weighted(value, axes)
    parts = () if found is None else found.places(None) or ()
    tuples: list[Expr] = []
    if parts:
        tuples.append(MixedRadix(parts) if len(parts) > 1 else parts[0].value)
    every = [written, simplify(value)] if sums else [*tuples, value, written]
    best = min(every, key=lambda each: sum(1 for _ in walk(each)))
    return Coordinate(best, exact(place.extent), declared=True)


def canonical(layout: Layout, padded: Mapping[str, Expr] | None = None) -> Weighted | None:
    """Return the offset as a sum of digits, each with its weight; `None` if it is no such sum."""
    axes: dict[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
    return weighted(written_out(offset_expr(layout)), Axes({**axes, **(padded or {})}))


def padded_extents(layout: Layout) -> dict[str, Expr] | None:
    """Return the padded extent of each axis; `None` if coordinates are no digits."""
    found = read_back(layout)
    if isinstance(found, NotDigits):
        return None
    return {name: exact(extent) for name, extent in found.inverse.padded}
