"""Sums of digits: which digits a sum has, each once, and what each of them is multiplied by.

Digits of one axis are cut where any of them is cut, and joined again where their weights follow one
another; so `c - c/16*16` and `c%4 + c%16/4*4` are one digit. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import gcd

from layoutdsl.language.digits.extents import Room, in_one_spelling, no_less
from layoutdsl.language.digits.network import Turn
from layoutdsl.language.digits.sums import limit_of, spread
from layoutdsl.language.digits.swizzled import turn, turns
from layoutdsl.language.integers.bounds import (
    ONE,
    ZERO,
    Polynomial,
    at_least,
    from_polynomial,
    polynomial,
    product,
    reach,
    simplify,
)
from layoutdsl.language.integers.digit import Digit, exact_quotient, nested, read, same, times
from layoutdsl.language.integers.expr import (
    Add,
    BitXor,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    indices,
)


@dataclass(frozen=True)
class Axes:
    """The extent of each index, and the bounds that the range puts on products of extents."""

    extents: Mapping[str, Expr]
    rooms: tuple[Room, ...] = ()
    tidied: dict[Expr, Expr] = field(default_factory=dict, compare=False, repr=False)
    """Results of `tidy`: nested exclusive ors ask for the same expression again and again."""


Term = tuple[Digit, Expr]
"""A digit and its weight, an expression over extents."""

MOST_TERMS = 32
"""Digits of a sum that is looked at."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """``constant`` plus digits times their weights.

    Attributes:
        terms: no two of one place; in the order of their axes, most minor first.
        constant: over extents.
        axes: what the digits are cut from.
    """

    terms: tuple[Term, ...]
    constant: Expr
    axes: Axes

    def expr(self) -> Expr:
        """Return the sum as an expression; a digit alone is that digit."""
        total: Expr = ZERO
        for digit, weight in reversed(self.terms):
            less = simplify(Sub(ZERO, weight))
            taken = at_least(less, 1)
            scale, value = less if taken else weight, digit.value
            value = value if same(scale, ONE) else Mul(value, scale)
            more = value if total == ZERO else Add(total, value)
            total = Sub(total, value) if taken else more
        if total == ZERO:
            return self.constant
        return total if self.constant == ZERO else Add(total, self.constant)

    def limit(self, digit: Digit) -> Expr | None:
        """Return what a digit stays below."""
        found = limit_of(digit.value, dict(self.axes.extents))
        return None if found is None else in_one_spelling(found)

    def divided(self, block: Expr) -> tuple[Weighted, Weighted] | None:
        """Return quotient and remainder by ``block``, where they can be read off."""
        return self._divided(self.terms, block) or self._divided(self._cut_at(block), block)

    def _divided(self, terms: Iterable[Term], block: Expr) -> tuple[Weighted, Weighted] | None:
        high, low = list[Term](), list[Term]()
        for digit, weight in terms:
            count = exact_quotient(weight, block)
            (low if count is None else high).append((digit, weight if count is None else count))
        above, rest = _split_constant(self.constant, block)
        remainder = Weighted(tuple(low), rest, self.axes)
        if not remainder._stays_below(block):
            return None
        quotient = Weighted(tuple(high), above, self.axes)
        return quotient._joined(), remainder._joined()

    def _cut_at(self, block: Expr) -> Iterator[Term]:
        """The terms, digits cut in two that reach across a multiple of a number."""
        for digit, weight in self.terms:
            match weight, block, self.limit(digit):
                case Constant(own), Constant(number), limit if (
                    0 < own < number
                    and number % own == 0
                    and not (isinstance(limit, Constant) and limit.value * own <= number)
                    and (digit.radix is None or _divides(number // own, digit.radix))
                ):
                    radix = Constant(number // own)
                    rest = None if digit.radix is None else exact_quotient(digit.radix, radix)
                    yield Digit(digit.whole, digit.divisor, radix), weight
                    yield Digit(digit.whole, times(digit.divisor, radix), rest), block
                case _:
                    yield digit, weight

    def _stays_below(self, block: Expr) -> bool:
        most = self.constant
        for digit, weight in self.terms:
            limit = self.limit(digit)
            if limit is None or not at_least(weight, 0):
                return False
            most = Add(most, Mul(weight, Sub(limit, ONE)))
        limit = simplify(Add(most, ONE))
        return at_least(self.constant, 0) and no_less(block, limit, self.axes.rooms)

    @property
    def unit(self) -> Constant | None:
        """The largest power of two that divides every weight, where all are numbers."""
        numbers = [weight.value for _, weight in self.terms if isinstance(weight, Constant)]
        if self.constant != ZERO or not numbers or len(numbers) < len(self.terms):
            return None
        common = gcd(*numbers)
        return Constant(common & -common)

    def _joined(self) -> Weighted:
        return Weighted(tuple(_canonical(self.terms)), self.constant, self.axes)

    def shortened(self) -> Weighted:
        """Return the sum with each digit of a tuple as one of the parts that reach it alone."""
        terms = tuple((_without_minor_parts(digit), weight) for digit, weight in self.terms)
        return Weighted(terms, self.constant, self.axes)

    def upright(self) -> Weighted:
        """Return the sum with a digit that counts down, ``X - 1 - d``, as a digit of its own."""
        terms, constant = list[Term](), self.constant
        for digit, weight in self.terms:
            less, limit = simplify(Sub(ZERO, weight)), self.limit(digit)
            if limit is None or not at_least(less, 1):
                terms.append((digit, weight))
                continue
            top = simplify(Sub(limit, ONE))
            terms.append((_alone(Sub(top, digit.value), limit), less))
            constant = Sub(constant, Mul(less, top))
        return Weighted(tuple(terms), simplify(constant), self.axes)

    def places(self, extent: Expr | None) -> tuple[Coordinate, ...] | None:
        """Return the digits as the parts of a tuple, most major first, where they are such parts.

        Args:
            extent: what the tuple stays below; by default as little as its digits need.
        """
        ordered = nested(self.terms, lambda term: term[1])
        if not ordered or self.constant != ZERO:
            return None
        if not all(at_least(weight, 1) for _, weight in ordered):
            return None
        found: list[Coordinate] = []
        lowest = ordered[0][1]
        if not same(lowest, ONE):
            found.append(Coordinate(ZERO, lowest, declared=True))
        for (digit, weight), (_, above) in pairwise(ordered):
            room, limit = exact_quotient(above, weight), self.limit(digit)
            if room is None or limit is None or not no_less(room, limit):
                return None
            found.append(Coordinate(digit.value, room, declared=True))
        top, weight = ordered[-1]
        room = self.limit(top) if extent is None else exact_quotient(extent, weight)
        if room is None:
            return None
        found.append(Coordinate(top.value, room, declared=True))
        return tuple(reversed(found))


def weighted(expr: Expr, axes: Axes) -> Weighted | None:
    """Return an expression as a sum of digits, or ``None`` where it is none."""
    constant: Expr = ZERO
    left, terms = _without_turns(polynomial(_flat(spread(expr))), axes)
    for factors, coefficient in left.items():
        spoken = [each for each in factors if indices(each)]
        others = product((*(each for each in factors if not indices(each)), Constant(coefficient)))
        if not spoken:
            constant = Add(constant, others)
            continue
        digit = read(spoken[0]) or _moved(spoken[0], axes)
        if len(spoken) > 1 or digit is None:
            return None
        terms.append((digit, others))
    if len(terms) > MOST_TERMS:
        return None
    return Weighted(tuple(_canonical(terms)), simplify(constant), axes)


def _without_turns(terms: Polynomial, axes: Axes) -> tuple[Polynomial, list[Term]]:
    """What is left of a sum without digits that it turns round, and these."""
    left, found = dict(terms), list[Term]()
    for digit, other, weight in turns(terms):
        limit = limit_of(digit, dict(axes.extents))
        if limit is not None:
            value = turn(Turn(digit, limit, other))
            rest = polynomial(Sub(from_polynomial(left), Mul(value, weight)))
            if len(rest) < len(left):
                left = rest
                found.append((_alone(value, limit), weight))
    return left, found


def _moved(value: Expr, axes: Axes) -> Digit | None:
    """A digit that others move, as a tuple of one part."""
    bounds = reach(value, axes.extents) if isinstance(value, BitXor | Mod) else None
    if bounds is None or not at_least(bounds.low, 0):
        return None
    return _alone(value, bounds.high)


def _without_minor_parts(digit: Digit) -> Digit:
    """``(r, c : 64*q)/64%8`` is ``(r, c/64 : q)%8``."""
    if not isinstance(digit.whole, MixedRadix):
        return digit
    parts, divisor = [*digit.whole.parts], digit.divisor
    while len(parts) > 1 and not same(divisor, ONE):
        least = parts.pop()
        count = exact_quotient(divisor, least.extent)
        if count is None:
            room = exact_quotient(least.extent, divisor)
            if room is None:
                return digit
            parts.append(Coordinate(FloorDiv(least.value, divisor), room))
            return Digit(MixedRadix(tuple(parts)), ONE, digit.radix)
        divisor = count
    return Digit(MixedRadix(tuple(parts)), divisor, digit.radix)


def _alone(value: Expr, limit: Expr) -> Digit:
    return Digit(MixedRadix((Coordinate(value, limit),)), ONE, None)


def _flat(expr: Expr) -> Expr:
    """Tuples that are not cut, as sums."""
    match expr:
        case MixedRadix(parts):
            total = _flat(parts[0].value)
            for each in parts[1:]:
                total = Add(Mul(total, each.extent), _flat(each.value))
            return total
        case Add(left, right) | Sub(left, right) | Mul(left, right):
            return type(expr)(_flat(left), _flat(right))
    return expr


def _canonical(terms: Iterable[Term]) -> Iterator[Term]:
    """Digits cut where others of their whole are cut, collected, and joined again."""
    terms = list(terms)
    alone: dict[Expr, MixedRadix] = {
        digit.whole.parts[0].value: digit.whole
        for digit, _ in terms
        if isinstance(digit.whole, MixedRadix) and len(digit.whole.parts) == 1
    }
    wholes: dict[Expr, list[Term]] = {}
    for digit, weight in terms:
        part = alone.get(digit.value)  # `k%q` where `(k%q)/4` is cut from it
        found = digit if part is None else Digit(part, ONE, None)
        wholes.setdefault(found.whole, []).append((found, weight))
    for whole in sorted(wholes, key=lambda each: (not isinstance(each, Index), str(each))):
        yield from _collected(wholes[whole])


def _collected(terms: list[Term]) -> Iterator[Term]:
    ends: list[Expr] = []
    for each in (end for digit, _ in terms for end in (digit.divisor, digit.end)):
        if each is not None and not any(same(each, other) for other in ends):
            ends.append(simplify(each))
    places = nested(ends, lambda each: each)
    whole = terms[0][0].whole
    if places is None:
        found: dict[Digit, Expr] = {}
        for digit, weight in terms:
            found[digit] = simplify(Add(found.get(digit, ZERO), weight))
        yield from ((digit, weight) for digit, weight in found.items() if weight != ZERO)
        return
    weights: list[Expr] = [ZERO] * len(places)
    for digit, weight in terms:
        start = _place(places, digit.divisor)
        end = len(places) if digit.end is None else _place(places, digit.end)
        for number in range(start, end):
            scale = exact_quotient(places[number], digit.divisor)
            assert scale is not None
            weights[number] = simplify(Add(weights[number], Mul(weight, scale)))
    yield from _rejoined(whole, places, weights)


def _rejoined(whole: Index | MixedRadix, places: list[Expr], weights: list[Expr]) -> Iterator[Term]:
    """Digits between two places, as long as each weight goes on from the one below it."""
    start: int | None = None
    for number, weight in enumerate(weights):
        last = number + 1 == len(places)
        if start is None and weight == ZERO:
            continue
        start = number if start is None else start
        radix = None if last else exact_quotient(places[number + 1], places[number])
        follows = (
            radix is not None
            and weights[number + 1] != ZERO
            and same(weights[number + 1], Mul(weight, radix))
        )
        if not follows:
            reach = None if last else exact_quotient(places[number + 1], places[start])
            yield Digit(whole, places[start], reach), weights[start]
            start = None


def _place(places: list[Expr], wanted: Expr) -> int:
    return next(number for number, each in enumerate(places) if same(each, wanted))


def _split_constant(constant: Expr, block: Expr) -> tuple[Expr, Expr]:
    match constant, block:
        case Constant(value), Constant(number):
            return Constant(value // number), Constant(value % number)
    count = exact_quotient(constant, block)
    return (ZERO, constant) if count is None or constant == ZERO else (count, ZERO)


def _divides(number: int, radix: Expr) -> bool:
    return exact_quotient(radix, Constant(number)) is not None
