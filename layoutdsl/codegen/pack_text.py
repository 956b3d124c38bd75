"""`pack` and `unpack` as Python, by a plan or by a gather."""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.bounds import ZERO
from layoutdsl.codegen.arguments_text import extents_text
from layoutdsl.codegen.fill_text import (
    destination,
    fill_argument,
    fill_boxes,
    fill_item,
    fill_words,
    guarded,
)
from layoutdsl.codegen.moves import Plan, Planned
from layoutdsl.codegen.words import Words, indented, tuple_text
from layoutdsl.model import FillValue, Layout


def pack_function(layout: Layout, planned: Planned, words: Words) -> list[str]:
    """Return `pack`."""
    start = words.text(layout.start)
    if isinstance(planned, Plan):
        before = list[str]()
        padding = guarded(layout.fill, fill_boxes())
        moves = _pack_regions(planned, words)
    else:
        before = _refuse_outside(layout)
        fill = guarded(layout.fill, [f"flat[{start}:] = item"])
        padding, moves = ["flat = buffer.reshape(-1)", *fill], _scatter(layout)
    return [
        "",
        "",
        "def pack("
        f"src: _Array, out: _Array | None = None, {fill_argument(layout.fill)}) -> _Array:",
        *indented(
            [
                *_pack_words(layout, planned),
                'tensor = _array(src, "src")',
                "shape = _extents(tensor.shape)",
                *fill_item(layout.fill),
                *words.unpacked([layout.start]),
                *before,
                *destination(layout, words),
                *padding,
                *moves,
                "return buffer if out is None else out",
            ]
        ),
    ]


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
        "",
        "Raises:",
        "    ValueError, TypeError: the arguments do not fit; nothing was written.",
        '"""',
    ]


def _pack_regions(plan: Plan, words: Words) -> list[str]:
    return [
        "slots = _slots(buffer, shape)",
        *_joined(plan, words, "tensor"),
        "for take, split, put in _regions(shape):",
        f"    _move(slots[put], tensor[take].reshape(split){turned(plan.order)})",
    ]


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


def _each_piece(layout: Layout, line: str) -> list[str]:
    """Go through the pieces; where the layout has a domain, `held` says what is in it."""
    held = ["held = _held(first, past, shape)"] if layout.domain else []
    return ["for first, past in _pieces(shape):", *indented([*held, line])]


def _offsets(layout: Layout) -> str:
    return f"_offsets(first, past, shape){'[held]' if layout.domain else ''}"


def _elements(layout: Layout) -> str:
    return f"tensor[first:past]{'[held]' if layout.domain else ''}"


def _refuse_outside(layout: Layout) -> list[str]:
    return [
        "size = int(np.prod(_box(shape), dtype=object))",
        *_each_piece(layout, f"_refuse_outside({_offsets(layout)}, size)"),
    ]


def _scatter(layout: Layout) -> list[str]:
    return [
        *_each_piece(layout, f"flat[{_offsets(layout)}] = {_elements(layout)}"),
        "if not np.may_share_memory(flat, buffer):",
        "    buffer[...] = flat.reshape(buffer.shape)",
    ]


def unpack_function(layout: Layout, planned: Planned, words: Words) -> list[str]:
    """Return `unpack`."""
    before = [] if isinstance(planned, Plan) else _refuse_outside(layout)
    moves = _unpack_regions(planned, words) if isinstance(planned, Plan) else _gather(layout)
    arguments, outside, item, fresh = _outside(layout)
    return [
        "",
        "",
        "def unpack(",
        f"    {arguments}",
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
                "",
                "Raises:",
                "    ValueError, TypeError: the arguments do not fit; nothing was written.",
                '"""',
                "shape = _extents(shape)",
                'buffer = _boxed(_array(src, "src"), _box(shape))',
                *item,
                *before,
                "if out is None:",
                *indented(fresh),
                "else:",
                "    tensor = _destination(out, shape, buffer)",
                *moves,
                "return tensor if out is None else out",
            ]
        ),
    ]


def _outside(layout: Layout) -> tuple[str, list[str], list[str], list[str]]:
    """What `unpack` takes, says and does because of the elements that have no slot."""
    arguments = "src: _Array, shape: tuple[int, ...] | list[int], out: _Array | None = None"
    fresh = ["tensor = np.empty(shape, buffer.dtype)"]
    if not layout.domain:
        return arguments, [], [], fresh
    fill = layout.fill.value if isinstance(layout.fill, FillValue) else 0
    held = ", ".join(map(str, layout.domain))
    words = f"    fill: for elements outside the domain, {held}; `out` keeps its own there."
    fresh.append("tensor[...] = item")
    item = ["item = _item(fill, buffer.dtype)"]
    return f"{arguments}, fill: _Number = {fill}", [words], item, fresh


def _unpack_regions(plan: Plan, words: Words) -> list[str]:
    whole = "joined" if plan.joins else "tensor"
    back = sorted(range(len(plan.order)), key=plan.order.__getitem__)
    lines = [
        "slots = _slots(buffer, shape)",
        *_joined(plan, words, "joined"),
        "for take, split, put in _regions(shape):",
        f"    _move({whole}[take].reshape(split), slots[put]{turned(back)})",
    ]
    if plan.joins:
        order = _numbers(plan.axis_order)
        lines += [
            "if not np.may_share_memory(joined, tensor):",
            f"    turned = tensor.transpose({order})",
            "    turned[...] = joined.reshape(turned.shape)",
        ]
    return lines


def _gather(layout: Layout) -> list[str]:
    return [
        "flat = buffer.reshape(-1)",
        *_each_piece(layout, f"{_elements(layout)} = flat[{_offsets(layout)}]"),
    ]
