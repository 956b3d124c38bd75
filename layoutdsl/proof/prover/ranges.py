"""Find a range of shapes in which an undecided layout is proved.

Example: `[b, (t/16%4096*H + h)*D + d : 4096*H*D, t%16]` collides from `T = 65537` on, which no
search met. It is proved where `T <= 65536`, the product of the numbers that cut `t`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Constant, Expr, Extent, FloorDiv, Index, Mod, walk
from layoutdsl.language.integers.expr import indices as indices_of
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.budget import shared
from layoutdsl.proof.prover.layout_check import is_proved

# Each trial takes about 0.1 s. The user waits for it with an error message before their eyes.
MOST_TRIALS = 8


def proved_range(layout: Layout) -> tuple[Condition, ...]:
    """Return conditions under which a layout is proved; empty if none of the likely ones is."""
    for conditions in islice(_likely_ranges(layout), MOST_TRIALS):
        narrowed = replace(layout, where=(*layout.where, *conditions))
        with shared():
            if is_proved(narrowed):
                return conditions
    return ()


def _likely_ranges(layout: Layout) -> Iterator[tuple[Condition, ...]]:
    """Yield the widest ranges first: where digits are not cut off, then where blocks are whole."""
    cut_off = dict[str, int]()
    blocks = dict[str, set[int]]()
    extent_of = {axis.name: axis.extent for axis in layout.axes}
    for coordinate in layout.all_coordinates:
        for expr in (each for side in (coordinate.value, layout.start) for each in walk(side)):
            if not isinstance(expr, Mod | FloorDiv) or not isinstance(expr.right, Constant):
                continue
            names = indices_of(expr.left)
            extent = extent_of.get(next(iter(names), "")) if len(names) == 1 else None
            if not isinstance(extent, Extent):
                continue
            blocks.setdefault(extent.name, set()).add(expr.right.value)
            if isinstance(expr, Mod):
                # `t/16%4096` repeats from t = 16*4096 on.
                period = expr.right.value * _divisor(expr.left)
                cut_off[extent.name] = max(period, cut_off.get(extent.name, 0))
    below = {name: _at_most(name, period) for name, period in cut_off.items()}
    whole = [_multiple(name, max(numbers)) for name, numbers in blocks.items()]
    yield from ((each,) for each in below.values())
    if whole:
        yield tuple(whole)
    if len(whole) > 1:
        yield from ((each,) for each in whole)
    if len(below) > 1:
        yield tuple(below.values())
    if whole and below:
        yield (*below.values(), *whole)


def _divisor(expr: Expr) -> int:
    match expr:
        case FloorDiv(Index(), Constant(divisor)):
            return divisor
    return 1


def _at_most(extent: str, most: int) -> Condition:
    return Condition(Extent(extent), "<=", Constant(most))


def _multiple(extent: str, block: int) -> Condition:
    return Condition(Mod(Extent(extent), Constant(block)), "==", Constant(0))
