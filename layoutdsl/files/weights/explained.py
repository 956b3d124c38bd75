"""Which other layout explains what lies where a tensor has to be.

The elements of a sample are looked up where each layout puts them; those of a small tensor are all
looked up. Nothing is proved here: what is said names how many elements it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from time import monotonic

import numpy as np

from layoutdsl.files.pieces.files import Stored
from layoutdsl.files.weights.compared import Difference, Placed
from layoutdsl.files.weights.moved import in_rows
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.offsets.arrays import sample

SECONDS = 5.0
"""After which no further layout is looked at."""

POINTS = 2048
"""Elements that are looked up of a large tensor."""

NUMBERS = (4, 8, 16, 32, 64, 128)
"""For the parameter of a layout that has one."""

Known = Iterable[tuple[str, Layout]]
Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A layout by which a tensor lies as it does.

    Attributes:
        tensor: its name.
        layout: the name of the layout; `None` where the tensor was not packed at all.
        elements: so many were looked up.
        whole: whether these are all.
    """

    tensor: str
    layout: str | None
    elements: int
    whole: bool

    def __str__(self) -> str:
        how = "it lies as it was, and is not packed"
        if self.layout is not None:
            how = f"it is packed as `{self.layout}`"
        said = f"all {self.elements} elements" if self.whole else f"{self.elements} elements drawn"
        return f"{how}: {said} lie so"


def explained(placed: Placed, fault: Difference, known: Known) -> Explained | None:
    """Return the layout that explains a tensor in which an element is wrong, if one is found.

    Args:
        placed: the tensor, and what lies in its place.
        fault: that element.
        known: layouts, with the names to call them.
    """
    if placed.tensor is None or placed.copies or fault.index is None:
        return None
    points = _points(placed.shape, fault.index)
    wanted = [_item(placed.tensor, each) for each in points]
    if len(set(wanted)) < 2:
        return None  # all of one value, which any layout explains
    end = monotonic() + SECONDS
    for name, layout in _candidates(placed, known):
        if monotonic() > end:
            return None
        if _explains(layout, placed, points, wanted):
            whole = len(points) == prod(placed.shape)
            return Explained(placed.name, name, len(points), whole)
    return None


def _candidates(placed: Placed, known: Known) -> Iterator[tuple[str | None, Layout]]:
    """What may explain it: that it was not packed, then layouts, those with a parameter last."""
    yield None, in_rows(placed.shape)
    later: list[tuple[str, Layout]] = []
    for name, layout in known:
        if layout.copies or layout.domain or layout.bit_of is not None:
            continue
        if len(layout.axes) != len(placed.shape) or len(layout.parameters) > 1:
            continue
        if layout.parameters:
            later.append((name, layout))
        else:
            yield name, layout
    for name, layout in later:
        for number in NUMBERS:
            yield f"{name}<{number}>", layout.with_parameters(**{layout.parameters[0]: number})


def _explains(layout: Layout, placed: Placed, points: list[Index], wanted: list[int]) -> bool:
    try:
        if layout.size(placed.shape) != prod(placed.buffer.shape):
            return False
        slots = (layout.offset(each, placed.shape) for each in points)
        return all(
            _item(placed.buffer, (slot,)) == item for slot, item in zip(slots, wanted, strict=True)
        )
    except ValueError:
        return False  # it has no such shape


def _points(shape: tuple[int, ...], first: Index) -> list[Index]:
    """Indices without repeats: that one, and others, or all where there are few."""
    if prod(shape) <= POINTS:
        return list(dict.fromkeys([first, *product(*map(range, shape))]))
    drawn = zip(*(axis.tolist() for axis in sample(shape)), strict=True)
    return list(dict.fromkeys([first, *islice(drawn, POINTS)]))


def _item(stored: Stored, index: Index) -> int:
    found = np.empty((1,) * len(index), stored.dtype)
    one = stored
    if stored.fortran:
        one, index = replace(stored, shape=stored.shape[::-1], fortran=False), index[::-1]
    one.read(index, found)
    return int(found.reshape(-1)[0])
