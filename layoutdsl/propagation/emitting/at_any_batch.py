"""Whether a graph, as it was read at several batches, is the same but for extents."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from layoutdsl.propagation.emitting.following import (
    FixedBatchError,
    generalised,
    numbers_of,
    same_array,
    same_attributes,
    times,
)
from layoutdsl.propagation.graph import Graph


def refuse_other_graphs(graphs: Sequence[Graph], batches: Sequence[int]) -> None:
    """Look whether a graph is the same at several batches but for extents.

    Raises:
        FixedBatchError: it is not.
    """
    first = graphs[0]
    for each in graphs:
        refuse_misfits(each)
    for other in graphs[1:]:
        for one, two in zip(first.nodes, other.nodes, strict=False):
            heads = [(each.name, each.operator, each.inputs, each.outputs) for each in (one, two)]
            if heads[0] != heads[1] or not same_attributes(one.attributes, two.attributes):
                raise FixedBatchError(f"{one.operator} `{one.name}` is another node at some batch")
        names = [
            (len(each.nodes), set(each.values), set(each.constants)) for each in (first, other)
        ]
        if names[0] != names[1]:
            raise FixedBatchError("its nodes at one batch are not those at another")
    for name, value in first.values.items():
        found = generalised([each.values[name].shape for each in graphs], batches)
        kinds = {each.values[name].dtype for each in graphs}
        if found is None or times(found) > 1 or len(kinds) > 1:
            raise FixedBatchError(f"the shape of `{value.name}` does not follow the batch")
    for name, array in first.constants.items():
        others = [each.constants[name] for each in graphs]
        if all(same_array(array, each) for each in others):
            continue
        if numbers_of(others, batches) is None:
            raise FixedBatchError(f"the constant `{name}` does not follow the batch")


def refuse_misfits(graph: Graph) -> None:
    """Look at what nobody infers: whether a `Reshape` has as many elements as it gets, and whether
    a slope of `PRelu` fits.

    Raises:
        FixedBatchError: one does not: it was written for another batch.
    """
    for node in graph.nodes:
        names = [*node.inputs[: 2 if node.operator == "PRelu" else 1], *node.outputs[:1]]
        if node.operator not in ("Reshape", "PRelu") or not graph.values.keys() >= set(names):
            continue
        *given, made = (graph.values[name] for name in names)
        if None in (made.dtype, *(each.dtype for each in given)):
            continue
        shapes = [each.shape for each in given]
        fits = prod(shapes[0]) == prod(made.shape)
        if not fits or (node.operator == "PRelu" and not _broadcast_to(*shapes)):
            name = f"`{node.name}`" if node.name else f"of `{node.inputs[0]}`"
            raise FixedBatchError(f"{node.operator} {name} was written for another batch")


def _broadcast_to(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether a value is repeated to a shape that stays as it is."""
    try:
        return np.broadcast_shapes(shape, other) == shape
    except ValueError:
        return False
