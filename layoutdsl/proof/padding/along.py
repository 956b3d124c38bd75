"""The largest and the smallest quotient along one extent, exactly, over infinitely many shapes.

Let L be a multiple of all that the expressions divide by, and ``X = L*t + r``. For one ``r`` every
quotient by a number is then a polynomial in ``t``; minima, maxima and conditions cut ``t`` into
stretches where they are polynomials too. On a stretch the quotient of two polynomials runs one way
between the turns of the difference of neighbours. So an extreme lies at one of finitely many
extents, or is the limit for large ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm
from typing import TypeAlias

from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    MixedRadix,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Condition

Poly: TypeAlias = tuple[int, ...]


def constant(value: int) -> Poly:
    """Return the polynomial that is the same everywhere."""
    return (value,) if value else ()


def value(poly: Poly, t: int) -> int:
    """Return the value at ``t``."""
    total = 0
    for coefficient in reversed(poly):
        total = total * t + coefficient
    return total


def plus(one: Poly, other: Poly, factor: int = 1) -> Poly:
    """Return ``one + factor * other``."""
    width = max(len(one), len(other))
    pairs = zip(one + (0,) * (width - len(one)), other + (0,) * (width - len(other)), strict=True)
    return _trimmed([left + factor * right for left, right in pairs])


def times(one: Poly, other: Poly) -> Poly:
    """Return the product."""
    total = [0] * (len(one) + len(other))
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            total[i + j] += left * right
    return _trimmed(total)


def _trimmed(coefficients: list[int]) -> Poly:
    while coefficients and not coefficients[-1]:
        coefficients.pop()
    return tuple(coefficients)


def following(poly: Poly) -> Poly:
    """Return the polynomial whose value at ``t`` is that of ``poly`` at ``t + 1``."""
    total = [0] * len(poly)
    for power, coefficient in enumerate(poly):
        for lower in range(power + 1):
            total[lower] += coefficient * comb(power, lower)
    return _trimmed(total)


def sign(number: int) -> int:
    """Return -1, 0 or 1."""
    return (number > 0) - (number < 0)


def turns(poly: Poly) -> list[int]:
    """Return every ``t`` above 0 whose value has another sign than the one before it, in order.

    Between turns of the difference ``poly(t + 1) - poly(t)`` values run one way, so a turn is found
    by halving; beyond Cauchy's bound for roots there is none.
    """
    if len(poly) <= 1:
        return []
    bound = 2 + max(map(abs, poly[:-1])) // abs(poly[-1])
    steps = [0, *turns(plus(following(poly), poly, -1))]
    found: list[int] = []
    for low, high in zip(steps, [*steps[1:], max(bound, steps[-1])], strict=True):
        place = low
        while sign(value(poly, place)) != sign(value(poly, high)):
            place = _first_change(poly, place, high)
            found.append(place)
    return found


def _first_change(poly: Poly, low: int, high: int) -> int:
    """The first ``t`` with another sign than ``low``, where values run one way up to ``high``."""
    before = sign(value(poly, low))
    while high - low > 1:
        middle = (low + high) // 2
        if sign(value(poly, middle)) == before:
            low = middle
        else:
            high = middle
    return high


LONGEST_PERIOD = 8192
"""The largest L; beyond it nothing is said."""

MOST_STRETCHES = 40_000
"""Stretches that are looked at for one quotient."""

SHORT = 512
"""A stretch of so few extents may be looked at one by one."""


class Undescribed(Exception):  # noqa: N818  the answer "I cannot"
    """The expressions are not polynomials on few stretches; says why."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """A largest or smallest value, over all extents of a range.

    Attributes:
        value: the supremum or infimum; ``None`` where there is no bound.
        at: the smallest extent that has it; ``None`` where it is only a limit.
    """

    value: Fraction | None
    at: int | None


@dataclass(frozen=True, slots=True)
class Along:
    """What a quotient does along one extent.

    Attributes:
        most: its supremum.
        least: its infimum.
        far: what it stays below in the end, as the extent grows: the limit superior; ``None``
            where the range ends, or there is no bound.
        first: the smallest extent of the range.
        ends: whether the range ends.
    """

    most: Extreme
    least: Extreme
    far: Fraction | None
    first: int
    ends: bool


def along(top: Expr, bottom: Expr, name: str, conditions: Sequence[Condition] = ()) -> Along | None:
    """Return what ``top/bottom`` does as the extent ``name`` runs over its range.

    Args:
        top: over that extent alone, as are the others.
        bottom: positive everywhere in the range.
        name: the extent.
        conditions: the range.

    Returns:
        ``None`` where the range is empty.

    Raises:
        Undescribed: nothing can be said within the budget.
    """
    sides = [side for each in conditions for side in (each.left, each.right)]
    period = lcm(*(_period(each) for each in (top, bottom, *sides)))
    if period > LONGEST_PERIOD:
        raise Undescribed(f"its blocks repeat only after {period} elements")
    found = _Found()
    for residue in range(period):
        first = 0 if residue else 1
        pending = [_Ray(name, period, residue, first, None)]
        while pending:
            ray = pending.pop()
            found.count()
            try:
                if all(ray.holds(each) for each in conditions):
                    found.stretch(ray, ray.poly(top), ray.poly(bottom))
            except _Cut as cut:
                pending += ray.cut(cut.places)
    return found.along()


def _period(expr: Expr) -> int:
    match expr:
        case FloorDiv(left, Constant(block)) | CeilDiv(left, Constant(block)):
            return max(block, 1) * _period(left)
        case Mod(left, Constant(block)):
            return max(block, 1) * _period(left)
        case Extent() | Constant() | Index() | MixedRadix():
            return 1
        case _:
            return lcm(_period(expr.left), _period(expr.right))


class _Cut(Exception):  # noqa: N818  a signal between the functions of this file
    """A stretch has to be cut: each of these begins a new one."""

    def __init__(self, places: Sequence[int]) -> None:
        self.places = tuple(places)


@dataclass(frozen=True, slots=True)
class _Ray:
    """The extents ``period*t + residue`` for ``low <= t <= high``; without an end if ``None``."""

    name: str
    period: int
    residue: int
    low: int
    high: int | None

    def extent(self, t: int) -> int:
        return self.period * t + self.residue

    def cut(self, places: Sequence[int]) -> Iterator[_Ray]:
        starts = [self.low, *places]
        ends = [*(place - 1 for place in places), self.high]
        for low, high in zip(starts, ends, strict=True):
            yield _Ray(self.name, self.period, self.residue, low, high)

    def sign(self, poly: Poly) -> int:
        """Return the sign of a polynomial on the whole stretch."""
        inside = [t for t in turns(poly) if self._inside(t)]
        if inside:
            raise _Cut(inside)
        return sign(value(poly, self.low))

    def _inside(self, t: int) -> bool:
        return self.low < t and (self.high is None or t <= self.high)

    def poly(self, expr: Expr) -> Poly:
        """Return an expression as a polynomial in ``t``."""
        if self.low == self.high:
            return constant(evaluate(expr, {self.name: self.extent(self.low)}))
        match expr:
            case Constant(number):
                return constant(number)
            case Extent():
                return plus(constant(self.residue), (0, self.period))
            case Add(left, right):
                return plus(self.poly(left), self.poly(right))
            case Sub(left, right):
                return plus(self.poly(left), self.poly(right), -1)
            case Mul(left, right):
                return times(self.poly(left), self.poly(right))
            case Min(left, right) | Max(left, right):
                one, other = self.poly(left), self.poly(right)
                lower = self.sign(plus(one, other, -1)) < 0
                return one if lower == isinstance(expr, Min) else other
            case FloorDiv(left, right):
                return self._quotient(self.poly(left), self.poly(right))
            case CeilDiv(left, right):
                down = self._quotient(times((-1,), self.poly(left)), self.poly(right))
                return times((-1,), down)
            case Mod(left, right):
                one, other = self.poly(left), self.poly(right)
                return plus(one, times(self._quotient(one, other), other), -1)
        return self._one_by_one()

    def _quotient(self, dividend: Poly, divisor: Poly) -> Poly:
        if len(divisor) == 1 and divisor[0] > 0:
            if all(each % divisor[0] == 0 for each in dividend[1:]):
                low = dividend[0] // divisor[0] if dividend else 0
                return plus(constant(low), (0, *(each // divisor[0] for each in dividend[1:])))
            return self._one_by_one()
        if not divisor or self.sign(divisor) <= 0 or len(dividend) > len(divisor):
            return self._one_by_one()
        ratio = dividend[-1] // divisor[-1] if len(dividend) == len(divisor) else 0
        for quotient in (ratio, ratio - 1):
            rest = plus(dividend, divisor, -quotient)
            if self.sign(rest) >= 0 and self.sign(plus(rest, divisor, -1)) < 0:
                return constant(quotient)
        return self._one_by_one()

    def _one_by_one(self) -> Poly:
        if self.high is None or self.high - self.low >= SHORT:
            raise Undescribed("an extent is no polynomial between its blocks")
        raise _Cut(range(self.low + 1, self.high + 1))

    def holds(self, condition: Condition) -> bool:
        """Return whether a condition holds on the whole stretch."""
        found = self.sign(plus(self.poly(condition.left), self.poly(condition.right), -1))
        return Condition(Constant(found), condition.operator, Constant(0)).holds({})


class _Found:
    """The extremes among the stretches so far."""

    def __init__(self) -> None:
        self._values: list[tuple[Fraction, int]] = []
        self._limits: list[Fraction | None] = []
        self._stretches = 0
        self._first: int | None = None

    def count(self) -> None:
        self._stretches += 1
        if self._stretches > MOST_STRETCHES:
            raise Undescribed("its range falls into too many pieces")

    def stretch(self, ray: _Ray, top: Poly, bottom: Poly) -> None:
        later = times(following(top), bottom)
        grows = plus(later, times(top, following(bottom)), -1)
        ends = [ray.low, *(t for t in turns(grows) if t > ray.low)]
        if ray.high is None:
            self._limits.append(_limit(top, bottom))
        else:
            ends = [*(t for t in ends if t <= ray.high), ray.high]
        extents = [(t, ray.extent(t)) for t in ends]
        self._values += [
            (Fraction(value(top, t), value(bottom, t)), extent) for t, extent in extents
        ]
        self._first = min(ray.extent(ray.low), self._first or ray.extent(ray.low))

    def along(self) -> Along | None:
        if self._first is None:
            return None
        high = max(found for found, _ in self._values)
        low = min(found for found, _ in self._values)
        most = Extreme(high, min(at for found, at in self._values if found == high))
        least = Extreme(low, min(at for found, at in self._values if found == low))
        finite = [each for each in self._limits if each is not None]
        if len(finite) < len(self._limits):
            most = Extreme(None, None)
        elif finite and max(finite) > high:
            most = Extreme(max(finite), None)
        if finite and min(finite) < low:
            least = Extreme(min(finite), None)
        far = max(finite) if finite and most.value is not None else None
        return Along(most, least, far, self._first, not self._limits)


def _limit(top: Poly, bottom: Poly) -> Fraction | None:
    if len(top) > len(bottom):
        return None
    return Fraction(top[-1], bottom[-1]) if len(top) == len(bottom) and top else Fraction(0)
