"""The plans of two layouts, from one buffer straight to another.

Each axis has to be cut down to single elements in both, or `Fallback` says what is in the way. The
digits that both have in common are found by `arrays.axes` for NumPy, and by `loops` for C.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.code.moves import AxisMove, DigitMove, Fallback, Plan
from layoutdsl.code.plan import plan
from layoutdsl.language.integers.bounds import ONE, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Mul
from layoutdsl.language.meaning.model import Layout


def both_plans(source: Layout, target: Layout) -> tuple[Plan, Plan] | Fallback:
    """Return the plans of two layouts whose axes are cut alike, but for how far; or why not.

    Args:
        source: whose buffer is read.
        target: over the same axes.

    Raises:
        ValueError: a parameter has no value.
    """
    plans = list[Plan]()
    for layout in (source, target):
        planned = plan(layout)
        if isinstance(planned, Fallback):
            return Fallback(f"`{layout.name}` is moved element by element: {planned.reason}")
        plans.append(without_single_axes(planned))
    first, second = plans
    if [move.axes for move in first.moves] != [move.axes for move in second.moves]:
        return Fallback("axes are read as one in one layout only")
    for move in (each for both in zip(first.moves, second.moves, strict=True) for each in both):
        if not all(isinstance(digit.divisor, Constant) for digit in move.digits):
            return Fallback(f"axis `{move.name}` is cut by a number that depends on the shape")
        if not all(map(_follow, move.digits, move.digits[1:])):
            return Fallback(f"the digits of axis `{move.name}` do not follow each other")
    for pair in zip(first.moves, second.moves, strict=True):
        if any(move.digits for move in pair) and not all(map(_whole_to_one, pair)):
            return Fallback(f"axis `{pair[0].name}` is not cut down to single elements")
    return first, second


def without_single_axes(planned: Plan) -> Plan:
    """The plan in which the digits of axes of one element stand on their only position."""
    single = [move for move in planned.moves if same(move.extent, ONE)]
    still = {digit.dimension for move in single for digit in move.digits}
    dimensions = tuple(
        replace(each, constant=0) if number in still else each
        for number, each in enumerate(planned.dimensions)
    )
    moves = tuple(
        replace(move, digits=(), exact=True) if move in single else move for move in planned.moves
    )
    return replace(planned, dimensions=dimensions, moves=moves)


def _whole_to_one(move: AxisMove) -> bool:
    return bool(move.digits) and move.digits[-1].divisor == ONE


def _follow(above: DigitMove, below: DigitMove) -> bool:
    return same(above.divisor, simplify(Mul(below.radix, below.divisor)))
