"""What the bits of a number are: which bits of which bytes of memory, each named by its address.

A bit is a set of such, those that are or-ed into it; the empty set is 0. An address is a polynomial
over extents and loops, so that what is found of one turn of a loop is found of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import from_polynomial, polynomial
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Expr,
    Extent,
    Index,
    MixedRadix,
    Mul,
    text,
)

Address: TypeAlias = tuple[str, int]
"""A polynomial in one normal form, as text, and the number that is added to it."""


@dataclass(frozen=True, slots=True)
class Bit:
    """A bit of memory: of which array, of which of its bytes, and which one of these."""

    array: str
    address: Address
    number: int


Held: TypeAlias = frozenset[Bit]
NONE: Held = frozenset()


@dataclass(frozen=True, slots=True)
class Number:
    """A number by its bits, the lowest first.

    Attributes:
        bits: those that may be set.
        most: how many its type has: 31 of an `int` that is not negative, or 64.
    """

    bits: tuple[Held, ...]
    most: int

    def __post_init__(self) -> None:
        if len(self.bits) > self.most:
            raise Meaningless("bits leave the type of a number")

    def cut(self, count: int) -> tuple[Held, ...]:
        """Return so many bits, the lowest first."""
        return (*self.bits, *([NONE] * count))[:count]


WIDE = 64
NARROW = 31


def address(expr: Expr) -> Address:
    """Return an expression in one normal form: equal addresses are equal values."""
    terms = dict(polynomial(expanded(expr)))
    number = terms.pop((), 0)
    return text(from_polynomial(terms)), number


def behind(at: Address, count: int) -> Address:
    """Return what lies so many bytes behind an address."""
    return at[0], at[1] + count


def expanded(expr: Expr) -> Expr:
    """Return an expression whose tuples are written out."""
    match expr:
        case MixedRadix(parts):
            found: Expr = Constant(0)
            for part in parts:
                found = Add(Mul(found, expanded(part.extent)), expanded(part.value))
            return found
        case Index() | Extent() | Constant():
            return expr
    return type(expr)(expanded(expr.left), expanded(expr.right))


def equal(one: Expr, other: Expr) -> bool:
    """Whether two expressions have the same normal form."""
    return address(one) == address(other)


def byte(array: str, at: Address) -> tuple[Held, ...]:
    """Return the bits of a byte of memory."""
    return tuple(frozenset({Bit(array, at, number)}) for number in range(8))


def places(at: Address, width: int, little: bool) -> list[Address]:
    """Return where the bytes of a number lie in memory, the lowest first."""
    found = [behind(at, number) for number in range(width)]
    return found if little else found[::-1]


def either(one: Number, other: Number) -> Number:
    """Return a number with the bits of both."""
    count = max(len(one.bits), len(other.bits))
    pairs = zip(one.cut(count), other.cut(count), strict=True)
    return Number(tuple(left | right for left, right in pairs), max(one.most, other.most))


def masked(number: Number, mask: int) -> Number:
    """Return the bits of a number that a mask has."""
    if mask < 0 or mask >= 1 << 63:
        raise Meaningless("a mask of another form")
    bits = (held if mask >> k & 1 else NONE for k, held in enumerate(number.bits))
    return trimmed(tuple(bits), number.most)


def raised(number: Number, count: int) -> Number:
    """Return a number times a power of two; what leaves 64 bits is gone."""
    _expect_shift(number, count)
    bits = (NONE,) * count + number.bits
    return trimmed(bits[: number.most] if number.most == WIDE else bits, number.most)


def lowered(number: Number, count: int) -> Number:
    """Return a number over a power of two."""
    _expect_shift(number, count)
    return Number(number.bits[count:], number.most)


def signed(number: Number, count: int) -> Number:
    """Return the lowest bits of a number, the last of them in all places above."""
    if not 1 <= count < WIDE:
        raise Meaningless("a sign of another form")
    low = number.cut(count)
    return Number(low + (low[-1],) * (WIDE - count), WIDE)


def trimmed(bits: tuple[Held, ...], most: int) -> Number:
    """Return a number without zeros in front."""
    count = len(bits)
    while count and not bits[count - 1]:
        count -= 1
    return Number(bits[:count], most)


def _expect_shift(number: Number, count: int) -> None:
    if not 0 <= count < (WIDE if number.most == WIDE else NARROW + 1):
        raise Meaningless("a shift of another form")
