"""A `Move` as C: the kernel that does it, and the tables that it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.kernels import LINE, in_bytes, kernel_of
from layoutdsl.code.native.ahead import ahead, step_of
from layoutdsl.code.native.kernel_text import Call
from layoutdsl.code.native.spelling import Spelling
from layoutdsl.language.integers.bounds import polynomial, product, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Expr, Index, Mul, indices

LONG = 256
"""Elements of a run of which whole lines are worth looking for."""
HERE = 256
"""Bytes of a part that is put where it is asked for, if its counts are numbers, and not called."""


@dataclass(slots=True)
class Moves:
    """The moves of one function, as C.

    Attributes:
        width: bytes of an element.
        words: how extents are spelled.
        used: all expressions that were written, for the extents in them.
        calls: the kernels that were called.
        tables: the names of tables.
        loops: those around what is written, outermost first.
        streams: whether something of it may go past the cache.
        asks: whether something of it is asked for ahead.
        multiples: bytes that are multiples of a line where that pays.
    """

    width: int
    words: Spelling
    used: list[Expr] = field(default_factory=list)
    calls: set[Call] = field(default_factory=set)
    tables: dict[tree.Table, str] = field(default_factory=dict)
    loops: list[tree.For | tree.Slide] = field(default_factory=list)
    streams: bool = False
    asks: bool = False
    multiples: dict[Expr, None] = field(default_factory=dict)

    def inside(self) -> Iterable[str]:
        """Return what the function starts with: its tables."""
        for table, name in self.tables.items():
            line, below = f"int64_t {name}[{tree.length(table)}] = {{0}};", 1
            for step in table:
                filled = f"steps({name}, {below}, {step.radix}, {self.bytes(step.stride)});"
                line, below = f"{line} {filled}", below * step.radix
            yield line

    def strides(self) -> list[Expr]:
        """Return what the tables speak of."""
        return [step.stride for table in self.tables for step in table]

    def bytes(self, count: Expr) -> str:
        """Return a number of elements in bytes, as C."""
        self.used.append(count)
        return self.words.text(simplify(Mul(count, Constant(self.width))))

    def place(self, place: tree.Place) -> str:
        """Return the address of an element, as C."""
        buffer = {tree.SOURCE: "s", tree.TARGET: "d"}.get(place.buffer, place.buffer)
        return f"{buffer} + {self.bytes(place.offset)}"

    def text(self, move: tree.Move) -> list[str]:
        """Return the lines of a move."""
        e, rows, columns = move.unit * self.width, tree.length(move.rows), tree.length(move.columns)
        edge = move.edge
        call = Call(kernel_of(move, self.width), e, rows, columns, edge != tree.WHOLE)
        self.calls.add(call)
        target, source = self.place(move.target), self.place(move.source)
        tables = f"{self._named(move.rows, 'rows')}, {self._named(move.columns, 'columns')}"
        if not call.edged:
            stream = self._streamed(self._writes_lines(move, call))
            return [
                *self.asked(move),
                f"{call.kernel}({e}, {rows}, {columns}, {target},",
                f"    {source},",
                f"    {tables}, {stream});",
            ]
        counts = [
            self._count(edge.rows_read, rows, 1),
            self._count(edge.read, columns * e, self.width),
            self._count(edge.columns_written, columns, 1),
            self._count(edge.written, rows * e, self.width),
        ]
        is_here = "".join(counts).isdigit() and e * rows * columns <= HERE
        name = call.edge.replace("_edge", "_here") if is_here else call.edge
        return [
            f"{name}({target},",
            f"    {source},",
            f"    {tables}, rest, {', '.join(counts)});",
        ]

    def asked(self, move: tree.Move) -> list[str]:
        """Return what of a source larger than caches is asked for before a move."""
        found = ahead(move, self.loops, self.width)
        if found is None:
            return []
        self.asks = True
        table = self._named(found.rows or move.rows, "rows"), tree.length(found.rows)
        together, on = found.together * self.width, self.bytes(found.distance)
        return [
            f"fetched(large, {self.place(move.source)}, {table[0]}, {table[1]}, {together}, {on});"
        ]

    def run(self, run: tree.Run) -> str:
        """Return the line of a run."""
        stream = self._streamed(run.target.buffer == tree.TARGET and _is_long(run.count))
        places = f"{self.place(run.target)}, {self.place(run.source)}"
        return f"run({places}, {self.bytes(run.count)}, {stream});"

    def _streamed(self, pays: bool) -> str:
        self.streams = self.streams or pays
        return "stream" if pays else "0"

    def _writes_lines(self, move: tree.Move, call: Call) -> bool:
        """Whether whole lines are written, each at once, where `multiples` are such."""
        apart = _apart(move, call, self.width)
        if move.target.buffer != tree.TARGET or not call.writes_lines or apart is None:
            return False
        found = self._multiples([move.target.offset, *apart])
        if found is None:
            return False
        self.multiples.update(dict.fromkeys(found))
        return True

    def _multiples(self, counts: Iterable[Expr]) -> list[Expr] | None:
        """What has to be multiples of a line so that offsets are; nothing where some never are.

        A slide goes by its step, but for the last turn.
        """
        found, steps = list[Expr](), {each.name: step_of(each) for each in self.loops}
        for terms in map(polynomial, counts):
            for factors, coefficient in terms.items():
                kept = [each for each in factors if not isinstance(each, Index)]
                names = [each.name for each in factors if isinstance(each, Index)]
                number = prod((coefficient * self.width, *(steps.get(name, 1) for name in names)))
                if number % LINE and (not kept or any(map(indices, kept))):
                    return None
                if number % LINE:
                    found.append(simplify(product((Constant(number), *kept))))
        return found

    def _count(self, count: Expr | None, most: int, per: int) -> str:
        if count is None:
            return str(most)
        self.used.append(count)
        return self.words.text(simplify(Mul(count, Constant(per))))

    def _named(self, table: tree.Table, kind: str) -> str:
        if table not in self.tables:
            number = sum(name.startswith(kind) for name in self.tables.values())
            self.tables[table] = f"{kind}{number + 1}" if number else kind
        return self.tables[table]


def _apart(move: tree.Move, call: Call, width: int) -> list[Expr] | None:
    """How far apart are the columns of a move; nothing where a column is less than a line.

    Shorter ones that are written side by side are taken for one.
    """
    strides, column = [step.stride for step in move.columns], call.e * call.rows
    if column % LINE == 0:
        return strides
    first = in_bytes(move.columns[:1], width)
    return strides[1:] if first and same(first[0].stride, Constant(column)) else None


def _is_long(count: Expr) -> bool:
    """Whether a run is longer than what a kernel moves: one of unknown length is taken to be."""
    return not isinstance(count, Constant) or count.value >= LONG
