"""Layouts that nobody chose, written in every notation and read again: each element in its slot."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from random import Random

import pytest
import random_declarations
import random_layouts

from layoutdsl import Layout, LayoutError, from_notation, notations, to_notation

UNKNOWN = ("no extent follows", "a text without bases has no shape")
"""What is said of index maps of TVM, and of a single element of Triton."""


def any_layout(random: Random) -> Layout | None:
    if random.random() < 0.6:
        return random_layouts.drawn(random)
    return random_declarations.read(random_declarations.drawn(random))


def texts(layout: Layout) -> dict[str, str]:
    found = dict[str, str]()
    for notation in notations():
        with suppress(ValueError):  # most layouts have no text in most notations
            found[notation] = to_notation(layout, notation)
    return found


def read(notation: str, text: str) -> Layout | None:
    """The layout of a text; `None` where it takes more than that to know its shape."""
    try:
        return from_notation(notation, text)
    except LayoutError as error:
        if any(words in str(error) for words in UNKNOWN):
            return None
        raise


def slots(layout: Layout, names: list[str], shape: dict[str, int]) -> list[int | None]:
    """Where elements lie, in the order of some names."""
    own = [axis.name for axis in layout.axes]
    extents = tuple(shape[name] for name in own)
    found = list[int | None]()
    for index in product(*(range(shape[name]) for name in names)):
        place = dict(zip(names, index, strict=True))
        found.append(layout.offset(tuple(place[name] for name in own), extents))
    return found


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_written_is_read_again_as_it_was(seed: int) -> None:
    random, tried = Random(900 + seed), 0
    while tried < 10:
        layout = any_layout(random)
        shape = layout and random_layouts.shape_in(layout, random)
        if layout is None or shape is None:
            continue
        tried += 1
        names = [axis.name for axis in layout.axes]
        extents = dict(zip(names, shape, strict=True))
        for notation, text in texts(layout).items():
            assert not layout.domain
            again = read(notation, text)
            if again is None:
                continue
            if notation == "tvm" and not text.startswith("lambda"):  # a tag has axes in any order
                found = slots(again, names, extents)
            else:
                called = dict(zip((axis.name for axis in again.axes), shape, strict=True))
                found = slots(again, list(called), called)
            assert found == slots(layout, names, extents), (layout, notation, text)
