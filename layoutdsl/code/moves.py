"""What a plan consists of: splits of the buffer, and how each axis of the tensor is cut.

Axes are independent of each other, so the regions that are moved are the products of the parts of
each axis. Extents are expressions; nothing here knows any target language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.digit import Digit, same
from layoutdsl.language.integers.expr import Add, Constant, Expr
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Split:
    """One dimension of the buffer becomes several, or a part of it stands for it, or it is turned.

    Attributes:
        dimension: counted after the splits before this one.
        extent: of the dimension.
        first: the slots before those that are split, which are padding.
        kept: the slots that are split; what lies beyond is padding.
        parts: the extents of the new dimensions, most major first; their product is ``kept``.
        turned: the dimension is counted from its end; so are the slots before and beyond.
    """

    dimension: int
    extent: Expr
    first: int
    kept: Expr
    parts: tuple[Expr, ...]
    turned: bool = False

    @property
    def past(self) -> Expr:
        """Where the slots end that are split."""
        return self.kept if self.first == 0 else simplify(Add(Constant(self.first), self.kept))

    @property
    def leaves_padding(self) -> bool:
        """Slots lie before or beyond those that are split."""
        return not same(self.extent, self.kept)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of the split buffer; ``constant`` where only that one position is used."""

    extent: Expr
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class DigitMove(Digit):
    """A digit of an axis that is the position along one dimension of the split buffer.

    Attributes:
        radix: the digit stays below it, the most major one too.
        dimension: of the split buffer.
        extent: of the dimension; where it is larger than the radix, the rest is padding.
    """

    radix: Expr
    dimension: int
    extent: Expr

    @property
    def leaves_padding(self) -> bool:
        """Positions lie beyond those that the digit reaches."""
        return not same(self.radix, self.extent)


@dataclass(frozen=True, slots=True)
class AxisMove:
    """How one axis of the tensor, or several read as one, is cut into digits.

    Attributes:
        axes: positions of the axes in the tensor, most major first; several where a tuple of them
            is cut.
        name: of the axes.
        extent: elements along the axis.
        digits: most major first; none for an axis of one element.
        exact: the most major digit needs no more positions than there are.
    """

    axes: tuple[int, ...]
    name: str
    extent: Expr
    digits: tuple[DigitMove, ...]
    exact: bool

    @property
    def whole(self) -> bool:
        """The axis is one dimension of the buffer, without padding."""
        return (
            self.exact and len(self.digits) < 2 and not any(d.leaves_padding for d in self.digits)
        )


@dataclass(frozen=True, slots=True)
class Limit:
    """``least <= most`` holds for every shape that the layout can take; ``words`` say it fails."""

    least: Expr
    most: Expr
    words: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Split the buffer, cut the axes, and move each region.

    Attributes:
        splits: in the order in which they are made, from the box of coordinates.
        dimensions: of the split buffer.
        moves: one for each axis of the tensor, or tuple of axes read as one, in axis order.
        limits: what a shape must satisfy to stay in the buffer.
    """

    layout: Layout
    splits: tuple[Split, ...]
    dimensions: tuple[Dimension, ...]
    moves: tuple[AxisMove, ...]
    limits: tuple[Limit, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """For each dimension with a digit, in order: which digit of the cut tensor it is."""
        digits = [digit.dimension for move in self.moves for digit in move.digits]
        return tuple(sorted(range(len(digits)), key=digits.__getitem__))

    @property
    def splits_buffer(self) -> bool:
        """The dimensions of the buffer are not those that regions are made of."""
        return bool(self.splits) or self.layout.start != ZERO

    @property
    def turns(self) -> bool:
        """The buffer is the tensor with its axes in some order, and without padding."""
        whole = all(len(m.axes) == len(m.digits) == 1 and m.whole for m in self.moves)
        return whole and len(self.dimensions) == len(self.moves) and not self.splits_buffer


@dataclass(frozen=True, slots=True)
class Rows:
    """The runs that a layout without a plan is moved in.

    Attributes:
        axis: along which they lie, by its number.
        run: elements of each, from any multiple of that on; ``None`` for what is held of the axis.
        low: the first index of a row that has a slot, where the layout has a domain.
        high: the first behind it that has none.
    """

    axis: int
    run: int | None
    low: Expr = ZERO
    high: Expr = ZERO

    @property
    def across(self) -> int:
        """An axis that cuts no run, or cuts between runs only: pieces are cut along it."""
        return 1 if self.axis == 0 and self.run is None else 0


@dataclass(frozen=True, slots=True)
class Fallback:
    """Why a layout has no plan, in a few words, and the runs that it is moved in all the same."""

    reason: str
    rows: Rows | None = None


Planned: TypeAlias = Plan | Fallback
