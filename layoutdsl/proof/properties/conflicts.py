"""``reads 16 bytes by t: 32 at (...) without conflicts``: banks of shared memory, thread by thread.

Of few shapes, and there are few of a tile, all are looked at in plain integers. There is no theorem
that says it: where extents are open it is refuted or undecided.
"""

from __future__ import annotations

from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.banks import WORD, Access, UnreadableError, banks
from layoutdsl.language.meaning.claims import Reads
from layoutdsl.language.meaning.counterexample import Point, example_at
from layoutdsl.language.meaning.shapes import Values
from layoutdsl.proof.properties.property import Property, Statement
from layoutdsl.proof.refute.refute import At, Examples
from layoutdsl.proof.statements.terms import NotExpressible


class ConflictFree(Property[Reads]):
    """No two threads that read together want other words of one bank."""

    words = "reads without conflicts"
    theorems = ("banks",)

    @property
    def conditions(self) -> tuple[str, ...]:
        multiple = max(WORD, self.predicate.reading.bytes)
        return (f"the buffer starts at a multiple of {multiple} bytes",)

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return tuple(expr for _, expr in self.predicate.reading.index)

    def statement(self) -> Statement:
        words = "banks are looked at shape by shape, and the range has too many shapes"
        symbol = next(iter(self.layout.symbols), "N")
        raise NotExpressible(f"{words}: add `where {symbol} == 64`")

    def tries(self) -> At:
        return self._at

    def _at(self, values: Values) -> Examples:
        name = self.layout.name
        try:
            found = banks(self.layout, self.predicate.reading, values)
        except UnreadableError as reason:
            return {self.words: example_at(values, f"of `{name}` {reason}")}
        conflict = found.conflict
        if conflict is None:
            return {}
        sentence = f"`{name}` is read with conflicts: {found.ways}-way, in bank {conflict.bank}"
        points = [self._point(values, each) for each in (conflict.one, conflict.other)]
        return {self.words: example_at(values, sentence, *points)}

    def _point(self, values: Values, access: Access) -> Point:
        offset = self.layout.offset_at({**values, **dict(access.index)})
        last = access.byte + self.predicate.reading.bytes - 1
        bytes_ = f"byte {access.byte}" if last == access.byte else f"bytes {access.byte}..{last}"
        words = f"-> offset {offset}, {bytes_}, for thread {access.thread}"
        return Point(access.index, words)
