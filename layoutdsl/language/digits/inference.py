"""A table read backwards: the layout that it inverts, where its indices are made of digits.

Each index of a table is a sum of digits of slot coordinates, each times a weight. Turned around, a
slot coordinate is the list of those digits, each read off an axis at its weight. This is a reading
like `network`: what comes out is proved to be the inverse, or not used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

from layoutdsl.language.integers.bounds import ONE, ZERO, product, reach, simplify
from layoutdsl.language.integers.digit import Digit, exact_quotient, opened, read, same, times
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Index,
    MixedRadix,
    Mul,
    coordinate_text,
    indices,
    text,
)
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.meaning.table import Slot, Table


@dataclass(frozen=True, slots=True)
class NoLayout:
    """Why no layout was read off a table."""

    reason: str


@dataclass(frozen=True, slots=True)
class Part(Digit):
    """A digit of a slot coordinate that counts ``weight`` along an axis."""

    axis: str
    weight: Expr


def infer(table: Table) -> Layout | NoLayout:
    """Return the layout that a table inverts, or why none was found.

    Its coordinates are the slot coordinates of the table; it is named after its own text.
    """
    parts: list[Part] = []
    for axis, expr in zip(table.axes, table.index, strict=True):
        found = _parts(axis.name, expr, ONE)
        if found is None:
            return NoLayout(f"`{axis.name} = {text(expr)}` is no sum of digits of the slot")
        parts += [each for each in found if each.radix != ONE]
    by_slot: dict[str, list[Part]] = {}
    for slot in table.slots:
        own = _digits_of_slot(slot, [p for p in parts if p.whole == Index(slot.name)])
        if isinstance(own, NoLayout):
            return own
        by_slot[slot.name] = own
    values: dict[Part, Coordinate] = {}
    for axis in table.axes:
        read_off = _digits_of_axis(
            axis, [p for p in chain(*by_slot.values()) if p.axis == axis.name]
        )
        if isinstance(read_off, NoLayout):
            return read_off
        values |= read_off
    coordinates = tuple(_joined([values[each] for each in by_slot[s.name]]) for s in table.slots)
    name = f"[{', '.join(map(coordinate_text, coordinates))}]"
    return replace(table.frame, name=name, coordinates=coordinates)


def _parts(axis: str, expr: Expr, weight: Expr) -> list[Part] | None:
    match expr:
        case Constant(0):
            return []
        case Add(left, right):
            one, other = _parts(axis, left, weight), _parts(axis, right, weight)
            return None if one is None or other is None else one + other
        case Mul(left, right) if not indices(right):
            return _parts(axis, left, times(weight, right))
        case Mul(left, right) if not indices(left):
            return _parts(axis, right, times(weight, left))
        case MixedRadix(parts):
            return _parts_of_tuple(axis, parts, weight)
    digit = read(expr)
    if digit is None or not isinstance(digit.whole, Index):
        return None
    return [Part(digit.whole, digit.divisor, digit.radix, axis, weight)]


def _parts_of_tuple(axis: str, parts: tuple[Coordinate, ...], weight: Expr) -> list[Part] | None:
    found: list[Part] = []
    for part in reversed(parts):
        own = _parts(axis, part.value, weight)
        if own is None:
            return None
        found += own
        weight = times(weight, part.extent)
    return found


def _digits_of_slot(slot: Slot, parts: list[Part]) -> list[Part] | NoLayout:
    """The digits of a slot coordinate, most major first, each with its radix."""
    left, ordered = list(parts), list[Part]()
    reached: Expr = ONE
    while left:
        following = [each for each in left if same(each.divisor, reached)]
        if len(following) != 1:
            return NoLayout(
                f"the digits of slot coordinate `{slot.name}` do not follow one another"
            )
        part = following[0]
        left.remove(part)
        radix = part.radix or exact_quotient(slot.extent, reached)
        if radix is None:
            words = f"{text(simplify(slot.extent))} is no multiple of {text(reached)}"
            return NoLayout(f"the extent of slot coordinate `{slot.name}` does not fit: {words}")
        ordered.insert(0, replace(part, radix=radix))
        reached = times(reached, radix)
    if not same(reached, slot.extent):
        return NoLayout(f"a part of slot coordinate `{slot.name}` counts along no axis")
    return ordered


def _digits_of_axis(axis: Axis, parts: list[Part]) -> dict[Part, Coordinate] | NoLayout:
    """For each digit of a slot, the part of the axis that it is."""
    if not parts and axis.extent != ONE:
        return NoLayout(f"no slot coordinate counts along axis `{axis.name}`")
    left, found = list(parts), dict[Part, Coordinate]()
    reached: Expr = ONE
    while left:
        following = [each for each in left if same(each.weight, reached)]
        if len(following) != 1 or following[0].radix is None:
            return NoLayout(f"the digits along axis `{axis.name}` do not follow one another")
        part, radix = following[0], following[0].radix
        left.remove(part)
        value = Digit(Index(axis.name), reached, radix if left else None).value
        natural = reach(value, {axis.name: axis.extent})
        declared = natural is None or not same(natural.high, radix)
        found[part] = Coordinate(value, radix, declared)
        reached = times(reached, radix)
    return found


def _joined(parts: list[Coordinate]) -> Coordinate:
    match parts:
        case []:
            return Coordinate(ZERO, ONE)
        case [alone]:
            return alone
    extent = simplify(product(tuple(each.extent for each in parts)))
    return Coordinate(MixedRadix(tuple(parts)), extent)


def flat(layout: Layout) -> Layout:
    """Return the layout with each tuple that is a coordinate replaced by its parts."""
    return replace(layout, coordinates=opened(layout.coordinates), chunk_rank=None)
