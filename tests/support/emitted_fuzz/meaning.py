"""What a layout means at a shape, by a second reading of its text, in integers of any size."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

import numpy as np
from mutants import oracle
from mutants.oracle import Reading

Shape = tuple[int, ...]
Values = dict[str, int]


@dataclass(frozen=True, eq=False)
class Meaning:
    """One shape of a layout, all its elements tried.

    Attributes:
        flat: the buffer has one dimension, as there is an offset that is not the number 0.
        held: of every index of the shape, in row-major order, whether it has a slot.
        slots: of those that have one.
        right: the layout keeps all it promises.
        inside: every slot is in the buffer.
        apart: no two elements share a slot.
    """

    values: Values
    shape: Shape
    box: Shape
    start: int
    flat: bool
    held: np.ndarray
    slots: tuple[int, ...]
    right: bool
    inside: bool
    apart: bool

    @property
    def size(self) -> int:
        return self.start + prod(self.box)

    @property
    def physical(self) -> Shape:
        return (self.size,) if self.flat else self.box

    def index(self, most: int | None = None) -> list[Shape]:
        """The elements, in the order of `slots`; the first ones, where they are many."""
        places = self.held.nonzero()[0][:most]
        return [tuple(map(int, np.unravel_index(each, self.shape))) for each in places]

    def first_copies(self, along: tuple[int, ...]) -> Meaning:
        """The same of the first copies alone, where some axes count copies."""
        first = np.ones(self.shape, bool)
        for place in along:
            extent = self.shape[place]
            number = np.arange(extent).reshape(
                [1] * place + [extent] + [1] * (len(self.shape) - place - 1)
            )
            first &= number == 0
        kept = first.reshape(-1)
        slots = (
            slot for slot, is_first in zip(self.slots, kept[self.held], strict=True) if is_first
        )
        return replace(self, held=self.held & kept, slots=tuple(slots))

    def packed(self, tensor: np.ndarray, padding: np.ndarray) -> np.ndarray:
        """The flat buffer that holds the tensor, and elsewhere what `padding` does."""
        flat = padding.copy()
        flat[np.array(self.slots, np.int64)] = tensor.reshape(-1)[self.held]
        return flat


def values_of(reading: Reading, shape: Shape) -> Values | None:
    """The extents by name; nothing where the layout is not defined at that shape."""
    values: Values = {}
    for axis, extent in zip(reading.axes, shape, strict=True):
        name = oracle.extent_of(axis)
        if extent != (values.setdefault(name, extent) if isinstance(name, str) else name):
            return None
    return values if reading.defined(values) else None


@lru_cache(maxsize=64)
def meaning(text: str, shape: Shape) -> Meaning | None:
    """The meaning of a text at a shape; nothing where it has no such shape or no meaning there."""
    reading = oracle.read(text)
    values = values_of(reading, shape)
    if values is None:
        return None
    try:
        return _meaning(text, reading, shape, values)
    except oracle.Outside:
        return None


def _is_flat(text: str, start: int) -> bool:
    clause = re.search(r"\boffset\b(.*?)(?=\b(?:fill|of|where)\b|$)", text, re.DOTALL)
    if clause is None:
        return False
    names = re.sub(r"\b(?:max|min|ceil|roundup)\b", "", clause[1])
    return start != 0 or re.search("[A-Za-z]", names) is not None


def _meaning(text: str, reading: Reading, shape: Shape, values: Values) -> Meaning:
    index = every_index(reading, shape)
    held = whole(reading.held(values, index), shape).astype(bool)
    index = {name: each[held] for name, each in index.items()}
    count = int(held.sum())
    slots = tuple(map(int, np.broadcast_to(reading.offsets(values, index), count)))
    box, start = reading.box(values), reading.start(values)
    inside = all(start <= slot < start + prod(box) for slot in slots)
    apart = len(set(slots)) == count
    kept = count == 0 or not reading.spills(values, index)
    right = kept and inside and apart and start >= 0 and min(box, default=1) >= 0
    flat = _is_flat(text, start)
    return Meaning(values, shape, box, start, flat, held, slots, right, inside, apart)


def every_index(reading: Reading, shape: Shape) -> dict[str, np.ndarray]:
    """Each axis with the index along it, of every element in row-major order."""
    grids = np.indices(shape, dtype=np.int64).reshape(len(shape), prod(shape)).astype(object)
    names = (axis.name.text for axis in reading.axes)
    return dict(zip(names, grids, strict=True))


def whole(value: object, shape: Shape) -> np.ndarray:
    return np.broadcast_to(np.asarray(value), (prod(shape),)).copy()


def offset_at(reading: Reading, values: Values, index: Shape) -> int | None:
    """The offset of one index; nothing where the layout does not hold it."""
    names = (axis.name.text for axis in reading.axes)
    point = dict(zip(names, index, strict=True))
    if not reading.held(values, point):
        return None
    return int(reading.offsets(values, point))
