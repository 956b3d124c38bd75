"""Boxes of CUDA's tensor maps in shared memory: ``FLOAT16, boxDim={64, 8}, SWIZZLE_128B``.

A tensor map says which box of a tensor TMA copies, the fastest axis first, and how the box lies in
shared memory: row by row, and with a swizzle each chunk of 16 bytes of a row, or of the 32 or 64 of
an atom, goes where its number exclusive-ored with bits of the row's says. That is counted from an
address that is a multiple of 1024 bytes with 128, of 512 with 64 and of 256 with 32. Enumerators
are written with `CU_TENSOR_MAP_` before them or without, as in a call of `cuTensorMapEncodeTiled`.

Source: CUDA driver API, "Tensor Map Object Management", `cuTensorMapEncodeTiled`; PTX ISA, section
5.5.7, "Swizzling modes", whose tables have each pattern but that of the flip of 8 bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from math import prod

from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import (
    Add,
    BitXor,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    Mod,
    Mul,
)
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.language.texts.faults import did_you_mean, fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.blocks import axes_or, coordinate, number, with_extents
from layoutdsl.notation.notation import Notes, Reading, Unwritable
from layoutdsl.notation.places import refuse_range, refuse_start

ABOUT = "boxes of CUDA's tensor maps in shared memory"
EXAMPLE = "FLOAT16, boxDim={64, 8}, SWIZZLE_128B"

MOST_RANK, MOST_EXTENT = 5, 256
CHUNK = 16
"""Bytes that a row is a multiple of, and that a swizzle keeps together unless it names an atom."""
MOST_LOOKED_AT = 1 << 16

_TYPES = {
    **{f"UINT{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{f"INT{bits}": f"i{bits}" for bits in (32, 64)},
    **{f"FLOAT{bits}": f"f{bits}" for bits in (16, 32, 64)},
    "BFLOAT16": "bf16",
    "FLOAT32_FTZ": "f32",
    "TFLOAT32": "f32",
    "TFLOAT32_FTZ": "f32",
}
_SWIZZLES = {
    "NONE": (0, CHUNK),
    "32B": (32, CHUNK),
    "64B": (64, CHUNK),
    "128B": (128, CHUNK),
    "128B_ATOM_32B": (128, 32),
    "128B_ATOM_64B": (128, 64),
}
"""Within how many bytes each swizzle moves chunks, and the bytes of a chunk."""
_FIELD = re.compile(r"\s*((?:[^,{}]|\{[^{}]*\})*)(,|\Z)", re.ASCII)
_BOX = re.compile(r"boxDim\s*=\s*\{\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*\}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Box:
    """What a text says: the type, the extents from the slowest axis on, the bytes of a swizzle.

    Attributes:
        swizzle: the bytes within which chunks are moved, 0 for none.
        atom: the bytes of a chunk.
    """

    kind: ElementType
    extents: tuple[int, ...]
    swizzle: int
    atom: int

    def coordinates(self, axes: tuple[Axis, ...]) -> tuple[Coordinate, ...]:
        """Where an element of the box lies, most major first."""
        names: list[Expr] = [Index(axis.name) for axis in axes]
        if not self.swizzle:
            return tuple(coordinate(axes, name) for name in names)
        per_chunk = Constant(self.atom * 8 // self.kind.bits)
        row: Expr = Constant(0)
        for name, extent in zip(names[:-1], self.extents[:-1], strict=True):
            row = Add(Mul(row, Constant(extent)), name)
        if len(axes) > 1 and self.extents[-2] % 8 == 0:
            row = names[-2]  # the rows of the axes above are a multiple of eight
        # The lowest bits of a row's number are in the same 128 bytes, where rows are shorter.
        turns = Constant(128 // self.atom)
        phase = FloorDiv(Mod(row, turns), Constant(128 // self.swizzle))
        chunk = BitXor(FloorDiv(names[-1], per_chunk), phase)
        last = (simplify(chunk), Mod(names[-1], per_chunk))
        return tuple(coordinate(axes, each) for each in (*names[:-1], *last))


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a box; see `Notation.read` for errors."""
    box = _said(text)
    names = [f"c{each}" for each in reversed(range(len(box.extents)))]
    found = axes_or(axes, names, text, "the box")
    found = with_extents(found, [Constant(each) for each in box.extents], text)
    return Reading(Layout("box", found, box.coordinates(found), element=box.kind))


def _said(text: Span) -> _Box:
    kind: ElementType | None = None
    extents: tuple[int, ...] | None = None
    seen: set[str] = set()
    swizzle = _SWIZZLES["NONE"]
    for field in _fields(text):
        name = field.text.removeprefix("CU_TENSOR_MAP_")
        if field.text.startswith("boxDim"):
            what, extents = "boxDim", _extents(field)
        elif name.startswith("SWIZZLE_"):
            what, swizzle = "SWIZZLE", _swizzle(name.removeprefix("SWIZZLE_"), field)
        elif name.startswith("INTERLEAVE_"):
            what = "INTERLEAVE"
            if name != "INTERLEAVE_NONE":
                words = "NVIDIA does not document where elements of interleaved boxes lie"
                raise fault("L407", words, field)
        else:
            what, kind = "a type", _type(name.removeprefix("DATA_TYPE_"), field)
        if what in seen:
            raise fault("L404", f"{what} is given twice", field)
        seen.add(what)
    if kind is None or extents is None:
        missing = "`boxDim={64, 8}`" if extents is None else "the type, as `FLOAT16`,"
        raise fault("L401", f"{missing} is missing", text)
    _refuse_rows(kind, extents[-1], swizzle[0], text)
    return _Box(kind, extents, *swizzle)


