"""Layouts carried through a whole model: planned, proved, emitted, verified; and checked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from layoutdsl.api.asking import Asked, Named, asked, read_asked
from layoutdsl.meaning.arguments import PATH, Kind, expect
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.operator import Engine
from layoutdsl.texts.source import LayoutError

if TYPE_CHECKING:
    from layoutdsl.propagation.checking.check import Checked
    from layoutdsl.propagation.checking.remaking import Emit
    from layoutdsl.propagation.checking.warrant import Warrant
    from layoutdsl.propagation.emitting.physical import Emission
    from layoutdsl.propagation.graph import Graph
    from layoutdsl.propagation.models.onnx_batch import OpenBatch
    from layoutdsl.propagation.models.onnx_read import Model
    from layoutdsl.propagation.plan import Conversion, Plan
    from layoutdsl.propagation.proving.theorems import Theorems
    from layoutdsl.propagation.roles.anchors import Choice
    from layoutdsl.propagation.running.verify import Verified
    from layoutdsl.propagation.telling.batch import Open
    from layoutdsl.propagation.telling.figures import Figures
    from layoutdsl.propagation.ways.ways import Ways

File: TypeAlias = str | PathLike[str]
Verification: TypeAlias = Literal["nodes", "outputs", "off"]
Status: TypeAlias = Literal["done", "refuted", "open"]

EMITS = ("functions", "plain", "onnxruntime", "plan")
VERIFICATIONS = ("nodes", "outputs", "off")
CHOICES = ("first", "any")
SHAPES = Kind(
    "a mapping of inputs to extents",
    lambda v: (
        isinstance(v, Mapping)
        and all(
            isinstance(name, str) and isinstance(each, tuple | list) for name, each in v.items()
        )
    ),
)


def _one_of(words: Sequence[str]) -> Kind:
    return Kind(f"one of {', '.join(words)}", lambda v: isinstance(v, str) and v in words)


@dataclass(frozen=True)
class Propagation:
    """A model in which values lie as its operators would have them, and all that is known of it.

    Attributes:
        plan: how each node is run, and what is moved.
        figures: what that comes to.
        theorems: which rules were used, and proved.
        verified: what was run; `None` where nothing was.
        certificate: the text that the model carries, by which it can be checked.
        layouts: that give placings their names.
        source: the model that was planned, as it was read.
        ways: all that the plan chose from.
        emission: what each node became.
        kind: what was to come out.
        batch: what became of a batch that the model leaves open; `None` where it is given.
    """

    plan: Plan
    figures: Figures
    theorems: Theorems
    verified: Verified | None
    certificate: str
    layouts: tuple[Layout, ...]
    source: Model
    ways: Ways
    emission: Emission
    kind: Emit
    batch: Open | None = None

    @property
    def model(self) -> Any:
        """The model, as the package onnx has it, made anew."""
        from layoutdsl.propagation.checking.warrant import KEY
        from layoutdsl.propagation.models.onnx_write import model_of

        return model_of(self.source, self.emission, {KEY: self.certificate})

    @property
    def transforms(self) -> tuple[Conversion, ...]:
        """What is moved between two layouts, or has its padding filled anew."""
        return self.plan.conversions

    @property
    def status(self) -> Status:
        """`refuted` where a rule or a node is wrong, `open` where that is not known of one."""
        if self.theorems.refuted or (self.verified and self.verified.faults):
            return "refuted"
        unrun = self.verified is not None and self.verified.unrun
        if self.theorems.undecided or unrun or not self.figures.minimal:
            return "open"
        return "done"

    def write(self, place: File) -> None:
        """Write the model: whole, or not at all.

        Raises:
            ValueError: the status is `refuted`: what is known to be wrong is not written.
            OccupiedError: what lies there is no plain file, or the model that was planned.
            OSError: it cannot be written.
        """
        from layoutdsl.propagation.checking.warrant import KEY
        from layoutdsl.propagation.models.onnx_files import write, write_plan

        if self.status == "refuted":
            raise ValueError("a rule or a node was found wrong; such a model is not written")
        said = {KEY: self.certificate}
        if self.kind == "plan":
            write_plan(self.source.graph, self.emission, said, Path(place))
        else:
            write(self.source, self.emission, said, Path(place))

    def page(self, name: str, lines: Iterable[str]) -> str:
        """Return the report as a page of HTML.

        Args:
            name: of the model.
            lines: that stand above everything else.
        """
        from layoutdsl.propagation.telling.drawing import drawn
        from layoutdsl.propagation.telling.page import page

        graph, found = self.source.graph, self.ways
        drawing = drawn(graph, self.plan, found.given, found.wanted, self.layouts)
        return page(name, lines, self.figures, drawing)


def propagate(
    model: File,
    engine: str | PathLike[str] | Engine | None = None,
    *,
    prefer: Mapping[str, Named | Sequence[Named]] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: Mapping[str, Named] | None = None,
    outputs: Mapping[str, Named] | None = None,
    choice: Choice = "first",
    emit: Emit = "functions",
    verify: Verification = "nodes",
) -> Propagation:
    """Carry layouts through a model, with as little moved as can be.

    Args:
        model: a file of ONNX.
        engine: one that comes along, by its name, a text by its path, or one that was loaded.
        prefer: layouts of operators: the first that fits a node is required there. They come
            before those that the engine prefers.
        shapes: of inputs whose extents the model leaves open. Where that is the first axis alone,
            it needs none, and stays open in what comes out if that can be.
        inputs: layouts in which the caller gives values; others are as written.
        outputs: layouts in which the caller takes them.
        choice: whether the first layout that fits is required, or any may be taken.
        emit: functions of the model's own, plain operators, operators of onnxruntime, or no model.
        verify: whether nodes are run alone, outputs are compared, or nothing is run.

    Raises:
        UnfitModelError: the file is no model, or none that can be planned.
        LayoutError, ValueError, TypeError: something else that was asked does not fit.
        OSError: a file cannot be read.
    """
    expect(model=(model, PATH), shapes=(shapes, SHAPES.or_none()))
    expect(emit=(emit, _one_of(EMITS)), verify=(verify, _one_of(VERIFICATIONS)))
    expect(choice=(choice, _one_of(CHOICES)))
    wanted = asked(engine, prefer, inputs, outputs)
    extents = {name: tuple(map(int, shape)) for name, shape in (shapes or {}).items()}
    return _Run(Path(model), wanted, extents, choice, emit).propagation(verify)


def check(out: File, against: File) -> Checked:
    """Check a model that says how it was planned, without planning.

    Args:
        out: that was written.
        against: that was planned.

    Raises:
        UnfitModelError: a file is no model, or the first says nothing of a plan.
        OSError: a file cannot be read.
    """
    from layoutdsl.propagation.checking import warrant
    from layoutdsl.propagation.checking.check import batches_at, checked, unreadable
    from layoutdsl.propagation.emitting.following import FixedBatchError
    from layoutdsl.propagation.models.onnx_faults import UnfitModelError
    from layoutdsl.propagation.models.onnx_read import model_at, read_source, weights_of

    expect(out=(out, PATH), against=(against, PATH))
    written, weights = weights_of(Path(out))
    said = {each.key: each.value for each in written.metadata_props}
    if warrant.KEY not in said:
        words = f"`{out}` does not say how it was planned"
        raise UnfitModelError(words, "`layoutdsl propagate MODEL -o OUT` writes models that do")
    try:
        found = warrant.read(said[warrant.KEY])
        wanted = read_asked(found.engine, found.inputs, found.outputs)
    except (warrant.UnreadableWarrantError, LayoutError, ValueError) as wrong:
        return unreadable(str(wrong))
    source = read_source(Path(against))
    asked_for = (wanted.engine, wanted.inputs, wanted.outputs, wanted.layouts)
    if not found.batches:
        model = model_at(source, found.shapes)
        return checked(written, weights, model, found, asked_for)
    try:
        batches = batches_at(source, found)
    except FixedBatchError as wrong:
        return unreadable(str(wrong))
    return checked(written, weights, batches.first, found, asked_for, batches)


class _Run:
    """One model, and what is asked of it."""

    def __init__(
        self,
        place: Path,
        wanted: Asked,
        shapes: Mapping[str, tuple[int, ...]],
        choice: Choice,
        kind: Emit,
    ) -> None:
        from layoutdsl.propagation.models.onnx_batch import open_batch
        from layoutdsl.propagation.models.onnx_read import read_source

        self.wanted, self.shapes, self.choice, self.kind = wanted, shapes, choice, kind
        self.source = read_source(place)
        self.open = open_batch(self.source, shapes)

    def propagation(self, verify: Verification) -> Propagation:
        """Plan, prove, emit and verify; at every batch where it is open and can stay so."""
        from layoutdsl.propagation.emitting.following import FixedBatchError
        from layoutdsl.propagation.models.onnx_batch import single
        from layoutdsl.propagation.models.onnx_read import model_at
        from layoutdsl.propagation.telling.batch import Stays

        if self.open is None:
            return self._made(model_at(self.source, self.shapes), verify)
        model = single(self.source, self.open)
        try:
            return self._opened(self.open, model, verify)
        except FixedBatchError as fixed:
            self.shapes = self.open.at(1)
            return self._made(model, verify, Stays(self.open.name, 1, str(fixed)))

    def _opened(self, batch: OpenBatch, single: Model, verify: Verification) -> Propagation:
        from layoutdsl.propagation.checking.remaking import chosen
        from layoutdsl.propagation.checking.reopening import batches_of, model_of, reopened
        from layoutdsl.propagation.emitting.following import FixedBatchError
        from layoutdsl.propagation.running.at_batches import TRIED
        from layoutdsl.propagation.telling.batch import Kept

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
            for each in (TRIED if verify != "off" else ())
            if each != planned
        }
        kept = Kept(batch.name, planned, result.each)
        made = (found, plan, result.emission)
        return self._told(batches.first, made, verify, kept, batches.numbers, others)

    def _made(self, model: Model, verify: Verification, batch: Open | None = None) -> Propagation:
        return self._told(model, self._planned(model), verify, batch)

    def _ways(self, graph: Graph) -> Ways:
        from layoutdsl.propagation.checking.remaking import wishes_of
        from layoutdsl.propagation.ways.ways import ways

        wishes = wishes_of(self.wanted.inputs, self.wanted.outputs, self.choice, self.kind)
        return ways(graph, self.wanted.engine, wishes)

    def _planned(self, model: Model) -> tuple[Ways, Plan, Emission]:
        from layoutdsl.propagation.checking.remaking import emission_of
        from layoutdsl.propagation.planning.program import plan_of

        found = self._ways(model.graph)
        plan = plan_of(model.graph, found.variants, found.given, found.wanted)
        return found, plan, emission_of(model, found, plan, self.wanted.layouts, self.kind)

    def _told(
        self,
        model: Model,
        made: tuple[Ways, Plan, Emission],
        verify: Verification,
        batch: Open | None,
        numbers: tuple[int, ...] = (),
        others: Mapping[int, Model] | None = None,
    ) -> Propagation:
        """Prove, verify and count what was made."""
        from layoutdsl.propagation.checking import warrant
        from layoutdsl.propagation.models import onnx_write
        from layoutdsl.propagation.proving.theorems import proved_rules
        from layoutdsl.propagation.running.verify import verified
        from layoutdsl.propagation.telling.counting import figures_of

        found, plan, emission = made
        certificate = warrant.written(self._warrant(found, plan, numbers))
        run = None
        theorems = proved_rules(model.graph, found, plan)
        if verify != "off":
            said = {warrant.KEY: certificate}
            shell, weights = onnx_write.shell_of(model, emission, said)
            run = verified(model, emission, shell, verify, weights, others)
        return Propagation(
            plan=plan,
            figures=figures_of(model.graph, found, plan, self.wanted.layouts),
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
        from layoutdsl.propagation.checking.remaking import chosen
        from layoutdsl.propagation.checking.warrant import Warrant, dual_of, hash_of

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
            scale=plan.scale,
            rows=len(plan.dual),
            dual=dual_of(plan),
            batches=batches,
        )
