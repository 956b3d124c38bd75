"""CuTe's layouts of threads and values: ``((4,8),(2,2)):((32,1),(16,8)) -> (16,8)``.

The first entry counts threads, the second the values of one, and the offset is no place in memory
but the number of an element of a tile, whose leftmost index moves fastest. So it is read the other
way round than a layout of memory: from the slot to the element. Where a stride is 0, several
threads or values hold one element: it has copies, along an axis called ``thr`` or ``val``.

Source: CUTLASS, "CuTe's support for Matrix Multiply-Accumulate instructions" and "CuTe Tutorial:
TV layouts", where a tile stands beside the layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from layoutdsl.language.digits.inverse import tidy
from layoutdsl.language.digits.weighted import Axes, weighted
from layoutdsl.language.integers.bounds import ONE, ZERO
from layoutdsl.language.integers.digit import Digit
from layoutdsl.language.integers.expr import Constant, Coordinate, Expr, Index, MixedRadix
from layoutdsl.language.integers.written_out import written_out
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Axis, Layout, Origin
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation import cute_tv_text
from layoutdsl.notation.blocks import axes_or, coordinate, with_extents
from layoutdsl.notation.cute_parts import Form, Shaped, leaves
from layoutdsl.notation.cute_said import said
from layoutdsl.notation.notation import Notes, Reading

ABOUT = "CuTe's layouts of threads and values, over a tile"
EXAMPLE = "((4,8),(2,2)):((32,1),(16,8)) -> (16,8)"

MODES = ("thr", "val")
_NAMES = "mnklpq"
_ARROW = "->"
MOST_ELEMENTS = 1 << 40


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a text; see `Notation.read` for errors."""
    before, arrow, behind = text.text.partition(_ARROW)
    if not arrow:
        hint = "the shape of the tile stands behind it: `... -> (16,8)`"
        raise fault("L407", "the text does not say of which tile it numbers", text, help=hint)
    cut = text.start + len(before)
    shaped = _shaped(Span(text.source, text.start, cut))
    tile = _tile(Span(text.source, cut + len(arrow), text.start + len(text.text)))
    names = list(_NAMES) if len(tile) <= len(_NAMES) else [f"d{n}" for n in range(len(tile))]
    found = axes_or(axes, names[: len(tile)], text, "the tile")
    found = with_extents(found, [Constant(each) for each in tile], text)
    modes = _modes(shaped, text)
    _refuse_other_elements(modes, tile, text)
    copies = _copies(modes, found, text)
    every = (*found, *copies)
    places = tuple(
        _place(every, found, name, mode) for name, mode in zip(MODES, modes, strict=True)
    )
    spelled = f"{shaped.text} {_ARROW} {' '.join(behind.split())}"
    layout = Layout(
        "tv",
        every,
        places,
        fill=FillAny(),
        copies=tuple(axis.name for axis in copies),
        origin=Origin("cute_tv", spelled),
    )
    return Reading(layout)


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  nothing is said beyond
    """Return the layout of threads and values, with its tile."""
    return cute_tv_text.write(layout)


@dataclass(frozen=True, slots=True)
class _Step:
    """A digit of a thread or a value: so many steps, each so far among the elements."""

    extent: int
    stride: int


def _shaped(text: Span) -> Shaped:
    parts = said(text).parts
    if len(parts) == 1 and isinstance(parts[0], Shaped):
        return parts[0]
    raise fault("L407", "a layout of threads and values has nothing before it", text)


def _tile(text: Span) -> list[int]:
    shaped = _shaped(text)
    values = [leaf.value for leaf in leaves(shaped.shape)]
    known = [each for each in values if each is not None and each > 0]
    if len(known) < len(values) or not known or shaped.strides is not None:
        raise fault("L405", "a tile is a tuple of extents that are numbers", text)
    if prod(known) > MOST_ELEMENTS:
        raise fault("L405", f"the tile has more than {MOST_ELEMENTS} elements", text)
    return known


