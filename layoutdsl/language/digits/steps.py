"""The steps that read a slot; like every name made here theirs start with `_`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.texts.values import brief

SLOT = "_slot"
"""The name of the slot."""


def digit_name(wire: int) -> str:
    """Return the name of the value on a wire: a coordinate, or a part of a tuple."""
    return f"_v{wire}"


def rest_name(coordinate: int) -> str:
    """Return the name of what is left of the slot for the coordinates up to this one."""
    return f"_u{coordinate}"


def whole_name(chain: int) -> str:
    """Return the name of the value of a tuple that is put together from its digits."""
    return f"_x{chain}"


def straight_name(wire: int) -> str:
    """Return the name of the digit that a swizzled coordinate was made of."""
    return f"_t{wire}"


def moved_name(wire: int) -> str:
    """Return the name of a swizzled coordinate less what moved it."""
    return f"_w{wire}"


@dataclass(frozen=True, slots=True)
class Inverse:
    """How to read a slot.

    Attributes:
        steps: names with their expressions over ``_slot``, extents and earlier names.
        index: the index along each axis, in axis order, over the names of the steps.
        padded: the extent of each axis with its padding: indices below it have a slot too.
        guards: what a slot satisfies that lies in no gap; over the names of the steps.
        radices: the extents by which the steps split a slot, most major first.
    """

    steps: tuple[tuple[str, Expr], ...]
    index: tuple[tuple[str, Expr], ...]
    padded: tuple[tuple[str, Expr], ...]
    guards: tuple[Condition, ...]
    radices: tuple[Expr, ...]

    __repr__ = brief

    def read(self, slot: int, values: Mapping[str, int]) -> tuple[int, ...] | None:
        """Return the index in the padded box that a slot is read to; ``None`` in a gap.

        Args:
            slot: not before the first.
            values: of extents and parameters.

        Raises:
            ZeroDivisionError: a divisor is not positive.
        """
        known = {**values, SLOT: slot}
        for name, step in self.steps:
            known[name] = evaluate(step, known)
        if not all(guard.holds(known) for guard in self.guards):
            return None
        return tuple(evaluate(value, known) for _, value in self.index)
