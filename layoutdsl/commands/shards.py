"""Shares of a plan done by many machines, and what they make put in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from layoutdsl.code.modules import CompileTarget
from layoutdsl.commands.files import MEM, code_of, limits_of, watchers_of
from layoutdsl.commands.planning import making_of
from layoutdsl.commands.weights import layout_of
from layoutdsl.language.elaborate.shelf import parse
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.source import LayoutError

if TYPE_CHECKING:
    from layoutdsl.files.pieces.amount import Amount
    from layoutdsl.files.pieces.moves import Look
    from layoutdsl.files.pieces.plan import Plan
    from layoutdsl.files.pieces.shards import Opening
    from layoutdsl.files.pieces.standing import Standing
    from layoutdsl.files.weights.plan import WeightsPlan

MOST_SHARES = 100_000


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan that was read, and the layout that it speaks of."""

    plan: Plan
    layout: Layout


@dataclass(frozen=True, slots=True)
class PlannedWeights:
    """A plan of weights that was read."""

    plan: WeightsPlan


AnyPlanned: TypeAlias = Planned | PlannedWeights


def load_plan(place: str | PathLike[str]) -> AnyPlanned:
    """Return the plan in a file, of one tensor with its layout, or of weights.

    Raises:
        PlanError: it is none, or its layout is none.
        OSError: it cannot be read.
    """
    from layoutdsl.files.pieces.plan import Plan, PlanError, no_plan, plan_of, read_said
    from layoutdsl.files.weights.plan import WeightsPlan, weights_plan_of

    called, said = read_said(Path(place))
    if called == WeightsPlan.FORMAT:
        return PlannedWeights(_with_rules(weights_plan_of(said)))
    if called != Plan.FORMAT:
        raise no_plan()
    plan = plan_of(said)
    try:
        layout = layout_of(plan.layout)
    except ValueError:
        raise PlanError("has a layout that cannot be packed") from None
    if layout.parameters or layout.bit_of is not None:
        raise PlanError("has a layout that cannot be packed")
    return Planned(plan, layout)


def _with_rules(plan: WeightsPlan) -> WeightsPlan:
    """A plan, whose rules are a text of the language."""
    from layoutdsl.files.pieces.plan import PlanError

    try:
        parse(plan.rules)
    except LayoutError as wrong:
        message = wrong.diagnostics[0].message
        raise PlanError(f"has rules that are none: {message}") from None
    return plan


def run_share(
    planned: AnyPlanned,
    number: int,
    of: int,
    *,
    jobs: int = 1,
    target: CompileTarget = "auto",
    progress: Callable[[Amount], None] | None = None,
    tell: Callable[[str], None] | None = None,
    look: Look | None = None,
) -> Standing:
    """Do a share of a plan, or what is left of it; whoever is last puts the output in its place.

    Args:
        planned: by `load_plan`.
        number: of the share, from 0 on.
        of: how many shares there are; whatever others take, all pieces have to be done by somebody.
        jobs: pieces at a time.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        progress: is told how many pieces and bytes of how many are done, as an `Amount`.
        tell: is told in words what becomes of an earlier run.
        look: is shown every tensor, and may raise; of weights none is shown.

    Raises:
        PlanError: the plan does not fit what it is about.
        UnreadableError, OccupiedError, RefusedError, OSError: as for `pack_file`.
        UnfitError: of weights, as for `pack_weights`.
        ValueError: there is no such share.
    """
    from layoutdsl.files.pieces import shards
    from layoutdsl.files.pieces.share import Share

    if not 0 <= number < of <= MOST_SHARES:
        raise ValueError(f"there is no share {number}/{of}: shares of {of} are 0/{of} and so on")
    limits, watchers = limits_of(MEM, jobs), watchers_of(progress, tell, look)
    opening = _opening(planned, target, watchers.look)
    return shards.run_share(planned.plan, opening, Share(number, of), limits.jobs, watchers)


def finish_plan(planned: AnyPlanned) -> Standing:
    """Put the output of a plan in its place, if every share is done; say what is missing.

    Raises:
        PlanError: the plan does not fit what it is about.
        UnreadableError, OccupiedError, RefusedError, OSError: as for `pack_file`.
        UnfitError: of weights, as for `pack_weights`.
    """
    from layoutdsl.files.pieces import shards

    return shards.finish(planned.plan, _opening(planned, "numpy", lambda _: None))


def _opening(planned: AnyPlanned, target: CompileTarget, look: Look) -> Opening:
    """What opens the work of a plan."""
    from layoutdsl.files.pieces import planned as tensor
    from layoutdsl.files.pieces.planning import moved_layout
    from layoutdsl.files.weights import planning

    match planned:
        case Planned(plan, layout):
            code = code_of(moved_layout(plan.verb, layout), target)
            return tensor.opening_of(plan, layout, code, look)
        case PlannedWeights(weights):
            making = making_of(weights.verb, weights.rules, weights.unruled, target)
            return planning.opening_of(weights, making)