def _fields(text: Span) -> list[Span]:
    found, at = list[Span](), 0
    while True:
        field = _FIELD.match(text.text, at)
        if field is None or not field[1].strip():
            at = min(at, max(len(text.text) - 1, 0))
            span = Span(text.source, text.start + at, text.end)
            raise fault("L401", "here a type, a box or a swizzle was expected", span)
        start = text.start + field.start(1)
        found.append(Span(text.source, start, start + len(field[1].rstrip())))
        if not field[2]:
            return found
        at = field.end()


def _extents(field: Span) -> tuple[int, ...]:
    said = _BOX.fullmatch(field.text)
    if said is None:
        raise fault("L401", "a box looks like `boxDim={64, 8}`, the fastest axis first", field)
    found = list[int]()
    for digits in re.finditer("[0-9]+", said[1]):
        start = field.start + said.start(1) + digits.start()
        span = Span(field.source, start, start + len(digits[0]))
        found.append(number(span))
        if not 1 <= found[-1] <= MOST_EXTENT:
            raise fault("L405", f"a box has 1 to {MOST_EXTENT} elements along an axis", span)
    if len(found) > MOST_RANK:
        raise fault("L405", f"a box has at most {MOST_RANK} axes", field)
    return tuple(reversed(found))


def _swizzle(name: str, field: Span) -> tuple[int, int]:
    if name not in _SWIZZLES:
        if name == "128B_ATOM_32B_FLIP_8B":
            words = "NVIDIA does not say in which rows this swizzle flips 8 bytes"
            raise fault("L407", words, field)
        known = ", ".join(f"SWIZZLE_{each}" for each in _SWIZZLES)
        raise fault("L404", f"there is no swizzle `{name}`", field, help=f"known are {known}")
    return _SWIZZLES[name]


def _type(name: str, field: Span) -> ElementType:
    if name not in _TYPES:
        if name.startswith("16U"):
            raise fault("L407", "types of packed elements with gaps are not read", field)
        hint = did_you_mean(name, _TYPES) or f"known are {', '.join(_TYPES)}"
        raise fault("L404", f"there is no type `{name}`", field, help=hint)
    return ELEMENT_TYPES[_TYPES[name]]


def _refuse_rows(kind: ElementType, extent: int, swizzle: int, text: Span) -> None:
    """Raise where rows are none that a tensor map has, or with a swizzle that nobody documents."""
    width = extent * kind.bits // 8
    if width % CHUNK:
        raise fault("L405", f"a row has {width} bytes, and no multiple of {CHUNK}", text)
    if swizzle and width > swizzle:
        words = f"a row has {width} bytes, and a swizzle of {swizzle} at most {swizzle}"
        raise fault("L405", words, text)
    if swizzle and width != swizzle:
        words = f"a row has {width} bytes: with a swizzle of {swizzle} only whole rows are read"
        raise fault("L407", words, text)


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  maps say nothing beyond
    """Return the box of a layout whose extents are numbers."""
    refuse_start(layout)
    refuse_range(layout)
    kind = layout.element
    name = next((each for each, ours in _TYPES.items() if kind and ours == kind.name), None)
    if kind is None or name is None:
        raise Unwritable("it does not say a type that a tensor map has, as `of f16` would")
    found = [axis.extent for axis in layout.axes]
    extents = tuple(each.value for each in found if isinstance(each, Constant))
    if not 1 <= len(found) <= MOST_RANK or len(extents) < len(found):
        raise Unwritable(f"a box has 1 to {MOST_RANK} axes, whose extents are numbers")
    width = extents[-1] * kind.bits // 8
    if max(extents) > MOST_EXTENT or width % CHUNK:
        raise Unwritable(
            f"a box has at most {MOST_EXTENT} elements along an axis, in rows of {CHUNK} bytes"
        )
    for swizzle, (size, atom) in _SWIZZLES.items():
        if size in (0, width) and _same(layout, _Box(kind, extents, size, atom)):
            words = ", ".join(map(str, reversed(extents)))
            return f"{name}, boxDim={{{words}}}, SWIZZLE_{swizzle}"
    raise Unwritable("it is no box row by row, with a swizzle or without")


def _same(layout: Layout, box: _Box) -> bool:
    """Whether all elements lie as in a box.

    Raises:
        Unwritable: they are written otherwise, and too many to look at.
    """
    other = Layout("box", layout.axes, box.coordinates(layout.axes), element=box.kind)
    if layout.coordinates == other.coordinates:
        return True
    if layout.size({}) != other.size({}):
        return False
    if prod(box.extents) > MOST_LOOKED_AT:
        raise Unwritable(f"it has more than {MOST_LOOKED_AT} elements, which are looked at singly")
    names = [axis.name for axis in layout.axes]
    indices = (dict(zip(names, each, strict=True)) for each in product(*map(range, box.extents)))
    return all(layout.offset_at(index) == other.offset_at(index) for index in indices)
