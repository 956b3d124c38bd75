"""Triton's layouts of shared memory: swizzled, as TMA and the tensor cores have them, and padded.

`#ttg.swizzled_shared` exclusive-ors runs of ``vec`` elements of a row with the phase of the row.
`#ttg.nvmma_shared` is what a tensor map with a swizzle of so many bytes writes: tiles of eight
rows, boxes of at most 256 elements along each dimension, one box behind the other. Both give bases
of an offset. `#ttg.padded_shared` leaves room behind every so many elements, so its bases come
first, and then the room.

Source: Triton, `TritonGPUAttrDefs.td` and `LinearLayoutConversions.cpp`; CUDA driver API, "Tensor
Map Object Management".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from layoutdsl.language.integers.expr import Add, Constant, Coordinate, Expr, FloorDiv, Mod, Mul
from layoutdsl.language.texts.faults import fault
from layoutdsl.notation.triton_said import Attribute

Bases: TypeAlias = tuple[tuple[int, ...], ...]

MOST_BOX = 256
"""Elements of a box of TMA along a dimension."""


def swizzled(said: Attribute, shape: Sequence[int]) -> Bases:
    """Return the bases of `#ttg.swizzled_shared` for a tensor of this shape."""
    order = _order(said, len(shape))
    vec, per_phase, max_phase = (_power(said, name) for name in ("vec", "perPhase", "maxPhase"))
    fast = order[0]
    found = [_step(shape, fast, 1 << bit) for bit in _bits(shape[fast])]
    if len(shape) > 1:
        for bit in _bits(shape[order[1]]):
            row = [*_step(shape, order[1], 1 << bit)]
            row[fast] = vec * ((1 << bit) // per_phase % max_phase) % shape[fast]
            found.append(tuple(row))
    for dim in order[2:]:
        found += [_step(shape, dim, 1 << bit) for bit in _bits(shape[dim])]
    return tuple(found)


def tiled(said: Attribute, shape: Sequence[int]) -> Bases:
    """Return the bases of `#ttg.nvmma_shared` for a tensor of this shape."""
    if said.flag("fp4Padded"):
        raise fault(
            "L407", "`fp4Padded` leaves room between elements, which bases do not", said.span
        )
    width, bits = said.number("swizzlingByteWidth"), _power(said, "elementBitWidth")
    if width not in (0, 32, 64, 128) or not 4 <= bits <= 64:
        words = "`swizzlingByteWidth` is 0, 32, 64 or 128, `elementBitWidth` 4 to 64"
        raise fault("L405", words, said.span)
    if len(shape) < 2:
        raise fault("L407", "`nvmma_shared` is of two dimensions or more", said.span)
    turned = said.flag("transposed")
    order = [*range(1, len(shape)), 0] if turned else [*range(len(shape))]
    outer, fast = order[:-1], order[-1]
    box = [min(each, MOST_BOX) for each in shape]
    box[fast] = 8 * width // bits if width else box[fast]
    rows = 1
    for dim in outer:
        rows *= box[dim]
    if width and (shape[fast] < box[fast] or rows < 8):
        words = f"the tensor has no tile of 8 rows of {box[fast]} elements"
        raise fault("L405", words, said.span)
    inner = [_step(shape, fast, 1 << bit) for bit in _bits(box[fast])]
    lines = [_step(shape, dim, 1 << bit) for dim in reversed(outer) for bit in _bits(box[dim])]
    if width:
        vec, per_phase, max_phase = 128 // bits, 128 // width, width // 16
        for bit in range(3):
            line = [*lines[bit]]
            line[fast] = vec * ((1 << bit) // per_phase % max_phase)
            lines[bit] = tuple(line)
    rest = [
        _step(shape, dim, box[dim] << bit)
        for dim in range(len(shape))
        for bit in _bits(shape[dim] // box[dim])
    ]
    return (*inner, *lines, *rest)


def plain(said: Attribute) -> tuple[Bases, list[int]]:
    """Return the bases of `#ttg.padded_shared`, without its room, and the shape of the tensor."""
    if "offset" in said.fields:
        if said.fields.get("block", ()) != ():
            raise fault("L407", "room of several blocks is not read", said.span)
        bases = said.vectors("offset")
        if not bases:
            raise fault("L407", "a text without bases has no shape", said.span)
        lasts = [max(each[dim] for each in bases) for dim in range(min(map(len, bases)))]
        return bases, [1 << each.bit_length() for each in lasts]
    _refuse_clusters(said)
    shape = said.numbers("shape")
    if not shape or any(each < 1 or each & (each - 1) or each > 1 << 30 for each in shape):
        raise fault("L405", "extents in Triton are powers of two", said.span)
    order = _order(said, len(shape))
    return tuple(_step(shape, dim, 1 << bit) for dim in order for bit in _bits(shape[dim])), shape


def with_room(said: Attribute, place: Coordinate) -> tuple[Coordinate, ...]:
    """Return an offset without room as coordinates with the room that an attribute says."""
    assert isinstance(place.extent, Constant)
    whole, size = place.value, place.extent.value
    rooms = sorted(said.rooms)
    for (low, more), (high, _) in zip(rooms, [*rooms[1:], (0, 0)], strict=True):
        fits = all(each >= 1 and each & (each - 1) == 0 for each in (low, more))
        if not fits or low == high:
            raise fault("L405", "room is a power of two behind each other power of two", said.span)
    rooms = [(step, more) for step, more in rooms if step < size]
    if not rooms:
        return (place,)
    if len(rooms) == 1:
        ((step, more),) = rooms
        within = Coordinate(Mod(whole, Constant(step)), Constant(step + more), declared=True)
        return Coordinate(FloorDiv(whole, Constant(step)), Constant(size // step)), within
    total: Expr = whole
    for step, more in rooms:
        total = Add(total, Mul(FloorDiv(whole, Constant(step)), Constant(more)))
    last = size - 1 + sum((size - 1) // step * more for step, more in rooms)
    return (Coordinate(total, Constant(last + 1)),)


def _step(shape: Sequence[int], dim: int, step: int) -> tuple[int, ...]:
    return tuple(step if each == dim else 0 for each in range(len(shape)))


def _bits(extent: int) -> range:
    return range(extent.bit_length() - 1)


def _order(said: Attribute, rank: int) -> list[int]:
    order = said.numbers("order")
    if sorted(order) != list(range(rank)):
        raise fault("L405", f"`order` is no order of {rank} dimensions", said.span)
    return order


def _power(said: Attribute, name: str) -> int:
    found = said.number(name)
    if found < 1 or found & (found - 1):
        raise fault("L405", f"`{name}` has to be a power of two", said.span)
    return found


def _refuse_clusters(said: Attribute) -> None:
    """The room of each block ends with its part, which a single buffer would go on behind."""
    several = any(
        any(each != 1 for each in said.numbers(name))
        for name in ("CTAsPerCGA", "CTASplitNum")
        if name in said.fields
    )
    if several or said.fields.get("CGALayout", ()) != ():
        raise fault("L407", "room of several blocks is not read", said.span)
