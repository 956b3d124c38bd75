"""What the digits of a kernel say: where it reads and where it writes an element.

All that a kernel knows of two layouts is the digits and strides of `chains`. Here they are said as
formulas over the indices of the tensor, so that somebody can hold them against the layouts.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.bounds import ZERO, simplify
from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.program import sides
from layoutdsl.codegen.native.sides import Apart
from layoutdsl.expr import Add, Constant, Coordinate, Expr, FloorDiv, Index, Mod, Mul
from layoutdsl.formula import horner_expr
from layoutdsl.model import Axis, Layout

Said = tuple[tuple[Layout, Expr], ...]
"""Layouts, each with the formula that has to be its offset."""


def said_of(layout: Layout) -> Said | Apart:
    """Return what kernels that pack and unpack a layout say of it, and of the plain tensor."""
    both = sides(layout)
    if isinstance(both, Apart):
        return both
    packing, unpacking = both
    plain = row_major(layout)
    return (*said_by(packing, plain, layout), *said_by(unpacking, layout, plain))


def said_by(chains: Chains, source: Layout, target: Layout) -> Said:
    """Return what a kernel says of the layout that it reads, and of the one that it writes.

    Args:
        chains: what the kernel is made from.
        source: over the same axes as the target.
        target: as it is in memory.
    """
    read, written = read_offset(chains, source.axes), written_offset(chains, target.axes)
    return (source, read), (target, written)


def row_major(layout: Layout) -> Layout:
    """Return the layout of the tensor itself: its axes in their order, without gaps."""
    coordinates = tuple(Coordinate(Index(axis.name), axis.extent) for axis in layout.axes)
    name = f"{layout.name}_tensor"
    return replace(layout, name=name, coordinates=coordinates, start=ZERO, chunk_rank=None)


def read_offset(chains: Chains, axes: tuple[Axis, ...]) -> Expr:
    """Return where a kernel finds an element, in elements from the start of what it reads.

    Args:
        chains: what the kernel is made from.
        axes: of the tensor.
    """
    total = chains.source.first
    for axis in chains.axes:
        for digit in axis.digits:
            total = Add(total, Mul(_value(axis, digit, axes), digit.source))
    return simplify(total)


def written_offset(chains: Chains, axes: tuple[Axis, ...]) -> Expr:
    """Return where a kernel puts an element, in elements from the start of what it writes."""
    total = chains.target.first
    for axis in chains.axes:
        for digit in axis.digits:
            total = Add(total, Mul(_value(axis, digit, axes), digit.target))
    return simplify(total)


def _value(axis: ChainAxis, digit: Digit, axes: tuple[Axis, ...]) -> Expr:
    """A digit of the index along an axis, or along several that are read as one."""
    read = [axes[number] for number in axis.axes]
    value = horner_expr(tuple(Coordinate(Index(each.name), each.extent) for each in read))
    if digit.divisor != 1:
        value = FloorDiv(value, Constant(digit.divisor))
    return value if digit.radix is None else Mod(value, Constant(digit.radix))
