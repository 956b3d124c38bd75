"""``keeps RUN contiguous`` and ``aligns RUN to N bytes``: elements that lie next to each other."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TypeAlias, TypeVar

from layoutdsl.language.integers.expr import Coordinate, Expr, coordinate_text
from layoutdsl.language.integers.value import horner
from layoutdsl.language.meaning.claims import Aligns, Keeps
from layoutdsl.language.meaning.counterexample import example_at, point_at
from layoutdsl.language.meaning.elements import BIT
from layoutdsl.language.meaning.shapes import Values, bind_index, indices
from layoutdsl.proof.properties.property import Property, Statement, ground_of, packed, spoken_of
from layoutdsl.proof.refute.refute import At, Examples
from layoutdsl.proof.statements import claim_statement
from layoutdsl.proof.statements.run_statement import Start, flat, start_of
from layoutdsl.proof.statements.terms import NotExpressible

R = TypeVar("R", Keeps, Aligns)

Place: TypeAlias = tuple[tuple[int, ...], Values]
"""An index, and what all names stand for there."""


class _OfRun(Property[R]):
    """What is said of runs: elements whose indices differ in some digits only."""

    @cached_property
    def start(self) -> Start:
        return start_of(self.predicate.run)

    @cached_property
    def run(self) -> tuple[Coordinate, ...]:
        return flat(self.predicate.run)

    @property
    def written(self) -> str:
        return ", ".join(map(coordinate_text, self.predicate.run))

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return tuple(each.value for each in self.predicate.run)

    @property
    def divided(self) -> tuple[Expr, ...]:
        return (*spoken_of(self.layout), *self.exprs)

    def tries(self) -> At | None:
        try:
            _ = self.start
        except NotExpressible:
            return None
        return self._at

    def _at(self, values: Values) -> Examples:
        for index in indices(self.layout, values):
            found = self._broken(values, (index, bind_index(self.layout, values, index)))
            if found:
                return found
        return {}

    @abstractmethod
    def _broken(self, values: Values, here: Place) -> Examples:
        """Return what is wrong at an index."""

    def _begin(self, here: Place) -> Place:
        """Where the run starts that an index lies in."""
        begin = self.start.at(here[1])
        return tuple(begin[axis.name] for axis in self.layout.axes), begin


class Contiguous(_OfRun[Keeps]):
    """Every element lies as far from the start of its run as the digits of the run say."""

    words = "keeps the run contiguous"
    theorems = ("contiguous",)

    def statement(self) -> Statement:
        ground = ground_of(self.layout)
        theorem = claim_statement.keeps(ground, self.predicate)
        return Statement(ground, theorem, self.divided, self.start)

    def _broken(self, values: Values, here: Place) -> Examples:
        begin = self._begin(here)
        offset, first = (self.layout.offset_at(bound) for _, bound in (here, begin))
        if offset == first + horner(self.run, here[1]):
            return {}
        sentence = f"`{self.layout.name}` does not keep {self.written} contiguous"
        one = point_at(self.layout, begin[0], f"-> offset {first}")
        other = point_at(self.layout, here[0], f"-> offset {offset}")
        return {self.words: example_at(values, sentence, one, other)}

    def holds_at(self, values: Values) -> bool:
        from layoutdsl.proof.refute import grid

        return grid.whole_runs(self.layout, self.start, self.run, values)


class Aligned(_OfRun[Aligns]):
    """Every run starts at a multiple of so many bytes."""

    theorems = ("aligned",)

    @property
    def words(self) -> str:
        return f"aligns the run to {self.predicate.bytes} bytes"

    @property
    def conditions(self) -> tuple[str, ...]:
        element, number = self.predicate.element, self.predicate.bytes
        buffer = f"the buffer starts at a multiple of {number} bytes"
        return (buffer,) if element == BIT else (buffer, *packed(element.bits, element.name))

    def statement(self) -> Statement:
        ground = ground_of(self.layout)
        theorem = claim_statement.aligns(ground, self.predicate)
        return Statement(ground, theorem, self.divided, self.start)

    def _broken(self, values: Values, here: Place) -> Examples:
        begin = self._begin(here)
        first = self.layout.offset_at(begin[1])
        address = first * self.predicate.element.bits
        if address % (8 * self.predicate.bytes) == 0:
            return {}
        many = f"{self.predicate.bytes} bytes"
        sentence = f"`{self.layout.name}` does not align {self.written} to {many}"
        point = point_at(self.layout, begin[0], f"-> offset {first}, address {_bytes(address)}")
        return {self.words: example_at(values, sentence, point)}

    def holds_at(self, values: Values) -> bool:
        from layoutdsl.proof.refute import grid

        bits = (self.predicate.element.bits, 8 * self.predicate.bytes)
        return grid.aligned_runs(self.layout, self.start, bits, values)


def _bytes(bits: int) -> str:
    return f"{bits // 8}" if bits % 8 == 0 else f"{bits // 8} and {bits % 8} bits"
