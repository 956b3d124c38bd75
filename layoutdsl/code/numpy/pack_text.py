"""`pack` and `unpack` as Python, by a plan or by a gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from layoutdsl.code.moves import Fallback, Plan, Planned
from layoutdsl.code.numpy.arguments_text import extents_text
from layoutdsl.code.numpy.element_text import travels, within
from layoutdsl.code.numpy.fill_text import (
    destination,
    fill_argument,
    fill_gaps,
    fill_item,
    fill_words,
    guarded,
    number_text,
)
from layoutdsl.code.numpy.gathered_text import Gathered
from layoutdsl.code.numpy.options_text import (
    ALONE,
    COPY,
    MOVED,
    SHARED,
    THREADS,
    VIEWED,
    asked_copy,
    asked_threads,
)
from layoutdsl.code.numpy.regions_text import leaves_gaps, split_buffer, split_name
from layoutdsl.code.numpy.words import Words, indented, tuple_text
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.meaning.elements import FillValue
from layoutdsl.language.meaning.model import Layout


def pack_function(layout: Layout, planned: Planned, words: Words) -> list[str]:
    """Return `pack`."""
    if isinstance(planned, Plan):
        before = within(layout.element, "tensor")
        moves = [*split_buffer(planned), *guarded(layout.fill, fill_gaps(planned))]
        moves += _pack_regions(planned, words)
    else:
        gathered = Gathered(layout, planned.rows)
        before = [*gathered.refuse_outside(), *gathered.each_within(gathered.elements)]
        fill = guarded(layout.fill, [f"flat[{words.text(layout.start)}:] = item"])
        moves = ["flat = buffer.reshape(-1)", *fill, *gathered.scatter()]
    return [
        "",
        "",
        "def pack(",
        "    src: _Array,",
        "    out: _Array | None = None,",
        f"    {fill_argument(layout.fill)},",
        f"    {THREADS},",
        f"    {COPY},",
        ") -> _Array:",
        *indented(
            [
                *_pack_words(layout, planned),
                'tensor = _array(src, "src")',
                *travels(layout.element, "tensor"),
                *_planned(planned, "tensor.shape"),
                *fill_item(layout.fill, layout.element),
                *asked_threads(),
                *before,
                *asked_copy(f"tensor{turned(planned.order)}" if _turns(planned) else None),
                *words.unpacked([layout.start]),
                *destination(layout, words),
                *moves,
                "return buffer if out is None else out",
            ]
        ),
    ]


def _turns(planned: Planned) -> TypeGuard[Plan]:
    return isinstance(planned, Plan) and planned.turns


def _planned(planned: Planned, shape: str) -> list[str]:
    """What is asked of the shape; a plan for it is remembered."""
    if isinstance(planned, Fallback) or planned.turns:
        return [f"shape = _extents({shape})", "box = _box(shape)"]
    if shape == "shape":
        names = "box, _, regions" if leaves_gaps(planned) else "box, regions"
        return ["shape = _extents(shape)", f"{names} = _plan(shape)"]
    names = "box, gaps, regions" if leaves_gaps(planned) else "box, regions"
    return [f"shape = {shape}", f"{names} = _plan(shape)"]


def _pack_words(layout: Layout, planned: Planned) -> list[str]:
    lead = "Slots before the first hold the fill in a new buffer, and in `out` what they held."
    twice = "Every slot is filled, and then the elements are put into their places."
    apart = "Axes that are read as one and lie apart in `src` are first copied to lie together."
    notes = [lead] if layout.start != ZERO else []
    notes += [] if isinstance(planned, Plan) else [twice]
    if layout.domain:
        notes.append(f"Only elements where {', '.join(map(str, layout.domain))} have a place.")
    notes += [apart] if isinstance(planned, Plan) and planned.joins else []
    return [
        '"""Return the tensor as the layout stores it.',
        "",
        *([*notes, ""] if notes else []),
        "Args:",
        f"    src: a tensor with extents {extents_text(layout)}.",
        "    out: the buffer to write, which does not overlap `src`; a new one is made without it.",
        f"    fill: {fill_words(layout.fill)}",
        *_option_words(planned),
        "",
        "Raises:",
        "    ValueError, TypeError: the arguments do not fit; nothing was written.",
        '"""',
    ]


def _option_words(planned: Planned) -> list[str]:
    threads = SHARED if isinstance(planned, Plan) else ALONE
    return [f"    {threads}", f"    {VIEWED if _turns(planned) else MOVED}"]


def _pack_regions(plan: Plan, words: Words) -> list[str]:
    last = turned(plan.order)
    if plan.turns:
        return [f"_move(buffer, tensor{last}, threads)"]
    return [
        *_joined(plan, words, "tensor"),
        "for take, split, put in regions:",
        f"    _move({split_name(plan)}[put], {_taken('tensor', plan)}{last}, threads)",
    ]


