"""A layout as XLA writes it: which tiles cut its dimensions, in which order.

The digits of a tiled layout come in rows: first the most major digit of every dimension, then those
of the blocks, each row the quotients by the tile that follows. What was found is read again by the
reader's rules, and has to be the layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutdsl.bounds import ONE, product, simplify
from layoutdsl.digits import Digit, read, same
from layoutdsl.expr import CeilDiv, Constant, Coordinate, Expr, Extent, Index, MixedRadix, Mul, text
from layoutdsl.model import Axis, Fill, FillAny, FillValue, Layout
from layoutdsl.notation.notation import Notes, Unwritable
from layoutdsl.notation.places import refuse_fill, refuse_start


@dataclass(frozen=True, slots=True)
class _Dimension:
    """One dimension, or several joined by ``*``; ``block`` elements of it are cut further."""

    axes: tuple[str, ...]
    whole: Expr
    block: int


def write(layout: Layout, notes: Notes) -> str:
    """Return a shape where every extent is known, the proto where extents are padded, else braces.

    Raises:
        Unwritable: XLA has no text for it.
    """
    refuse_start(layout)
    if layout.parameters:
        raise Unwritable(f"its parameter `{layout.parameters[0]}` has no number")
    bounds = _bounds(layout)
    coordinates, tail = _without_tail(layout.coordinates)
    digits = [_digit(each) for each in coordinates if each.extent != ONE]
    dimensions, rows = _dimensions(layout, digits)
    order = [name for each in dimensions for name in each.axes]
    order = [axis.name for axis in layout.axes if axis.name not in order] + order
    tiles = _tiles(dimensions, rows)
    numbers = {axis.name: str(number) for number, axis in enumerate(layout.axes)}
    minor = ",".join(numbers[name] for name in reversed(order))
    padded = _padded(layout, coordinates, bounds)
    if tiles or not padded:
        refuse_fill(layout, FillAny(), *(() if tiles else (FillValue(0),)))
    if padded and not _has_shape(layout, bounds, notes):
        return _proto(layout, minor, padded, tiles, tail)
    attributes = f"T{tiles}" if tiles else ""
    attributes += f"L({tail})" if tail > 1 else ""
    attributes += "".join(f"{each}({notes[each]})" for each in ("E", "S") if each in notes)
    braces = f"{{{minor}{':' if attributes else ''}{attributes}}}"
    kind = notes.get("type") or _kind(layout)
    if kind is None or not _has_shape(layout, bounds, notes):
        return braces
    extents = [
        f"<={bounds[axis.name]}" if axis.name in bounds else text(axis.extent)
        for axis in layout.axes
    ]
    return f"{kind}[{','.join(extents)}]{braces if layout.axes else ''}"


def _kind(layout: Layout) -> str | None:
    if layout.element is None:
        return None
    name = layout.element.name
    return f"s{name[1:]}" if layout.element.kind == "i" else name


def _has_shape(layout: Layout, bounds: dict[str, int], notes: Notes) -> bool:
    known = all(isinstance(a.extent, Constant) or a.name in bounds for a in layout.axes)
    return known and (layout.element is not None or "type" in notes)


def _bounds(layout: Layout) -> dict[str, int]:
    """Return the largest extent of each axis that has one; other ranges cannot be written."""
    names = {axis.extent: axis.name for axis in layout.axes}
    found: dict[str, int] = {}
    for condition in layout.where:
        match condition.left, condition.operator, condition.right:
            case (Extent() as extent, "<=", Constant(most)) if extent in names:
                found[names[extent]] = most
            case _:
                raise Unwritable(f"it is defined only where {condition}")
    return found


def _without_tail(coordinates: tuple[Coordinate, ...]) -> tuple[tuple[Coordinate, ...], int]:
    """Take apart one coordinate whose extent is rounded up."""
    if len(coordinates) != 1 or not coordinates[0].declared:
        return coordinates, 1
    (whole,) = coordinates
    parts = whole.value.parts if isinstance(whole.value, MixedRadix) else None
    if parts is None:
        return coordinates, 1
    inside = product(tuple(part.extent for part in parts))
    match simplify(whole.extent), simplify(inside):
        case (Constant(rounded), Constant(exact)) if rounded >= exact:
            return parts, _alignment(rounded, exact)
        case (rounded, exact):
            for align in _numbers(rounded):
                if simplify(Mul(CeilDiv(exact, Constant(align)), Constant(align))) == rounded:
                    return parts, align
    raise Unwritable(f"its size `{text(whole.extent)}` is not rounded up to a multiple")


def _alignment(rounded: int, exact: int) -> int:
    """Return the smallest multiple that rounds one number up to the other."""
    for align in range(max(rounded - exact, 1), rounded + 1):
        if -(-exact // align) * align == rounded:
            return align
    raise Unwritable(f"its size {rounded} is not {exact} rounded up")


def _numbers(extent: Expr) -> list[int]:
    match extent:
        case Mul(left, right):
            return [*_numbers(left), *_numbers(right)]
        case Constant(value):
            return [value]
    return []


def _digit(coordinate: Coordinate) -> Digit:
    digit = read(coordinate.value)
    if digit is None:
        raise Unwritable(f"`{text(coordinate.value)}` is not a digit of an axis")
    return digit


def _dimensions(layout: Layout, digits: list[Digit]) -> tuple[list[_Dimension], list[Digit]]:
    """Return the dimensions from the most major, and the digits of their blocks."""
    outer = [each for each in digits if each.radix is None]
    if any(each.radix is not None for each in digits[: len(outer)]):
        raise Unwritable("a block stands before the most major digit of a dimension")
    known = {axis.name for axis in layout.axes}
    dimensions = []
    for each in outer:
        if not isinstance(each.divisor, Constant):
            raise Unwritable(f"the block `{text(each.divisor)}` is not a number")
        dimensions.append(_Dimension(_axes_of(each.whole, known), each.whole, each.divisor.value))
    names = [name for each in dimensions for name in each.axes]
    if len(set(names)) < len(names):
        raise Unwritable("a dimension is cut in two ways")
    lost = [axis.name for axis in layout.axes if axis.name not in names and axis.extent != ONE]
    if lost:
        raise Unwritable(f"the digits of `{lost[0]}` end at a block")
    return dimensions, digits[len(outer) :]


def _axes_of(whole: Expr, known: set[str]) -> tuple[str, ...]:
    match whole:
        case Index(name) if name in known:
            return (name,)
        case MixedRadix(parts):
            return tuple(name for part in parts for name in _axes_of(part.value, known))
    raise Unwritable(f"`{text(whole)}` is joined of more than dimensions")


def _tiles(dimensions: Sequence[_Dimension], rows: list[Digit]) -> str:
    """Return the tiles in parentheses, one after the other."""
    written: list[str] = []
    left = list(rows)
    current = list(dimensions)
    while any(each.block > 1 for each in current):
        first = next(n for n, each in enumerate(current) if each.block > 1)
        current = current[first:]
        if len(written) > 16:
            raise Unwritable("its blocks do not nest as tiles do")
        sizes = [[*("*" * (len(each.axes) - 1)), str(each.block)] for each in current]
        if written:
            sizes = [[str(each.block)] for each in current]
        written.append(f"({','.join(size for each in sizes for size in each)})")
        before = len(left)
        current = [_cut(each, left) for each in current]
        if len(left) == before:
            raise Unwritable("its blocks do not nest as tiles do")
    if left:
        raise Unwritable("its blocks do not nest as tiles do")
    return "".join(written)


def _cut(dimension: _Dimension, left: list[Digit]) -> _Dimension:
    """Take the digit that stands next, where it is the most major one of the block."""
    found = left[0] if left else None
    if dimension.block == 1 or found is None or not same(found.whole, dimension.whole):
        return dimension
    match found.divisor, found.radix:
        case Constant(divisor), Constant(radix) if divisor * radix == dimension.block:
            left.pop(0)
            return _Dimension(dimension.axes, dimension.whole, divisor)
    raise Unwritable("its blocks do not nest as tiles do")


def _padded(
    layout: Layout, coordinates: tuple[Coordinate, ...], bounds: dict[str, int]
) -> dict[str, int]:
    """Return the extent of each axis that is padded to a number."""
    found: dict[str, int] = {}
    axes = {axis.name: axis for axis in layout.axes}
    for each in coordinates:
        if not each.declared:
            continue
        match each.value, each.extent:
            case Index(name), Constant(extent):
                found[name] = extent
                if not _is_within(axes[name], bounds.get(name), extent):
                    raise Unwritable(f"nothing says that `{name}` has {extent} elements at most")
            case _ if bounds:
                continue
            case _:
                raise Unwritable(f"`{text(each.value)}` has the extent `{text(each.extent)}`")
    return found


def _is_within(axis: Axis, bound: int | None, extent: int) -> bool:
    if isinstance(axis.extent, Constant):
        return axis.extent.value <= extent
    return bound is not None and bound <= extent


def _proto(layout: Layout, minor: str, padded: dict[str, int], tiles: str, tail: int) -> str:
    if tiles or tail > 1:
        raise Unwritable("padded extents and tiles together have no text")
    extents: list[str] = []
    for axis in layout.axes:
        if axis.name not in padded and not isinstance(axis.extent, Constant):
            raise Unwritable(f"the padded extent of `{axis.name}` is no number")
        extents.append(str(padded.get(axis.name)) if axis.name in padded else text(axis.extent))
    values: dict[Fill, str] = {FillValue(0): "ZERO_PAD", FillValue(1): "ONE_PAD", FillAny(): ""}
    if layout.fill not in values:
        refuse_fill(layout, *values)
    value = values[layout.fill]
    words = [f"minor_to_major: [{minor.replace(',', ', ')}]"]
    words.append(f"padded_dimensions: [{', '.join(extents)}]")
    return " ".join([*words, f"padding_value: {value}"] if value else words)
