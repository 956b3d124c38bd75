"""CuTe's layouts: ``((4,8),(2,2)):((32,1),(16,8))``, and what programs print before them.

A layout has one axis for each entry of its outermost tuple. An index along an axis is cut by the
extents of that entry, the leftmost moving fastest (colexicographic), and each digit moves the
element by its stride; without strides they are compact, the leftmost moving fastest. Swizzles,
offsets and layouts before it are applied to its offset, the nearest first. A swizzle counts
elements, but that of a pointer counts bytes, and is taken to begin at a multiple of all its bits.

CuTe has no size of a buffer and no padding: slots that strides leave unused hold no particular
value here, and the buffer ends with the last block.

Source: CUTLASS documentation, "CuTe Layouts"; `cute/swizzle.hpp` for the meaning of ``S<B,M,S>``,
`cute/pointer_flagged.hpp` and `cute/swizzle_layout.hpp` for that of a pointer's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from typing import TypeAlias

from layoutdsl.language.integers.expr import Constant, Expr
from layoutdsl.language.meaning import strided
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType, FillAny
from layoutdsl.language.meaning.model import Axis, Condition, Layout, Origin
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation import cute_maps, cute_text, cute_unknown
from layoutdsl.notation.blocks import axes_or, with_extents
from layoutdsl.notation.cute_functions import Function, Plus, Swizzled, Through
from layoutdsl.notation.cute_parts import (
    Form,
    Leaf,
    Part,
    Pointer,
    Shaped,
    Swizzle,
    leaves,
    offset_of,
)
from layoutdsl.notation.cute_said import said
from layoutdsl.notation.notation import Notes, Reading

ABOUT = "CuTe layouts, shape:stride"
EXAMPLE = "((4,8),(2,2)):((32,1),(16,8))"

_NAMES = "mnklpq"
_THREADS = "where it says which element a thread holds, write `cute_tv`, and the tile behind `->`"
_FLOATS = re.compile(r"(b?f)(16|32|64|8)(E[0-9]M[0-9]\w*)?", re.ASCII)

Mode: TypeAlias = "list[tuple[Leaf, Leaf | None]]"
"""The extents of one entry with their strides, the fastest first."""


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a shape and its strides; see `Notation.read` for errors."""
    chain = said(text)
    *before, last = chain.parts
    if not isinstance(last, Shaped):
        raise fault("L401", "the last part has to be extents and strides", text)
    modes = _modes(last, text)
    names = list(_NAMES) if len(modes) <= len(_NAMES) else [f"d{n}" for n in range(len(modes))]
    found = axes_or(axes, names[: len(modes)], text, "the text")
    found = with_extents(found, [_extent(m, a) for m, a in zip(modes, found, strict=True)], text)
    parts, element = _before(before)
    functions = [_function(part, text) for part in parts]
    try:
        offset, known = _offset(found, modes, text)
        coordinates, start = cute_maps.coordinates(offset, functions)
    except cute_maps.Shared as shared:
        still = any(step is not None and step.value == 0 for mode in modes for _, step in mode)
        hint = _THREADS if still and len(modes) == len(("thr", "val")) else None
        raise fault("L406", _shared(found, shared), text, help=hint) from None
    except ValueError as reason:
        raise fault("L407", str(reason), text) from None
    layout = Layout(
        "cute",
        found,
        coordinates,
        fill=FillAny(),
        element=element,
        start=Constant(start),
        where=known.where,
        parameters=known.parameters,
        origin=Origin("cute", chain.text),
    )
    return Reading(layout)


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  a layout's origin says more
    """Return shape and strides, a swizzle before them where the layout is one."""
    return cute_text.write(layout)


def _modes(shaped: Shaped, text: Span) -> list[Mode]:
    """Return the entries of the outermost tuple."""
    shape = shaped.shape if isinstance(shaped.shape, tuple) else (shaped.shape,)
    placed = shaped.placed
    if placed is None:
        return [[(_positive(leaf), None) for leaf in leaves(each)] for each in shape]
    strides = placed if isinstance(placed, tuple) else (placed,)
    if isinstance(shaped.shape, tuple) != isinstance(placed, tuple) or len(shape) != len(strides):
        raise fault("L405", "shape and strides have different forms", text)
    return [_paired(one, other, text) for one, other in zip(shape, strides, strict=True)]


def _paired(shape: Form, strides: Form, text: Span) -> Mode:
    match shape, strides:
        case Leaf(), Leaf(value, _, place):
            if value is not None and value < 0:
                hint = "reverse the axis, and add the offset of its last element"
                raise fault("L405", f"the stride {value} is negative", place, help=hint)
            return [(_positive(shape), strides)]
        case tuple(), tuple() if len(shape) == len(strides):
            pairs = zip(shape, strides, strict=True)
            return [each for one, other in pairs for each in _paired(one, other, text)]
    raise fault("L405", "shape and strides have different forms", text)


def _positive(leaf: Leaf) -> Leaf:
    if leaf.value is not None and leaf.value < 1:
        raise fault("L405", f"the extent {leaf.value} is not positive", leaf.span)
    return leaf


