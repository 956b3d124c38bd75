"""What a coordinate that is no digit may be: a digit, and what moves it.

For each coordinate the readings are listed, the likeliest first; `swizzles` finds out which of them
fit together.
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.language.digits.network import Exclusive, Fixed, Moved, Rotation, Turn
from layoutdsl.language.digits.sums import limit_of, shifted
from layoutdsl.language.integers.bits import bit, bounded, largest, operands
from layoutdsl.language.integers.bounds import ONE, ZERO, Polynomial, polynomial, product, simplify
from layoutdsl.language.integers.digit import read, same
from layoutdsl.language.integers.expr import (
    Add,
    BitXor,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    Mod,
    Mul,
    Sub,
    children,
    indices,
)
from layoutdsl.language.meaning.model import Layout


def moved(layout: Layout, coordinate: Coordinate) -> list[Moved | None]:
    """Return how a coordinate may be read; ``None`` stands for the digit that it plainly is."""
    value = coordinate.value
    if isinstance(simplify(value), Constant):
        return [None]
    if read(value) is not None:
        return [None, Fixed(value)]
    axes: dict[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
    found: list[Moved | None] = []
    match value:
        case BitXor():
            found += _exclusive(value, axes)
        case Mod(left, radix):
            found += _rotated(left, radix)
        case Add() | Sub() | Mul():
            found += turned(value, axes)
    taken = [each.value for each in layout.coordinates if each is not coordinate]
    return [*found, *shifted(value, axes, taken), Fixed(value)]


def _exclusive(value: BitXor, axes: dict[str, Expr]) -> Iterator[Exclusive]:
    sides = operands(value)
    for number, digit in enumerate(sides):
        found, limit = read(digit), limit_of(digit, axes)
        others = [each for place, each in enumerate(sides) if place != number]
        if found is None or limit is None:
            continue
        other = others[0]
        for each in others[1:]:
            other = BitXor(other, each)
        small = bounded(BitXor(digit, other), axes)
        if small is None or small.small != other:
            small = bounded(BitXor(Index("_"), other), axes)
        if small is None:
            continue
        if found.radix is None:
            block = Constant(1 << small.width)
            limit = simplify(Mul(CeilDiv(limit, block), block))
        yield Exclusive(digit, limit, other, small.width)


def _rotated(left: Expr, radix: Expr) -> Iterator[Rotation]:
    for factors, coefficient in polynomial(left).items():
        if len(factors) != 1 or abs(coefficient) != 1 or not indices(factors[0]):
            continue
        digit = Mod(factors[0], radix)
        found = read(digit)
        if found is not None and found.radix is not None:
            term = factors[0] if coefficient > 0 else Sub(ZERO, factors[0])
            other = simplify(Sub(left, term))
            yield Rotation(digit, found.radix, other, simplify(radix), coefficient)


def turned(value: Expr, axes: dict[str, Expr]) -> Iterator[Turn]:
    """Yield readings of a sum as one digit, turned round where another number is 1."""
    for digit, other, weight in turns(polynomial(value)):
        limit = limit_of(digit, axes)
        if weight == ONE and limit is not None:
            found = Turn(digit, limit, other)
            if same(value, turn(found)):
                yield found


def turn(turned: Turn) -> Expr:
    """Return the coordinate that a turned digit is."""
    top = Sub(turned.limit, ONE)
    return Add(turned.digit, Mul(turned.other, Sub(top, Mul(Constant(2), turned.digit))))


def turns(terms: Polynomial) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Yield each digit that a sum may turn round, what turns it, and the digit's weight."""
    for factors, coefficient in terms.items():
        spoken = [each for each in factors if indices(each)]
        if len(spoken) != 2 or coefficient >= 0 or coefficient % 2:
            continue
        others = (each for each in factors if not indices(each))
        weight = product((*others, Constant(-coefficient // 2)))
        for digit, other in (spoken, spoken[::-1]):
            if read(digit) is not None and largest(other) == 1:
                yield digit, other, weight


def rounds(swizzle: Exclusive) -> int | None:
    """Return how often a digit that moves itself has to be moved back until every bit is right.

    A bit that is moved by others is right one round after them; ``None`` where they go in a circle,
    or where it cannot be seen.
    """
    own = read(swizzle.digit)
    if own is None or not isinstance(own.whole, Index) or not isinstance(own.divisor, Constant):
        return None
    power = own.divisor.value
    if power & (power - 1):
        return None
    name, start = own.whole.name, power.bit_length() - 1
    moved_by: dict[int, set[int]] = {}
    for place in range(swizzle.width):
        value = bit(swizzle.other, place, {})
        sources = None if value is None else _sources(value, name)
        if sources is None:
            return None
        if value != ZERO:
            moved_by[place] = {each - start for each in sources}
    return _longest(moved_by)


def _longest(moved_by: dict[int, set[int]]) -> int | None:
    """The longest path from bit to bit, or nothing where they go in a circle."""
    reached = dict.fromkeys(moved_by, 1)
    for _ in range(len(moved_by) + 1):
        longer = {
            place: 1 + max((reached[each] for each in sources if each in reached), default=0)
            for place, sources in moved_by.items()
        }
        if longer == reached:
            return max(reached.values(), default=1)
        reached = longer
    return None


def _sources(value: Expr, name: str) -> set[int] | None:
    """The bits of an index that a bit is made of; nothing where it is no sum of bits."""
    found, pending = set[int](), [value]
    while pending:
        match pending.pop():
            case Mod(FloorDiv(Index(each), Constant(power)), Constant(2)):
                found |= {power.bit_length() - 1} if each == name else set()
            case Mod(Index(each), Constant(2)):
                found |= {0} if each == name else set()
            case Index(each) if each == name:
                return None
            case expr:
                pending += children(expr)
    return found
