"""How the parts of a record are moved: each by a layout of items, into a window of every block.

Where all parts of a region end in as many bits, a number, the region is blocks of that size, and
the bytes of a block that a part touches are its window. The part is packed as if there were nothing
but windows, and these are put side by side; so a scale of two bytes does not cost a buffer of its
own. What is moved by the layouts that are made here is proved and read back as of any layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from layoutdsl.language.integers.bounds import reach
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Index,
    extents,
    indices,
)
from layoutdsl.language.meaning.elements import BIT_AXIS, ELEMENT_TYPES
from layoutdsl.language.meaning.model import ZERO, Layout
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Record


@dataclass(frozen=True, slots=True)
class Window:
    """Some bytes of every block."""

    block: int
    first: int
    count: int

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.first + self.count


@dataclass(frozen=True, slots=True)
class Placed:
    """How one part is moved.

    Attributes:
        part: what is moved.
        items: the layout by which its items are, from the beginning of its region; narrow ones are
            bytes to it, as whether their values fit was asked of the field already.
        bits: of an item, as it is stored; 1 where each bit is placed by itself.
        shift: where in its item the part begins.
        window: in which items are stored; `None` where the region is no blocks.
        region: the number of the region.
    """

    part: Part
    items: Layout
    bits: int
    shift: int
    window: Window | None
    region: int

    @property
    def by_bit(self) -> bool:
        """Whether each bit is an item."""
        return self.items.bit_of is not None


def placed(record: Record) -> tuple[Placed, ...]:
    """Return how each part is moved, in the order of the text."""
    found: dict[int, Placed] = {}
    for number, region in enumerate(record.regions):
        ways = ([_placed(part, block, number) for part in region] for block in _sizes(region))
        for part, each in zip(region, min(ways, key=_touched), strict=True):
            found[id(part)] = each
    return tuple(found[id(part)] for part in record.parts)


def _sizes(region: Sequence[Part]) -> Sequence[int | None]:
    """What may be the bits of a block, the most first: whole bytes that all parts end in."""
    sizes = (set(_tails(part.in_bits.coordinates)) for part in region)
    common = {size for size in set.intersection(*sizes) if size % 8 == 0}
    return sorted(common, reverse=True) or (None,)


def _touched(parts: Iterable[Placed]) -> Fraction:
    """How many times over the windows of parts are their region: rows between blocks are many."""
    windows = [each.window for each in parts]
    shares = (Fraction(each.count, each.block) if each else Fraction(1) for each in windows)
    return sum(shares, start=Fraction(0))


def _tails(coordinates: Sequence[Coordinate]) -> dict[int, int]:
    """Sizes of the last coordinates together, as far as they are numbers, and how many they are."""
    found: dict[int, int] = {}
    size = 1
    for count, each in enumerate(reversed(coordinates), 1):
        if not isinstance(each.extent, Constant):
            break
        size *= each.extent.value
        found[size] = count
    return found


def _placed(part: Part, block: int | None, region: int) -> Placed:
    element = part.layout.element
    # No item of bytes is as wide as a `u10`, so each of its bits is an item.
    single = element is not None and element.bits > 8 and not element.fills_item
    layout, shift = _from_region(part.in_bits if single else part.layout), 0
    if layout.bit_of is not None:
        layout, shift = _in_items(layout)
    bits = 1 if layout.bit_of is not None or layout.element is None else layout.element.bits
    if bits < 8 and layout.bit_of is None:
        layout = replace(layout, element=ELEMENT_TYPES["u8"])
    if block is None:
        return Placed(part, layout, bits, shift, None, region)
    count = _tails(layout.coordinates).get(block // bits)
    whole = Window(block // 8, 0, block // 8)
    if count is None or block % bits:
        return Placed(part, layout, bits, shift, None, region)
    narrow = _narrowed(layout, len(layout.coordinates) - count, whole)
    items, window = narrow or (layout, whole)
    return Placed(part, items, bits, shift, window, region)


def _from_region(layout: Layout) -> Layout:
    """The layout from the beginning of its region: what only that speaks of is left out."""
    spoken = [each for c in layout.all_coordinates for each in (c.value, c.extent)]
    names = {name for each in spoken for name in extents(each)}
    opened = tuple(each for each in layout.parameters if each in names)
    gone = set(layout.parameters) - set(opened)
    where = tuple(
        each for each in layout.where if not gone & {*extents(each.left), *extents(each.right)}
    )
    return replace(layout, start=ZERO, chunk_rank=None, parameters=opened, where=where)


def _in_items(layout: Layout) -> tuple[Layout, int]:
    """The layout in items of whole bytes, where its bits lie side by side in one.

    ``[.., 6 + bit : 8]`` is a byte that holds the bits from its sixth on.
    """
    assert layout.bit_of is not None
    *others, last = layout.coordinates
    spoken = {name for each in others for name in indices(each.value)}
    match last:
        case Coordinate(value=Index(name)):
            shift = 0
        case Coordinate(value=Add(Constant(shift), Index(name))):
            pass
        case Coordinate(value=Add(Index(name), Constant(shift))):
            pass
        case _:
            return layout, 0
    plain = name == BIT_AXIS and BIT_AXIS not in spoken and isinstance(last.extent, Constant)
    if not plain or not isinstance(last.extent, Constant):
        return layout, 0
    element = ELEMENT_TYPES.get(f"u{last.extent.value}")
    if element is None or not element.fills_item or shift + layout.bit_of.bits > element.bits:
        return layout, 0
    axes = layout.axes[:-1]
    places = tuple(others) or (Coordinate(ZERO, Constant(1)),)
    found = replace(layout, axes=axes, coordinates=places, element=element, bit_of=None)
    return found, shift


def _narrowed(layout: Layout, first: int, whole: Window) -> tuple[Layout, Window] | None:
    """The layout whose block is but the bytes that it touches, and which these are."""
    top = layout.coordinates[first]
    assert isinstance(top.extent, Constant)
    unit, left = divmod(8 * whole.count // top.extent.value, 8)
    if left or unit * top.extent.value != whole.count:
        return None
    axes: Mapping[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
    bound = reach(top.value, axes)
    if bound is None or not isinstance(bound.high, Constant):
        return None
    size = bound.high.value  # `reach` gives the extent, one above the largest value
    low, value = _from_zero(top.value)
    rest = reach(value, axes)
    if rest is None or rest.low != ZERO:
        low, value = 0, top.value
    coordinates = list(layout.coordinates)
    coordinates[first] = Coordinate(value, Constant(size - low), declared=True)
    window = Window(whole.block, low * unit, (size - low) * unit)
    return replace(layout, coordinates=tuple(coordinates)), window


def _from_zero(value: Expr) -> tuple[int, Expr]:
    """A number that a value begins with, and what is left of it."""
    match value:
        case Constant(number):
            return number, ZERO
        case Add(Constant(number), rest) | Add(rest, Constant(number)) if number >= 0:
            return number, rest
        case _:
            return 0, value
