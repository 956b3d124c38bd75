"""Comparisons, and what they leave of a box: the range of shapes, and the domain of a layout.

A condition over extents alone says for which shapes a layout is defined; one that speaks of an
index says which elements it holds. This module imports nothing of ours but `expr`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, TypeAlias

from layoutdsl.language.integers.expr import Binding, Expr, Printer, indices, substitute, text
from layoutdsl.language.integers.value import Interval, enclose, evaluate
from layoutdsl.language.texts.values import said

Box: TypeAlias = tuple[Interval, ...]
"""An interval for each of some names, in their order."""

Operator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]

COMPARISONS: Mapping[Operator, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Each operator as a function of two numbers, or of two arrays of numbers."""

_OPPOSITE: Mapping[Operator, Operator] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of two expressions, from a ``where`` clause."""

    left: Expr
    operator: Operator
    right: Expr

    def __repr__(self) -> str:
        return said(self, str(self))

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return whether the comparison is true where extents and indices have these values."""
        left, right = evaluate(self.left, values), evaluate(self.right, values)
        holds: bool = COMPARISONS[self.operator](left, right)
        return holds

    def may_hold(self, boxes: Mapping[str, Interval]) -> bool:
        """Return whether it may be true somewhere in a box; exact where the box is one point."""
        (low, high), (least, most) = enclose(self.left, boxes), enclose(self.right, boxes)
        match self.operator:
            case "==":
                return low <= most and least <= high
            case "!=":
                return not low == high == least == most
            case "<":
                return low < most
            case "<=":
                return low <= most
            case ">":
                return high > least
            case ">=":
                return high >= least

    def written(self, printer: Printer) -> str:
        """Return the comparison in a language whose comparisons bind less than its bits."""
        left, right = (printer.text(side, Binding.SUM) for side in (self.left, self.right))
        return f"{left} {self.operator} {right}"

    @property
    def opposite(self) -> Condition:
        """The comparison that is true where this one is not."""
        return Condition(self.left, _OPPOSITE[self.operator], self.right)

    @property
    def indices(self) -> frozenset[str]:
        """The names of the indices that it speaks of; none, where it is one of shapes."""
        return indices(self.left) | indices(self.right)

    def substituted(self, values: Mapping[str, Expr]) -> Condition:
        """Return the comparison with each named index or extent replaced."""
        return Condition(
            substitute(self.left, values), self.operator, substitute(self.right, values)
        )

    def __str__(self) -> str:
        return f"{text(self.left)} {self.operator} {text(self.right)}"


def all_hold(conditions: Sequence[Condition], values: Mapping[str, int]) -> bool:
    """Return whether every one of them is true."""
    return all(condition.holds(values) for condition in conditions)


def halves(box: Box) -> tuple[Box, ...]:
    """Return both halves of a box along its first axis of several points; none for one point."""
    wide = next((k for k, (low, high) in enumerate(box) if low < high), None)
    if wide is None:
        return ()
    low, high = box[wide]
    middle = (low + high) // 2
    before, after = box[:wide], box[wide + 1 :]
    return (*before, (low, middle), *after), (*before, (middle + 1, high), *after)


def pieces(
    conditions: Sequence[Condition],
    fixed: Mapping[str, Interval],
    names: Sequence[str],
    box: Box,
) -> Iterator[Box]:
    """Yield boxes, in order and apart from each other, that are together what the conditions leave.

    Args:
        conditions: over the names.
        fixed: names with their values.
        names: those that the box gives intervals to.
        box: what is left over from.
    """
    pending = [box]
    while pending:
        box = pending.pop()
        boxes = {**fixed, **dict(zip(names, box, strict=True))}
        if not all(each.may_hold(boxes) for each in conditions):
            continue
        if not any(each.opposite.may_hold(boxes) for each in conditions):
            yield box
            continue
        pending += reversed(halves(box))


def volume(box: Box) -> int:
    """Return the points of a box."""
    return prod(high - low + 1 for low, high in box)
