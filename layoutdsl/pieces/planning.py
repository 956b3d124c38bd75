"""A plan drawn up: what is read, how it is cut, and an output of full size to be filled."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from layoutdsl.files.npy import UnreadableError, header
from layoutdsl.files.places import replaceable
from layoutdsl.pieces import shared
from layoutdsl.pieces.cut import Pieces, TooLargeError, cut, lead_of
from layoutdsl.pieces.files import Stored, named
from layoutdsl.pieces.moves import Code, Look, Moving, Number, Packing, Unpacking
from layoutdsl.pieces.plan import Plan, Verb
from layoutdsl.pieces.runs import USUAL, Given, Limits, TooLittleError
from layoutdsl.pieces.sums import Sum, unsummed
from layoutdsl.pieces.tensors import Raw, opened, physical, stored_in


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be planned.

    Attributes:
        verb: what is done.
        code: what moves pieces, of a layout without open parameters.
        text: the layout, as a plan has it.
        shape: of the tensor; `None` where its file says it.
        raw: the type of items, where files have no header.
        fill: what padding holds; that of the layout where it is `None`.
        limits: what a run may use.
        shards: so many shares, at least, are to have pieces, if there are as many.
        look: at an array without items, of the type that is read; raises where it does not fit.
    """

    verb: Verb
    code: Code
    text: str
    shape: tuple[int, ...] | None
    raw: np.dtype[np.generic] | None
    fill: Number | None
    limits: Limits
    shards: int
    look: Look


def draw_up(task: Task, source: Path, target: Path) -> tuple[Plan, int]:
    """Return a plan, and how many pieces it has; its output lies there in full size.

    Raises:
        TooLittleError: the memory is too small for a piece.
        UnreadableError: the source is not what it has to be.
        OccupiedError: something is in the way of the output, or it is the source.
        ValueError, TypeError: the arguments do not fit the layout.
        OSError: a file cannot be read or written; its name is in it.
    """
    with opened(source, target) as given, named(target):
        stored, shape = _stored(task, given)
        task.look(np.empty(0, stored.dtype))
        result = physical(task.code, shape) if task.verb == "pack" else shape
        pieces = _pieces(task, stored, shape)
        head = b"" if task.raw is not None else header(stored.dtype, result)
        size = len(head) + prod(result) * stored.dtype.itemsize
        place, old = replaceable(target)
        part = place.with_name(f"{place.name}.part")
        made = shared.make(part, old, head, size)
        plan = Plan(
            verb=task.verb,
            layout=task.text,
            shape=shape,
            dtype=stored.dtype.str,
            raw="npy" if task.raw is None else "raw",
            fill=None if task.fill is None else repr(task.fill),
            cuts=tuple(units for _, units in pieces.cuts),
            source=os.path.realpath(source),
            source_size=given.before.size,
            source_modified=given.before.modified,
            target=str(place),
            size=size,
            mode=made.mode,
            inode=made.inode,
            token=secrets.token_hex(32),
        )
        (part / shared.NEW).rename(part / plan.digest)
        return plan, pieces.count


def _stored(task: Task, given: Given) -> tuple[Stored, tuple[int, ...]]:
    """What is read, and the shape of the tensor."""
    layout, shape = task.code.layout, task.shape
    if task.verb == "pack":
        raw = None if task.raw is None or shape is None else Raw(task.raw, shape)
        found = stored_in(given, raw)
        if len(found.shape) != layout.rank:
            axes = ", ".join(axis.name for axis in layout.axes)
            words = f"and `{layout.name}` takes one of rank {layout.rank}: {axes}"
            raise UnreadableError(f"is of rank {len(found.shape)}, {words}")
        return found, found.shape
    assert shape is not None
    box = physical(task.code, shape)
    found = stored_in(given, None if task.raw is None else Raw(task.raw, box))
    if found.shape not in (box, (prod(box),)):
        raise UnreadableError(f"has the shape {found.shape}, not {box}")
    if found.fortran:
        raise UnreadableError("is in Fortran order, so its slots do not lie in their order")
    return found, shape


def _pieces(task: Task, stored: Stored, shape: tuple[int, ...]) -> Pieces:
    """The pieces: as large as is usual, or smaller, so that every share has some."""
    layout, limits = task.code.layout, task.limits
    cost = moving_for(task.verb, task.code, stored, stored, shape, task.fill).cost
    most, usual = limits.memory // limits.jobs, min(limits.memory // limits.jobs, USUAL)
    try:
        found = cut(layout, shape, usual, cost)
    except TooLargeError as smallest:
        if smallest.needed > most:
            raise TooLittleError(layout.name, limits, smallest) from None
        return cut(layout, shape, smallest.needed, cost)
    while found.count < task.shards and usual > 1:
        usual //= 2
        try:
            found = cut(layout, shape, usual, cost)
        except TooLargeError as smallest:
            return cut(layout, shape, smallest.needed, cost)
    return found


def moving_for(
    verb: Verb,
    code: Code,
    stored: Stored,
    into: Stored,
    shape: tuple[int, ...],
    fill: Number | None,
    look: Look = lambda _: None,
    sum_up: Sum = unsummed,
) -> Moving:
    """Return what moves pieces of a tensor of some shape from one array in a file to another."""
    lead = lead_of(code.layout, shape)
    if verb == "unpack":
        return Unpacking(code, stored.flat(), into, lead, look, sum_up)
    return Packing(code, stored, into.flat(), lead, fill, look, sum_up)


def discard(plan: Plan) -> None:
    """Remove the unfinished output of a plan that nobody has begun with."""
    (plan.part / plan.digest).unlink(missing_ok=True)
    plan.part.rmdir()
