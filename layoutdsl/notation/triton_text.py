"""A layout as Triton's bases: a linear map from the bits of a slot to those of an index.

Coordinates are levels, the last one registers, before it lanes, warps and blocks; of a single
coordinate it is an offset in shared memory, unless elements have copies. Where slots are left
behind each so many elements, it is one with room, and the bases are those without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Constant
from layoutdsl.language.meaning.model import Layout
from layoutdsl.notation.notation import Unwritable

MOST_SLOTS = 1 << 16
"""Slots that are looked at, one by one."""

_LEVELS = ("register", "lane", "warp", "block")


def write(layout: Layout) -> str:
    """Return the bases of a layout.

    Raises:
        Unwritable: it is no linear map of bits, or too large.
    """
    extents = _powers(layout)
    if not extents:
        raise Unwritable("it has no axes")
    if layout.start == ZERO and not layout.copies:
        padded = _padded(layout, extents)
        if padded is not None:
            return padded
    sizes = [_power(each.extent, "a coordinate") for each in layout.coordinates]
    if layout.start != ZERO:
        raise Unwritable("it does not begin at its first slot")
    if prod(sizes) != prod(extents):
        raise Unwritable("slots are left that hold no element")
    if len(sizes) > len(_LEVELS):
        raise Unwritable(f"it has {len(sizes)} coordinates, and a slot at most {len(_LEVELS)}")
    columns = _linear(layout, extents, layout.offset_at)
    told = _inverse(columns)
    names = _LEVELS[: len(sizes)]
    if len(sizes) == 1 and not layout.copies:
        return f"#ttg.shared_linear<{{offset = {_bases(layout, extents, told)}}}>"
    found = dict.fromkeys(_LEVELS, "[]")
    at = 0
    for name, size in zip(names, reversed(sizes), strict=True):
        count = size.bit_length() - 1
        found[name] = _bases(layout, extents, told[at : at + count])
        at += count
    return f"#ttg.linear<{{{', '.join(f'{name} = {bases}' for name, bases in found.items())}}}>"


def _padded(layout: Layout, extents: Sequence[int]) -> str | None:
    """The text of a layout with room behind each so many elements, if it is one."""
    slots, count = layout.size(layout.shape_of({})), prod(extents)
    if slots <= count or slots > 2 * MOST_SLOTS:
        return None
    names = [axis.name for axis in layout.axes]
    indices = product(*map(range, extents))
    taken = {layout.offset_at(dict(zip(names, index, strict=True))) for index in indices}
    step = next((slot for slot in range(slots) if slot not in taken), slots)
    more = next((slot - step for slot in range(step, slots) if slot in taken), 0)
    if not step or not more or step & (step - 1) or more & (more - 1):
        return None
    whole = step + more
    if slots != count // step * whole or any(slot % whole >= step for slot in taken):
        return None

    def without(place: Mapping[str, int]) -> int:
        slot = layout.offset_at(place)
        return slot - slot // whole * more

    told = _inverse(_linear(layout, extents, without))
    offset = _bases(layout, extents, told)
    return f"#ttg.padded_shared<[{step}:+{more}] {{offset = {offset}, block = []}}>"


def _powers(layout: Layout) -> list[int]:
    found = [_power(axis.extent, f"the extent of `{axis.name}`") for axis in layout.axes]
    if prod(found) > MOST_SLOTS:
        raise Unwritable(f"it has more than {MOST_SLOTS} slots, which are looked at one by one")
    return found


def _power(extent: object, what: str) -> int:
    if isinstance(extent, Constant) and extent.value > 0 and not extent.value & (extent.value - 1):
        return extent.value
    raise Unwritable(f"{what} is no power of two")


def _linear(
    layout: Layout, extents: Sequence[int], slot: Callable[[Mapping[str, int]], int]
) -> list[int]:
    """Where each bit of an index leads, of all axes, the lowest of each first; slots are sums."""
    names = [axis.name for axis in layout.axes]
    zero = dict.fromkeys(names, 0)
    if slot(zero):
        raise Unwritable("its first element is not in its first slot")
    columns = [
        slot({**zero, name: 1 << bit})
        for name, extent in zip(names, extents, strict=True)
        for bit in range(extent.bit_length() - 1)
    ]
    for number in range(prod(extents)):
        place, left = dict[str, int](), number
        for name, extent in zip(names, extents, strict=True):
            place[name], left = left % extent, left // extent
        if slot(place) != _sum(number, columns):
            raise Unwritable("bits of the index are not added without carry")
    return columns


def _sum(bits: int, columns: Sequence[int]) -> int:
    found = 0
    for at, each in enumerate(columns):
        found ^= each if bits >> at & 1 else 0
    return found


def _inverse(columns: Sequence[int]) -> list[int]:
    """For each bit of a slot, the bits of the index that lead there, and nowhere else."""
    rows = [(column, 1 << number) for number, column in enumerate(columns)]
    for at in range(len(rows)):
        pivot = next((n for n in range(at, len(rows)) if rows[n][0] >> at & 1), None)
        if pivot is None:
            raise Unwritable("two elements share a slot")
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for n in range(len(rows)):
            if n != at and rows[n][0] >> at & 1:
                rows[n] = rows[n][0] ^ rows[at][0], rows[n][1] ^ rows[at][1]
    return [used for _, used in rows]


def _bases(layout: Layout, extents: Sequence[int], told: Sequence[int]) -> str:
    """Bases, without what is said of copies."""
    return f"[{', '.join(_basis(layout, extents, each) for each in told)}]"


def _basis(layout: Layout, extents: Sequence[int], bits: int) -> str:
    def steps() -> Iterator[int]:
        at = 0
        for axis, extent in zip(layout.axes, extents, strict=True):
            if axis.name not in layout.copies:
                yield bits >> at & extent - 1
            at += extent.bit_length() - 1

    return f"[{', '.join(map(str, steps()))}]"
