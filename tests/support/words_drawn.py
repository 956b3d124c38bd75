"""Layouts of words that nobody chose, for the fields of records, and what words hold by them.

Where each element lies is asked of `Layout.offset`; no code of ours that makes words is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random

import numpy as np

from layoutdsl import Layout
from layoutdsl.language.meaning.elements import ElementType

BITS = (8, 16, 32, 64)


@dataclass(frozen=True)
class Drawn:
    """A layout of words.

    Attributes:
        name: of the layout.
        text: that declares it.
        word: the type of words.
        axis: the last in the words.
        inner: how many of its elements are in the last coordinate; 0 where all are.
        order: of the axes in the words.
    """

    name: str
    text: str
    word: str
    axis: int
    inner: int
    order: tuple[int, ...]

    def shape(self, extents: Sequence[int], bits: int) -> tuple[int, ...]:
        """The shape of the words of a tensor of elements of so many bits."""
        width = int(self.word[1:])
        leading = [
            extents[each] // (self.inner or 1) if each == self.axis else extents[each]
            for each in self.order
            if self.inner or each != self.axis
        ]
        last = (self.inner or extents[self.axis]) * bits // width
        return (*leading, last) if last > 1 or not self.inner else tuple(leading)


def words_for(
    draw: Random, name: str, element: ElementType, shapes: Sequence[Sequence[int]]
) -> Drawn | None:
    """Return a layout of words for tensors of these shapes; or none that fits them all."""
    rank, found = len(shapes[0]), list[Drawn]()
    if any(0 in shape for shape in shapes) or not rank:
        return None
    axes = [f"x{number}" for number in range(rank)]
    for bits, kind, axis in product(BITS, "iu", range(rank)):
        for inner in (0, 2, 4, 8, 16, 32):
            lasts = [inner or shape[axis] for shape in shapes]
            if any(last * element.bits % bits for last in lasts):
                continue
            if inner and any(shape[axis] % inner for shape in shapes):
                continue
            order = tuple(draw.sample(range(rank), rank))
            if not inner:
                order = (*(each for each in order if each != axis), axis)
            places = [f"{axes[n]}/{inner}" if inner and n == axis else axes[n] for n in order]
            places += [f"{axes[axis]}%{inner}"] if inner else []
            where = f" where X{axis} % {inner} == 0" if inner else ""
            text = (
                f"layout {name}({', '.join(axes)}) = [{', '.join(places)}] of {element.name}{where}"
            )
            found.append(Drawn(name, text, f"{kind}{bits}", axis, inner, order))
    return draw.choice(found) if found else None


def held_by_words(layout: Layout, element: ElementType, array: np.ndarray) -> bytes:
    """The elements of an array where a layout puts them, the lowest bits first."""
    whole, bits = 0, element.bits
    raw = np.ascontiguousarray(array).view(f"<u{array.dtype.itemsize}")
    for index in np.ndindex(*array.shape):
        place = bits * layout.offset(index, array.shape)
        whole |= (int(raw[index]) & ((1 << bits) - 1)) << place
    return whole.to_bytes(prod(array.shape) * bits // 8, "little")
