"""What the digits of a kernel say: where it reads and where it writes an element.

All that a kernel knows of two layouts is the digits and strides of `chains`. Here they are said as
formulas over the indices of the tensor, so that somebody can hold them against the layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.program import sides
from layoutdsl.codegen.native.sides import Apart
from layoutdsl.integers.bounds import ZERO, simplify
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Add, Constant, Coordinate, Expr, FloorDiv, Index, Mod, Mul
from layoutdsl.integers.written_out import horner_expr
from layoutdsl.meaning.model import Axis, Layout

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
    return _offset(chains, axes, chains.source.first, lambda digit: digit.source)


def written_offset(chains: Chains, axes: tuple[Axis, ...]) -> Expr:
    """Return where a kernel puts an element, in elements from the start of what it writes."""
    return _offset(chains, axes, chains.target.first, lambda digit: digit.target)


def _offset(
    chains: Chains, axes: tuple[Axis, ...], first: Expr, stride_of: Callable[[Digit], Expr]
) -> Expr:
    total = first
    for axis in chains.axes:
        read = [axes[number] for number in axis.axes]
        index = horner_expr(tuple(Coordinate(Index(each.name), each.extent) for each in read))
        for divisor, past, stride in _runs(axis, stride_of):
            value = index if past is None else Mod(index, Constant(past))
            if divisor != 1:
                value = FloorDiv(value, Constant(divisor))
            total = Add(total, Mul(value, stride))
    return simplify(total)


def _runs(
    axis: ChainAxis, stride_of: Callable[[Digit], Expr]
) -> Iterator[tuple[int, int | None, Expr]]:
    """Digits that follow each other without a gap, as one: ``c/4*4 + c%4`` is ``c``.

    Of each the divisor, that of the digit above it, if any, and the stride.
    """
    found: list[tuple[int, int | None, Expr]] = []
    for digit in axis.digits:
        stride = stride_of(digit)
        past = None if digit.radix is None else digit.divisor * digit.radix
        if found:
            below, _, step = found[-1]
            if same(stride, simplify(Mul(step, Constant(digit.divisor // below)))):
                found[-1] = (below, past, step)
                continue
        found.append((digit.divisor, past, stride))
    yield from found
