"""Layouts carried through a whole model: planned, proved, emitted, verified; and checked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from layoutdsl.commands.asking import Named, asked, read_asked
from layoutdsl.commands.propagation import File, Propagation
from layoutdsl.commands.propagation_run import Run, Verification
from layoutdsl.language.meaning.arguments import FLAG, PATH, Kind, expect
from layoutdsl.language.meaning.operator import Engine
from layoutdsl.language.texts.source import LayoutError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from layoutdsl.graphs.checking.check import Checked
    from layoutdsl.graphs.checking.remaking import Emit
    from layoutdsl.graphs.roles.anchors import Choice

__all__ = ["Propagation", "check_model", "propagate"]

EMITS = ("functions", "inlined", "plain", "onnxruntime", "plan")
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


FEED = Kind(
    "a mapping of inputs to arrays",
    lambda v: (
        isinstance(v, Mapping)
        and all(isinstance(name, str) for name in v)
        and all(isinstance(each, np.ndarray) for each in v.values())
    ),
)
RTOL = Kind(
    "a number from 0 on",
    lambda v: isinstance(v, int | float) and not isinstance(v, bool) and isfinite(v) and v >= 0,
)


def _one_of(words: Sequence[str]) -> Kind:
    return Kind(f"one of {', '.join(words)}", lambda v: isinstance(v, str) and v in words)


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
    feed: Mapping[str, NDArray[Any]] | None = None,
    rtol: float | None = None,
    unproved: bool = False,
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
        emit: functions of the model's own, the same with their bodies in the places of the calls,
            plain operators, operators of onnxruntime, or no model.
        verify: whether nodes are run alone, outputs are compared, or nothing is run.
        feed: arrays to verify with, by names of inputs, as the model in `model` takes them; inputs
            without one are drawn.
        rtol: how far outputs may be from the model's, relative to their largest number. Without it
            they may be four times as far as the model is from itself when it is run in two ways.
        unproved: also use undecided layouts; nodes or outputs then have to be run, which shows
            elements that are lost at the shapes of the model.

    Raises:
        UnprovedError: a layout that the plan uses is undecided.
        UnfitModelError: the file is no model, or none that can be planned.
        LayoutError, ValueError, TypeError: something else that was asked does not fit.
        OSError: a file cannot be read.
    """
    expect(model=(model, PATH), shapes=(shapes, SHAPES.or_none()))
    expect(emit=(emit, _one_of(EMITS)), verify=(verify, _one_of(VERIFICATIONS)))
    expect(
        choice=(choice, _one_of(CHOICES)), feed=(feed, FEED.or_none()), rtol=(rtol, RTOL.or_none())
    )
    expect(unproved=(unproved, FLAG))
    if unproved and verify == "off":
        raise ValueError("an undecided layout is checked by running the model: leave `verify` on")
    from layoutdsl.graphs.running.samples import Trial

    wanted = asked(engine, prefer, inputs, outputs)
    extents = {name: tuple(map(int, shape)) for name, shape in (shapes or {}).items()}
    trial = Trial(dict(feed or {}), rtol)
    return Run(Path(model), wanted, extents, choice, emit, trial, unproved).propagation(verify)


def check_model(out: File, against: File) -> Checked:
    """Check the certificate of a model or plan that `propagate` wrote, without planning again.

    Args:
        out: the file that was written. The weights of a plan are looked for beside the plan.
        against: the original model.

    Returns:
        The result, which is true in an ``if`` where the certificate holds; ``faults`` says why not.

    Raises:
        UnfitModelError: a file is no model, or the first one has no certificate.
        OSError: a file cannot be read.
    """
    from layoutdsl.graphs.checking import warrant
    from layoutdsl.graphs.checking.check import (
        batches_at,
        checked,
        model_written,
        plan_written,
        unreadable,
    )
    from layoutdsl.graphs.checking.plan_compare import read_plan
    from layoutdsl.graphs.emitting.following import FixedBatchError
    from layoutdsl.graphs.models.onnx_faults import UnfitModelError
    from layoutdsl.graphs.models.onnx_read import model_at, read_source, weights_of

    expect(out=(out, PATH), against=(against, PATH))
    plan = read_plan(Path(out))
    if plan is None:
        proto, weights = weights_of(Path(out))
        written = model_written(proto, weights)
        said = {each.key: each.value for each in proto.metadata_props}
    else:
        written, said = plan_written(plan), plan.said
    if warrant.KEY not in said:
        words = f"`{out}` does not say how it was planned"
        raise UnfitModelError(words, "`layoutdsl propagate MODEL -o OUT` writes models that do")
    try:
        found = warrant.read(said[warrant.KEY])
        wanted = read_asked(found.engine, found.inputs, found.outputs)
    except (warrant.UnreadableWarrantError, LayoutError, ValueError) as wrong:
        return unreadable(str(wrong))
    if (found.kind == "plan") != (plan is not None):
        return unreadable(f"its certificate is of what `--emit {found.kind}` writes")
    source = read_source(Path(against), wanted.engine.operators)
    asked_for = (wanted.engine, wanted.inputs, wanted.outputs, wanted.layouts)
    if not found.batches:
        model = model_at(source, found.shapes)
        return checked(written, model, found, asked_for)
    try:
        batches = batches_at(source, found)
    except FixedBatchError as wrong:
        return unreadable(str(wrong))
    return checked(written, batches.first, found, asked_for, batches)
