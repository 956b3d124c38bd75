"""Offset and size of a layout as expressions: what `Layout.offset` and `Layout.size` work out."""

from __future__ import annotations

from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Add, Expr, Mul
from layoutdsl.language.integers.written_out import horner_expr
from layoutdsl.language.meaning.model import Layout


def offset_expr(layout: Layout) -> Expr:
    """Return the offset, in elements, over indices and extents."""
    value = horner_expr(layout.coordinates)
    return value if layout.start == ZERO else Add(layout.start, value)


def size_expr(layout: Layout) -> Expr:
    """Return the elements of the buffer as a product, after those before the first slot."""
    total, *rest = (each.extent for each in layout.coordinates)
    for extent in rest:
        total = Mul(total, extent)
    return Add(layout.start, total) if layout.is_flat else total


def physical_exprs(layout: Layout) -> tuple[Expr, ...]:
    """Return the extents of the packed array: what `Layout.physical_shape` works out."""
    if layout.is_flat:
        return (size_expr(layout),)
    return tuple(each.extent for each in layout.coordinates)
