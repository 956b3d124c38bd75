"""The index functions of a layout as a machine works them out: quotients towards zero, no ceiling.

``ceil(E/k)`` is ``(E - 1)/k + 1``, ``(a - b)%k`` is ``(a + (k - b%k))%k``, tuples are Horner's
rule, and numbers are worked out beforehand. That this is what the layout says, in integers of some
width, is proved for each text that is written; here nothing is known of proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.bounds import ONE, ZERO
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Sub,
    indices,
)
from layoutdsl.language.integers.written_out import fold, horner_expr
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.offsets import offset_expr, physical_exprs, size_expr

Steps: TypeAlias = tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Steps that read a slot, and what has to hold after them: where it does not, it is padding."""

    steps: Steps
    guards: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Backward:
    """From a slot to what it holds.

    Attributes:
        padded: the extent of each axis with its padding.
        first: the first slot, where that is not 0.
        pieces: steps and guards in turn.
        index: the index along each axis, over the names of the steps.
        within: what that index satisfies that has this slot.
        inverse: all that before it was written for a machine.
    """

    padded: tuple[Expr, ...]
    first: tuple[Condition, ...]
    pieces: tuple[Piece, ...]
    index: Steps
    within: tuple[Condition, ...]
    inverse: Inverse


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of a layout whose names are those of a language.

    ``backward`` is a reason where there is no closed inverse.
    """

    layout: Layout
    offset: Expr
    size: Expr
    box: tuple[Expr, ...]
    domain: tuple[Condition, ...]
    backward: Backward | str

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the indices."""
        return tuple(axis.name for axis in self.layout.axes)


def functions(layout: Layout, inverse: Inverse | NotDigits) -> Functions:
    """Return the index functions of a layout.

    Args:
        layout: any layout.
        inverse: its closed inverse, by whoever knows that it is one.
    """
    return Functions(
        layout,
        machine(offset_expr(layout)),
        machine(size_expr(layout)),
        tuple(map(machine, physical_exprs(layout))),
        tuple(map(_condition, layout.domain)),
        _backward(layout, inverse) if isinstance(inverse, Inverse) else inverse.reason,
    )


def _backward(layout: Layout, inverse: Inverse) -> Backward:
    steps = {name: machine(expr) for name, expr in inverse.steps}
    shape = tuple(Condition(Index(axis.name), "<", axis.extent) for axis in layout.axes)
    start = machine(layout.start)
    first = () if layout.start == ZERO else (Condition(Index(SLOT), ">=", start),)
    return Backward(
        tuple(machine(extent) for _, extent in inverse.padded),
        first,
        tuple(_pieces(steps, tuple(map(_condition, inverse.guards)))),
        tuple((name, machine(expr)) for name, expr in inverse.index),
        (*shape, *map(_condition, layout.domain)),
        inverse,
    )


def _pieces(steps: dict[str, Expr], guards: tuple[Condition, ...]) -> list[Piece]:
    """A guard is looked at as soon as all that it speaks of is known."""
    left = list(guards)
    found: list[Piece] = []
    piece: list[tuple[str, Expr]] = []
    known: set[str] = set()
    for name, expr in steps.items():
        piece.append((name, expr))
        known.add(name)
        now = tuple(each for each in left if _names(each) <= known)
        if now:
            found.append(Piece(tuple(piece), now))
            left = [each for each in left if each not in now]
            piece = []
    return [*found, Piece(tuple(piece), ())]


def _names(condition: Condition) -> frozenset[str]:
    return indices(condition.left) | indices(condition.right)


def _condition(condition: Condition) -> Condition:
    return Condition(machine(condition.left), condition.operator, machine(condition.right))


def machine(expr: Expr) -> Expr:
    """Return an expression without tuples and ceilings; with the same value where these hold.

    What is rounded up is positive, and whatever is divided is not negative.
    """
    match expr:
        case Index() | Extent() | Constant():
            return expr
        case MixedRadix(parts):
            return machine(horner_expr(parts))
        case CeilDiv(left, right):
            less = fold(Sub(machine(left), ONE))
            return fold(Add(fold(FloorDiv(less, machine(right))), ONE))
        case Mod(Sub() as difference, right):
            block = machine(right)
            return fold(Mod(_congruent(difference, block), block))
        case _:
            return fold(type(expr)(machine(expr.left), machine(expr.right)))


def _congruent(expr: Expr, block: Expr) -> Expr:
    """A sum that leaves the same rest, and of which nothing is taken away that is not a number."""
    match expr:
        case Sub(left, right) if not isinstance(right, Constant):
            less = fold(Sub(block, machine(Mod(right, block))))
            return fold(Add(_congruent(left, block), less))
        case _:
            return machine(expr)
