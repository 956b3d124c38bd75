"""One model, planned: each step from the file to what is known of the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from layoutdsl.code.proved import require_proved
from layoutdsl.commands.asking import Asked
from layoutdsl.commands.propagation import Propagation

if TYPE_CHECKING:
    from layoutdsl.graphs.checking.remaking import Emit
    from layoutdsl.graphs.checking.warrant import Warrant
    from layoutdsl.graphs.emitting.physical import Emission
    from layoutdsl.graphs.graph import Graph
    from layoutdsl.graphs.models.onnx_batch import OpenBatch
    from layoutdsl.graphs.models.onnx_read import Model
    from layoutdsl.graphs.plan import Plan
    from layoutdsl.graphs.roles.anchors import Choice
    from layoutdsl.graphs.running.samples import Trial
    from layoutdsl.graphs.telling.batch import Open
    from layoutdsl.graphs.ways.ways import Ways

Verification: TypeAlias = Literal["nodes", "outputs", "off"]


class Run:
    """One model, and what is asked of it; raises `UnprovedError` for an undecided layout."""

    def __init__(
        self,
        place: Path,
        wanted: Asked,
        shapes: Mapping[str, tuple[int, ...]],
        choice: Choice,
        kind: Emit,
        trial: Trial,
        unproved: bool = False,
    ) -> None:
        from layoutdsl.graphs.models.onnx_batch import open_batch
        from layoutdsl.graphs.models.onnx_read import read_source

        self.wanted, self.shapes, self.choice, self.kind = wanted, shapes, choice, kind
        self.trial, self.unproved = trial, unproved
        self.source = read_source(place, wanted.engine.operators)
        self.open = open_batch(self.source, shapes)

    def propagation(self, verify: Verification) -> Propagation:
        """Plan, prove, emit and verify; at every batch where it is open and can stay so."""
        from layoutdsl.graphs.emitting.following import FixedBatchError
        from layoutdsl.graphs.models.onnx_batch import single
        from layoutdsl.graphs.models.onnx_read import model_at
        from layoutdsl.graphs.running.samples import refuse_misfed
        from layoutdsl.graphs.telling.batch import Stays

        if self.open is None:
            model = model_at(self.source, self.shapes)
            refuse_misfed(model.graph, self.trial.feeds, is_open=False)
            return self._made(model, verify)
        model = single(self.source, self.open)
        refuse_misfed(model.graph, self.trial.feeds, is_open=True)
        try:
            return self._opened(self.open, model, verify)
        except FixedBatchError as fixed:
            self.shapes = self.open.at(1)
            return self._made(model, verify, Stays(self.open.name, 1, str(fixed)))

    def _opened(self, batch: OpenBatch, single: Model, verify: Verification) -> Propagation:
        from layoutdsl.graphs.checking.remaking import chosen
        from layoutdsl.graphs.checking.reopening import batches_of, model_of, reopened
        from layoutdsl.graphs.emitting.following import FixedBatchError
        from layoutdsl.graphs.running.at_batches import TRIED
        from layoutdsl.graphs.telling.batch import Kept

        if self.kind == "plan":
            raise FixedBatchError("a plan in JSON has numbers for all extents")
        batches = batches_of(self.source, batch, single)
        found, plan, emission = self._planned(batches.first)
        picked, named = chosen(found, plan), (self.wanted.layouts, self.kind)
        result = reopened(batches, (found, plan, emission), picked, self._ways, named)
        planned, other = batches.numbers
        known = {1: single, planned: batches.first, other: batches.second}
        others = {
            each: known[each] if each in known else model_of(self.source, batch, each)
            for each in ((*TRIED, *self._fed()) if verify != "off" else ())
            if each != planned
        }
        kept = Kept(batch.name, planned, result.each)
        made = (found, plan, result.emission)
        return self._told(batches.first, made, emission, verify, kept, batches.numbers, others)

    def _fed(self) -> Iterator[int]:
        """The batch of the arrays that are fed, at which outputs are compared, too."""
        assert self.open is not None
        yield from {len(each) for name, each in self.trial.feeds.items() if name in self.open.rest}

    def _made(self, model: Model, verify: Verification, batch: Open | None = None) -> Propagation:
        made = self._planned(model)
        return self._told(model, made, made[2], verify, batch)

    def _ways(self, graph: Graph) -> Ways:
        from layoutdsl.graphs.checking.remaking import wishes_of
        from layoutdsl.graphs.ways.ways import ways

        wishes = wishes_of(self.wanted.inputs, self.wanted.outputs, self.choice, self.kind)
        return ways(graph, self.wanted.engine, wishes)

    def _planned(self, model: Model) -> tuple[Ways, Plan, Emission]:
        from layoutdsl.graphs.checking.remaking import emission_of
        from layoutdsl.graphs.planning.program import plan_of

        found = self._ways(model.graph)
        plan = plan_of(model.graph, found.variants, found.given, found.wanted)
        return found, plan, emission_of(model, found, plan, self.wanted.layouts, self.kind)

    def _told(
        self,
        model: Model,
        made: tuple[Ways, Plan, Emission],
        planned: Emission,
        verify: Verification,
        batch: Open | None,
        numbers: tuple[int, ...] = (),
        others: Mapping[int, Model] | None = None,
    ) -> Propagation:
        """Prove, verify and count what was made; `planned` has a number for every extent."""
        from layoutdsl.graphs.checking import warrant
        from layoutdsl.graphs.models import onnx_write
        from layoutdsl.graphs.proving.theorems import proved_rules, sound, used_layouts
        from layoutdsl.graphs.running.verify import verified
        from layoutdsl.graphs.telling.counting import figures_of
        from layoutdsl.graphs.telling.written import written_of

        found, plan, emission = made
        for layout, _ in used_layouts(found, plan):
            if sound(layout) == "undecided":
                require_proved(layout, unproved=self.unproved)
        certificate = warrant.written(self._warrant(found, plan, numbers))
        run = None
        theorems = proved_rules(model.graph, found, plan)
        shell, weights = onnx_write.shell_of(model, emission, {warrant.KEY: certificate})
        if verify != "off":
            run = verified(model, emission, shell, verify, weights, others, self.trial)
        counted = written_of(model.graph, planned, self.source.proto, shell)
        return Propagation(
            plan=plan,
            figures=figures_of(model, found, plan, self.wanted.layouts, counted),
            theorems=theorems,
            verified=run,
            certificate=certificate,
            layouts=self.wanted.layouts,
            source=model,
            ways=found,
            emission=emission,
            kind=self.kind,
            batch=batch,
        )

    def _warrant(self, found: Ways, plan: Plan, batches: tuple[int, ...]) -> Warrant:
        from layoutdsl.graphs.checking.remaking import chosen
        from layoutdsl.graphs.checking.warrant import Warrant, dual_of, hash_of

        return Warrant(
            engine=self.wanted.engine.text,
            rules=hash_of(self.wanted.engine.rules),
            shapes=self.shapes,
            inputs=self.wanted.names[0],
            outputs=self.wanted.names[1],
            choice=self.choice,
            kind=self.kind,
            chosen=chosen(found, plan),
            cost=plan.cost,
            bound=plan.bound,
            scale=plan.scale,
            rows=len(plan.dual),
            dual=dual_of(plan),
            batches=batches,
        )
