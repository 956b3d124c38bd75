"""Terms as polynomials: when two of them are equal whatever their names stand for.

Trusted by the checker's `Ring`. Quotients and remainders are unknowns of their own, told apart by
what they divide. It imports nothing of ours but the terms.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from layoutdsl.proof.kernel.theorem import Term

MOST_PRODUCTS = 50_000
"""Of one polynomial: what has more is no calculation that anyone can follow."""

# A sum of products: for each product, its factors in a fixed order, the coefficient.
Polynomial: TypeAlias = "dict[tuple[Any, ...], int]"


def polynomial(term: Term) -> Polynomial:
    """Return the term as a polynomial in its names, quotients and remainders.

    Raises:
        ValueError: what is given is no term, or one that has too many products.
    """
    match term:
        case int():
            return {(): term} if term else {}
        case ("+", *parts):
            return total([(polynomial(part), 1) for part in parts])
        case ("-", left, right):
            return total([(polynomial(left), 1), (polynomial(right), -1)])
        case ("*", left, right):
            return product(polynomial(left), polynomial(right))
        case ("div" | "mod" as operator, left, right):
            return {((operator, _key(polynomial(left)), _key(polynomial(right))),): 1}
        case str():
            return {(term,): 1}
    raise ValueError(f"{term!r} is not a term")


def _key(value: Polynomial) -> tuple[Any, ...]:
    return tuple(sorted(value.items(), key=repr))


def total(parts: list[tuple[Polynomial, int]]) -> Polynomial:
    """Return the sum of polynomials, each times a number."""
    terms: Polynomial = {}
    for part, factor in parts:
        for factors, coefficient in part.items():
            terms[factors] = terms.get(factors, 0) + factor * coefficient
    return {factors: coefficient for factors, coefficient in terms.items() if coefficient}


def product(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product of two polynomials.

    Raises:
        ValueError: it has too many terms.
    """
    if len(left) * len(right) > MOST_PRODUCTS:
        raise ValueError("a polynomial is too large to follow")
    parts = [
        ({tuple(sorted((*one, *other), key=repr)): first * second}, 1)
        for one, first in left.items()
        for other, second in right.items()
    ]
    return total(parts)
