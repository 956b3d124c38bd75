"""What stands before a layout of CuTe: functions of its offset, in integers and as expressions.

Source: CUTLASS, `crd2idx` of `cute/stride.hpp`, `ComposedLayout`, `cute/swizzle.hpp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Add, BitAnd, BitXor, Constant, Expr, FloorDiv, Mod, Mul


@dataclass(frozen=True, slots=True)
class Plus:
    """A number is added."""

    number: int

    def of(self, offset: int) -> int:
        """Return what becomes of an offset."""
        return offset + self.number

    def written(self, offset: Expr) -> Expr:
        """Return what becomes of an offset, as an expression."""
        return Add(offset, Constant(self.number)) if self.number else offset


@dataclass(frozen=True, slots=True)
class Swizzled:
    """``bits``, 1 or more, from ``base`` on are exclusive-ored with those ``shift`` above them."""

    bits: int
    base: int
    shift: int

    def of(self, offset: int) -> int:
        """Return what becomes of an offset."""
        low = ((1 << self.bits) - 1) << self.base
        moved = offset >> self.shift & low if self.shift >= 0 else (offset & low) << -self.shift
        return offset ^ moved

    def written(self, offset: Expr) -> Expr:
        """Return what becomes of an offset, as an expression."""
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

    def of(self, offset: int) -> int:
        """Return what becomes of an offset."""
        found = 0
        for extent, stride in self.leaves[:-1]:
            offset, digit = divmod(offset, extent)
            found += digit * stride
        return found + sum(offset * stride for _, stride in self.leaves[-1:])

    def written(self, offset: Expr) -> Expr:
        """Return what becomes of an offset, as an expression."""
        parts: list[Expr] = []
        below = 1
        for number, (extent, stride) in enumerate(self.leaves):
            part = FloorDiv(offset, Constant(below)) if below > 1 else offset
            if number < len(self.leaves) - 1:
                part = Mod(part, Constant(extent))
            parts.append(part if stride == 1 else Mul(part, Constant(stride)))
            below *= extent
        return reduce(Add, parts) if parts else ZERO


Function: TypeAlias = Plus | Swizzled | Through
