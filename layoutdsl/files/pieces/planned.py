"""The work of a plan of one tensor: its input open, its pieces cut as the plan says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path

from layoutdsl.files.pieces.cut import Pieces, cut_by
from layoutdsl.files.pieces.files import Divided, Stored, Target
from layoutdsl.files.pieces.moves import Code, Look
from layoutdsl.files.pieces.packed import physical
from layoutdsl.files.pieces.plan import Plan, PlanError
from layoutdsl.files.pieces.planning import head_of, moved_shape, packed_of, part_of
from layoutdsl.files.pieces.queue import Queue
from layoutdsl.files.pieces.runs import Filled, Given
from layoutdsl.files.pieces.shards import REPLAN, Opening, Work, refuse_other
from layoutdsl.files.pieces.tensors import Raw, opened, stored_in
from layoutdsl.language.meaning.model import Layout


def opening_of(plan: Plan, layout: Layout, code: Code, look: Look) -> Opening:
    """Return what opens the work of a plan; how it is cut is looked at here.

    Args:
        plan: what is done.
        layout: of the plan.
        code: what moves pieces, of its `moved_layout`.
        look: at every tensor.

    Raises:
        PlanError: the layout cannot be cut so.
    """
    try:
        refuse_shape(layout, plan.shape)
        shape = moved_shape(plan.verb, layout, plan.shape)
        physical(code, shape)
        pieces = cut_by(code.layout, shape, plan.cuts)
    except (ValueError, TypeError) as unfit:
        raise PlanError(f"does not fit its layout: {unfit}") from None
    return _opened(plan, layout, code, pieces, look)


def refuse_shape(layout: Layout, shape: tuple[int, ...]) -> None:
    """Fail where a layout has no such shape.

    Raises:
        ValueError: it says why.
    """
    if len(shape) != len(layout.tensor_axes):
        raise ValueError(f"`{layout.name}` is of rank {len(layout.tensor_axes)}, not {len(shape)}")


@contextmanager
def _opened(plan: Plan, layout: Layout, code: Code, pieces: Pieces, look: Look) -> Iterator[Work]:
    (source,) = plan.sources
    with opened(Path(source.path), Path(plan.target)) as given:
        refuse_other(plan, (given,))
        stored = _stored(plan, code, given)
        kind, raw = stored.dtype, plan.raw == "raw"
        head, size = head_of(plan.verb, layout, code, plan.shape, kind, raw)
        how = (plan.verb, layout, code, plan.fill_number, look)
        packed = packed_of(how, stored, plan.shape)
        part = part_of(plan.verb, packed, Target(Path(plan.target), Divided), len(head))
        queue = Queue((part,), (pieces,), (0,), pieces.count)
        yield Work(queue, (size - len(head),), (given,), _Head(head))


def _stored(plan: Plan, code: Code, given: Given) -> Stored:
    """What is read, where it is what was planned for."""
    shape = plan.shape if plan.verb == "pack" else physical(code, plan.shape)
    stored = stored_in(given, None if plan.raw == "npy" else Raw(plan.item, shape))
    flat = plan.verb == "unpack" and not stored.fortran and len(stored.shape) == 1
    fits = stored.shape == shape or (flat and stored.shape == (prod(shape),))
    if stored.dtype.str != plan.dtype or not fits:
        raise PlanError(f"is of another array than `{given.place}` holds", REPLAN)
    return stored


@dataclass(frozen=True, slots=True)
class _Head:
    """The bytes before the items, which are the same from the start."""

    head: bytes

    def fixed(self, _: Filled, /) -> Iterable[tuple[int, bytes]]:
        """Return them."""
        return ((0, self.head),)

    def texts(self) -> Mapping[str, bytes]:
        """Return nothing."""
        return {}
