"""From a plan to the model, without any search: so it is written, and so it is checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from layoutdsl.graphs.emitting.emit import emit
from layoutdsl.graphs.emitting.emitting import Style
from layoutdsl.graphs.emitting.physical import Emission
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.roles.anchors import Choice
from layoutdsl.graphs.ways.ways import Operators, Ways, Wishes
from layoutdsl.language.meaning.model import Layout

Emit: TypeAlias = Literal["functions", "inlined", "plain", "onnxruntime", "plan"]
"""Forms of the emitted model: functions of its own, their bodies in the places of the calls,
operators of ONNX alone, those of onnxruntime, or a plan and no model."""


def wishes_of(
    inputs: Mapping[str, Layout], outputs: Mapping[str, Layout], choice: Choice, kind: Emit
) -> Wishes:
    """Return what is asked of all ways to run a graph."""
    free = kind in ("functions", "inlined", "plan")
    operators: Operators = "functions" if free else "standard"
    return Wishes(inputs, outputs, choice, operators, keeps_quantised=kind == "onnxruntime")


def emission_of(
    model: Model, ways: Ways, plan: Plan, layouts: Iterable[Layout], kind: Emit
) -> Emission:
    """Return what each node of a model becomes.

    Args:
        model: that was planned.
        ways: all that the plan chose from.
        plan: of it.
        layouts: that give operators and tensors their names.
        kind: of what comes out.
    """
    style: Style = kind if kind in ("plain", "onnxruntime") else "functions"
    named = tuple(layouts)
    found = emit(model.graph, plan, ways, named, style, model.inner)
    return replace(found, inlined=kind == "inlined")


def chosen(ways: Ways, plan: Plan) -> tuple[int, ...]:
    """Return the number of the variant of each node."""
    both = zip(ways.variants, plan.variants, strict=True)
    return tuple(few.index(variant) for few, variant in both)
