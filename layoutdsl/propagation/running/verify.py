"""What came out of a plan, run: each part alone, and then the whole beside the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any, Literal, TypeAlias

from layoutdsl.propagation.emitting.following import FixedBatchError
from layoutdsl.propagation.emitting.physical import Emission, Step
from layoutdsl.propagation.graph import Array, Graph
from layoutdsl.propagation.models.onnx_read import Model
from layoutdsl.propagation.running.at_batches import at_batch
from layoutdsl.propagation.running.foreign import foreign_nodes, nodes_without_kernels
from layoutdsl.propagation.running.onnx_run import KERNELS, NONE, RunError, block
from layoutdsl.propagation.running.outputs import compare_outputs
from layoutdsl.propagation.running.trying import Findings, try_all

Way: TypeAlias = Literal["nodes", "outputs"]

NEAR_OUTPUTS = 1e-3
"""How far apart outputs may be, where all differences add up."""

STEP = 0.5
"""The same where an operator is a step: what lies at its edge may fall to either side."""

STEPS = frozenset(
    {"Round", "Floor", "Ceil", "Sign", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
    | {"QuantizeLinear", "DynamicQuantizeLinear", "ArgMax", "ArgMin", "TopK", "Mod", "Hardmax"}
    | {"QLinearConv", "QLinearMatMul", "IsInf", "IsNaN", "NonMaxSuppression", "RoiAlign", "Shrink"}
)

MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found when it was run.

    Attributes:
        way: `nodes`: each alone, and outputs; or outputs only.
        nodes: that were held against the original's, each alone.
        exact: those of which every bit was the same.
        worst: the largest difference, relative to the largest number of the value.
        where: what it was found in.
        outputs: the largest difference of the outputs of the whole.
        sensitivity: how far apart the original's outputs are for two inputs; what is smaller in
            `outputs` shows little where this is small.
        faults: sentences; none where all is well.
        unrun: sentences about what nothing here runs, or not twice alike.
        batches: at which outputs were compared besides, where the batch is open.
    """

    way: Way
    nodes: int
    exact: int
    worst: float
    where: str
    outputs: float
    sensitivity: float
    faults: tuple[str, ...]
    unrun: tuple[str, ...] = ()
    batches: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Return whether everything was run, and nothing is wrong."""
        return not self.faults and not self.unrun


def verified(
    model: Model,
    emission: Emission,
    result: Any,
    way: Way = "nodes",
    weights: Mapping[str, Array] = NONE,
    others: Mapping[int, Model] | None = None,
) -> Verified:
    """Return what is found when a model and what it became are run.

    Args:
        model: that was read.
        emission: of it.
        result: the model that this was written as.
        way: whether nodes are run alone, too.
        weights: of the result that are not in it.
        others: the model at batches that were not planned, where the batch is open.

    Raises:
        FixedBatchError: the batch is open, and something cannot be run at one of these.
    """
    foreign = foreign_nodes(model)
    try:
        found = _seen(model, emission, result, way, weights, others or {}, foreign)
    except RunError as error:
        more = nodes_without_kernels(model, foreign)
        if others is not None and not more:
            raise FixedBatchError(f"it cannot be run at every batch: {error}") from None
        foreign |= more
        found = _Seen(way, Findings(faults=[f"it cannot be run: {error}"]))
        if more:
            found = _without(model, emission, result, way, weights, foreign)
    parts = found.parts
    return Verified(
        found.way,
        parts.nodes,
        parts.exact,
        parts.worst,
        parts.where,
        found.outputs,
        found.sensitivity,
        tuple(parts.faults[:MOST_FAULTS]),
        (*found.unrun, *dict.fromkeys(foreign.values())),
        found.batches,
    )


def _without(
    model: Model,
    emission: Emission,
    result: Any,
    way: Way,
    weights: Mapping[str, Array],
    foreign: Mapping[int, str],
) -> _Seen:
    """What is found of all nodes but those that nothing here runs; nothing where that fails too."""
    try:
        return _seen(model, emission, result, way, weights, {}, foreign)
    except RunError:  # numbers of a type that do not even get there
        return _Seen(way)


@dataclass(slots=True)
class _Seen:
    """What is found so far, as `Verified` has it."""

    way: Way
    parts: Findings = field(default_factory=Findings)
    outputs: float = nan
    sensitivity: float = nan
    batches: tuple[int, ...] = ()
    unrun: tuple[str, ...] = ()


def _seen(
    model: Model,
    emission: Emission,
    result: Any,
    way: Way,
    weights: Mapping[str, Array],
    others: Mapping[int, Model],
    foreign: Mapping[int, str],
) -> _Seen:
    """Run nodes alone, and the whole where nothing in it is foreign."""
    found = _Seen(way)
    faults = found.parts.faults
    own = block() if _has_kernels(emission) else emission.block
    if own != emission.block:
        words = f"blocks of onnxruntime hold {own or 'no'} channels on this machine"
        found.unrun = (f"all of it: {words}, and those of the plan {emission.block}",)
        return found
    if found.way == "nodes":
        try_all(model, emission, found.parts, frozenset(foreign))
    if foreign:
        return found
    found.outputs, found.sensitivity, found.unrun = compare_outputs(
        model, emission, result, weights
    )
    apart = STEP if _has_steps(model.graph) else NEAR_OUTPUTS
    if not found.outputs <= apart:
        faults.append(f"outputs of the whole differ by {found.outputs:.2g}, relative")
    for number, each in others.items():
        here = at_batch(emission, each.graph, number)
        differ, _, unrun = compare_outputs(each, here, result, weights)
        found.unrun = tuple(dict.fromkeys((*found.unrun, *unrun)))
        if not differ <= apart:
            faults.append(f"at batch {number} outputs differ by {differ:.2g}, relative")
        found.outputs = max(found.outputs, differ)
        found.batches = (*found.batches, number)
    return found


def _has_steps(graph: Graph) -> bool:
    """Whether a difference of one rounding can become any other: outputs are then no evidence."""
    whole = any(node.operator == "Cast" and node.attributes.get("to") != 1 for node in graph.nodes)
    names = {node.operator for node in graph.nodes}
    return whole or bool(names & STEPS) or any("QLinear" in name for name in names)


def _has_kernels(emission: Emission) -> bool:
    steps = (step for part in emission.parts for step in part.work if isinstance(step, Step))
    return any(step.operator.startswith(KERNELS) for step in steps)
