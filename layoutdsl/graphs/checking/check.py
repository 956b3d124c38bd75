"""A model that was planned, checked again: no planner, no solver, and no word of it believed.

Which variants there are is worked out from the model that was planned, by the rules; what was
chosen is in the certificate, and has to cost what it says and no more than the dual proves. What
such a plan comes to is written again and compared with what is there, piece by piece. Weights are
also held against the definition of a placing, element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from layoutdsl.graphs.checking.onnx_compare import different
from layoutdsl.graphs.checking.plan_compare import WrittenPlan, different_plan
from layoutdsl.graphs.checking.remaking import emission_of, wishes_of
from layoutdsl.graphs.checking.reopening import Batches, batches_of, reopened
from layoutdsl.graphs.checking.warrant import Warrant, hash_of
from layoutdsl.graphs.checking.weights import misplaced
from layoutdsl.graphs.emitting.following import FixedBatchError
from layoutdsl.graphs.emitting.physical import Emission
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_batch import open_batch, single
from layoutdsl.graphs.models.onnx_read import Model, Source
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.planning.certificate import program_of
from layoutdsl.graphs.planning.costs import costed
from layoutdsl.graphs.proving.theorems import Theorems, proved_rules, template_of
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.roles.rejoined import follows
from layoutdsl.graphs.ways.ways import Ways, ways
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.operator import Engine

MOST = 20
"""Faults that are named."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found of a model that says how it was planned.

    Attributes:
        nodes: that follow their rules.
        weights: that lie where they have to.
        transforms: that it has.
        bytes: that these move.
        cost: of its plan.
        bound: no plan costs less; `None` where the certificate proves nothing.
        theorems: what is known of the rules; `None` where it did not get that far.
        faults: sentences; none where all is well.
        batches: at which it was written again, where it leaves the batch open; what is said of
            bytes, cost and bound is of the first.
    """

    nodes: int
    weights: int
    transforms: int
    bytes: int
    cost: int
    bound: int | None
    theorems: Theorems | None
    faults: tuple[str, ...]
    batches: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Return `holds`: ``assert check_model(out, against)`` fails where anything is wrong."""
        return self.holds

    @property
    def holds(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.faults


def unreadable(reason: str) -> Checked:
    """Return what is found of a model whose certificate is none."""
    return Checked(0, 0, 0, 0, 0, None, None, (reason,))


def batches_at(source: Source, warrant: Warrant) -> Batches:
    """Return a model at the batches that say of its plan that it holds for all.

    Raises:
        FixedBatchError: they do not.
        UnfitModelError: the model cannot be planned.
    """
    batch = open_batch(source, warrant.shapes)
    if batch is None:
        raise FixedBatchError("the model that was planned leaves no batch open")
    found = batches_of(source, batch, single(source, batch))
    if found.numbers != warrant.batches:
        raise FixedBatchError("it was planned at other batches than tell extents apart")
    return found


@dataclass(frozen=True, slots=True)
class Written:
    """What came out of a plan, in whatever form.

    Attributes:
        different: sentences about what is there, and is not what a plan comes to.
        weights: that are there, where nothing was said of them.
    """

    different: Callable[[Model, Emission], Iterator[str]]
    weights: Callable[[Emission], Mapping[str, Array]]


def model_written(proto: Any, weights: Mapping[str, Array]) -> Written:
    """Return a model as what came out, without its weights and these."""
    return Written(partial(different, proto, weights), lambda _: weights)


def plan_written(plan: WrittenPlan) -> Written:
    """Return a plan in JSON as what came out; its weights are compared byte for byte."""
    return Written(partial(different_plan, plan), lambda emission: emission.constants)


def checked(
    written: Written,
    model: Model,
    warrant: Warrant,
    asked: tuple[Engine, Mapping[str, Layout], Mapping[str, Layout], tuple[Layout, ...]],
    batches: Batches | None = None,
) -> Checked:
    """Return what is found of a model, or of a plan.

    Args:
        written: that is there.
        model: that was planned.
        warrant: what the first says of its plan.
        asked: the engine, the layouts of inputs and of outputs, and those that give names.
        batches: the model at two batches, where it leaves the batch open.
    """
    engine, inputs, outputs, layouts = asked
    graph = model.graph
    wishes = wishes_of(inputs, outputs, warrant.choice, warrant.kind)
    found = ways(graph, engine, wishes)
    faults: list[str] = []
    if warrant.rules != hash_of(engine.rules):
        faults.append("it was planned by other rules of operators than these")
    counts = [len(few) for few in found.variants]
    fits = len(warrant.chosen) == len(counts) and all(
        0 <= number < count for number, count in zip(warrant.chosen, counts, strict=True)
    )
    if not fits:
        faults.append("the certificate chooses variants that there are not")
        return unreadable("; ".join(faults))
    variants, cost, moves = costed(graph, found.variants, found.given, found.wanted, warrant.chosen)
    if cost != warrant.cost:
        faults.append(f"its plan costs {cost}, and the certificate says {warrant.cost}")
    program = program_of(graph, found.variants, found.given, found.wanted)
    bound = program.bound(warrant.numbers, warrant.scale)
    if isinstance(bound, str):
        faults.append(bound)
    elif bound != warrant.bound:
        faults.append(f"its dual proves {bound}, and the certificate says {warrant.bound}")
    plan = Plan(variants, moves, cost, 0, warrant.numbers, warrant.scale)
    faults += _unruled(model, found, plan)
    theorems = proved_rules(graph, found, plan)
    faults += theorems.refuted
    emission = emission_of(model, found, plan, layouts, warrant.kind)
    if batches is not None:
        made, named = (found, plan, emission), (layouts, warrant.kind)
        try:
            emission = reopened(
                batches, made, warrant.chosen, lambda each: ways(each, engine, wishes), named
            ).emission
        except FixedBatchError as fixed:
            faults.append(f"it is not right for every batch: {fixed}")
    faults += written.different(model, emission)
    weights = written.weights(emission)
    own = [each for each in emission.tensors.values() if each.name in weights]
    faults += (fault for each in own for fault in misplaced(each, weights[each.name], model))
    return Checked(
        nodes=len(graph.nodes),
        weights=len(own),
        transforms=len(moves),
        bytes=sum(move.moved for move in moves),
        cost=cost,
        bound=bound if isinstance(bound, int) else None,
        theorems=theorems,
        faults=tuple(dict.fromkeys(faults))[:MOST],
        batches=() if batches is None else batches.numbers,
    )


def _unruled(model: Model, found: Ways, plan: Plan) -> Iterator[str]:
    """Nodes that are run in a way that their rules do not allow."""
    for node, variant in zip(model.graph.nodes, plan.variants, strict=True):
        bound = found.bound[node.number]
        if variant.how in ("anchor", "written") or isinstance(bound, str):
            continue
        if isinstance(bound, Bound) and not follows(bound, template_of(variant)):
            yield f"{node.operator} `{node.name or node.number}` is run as its rule does not allow"
