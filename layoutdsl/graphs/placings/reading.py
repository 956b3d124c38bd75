"""Layouts of the language as placings of values of one shape, and back.

What is read is tried against `Layout.offset`, the meaning: a layout that is no sequence of digits
is told from one that is by its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

from layoutdsl.graphs.placings.placing import Digit, Placing, canonical, is_chained
from layoutdsl.graphs.placings.reshaping import split
from layoutdsl.language.integers.digit import Whole, read
from layoutdsl.language.integers.expr import Constant, Coordinate, Expr, FloorDiv, Index, Mod, text
from layoutdsl.language.integers.value import evaluate, horner
from layoutdsl.language.meaning.elements import FillAny, FillValue
from layoutdsl.language.meaning.model import ZERO, Axis, Layout


class _NoDigitsError(ValueError):
    """Why coordinates are no digits of axes."""


@lru_cache(maxsize=4096)
def placed(layout: Layout, shape: tuple[int, ...]) -> Placing | str:
    """Return where a layout puts a value of a shape, or why it is no placing of it."""
    if layout.parameters:
        return f"`{layout.name}` has parameters without a value: {', '.join(layout.parameters)}"
    if len(shape) != len(layout.axes) or layout.copies or layout.bit_of:
        return f"`{layout.name}` is of {len(layout.tensor_axes)} axes, the value has {len(shape)}"
    try:
        values = layout.bind(shape)
    except ValueError as wrong:
        return str(wrong)
    if layout.domain or layout.start != ZERO or layout.chunk_rank:
        return f"`{layout.name}` is no plain box of slots"
    try:
        digits = tuple(_digits(layout, values))
    except _NoDigitsError as reason:
        return f"`{layout.name}`: {reason}"
    found = Placing(shape, canonical(digits))
    if not is_chained(shape, digits) or not _agrees(layout, shape, values, found):
        return f"the digits of `{layout.name}` do not follow one another"
    return found


def _digits(layout: Layout, values: Mapping[str, int]) -> Iterator[Digit]:
    names = {axis.name: number for number, axis in enumerate(layout.axes)}
    for each in layout.coordinates:
        yield from _of_coordinate(each, names, values)


def _of_coordinate(
    coordinate: Coordinate, names: Mapping[str, int], values: Mapping[str, int]
) -> Iterator[Digit]:
    extent = evaluate(coordinate.extent, values)
    if coordinate.value == ZERO:
        if extent != 1:
            raise _NoDigitsError("a coordinate is always 0")
        return
    digit = read(coordinate.value)
    if digit is None:
        raise _NoDigitsError(f"`{text(coordinate.value)}` is not a digit of an axis")
    divisor = evaluate(digit.divisor, values)
    if digit.radix is not None and evaluate(digit.radix, values) != extent:
        raise _NoDigitsError(f"`{text(coordinate.value)}` has slots that no element reaches")
    yield from _of_whole(digit.whole, divisor, extent, names, values)


def _of_whole(
    whole: Whole, divisor: int, extent: int, names: Mapping[str, int], values: Mapping[str, int]
) -> Iterator[Digit]:
    if isinstance(whole, Index):
        yield Digit(names[whole.name], divisor, extent)
        return
    radices = [evaluate(part.extent, values) for part in whole.parts]
    pieces = split(divisor, extent, radices)
    if pieces is None:
        raise _NoDigitsError(f"`{text(whole)}` is cut in an unaligned place")
    for number, over, size in pieces:
        part = read(whole.parts[number].value)
        if part is None:
            raise _NoDigitsError(f"`{text(whole.parts[number].value)}` is not a digit of an axis")
        further = evaluate(part.divisor, values) * over
        yield from _of_whole(part.whole, further, size, names, values)


def _agrees(
    layout: Layout, shape: tuple[int, ...], values: Mapping[str, int], found: Placing
) -> bool:
    """Whether both put a few elements, those of the corners among them, into the same slots."""
    if layout.size(shape) != found.slots:
        return False
    along = [sorted({k for k in (0, 1, e // 2, e - 1) if 0 <= k < e}) for e in shape]
    names = [axis.name for axis in layout.axes]
    for index in product(*along):
        own = horner(layout.coordinates, {**values, **dict(zip(names, index, strict=True))})
        if own != slot(found, index):
            return False
    return True


def slot(placing: Placing, index: tuple[int, ...]) -> int:
    """Return the slot of an element, in plain integers."""
    total = 0
    for digit in placing.digits:
        total = total * digit.extent + index[digit.axis] // digit.divisor % digit.extent
    return total


def filled_with(layout: Layout) -> float | None:
    """Return what padding of a layout holds; `None` where it may be anything."""
    match layout.fill:
        case FillValue(value):
            return value
        case FillAny():
            return None
        case _:
            return None


def layout_of(placing: Placing, name: str = "placed") -> Layout:
    """Return a placing as a layout of the language, its extents fixed."""
    names = [f"d{number}" for number in range(len(placing.shape))]
    axes = tuple(
        Axis(each, Constant(extent)) for each, extent in zip(names, placing.shape, strict=True)
    )
    coordinates = tuple(
        Coordinate(digit_value(placing, digit, Index(names[digit.axis])), Constant(digit.extent))
        for digit in placing.digits
    )
    return Layout(name, axes, coordinates or (Coordinate(ZERO, Constant(1)),))


def digit_value(placing: Placing, digit: Digit, index: Expr) -> Expr:
    """Return ``index / divisor % extent``, without the parts that change nothing."""
    value = index if digit.divisor == 1 else FloorDiv(index, Constant(digit.divisor))
    if digit.divisor * digit.extent >= placing.shape[digit.axis]:
        return value
    return Mod(value, Constant(digit.extent))


@lru_cache(maxsize=4096)
def digits_at(layout: Layout, shape: tuple[int, ...]) -> tuple[Digit, ...]:
    """Return a digit for each coordinate of a layout that `placed` reads, those of extent 1 too."""
    return tuple(_digits(layout, layout.bind(shape)))
