"""Two layouts that have to be one, as claims of ways to run nodes are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from layoutdsl.language.integers.expr import Add, Constant, Expr, FloorDiv, MixedRadix, Mod, Mul
from layoutdsl.language.meaning.model import Layout

ONE = Constant(1)
Values: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two layouts over the same axes that have to be one.

    Attributes:
        lies: where the tensor lies.
        read: what is read of it.
        values: extents, and whatever else is a name, as the node has them.
    """

    lies: Layout
    read: Layout
    values: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    @property
    def summed(self) -> Pair:
        """The same with sums for what is put together of several indices, for other proofs."""
        return replace(self, lies=_summed(self.lies), read=_summed(self.read))

    @property
    def is_reflexive(self) -> bool:
        """Whether both say the same in the same words."""
        return self.lies.coordinates == self.read.coordinates


def _summed(layout: Layout) -> Layout:
    coordinates = (replace(each, value=_as_sum(each.value)) for each in layout.coordinates)
    return replace(layout, coordinates=tuple(coordinates))


def _as_sum(expr: Expr) -> Expr:
    match expr:
        case MixedRadix(parts):
            total = parts[0].value
            for each in parts[1:]:
                total = Add(Mul(total, each.extent), each.value)
            return total
        case FloorDiv(left, right):
            return FloorDiv(_as_sum(left), right)
        case Mod(left, right):
            return Mod(_as_sum(left), right)
        case _:
            return expr


def multiplied(extents: Sequence[Expr]) -> Expr:
    """Return the product of extents, of which there is one at least."""
    first, *rest = extents
    for each in rest:
        first = Mul(first, each)
    return first
