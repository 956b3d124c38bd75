"""What became of a model: a plan, all that is known of it, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from layoutdsl.files.ownership import overwrites
from layoutdsl.files.places import OccupiedError, is_same_file, widest_mode
from layoutdsl.language.meaning.arguments import FLAG, expect
from layoutdsl.language.meaning.model import Layout

if TYPE_CHECKING:
    from layoutdsl.graphs.checking.remaking import Emit
    from layoutdsl.graphs.emitting.physical import Emission
    from layoutdsl.graphs.models.onnx_read import Model
    from layoutdsl.graphs.plan import Conversion, Plan
    from layoutdsl.graphs.proving.theorems import Theorems
    from layoutdsl.graphs.running.verify import Verified
    from layoutdsl.graphs.telling.batch import Open
    from layoutdsl.graphs.telling.figures import Figures
    from layoutdsl.graphs.ways.ways import Ways

File: TypeAlias = str | PathLike[str]
Status: TypeAlias = Literal["done", "refuted", "open"]


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

    def __bool__(self) -> bool:
        """Return whether the status is `done`: nothing is refuted, and nothing is open."""
        return self.status == "done"

    @property
    def model(self) -> Any:
        """The model, as the package onnx has it, made anew."""
        from layoutdsl.graphs.checking.warrant import KEY
        from layoutdsl.graphs.models.onnx_write import model_of

        return model_of(self.source, self.emission, {KEY: self.certificate})

    @property
    def transforms(self) -> tuple[Conversion, ...]:
        """What is moved between two layouts, or has its padding filled anew."""
        return self.plan.conversions

    @property
    def status(self) -> Status:
        """`refuted` if a rule, a node or outputs are wrong, `open` if that is not known of one."""
        if self.theorems.refuted or (self.verified is not None and self.verified.faults):
            return "refuted"
        run = self.verified
        unrun = run is not None and (run.unrun or run.undecided)
        if self.theorems.undecided or unrun or not self.figures.proved:
            return "open"
        return "done"

    @overwrites
    def write(self, place: File, *, force: bool = False) -> None:
        """Write the model: whole, or not at all.

        Args:
            place: of the file; its weights may go beside it.
            force: whether to replace files that layoutdsl did not write.

        Raises:
            ValueError: the status is `refuted`: what is known to be wrong is not written.
            OccupiedError: what lies there is no plain file, or the model that was planned, or a
                file that layoutdsl did not write, without `force`.
            OSError: it cannot be written.
        """
        from layoutdsl.graphs.checking.warrant import KEY
        from layoutdsl.graphs.models.onnx_files import beside, write
        from layoutdsl.graphs.models.plan_files import beside as beside_plan
        from layoutdsl.graphs.models.plan_files import write_plan

        expect(force=(force, FLAG))
        if self.status == "refuted":
            raise ValueError("a rule or a node was found wrong; such a model is not written")
        said = {KEY: self.certificate}
        other = beside_plan if self.kind == "plan" else beside
        self.refuse_sources(place, other(Path(place)))
        if self.kind == "plan":
            widest = widest_mode(self.source.files)
            write_plan(self.source.graph, self.emission, said, Path(place), widest)
        else:
            write(self.source, self.emission, said, Path(place))

    def refuse_sources(self, *places: File) -> None:
        """Look whether a file that is written would replace one that the model is read from.

        Raises:
            OccupiedError: one would.
        """
        for place in places:
            for own in self.source.files:
                if is_same_file(place, own):
                    words = f"`{place}` holds the model that was planned, or weights of it"
                    raise OccupiedError(words, "write to another place")

    def page(self, name: str, lines: Iterable[str]) -> str:
        """Return the report as a page of HTML.

        Args:
            name: of the model.
            lines: that stand above everything else.
        """
        from layoutdsl.graphs.telling.drawing import drawn
        from layoutdsl.graphs.telling.page import report
        from layoutdsl.view.html import page

        graph, found = self.source.graph, self.ways
        drawing = drawn(graph, self.plan, found.given, found.wanted, self.layouts)
        return page(f"{name}: layouts", report(name, lines, self.figures, drawing), live=False)
