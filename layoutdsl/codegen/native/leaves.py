"""What is moved at once: a run, a tile, a comb, or a box that goes through a block of its own."""

from __future__ import annotations

from typing import TypeAlias

from layoutdsl.codegen.native.chains import Chains, Digit
from layoutdsl.codegen.native.lanes import SIDES, digit_at, radix_of
from layoutdsl.codegen.native.staged import Staged, staged
from layoutdsl.codegen.native.tiles import Comb, Run, Tile, best_tile
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Constant

WIDE_RUN = 8
"""Bytes from which a run is copied as it is, if no tile is better; from twice as many, always."""

RUN_WORK = 2 / WIDE_RUN
"""Instructions for each byte of such a run."""


Leaf: TypeAlias = Run | Tile | Comb | Staged


def leaf(chains: Chains, width: int, vector: int) -> Leaf:
    """Return what is moved at once, for elements of ``width`` bytes: 1, 2, 4 or 8.

    Args:
        chains: the two sides.
        width: bytes of an element.
        vector: bytes of the widest vector: 16, 32 or 64.
    """
    run = common_run(chains)
    if run.count is None or run.count * width >= 2 * WIDE_RUN:
        return run
    tile = best_tile(chains, width, vector)
    if run.count * width >= WIDE_RUN:
        return tile if tile is not None and tile.work() < RUN_WORK else run
    return tile or _comb(chains) or staged(chains, width, vector) or run


MOST_TEETH = 16


def _comb(chains: Chains) -> Comb | None:
    for rows, other in (SIDES, SIDES[::-1]):
        found = digit_at(chains, rows, 1)
        if found is None or not chains.axes[found[0]].slides:
            continue
        axis, digit = found
        together = getattr(digit, other)
        teeth, reach = list[int](), 1
        while not same(together, Constant(reach)):
            held = digit_at(chains, other, reach)
            if held is None or len(chains.axes[held[0]].digits) > 1:
                break
            radix = radix_of(chains.axes[held[0]], held[1])
            if radix is None or reach * radix > MOST_TEETH:
                break
            teeth.append(held[0])
            reach *= radix
        else:
            if teeth:
                return Comb(axis, tuple(teeth))
    return None


def common_run(chains: Chains) -> Run:
    """Return the longest run along one axis that both sides share."""
    for number, axis in enumerate(chains.axes):
        count = 1
        for digit in axis.digits:
            if digit.divisor != count or not _both(digit, count):
                break
            radix = radix_of(axis, digit)
            if radix is None:
                return Run(number, None)
            count *= radix
        if count > 1:
            return Run(number, count)
    return Run(None, 1)


def _both(digit: Digit, stride: int) -> bool:
    return same(digit.source, Constant(stride)) and same(digit.target, Constant(stride))
