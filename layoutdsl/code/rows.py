"""Runs and rows: what of a layout lies together by its formula, where its digits say nothing.

Swizzles move blocks of some size; of triangles and bands each row has a beginning and an end.
"""

from __future__ import annotations

from functools import lru_cache

from layoutdsl.code.moves import Rows
from layoutdsl.code.together import together
from layoutdsl.language.digits.solving import bounds
from layoutdsl.language.integers.bounds import ZERO, simplify
from layoutdsl.language.integers.expr import Expr, Max, Min
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr

WORTHWHILE = 4
"""Elements of a run that is sooner moved as a whole."""


@lru_cache(maxsize=256)
def rows_of(layout: Layout) -> Rows | None:
    """Return the runs in which a layout's elements lie together; ``None`` where there are none."""
    element = layout.element
    if layout.domain and (layout.rank < 2 or (element is not None and not element.fills_item)):
        return None  # nothing is across a row, or each element is looked at where it is held
    place = offset_expr(layout)
    found = [(together(axis, (place,)), number) for number, axis in enumerate(layout.axes)]
    whole = [number for run, number in found if run is None]
    if layout.domain:
        return next((rows for each in whole if (rows := _held(layout, each)) is not None), None)
    if whole:
        return Rows(whole[-1], None)
    run, number = max(((run or 0, number) for run, number in found), default=(0, 0))
    return Rows(number, run) if run >= WORTHWHILE else None


def _held(layout: Layout, number: int) -> Rows | None:
    """The rows along an axis, where all that is asked of an index says where they begin or end."""
    axis = layout.axes[number]
    low: Expr = ZERO
    high: Expr = axis.extent
    for condition in layout.domain:
        found = bounds(condition, axis.name)
        if found is None or condition.operator == "==":
            return None
        least, past = found
        low = low if least is None else Max(low, least)
        high = high if past is None else Min(high, past)
    return Rows(number, None, simplify(low), simplify(high))
