"""Polynomials with integer coefficients over t = 0, 1, 2, ...: values, and where signs change.

A polynomial is the tuple of its coefficients, the constant first, without zeros at the end. All is
exact and discrete: in place of a derivative the difference of neighbours says where values grow.
"""

from __future__ import annotations

from math import comb
from typing import TypeAlias

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
