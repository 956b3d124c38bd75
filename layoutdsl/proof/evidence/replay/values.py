"""What a term without unknowns is worth, and terms as polynomials in what is unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from layoutdsl.proof.evidence.replay.terms import LARGEST, Refused, Term, Value

MOST_PRODUCTS = 20_000
"""Of one polynomial."""

MOST_FACTORS = 64
"""Of one product: `x*x` in `x*x` forty times over is a text of forty lines."""

Polynomial: TypeAlias = "dict[tuple[Term, ...], Fraction]"
"""For each product, as its factors in the order of `id`, the coefficient; none is 0."""


def _quotient(left: Fraction, right: Fraction) -> Fraction:
    """Euclid's: the remainder is never negative."""
    found = math.floor(left / abs(right))
    return Fraction(found if right > 0 else -found)


def _remainder(left: Fraction, right: Fraction) -> Fraction:
    return left - right * _quotient(left, right)


_Meaning: TypeAlias = "Callable[[Sequence[Fraction]], Value | None]"

ARITHMETIC: Mapping[str, _Meaning] = {
    "+": lambda parts: sum(parts, Fraction(0)),
    "*": lambda parts: math.prod(parts, start=Fraction(1)),
    "-": lambda parts: parts[0] - parts[1] if len(parts) == 2 else -parts[0],
    "abs": lambda parts: abs(parts[0]),
    "<": lambda parts: parts[0] < parts[1],
    "<=": lambda parts: parts[0] <= parts[1],
    ">": lambda parts: parts[0] > parts[1],
    ">=": lambda parts: parts[0] >= parts[1],
    "div": lambda parts: _quotient(*parts) if parts[1] else None,
    "mod": lambda parts: _remainder(*parts) if parts[1] else None,
    "div_total": lambda parts: _quotient(*parts) if parts[1] else Fraction(0),
    "mod_total": lambda parts: _remainder(*parts) if parts[1] else parts[0],
    "to_real": lambda parts: parts[0],
    "to_int": lambda parts: Fraction(math.floor(parts[0])),
}
"""What operators of numbers do; ``None`` where nothing is known of it."""

_CONNECTIVES: Mapping[str, Callable[[Sequence[bool]], bool]] = {
    "not": lambda parts: not parts[0],
    "and": all,
    "or": any,
    "=>": lambda parts: not parts[0] or parts[1],
    "xor": lambda parts: parts[0] != parts[1],
}


def meaning(name: str, parts: Sequence[Value]) -> Value | None:
    """Return what an operator makes of values; ``None`` where nothing is known of it.

    Raises:
        Refused: numbers grow too large.
    """
    if name == "=":
        return parts[0] == parts[1]
    if name == "ite":
        return parts[1] if parts[0] else parts[2]
    if name == "@purify":
        return parts[0]
    if name in _CONNECTIVES:
        return _CONNECTIVES[name]([bool(each) for each in parts])
    if name not in ARITHMETIC:
        return None
    found = ARITHMETIC[name]([Fraction(each) for each in parts])
    if isinstance(found, Fraction):
        _refuse_large(found)
    return found


def worth(term: Term, known: dict[Term, Value | None]) -> Value | None:
    """Return the value of a term without unknowns; ``None`` of one with some.

    Args:
        term: what is evaluated.
        known: values found so far, and added to.
    """
    if term.value is not None:
        return term.value
    if term not in known:
        parts = [worth(each, known) for each in term.parts]
        values = [each for each in parts if each is not None]
        ground = parts and len(values) == len(parts)
        known[term] = meaning(term.operator, values) if ground else None
    return known[term]


def polynomial(term: Term, known: dict[Term, Polynomial]) -> Polynomial:
    """Return a number as a polynomial in what is no sum, difference, product or literal.

    Args:
        term: of sort `Int` or `Real`.
        known: polynomials found so far, and added to.

    Raises:
        Refused: it has too many products, or factors in one of them.
    """
    if term not in known:
        known[term] = _polynomial(term, known)
    return known[term]


def _polynomial(term: Term, known: dict[Term, Polynomial]) -> Polynomial:
    if term.number is not None:
        return {(): term.number} if term.number else {}
    parts = term.parts
    match term.operator:
        case "+":
            return _total([polynomial(each, known) for each in parts])
        case "-":
            *before, last = (polynomial(each, known) for each in parts)
            negated = {product: -each for product, each in last.items()}
            return _total([*before, negated])
        case "*":
            found: Polynomial = {(): Fraction(1)}
            for each in parts:
                found = _product(found, polynomial(each, known))
            return found
        case "to_real":
            return polynomial(parts[0], known)
    return {(term,): Fraction(1)}


def _total(parts: Sequence[Polynomial]) -> Polynomial:
    found: Polynomial = {}
    for part in parts:
        for product, coefficient in part.items():
            found[product] = found.get(product, Fraction(0)) + coefficient
    if len(found) > MOST_PRODUCTS:
        raise Refused("a polynomial is too large to follow")
    return {product: each for product, each in found.items() if each}


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    if len(left) * len(right) > MOST_PRODUCTS:
        raise Refused("a polynomial is too large to follow")
    found: Polynomial = {}
    for one, first in left.items():
        for other, second in right.items():
            product = tuple(sorted((*one, *other), key=id))
            if len(product) > MOST_FACTORS:
                raise Refused("a product has too many factors to follow")
            coefficient = first * second
            _refuse_large(coefficient)
            found[product] = found.get(product, Fraction(0)) + coefficient
    return {product: each for product, each in found.items() if each}


def _refuse_large(value: Fraction) -> None:
    if abs(value.numerator) >= LARGEST or value.denominator >= LARGEST:
        raise Refused("a number is too large to follow")


def sign(value: Fraction) -> int:
    """Return 1, 0 or -1."""
    return (value > 0) - (value < 0)
