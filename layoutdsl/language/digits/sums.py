"""Sums as digits: which summands are digits, one within the other, and what the rest moves.

`i*33 + j` is the digits `i` and `j`; `i + j` is `j`, moved by `i`; `x & 5` is two bits with a gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from layoutdsl.language.digits.network import Shift
from layoutdsl.language.integers.bits import operands
from layoutdsl.language.integers.bounds import ONE, ZERO, polynomial, product, reach, simplify
from layoutdsl.language.integers.digit import Digit, exact_quotient, nested, read, same
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
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

MOST_TERMS = 8
"""Summands of a sum that is read."""


def limit_of(digit: Expr, axes: dict[str, Expr]) -> Expr | None:
    """Return what a digit stays below."""
    found = read(digit)
    if found is not None and found.radix is not None:
        return found.radix
    bounds = reach(digit, axes)
    return None if bounds is None else bounds.high


@dataclass(frozen=True, slots=True)
class _Summand:
    digit: Expr
    weight: Expr
    sign: int


def shifted(value: Expr, axes: dict[str, Expr], taken: list[Expr]) -> Iterator[Shift]:
    """Yield readings of a sum: some summands are digits found nowhere else, the others move them.

    Args:
        value: the sum.
        axes: the extent of each index.
        taken: the other coordinates.
    """
    aligned = _aligned(spread(value))
    summands = _summands(aligned)
    if summands is None:
        return
    free = [each for each in summands if each.digit not in taken]
    chosen = [
        subset for count in range(len(summands), 0, -1) for subset in combinations(summands, count)
    ]
    chosen.sort(key=lambda subset: list(subset) != free)
    for subset in chosen:
        found = _sum(aligned, list(subset), axes)
        if found is not None:
            yield found


def _summands(value: Expr) -> list[_Summand] | None:
    """The digits in a sum, with their weights."""
    weights: dict[Expr, Expr] = {}
    for factors, coefficient in polynomial(value).items():
        spoken = [each for each in factors if indices(each)]
        if len(spoken) == 1 and read(spoken[0]) is not None:
            others = [each for each in factors if not indices(each)]
            weight = product((*others, Constant(coefficient)))
            weights[spoken[0]] = Add(weights.get(spoken[0], ZERO), weight)
    found = [_summand(digit, simplify(weight)) for digit, weight in weights.items()]
    return found if 0 < len(found) <= MOST_TERMS else None


def _summand(digit: Expr, weight: Expr) -> _Summand:
    negative = all(coefficient < 0 for coefficient in polynomial(weight).values())
    return _Summand(
        digit, simplify(Sub(ZERO, weight)) if negative else weight, -1 if negative else 1
    )


def _sum(value: Expr, own: list[_Summand], axes: dict[str, Expr]) -> Shift | None:
    """The sum as the digits ``own``, one within the other, moved by the rest."""
    ordered = nested(own, lambda each: each.weight)
    limits = [limit_of(each.digit, axes) for each in own]
    if len({each.sign for each in own}) > 1 or ordered is None or None in limits:
        return None
    own, steps = ordered, list[Expr]()
    for below, above in pairwise(own):
        step = exact_quotient(above.weight, below.weight)
        if step is None or same(step, ONE):
            return None
        steps.append(step)
    minor = [
        Coordinate(_below(each.digit, step, axes), step, declared=True)
        for each, step in zip(own, steps, strict=False)
    ]
    top = limit_of(own[-1].digit, axes)
    assert top is not None
    whole: Expr = own[-1].digit
    limit = top
    if minor:
        whole = MixedRadix((Coordinate(whole, top, declared=True), *reversed(minor)))
        limit = simplify(product((top, *steps)))
    rest = value
    for each in own:
        rest = Sub(rest, product((each.weight, each.digit, Constant(each.sign))))
    return Shift(whole, limit, simplify(rest), own[0].weight, own[0].sign)


def _below(digit: Expr, step: Expr, axes: dict[str, Expr]) -> Expr:
    """A digit that says itself what it stays below, where it has more room than it needs."""
    limit, found = limit_of(digit, axes), read(digit)
    open_ = found is not None and found.radix is None
    return Mod(digit, limit) if open_ and limit is not None and not same(limit, step) else digit


def _aligned(value: Expr) -> Expr:
    """The sum with digits of one axis cut where others of it are cut."""
    places: dict[Expr, set[int]] = {}
    summands = _summands(value) or []
    for each in summands:
        match read(each.digit):
            case Digit(Index() as whole, Constant(divisor), Constant(radix)):
                places.setdefault(whole, set()).update((divisor, divisor * radix))
            case Digit(Index() as whole, Constant(divisor), None):
                places.setdefault(whole, set()).add(divisor)
    rest: Expr = value
    for each in summands:
        cut = _cut(each.digit, places)
        weight = Mul(each.weight, Constant(each.sign))
        rest = Add(Sub(rest, Mul(each.digit, weight)), Mul(cut, weight))
    return simplify(rest)


def _cut(digit: Expr, places: dict[Expr, set[int]]) -> Expr:
    found = read(digit)
    assert found is not None
    if not isinstance(found.divisor, Constant) or isinstance(found.whole, MixedRadix):
        return digit
    low = found.divisor.value
    high = low * found.radix.value if isinstance(found.radix, Constant) else None
    if high is None and found.radix is not None:
        return digit
    inner = sorted(
        each for each in places[found.whole] if low < each and (high is None or each < high)
    )
    ends = [low, *inner, *([] if high is None else [high])]
    if any(end % start for start, end in pairwise(ends)) or not inner:
        return digit
    total: Expr = ZERO
    for start, end in zip(ends, [*ends[1:], None], strict=True):
        if start == high:
            break
        radix = None if end is None else Constant(end // start)
        piece = Digit(found.whole, Constant(start), radix)
        total = Add(total, Mul(piece.value, Constant(start // low)))
    return total


def spread(expr: Expr) -> Expr:
    """Return an expression with masks written as digits, and disjoint bits joined by sums."""
    match expr:
        case FloorDiv(BitAnd(left, Constant(mask)), Constant(divisor)) if _is_power(divisor):
            return spread(BitAnd(FloorDiv(left, Constant(divisor)), Constant(mask // divisor)))
        case BitAnd(left, Constant(mask)) if mask >= 0:
            return _digits_of(left, mask)
        case BitXor():
            sides = [spread(each) for each in operands(expr)]
            return _disjoint(sides) or expr
        case BitOr(left, right):
            return _disjoint([spread(left), spread(right)]) or expr
        case Add(left, right) | Sub(left, right) | Mul(left, right):
            return type(expr)(spread(left), spread(right))
    return expr


def _digits_of(value: Expr, mask: int) -> Expr:
    total: Expr = ZERO
    place = 0
    while mask >> place:
        if not mask >> place & 1:
            place += 1
            continue
        end = place
        while mask >> end & 1:
            end += 1
        digit = Mod(FloorDiv(value, Constant(1 << place)), Constant(1 << (end - place)))
        total = Add(total, Mul(digit if place else Mod(value, digit.right), Constant(1 << place)))
        place = end
    return simplify(total)


def _disjoint(sides: list[Expr]) -> Expr | None:
    """The sum of numbers that have no bit in common, which is their or, exclusive or not."""
    total: Expr = ZERO
    taken = 0
    for side in sides:
        summands = _summands(side)
        if summands is None or len(summands) != len(polynomial(side)):
            return None
        for each in summands:
            digit = read(each.digit)
            match digit and digit.radix, each.weight, each.sign:
                case Constant(radix), Constant(weight), 1 if _is_power(radix) and _is_power(weight):
                    bits = (radix - 1) * weight
                case _:
                    return None
            if taken & bits:
                return None
            taken |= bits
        total = Add(total, side)
    return simplify(total)


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
