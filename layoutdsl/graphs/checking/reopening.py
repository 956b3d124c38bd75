"""A plan of one batch, opened for all: who writes and who checks go this way, without search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice

from layoutdsl.graphs.checking.remaking import Emit, emission_of
from layoutdsl.graphs.emitting.at_any_batch import refuse_other_constants, refuse_other_graphs
from layoutdsl.graphs.emitting.following import FixedBatchError
from layoutdsl.graphs.emitting.lines import Traced
from layoutdsl.graphs.emitting.opening import opened
from layoutdsl.graphs.emitting.physical import Emission
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.models.onnx_batch import OpenBatch
from layoutdsl.graphs.models.onnx_faults import UnfitModelError
from layoutdsl.graphs.models.onnx_lines import lines_of
from layoutdsl.graphs.models.onnx_read import Model, Source, model_at
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.costs import costed
from layoutdsl.graphs.ways.ways import Ways
from layoutdsl.language.meaning.model import Layout

SINGLE = 1
"""The batch that is never planned: digits of extent 1 are dropped, and axes of it repeated."""


@dataclass(frozen=True, slots=True)
class Batches:
    """A model at batches that stand for all.

    Attributes:
        first: at the one that is planned.
        second: at one more, at which the same plan is written.
        numbers: those two: the smallest primes that are no extent of the model.
        name: of the batch.
        lines: constants that the batch has a part in, for every batch.
    """

    first: Model
    second: Model
    numbers: tuple[int, int]
    name: str
    lines: Mapping[str, Traced]


@dataclass(frozen=True, slots=True)
class Reopened:
    """What a plan comes to where the batch is open.

    Attributes:
        emission: right for every batch.
        each: bytes that are moved for each picture more.
    """

    emission: Emission
    each: int


def batches_of(source: Source, batch: OpenBatch, single: Model) -> Batches:
    """Return a model at two batches that tell whatever has the batch in it from what has not.

    Args:
        source: the model.
        batch: that it leaves open.
        single: the model at batch 1.

    Raises:
        FixedBatchError: it is another graph at another batch.
    """
    one, other = islice(_primes(single.graph), 2)
    first, second = (model_of(source, batch, each) for each in (one, other))
    graphs = [each.graph for each in (first, second, single)]
    numbers = (one, other, SINGLE)
    refuse_other_graphs(graphs, numbers)
    lines = lines_of(first, graphs, numbers, source.weights)
    refuse_other_constants(graphs, numbers, lines)
    return Batches(first, second, (one, other), batch.name, lines)


def model_of(source: Source, batch: OpenBatch, number: int) -> Model:
    """Return a model at a batch.

    Raises:
        FixedBatchError: it was written for another one.
    """
    try:
        return model_at(source, batch.at(number))
    except UnfitModelError as unfit:
        raise FixedBatchError(f"it cannot be read at batch {number}: {unfit.message}") from None


def _primes(graph: Graph) -> Iterator[int]:
    """Primes that are no extent of any value."""
    extents = {extent for value in graph.values.values() for extent in value.shape}
    for number in count(2):
        if number not in extents and all(number % each for each in range(2, number)):
            yield number


def reopened(
    batches: Batches,
    made: tuple[Ways, Plan, Emission],
    chosen: tuple[int, ...],
    ask: Callable[[Graph], Ways],
    named: tuple[Iterable[Layout], Emit],
) -> Reopened:
    """Return what a plan comes to where the batch is open.

    Args:
        batches: the model at two batches.
        made: the ways to run it at the first, the plan, and what that comes to.
        chosen: the number of the variant of each node.
        ask: all ways to run a graph.
        named: layouts that give operators their names, and what is to come out.

    Raises:
        FixedBatchError: it is right for one batch only.
    """
    ways, plan, emission = made
    graph = batches.second.graph
    found = ask(graph)
    if [len(each) for each in found.variants] != [len(each) for each in ways.variants]:
        raise FixedBatchError("there are other ways to run it at another batch")
    variants, cost, moves = costed(graph, found.variants, found.given, found.wanted, chosen)
    other = emission_of(batches.second, found, Plan(variants, moves, cost, 0, ()), *named)
    result = opened(emission, other, batches.name, batches.numbers, batches.lines)
    more = sum(each.moved for each in moves) - sum(each.moved for each in plan.conversions)
    return Reopened(result, more // (batches.numbers[1] - batches.numbers[0]))
