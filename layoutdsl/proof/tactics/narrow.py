"""What a narrow range says of digits: at most 16 channels have no second block of 16.

Where the range bounds an extent by a number, the digits that lie above it are zero; where it gives
the extent itself, so do its normal forms. Not trusted: each step is a question to the solver.
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutdsl.proof.kernel.polynomial import Polynomial
from layoutdsl.proof.kernel.theorem import By, Ring, Term
from layoutdsl.proof.tactics.arith import Arithmetic
from layoutdsl.proof.tactics.polynomials import canonical

Bound = tuple[int, tuple[str, ...]]
"""A number that something stays below, and the facts that say so."""


def narrow(arithmetic: Arithmetic) -> None:
    """Bring what the hypotheses fix or bound by numbers into the normal forms.

    To be called when indices and extents are cut, and before anything else is normalised.
    """
    formulas = [(name, arithmetic.builder.formula(name)) for name in arithmetic.builder.hypotheses]
    ceilings: dict[str, Bound] = {}
    for fact, formula in formulas:
        for name, most in _upper_bounds(formula):
            if name not in ceilings or most < ceilings[name][0]:
                ceilings[name] = (most, (fact,))
    _settle_extremes(arithmetic, formulas, {name: most for name, (most, _) in ceilings.items()})
    for name, (most, facts) in ceilings.items():
        if name.startswith("n."):
            _drop_digits(arithmetic, name, (most, facts))
    for fact, formula in formulas:
        match formula:
            case ("=", str() as name, int() | str() as value) if name.startswith("n."):
                _know(arithmetic, name, value, fact)
            case ("<", str() as index, str() as extent) if extent in ceilings:
                most, facts = ceilings[extent]
                _drop_digits(arithmetic, index, (most, (fact, *facts)))
            case ("<", str() as index, int(most)) if index.startswith("i."):
                _drop_digits(arithmetic, index, (most, (fact,)))


def _upper_bounds(formula: Term) -> Iterator[tuple[str, int]]:
    """Yield each extent that the formula keeps from exceeding a number, and the number."""
    match formula:
        case ("=" | "<=", str() as name, int(most)) if name.startswith("n."):
            yield name, most
        case ("<", str() as name, int(most)) if name.startswith("n."):
            yield name, most - 1


def _lower_bounds(formula: Term) -> Iterator[tuple[str, int]]:
    """Yield each extent that the formula keeps from being less than a number, and the number."""
    match formula:
        case ("=", str() as name, int(least)) | ("<=", int(least), str() as name):
            yield name, least
        case ("<", int(least), str() as name):
            yield name, least + 1
        case ("=", ("mod", str() as name, int(block)), 0):
            yield name, block


def _settle_extremes(
    arithmetic: Arithmetic, formulas: list[tuple[str, Term]], most: dict[str, int]
) -> None:
    """Replace a minimum or maximum by the side that the range says it is."""
    least: dict[str, int] = {}
    for _, formula in formulas:
        for name, bound in _lower_bounds(formula):
            least[name] = max(least.get(name, bound), bound)
    for _, formula in formulas:
        match formula:
            case ("or", ("=", str() as name, left), ("=", _, right)):
                is_minimum = ("<=", name, left) in (each for _, each in formulas)
                for low, high in ((left, right), (right, left)):
                    if _at_most(low, high, least, most):
                        side = low if is_minimum else high
                        fact = arithmetic.builder.have(
                            ("=", name, side), *arithmetic.builder.hypotheses
                        )
                        value, equal = arithmetic.values.normal(side)
                        known = arithmetic.builder.calculate(name, By(fact), By(equal))
                        arithmetic.values.know(name, value, known)
                        break


def _at_most(low: Term, high: Term, least: dict[str, int], most: dict[str, int]) -> bool:
    """Whether the range plainly says ``low <= high``, one of them being a number."""
    match low, high:
        case int(), str():
            return high in least and low <= least[high]
        case str(), int():
            return low in most and most[low] <= high
    return False


def _know(arithmetic: Arithmetic, name: str, value: int | str, hypothesis: str) -> None:
    normal, fact = arithmetic.values.normal(value)
    if isinstance(value, int):
        arithmetic.values.know(name, normal, hypothesis)
    elif value.startswith("n."):
        equal = arithmetic.builder.calculate(name, By(hypothesis), By(fact))
        arithmetic.values.know(name, normal, equal)


def _drop_digits(arithmetic: Arithmetic, name: str, bound: Bound) -> None:
    """Leave out the digits of a number below ``most`` that step by ``most`` or more.

    An extent that is at most 16 is one more than a number below 16, and is cut as that number.
    """
    most, facts = bound
    builder, values = arithmetic.builder, arithmetic.values
    value, equation = values.normal(name)
    digits = [factors for factors in value if factors]
    if any(len(each) != 1 or not isinstance(each[0], str) for each in digits):
        return
    zero = {each[0] for each in digits if value[each] >= most and each[0] != name}
    whole = digits == [(name,)]
    if whole and most == 1 and name.startswith("i."):
        zero = {name}
    if not zero:
        return
    premises = [equation, *facts, *builder.hypotheses]
    for (digit,) in digits:
        known = values.bounds.get(digit)
        premises += [known.low, known.high] if known is not None else []
    dropped = {digit: builder.have(("=", digit, 0), *premises) for digit in sorted(zero)}
    rest: Polynomial = {f: count for f, count in value.items() if not f or f[0] not in zero}
    moves = [By(fact) for digit, fact in dropped.items() if digit != name]
    if whole:
        values.know(name, {}, dropped[name])
        return
    fact = builder.calculate(name, By(equation), *moves, Ring(canonical(rest)))
    values.know(name, rest, fact)
    for digit, zero_fact in dropped.items():
        values.know(digit, {}, zero_fact)
