"""Sums and products of terms, and the exception of texts that are not validated. Trusted."""

from __future__ import annotations

from layoutdsl.proof.kernel.checker import Term


class Meaningless(Exception):  # noqa: N818  a reason for "not validated"
    """The text says something that has no meaning here; the message says what."""


def added(left: Term, right: Term) -> Term:
    """Return the sum."""
    if left == 0:
        return right
    if right == 0:
        return left
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    return ("+", left, right)


def times(left: Term, right: Term) -> Term:
    """Return the product."""
    if left == 1:
        return right
    if right == 1:
        return left
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    return 0 if 0 in (left, right) else ("*", left, right)


def horner(digits: tuple[Term, ...], extents: tuple[Term, ...]) -> Term:
    """Return the mixed-radix value of the digits, most major first."""
    value: Term = 0
    for digit, extent in zip(digits, extents, strict=True):
        value = added(times(value, extent), digit)
    return value


def size(extents: tuple[Term, ...]) -> Term:
    """Return the product of the extents."""
    value: Term = 1
    for extent in extents:
        value = times(value, extent)
    return value
