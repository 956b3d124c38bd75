"""Thread-value layouts of CuTe, drawn, and the element in each slot."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import numpy as np

from layoutdsl import Layout

Shape = tuple[int, ...]


def holders(layout: Layout) -> np.ndarray:
    """The number of the element in each slot, the rightmost index fastest; every slot holds one."""
    own = layout.element_shape({})
    found = np.full(layout.size(layout.shape_of({})), -1)
    names = [axis.name for axis in layout.axes]
    for index in product(*map(range, layout.shape_of({}))):
        place = dict(zip(names, index, strict=True))
        element = tuple(place[axis.name] for axis in layout.element_axes)
        slot = layout.offset_at(place)
        assert found[slot] == -1
        found[slot] = np.ravel_multi_index(element, own) if own else 0
    return found


def steps(random: Random) -> tuple[Shape, list[list[tuple[int, int]]]]:
    """A tile, and steps of threads and of values that reach all of it, some of them 0."""
    tile = tuple(random.choice((1, 2, 3, 4, 6, 8)) for _ in range(random.randint(1, 3)))
    left, stride, found = prod(tile), 1, list[tuple[int, int]]()
    while left > 1:
        extent = random.choice([each for each in range(2, left + 1) if left % each == 0])
        found.append((extent, stride))
        stride, left = stride * extent, left // extent
    found += [(random.choice((2, 3, 4)), 0) for _ in range(random.choice((0, 1, 1, 2)))]
    random.shuffle(found)
    modes: list[list[tuple[int, int]]] = [[], []]
    for each in found:
        random.choice(modes).append(each)
    return tile, [mode or [(1, 0)] for mode in modes]


def tv_text(tile: Shape, modes: list[list[tuple[int, int]]]) -> str:
    shape, strides = (
        ",".join(tuple_of([each[k] for each in mode]) for mode in modes) for k in (0, 1)
    )
    return f"({shape}):({strides}) -> {tuple_of(list(tile)) if len(tile) > 1 else f'({tile[0]})'}"


def tuple_of(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"({','.join(map(str, numbers))})"