def _extent(mode: Mode, axis: Axis) -> Expr:
    """Return the extent of an axis: a number where all of the entry are known."""
    cute_unknown.refuse_inner([extent for extent, _ in mode])
    values = [extent.value for extent, _ in mode]
    if None not in values:
        return Constant(prod(value or 0 for value in values))
    return axis.extent


def _offset(
    axes: tuple[Axis, ...], modes: list[Mode], text: Span
) -> tuple[cute_maps.Sum | cute_maps.Listed, cute_unknown.Found]:
    """Return the offset that extents and strides give, and what has to hold for it."""
    cuts = [_numbers(mode) for mode in modes]
    known = [cut for cut in cuts if cut is not None]
    if len(known) == len(modes):
        digits = [
            digit
            for axis, cut in zip(axes, known, strict=True)
            for digit in strided.digits_of(axis.name, cut)
        ]
        return cute_maps.Sum(axes, tuple(digits)), cute_unknown.Found((), (), ())
    unknown: list[cute_unknown.Unplaced] = []
    where: list[Condition] = []
    for axis, mode in zip(axes, modes, strict=True):
        extents, strides = [e for e, _ in mode], [s for _, s in mode]
        unknown += cute_unknown.digits_of(axis, extents, strides)
        where += cute_unknown.multiples(axis, extents, text)
    found = cute_unknown.nested(unknown, text)
    where += found.where
    return cute_maps.Listed(axes, found.coordinates), replace(found, where=tuple(where))


def _numbers(mode: Mode) -> list[tuple[int, int]] | None:
    """Return extents and strides where all of them are known."""
    found: list[tuple[int, int]] = []
    for extent, stride in mode:
        if extent.value is None or stride is None or stride.value is None:
            return None
        found.append((extent.value, stride.value))
    return found


def _before(before: list[Part]) -> tuple[list[Part], ElementType | None]:
    """Return what is applied to an offset, the first first, and the type of an element."""
    found = list(before)
    pointers = [number for number, part in enumerate(found) if isinstance(part, Pointer)]
    if not pointers:
        return found[::-1], None
    at = pointers[0]
    pointer = found.pop(at)
    assert isinstance(pointer, Pointer)
    flagged = found.pop(0) if at == 1 and isinstance(found[0], Swizzle) else None
    if len(pointers) > 1 or (at and flagged is None):
        raise fault("L401", "a pointer stands before all other parts", pointer.span)
    element = _element(pointer)
    swizzle = flagged if isinstance(flagged, Swizzle) else pointer.swizzle
    if swizzle is None:
        return found[::-1], element
    return [*found[::-1], _of_elements(swizzle, pointer)], element


def _element(pointer: Pointer) -> ElementType | None:
    """Return the type of an element, where the pointer names one that is ours."""
    match = _FLOATS.fullmatch(pointer.kind or "")
    return None if match is None else ELEMENT_TYPES.get(f"{match[1]}{match[2]}")


def _of_elements(swizzle: Swizzle, pointer: Pointer) -> Swizzle:
    """Return a swizzle of bytes as one of elements, as `recast_layout` does."""
    span = 1 << (swizzle.bits + swizzle.base + abs(swizzle.shift))
    if pointer.address is not None and pointer.address % span:
        message = f"the pointer is no multiple of {span} bytes, which its swizzle has bits for"
        hint = "leave the address out: elements are then counted from such a multiple"
        raise fault("L407", message, pointer.span, help=hint)
    bits = pointer.bits
    if bits is None or bits.bit_count() != 1:
        words = "an unknown number of" if bits is None else str(bits)
        message = f"a swizzle of bytes says nothing of elements of {words} bits"
        raise fault("L405", message, pointer.span)
    base = swizzle.base + 3 - (bits.bit_length() - 1)
    return replace(swizzle, bits=max(swizzle.bits + min(base, 0), 0), base=max(base, 0))


def _function(part: Part, text: Span) -> Function:
    """Return what a part before the last one makes of an offset."""
    if isinstance(part, Swizzle):
        return Swizzled(part.bits, part.base, part.shift) if part.bits else Plus(0)
    assert isinstance(part, Shaped)
    number = offset_of(part)
    if number is not None:
        if number.value is None:
            message = "the offset is not known"
            raise fault("L407", message, number.span, help="write a number for it")
        if number.value < 0:
            raise fault("L405", f"the offset {number.value} is negative", number.span)
        return Plus(number.value)
    cut = _numbers([pair for mode in _modes(part, text) for pair in mode])
    if cut is None:
        message = "the numbers of a layout that another is put through have to be known"
        raise fault("L407", message, part.span)
    return Through(tuple(cut))


def _shared(axes: tuple[Axis, ...], found: cute_maps.Shared) -> str:
    """Say which two indices share a slot."""
    one, other = (
        ", ".join(f"{axis.name}={n}" for axis, n in zip(axes, place, strict=True))
        for place in (found.one, found.other)
    )
    return f"({one}) and ({other}) share offset {found.offset}"
