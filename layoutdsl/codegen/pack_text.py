"""`pack` and `unpack` as Python, by a plan or by a gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from layoutdsl.bounds import ZERO
from layoutdsl.codegen.arguments_text import extents_text
from layoutdsl.codegen.moves import Fallback, Plan, Planned
from layoutdsl.codegen.regions_text import leaves_gaps, leaves_slots_beyond
from layoutdsl.codegen.words import Words, indented, tuple_text
from layoutdsl.expr import Constant
from layoutdsl.model import Fill, FillAny, FillValue, FillZeroPoint, Layout


def pack_function(layout: Layout, planned: Planned, words: Words) -> list[str]:
    """Return `pack`."""
    start = words.text(layout.start)
    fresh = ["buffer = np.empty(box, tensor.dtype)"]
    if layout.start != ZERO:
        lead = [f"buffer[:{start}] = item"]
        fixed = isinstance(layout.start, Constant)
        fresh += lead if fixed else [f"if {start} != 0:", *indented(lead)]
    if isinstance(planned, Plan):
        before = list[str]()
        moves = [*_slots(planned), *_guarded(layout.fill, _fill_gaps(planned))]
        moves += _pack_regions(planned, words)
    else:
        before = _refuse_outside(layout)
        fill = _guarded(layout.fill, [f"flat[{start}:] = item"])
        moves = ["flat = buffer.reshape(-1)", *fill, *_scatter(layout)]
    default = "_Number | None = None"
    if isinstance(layout.fill, FillValue):
        default = f"_Number = {layout.fill.value}"
    return [
        "",
        "",
        "def pack(",
        "    src: _Array,",
        "    out: _Array | None = None,",
        f"    fill: {default},",
        *_options(),
        ") -> _Array:",
        *indented(
            [
                *_pack_words(layout, planned),
                'tensor = _array(src, "src")',
                *_planned(planned, "tensor.shape"),
                *_fill_item(layout.fill),
                *_asked("tensor", planned.order if _turns(planned) else None),
                *words.unpacked([layout.start]),
                *before,
                "if out is None:",
                *indented(fresh),
                "else:",
                "    buffer = _destination(out, box, tensor)",
                *moves,
                "return buffer if out is None else out",
            ]
        ),
    ]


def _options() -> list[str]:
    return ["    threads: int = 1,", "    copy: bool | None = True,"]


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


def _asked(array: str, order: Sequence[int] | None) -> list[str]:
    """What a caller may ask for beside: threads, and a view where turning the axes is all."""
    view: list[str] = []
    if order is not None:
        view = ["if out is None:", f"    return _seen({array}{_turned(order)}, copy)"]
    return [
        "if threads != 1:",
        "    _workers(threads)",
        "if copy is not True:",
        *indented([*view, "_refuse_view(copy)"]),
    ]


def _slots(plan: Plan) -> list[str]:
    return ["slots = _slots(buffer, shape)"] if plan.splits_buffer else []


def _split_buffer(plan: Plan) -> str:
    return "slots" if plan.splits_buffer else "buffer"


def _pack_words(layout: Layout, planned: Planned) -> list[str]:
    match layout.fill:
        case FillValue():
            fill = "the number in padding; what the type cannot hold is refused."
        case FillAny():
            fill = "the number in padding; without it, 0 in a new buffer, and `out` keeps its own."
        case FillZeroPoint():
            fill = "the quantised zero, which padding holds."
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
        f"    fill: {fill}",
        *_option_words(planned),
        "",
        "Raises:",
        "    ValueError, TypeError: the arguments do not fit; nothing was written.",
        '"""',
    ]


def _option_words(planned: Planned) -> list[str]:
    """What the docstrings say of threads and copies."""
    share = "how many may share the work, 1 to 256; they do where it is large."
    alone = "1 to 256; here one thread does all, since elements are moved one by one."
    view = "None returns a view where the items of `src` lie so already, False wants one."
    never = "True or None; elements have to be moved, so False is refused."
    return [
        f"    threads: {share if isinstance(planned, Plan) else alone}",
        f"    copy: {view if _turns(planned) else never}",
    ]


def _fill_item(fill: Fill) -> list[str]:
    match fill:
        case FillValue():
            return ["item = _item(fill, tensor.dtype)"]
        case FillAny():
            return ["item = _item(0 if fill is None else fill, tensor.dtype)"]
        case FillZeroPoint():
            return [
                "if fill is None:",
                '    raise TypeError("`fill` is missing: it is the quantised zero of the tensor")',
                "item = _item(fill, tensor.dtype)",
            ]


def _guarded(fill: Fill, lines: Sequence[str]) -> list[str]:
    if isinstance(fill, FillAny) and lines:
        return ["if out is None or fill is not None:", *indented(lines)]
    return list(lines)


def _fill_gaps(plan: Plan) -> list[str]:
    lines: list[str] = []
    if leaves_slots_beyond(plan):
        lines += ["for rest in _beyond(buffer, shape):", "    _fill(rest, item)"]
    if leaves_gaps(plan):
        lines += ["for gap in gaps:", f"    _fill({_split_buffer(plan)}[gap], item)"]
    return lines


def _pack_regions(plan: Plan, words: Words) -> list[str]:
    turned = _turned(plan.order)
    if plan.turns:
        return [f"_move(buffer, tensor{turned}, threads)"]
    return [
        *_joined(plan, words, "tensor"),
        "for take, split, put in regions:",
        f"    _move({_split_buffer(plan)}[put], tensor[take].reshape(split){turned}, threads)",
    ]


def _turned(order: Sequence[int]) -> str:
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
        "size = int(np.prod(box, dtype=object))",
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
    back = _back(planned) if _turns(planned) else None
    moves = _unpack_regions(planned, words) if isinstance(planned, Plan) else _gather(layout)
    argument, outside, item, fresh = _outside(layout)
    return [
        "",
        "",
        "def unpack(",
        "    src: _Array,",
        "    shape: tuple[int, ...] | list[int],",
        "    out: _Array | None = None,",
        *argument,
        *_options(),
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
                *item,
                *_asked("buffer", back),
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


def _outside(layout: Layout) -> tuple[list[str], list[str], list[str], list[str]]:
    """What `unpack` takes, says and does because of the elements that have no slot."""
    fresh = ["tensor = np.empty(shape, buffer.dtype)"]
    if not layout.domain:
        return [], [], [], fresh
    fill = layout.fill.value if isinstance(layout.fill, FillValue) else 0
    held = ", ".join(map(str, layout.domain))
    words = f"    fill: for elements outside the domain, {held}; `out` keeps its own there."
    fresh.append("tensor[...] = item")
    item = ["item = _item(fill, buffer.dtype)"]
    return [f"    fill: _Number = {fill},"], [words], item, fresh


def _back(plan: Plan) -> list[int]:
    return sorted(range(len(plan.order)), key=plan.order.__getitem__)


def _unpack_regions(plan: Plan, words: Words) -> list[str]:
    whole, turned = "joined" if plan.joins else "tensor", _turned(_back(plan))
    if plan.turns:
        return [f"_move(tensor, buffer{turned}, threads)"]
    lines = [
        *_slots(plan),
        *_joined(plan, words, "joined"),
        "for take, split, put in regions:",
        f"    _move({whole}[take].reshape(split), {_split_buffer(plan)}[put]{turned}, threads)",
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