def _taken(tensor: str, plan: Plan) -> str:
    """Return a region of the tensor; of one without axes, all: an index would give a number."""
    return f"{tensor}[take].reshape(split)" if plan.moves else f"{tensor}.reshape(split)"


def turned(order: Sequence[int]) -> str:
    """Return the call that puts dimensions into an order; nothing where they are in it."""
    return "" if list(order) == sorted(order) else f".transpose({_numbers(order)})"


def _numbers(numbers: Sequence[int]) -> str:
    return tuple_text([str(number) for number in numbers])


def _joined(plan: Plan, words: Words, name: str) -> list[str]:
    """Read several axes as one: a view where they lie together, a copy where they do not."""
    if not plan.joins:
        return []
    extents = [move.extent for move in plan.moves]
    order = _numbers(plan.axis_order)
    return [
        *words.unpacked(extents),
        f"{name} = tensor.transpose({order}).reshape({words.tuple(extents)})",
    ]


def unpack_function(layout: Layout, planned: Planned, words: Words) -> list[str]:
    """Return `unpack`."""
    if isinstance(planned, Plan):
        before, moves = _read_within(layout, planned), _unpack_regions(planned, words)
    else:
        gathered = Gathered(layout, planned.rows)
        before = ["flat = buffer.reshape(-1)", *gathered.refuse_outside()]
        before += gathered.each_within(gathered.slots)
        moves = gathered.take()
    argument, outside, item, fresh = _outside(layout)
    return [
        "",
        "",
        "def unpack(",
        "    src: _Array,",
        "    shape: tuple[int, ...] | list[int],",
        "    out: _Array | None = None,",
        *argument,
        f"    {THREADS},",
        f"    {COPY},",
        ") -> _Array:",
        *indented(
            [
                '"""Return the tensor that a buffer holds; padding is not read.',
                "",
                "Args:",
                "    src: a buffer of `physical_shape(shape)`, or a flat one of the same size.",
                f"    shape: the extents {extents_text(layout)} of the tensor.",
                "    out: the tensor to write, which does not overlap `src`; new without it.",
                *outside,
                *_option_words(planned),
                "",
                "Raises:",
                "    ValueError, TypeError: the arguments do not fit; nothing was written.",
                '"""',
                *_planned(planned, "shape"),
                'buffer = _boxed(_array(src, "src"), box)',
                *travels(layout.element, "buffer"),
                *item,
                *asked_threads(),
                *before,
                *asked_copy(f"buffer{turned(planned.back)}" if _turns(planned) else None),
                "if out is None:",
                *indented(fresh),
                "else:",
                "    tensor = _destination(out, shape, buffer)",
                *moves,
                "return tensor if out is None else out",
            ]
        ),
    ]


def _outside(layout: Layout) -> tuple[list[str], list[str], list[str], list[str]]:
    """What `unpack` takes, says and does because of the elements that have no slot."""
    fresh = ["tensor = np.empty(shape, buffer.dtype)"]
    if not layout.domain:
        return [], [], [], fresh
    fill = layout.fill.value if isinstance(layout.fill, FillValue) else 0
    held = ", ".join(map(str, layout.domain))
    words = f"    fill: for elements outside the domain, {held}; `out` keeps its own there."
    fresh.append("tensor[...] = item")
    item = ["item = _item(fill, buffer.dtype)", *within(layout.element, "item")]
    return [f"    fill: _Number = {number_text(fill)},"], [words], item, fresh


def _read_within(layout: Layout, plan: Plan) -> list[str]:
    """Refuse elements that are no values of their type; padding is not looked at."""
    slots = "buffer" if plan.turns else f"{split_name(plan)}[put]"
    lines = within(layout.element, slots)
    if plan.turns or not lines:
        return lines
    return [*split_buffer(plan), "for _, _, put in regions:", *indented(lines)]


def _unpack_regions(plan: Plan, words: Words) -> list[str]:
    whole, last = "joined" if plan.joins else "tensor", turned(plan.back)
    if plan.turns:
        return [f"_move(tensor, buffer{last}, threads)"]
    checked = bool(_read_within(plan.layout, plan))
    lines = [
        *([] if checked else split_buffer(plan)),
        *_joined(plan, words, "joined"),
        "for take, split, put in regions:",
        f"    _move({_taken(whole, plan)}, {split_name(plan)}[put]{last}, threads)",
    ]
    if plan.joins:
        order = _numbers(plan.axis_order)
        lines += [
            "if not np.may_share_memory(joined, tensor):",
            f"    turned = tensor.transpose({order})",
            "    turned[...] = joined.reshape(turned.shape)",
        ]
    return lines
