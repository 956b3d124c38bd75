"""Whether a graph, as it was read at several batches, is the same but for extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from layoutdsl.graphs.emitting.following import (
    FixedBatchError,
    generalised,
    numbers_of,
    same_array,
    same_attributes,
    times,
)
from layoutdsl.graphs.emitting.lines import Repeated, Traced, value_at
from layoutdsl.graphs.graph import Array, Graph


def refuse_other_graphs(graphs: Sequence[Graph], batches: Sequence[int]) -> None:
    """Look whether a graph is the same at several batches but for extents and constants.

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


def refuse_other_constants(
    graphs: Sequence[Graph], batches: Sequence[int], lines: Mapping[str, Traced]
) -> None:
    """Look whether what is known beforehand is known for every batch.

    Args:
        graphs: the same but for extents and constants.
        batches: at which they were read.
        lines: constants that the batch has a part in.

    Raises:
        FixedBatchError: it is not.
    """
    first = graphs[0]
    unknown = set[str]()
    for name, array in first.constants.items():
        others = [each.constants[name] for each in graphs]
        found = lines.get(name)
        if name in lines and found is None:
            unknown.add(name)
        if found is not None:
            if not all(
                _is(each, found, batch) for each, batch in zip(others, batches, strict=True)
            ):
                raise FixedBatchError(f"the constant `{name}` does not follow the batch")
        elif not all(same_array(array, each) for each in others):
            if numbers_of(others, batches) is None:
                raise FixedBatchError(f"the constant `{name}` does not follow the batch")
            unknown.add(name)
    for node in first.nodes:
        for place, name in enumerate(node.inputs):
            # what a `Reshape` is told of the batch it finds by itself
            odd = name in unknown and (node.operator, place) != ("Reshape", 1)
            if odd or (node.opaque and name in lines):
                raise FixedBatchError(
                    f"{node.operator} takes `{name}`, which may be anything at another batch"
                )


def _is(array: Array, found: Array | Repeated, batch: int) -> bool:
    """Whether a constant is at some batch what was worked out for every batch."""
    if isinstance(found, Repeated):
        return array.shape == tuple(value_at(each, batch) for each in found.extents)
    wanted = [value_at(each, batch) for each in found.reshape(-1).tolist()]
    return array.shape == found.shape and array.reshape(-1).tolist() == wanted


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
        if any(each.dtype is None for each in (made, *given)):
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
