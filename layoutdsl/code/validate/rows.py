"""What the constructs mean by which runs and rows of elements are moved at once. Trusted.

A table of runs has an offset for each run along an axis, that of its first element. What is moved
is said of every element all the same: the ``t``-th of a run lies ``t`` behind the offset. Runs are
of a number of elements, and begin at multiples of it; or all of an axis is one, and of each row
only what lies between two ends is moved, as far as the axis goes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from layoutdsl.code.validate.calls import ROWS
from layoutdsl.code.validate.expressions import Names
from layoutdsl.code.validate.pieces import FIRST, PAST, GatherReader
from layoutdsl.code.validate.reading import Returned
from layoutdsl.code.validate.tables import Mask, Moved, Picked, Piece, Run, Runs, Table
from layoutdsl.code.validate.values import Array, Meaningless, Tuple, added, less, same
from layoutdsl.proof.kernel.checker import Term, names

WHOLE = 0
"""The step of a run that stands for all of its axis."""


@dataclass
class RowReader(GatherReader):
    """A reader that knows runs and rows as well.

    Attributes:
        runs: those whose first indices are at hand, if there are any.
    """

    runs: Runs | None = None

    def call(self, name: str, *arguments: object) -> object:
        """Return what a function of the module returns; what it says of runs is its own."""
        outside, self.runs = self.runs, None
        result = super().call(name, *arguments)
        self.runs = outside
        return result

    def _statement(self, statement: ast.stmt, names: Names) -> Returned | None:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call) if (
                name in ROWS and self.in_piece
            ):
                if self._call(call, names) is not None:
                    raise Meaningless(f"nothing becomes of `{ast.unparse(call)}`")
                return None
        return super()._statement(statement, names)

    def _picked(self, node: ast.Subscript, names: Names) -> object:
        """A piece of an array that is cut along another axis than the first."""
        match node.slice:
            case ast.Tuple(elts=[*before, ast.Slice(ast.Name() as low, ast.Name() as high, None)]):
                ends = self._term(low, names), self._term(high, names)
                plain = all(ast.unparse(each) == ":" for each in before)
                if self.in_piece and ends == (FIRST, PAST) and plain:
                    return self._piece(node.value, len(before), names)
        return super()._picked(node, names)

    def _call(self, call: ast.Call, names: Names) -> object:
        match ast.unparse(call.func), call.args, [ast.unparse(each) for each in call.keywords]:
            case "np.arange", [first, past, step], [word] if word.startswith("dtype="):
                ends = self._term(first, names), self._term(past, names)
                run = self._term(step, names)
                if not isinstance(run, int) or run < 2:
                    raise Meaningless("runs are of no number of elements")
                return Run(*ends, self._counting(call, names), run)
            case "np.zeros", [ast.Constant(value=1)], [word] if word.startswith("dtype="):
                return Run(0, 1, self._counting(call, names), WHOLE)
        return super()._call(call, names)

    def _along(self, run: Run, shape: list[object]) -> Term:
        """The first indices of runs: 0, or a multiple of so many."""
        if run.step == 1:
            return super()._along(run, shape)
        axis = self._axis(shape)
        if axis == self.across and (run.step == WHOLE or self.multiple % run.step):
            raise Meaningless("a run is cut")
        if self.runs is not None:
            raise Meaningless("runs lie along two axes")
        if run.step == WHOLE:
            self.runs = Runs(axis, None)
            return 0
        self.runs = Runs(axis, run.step)
        super()._along(replace(run, step=1), shape)
        return self._first(axis, run.step)

    def _sizes(self) -> tuple[Term, ...]:
        sizes = list(super()._sizes())
        if self.runs is not None:
            size, run = sizes[self.runs.axis], self.runs.length
            sizes[self.runs.axis] = 1 if run is None else ("div", added(size, run - 1), run)
        return tuple(sizes)

    def _whole_piece(self, shape: object) -> None:
        """The shape of a table; where it has one entry along an axis, that stands for all of it."""
        if self.runs is None and isinstance(shape, Tuple):
            pairs = zip(shape.items, super()._sizes(), strict=False)
            single = [axis for axis, (one, size) in enumerate(pairs) if one == 1 != size]
            if len(single) == 1 and single[0] != self.across:
                self.runs = Runs(single[0], None)
        super()._whole_piece(shape)

    def _made(self, term: Term) -> Table:
        runs = self.runs
        if runs and runs.length is None and self.indices[runs.axis] in {*names(term)}:
            raise Meaningless("one entry stands for an axis along which there are others")
        return Table(term, runs=runs)

    def _largest(self) -> dict[Term, Term]:
        known = super()._largest()
        if self.runs is not None and self.runs.length is not None:
            known[self._first(self.runs.axis, self.runs.length)] = self.extents[self.runs.axis]
        return known

    def _first(self, axis: int, length: int) -> Term:
        """The first index of the run that an index is in."""
        return ("*", length, ("div", self.indices[axis], length))

    def _support(self, name: str, values: list[object]) -> object:
        match name, values:
            case "_refuse_runs", [Table() as table, buffer, axis, run, extent]:
                self._refused(self._spread(table, axis, run, extent), buffer)
                return None
            case "_scatter", [Array() as flat, Table() as table, Piece() as source, axis, run]:
                found = self._spread(table, axis, run, None)
                self._move(_flat(flat, found), source)
                return None
            case "_gathered", [Array() as flat, Table() as table, axis, run, extent]:
                return _flat(flat, self._spread(table, axis, run, extent))
            case "_refuse_rows", [Table(runs=Runs(axis)) as table, low, high, buffer, extent]:
                self._refused(self._rows(table, low, high, axis, extent), buffer)
                return None
            case "_scatter_rows", [Array() as flat, Table() as table, low, high, source, axis]:
                held = self._rows(table, low, high, axis, None)
                self._move(_flat(flat, held), _between(source, held.held))
                return None
            case "_take_rows", [target, Array() as flat, Table() as table, low, high, axis]:
                held = self._rows(table, low, high, axis, None)
                self._move(_between(target, held.held), _flat(flat, held))
                return None
        if name in ROWS:
            raise Meaningless(f"`{name}` is called with something else than it takes")
        return super()._support(name, values)

    def _refused(self, table: Table, buffer: object) -> None:
        if not self.in_piece or self.meaning.stores or self.moves:
            raise Meaningless("offsets are refused elsewhere, or after something was written")
        self.refused.append((table, _term(buffer)))

    def _move(self, target: Piece | Picked, source: Piece | Picked) -> None:
        if not self.in_piece:
            raise Meaningless("rows are moved elsewhere")
        self.moves.append(Moved(target, source, len(self.meaning.stores)))

    def _runs(self, table: Table, axis: object, extent: object) -> Runs:
        """The runs of a table, which lie along this axis; it has so many elements in a piece."""
        runs = table.runs
        if runs is None or table.held is not None or axis != runs.axis:
            raise Meaningless("these are no runs along this axis")
        here = less(PAST, FIRST) if runs.axis == self.across else self.extents[runs.axis]
        if extent is not None and not same(_term(extent), here):
            raise Meaningless("runs end elsewhere than their axis")
        return runs

    def _spread(self, table: Table, axis: object, run: object, extent: object) -> Table:
        """The offsets of all elements, from those of runs."""
        runs = self._runs(table, axis, extent)
        index, whole = self.indices[runs.axis], self.extents[runs.axis]
        if not same(_term(run), whole if runs.length is None else runs.length):
            raise Meaningless("runs are of another length")
        if runs.length is None:
            return Table(added(table.term, index))
        return Table(added(table.term, ("mod", index, runs.length)), spread=runs)

    def _rows(self, table: Table, low: object, high: object, axis: object, extent: object) -> Table:
        """The offsets of the elements between two ends of each row."""
        runs = self._runs(table, axis, extent)
        ends = [each for each in (low, high) if isinstance(each, Table) and each.held is None]
        if runs.length is not None or len(ends) < 2 or {each.runs for each in ends} - {runs, None}:
            raise Meaningless("these are no rows")
        index = self.indices[runs.axis]
        lows = self.meaning.sides("max", ends[0].term)
        highs = self.meaning.sides("min", ends[1].term)
        tests = (*(("<=", each, index) for each in lows), *(("<", index, each) for each in highs))
        return Table(added(table.term, index), Mask(tests))


def _between(piece: object, held: Mask | None) -> Piece:
    if isinstance(piece, Piece) and piece.held is None:
        return replace(piece, held=held)
    raise Meaningless("rows of something else than a piece")


def _flat(flat: Array, table: Table) -> Picked:
    if not (len(flat.shape) == 1 and flat.in_order):
        raise Meaningless("slots are picked from no flat buffer")
    return Picked(flat, table)


def _term(value: object) -> Term:
    if isinstance(value, int | str | tuple) and not isinstance(value, bool):
        return value
    raise Meaningless("a number is none")
