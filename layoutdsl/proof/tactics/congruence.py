"""Remainders that cannot be read off: sums modulo a divisor, each form of them once.

In a remainder, multiples of the divisor do not count, and a remainder inside counts as what it is
the remainder of. So an exclusive or with the same bit twice, or a rotation there and back, comes
out as it went in. What is left is named, and is a digit like others from then on. Not trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from layoutdsl.proof.kernel.builder import ProofBuilder
from layoutdsl.proof.kernel.checker import By, Polynomial, Ring, Term, product, total
from layoutdsl.proof.tactics.polynomials import Bounds, canonical, exact_quotient, frozen


@dataclass(frozen=True, slots=True)
class Named:
    """A remainder with a name: of what, by what, and the fact that it is less a multiple of it."""

    of: Polynomial
    divisor: Polynomial
    less: Polynomial
    fact: str


@dataclass
class Wanted:
    """Where digits would have to be cut for quotients to be read off; kept from try to try."""

    places: dict[str, set[int]] = field(default_factory=dict)
    numbers: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def want(self, name: str, place: int) -> None:
        """Remember that a digit has to be cut at ``place``."""
        self.places.setdefault(name, set()).add(place)

    def number(self, remainder: tuple[Any, ...]) -> int:
        """Return the number of a remainder, the same in every try."""
        return self.numbers.setdefault(remainder, len(self.numbers))

    @property
    def count(self) -> int:
        """How many places are wanted."""
        return sum(map(len, self.places.values()))

    def radices(self, name: str) -> list[int]:
        """Return radices, most minor first, that cut a digit where it was wanted."""
        radices, reached = list[int](), 1
        for place in sorted(self.places.get(name, ())):
            if place % reached == 0 and place > reached:
                radices.append(place // reached)
                reached = place
        return radices


class Congruences:
    """The remainders that have names in one builder.

    Args:
        builder: where the facts go.
        wanted: gives the numbers of names.
        digit: is told of each name, and its bounds.
    """

    def __init__(
        self, builder: ProofBuilder, wanted: Wanted, digit: Callable[[str, Bounds], None]
    ) -> None:
        self._builder = builder
        self._wanted = wanted
        self._digit = digit
        self._named: dict[str, Named] = {}

    def reduced(
        self, dividend: Polynomial, divisor: Polynomial
    ) -> tuple[Polynomial, list[Ring | By]]:
        """Return what leaves the same remainder, and the moves from one remainder to the other.

        ``0 < divisor`` has to be a fact.
        """
        full = rest = dividend
        moves: list[Ring | By] = []
        while (name := self._inside(rest, divisor)) is not None:
            found = self._named[name]
            rest = _put(rest, name, found.of)
            full = _put(full, name, found.less)
            moves.append(By(found.fact))
        reduced = _without_multiples(rest, divisor)
        multiple = exact_quotient(total([(full, 1), (reduced, -1)]), divisor)
        if multiple is None or reduced == dividend:
            return dividend, []
        below = canonical(divisor)
        values = {"a": canonical(multiple), "b": canonical(reduced), "B": below}
        same, _ = self._builder.use("CONGRUENT", values)
        joined: Term = ("+", ("*", values["a"], below), values["b"])
        return reduced, [*moves, Ring(("mod", joined, below)), By(same)]

    def _inside(self, value: Polynomial, divisor: Polynomial) -> str | None:
        """A remainder in ``value`` by a multiple of the divisor."""
        for factors in value:
            for factor in factors:
                found = self._named.get(factor) if isinstance(factor, str) else None
                if found is not None and exact_quotient(found.divisor, divisor) is not None:
                    return str(factor)
        return None

    def name(self, of: Polynomial, divisor: Polynomial) -> str:
        """Name a remainder; returns the fact that it is what the name stands for."""
        builder, below, value = self._builder, canonical(divisor), canonical(of)
        number = self._wanted.number((frozen(of), frozen(divisor)))
        name, above = f"t.{number}", f"u.{number}"
        if name not in self._named:
            facts = builder.use("DIVISION", {"x": value, "B": below})
            builder.define(name, ("mod", value, below))
            builder.define(above, ("div", value, below))
            fold = (By(name, backwards=True), By(above, backwards=True))
            equal, low, high = (builder.rewrite(fact, *fold) for fact in facts)
            multiple: Term = ("*", above, below)
            less = builder.have(("=", name, ("-", value, multiple)), equal)
            rest = total([(of, 1), (product({(above,): 1}, divisor), -1)])
            self._named[name] = Named(of, divisor, rest, less)
            self._digit(name, Bounds(below, low, high))
        return builder.calculate(("mod", value, below), By(name, backwards=True))

    def speaks_of_indices(self, value: Polynomial) -> bool:
        """Whether it is more than extents, which keep their remainders as they are."""
        return any(not _is_extent(factor) for factors in value for factor in factors)


def _is_extent(factor: Any) -> bool:
    if isinstance(factor, str):
        kind, *whole = factor.split(".")
        return (whole[0] if kind in ("g", "q") else kind) in ("n", "m", "r", "k")
    if isinstance(factor, Sequence):
        return all(map(_is_extent, factor[1:]))
    return True


def _put(value: Polynomial, name: str, other: Polynomial) -> Polynomial:
    """The polynomial with another in place of a name."""
    parts: list[tuple[Polynomial, int]] = []
    for factors, coefficient in value.items():
        left = [factor for factor in factors if factor != name]
        part: Polynomial = {tuple(left): 1}
        for _ in range(len(factors) - len(left)):
            part = product(part, other)
        parts.append((part, coefficient))
    return total(parts)


def _without_multiples(value: Polynomial, divisor: Polynomial) -> Polynomial:
    number = divisor.get(()) if len(divisor) == 1 else None
    if number is not None:
        return total([({factors: c % number}, 1) for factors, c in value.items()])
    left = {f: c for f, c in value.items() if exact_quotient({f: c}, divisor) is None}
    return total([(left, 1)])
