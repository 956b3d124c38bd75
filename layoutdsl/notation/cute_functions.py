"""The functions of an offset that CuTe writes before a layout.

Source: CUTLASS, `crd2idx` of `cute/stride.hpp`, `ComposedLayout`, `cute/swizzle.hpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Add, BitAnd, BitXor, Constant, Expr, FloorDiv, Mul
from layoutdsl.language.meaning.application import digits_of


@dataclass(frozen=True, slots=True)
class Plus:
    """A number is added."""

    number: int

    def of(self, offset: Expr) -> Expr:
        """Return what becomes of an offset."""
        return Add(offset, Constant(self.number)) if self.number else offset


@dataclass(frozen=True, slots=True)
class Swizzled:
    """``bits``, 1 or more, from ``base`` on are exclusive-ored with those ``shift`` above them."""

    bits: int
    base: int
    shift: int

    def of(self, offset: Expr) -> Expr:
        """Return what becomes of an offset."""
        low = Constant(((1 << self.bits) - 1) << self.base)
        if self.shift >= 0:
            return BitXor(offset, BitAnd(FloorDiv(offset, Constant(1 << self.shift)), low))
        return BitXor(offset, Mul(BitAnd(offset, low), Constant(1 << -self.shift)))


@dataclass(frozen=True, slots=True)
class Through:
    """A layout takes the offset apart: extents with their strides, the fastest first.

    The last extent is no bound.
    """

    leaves: tuple[tuple[int, int], ...]

    def of(self, offset: Expr) -> Expr:
        """Return what becomes of an offset."""
        digits = digits_of(offset, [Constant(extent) for extent, _ in reversed(self.leaves)])
        parts = [
            each.value if stride == 1 else Mul(each.value, Constant(stride))
            for each, (_, stride) in zip(reversed(digits), self.leaves, strict=True)
        ]
        return reduce(Add, parts) if parts else ZERO


Function: TypeAlias = Plus | Swizzled | Through


def through(offset: Expr, functions: Sequence[Function]) -> Expr:
    """Return what becomes of an offset after all functions, the first one first."""
    return reduce(lambda value, function: function.of(value), functions, offset)
