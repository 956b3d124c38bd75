"""Modules of views, held against plain integers, and wrong ones held against right ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
from emitted_fuzz.modules import executed, limits
from random_layouts import shape_in

from layoutdsl import Layout

EXTENTS = (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 127, 128, 130, 256)
MOST_SLOTS = 60_000


def shapes_of(layout: Layout, random: Random, count: int) -> Iterator[tuple[int, ...]]:
    """Shapes at and beside the ends of blocks, each with a buffer that is not too large."""
    for _ in range(20 * count):
        values = {name: random.choice(EXTENTS[1:]) for name in layout.symbols}
        try:
            bound = layout.bind(values)
        except ValueError:
            found = shape_in(layout, random)
            if found is None:
                continue
            bound = layout.bind(found)
        if layout.size(bound) <= MOST_SLOTS:
            yield tuple(layout.element_shape(bound))
            count -= 1
        if not count:
            return


def outcomes(module: ModuleType, layout: Layout, shapes: Sequence[tuple[int, ...]]) -> list[object]:
    """Results and exceptions of the functions of a module, for shapes and for no shapes."""
    found = list[object]()
    random = Random(5)
    for shape in shapes:
        tensor = tensor_of(layout, shape, random)
        turned = np.ascontiguousarray(tensor.T).T
        index = [random.randrange(max(1, each)) for each in shape]
        buffer = outcome(lambda tensor=tensor: module.pack(tensor, fill=1))
        found += [
            buffer if isinstance(buffer, type) else (buffer.shape, buffer.tobytes()),
            raw(lambda turned=turned: module.pack(turned)),
            outcome(lambda shape=shape: module.physical_shape(shape)),
            outcome(lambda index=index, shape=shape: module.offset(index, shape)),
            outcome(lambda shape=shape: module.offset(shape, shape)),
            outcome(lambda shape=shape: module.physical_shape((*shape, 1))),
            outcome(lambda shape=shape: module.physical_shape([-each for each in shape])),
            raw(lambda tensor=tensor: module.pack(tensor, tensor)),
            raw(lambda tensor=tensor: module.pack(tensor.astype(object))),
            raw(lambda tensor=tensor: module.pack(tensor, fill=10**30)),
        ]
        if not isinstance(buffer, type):
            kept = np.full(buffer.shape, 1, buffer.dtype)
            room = np.full(shape, 1, buffer.dtype)
            noise = np.arange(buffer.size).reshape(buffer.shape).astype(buffer.dtype)
            found += [
                raw(lambda noise=noise, shape=shape: module.unpack(noise, shape)),
                raw(lambda tensor=tensor, kept=kept: module.pack(tensor, kept)),
                raw(lambda b=buffer, shape=shape: module.unpack(b, shape)),
                raw(lambda b=buffer, shape=shape: module.unpack(b.reshape(-1), list(shape))),
                raw(lambda b=buffer, shape=shape, room=room: module.unpack(b, shape, room)),
                raw(lambda b=buffer, shape=shape: module.unpack(b[..., None, None], shape)),
                raw(lambda b=buffer, shape=shape: module.unpack(b, shape, b)),
            ]
    return found


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error)


def raw(call: Callable[[], Any]) -> object:
    found = outcome(call)
    return found if isinstance(found, type) else (found.dtype, found.shape, found.tobytes())


def tensor_of(layout: Layout, shape: tuple[int, ...], random: Random) -> np.ndarray:
    """A tensor of the elements of a layout, none of which is 0 or 1 if the type has others."""
    dtype = np.dtype("i4" if layout.element is None else "{}{}".format(*layout.element.item))
    low, high = limits(layout, dtype)
    drawn = np.random.default_rng(random.randrange(2**32))
    return drawn.integers(max(low, min(2, high)), min(high, 2**31), shape, endpoint=True).astype(
        dtype
    )


def packed(layout: Layout, tensor: np.ndarray, fill: int) -> np.ndarray:
    """The flat buffer of a tensor, by the meaning of the layout, element by element."""
    bound = layout.bind(tensor.shape)
    found = np.full(layout.size(bound), fill, tensor.dtype)
    names, first = [axis.name for axis in layout.element_axes], layout.first_copy
    for index in np.ndindex(*tensor.shape):
        if not first.domain or first.holds({**bound, **dict(zip(names, index, strict=True))}):
            found[list(layout.slots(index, bound))] = tensor[index]
    return found


def first_copies(layout: Layout, tensor: np.ndarray) -> np.ndarray:
    """The buffer of a tensor in which only the first copy of an element is the element."""
    bound = layout.bind(tensor.shape)
    found = np.full(layout.size(bound), 1, tensor.dtype)
    names, first = [axis.name for axis in layout.element_axes], layout.first_copy
    for index in np.ndindex(*tensor.shape):
        if not first.domain or first.holds({**bound, **dict(zip(names, index, strict=True))}):
            found[layout.slots(index, bound)[0]] = tensor[index]
    return found


def check(layout: Layout, text: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Run a module at some shapes, and compare with plain integers."""
    module, random = executed(text), Random(7)
    for shape in shapes:
        tensor = tensor_of(layout, shape, random)
        wanted = packed(layout, tensor, 1)
        buffer = module.pack(tensor, fill=1)
        assert buffer.shape == tuple(layout.physical_shape(layout.bind(shape)))
        assert np.array_equal(buffer.reshape(-1), wanted), (text, shape)
        room = np.full_like(tensor, 1)
        back = module.unpack(buffer, shape, room)
        assert back is room
        if layout.copies:
            read = module.unpack(first_copies(layout, tensor), shape)
            assert np.array_equal(packed(layout, read, 1), wanted), (text, shape)
        held = (
            packed(layout.first_copy, np.ones_like(tensor), 0).sum()
            if layout.domain
            else tensor.size
        )
        assert (back == tensor).sum() >= held
        assert np.array_equal(packed(layout, back, 1), wanted), (text, shape)
