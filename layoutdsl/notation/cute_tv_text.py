"""A layout as CuTe's of threads and values: two coordinates, of digits that divide their axes."""

from __future__ import annotations

from math import prod

from layoutdsl.language.digits.network import NotDigits, network
from layoutdsl.language.integers.expr import Constant, Coordinate, Expr, text
from layoutdsl.language.meaning.model import Layout
from layoutdsl.notation.notation import Unwritable
from layoutdsl.notation.places import place_of, refuse_start, whole_parts


def write(layout: Layout) -> str:
    """Return extents and strides of threads and values, and the tile.

    Raises:
        Unwritable: they are no two coordinates of digits, for one shape.
    """
    refuse_start(layout)
    if len(layout.coordinates) != len(("thr", "val")):
        raise Unwritable("it has no two coordinates, one of threads and one of values")
    wires = network(layout)
    if isinstance(wires, NotDigits):
        raise Unwritable(wires.reason)
    tile = [_number(axis.extent, f"the extent of `{axis.name}`") for axis in layout.element_axes]
    if not tile:
        raise Unwritable("the tile has no axes")
    slots = prod(_number(each.extent, "an extent") for each in layout.coordinates)
    if slots != prod(_number(axis.extent, "an extent") for axis in layout.axes):
        raise Unwritable("some threads hold padding")
    modes = [_mode(layout, each) for each in layout.coordinates]
    shape, strides = (",".join(_tuple(mode[k]) for mode in modes) for k in range(2))
    return f"({shape}):({strides}) -> ({','.join(map(str, tile))})"


def _mode(layout: Layout, coordinate: Coordinate) -> tuple[list[int], list[int]]:
    """Extents and strides, the fastest first."""
    below, far = dict[str, int](), 1
    for axis in layout.element_axes:
        below[axis.name] = far
        far *= _number(axis.extent, "an extent")
    extents, strides = list[int](), list[int]()
    for each in reversed(whole_parts((coordinate,))):
        if isinstance(each.value, Constant):
            if each.extent != Constant(1):
                raise Unwritable("some threads hold padding")
            continue
        digit = place_of(layout, each.value)
        axis = layout.axes[digit.axis]
        divisor = _number(digit.divisor, "a divisor")
        extents.append(_number(digit.steps(axis.extent), "a block"))
        strides.append(0 if axis.name in layout.copies else below[axis.name] * divisor)
    return extents or [1], strides or [0]


def _number(extent: Expr, what: str) -> int:
    if not isinstance(extent, Constant):
        raise Unwritable(f"{what} is `{text(extent)}`, which is no number")
    return extent.value


def _tuple(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"({','.join(map(str, numbers))})"
