"""One size at most another because extents are at least one: ``C*H`` is no less than ``C``.

With every extent written as ``1 + x``, the difference has to be a sum of products of such ``x``; an
extent rounded up, ``ceil(V/k)*k``, and what it is multiplied by, count for the ``V``
that it is at least. Not trusted.
"""

from __future__ import annotations

from itertools import combinations

from layoutdsl.proof.kernel.polynomial import Polynomial, polynomial, total
from layoutdsl.proof.kernel.theorem import By, Ring, Term
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import canonical


def grown(arithmetic: Arithmetic, low: Term, high: Term) -> str | None:
    """Return the fact ``low <= high`` of two terms over extents, where it can be seen like this."""
    (lower, first), (upper, second) = arithmetic.sizes.normal(low), arithmetic.sizes.normal(high)
    same = ((first, low), (second, high))
    premises = [fact for fact, term in same if arithmetic.builder.right(fact) != term]
    least = dict(upper)
    for factors, coefficient in upper.items():
        found = _rounded(arithmetic, factors, coefficient)
        if found is not None:
            value, fact = found
            premises.append(fact)
            least = total([(least, 1), ({factors: coefficient}, -1), (value, 1)])
    difference = total([(least, 1), (lower, -1)])
    products = _products(difference)
    if products is None or any(coefficient < 0 for coefficient in products.values()):
        return _more(arithmetic, low, high)
    steps = [canonical({names: 1}) for names in products if names]
    shifted = canonical(products)
    less: dict[str, Term] = {name: ("-", name, 1) for names in products for name in names}
    spelled = _spelled(shifted, less)
    if steps:
        premises.append(arithmetic.builder.calculate(canonical(difference), Ring(spelled)))
    premises += [arithmetic.not_negative_product(_spelled(step, less)) for step in steps]
    return arithmetic.builder.have(("<=", low, high), *premises)


def _more(arithmetic: Arithmetic, low: Term, high: Term) -> str | None:
    """The fact ``low <= high``, where one has all the products that the other has, and more."""
    (lower, first), (upper, second) = arithmetic.sizes.normal(low), arithmetic.sizes.normal(high)
    more = total([(upper, 1), (lower, -1)])
    if any(coefficient < 0 for coefficient in more.values()):
        return None
    if not all(_grows(factor) for factors in more for factor in factors):
        return None
    facts = [arithmetic.not_negative(canonical({factors: 1})) for factors in more if factors]
    return arithmetic.builder.have(("<=", low, high), first, second, *facts)


def _grows(term: Term) -> bool:
    """Whether nothing is taken away in a term over extents but the one of a quotient rounded up."""
    match term:
        case int():
            return term >= 0
        case ("-", part, 1):
            return _grows(part)
        case ("+" | "*" | "div", *parts):
            return all(_grows(part) for part in parts)
    return isinstance(term, str)


def _rounded(
    arithmetic: Arithmetic, factors: tuple[Term, ...], coefficient: int
) -> tuple[Polynomial, str] | None:
    """For ``ceil(V/k)*k*rest``, the value of ``V*rest`` and the fact that it is at most that."""
    for factor in factors:
        match factor:
            case ("div", dividend, divisor):
                rest = [each for each in factors if each != factor]
                if divisor in rest and coefficient == 1:
                    rest.remove(divisor)
                elif divisor != coefficient:
                    return None
                one, block = polynomial(dividend), polynomial(divisor)
                value = total([(one, 1), (block, -1), ({(): 1}, 1)])
                if not all(isinstance(name, str) for names in (*value, rest) for name in names):
                    return None
                if value.get((), 0) < 0:
                    return None  # ``B/2*2`` is at least ``B - 1``, which may be 0
                larger = canonical({factors: coefficient})
                return _at_least(arithmetic, value, divisor, canonical({tuple(rest): 1}), larger)
    return None


def _at_least(
    arithmetic: Arithmetic, value: Polynomial, divisor: Term, rest: Term, larger: Term
) -> tuple[Polynomial, str]:
    builder, written = arithmetic.builder, canonical(value)
    arithmetic.positive(divisor)
    arithmetic.positive(written)
    builder.use("CEILING", {"E": written, "B": divisor})
    rounded: Term = ("*", ("div", ("+", written, ("-", divisor, 1)), divisor), divisor)
    arithmetic.not_negative(rest)
    (raised,) = builder.use("MONOTONE", {"a": written, "b": rounded, "k": rest})
    scaled = polynomial(("*", written, rest))
    low = builder.calculate(("*", written, rest), Ring(canonical(scaled)))
    high = builder.calculate(("*", rounded, rest), Ring(larger))
    return scaled, builder.rewrite(raised, By(high), By(low))


def _products(difference: Polynomial) -> Polynomial | None:
    """Return the polynomial in ``x``, where each name is ``1 + x``; ``None`` with other factors."""
    parts: list[tuple[Polynomial, int]] = []
    for factors, coefficient in difference.items():
        if not all(isinstance(factor, str) for factor in factors):
            return None
        for count in range(len(factors) + 1):
            picked = combinations(factors, count)
            parts += [({tuple(sorted(chosen)): 1}, coefficient) for chosen in picked]
    return total(parts)


def _spelled(term: Term, less: dict[str, Term]) -> Term:
    match term:
        case str():
            return less.get(term, term)
        case (operator, *parts):
            return (operator, *(_spelled(part, less) for part in parts))
    return term
