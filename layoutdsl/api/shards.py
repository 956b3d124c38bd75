"""One tensor packed or unpacked by many machines, by a plan that all of them read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from layoutdsl.api.compiling import CompileTarget
from layoutdsl.api.files import MEM, code_of, limits_of, watchers_of
from layoutdsl.elaborate.shelf import parse
from layoutdsl.meaning.model import Layout
from layoutdsl.show.declaration import declaration
from layoutdsl.texts.source import LayoutError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from layoutdsl.pieces.amount import Amount
    from layoutdsl.pieces.moves import Look
    from layoutdsl.pieces.plan import Plan, Verb
    from layoutdsl.pieces.shards import Standing

MOST_SHARES = 100_000


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan that was read, and the layout that it speaks of."""

    plan: Plan
    layout: Layout


def plan_file(
    verb: Verb,
    layout: Layout,
    source: str | PathLike[str],
    destination: str | PathLike[str],
    plan: str | PathLike[str],
    *,
    shape: tuple[int, ...] | None = None,
    raw: DTypeLike | None = None,
    fill: float | None = None,
    mem: int = MEM,
    shards: int = 1,
    target: CompileTarget = "auto",
    look: Look | None = None,
) -> int:
    """Plan how a tensor is packed or unpacked in shares; return how many pieces there are.

    The output lies in ``DESTINATION.part/`` then, of its full size, and waits for `run_share`.

    Args:
        verb: what is done.
        layout: without open parameters.
        source: a `.npy` file, or a raw one.
        destination: what the output becomes.
        plan: becomes the file of the plan.
        shape: of the tensor; what is packed says it itself, unless it is raw.
        raw: the type of the items of files without a header.
        fill: the number in padding; that of the layout if left out.
        mem: bytes that a piece may take.
        shards: shares that are to have pieces, if there are as many.
        target: what moves: ``auto``, ``native`` or ``numpy``.
        look: is shown an array without items, of the type that is read, and may raise.

    Raises:
        TooLittleError, UnreadableError, OccupiedError, ValueError, TypeError, OSError: as for
            `pack_file`.
    """
    import numpy as np

    from layoutdsl.files.whole import write_whole
    from layoutdsl.pieces.planning import Task, discard, draw_up

    text = declaration(layout)
    if _read(text) != layout:
        raise ValueError(f"`{layout.name}` cannot be written as a text that means it")
    code, item = code_of(layout, target), None if raw is None else np.dtype(raw)
    task = Task(
        verb,
        code,
        text,
        shape,
        item,
        fill,
        limits_of(mem, 1),
        shards,
        watchers_of(None, None, look).look,
    )
    drawn, count = draw_up(task, Path(source), Path(destination))
    try:
        write_whole(plan, drawn.text)
    except BaseException as failure:
        discard(drawn)
        if isinstance(failure, OSError):
            failure.filename = str(plan)  # and not what it was to be renamed from
        raise
    return count


def load_plan(place: str | PathLike[str]) -> Planned:
    """Return the plan in a file, with its layout.

    Raises:
        PlanError: it is none, or its layout is none.
        OSError: it cannot be read.
    """
    from layoutdsl.pieces.plan import PlanError, read_plan

    plan = read_plan(Path(place))
    layout = _read(plan.layout)
    if layout is None or layout.parameters or layout.bit_of is not None:
        raise PlanError("has a layout that cannot be packed")
    return Planned(plan, layout)


def run_share(
    planned: Planned,
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
        look: is shown every tensor, and may raise.

    Raises:
        PlanError: the plan does not fit what it is about.
        UnreadableError, OccupiedError, RefusedError, OSError: as for `pack_file`.
        ValueError: there is no such share.
    """
    from layoutdsl.pieces import shards
    from layoutdsl.pieces.share import Share

    if not 0 <= number < of <= MOST_SHARES:
        raise ValueError(f"there is no share {number}/{of}: shares of {of} are 0/{of} and so on")
    limits, code = limits_of(MEM, jobs), code_of(planned.layout, target)
    watchers = watchers_of(progress, tell, look)
    return shards.run_share(planned.plan, code, Share(number, of), limits.jobs, watchers)


def finish_plan(planned: Planned) -> Standing:
    """Put the output of a plan in its place, if every share is done; say what is missing.

    Raises:
        PlanError: the plan does not fit what it is about.
        UnreadableError, OccupiedError, RefusedError, OSError: as for `pack_file`.
    """
    from layoutdsl.pieces import shards

    return shards.finish(planned.plan, code_of(planned.layout, "numpy"))


def _read(text: str) -> Layout | None:
    """The only layout of a text; nothing where there are others, or none."""
    try:
        found = parse(text)
    except LayoutError:
        return None
    return next(iter(found.values())) if len(found) == 1 else None
