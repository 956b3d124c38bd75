"""A layout as einops writes it: digits that divide their axes, in an order of their own."""

from __future__ import annotations

from math import prod

from layoutdsl.bounds import ONE
from layoutdsl.digits import NotDigits, network, read
from layoutdsl.expr import (
    Constant,
    Coordinate,
    Extent,
    Index,
    MixedRadix,
    Mod,
    coordinate_text,
    text,
)
from layoutdsl.model import Axis, Condition, Layout
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import refuse_start


def write(layout: Layout) -> str:
    """Return the rearrangement that packs a tensor.

    Raises:
        Unwritable: einops has no text for it.
    """
    refuse_start(layout)
    wires = network(layout)
    if isinstance(wires, NotDigits):
        raise Unwritable(wires.reason)
    blocks: dict[str, dict[int, int]] = {axis.name: {} for axis in layout.axes}
    for each in layout.coordinates:
        _collect(each, blocks)
    needed = _needed(layout, blocks)
    if set(layout.where) != needed:
        strange = set(layout.where) ^ needed
        missing = min(map(str, strange))
        raise Unwritable(f"einops' blocks divide their axes, and the range is another: {missing}")
    named = {axis.name for axis in layout.axes if axis.extent != ONE}
    left = [_axis(name, found) if name in named else "1" for name, found in blocks.items()]
    right = [_place(each, blocks) for each in layout.coordinates]
    sizes = [size for axis in layout.axes for size in _sizes(axis, blocks[axis.name])]
    return ", ".join([f"{' '.join(left)} -> {' '.join(right)}".strip(), *sizes])


def _sizes(axis: Axis, found: dict[int, int]) -> list[str]:
    """Return the sizes of the blocks of an axis, and where it is known, of what they leave."""
    sizes = [
        f"{_name(axis.name, divisor, found)}={found[divisor]}"
        for divisor in sorted(found, reverse=True)
    ]
    match axis.extent:
        case Constant(extent) if extent > 1:
            whole = f"{axis.name}{len(found)}" if found else axis.name
            return [f"{whole}={extent // prod(found.values())}", *sizes]
    return sizes


def _collect(coordinate: Coordinate, blocks: dict[str, dict[int, int]]) -> None:
    """Note the blocks of a coordinate: for each axis, the size by the divisor."""
    if coordinate.declared:
        raise Unwritable(f"`{coordinate_text(coordinate)}` has a declared extent")
    match coordinate.value:
        case MixedRadix(parts):
            for part in parts:
                if isinstance(part.value, MixedRadix):
                    raise Unwritable(f"`{text(coordinate.value)}` has tuples in a tuple")
                _collect(part, blocks)
            return
        case Constant():
            return
    digit = read(coordinate.value)
    if digit is None or not isinstance(digit.whole, Index):
        raise Unwritable(f"`{text(coordinate.value)}` is not a digit of an axis")
    match digit.divisor, digit.radix:
        case Constant(divisor), Constant(size):
            blocks[digit.whole.name][divisor] = size
        case Constant(), None:
            pass
        case _:
            raise Unwritable(f"a block of `{digit.whole.name}` is not a number")


def _needed(layout: Layout, blocks: dict[str, dict[int, int]]) -> set[Condition]:
    """Return what the range has to say: that the blocks of every axis divide it."""
    needed: set[Condition] = set()
    for axis in layout.axes:
        block = prod(blocks[axis.name].values())
        match axis.extent:
            case Constant(extent) if extent % block:
                raise Unwritable(f"blocks of {block} do not divide the {extent} of `{axis.name}`")
            case Extent() if block > 1:
                needed.add(Condition(Mod(axis.extent, Constant(block)), "==", Constant(0)))
    return needed


def _name(axis: str, divisor: int, found: dict[int, int]) -> str:
    """Name a piece: ``c0`` is the lowest block, ``c1`` what is left, where there are blocks."""
    return f"{axis}{sorted(found).index(divisor)}" if divisor in found else f"{axis}{len(found)}"


def _axis(name: str, found: dict[int, int]) -> str:
    if not found:
        return name
    return f"({' '.join(f'{name}{number}' for number in range(len(found), -1, -1))})"


def _place(coordinate: Coordinate, blocks: dict[str, dict[int, int]]) -> str:
    match coordinate.value:
        case MixedRadix(parts):
            return f"({' '.join(_place(part, blocks) for part in parts)})"
        case Constant():
            return "1"
    digit = read(coordinate.value)
    assert digit is not None
    assert isinstance(digit.whole, Index)
    found = blocks[digit.whole.name]
    if not found:
        return digit.whole.name
    divisor = digit.divisor.value if isinstance(digit.divisor, Constant) else 1
    return _name(digit.whole.name, divisor if digit.radix is not None else -1, found)
