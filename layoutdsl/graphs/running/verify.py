"""What came out of a plan, run: each part alone, and then the whole beside the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any, Literal, TypeAlias

from layoutdsl.graphs.emitting.following import FixedBatchError
from layoutdsl.graphs.emitting.physical import Emission, Step
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.running.at_batches import at_batch
from layoutdsl.graphs.running.foreign import foreign_nodes, nodes_without_kernels
from layoutdsl.graphs.running.onnx_parts import Some
from layoutdsl.graphs.running.onnx_run import KERNELS, NONE, OriginalError, RunError, block
from layoutdsl.graphs.running.outputs import FEED, Compared, compare_outputs
from layoutdsl.graphs.running.samples import Trial
from layoutdsl.graphs.running.stretches import bytes_of
from layoutdsl.graphs.running.trying import Findings, try_all

Way: TypeAlias = Literal["nodes", "outputs"]

DRAWN = Trial()
"""All inputs drawn, and outputs as near as the original is to itself."""

MOST_FED = 1 << 34
"""Bytes of all inputs together that are drawn and run here."""

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
        outputs: the largest difference of the outputs of the whole, or the mean one.
        sensitivity: how far apart the original's outputs are for two inputs; what is smaller in
            `outputs` shows little where this is small.
        faults: sentences; none where all is well.
        unrun: sentences about what nothing here runs, or not twice alike.
        batches: at which outputs were compared besides, where the batch is open.
        allowed: how large `outputs` may be.
        on_average: whether differences of outputs are means, as operators of the model round.
        undecided: sentences about why outputs show nothing on these inputs.
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
    allowed: float = nan
    on_average: bool = False
    undecided: tuple[str, ...] = ()

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
    trial: Trial = DRAWN,
) -> Verified:
    """Return what is found when a model and what it became are run.

    Args:
        model: that was read.
        emission: of it.
        result: the model that this was written as.
        way: whether nodes are run alone, too.
        weights: of the result that are not in it.
        others: the model at batches that were not planned, where the batch is open.
        trial: what the caller feeds and allows.

    Raises:
        FixedBatchError: the batch is open, and something cannot be run at one of these.
    """
    foreign = foreign_nodes(model)
    own = Some(weights, tuple(name for name in weights if name not in model.defaults))
    running = _Running(model, emission, result, way, own, trial)
    fed = sum(bytes_of(model.graph, name) for name in model.graph.inputs)
    try:
        if fed > MOST_FED:
            raise MemoryError(f"inputs have {fed} bytes, and {MOST_FED} are the most")
        found = running.seen(others or {}, foreign)
    except MemoryError as error:
        found = _Seen(way, undecided=(f"it does not fit in the memory here: {error}",))
    except RunError as error:
        more = nodes_without_kernels(model, foreign)
        if others is not None and not more:
            raise FixedBatchError(f"it cannot be run at every batch: {error}") from None
        foreign |= more
        if more:
            found = running.without(foreign)
        elif isinstance(error, OriginalError):
            words = f"the model that was read cannot be run {FEED}: {error}"
            found = _Seen(way, undecided=(words,))
        else:
            found = _Seen(way, Findings(faults=[f"it cannot be run: {error}"]))
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
        found.allowed,
        found.on_average,
        found.undecided,
    )


@dataclass(slots=True)
class _Seen:
    """What is found so far, as `Verified` has it."""

    way: Way
    parts: Findings = field(default_factory=Findings)
    outputs: float = nan
    sensitivity: float = nan
    batches: tuple[int, ...] = ()
    unrun: tuple[str, ...] = ()
    allowed: float = nan
    on_average: bool = False
    undecided: tuple[str, ...] = ()

    def add(self, found: Compared, where: str) -> None:
        """Take what was found of outputs, at the batch that was planned or at another one."""
        if found.is_wrong:
            mean = " on average" if found.on_average else ""
            words = f"{where} differ by {found.apart:.2g}{mean}, relative"
            self.parts.faults.append(f"{words}; {found.allowed:.2g} is allowed, or --rtol")
        if not self.outputs - self.allowed >= found.apart - found.allowed:
            self.outputs, self.allowed = found.apart, found.allowed
        self.on_average = found.on_average
        self.unrun = tuple(dict.fromkeys((*self.unrun, *found.unrun)))
        self.undecided = tuple(dict.fromkeys((*self.undecided, *found.undecided)))


@dataclass(frozen=True)
class _Running:
    """A model and what it became, to be run."""

    model: Model
    emission: Emission
    result: Any
    way: Way
    weights: Mapping[str, Array]
    trial: Trial

    def without(self, foreign: Mapping[int, str]) -> _Seen:
        """Run all nodes together, except those that nothing here runs, and return what was seen."""
        try:
            return self.seen({}, foreign)
        except RunError:  # numbers of a type that do not even get there
            return _Seen(self.way)

    def seen(self, others: Mapping[int, Model], foreign: Mapping[int, str]) -> _Seen:
        """Run nodes alone, and the whole where nothing in it is foreign."""
        found, emission = _Seen(self.way), self.emission
        own = block() if _has_kernels(emission) else emission.block
        if own != emission.block:
            words = f"blocks of onnxruntime hold {own or 'no'} channels on this machine"
            found.unrun = (f"all of it: {words}, and those of the plan {emission.block}",)
            return found
        if found.way == "nodes":
            try_all(self.model, emission, found.parts, frozenset(foreign), self.trial)
        if foreign:
            return found
        compared = self._compared(self.model, emission)
        found.add(compared, "outputs of the whole")
        found.sensitivity = compared.sensitivity
        for number, each in others.items():
            here = at_batch(emission, each.graph, number)
            found.add(self._compared(each, here), f"at batch {number} outputs")
            found.batches = (*found.batches, number)
        return found

    def _compared(self, model: Model, emission: Emission) -> Compared:
        return compare_outputs(model, emission, self.result, self.weights, self.trial)


def _has_kernels(emission: Emission) -> bool:
    steps = (step for part in emission.parts for step in part.work if isinstance(step, Step))
    return any(step.operator.startswith(KERNELS) for step in steps)
