"""The numbers by which the axes of a layout are cut, and as which extents are declared."""

from __future__ import annotations

from layoutdsl.language.integers.digit import read
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Max,
    Min,
    Mod,
    extents,
    indices,
    walk,
)
from layoutdsl.language.meaning.model import Layout


def numbers_of(layout: Layout) -> dict[str, set[int]]:
    """For each extent and parameter the numbers that its axis is cut by or declared as."""
    found: dict[str, set[int]] = {name: set() for name in layout.symbols}
    extent_of = {axis.name: axis.extent for axis in layout.axes}
    for each in layout.all_coordinates:
        through = {extent_of[name] for name in indices(each.value)}
        names = {symbol.name for symbol in through if isinstance(symbol, Extent)}
        for name in names | (extents(each.extent) & found.keys()):
            found[name] |= _cuts(each.value) | _cuts(each.extent)
            if isinstance(each.extent, Constant):
                found[name].add(each.extent.value)
    for parameter in layout.parameters:
        found[parameter] |= set().union(*found.values())
    return {name: {each for each in cuts if each > 0} for name, cuts in found.items()}


def all_numbers(layout: Layout) -> tuple[int, ...]:
    """Return the numbers that a layout speaks of: first those that cut, then all others.

    They are what the parameters of another spelling of it may stand for.
    """
    cuts: set[int] = set()
    spoken: list[Expr] = [layout.start]
    for each in layout.all_coordinates:
        cuts |= _cuts(each.value) | _cuts(each.extent)
        spoken += [each.value, each.extent]
    spoken += [side for each in layout.domain for side in (each.left, each.right)]
    others = {part.value for each in spoken for part in walk(each) if isinstance(part, Constant)}
    blocks = sorted(each for each in cuts if each > 1)
    return (*blocks, *sorted(each for each in others - {*blocks} if each > 0))


def _cuts(expr: Expr) -> set[int]:
    found: set[int] = set()
    for each in walk(expr):
        if isinstance(each, Min | Max):
            found |= {side.value for side in (each.left, each.right) if isinstance(side, Constant)}
        if isinstance(each, FloorDiv | Mod | CeilDiv) and isinstance(each.right, Constant):
            found.add(each.right.value)
            digit = read(each)
            for part in () if digit is None else (digit.divisor, digit.radix):
                found |= {part.value} if isinstance(part, Constant) else set()
            if digit is not None and isinstance(digit.radix, Constant):
                match digit.divisor:
                    case Constant(divisor):
                        found.add(divisor * digit.radix.value)
    return found
