"""CuTe's layouts: ``((4,8),(2,4)):((32,1),(16,8))``, with a swizzle before it where there is one.

A layout has one axis for each entry of its outermost tuple. An index along an axis is cut by the
extents of that entry, the leftmost moving fastest (colexicographic), and each digit moves the
element by its stride. ``S<B,M,S> o k o L`` adds ``k`` to the offset and then exclusive-ors the
``B`` bits from bit ``M`` with the ``B`` bits that lie ``S`` above them.

CuTe has no size of a buffer and no padding: slots that strides leave unused hold no particular
value here, and the buffer ends with the last block.

Source: CUTLASS documentation, "CuTe Layouts"; `cute/swizzle.hpp` for the meaning of ``S<B,M,S>``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias, cast

from lark import Token, Tree

from layoutdsl import strided
from layoutdsl.expr import (
    Add,
    BitAnd,
    BitXor,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
)
from layoutdsl.model import Axis, FillAny, Layout
from layoutdsl.notation import cute_text
from layoutdsl.notation.blocks import axes_or, coordinate, with_extents
from layoutdsl.notation.notation import Notes, Reading
from layoutdsl.scope import fault
from layoutdsl.source import Span
from layoutdsl.syntax.reading import tree

ABOUT = "CuTe layouts, shape:stride"
EXAMPLE = "((4,8),(2,4)):((32,1),(16,8))"

MOST_DEPTH = 16
MOST_BITS = 40
MOST_DIGITS = 18
_SPELLING = {"INT": "a number", "STATIC": "a number", "SIGN": "`-`"}
_NAMES = "mnklpq"

Branch = Tree[Token]


@dataclass(frozen=True, slots=True)
class _Leaf:
    value: int
    span: Span


_Form: TypeAlias = "_Leaf | tuple[_Form, ...]"


@dataclass(frozen=True, slots=True)
class _Swizzle:
    """``S<bits, base, shift>`` after ``start`` has been added."""

    bits: int
    base: int
    shift: int
    start: int


def read(text: Span, axes: tuple[Axis, ...] | None) -> Reading:
    """Return the layout of a shape and its strides; see `Notation.read` for errors."""
    reader = _Reader(text)
    swizzle, shape, strides = reader.parts(tree("cute", text, "L401", _SPELLING))
    modes = list(shape) if isinstance(shape, tuple) else [shape]
    steps = list(strides) if isinstance(strides, tuple) else [strides]
    cut = [reader.cut(mode, step) for mode, step in zip(modes, steps, strict=True)]
    names = list(_NAMES) if len(modes) <= len(_NAMES) else [f"d{n}" for n in range(len(modes))]
    found = axes_or(axes, names[: len(modes)], text, "the text")
    extents = [Constant(prod(extent for extent, _ in digits)) for digits in cut]
    found = with_extents(found, extents, text)
    digits = [
        each for axis, digits in zip(found, cut, strict=True) for each in _digits(axis.name, digits)
    ]
    try:
        coordinates = strided.coordinates(digits)
    except strided.Aliasing as shared:
        raise fault("L406", _shared(found, digits, shared), text) from None
    except ValueError as reason:
        raise fault("L406", str(reason), text) from None
    if swizzle is not None:
        coordinates = (_swizzled(found, coordinates, swizzle),)
    return Reading(Layout("cute", found, coordinates, fill=FillAny()))


def write(layout: Layout, notes: Notes) -> str:  # noqa: ARG001  nothing is said beyond
    """Return shape and strides, a swizzle before them where the layout is one."""
    return cute_text.write(layout)


def _digits(axis: str, cut: list[tuple[int, int]]) -> list[strided.Digit]:
    """Return the digits of an index, the leftmost extent moving fastest."""
    found: list[strided.Digit] = []
    below = 1
    whole = prod(extent for extent, _ in cut)
    for extent, stride in cut:
        value: Expr = Index(axis)
        if below > 1:
            value = FloorDiv(value, Constant(below))
        if below * extent < whole:
            value = Mod(value, Constant(extent))
        found.append(strided.Digit(value, extent, stride))
        below *= extent
    return found


def _shared(axes: tuple[Axis, ...], digits: list[strided.Digit], found: strided.Aliasing) -> str:
    """Say which two indices share a slot."""
    one, other = (_index(axes, digits, place) for place in (found.one, found.other))
    return f"{one} and {other} share offset {found.slot}"


def _index(axes: tuple[Axis, ...], digits: list[strided.Digit], place: tuple[int, ...]) -> str:
    """Return the index whose digits these are, as ``(m=0, n=1)``."""
    values = dict.fromkeys((axis.name for axis in axes), 0)
    below = dict.fromkeys(values, 1)
    for digit, number in zip(digits, place, strict=True):
        name = next(each for each in values if each in _named(digit.value))
        values[name] += number * below[name]
        below[name] *= digit.extent
    return f"({', '.join(f'{name}={value}' for name, value in values.items())})"


def _named(value: Expr) -> set[str]:
    match value:
        case Index(name):
            return {name}
        case FloorDiv(left, _) | Mod(left, _):
            return _named(left)
    return set()


def _swizzled(
    axes: tuple[Axis, ...], coordinates: tuple[Coordinate, ...], swizzle: _Swizzle
) -> Coordinate:
    """Return one coordinate: the offset with some of its bits exclusive-ored."""
    only = coordinates[0]
    value: Expr = only.value if len(coordinates) == 1 else MixedRadix(coordinates)
    if swizzle.start:
        value = Add(value, Constant(swizzle.start))
    low = ((1 << swizzle.bits) - 1) << swizzle.base
    if swizzle.shift >= 0:
        moved: Expr = BitAnd(FloorDiv(value, Constant(1 << swizzle.shift)), Constant(low))
    else:
        mask = Constant(low)
        moved = Mul(BitAnd(value, mask), Constant(1 << -swizzle.shift))
    return coordinate(axes, BitXor(value, moved))


class _Reader:
    """Turns the tree of one text into extents, strides and a swizzle."""

    def __init__(self, text: Span) -> None:
        self._text = text

    def parts(self, branch: Branch) -> tuple[_Swizzle | None, _Form, _Form]:
        swizzle, shape, strides = cast("list[Branch | None]", branch.children)
        found = None if swizzle is None else self._swizzle(swizzle)
        one = self._form(cast("Branch", shape), 0)
        other = self._form(cast("Branch", strides), 0)
        if isinstance(one, tuple) != isinstance(other, tuple) or (
            isinstance(one, tuple) and isinstance(other, tuple) and len(one) != len(other)
        ):
            raise fault("L405", "shape and strides have different forms", self._text)
        return found, one, other

    def _leaf(self, token: Token, negative: bool) -> _Leaf:
        start = self._text.start + (token.start_pos or 0)
        span = Span(self._text.source, start, start + len(token))
        if len(token) > MOST_DIGITS:
            raise fault("L103", f"this number has more than {MOST_DIGITS} digits", span)
        value = int(token.lstrip("_"))
        return _Leaf(-value if negative else value, span)

    def _swizzle(self, branch: Branch) -> _Swizzle:
        bits, base, sign, shift, offset = branch.children
        numbers = [
            self._leaf(cast("Token", bits), False),
            self._leaf(cast("Token", base), False),
            self._leaf(cast("Token", shift), sign is not None),
        ]
        start = 0
        if offset is not None:
            start = self._leaf(cast("Token", cast("Branch", offset).children[0]), False).value
        found = _Swizzle(numbers[0].value, numbers[1].value, numbers[2].value, start)
        if found.bits + found.base + abs(found.shift) > MOST_BITS:
            raise fault("L405", f"a swizzle has {MOST_BITS} bits at most", numbers[0].span)
        if abs(found.shift) < found.bits:
            message = "a swizzle moves its bits by at least their number"
            raise fault("L405", message, numbers[2].span)
        return found

    def _form(self, branch: Branch, depth: int) -> _Form:
        if depth > MOST_DEPTH:
            raise fault("L104", f"tuples are nested more than {MOST_DEPTH} deep", self._text)
        inside = [each for each in branch.children if isinstance(each, Tree)]
        if len(inside) == 1 and inside[0].data == "leaf":
            sign, number = ([None, *inside[0].children])[-2:]
            return self._leaf(cast("Token", number), sign is not None)
        return tuple(self._form(each, depth + 1) for each in inside)

    def cut(self, shape: _Form, strides: _Form) -> list[tuple[int, int]]:
        """Return the extents of one entry with their strides, the fastest first."""
        match shape, strides:
            case _Leaf(extent, span), _Leaf(stride, place):
                if extent < 1:
                    raise fault("L405", f"the extent {extent} is not positive", span)
                if stride < 0:
                    hint = "reverse the axis, and add the offset of its last element"
                    raise fault("L405", f"the stride {stride} is negative", place, help=hint)
                return [(extent, stride)]
            case tuple(), tuple() if len(shape) == len(strides):
                pairs = zip(shape, strides, strict=True)
                return [each for one, other in pairs for each in self.cut(one, other)]
        raise fault("L405", "shape and strides have different forms", self._text)
