"""Orders of cuBLASLt's matrices: ``CUBLASLT_ORDER_COL32``, or ``COL32`` alone.

A matrix has rows and columns, m and n. ``COL32`` has groups of 32 columns, in them row by row.
``COL4_4R2_8C`` has tiles of 8 rows and 32 columns, in them tiles of 4 even or odd rows and 4
columns; ``COL32_2R_4R4`` has tiles of 32 by 32. The leading dimension is the smallest that there
may be. Of what lies beyond the matrix nothing is said.

Source: cuBLAS Library, "cublasLtOrder_t"; the digits of ``COL4_4R2_8C``, which are not spelled out
there, as FasterTransformer works them out.
"""

from __future__ import annotations

from layoutdsl.language.integers.digit import Digit
from layoutdsl.language.integers.expr import Constant, Index
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocks import axes_or, coordinate
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import places, refuse_fill, refuse_range, refuse_start

ABOUT = "orders of cuBLASLt's matrices"
EXAMPLE = "CUBLASLT_ORDER_COL32"

PREFIX = "CUBLASLT_ORDER_"
_M, _N = 0, 1
_ORDERS: dict[str, tuple[tuple[int, int, int | None], ...]] = {
    "COL": ((_N, 1, None), (_M, 1, None)),
    "ROW": ((_M, 1, None), (_N, 1, None)),
    "COL32": ((_N, 32, None), (_M, 1, None), (_N, 1, 32)),
    "COL4_4R2_8C": (
        *((_N, 32, None), (_M, 8, None)),
        *((_M, 1, 2), (_N, 8, 4), (_N, 4, 2), (_M, 2, 4), (_N, 1, 4)),
    ),
    "COL32_2R_4R4": (
        *((_N, 32, None), (_M, 32, None)),
        *((_M, 2, 4), (_M, 8, 4), (_M, 1, 2), (_N, 1, 32)),
    ),
}
"""Each order as digits, most major first: the axis, its divisor, and the radix where it has one."""


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of an order; see `Notation.read` for errors."""
    name = text.text.strip().removeprefix(PREFIX)
    if name not in _ORDERS:
        hint = did_you_mean(name, _ORDERS) or f"known are {', '.join(_ORDERS)}"
        raise fault("L404", f"there is no order `{name}`", text, help=hint)
    found = axes_or(axes, ["m", "n"], text, "a matrix")
    digits = [
        Digit(Index(found[axis].name), Constant(divisor), _number(radix))
        for axis, divisor, radix in _ORDERS[name]
    ]
    places = tuple(coordinate(found, each.value) for each in digits)
    return Reading(Layout("order", found, places, fill=FillAny()))


def _number(radix: int | None) -> Constant | None:
    return None if radix is None else Constant(radix)


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  orders say nothing beyond
    """Return the order of a layout of two axes."""
    refuse_start(layout)
    refuse_range(layout)
    if layout.rank != 2:
        raise Unwritable(f"a matrix has 2 axes, the layout has {layout.rank}")
    found = [(each.axis, each.divisor, each.radix) for each in places(layout)]
    for name, digits in _ORDERS.items():
        own = [(axis, Constant(divisor), _number(radix)) for axis, divisor, radix in digits]
        if own == found:
            if len(own) > 2:
                refuse_fill(layout, FillAny())
            return f"{PREFIX}{name}"
    raise Unwritable("it is none of the orders that cuBLASLt has a name for")
