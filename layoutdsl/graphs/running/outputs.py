"""Outputs of a whole model, beside those of what it became.

How far apart they may be is measured on the original: run as it is and as fast as can be, it adds
up in different orders. Where operators round, it is run on inputs that are moved a little, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf, nan, prod
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.graphs.emitting.physical import Emission
from layoutdsl.graphs.graph import Array, Graph, Node
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.placings.packing import unpacked
from layoutdsl.graphs.planning.costs import width
from layoutdsl.graphs.running.onnx_parts import model_of_nodes
from layoutdsl.graphs.running.onnx_run import Effort, OriginalError, RunError, runner
from layoutdsl.graphs.running.onnx_sections import run_anyhow, run_in_sections
from layoutdsl.graphs.running.samples import (
    NUDGE,
    ULPS,
    Trial,
    apart_on_average,
    far_apart,
    is_blank,
    near,
    nudged,
)
from layoutdsl.graphs.running.stretches import bytes_of, room
from layoutdsl.graphs.running.trying import laid, refuse_other_shapes

Measure: TypeAlias = Callable[[Array, Array], float]
"""How far apart a result is from what is expected."""

NOISES, MEAN_NOISES = 4, 2
"""How many times what the original differs from itself outputs may, at most and on average.

That it is run twice is one draw of many; a mean over all elements varies less than the largest.
"""

EFFORTS: tuple[Effort, ...] = ("as it is", "prepacked")
"""How the original is run besides, to see how far it is from itself."""

FLOOR = 10
"""How many times what a single node may differ by outputs may at least."""

STEPS = frozenset(
    {"Round", "Floor", "Ceil", "Sign", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
    | {"QuantizeLinear", "DynamicQuantizeLinear", "ArgMax", "ArgMin", "TopK", "Mod", "Hardmax"}
    | {"IsInf", "IsNaN", "NonMaxSuppression", "RoiAlign", "Shrink"}
)
"""Operators of which a difference in the last bit may make a whole step."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How far outputs are from the original's.

    Attributes:
        apart: the largest or mean difference of the output that is furthest off, relative.
        allowed: for that output.
        sensitivity: how far apart the original's outputs are for two inputs.
        on_average: whether differences are means, as operators round.
        unrun: sentences about what was not compared as it should be.
        undecided: sentences about outputs that show nothing.
    """

    apart: float
    allowed: float
    sensitivity: float
    on_average: bool
    unrun: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether an output is further off than it may be."""
        return self.apart > self.allowed


def compare_outputs(
    model: Model, emission: Emission, result: Any, weights: Mapping[str, Array], trial: Trial
) -> Compared:
    """Return how far apart outputs are, and how far they may be.

    Raises:
        OriginalError: the original cannot be run on the inputs.
        RunError: what it became cannot.
    """
    graph = model.graph
    one, other = (trial.inputs(graph, seed, model.defaults) for seed in (0, 1))
    wanted = [
        name
        for name in dict.fromkeys(graph.outputs)
        if name not in one and name not in graph.constants and graph.values[name].dtype is not None
    ]
    if not wanted:
        return Compared(0.0, 0.0, 0.0, on_average=False)
    original = _Original(model, wanted)
    expected = original.run(one)
    refuse_other_shapes(expected, graph)
    rounded = stepped(graph)
    measures = {name: apart_on_average if name in rounded else far_apart for name in wanted}
    noise = _noise(original, one, expected, measures)
    moved = dict[str, Array]()
    with suppress(RunError):  # another input like the caller's need not be one that it takes
        moved = original.run(other)
    laid_out = {
        name: prod(each.extents) * width(graph.values[each.value])
        for name, each in emission.tensors.items()
    }
    feeds = {name: laid(emission.tensors[name], one, graph, "said") for name in one}
    found = _run(model, result, feeds, wanted, weights, laid_out)
    worst, sensitivity, undecided = (nan, nan, False), nan, list[str]()
    for name in wanted:
        measure, drift = measures[name], noise[name]
        tensor, apart = emission.tensors[name], inf
        placing = tensor.held.placing
        if found[name].shape == tensor.extents:
            buffer = found[name].reshape(placing.physical_shape)
            apart = measure(unpacked(buffer, placing), expected[name])
        if is_blank(expected[name]) and (apart == 0 or drift > 0):
            undecided.append(f"output `{name}` of the original has no finite number, {FEED}")
            continue
        away = measure(moved[name], expected[name]) if moved else nan
        sensitivity = _larger(sensitivity, away)
        floor = FLOOR * near(expected[name].dtype)
        if trial.rtol is None and not drift <= max(floor, away / 2 if moved else inf):
            words = f"output `{name}` of the original differs by {drift:.2g} from itself"
            undecided.append(f"{words} when it is run in another way, and shows nothing, {FEED}")
            continue
        allowed = drift + floor if trial.rtol is None else trial.rtol
        if not apart - allowed <= worst[0] - worst[1]:
            worst = apart, allowed, name in rounded
    apart, allowed, mean = worst
    return Compared(apart, allowed, sensitivity, mean, original.unrun, tuple(undecided))