def _modes(shaped: Shaped, text: Span) -> list[list[_Step]]:
    """The steps of threads, and those of values, the fastest first."""
    shape, strides = shaped.shape, shaped.placed
    if not isinstance(shape, tuple) or len(shape) != len(MODES):
        raise fault("L405", "the entries are two: of threads, and of values", text)
    if not isinstance(strides, tuple) or len(strides) != len(shape):
        raise fault("L405", "shape and strides have different forms", text)
    return [_steps(*pair, text) for pair in zip(shape, strides, strict=True)]


def _steps(shape: Form, strides: Form, text: Span) -> list[_Step]:
    one, other = leaves(shape), leaves(strides)
    if len(one) != len(other):
        raise fault("L405", "shape and strides have different forms", text)
    found = list[_Step]()
    for extent, stride in zip(one, other, strict=True):
        if extent.value is None or stride.value is None:
            raise fault("L407", "extents and strides are numbers here", text)
        if extent.value < 1 or stride.value < 0:
            raise fault("L405", "an extent is at least 1, and no stride negative", text)
        if extent.value > 1:
            found.append(_Step(extent.value, stride.value))
    return found


def _refuse_other_elements(modes: Sequence[Sequence[_Step]], tile: list[int], text: Span) -> None:
    """Raise unless steps that lead anywhere reach each element of the tile in one way."""
    reach = 1
    for step in sorted((s for mode in modes for s in mode if s.stride), key=lambda s: s.stride):
        if step.stride < reach:
            message = f"steps of {step.stride} lead to elements that others lead to as well"
            hint = "copies are counted by strides of 0 alone"
            raise fault("L409", message, text, help=hint)
        if step.stride > reach:
            raise fault("L409", f"no thread holds element {reach} of the tile", text)
        reach *= step.extent
    if reach != prod(tile):
        message = f"threads and values hold {reach} elements, and the tile has {prod(tile)}"
        raise fault("L409", message, text)


def _copies(modes: Sequence[Sequence[_Step]], axes: Sequence[Axis], text: Span) -> tuple[Axis, ...]:
    found = list[Axis]()
    for name, mode in zip(MODES, modes, strict=True):
        count = prod(step.extent for step in mode if not step.stride)
        if count == 1:
            continue
        if name in {axis.name for axis in axes}:
            message = f"`{name}` is an axis, and copies are counted by that name"
            raise fault("L404", message, text, help="give the axis another name")
        found.append(Axis(name, Constant(count)))
    return tuple(found)


def _place(
    every: Sequence[Axis], axes: Sequence[Axis], name: str, mode: Sequence[_Step]
) -> Coordinate:
    """The coordinate of threads or of values."""
    digits, copied = list[Coordinate](), 1
    count = prod(step.extent for step in mode if not step.stride)
    for step in mode:
        if step.stride:
            found = [coordinate(every, each) for each in _digits(axes, step)]
        else:
            last = copied * step.extent == count
            radix = None if last else Constant(step.extent)
            value = Digit(Index(name), Constant(copied), radix).value
            found = [coordinate(every, value)]
            copied *= step.extent
        digits[:0] = reversed(found)
    if not digits:
        return Coordinate(ZERO, Constant(1))
    return digits[0] if len(digits) == 1 else coordinate(every, MixedRadix(tuple(digits)))


def _digits(axes: Sequence[Axis], step: _Step) -> Iterator[Expr]:
    """The digits of the element's number that a step counts, the fastest first."""
    sizes = Axes({axis.name: axis.extent for axis in axes})
    wide = [axis for axis in reversed(axes) if axis.extent != ONE]
    whole = MixedRadix(tuple(Coordinate(Index(axis.name), axis.extent) for axis in wide))
    elements = prod(axis.extent.value for axis in axes if isinstance(axis.extent, Constant))
    radix = None if step.stride * step.extent == elements else Constant(step.extent)
    value = Digit(whole, Constant(step.stride), radix).value
    found = weighted(tidy(written_out(value), sizes), sizes)
    places = None if found is None else found.places(None)
    yield from (each.value for each in reversed(places)) if places else [value]
