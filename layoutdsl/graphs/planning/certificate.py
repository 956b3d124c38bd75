"""The program of a graph, and what proves in plain integers that no plan costs less.

A plan chooses one variant of each node, and moves values whose readers want them otherwise than
their makers have them. As a linear program: ``z[node, variant] >= 0`` with one whole variant for
each node, ``t[value, held] >= 0`` for each move, and for each reader, value and way to hold it

    the variants that need it  <=  the variants that make it + its moves + its refills.

A dual is an integer for each row. By weak duality it is a bound, whoever found it, and this file is
all that has to be believed: `Program.bound` adds up what no plan can avoid, and imports no solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.planning.costs import (
    makers_of,
    may_refill,
    moved_bytes,
    needs_of,
    price,
    refilled_bytes,
)
from layoutdsl.graphs.variants import Held, Variants


@dataclass(frozen=True, slots=True)
class Chosen:
    """A column: a variant of a node; of the node behind the last, what the caller takes."""

    node: int
    variant: int


@dataclass(frozen=True, slots=True)
class Moved:
    """A column: a value moved, from any way in which it is there, or refilled from ``source``."""

    value: str
    source: Held | None
    target: Held


Column: TypeAlias = Chosen | Moved


@dataclass(frozen=True, slots=True)
class Program:
    """What is minimised: ``costs * x`` over ``x >= 0``.

    Attributes:
        readers: the first so many rows are equations, one for each node and one for the caller:
            what they sum up to is 1. All other rows are inequalities: at most 0.
        rows: how many there are.
        columns: what they stand for.
        costs: of each column.
        entries: of each column, its numbers by their rows.
    """

    readers: int
    rows: int
    columns: tuple[Column, ...]
    costs: tuple[int, ...]
    entries: tuple[tuple[tuple[int, int], ...], ...]

    def bound(self, dual: Sequence[int], scale: int) -> int | str:
        """Return what no plan can cost less than, or why the numbers prove nothing.

        Args:
            dual: a number for each row.
            scale: they are so many times what they stand for, as some duals are fractions.
        """
        if len(dual) != self.rows or scale < 1:
            return f"the certificate has {len(dual)} numbers for {self.rows} rows"
        for row in range(self.readers, self.rows):
            if dual[row] > 0:
                return f"row {row} is an inequality, and its number {dual[row]} is above 0"
        for column, cost, entries in zip(self.columns, self.costs, self.entries, strict=True):
            paid = sum(dual[row] * number for row, number in entries)
            if paid > cost * scale:
                return f"{told(column)} would cost {cost}, and the certificate asks {paid}/{scale}"
        return -(-sum(dual[: self.readers]) // scale)


def told(column: Column) -> str:
    """Return what a column stands for, in words."""
    match column:
        case Chosen(node, variant):
            return f"variant {variant} of node {node}"
        case Moved(value, None, target):
            return f"moving `{value}` to {target.placing}"
        case Moved(value, _, target):
            return f"refilling `{value}` in {target.placing}"


def program_of(
    graph: Graph, variants: Variants, given: Mapping[str, Held], wanted: Mapping[str, Held]
) -> Program:
    """Return the program of a graph.

    Args:
        graph: of nodes and values.
        variants: of each node, in its order.
        given: how the inputs lie that the caller gives.
        wanted: how the outputs lie that the caller takes.
    """
    return _Building(graph, variants, given, wanted).program()


class _Building:
    """A program while it is put together, row by row."""

    def __init__(
        self,
        graph: Graph,
        variants: Variants,
        given: Mapping[str, Held],
        wanted: Mapping[str, Held],
    ) -> None:
        self.graph, self.given = graph, given
        self.makers = makers_of(graph, variants)
        self.maker = {value: node.number for node in graph.nodes for value in node.outputs if value}
        self.needs = needs_of(graph, variants, wanted)
        counts = [*(len(ways) for ways in variants), 1]
        self.readers = self.rows = len(counts)
        self.entries: dict[Column, list[tuple[int, int]]] = {
            Chosen(reader, number): [(reader, 1)]
            for reader, count in enumerate(counts)
            for number in range(count)
        }

    def program(self) -> Program:
        """Add the rows of all needs, then of all refills, and return what comes out."""
        for reader, needs in enumerate(self.needs):
            for (value, held), numbers in needs.items():
                if self.given.get(value) != held:
                    self._need(reader, value, held, numbers)
        for column in [each for each in self.entries if isinstance(each, Moved)]:
            if column.source is not None and column.value not in self.given:
                self._refill(column, column.source)
        columns = tuple(self.entries)
        return Program(
            self.readers,
            self.rows,
            columns,
            tuple(map(self._cost, columns)),
            tuple(map(tuple, self.entries.values())),
        )

    def _need(self, reader: int, value: str, held: Held, numbers: tuple[int, ...]) -> None:
        row = self._row()
        for number in numbers:
            self.entries[Chosen(reader, number)].append((row, 1))
        self._supply(row, value, held)
        for column in self._moves(value, held):
            self.entries.setdefault(column, []).append((row, -1))

    def _moves(self, value: str, held: Held) -> Iterator[Moved]:
        if self.graph.values[value].dtype is None:
            return
        yield Moved(value, None, held)
        made = [self.given[value]] if value in self.given else list(self.makers.get(value, {}))
        for source in made:
            if source != held and may_refill(source, held):
                yield Moved(value, source, held)

    def _refill(self, column: Moved, source: Held) -> None:
        """What is refilled has to be made so."""
        row = self._row()
        self.entries[column].append((row, 1))
        self._supply(row, column.value, source)

    def _supply(self, row: int, value: str, held: Held) -> None:
        for number in self.makers.get(value, {}).get(held, ()):
            self.entries[Chosen(self.maker[value], number)].append((row, -1))

    def _row(self) -> int:
        self.rows += 1
        return self.rows - 1

    def _cost(self, column: Column) -> int:
        match column:
            case Chosen():
                return 0
            case Moved(value, None, target):
                return price(moved_bytes(self.graph.values[value], target))
            case Moved(value, _, target):
                return price(refilled_bytes(self.graph.values[value], target))
