"""Indices that a layout cuts into blocks of one size and places in them. Not trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.digit import read
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    children,
    indices,
)
from layoutdsl.language.meaning.model import Layout


def blocks_of(layout: Layout) -> dict[str, int]:
    """Return the size of the blocks of each axis that occurs as blocks, and places in them, only.

    Only axes count that are part of a coordinate which is no digit; others are digits as ever.
    """
    found: dict[str, set[Expr]] = {}
    mixed: set[str] = set()
    for each in layout.coordinates:
        for name, block in _cuts(each.value):
            found.setdefault(name, set()).add(block)
            if block != ONE and not is_digit(each.value):
                mixed.add(name)
    sizes = {name: next(iter(blocks)) for name, blocks in found.items() if len(blocks) == 1}
    return {
        name: size.value
        for name, size in sizes.items()
        if name in mixed and isinstance(size, Constant)
    }


def _cuts(expr: Expr) -> Iterator[tuple[str, Expr]]:
    """Each index in an expression, and by what it is divided; by 1 where it is not."""
    match expr:
        case FloorDiv(Index(name), block) | Mod(Index(name), block):
            yield name, block
        case Index(name):
            yield name, ONE
        case _:
            for part in children(expr):
                yield from _cuts(part)


def replaced(expr: Expr, cut: Mapping[Expr, Expr]) -> Expr:
    """Return the expression with some of its parts replaced."""
    if expr in cut:
        return cut[expr]
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case MixedRadix(parts):
            return MixedRadix(
                tuple(
                    replace(
                        part, value=replaced(part.value, cut), extent=replaced(part.extent, cut)
                    )
                    for part in parts
                )
            )
        case _:
            return type(expr)(replaced(expr.left, cut), replaced(expr.right, cut))


def is_digit(value: Expr) -> bool:
    """Whether a coordinate is a digit of an axis or a tuple, or a number."""
    return read(value) is not None or not indices(value)
