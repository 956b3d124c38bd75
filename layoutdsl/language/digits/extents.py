"""One spelling for extents: ceilings, pitches, and quotients of extents that a number divides.

``(C + 15)/16``, ``(C - 1)/16 + 1`` and ``ceil(C/16)`` are one number, and ``W + (8 - W%8)%8`` is
``ceil(W/8)*8``. Digits are found by comparing weights with extents, so each of these has to be
written one way. Nothing here is trusted: what is read is proved.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, lcm

from layoutdsl.language.integers.bounds import (
    ONE,
    Polynomial,
    at_least,
    from_polynomial,
    polynomial,
    simplify,
)
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.digit import exact_quotient
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    CeilDiv,
    Constant,
    Coordinate,
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
    extents,
    indices,
    substitute,
    text,
)

Room = tuple[Expr, Expr]
"""A product of extents, and what the range says that it is at most."""


class Extents:
    """How extents are spelled in a range of shapes.

    An extent that the range says is a multiple of a block is spelled as that block times a
    quotient, which is a name of its own here: ``C`` is ``16*q`` where ``C % 16 == 0``, and
    ``4*q - 1`` where ``C % 4 == 3``.
    """

    def __init__(self, where: Iterable[Condition]) -> None:
        blocks: dict[str, Expr] = {}
        rests: dict[str, tuple[int, int]] = {}
        self._where = tuple(where)
        for each in self._where:
            match each.left, each.operator, each.right:
                case Mod(Extent(name), block), "==", Constant(0) if name not in extents(block):
                    blocks[name] = _common(blocks.get(name, ONE), block)
                case Mod(Extent(name), Constant(block)), "==", Constant(rest) if 0 < rest < block:
                    rests[name] = block, rest
        self._quotients: dict[str, Expr] = {}
        self._wholes: dict[str, Expr] = {}
        for name, block in blocks.items():
            if not extents(block) & blocks.keys():
                quotient = Extent(f"{name}/{text(block)}")
                self._quotients[name] = Mul(quotient, block)
                self._wholes[quotient.name] = FloorDiv(Extent(name), block)
        for name in rests.keys() - blocks.keys():
            number, rest = rests[name]
            quotient = Extent(f"ceil({name}/{number})")
            self._quotients[name] = Sub(Mul(quotient, Constant(number)), Constant(number - rest))
            self._wholes[quotient.name] = CeilDiv(Extent(name), Constant(number))

    def written(self, expr: Expr) -> Expr:
        """Return an expression as the layout may write it: without names of quotients."""
        return substitute(expr, self._wholes)

    def spelled(self, expr: Expr) -> Expr:
        """Return an expression with all extents in it in their one spelling."""
        return self._spelled(substitute(expr, self._quotients))

    def rooms(self) -> tuple[Room, ...]:
        """Return which products the range bounds, and by what: ``H*W`` and ``25``."""
        found: list[Room] = []
        for each in self._where:
            if each.operator not in ("<=", "<") or indices(each.left) | indices(each.right):
                continue
            less, more = self.spelled(each.left), self.spelled(each.right)
            less = less if each.operator == "<=" else simplify(Add(less, ONE))
            terms = polynomial(less)
            factors = next(iter(terms)) if len(terms) == 1 else ()
            # The largest value of a single extent is known already, see `ceilings`.
            if len(factors) > 1 or (factors and not isinstance(more, Constant)):
                found.append(_reduced(less, more))
        return tuple(found)

    def _spelled(self, expr: Expr) -> Expr:
        match expr:
            case Index() | Extent() | Constant():
                return expr
            case MixedRadix(parts):
                return MixedRadix(
                    tuple(
                        Coordinate(self._spelled(p.value), self._spelled(p.extent), declared=True)
                        for p in parts
                    )
                )
        left, right = self._spelled(expr.left), self._spelled(expr.right)
        plain = type(expr)(left, right)
        return plain if indices(plain) else _one_spelling(plain)


def _reduced(less: Expr, more: Expr) -> Room:
    """The same bound of a product without its number: ``8*H*q <= 100`` is ``H*q <= 12``."""
    ((factors, number),) = polynomial(less).items()
    return from_polynomial({factors: 1}), floor(more, Constant(number))


def _common(one: Expr, other: Expr) -> Expr:
    """A block that both divide; the second alone where that is not known."""
    match one, other:
        case Constant(first), Constant(second):
            return Constant(lcm(first, second))
    return one if exact_quotient(one, other) is not None else other


def in_one_spelling(expr: Expr) -> Expr:
    """Return an expression over extents in its one spelling, whatever the range is."""
    return Extents(()).spelled(expr)


def _one_spelling(expr: Expr) -> Expr:
    """Return an operation on extents, its sides being in their one spelling."""
    match expr:
        case Add() | Sub() | Mul():
            return simplify(expr)
        case FloorDiv(left, right):
            return floor(left, right)
        case CeilDiv(left, right):
            return floor(simplify(Sub(Add(left, right), ONE)), right)
        case Mod(left, right):
            return simplify(Sub(left, Mul(floor(left, right), right)))
        case BitAnd(left, Constant(mask)) if mask >= 0 and mask & (mask + 1) == 0:
            return _one_spelling(Mod(left, Constant(mask + 1)))
        case Max(left, right) | Min(left, right):
            for one, other in ((left, right), (right, left)):
                if at_least(simplify(Sub(one, other)), 0):
                    return one if isinstance(expr, Max) else other
    return expr


def floor(left: Expr, right: Expr) -> Expr:
    """Return ``left / right`` rounded down, both over extents."""
    if isinstance(right, Constant):
        return _floor(polynomial(left), right.value) if right.value > 0 else FloorDiv(left, right)
    exact = exact_quotient(left, right)
    if exact is not None:
        return exact
    above = simplify(Add(Sub(left, right), ONE))
    exact = exact_quotient(above, right)
    if exact is not None:
        return exact  # ceil(A*B / B)
    less = at_least(above, 1) or not at_least(simplify(left), 1)
    return CeilDiv(above, right) if less else FloorDiv(left, right)


def _floor(terms: Polynomial, number: int) -> Expr:
    whole: Polynomial = {}
    rest: Polynomial = {}
    for factors, coefficient in terms.items():
        # Towards 0, so that `(15 - C)/16` keeps `-C` and does not become `-C + 15*C/16`.
        towards_zero = abs(coefficient) // number * (1 if coefficient > 0 else -1)
        count = towards_zero if factors else coefficient // number
        whole[factors] = count
        rest[factors] = coefficient - count * number
    whole = {factors: count for factors, count in whole.items() if count}
    constant = rest.pop((), 0)
    rest = {factors: count for factors, count in rest.items() if count}
    return simplify(Add(from_polynomial(whole), _quotient(rest, constant, number)))


def _quotient(terms: Polynomial, constant: int, number: int) -> Expr:
    """Return ``(terms + constant) / number``, where the constant is below the number."""
    if not terms:
        return Constant(constant // number)
    if all(count < 0 for count in terms.values()):
        turned = {factors: -count for factors, count in terms.items()}
        return simplify(Sub(Constant(0), _floor(_with(turned, number - 1 - constant), number)))
    common = gcd(number, *terms.values())
    if common > 1:
        terms = {factors: count // common for factors, count in terms.items()}
        return _floor(_with(terms, constant // common), number // common)
    value = from_polynomial(terms)
    match value:
        case FloorDiv(inner, Constant(block)) if constant == 0:
            return FloorDiv(inner, Constant(block * number))
        case CeilDiv(inner, Constant(block)) if constant == number - 1:
            return CeilDiv(inner, Constant(block * number))
    if constant == number - 1:
        return CeilDiv(value, Constant(number))
    return FloorDiv(from_polynomial(_with(terms, constant)), Constant(number))


def _with(terms: Polynomial, constant: int) -> Polynomial:
    return {**terms, (): constant} if constant else dict(terms)


def no_less(room: Expr, limit: Expr, rooms: Iterable[Room] = ()) -> bool:
    """Return whether ``room >= limit`` is plain, where quotients are rounded.

    Args:
        room: over extents.
        limit: over extents.
        rooms: what the range says of products.
    """
    if _not_negative(simplify(Sub(room, limit))):
        return True
    match limit:
        case CeilDiv(inner, number):  # the room is a whole number too
            return no_less(simplify(Mul(room, number)), inner, rooms)
    raised = (_raised(limit, each) for each in rooms)
    return any(each is not None and no_less(room, each) for each in raised)


def _raised(limit: Expr, room: Room) -> Expr | None:
    """The limit with a product in it at the most that the range lets it be."""
    less, more = room
    ((factors, coefficient),) = polynomial(less).items()
    found = polynomial(limit).get(factors, 0)
    count = found // coefficient
    if count < 1 or count * coefficient != found:
        return None
    return simplify(Add(limit, Mul(Constant(count), Sub(more, less))))


def _not_negative(value: Expr) -> bool:
    """Whether a sum over extents is at least 0, with quotients at the least that they can be."""
    while not at_least(value, 0):
        lowest: Expr = Constant(0)
        for factors, count in polynomial(value).items():
            product: Expr = Constant(count)
            for factor in factors:
                product = _times_lowest(product, factor)
            lowest = Add(lowest, product)
        lowest = simplify(lowest)
        if lowest == value:
            return False
        value = lowest
    return True


def _times_lowest(product: Expr, factor: Expr) -> Expr:
    """A product with a quotient, at the least that it can be: ``8*ceil(W/8)`` is at least ``W``."""
    match product, factor:
        case Constant(count), CeilDiv(inner, Constant(number)) if _takes(count, number):
            return Mul(Constant(count // number), inner)
        case Constant(count), FloorDiv(inner, Constant(number)) if _takes(count, number):
            return Mul(Constant(count // number), Sub(inner, Constant(number - 1)))
    return Mul(product, factor)


def _takes(count: int, number: int) -> bool:
    return count > 0 and count % number == 0
