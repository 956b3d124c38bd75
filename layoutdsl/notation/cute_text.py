"""A layout as CuTe writes it: shape and strides of numbers, a swizzle before them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutdsl.language.digits.network import NotDigits, network
from layoutdsl.language.integers.bounds import reach
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitXor,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    MixedRadix,
    Mul,
    text,
)
from layoutdsl.language.meaning.elements import FillAny
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.strided import digits_of, slots
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import place_of, refuse_fill, refuse_range, refuse_start, whole_parts

_Cut = tuple[int, int, int]
"""Divisor, extent and stride of a digit."""


@dataclass(frozen=True, slots=True)
class Strided:
    """A layout as digits with strides.

    Attributes:
        extents: of the axes, in their order.
        digits: of each axis by name, the lowest first.
        swizzle: what stands before shape and strides, where anything does.
    """

    extents: tuple[int, ...]
    digits: dict[str, list[_Cut]]
    swizzle: str


def write(layout: Layout) -> str:
    """Return shape and strides.

    Raises:
        Unwritable: CuTe has no text for it.
    """
    found = strided(layout)
    _refuse_other_size(layout, found)
    shape = [_tuple([each for _, each, _ in digits]) for digits in found.digits.values()]
    strides = [_tuple([each for _, _, each in digits]) for digits in found.digits.values()]
    if len(shape) == 1 and not shape[0].startswith("("):
        return f"{found.swizzle}{shape[0]}:{strides[0]}"
    return f"{found.swizzle}({','.join(shape)}):({','.join(strides)})"


def strided(layout: Layout) -> Strided:
    """Return the digits of every axis with their strides.

    Raises:
        Unwritable: the layout is no sum of digits times strides, for one shape.
    """
    refuse_start(layout)
    refuse_range(layout)
    extents = [_number(axis.extent, f"the extent of `{axis.name}`") for axis in layout.axes]
    swizzle, coordinates = _swizzle(layout)
    cuts = _sum(layout, coordinates)
    if cuts is None:
        cuts = _cuts(layout, coordinates)
    digits: dict[str, list[_Cut]] = {}
    for axis, extent in zip(layout.axes, extents, strict=True):
        digits[axis.name] = sorted(cuts[axis.name]) or [(1, 1, 0)]
        if prod(each for _, each, _ in digits[axis.name]) != extent:
            raise Unwritable(f"a block of `{axis.name}` does not divide {extent}: it is ragged")
    if prod(extents) < prod(_number(each.extent, "an extent") for each in coordinates):
        refuse_fill(layout, FillAny())
    return Strided(tuple(extents), digits, swizzle)


def _refuse_other_size(layout: Layout, found: Strided) -> None:
    """Refuse a buffer that does not end where the last block of the strides does.

    Raises:
        Unwritable: it does.
    """
    if found.swizzle:
        return  # its one coordinate reaches as far as its expression can
    digits = [
        digit
        for name, cuts in found.digits.items()
        for digit in digits_of(name, [(extent, stride) for _, extent, stride in cuts])
    ]
    if slots(digits) != prod(_number(each.extent, "an extent") for each in layout.coordinates):
        raise Unwritable("its buffer is not as large as shape and strides make it")


def _number(extent: Expr, what: str) -> int:
    if not isinstance(extent, Constant):
        raise Unwritable(f"{what} is `{text(extent)}`, which is no number")
    return extent.value


def _tuple(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"({','.join(map(str, numbers))})"


def _swizzle(layout: Layout) -> tuple[str, tuple[Coordinate, ...]]:
    """Return the swizzle, where the offset is one, and the coordinates before it."""
    if len(layout.coordinates) != 1:
        return "", layout.coordinates
    match layout.coordinates[0].value:
        case BitXor(value, BitAnd(FloorDiv(other, Constant(step)), Constant(mask))) if (
            value == other and mask
        ):
            shift = step.bit_length() - 1
        case BitXor(value, Mul(BitAnd(other, Constant(mask)), Constant(step))) if (
            value == other and mask
        ):
            shift = -(step.bit_length() - 1)
        case _:
            return "", layout.coordinates
    base = (mask & -mask).bit_length() - 1
    bits = (mask >> base).bit_length()
    if mask >> base != (1 << bits) - 1:
        raise Unwritable(f"the mask {mask} is no run of bits")
    value, start = (value.left, value.right) if isinstance(value, Add) else (value, Constant(0))
    if not isinstance(start, Constant):
        value, start = Add(value, start), Constant(0)
    inner = value.parts if isinstance(value, MixedRadix) else (_coordinate(layout, value),)
    return f"S<{bits},{base},{shift}> o {start.value} o ", inner


def _coordinate(layout: Layout, value: Expr) -> Coordinate:
    bound = reach(value, {axis.name: axis.extent for axis in layout.axes})
    if bound is None:
        raise Unwritable(f"`{text(value)}` is not a sum of digits times strides")
    return Coordinate(value, bound.high)


def _sum(layout: Layout, coordinates: tuple[Coordinate, ...]) -> dict[str, list[_Cut]] | None:
    """Return the digits of a coordinate that is a sum of them times strides; else ``None``."""
    if len(coordinates) != 1 or not isinstance(coordinates[0].value, Add | Mul):
        return None
    pending: list[Expr] = [coordinates[0].value]
    found = {axis.name: list[_Cut]() for axis in layout.axes}
    while pending:
        match pending.pop():
            case Add(left, right):
                pending += [left, right]
            case Mul(value, Constant(stride)) | Mul(Constant(stride), value):
                _add(layout, found, value, stride)
            case value:
                _add(layout, found, value, 1)
    return found


def _cuts(layout: Layout, coordinates: tuple[Coordinate, ...]) -> dict[str, list[_Cut]]:
    """Return the digits of every axis, the stride of each the product of what lies inside it."""
    wires = network(layout) if coordinates == layout.coordinates else None
    if isinstance(wires, NotDigits):
        raise Unwritable(wires.reason)
    found = {axis.name: list[_Cut]() for axis in layout.axes}
    stride = 1
    for each in reversed(whole_parts(coordinates)):
        extent = _number(each.extent, "an extent")
        if not isinstance(each.value, Constant):
            _add(layout, found, each.value, stride)
        elif each.value.value:
            raise Unwritable(f"`{text(each.value)}` moves the first element, and strides cannot")
        stride *= extent
    return found


def _add(layout: Layout, found: dict[str, list[_Cut]], value: Expr, stride: int) -> None:
    digit = place_of(layout, value)
    axis, divisor = layout.axes[digit.axis], _number(digit.divisor, "a divisor")
    extent = _number(digit.steps(axis.extent), "a block")
    if extent > 1:
        found[axis.name].append((divisor, extent, stride))
