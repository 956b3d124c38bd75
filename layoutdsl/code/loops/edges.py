"""How much of a move there is where axes end inside of it: prefixes of rows and of columns.

An axis ends in a prefix where its digits lie above all others of one side of the move.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.around import Around
from layoutdsl.code.loops.boxes import Box
from layoutdsl.code.loops.leaf import Part, Parts, held
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Expr, Mul


def edge_into(around: Around, box: Box, axes: list[int]) -> tree.Edge | None:
    """Return how much of a move into scratch is read where some axes end; all of it is written."""
    return _edge(around, box, axes, into=True)


def edge_out(around: Around, box: Box, axes: list[int]) -> tree.Edge | None:
    """Return how much of a move out of scratch is written where some axes end."""
    return _edge(around, box, axes, into=False)


def _edge(around: Around, box: Box, axes: list[int], *, into: bool) -> tree.Edge | None:
    found = dict[str, Expr]()
    for number in axes:
        end = _end(box, number, [each for each in box.moved if each.axis == number])
        if end is None:
            return None
        counted = _of_rows if end.is_rows else _of_columns
        counts = counted(around, end, readable=not into, slots=not into)
        if counts is None or set(counts) & set(found):
            return None
        found |= counts
    return tree.Edge(**found)


@dataclass(frozen=True, slots=True)
class _End:
    """The digits in which an axis ends, on one side of a move.

    Attributes:
        number: of the axis.
        is_rows: it ends in rows, and not in columns.
        in_unit: its digits in the unit.
        here: its digits in the table.
        below: elements of the table below its digits there.
        unit: elements of the unit below its digits there.
    """

    number: int
    is_rows: bool
    in_unit: Parts
    here: Parts
    below: int
    unit: int

    @property
    def divisor(self) -> int:
        """Indices per step of the lowest of its digits."""
        return (*self.in_unit, *self.here)[0].digit.divisor


def edge_of(around: Around, box: Box, axes: list[int]) -> tree.Edge | None:
    """Return how much there is where some axes end; nothing where that is no prefix."""
    if box.both is not None or box.is_run:
        return None
    found = dict[str, Expr]()
    for number in axes:
        mine = [each for each in box.moved if each.axis == number]
        if not mine:
            return None
        end = _end(box, number, mine)
        counts = None if end is None else _counts(around, end)
        if counts is None or set(counts) & set(found):
            return None
        found |= counts
    return tree.Edge(**found)


def _end(box: Box, number: int, mine: list[Part]) -> _End | None:
    in_unit = tuple(each for each in box.unit if each.axis == number)
    for table, is_rows in ((box.rows, True), (box.columns, False)):
        here = tuple(each for each in table if each.axis == number)
        if len(here) + len(in_unit) < len(mine):
            continue
        if here and table[-len(here) :] != here:
            return None
        if in_unit and (len(here) < len(table) or box.unit[-len(in_unit) :] != in_unit):
            return None
        if not follow((*in_unit, *here)):
            return None
        below, unit = held(table) // held(here), held(box.unit) // held(in_unit)
        return _End(number, is_rows, in_unit, here, below, unit)
    return None


def follow(parts: Parts) -> bool:
    """Whether parts are one digit of an axis, the most minor first."""
    reach = parts[0].digit.divisor
    for each in parts:
        if each.digit.divisor != reach:
            return False
        reach *= each.count
    return True


def _counts(around: Around, end: _End) -> dict[str, Expr] | None:
    axis = around.chains.axes[end.number]
    # what is not filled may be read although it is padding
    readable = same(axis.target, axis.extent) and around.source_whole(end.number)
    slots = not around.slots_whole(end.number)
    if end.is_rows:
        return _of_rows(around, end, readable, slots)
    return _of_columns(around, end, readable, slots)


def _of_rows(around: Around, end: _End, readable: bool, slots: bool) -> dict[str, Expr] | None:
    axis, steps = around.chains.axes[end.number], held((*end.in_unit, *end.here))
    if end.in_unit and not readable:
        return None
    found = dict[str, Expr]()
    if not readable:
        read = around.left(end.number, axis.extent, end.divisor, steps)
        found["rows_read"] = simplify(Mul(Constant(end.below), read))
    if readable or slots:
        written = around.left(end.number, axis.target, end.divisor, steps)
        found["written"] = simplify(Mul(Constant(end.below * end.unit), written))
    return found


def _of_columns(around: Around, end: _End, readable: bool, slots: bool) -> dict[str, Expr] | None:
    axis, inside = around.chains.axes[end.number], held(end.in_unit)
    steps, found = inside * held(end.here), dict[str, Expr]()
    if not readable:
        read = around.left(end.number, axis.extent, end.divisor, steps)
        found["read"] = simplify(Mul(Constant(end.unit * end.below), read))
    if readable or slots:
        if end.in_unit and (axis.tops[1] % (end.divisor * inside) or readable):
            return None
        written = around.left(end.number, axis.target, end.divisor * inside, steps // inside)
        found["columns_written"] = simplify(Mul(Constant(end.below), written))
    return found
