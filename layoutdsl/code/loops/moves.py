"""What is moved: the elements of a tensor, into a buffer, out of one, or from one to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import size_expr

Side: TypeAlias = Layout | None
"""A layout's buffer, or the tensor itself."""


@dataclass(frozen=True, slots=True)
class Move:
    """What is moved, between two sides that are not both the tensor; without open parameters.

    A buffer that is read has no copies: the first ones are read, as a layout of their own.
    """

    source: Side
    target: Side

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts of both sides, the tensor apart."""
        return tuple(each for each in (self.source, self.target) if each is not None)

    @property
    def verb(self) -> str:
        """``pack``, ``unpack`` or ``convert``."""
        if self.source is None:
            return "pack"
        return "unpack" if self.target is None else "convert"

    @property
    def sizes(self) -> tuple[Expr, Expr]:
        """Elements of the source and of the target."""
        return self._size(self.source), self._size(self.target)

    def _size(self, side: Side) -> Expr:
        if side is not None:
            return size_expr(side)
        return simplify(product(tuple(axis.extent for axis in self.layouts[0].element_axes)))


def move_of(layout: Layout, verb: str) -> Move:
    """Return the move that packs a layout, or the one that unpacks it."""
    return Move(None, layout) if verb == "pack" else Move(layout.first_copy, None)


@dataclass(frozen=True, slots=True)
class NoCode:
    """Why there is no C for a move, in a few words: it was not shown to be right, say."""

    reason: str
