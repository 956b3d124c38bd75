"""From a slot back to the index, in closed form, where the coordinates are digits, swizzled or not.

The steps are straight-line: a slot is split into coordinates from the most minor, swizzled digits
are straightened, digits are put together into wholes, the value of a tuple is split into its parts.
Where coordinates leave their extents beyond the shape, although digits could go further, the padded
box is the shape itself. Nothing here is trusted: that the inverse is right is proved for each
layout. It knows `network` and `swizzles`, and neither sympy nor a solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from layoutdsl.language.digits.extents import Extents
from layoutdsl.language.digits.network import Chain, Fixed, Network, NotDigits, Shift
from layoutdsl.language.digits.steps import SLOT, Inverse, digit_name, rest_name, whole_name
from layoutdsl.language.digits.sums import spread
from layoutdsl.language.digits.swizzles import join, reading
from layoutdsl.language.digits.trial import reads
from layoutdsl.language.digits.weighted import Axes, Weighted, weighted
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, product, reach, simplify
from layoutdsl.language.integers.digit import exact_quotient, read, same
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
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
)
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.shapes import ceilings
from layoutdsl.language.texts.values import brief


def spellings(layout: Layout) -> Iterator[Layout]:
    """Yield other spellings of a layout: coordinate by coordinate, and with tuples taken apart."""
    axes = _axes(layout)
    alike = tuple(_tidied(each, axes) for each in layout.coordinates)
    apart = tuple(part for each in alike for part in _apart(each, axes))
    fitted = [
        tuple(part for each in layout.coordinates for part in _fitted(each, *one))
        for one in _fits(layout)
    ]
    for coordinates in dict.fromkeys((alike, apart, *fitted)):
        if _said(coordinates) != _said(layout.coordinates):
            yield replace(layout, coordinates=coordinates, chunk_rank=None)


def _said(coordinates: tuple[Coordinate, ...]) -> list[tuple[Expr, Expr]]:
    return [(each.value, simplify(each.extent)) for each in coordinates]


def parts_in(layout: Layout, spelled: Layout) -> dict[Coordinate, tuple[Coordinate, ...]] | None:
    """Return for each coordinate of a layout, nested ones included, what it is in a spelling.

    Returns:
        The coordinates of the spelling that are its digits, most major first; ``None`` where the
        spelling has no such digits for one of them.
    """
    axes, there = _axes(layout), set(spelled.all_coordinates)
    found: dict[Coordinate, tuple[Coordinate, ...]] = {}
    for each in layout.all_coordinates:
        tidied = _tidied(each, axes)
        fitted = (_fitted(each, *one) for one in _fits(layout))
        for parts in ((tidied,), tuple(_apart(tidied, axes)), *fitted):
            if there.issuperset(parts):
                found[each] = parts
                break
        else:
            return None
    return found


def _fits(layout: Layout) -> Iterator[tuple[Extents, Axes]]:
    """Yield what extents are in one spelling, and what each index stays below.

    First that is its extent, then the largest that the range lets the extent be.
    """
    extents = Extents(layout.where)
    axes = {axis.name: extents.spelled(axis.extent) for axis in layout.axes}
    rooms = extents.rooms()
    yield extents, Axes(axes, rooms)
    most: dict[Expr, Expr] = {Extent(name): Constant(n) for name, n in ceilings(layout).items()}
    bounded = {name: most.get(extent, extent) for name, extent in axes.items()}
    if bounded != axes:
        yield extents, Axes(bounded, rooms)


def _fitted(coordinate: Coordinate, extents: Extents, axes: Axes) -> tuple[Coordinate, ...]:
    """A coordinate as its digits, where they are found with all extents in one spelling."""
    value, extent = extents.spelled(coordinate.value), extents.spelled(coordinate.extent)
    found = _apart(_tidied(Coordinate(value, extent), axes), axes)
    return tuple(
        Coordinate(extents.written(each.value), extents.written(each.extent), declared=True)
        for each in found
    )


def _axes(layout: Layout) -> Axes:
    return Axes({axis.name: axis.extent for axis in layout.axes})


def _tidied(coordinate: Coordinate, axes: Axes) -> Coordinate:
    return Coordinate(tidy(coordinate.value, axes), coordinate.extent, declared=True)


def tidy(expr: Expr, axes: Axes) -> Expr:
    """Return an expression with the sums in it as digits, as far as they are sums of digits."""
    if expr not in axes.tidied:
        axes.tidied[expr] = _tidy(expr, axes)
    return axes.tidied[expr]


def _tidy(expr: Expr, axes: Axes) -> Expr:
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
            low = _exclusive(expr, axes) or _changed(expr, axes)
            if low is not None:
                return low
            return BitXor(_tuple(tidy(left, axes), axes), _tuple(tidy(right, axes), axes))
        case FloorDiv(left, right) | Mod(left, right) if read(expr) is None:
            inner = tidy(left, axes)
            found = weighted(inner, axes)
            halves = None if found is None else found.divided(simplify(right))
            if halves is not None:
                return halves[0 if isinstance(expr, FloorDiv) else 1].expr()
            return type(expr)(_tuple(inner, axes), right)
        case BitAnd() if spread(expr) != expr:
            return tidy(spread(expr), axes)
        case FloorDiv() | Mod() | BitAnd() | BitOr():
            found = weighted(expr, axes)
            return expr if found is None else found.expr()
        case _:
            plain = type(expr)(tidy(expr.left, axes), tidy(expr.right, axes))
            found = weighted(plain, axes)
            return plain if found is None else found.expr()


def _exclusive(expr: BitXor, axes: Axes) -> Expr | None:
    """A sum with the exclusive or in its low digits, where one side is only low bits."""
    for left, right in ((expr.left, expr.right), (expr.right, expr.left)):
        bounds = reach(right, axes.extents)
        whole = weighted(tidy(left, axes), axes)
        if bounds is None or not isinstance(bounds.high, Constant) or whole is None:
            continue
        block = Constant(1 << max(bounds.high.value - 1, 0).bit_length())
        halves = whole.divided(block)
        if halves is None or not halves[0].terms or not at_least(bounds.low, 0):
            continue
        high, low = (each.expr() for each in halves)
        changed = BitXor(low, right)
        return Add(Mul(high, block), _changed(changed, axes) or BitXor(low, tidy(right, axes)))
    return None


def _changed(expr: BitXor, axes: Axes) -> Expr | None:
    """An exclusive or of the bits alone that one side can change: that side is a multiple."""
    for left, right in ((expr.left, expr.right), (expr.right, expr.left)):
        one, other = (weighted(tidy(each, axes), axes) for each in (left, right))
        unit = None if other is None else other.unit
        if one is None or other is None or unit is None or unit == ONE:
            continue
        mine, theirs = one.divided(unit), other.divided(unit)
        if mine is not None and theirs is not None:
            sides = (each[0].shortened().expr() for each in (mine, theirs))
            return Add(Mul(BitXor(*sides), unit), mine[1].expr())
    return None


def _tuple(expr: Expr, axes: Axes) -> Expr:
    """A sum of digits in places of their own as one tuple, which can be cut like an index.

    So is a digit that counts down: ``(Y - 1 - y)/8`` is a digit of the tuple ``(Y - 1 - y)``.
    """
    found = None if read(expr) is not None else weighted(expr, axes)
    if found is None:
        return expr
    places = found.places(None)
    if places is None or len(places) < 2:
        upright = found.upright()
        places = None if upright == found else upright.places(None)
    if places is None:
        return expr
    if len(places) == 1 and isinstance(places[0].value, MixedRadix):
        return places[0].value
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
            if found is None:
                return None
            places = found.upright().places(coordinate.extent)
            if places is not None and len(places) > 1:
                return places
            return _in_two(found.upright(), coordinate.extent)


def _in_two(found: Weighted, extent: Expr) -> tuple[Coordinate, Coordinate] | None:
    """A sum cut at a weight that all that is smaller stays below."""
    for weight in dict.fromkeys(weight for _, weight in found.terms):
        room = exact_quotient(extent, weight)
        halves = None if room is None or same(weight, ONE) else found.divided(weight)
        if room is None or halves is None:
            continue
        high, low = (each.expr() for each in halves)
        if low != ZERO:
            return Coordinate(high, room, declared=True), Coordinate(low, weight, declared=True)
    return None


__all__ = ["Inverse", "ReadBack", "invert", "read_back"]


@dataclass(frozen=True, slots=True)
class ReadBack:
    """How a layout is read: as which digits, and how an index is put together from them.

    Attributes:
        spelled: what is read: the layout, or another spelling of it.
        network: its digits.
        inverse: of either.
    """

    spelled: Layout
    network: Network
    inverse: Inverse

    __repr__ = brief


def invert(layout: Layout) -> Inverse | NotDigits:
    """Return the inverse of a layout, or why it has none in closed form."""
    found = read_back(layout)
    return found if isinstance(found, NotDigits) else found.inverse


@lru_cache(maxsize=256)
def read_back(layout: Layout) -> ReadBack | NotDigits:
    """Return how a layout is read, or why it is not; of what may be wrong, what small shapes bear.

    A layout that holds only part of a shape is read as if it held all of it.
    """
    found = reading(layout)
    if layout.domain:
        if isinstance(found, NotDigits):
            return found
        if found.swizzles:
            return NotDigits(f"it holds elements only where {layout.domain[0]}", "domain")
        return ReadBack(layout, found, _inverse(layout, found))
    if isinstance(found, Network) and not _may_leave_extents(found):
        return ReadBack(layout, found, _inverse(layout, found))
    borne = next(_borne(layout), None)
    if borne is not None:
        return borne
    if isinstance(found, NotDigits):
        return found
    return ReadBack(layout, found, _inverse(layout, found))


def readings(layout: Layout) -> Iterator[ReadBack | NotDigits]:
    """Yield the reading of a layout, and others to try where that one is not proved."""
    first = read_back(layout)
    yield first
    if not layout.domain:
        yield from (each for each in _borne(layout) if each != first)


def _borne(layout: Layout) -> Iterator[ReadBack]:
    """Yield readings of a layout and of its spellings that small shapes bear."""
    every = [(each, reading(each)) for each in (layout, *spellings(layout))]
    networks = [(each, network) for each, network in every if isinstance(network, Network)]
    networks.sort(key=lambda each: bool(each[1].swizzles))
    for spelled, network in networks:
        whole = _inverse(spelled, network)
        for inverse in (whole, _to_the_shape(layout, whole)):
            if reads(layout, inverse):
                yield ReadBack(spelled, network, inverse)


def _may_leave_extents(found: Network) -> bool:
    """Whether digits beyond the shape may be more than a coordinate has room for."""
    radices = [(wire.radix, wire.extent) for wire in found.wires if wire.radix is not None]
    sums = any(isinstance(each.moved, Shift | Fixed) for each in found.swizzles)
    return sums or any(not at_least(Sub(extent, radix), 0) for radix, extent in radices)


def _to_the_shape(layout: Layout, inverse: Inverse) -> Inverse:
    """The inverse whose padded box is the shape; all other slots lie in a gap."""
    extents: dict[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
    padded = dict(inverse.padded)
    guards = tuple(
        Condition(value, "<", extents[name])
        for name, value in inverse.index
        if not same(padded[name], extents[name])
    )
    return replace(inverse, padded=tuple(extents.items()), guards=(*inverse.guards, *guards))


def _inverse(layout: Layout, found: Network) -> Inverse:
    steps = _split_slot(layout)
    guards = [guard for number in range(len(found.wires)) for guard in _wire_guards(found, number)]
    index: dict[str, Expr] = {}
    padded: dict[str, Expr] = {}
    for number, chain in enumerate(found.chains):
        for swizzle in found.swizzles_before(number):
            steps += swizzle.steps
        value = join(found, chain)
        if isinstance(chain.whole, Index):
            index[chain.whole.name] = value
            padded[chain.whole.name] = chain.reach
            continue
        steps.append((whole_name(number), value))
        steps += _split_whole(found, number, chain)
        inside = product(tuple(found.wires[part].extent for part in chain.parts))
        if not same(inside, chain.reach):
            guards.append(Condition(Index(whole_name(number)), "<", simplify(inside)))
    names = [axis.name for axis in layout.axes]
    return Inverse(
        tuple(steps),
        tuple((name, index[name]) for name in names),
        tuple((name, padded[name]) for name in names),
        tuple(guards),
        tuple(each.extent for each in layout.coordinates),
    )


def _split_slot(layout: Layout) -> list[tuple[str, Expr]]:
    last = len(layout.coordinates) - 1
    slot: Expr = Index(SLOT)
    rest = slot if layout.start == ZERO else Sub(slot, layout.start)
    steps: list[tuple[str, Expr]] = [(rest_name(last), rest)]
    for number in range(last, 0, -1):
        left, extent = Index(rest_name(number)), layout.coordinates[number].extent
        steps.append((digit_name(number), Mod(left, extent)))
        steps.append((rest_name(number - 1), FloorDiv(left, extent)))
    steps.append((digit_name(0), Index(rest_name(0))))
    return steps


def _split_whole(found: Network, number: int, chain: Chain) -> list[tuple[str, Expr]]:
    steps: list[tuple[str, Expr]] = []
    left: Expr = Index(whole_name(number))
    for part in reversed(chain.parts[1:]):
        extent = found.wires[part].extent
        steps.append((digit_name(part), Mod(left, extent)))
        steps.append((rest_name(part), FloorDiv(left, extent)))
        left = Index(rest_name(part))
    steps.append((digit_name(chain.parts[0]), left))
    return steps


def _wire_guards(found: Network, number: int) -> list[Condition]:
    wire = found.wires[number]
    value = Index(found.name(number))
    swizzle = found.swizzle_of(number)
    if swizzle is not None:
        return list(swizzle.guards)
    if wire.constant is not None:
        return [] if wire.extent == ONE else [Condition(value, "==", Constant(wire.constant))]
    return [] if wire.radix is None else [Condition(value, "<", wire.radix)]
