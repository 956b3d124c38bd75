"""Views of numpy: a place to begin, and so many elements, each so far from the next. Trusted.

Offsets and strides are in elements of a C-contiguous buffer. A view of an array that is not
contiguous has the same elements in the same order, which is all that is asked of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import ONE, ZERO, product
from layoutdsl.language.integers.expr import Add, Expr, Mul, Sub

Equal = Callable[[Expr, Expr], bool]
"""Whether two numbers are shown to be equal."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """So many elements, of which each lies so far from the one before."""

    count: Expr
    stride: Expr


@dataclass(frozen=True, slots=True)
class View:
    """Elements of a buffer, in row-major order of the dimensions."""

    buffer: str
    offset: Expr
    dimensions: tuple[Dimension, ...]

    def at(self, position: int, first: Expr, count: Expr | None) -> View:
        """Return the view of some positions of a dimension.

        Args:
            position: of the dimension.
            first: where they begin.
            count: so many; `None` for the one position, without the dimension.
        """
        own = self.dimensions[position]
        kept = () if count is None else (Dimension(count, own.stride),)
        dimensions = (*self.dimensions[:position], *kept, *self.dimensions[position + 1 :])
        return View(self.buffer, Add(self.offset, Mul(first, own.stride)), dimensions)

    def turned(self, position: int) -> View:
        """Return the view with a dimension in the other direction."""
        own = self.dimensions[position]
        last = Add(self.offset, Mul(Sub(own.count, ONE), own.stride))
        turned = Dimension(own.count, Sub(ZERO, own.stride))
        dimensions = (*self.dimensions[:position], turned, *self.dimensions[position + 1 :])
        return View(self.buffer, last, dimensions)

    def transposed(self, order: Sequence[int]) -> View:
        """Return the view with its dimensions in another order."""
        return replace(self, dimensions=tuple(self.dimensions[k] for k in order))

    def reshaped(self, sizes: Sequence[Expr], equal: Equal, same: Equal) -> View:
        """Return the view with other dimensions: each becomes several, or several become one.

        Args:
            sizes: of the new dimensions.
            equal: shows that two counts are equal, and notes what that needs.
            same: whether two numbers are equal as polynomials.

        Raises:
            Meaningless: the sizes are not found to be those, or dimensions do not lie together.
        """
        dimensions, wanted, left = list[Dimension](), list(sizes), list(self.dimensions)
        while wanted or left:
            if wanted and wanted[0] == ONE:
                dimensions.append(Dimension(wanted.pop(0), ZERO))
            elif left and left[0].count == ONE:
                left.pop(0)
            elif wanted and left:
                dimensions += _next(wanted, left, equal, same)
            else:
                raise Meaningless("a reshape has another size")
        return replace(self, dimensions=tuple(dimensions))


def whole(buffer: str, extents: Sequence[Expr]) -> View:
    """Return the view of a whole buffer as a box."""
    found = (Dimension(e, product(tuple(extents[k + 1 :]))) for k, e in enumerate(extents))
    return View(buffer, ZERO, tuple(found))


def _next(wanted: list[Expr], left: list[Dimension], equal: Equal, same: Equal) -> list[Dimension]:
    """Take the fewest sizes and dimensions that have as many elements, and split or join them."""
    own, many = left.pop(0), [wanted.pop(0)]
    while not equal(product(tuple(many)), own.count):
        if wanted and not _begins(many, own, left, same):
            many.append(wanted.pop(0))
        elif left and same(own.stride, Mul(left[0].count, left[0].stride)):
            minor = left.pop(0)
            own = Dimension(Mul(own.count, minor.count), minor.stride)
        elif wanted:
            many.append(wanted.pop(0))
        else:
            raise Meaningless("a reshape has another size")
    inner = (product(tuple(many[k + 1 :])) for k in range(len(many)))
    return [Dimension(c, Mul(i, own.stride)) for c, i in zip(many, inner, strict=True)]


def _begins(many: Sequence[Expr], own: Dimension, left: Sequence[Dimension], same: Equal) -> bool:
    """Whether the dimensions that follow make up what is asked for."""
    total = own.count
    for each in left:
        total = Mul(total, each.count)
        if same(total, product(tuple(many))):
            return True
    return False
