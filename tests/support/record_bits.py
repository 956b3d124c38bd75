"""Fields of records read out of bytes and written into them, bit by bit, by the meaning alone.

Nothing here is generated: `Record`'s parts say where each bit lies, in plain integers, and numpy
takes many of them at a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from layoutdsl import Record
from layoutdsl.language.texts import resources

Array = np.ndarray[Any, Any]

TEXTS = {
    name: f"{text}\n"
    for _, family in resources.library_families()
    for text, name in re.findall(r"(^record (\w+)\(.*?^\}.*?)\n(?:\n|\Z)", family, re.M | re.S)
}
"""Every record of the library as it is written, by name."""


def places(record: Record, shape: Mapping[str, int] | tuple[int, ...]) -> dict[str, Array]:
    """Where each bit of each element of each field lies, the lowest first; -1 where it has none."""
    values = record.bind(shape)
    found = {
        each.name: np.full((*each.shape(values), each.element.bits), -1) for each in record.fields
    }
    for part in record.parts:
        layout, extents = part.in_bits, part.shape(values)
        own = np.indices(layout.shape_of(extents))
        bound = dict(zip((axis.name for axis in layout.axes), own, strict=True))
        index = part.field_index(list(own[:-1]), values)
        held = found[part.field]
        assert (held[(*index, part.low + own[-1])] == -1).all(), f"a bit of {part.label} is there"
        held[(*index, part.low + own[-1])] = layout.offset_at({**extents, **bound})
    return found


def codes(buffer: Array, where: Mapping[str, Array]) -> dict[str, Array]:
    """The bits of each element of each field in a buffer of bytes, as a number without sign."""
    bits = np.unpackbits(buffer.reshape(-1).view(np.uint8), bitorder="little").astype(np.uint32)
    return {
        name: (bits[at] << np.arange(at.shape[-1], dtype=np.uint32)).sum(-1, dtype=np.uint32)
        for name, at in where.items()
    }


def written(where: Mapping[str, Array], fields: Mapping[str, Array], size: int) -> Array:
    """A buffer of so many bytes that holds these numbers, and zeros where no field lies."""
    bits = np.zeros(8 * size, np.uint8)
    for name, at in where.items():
        code = fields[name][..., None].astype(np.uint64)
        bits[at] = code >> np.arange(at.shape[-1], dtype=np.uint64) & np.uint64(1)
    return np.packbits(bits, bitorder="little")


def random_codes(record: Record, shape: tuple[int, ...], random: Any) -> dict[str, Array]:
    """Numbers for every field, any bits at all."""
    extents = record.field_shapes(shape)
    return {
        each.name: random.integers(0, 1 << each.element.bits, extents[each.name], dtype=np.uint32)
        for each in record.fields
    }


def f16(code: Array) -> Array:
    """What numbers of 16 bits are as halves, in single precision."""
    return code.astype(np.uint16).view(np.float16).astype(np.float32)


def i8(code: Array) -> Array:
    """What numbers of 8 bits are with a sign."""
    return code.astype(np.uint8).view(np.int8)