FEED = "with these inputs; give others with --feed inputs.npz"


def stepped(graph: Graph) -> frozenset[str]:
    """Return the values in which a difference in the last bit may have become a step."""
    found = set[str]()
    for node in graph.nodes:
        if _is_step(node) or not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return frozenset(found - {""})


def _is_step(node: Node) -> bool:
    if node.operator == "Cast":
        return node.attributes.get("to") != 1
    return node.operator in STEPS or node.opaque or "QLinear" in node.operator


def _larger(one: float, other: float) -> float:
    return other if np.isnan(one) else max(one, other) if not np.isnan(other) else one


def _noise(
    original: _Original,
    feeds: Mapping[str, Array],
    expected: Mapping[str, Array],
    measures: Mapping[str, Measure],
) -> dict[str, float]:
    """How far outputs of the original may be from themselves, by their names."""
    if runner().name == "onnxruntime":
        others = [original.run(feeds, effort) for effort in EFFORTS]
    else:
        others = [original.run(nudged(feeds, ULPS, 0))]
    found = dict[str, float]()
    for name, measure in measures.items():
        times = NOISES if measure is far_apart else MEAN_NOISES
        found[name] = times * max(measure(other[name], expected[name]) for other in others)
    rounded = [name for name, measure in measures.items() if measure is apart_on_average]
    for seed in (1, 2) if rounded else ():
        moved = original.run(nudged(feeds, NUDGE, seed))
        for name in rounded:
            found[name] = max(found[name], apart_on_average(moved[name], expected[name]))
    return found


class _Original:
    """The model that was read: as it was written, before anything was raised.

    Attributes:
        unrun: a sentence, where that cannot be run and what it was raised to is.
    """

    def __init__(self, model: Model, wanted: Sequence[str]) -> None:
        self._model, self._wanted = model, wanted
        graph = model.graph
        self._sizes = {name: bytes_of(graph, name) for name in graph.values}
        self._older = model.older
        self._raised = model_of_nodes(model, graph.nodes, _fed(graph), wanted)
        self.unrun = tuple[str, ...]()

    def run(self, feeds: Mapping[str, Array], effort: Effort = "optimised") -> dict[str, Array]:
        """Return what it makes of inputs.

        Raises:
            OriginalError: it cannot be run.
        """
        older = self._older
        if older is not None:
            try:
                return self._made(older.proto, older.weights, feeds, effort)
            except RunError as error:
                words = f"nothing here runs the model as it is written, of opset {older.version}"
                words += ", so that what the package onnx raised it to was compared"
                self.unrun, self._older = (f"{words}: {error}",), None
        try:
            return self._made(*self._raised, feeds, effort)
        except RunError as error:
            raise OriginalError(str(error)) from None

    def _made(
        self, proto: Any, weights: Mapping[str, Array], feeds: Mapping[str, Array], effort: Effort
    ) -> dict[str, Array]:
        return _run(self._model, proto, feeds, self._wanted, weights, self._sizes, effort)


def _fed(graph: Graph) -> tuple[str, ...]:
    return tuple(name for name in graph.inputs if graph.values[name].dtype is not None)


def _run(
    model: Model,
    whole: Any,
    feeds: Mapping[str, Array],
    wanted: Sequence[str],
    weights: Mapping[str, Array],
    sizes: Mapping[str, int],
    effort: Effort = "optimised",
) -> dict[str, Array]:
    """What a model makes, or what it became: in sections, where all values are tensors."""
    if any(each.dtype is None for each in model.graph.values.values()):
        return run_anyhow(whole, feeds, wanted, weights, effort)
    return run_in_sections(whole, feeds, wanted, weights, sizes, room(model.graph), effort)
