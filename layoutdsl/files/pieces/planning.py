"""A plan drawn up: what is read, how it is cut, and an output of full size to be filled."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.files.npy import UnreadableError, header
from layoutdsl.files.pieces import shared
from layoutdsl.files.pieces.between import NOTHING
from layoutdsl.files.pieces.cutting import cut_among
from layoutdsl.files.pieces.every_copy import copies_last, shape_with_copies, with_copies
from layoutdsl.files.pieces.files import Stored, Target, named
from layoutdsl.files.pieces.moves import Code, Look, Number
from layoutdsl.files.pieces.packed import Packed, physical
from layoutdsl.files.pieces.plan import Plan, Planned, Verb
from layoutdsl.files.pieces.queue import Division, Part
from layoutdsl.files.pieces.runs import Given, Limits
from layoutdsl.files.pieces.shared import Made
from layoutdsl.files.pieces.sources import source_of
from layoutdsl.files.pieces.tensors import Raw, opened, refuse_rank, stored_in
from layoutdsl.files.places import replaceable, widest_mode
from layoutdsl.language.meaning.model import Layout

Packing: TypeAlias = tuple[Verb, Layout, Code, Number | None, Look]
"""What is done, by which layout and code, what fills padding, and what looks at tensors."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be planned.

    Attributes:
        verb: what is done.
        layout: what is planned, without open parameters.
        code: what moves pieces, as `moved_layout` has them.
        text: the layout, as a plan has it.
        shape: of the tensor; `None` where its file says it.
        raw: the type of items, where files have no header.
        fill: what padding holds; that of the layout where it is `None`.
        limits: what a run may use.
        shards: so many shares, at least, are to have pieces, if there are as many.
        look: at an array without items, of the type that is read; raises where it does not fit.
    """

    verb: Verb
    layout: Layout
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
        pieces = _pieces(task, stored, shape)
        kind, raw = stored.dtype, task.raw is not None
        head, size = head_of(task.verb, task.layout, task.code, shape, kind, raw)
        place, made = begin(target, head, size, widest_mode([given.handle]))
        plan = Plan(
            verb=task.verb,
            sources=(source_of(given),),
            target=str(place),
            size=size,
            mode=made.mode,
            inode=made.inode,
            token=secrets.token_hex(16),
            layout=task.text,
            shape=shape,
            dtype=stored.dtype.str,
            raw="npy" if task.raw is None else "raw",
            fill=None if task.fill is None else repr(task.fill),
            cuts=pieces.units,
        )
        (plan.part / shared.NEW).rename(plan.part / plan.digest)
        return plan, pieces.count


def moved_layout(verb: Verb, layout: Layout) -> Layout:
    """Return the layout by which pieces are moved: with every copy, or of the first alone."""
    return copies_last(layout) if verb == "pack" else layout.first_copy


def moved_shape(verb: Verb, layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that this layout takes of a tensor."""
    return shape_with_copies(layout, shape) if verb == "pack" else shape


def packed_of(plan: Packing, stored: Stored, shape: tuple[int, ...]) -> Packed:
    """Return a tensor and its buffer, of which one is stored."""
    verb, layout, code, fill, look = plan
    between = with_copies(layout, NOTHING) if verb == "pack" else NOTHING
    return Packed(code, moved_shape(verb, layout, shape), stored, fill, look, between)


def head_of(
    verb: Verb,
    layout: Layout,
    code: Code,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    raw: object,
) -> tuple[bytes, int]:
    """Return the bytes before the items of an output, and the bytes of all of it."""
    packs = verb == "pack"
    result = physical(code, moved_shape(verb, layout, shape)) if packs else shape
    head = b"" if raw else header(dtype, result)
    return head, len(head) + prod(result) * dtype.itemsize


def begin(target: Path, head: bytes, size: int, widest: int) -> tuple[Path, Made]:
    """Make an unfinished output, called `NEW`; return where it goes, and what it is.

    Raises:
        OccupiedError: something is in the way.
        OSError: there is no space for it on the disk.
    """
    place, old = replaceable(target)
    return place, shared.make(place.with_name(f"{place.name}.part"), old, head, size, widest)


def _stored(task: Task, given: Given) -> tuple[Stored, tuple[int, ...]]:
    """What is read, and the shape of the tensor."""
    layout, shape = task.layout, task.shape
    if task.verb == "pack":
        raw = None if task.raw is None or shape is None else Raw(task.raw, shape)
        found = stored_in(given, raw)
        refuse_rank(layout, found.shape)
        return found, found.shape
    assert shape is not None
    box = physical(task.code, shape)
    found = stored_in(given, None if task.raw is None else Raw(task.raw, box))
    if found.shape not in (box, (prod(box),)):
        raise UnreadableError(f"has the shape {found.shape}, not {box}")
    if found.fortran:
        raise UnreadableError("is in Fortran order, so its slots do not lie in their order")
    return found, shape


def _pieces(task: Task, stored: Stored, shape: tuple[int, ...]) -> Division:
    """The pieces: as large as is usual, or smaller, so that every share has some."""
    how = (task.verb, task.layout, task.code, task.fill, task.look)
    packed = packed_of(how, stored, shape)
    part = part_of(task.verb, packed, Target(stored.place), 0)
    found = cut_among((part,), task.limits, task.shards)
    return found.cuts[0]


def part_of(verb: Verb, packed: Packed, target: Target, data: int) -> Part:
    """Return how a tensor is packed or unpacked, into what starts at a byte of a file."""
    name = packed.code.layout.name
    if verb == "unpack":
        return packed.unpacking(name, target, data)
    return packed.packing(name, target, data)


def discard(plan: Planned) -> None:
    """Remove the unfinished output of a plan that nobody has begun with."""
    (plan.part / plan.digest).unlink(missing_ok=True)
    plan.part.rmdir()
