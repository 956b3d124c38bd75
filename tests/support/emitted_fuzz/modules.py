"""Generated numpy modules, held against the meaning: pack, unpack, offset, physical_shape."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from arrays_in_memory import frame, same_bytes, tensor_in

import layoutdsl
from layoutdsl import Layout, LayoutError
from layoutdsl.language.meaning.elements import FillAny, FillValue

from .cases import Case, Fault, Refused, Ways
from .meaning import Meaning, Shape, meaning

LARGEST = 1 << 19
"""Slots of a buffer that is made; of larger ones only shapes and offsets are asked for."""

Offset = Callable[[Shape, Shape], int]

SIDES = 200
"""Indices at most whose offset is asked for one by one."""


@lru_cache(maxsize=256)
def layout_of(text: str) -> Layout:
    """The layout of a text, as the product reads it."""
    try:
        (found,) = layoutdsl.parse(text).values()
    except LayoutError as error:
        raise Refused("no layout") from error
    return found


@lru_cache(maxsize=64)
def generated(text: str) -> layoutdsl.Generated | str:
    """The module that was proved and validated, or in a word why there is none."""
    try:
        return layoutdsl.generate(layout_of(text), unproved=True)
    except layoutdsl.RefusedError:
        return "refuted"
    except layoutdsl.UnvalidatedError:
        return "not validated"


def validated(text: str) -> layoutdsl.Generated:
    found = generated(text)
    if isinstance(found, str):
        raise Refused(found)
    return found


@lru_cache(maxsize=64)
def module_of(text: str) -> ModuleType:
    return executed(validated(text).text)


def executed(text: str) -> ModuleType:
    """The module, as if its file were imported."""
    module = ModuleType("emitted")
    exec(compile(text, "<emitted>", "exec", dont_inherit=True), module.__dict__)
    return module


def check_module(case: Case) -> None:
    """Run a module at one shape.

    Raises:
        Fault: it does something else than what is meant.
        Refused: there is none, or the layout is wrong at that shape.
    """
    module, meant = module_of(case.text), meaning(case.text, case.shape)
    layout = layout_of(case.text)
    shape = own_shape(layout, case.shape)
    if meant is None:
        refuses(lambda: module.physical_shape(shape), "a shape that there is not")
        return
    proved = validated(case.text).checked.status == "proved"
    if not meant.right:
        if proved and meant.size < 2**63:
            raise Fault("the layout is proved, and wrong at this shape")
        _refuse_wrong(module, meant, case)
    expect(module.physical_shape(shape), meant.physical, "physical_shape")
    _offsets(module.offset, meant.first_copies(along_copies(layout)), layout, shape)
    if meant.size <= LARGEST:
        ways = fitting(layout, case.ways)
        tensor = tensor_of(layout, shape, ways)
        with np.errstate(all="ignore"):
            _packs(layout, module, tensor, meant, ways)
            _unpacks(layout, module, tensor, meant, ways)


def _offsets(offset: Offset, meant: Meaning, layout: Layout, shape: Shape) -> None:
    """What a module says of indices that the layout has axes for, and of some that it holds not."""
    along = along_copies(layout)

    def own(index: Shape) -> Shape:
        return tuple(each for k, each in enumerate(index) if k not in along)

    for index, slot in zip(meant.index(SIDES), meant.slots, strict=False):
        expect(offset(own(index), shape), slot, f"offset of {index}")
    without = first_copy(layout, ~meant.held.reshape(meant.shape))
    for index in np.argwhere(without)[:20].tolist():
        refuses(lambda index=index: offset(index, shape), f"offset of {index}")


def _refuse_wrong(module: ModuleType, meant: Meaning, case: Case) -> None:
    """A layout that nobody could refute, at a shape where it is wrong."""
    if meant.size <= LARGEST and not meant.inside:
        shape = own_shape(layout_of(case.text), case.shape)
        tensor = np.zeros(shape, np.dtype(fitting(layout_of(case.text), case.ways).dtype))
        refuses(lambda: module.pack(tensor, fill=0), "pack beyond the buffer")
    raise Refused("wrong at the shape")


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise Fault(f"{what} is {found}, and means {wanted}")


def refuses(call: Callable[[], object], what: str) -> None:
    try:
        found = call()
    except ValueError:
        return
    raise Fault(f"{what} is {found}, and has to be refused")


def same(found: np.ndarray, wanted: np.ndarray, what: str) -> None:
    """Compare every byte; the first item that differs is told."""
    if same_bytes(found, wanted):
        return
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise Fault(f"{what} is {found.dtype} {found.shape}, not {wanted.dtype} {wanted.shape}")
    rows = [each.reshape(-1).tobytes() for each in (found, wanted)]
    width = found.itemsize
    items = (
        k for k in range(found.size) if rows[0][k * width :][:width] != rows[1][k * width :][:width]
    )
    place = next(items)
    numbers = [each.reshape(-1)[place] for each in (found, wanted)]
    raise Fault(f"{what} holds {numbers[0]} at {place}, and means {numbers[1]}")


def fitting(layout: Layout, ways: Ways) -> Ways:
    """The same ways, of the type that elements of the layout travel in, and a fill it can hold."""
    dtype = ways.dtype
    if layout.element is not None:
        kind, width = layout.element.item
        dtype = f"{kind}{width}"
    low, high = limits(layout, np.dtype(dtype))
    fill = ways.fill
    default = layout.fill.value if isinstance(layout.fill, FillValue) else 0
    if fill is None and not isinstance(layout.fill, FillAny):
        fill = None if isinstance(layout.fill, FillValue) and low <= default <= high else 0
    fill = fill if fill is None or low <= fill <= high else 0
    return Ways(dtype, ways.source, ways.target, fill, ways.threads)


def limits(layout: Layout, dtype: np.dtype) -> tuple[int, int]:
    """The least and the largest whole number of which each is a value of an element."""
    if layout.element is not None and layout.element.values is not None:
        return layout.element.values
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return (0, 0) if dtype.kind in "mV" else (0, 1) if dtype.kind == "b" else (-100, 2000)


def tensor_of(layout: Layout, shape: Shape, ways: Ways) -> np.ndarray:
    """A read-only tensor that lies in memory as told, of values that the type has."""
    dtype = np.dtype(ways.dtype)
    tensor = tensor_in(ways.source, shape, dtype)
    low, high = limits(layout, dtype)
    if dtype.kind in "iu" and high < 251:
        tensor.flags.writeable = ways.source != "broadcast"
        values = low + np.arange(tensor.size) % (high - low + 1)
        tensor = tensor if ways.source != "broadcast" else np.empty(shape, dtype)
        tensor[...] = values.astype(dtype).reshape(shape)
        tensor.flags.writeable = False
    return tensor


def item_of(number: int, dtype: np.dtype) -> np.ndarray:
    return np.zeros((), dtype) if number == 0 else np.array(number).astype(dtype)


def default_of(layout: Layout) -> int:
    return layout.fill.value if isinstance(layout.fill, FillValue) else 0


def along_copies(layout: Layout) -> tuple[int, ...]:
    """The places of the axes that count copies."""
    return tuple(k for k, axis in enumerate(layout.axes) if axis.name in layout.copies)


def own_shape(layout: Layout, shape: Shape) -> Shape:
    """The extents of the tensor: those of all axes but the ones that count copies."""
    return tuple(each for k, each in enumerate(shape) if k not in along_copies(layout))


def every_copy(layout: Layout, tensor: np.ndarray, shape: Shape) -> np.ndarray:
    """The tensor with its copies, along their axes."""
    return np.broadcast_to(np.expand_dims(tensor, along_copies(layout)), shape)


def first_copy(layout: Layout, of_all: np.ndarray) -> np.ndarray:
    """Of something for every index of all axes, what it is for those of the tensor."""
    return of_all[
        tuple(0 if k in along_copies(layout) else slice(None) for k in range(of_all.ndim))
    ]


def _packs(
    layout: Layout, module: ModuleType, tensor: np.ndarray, meant: Meaning, ways: Ways
) -> None:
    number = default_of(layout) if ways.fill is None else ways.fill
    filled = np.empty(meant.size, tensor.dtype)
    filled[...] = item_of(number, tensor.dtype)
    given: dict[str, Any] = {} if ways.fill is None else {"fill": ways.fill}
    copies = every_copy(layout, tensor, meant.shape)
    wanted = meant.packed(copies, filled).reshape(meant.physical)
    same(module.pack(tensor, **given), wanted, "pack")
    target = _taken(ways.target, wanted, lambda out: module.pack(tensor, out, **given))
    memory, view = frame(target, meant.physical, tensor.dtype)
    beside = memory.copy()
    padding = view(memory).reshape(-1).copy()
    if not (isinstance(layout.fill, FillAny) and ways.fill is None):
        padding[meant.start :] = filled[meant.start :]
    view(beside)[...] = meant.packed(copies, padding).reshape(meant.physical)
    out = view(memory)
    if module.pack(tensor, out, **given) is not out:
        raise Fault("pack returns another array than out")
    same(view(memory), view(beside), "pack into out")
    same(memory, beside, "memory around out")


def _taken(kind: str, wanted: np.ndarray, write: Callable[[np.ndarray], object]) -> str:
    """How the array lies in memory that is written: one that is not C-contiguous is refused."""
    memory, view = frame(kind, wanted.shape, wanted.dtype)
    if view(memory).flags.c_contiguous:
        return kind
    before = memory.copy()
    refuses(lambda: write(view(memory)), f"an `out` that is {kind}")
    same(memory, before, "an `out` that was refused")
    return "plain"


def _unpacks(
    layout: Layout, module: ModuleType, tensor: np.ndarray, meant: Meaning, ways: Ways
) -> None:
    memory, view = frame(ways.target, meant.physical, tensor.dtype)
    buffer = view(memory)
    first = meant.first_copies(along_copies(layout))
    copies = every_copy(layout, tensor, meant.shape)
    buffer[...] = first.packed(copies, buffer.reshape(-1)).reshape(meant.physical)
    held, shape = first_copy(layout, meant.held.reshape(meant.shape)).reshape(-1), tensor.shape
    before = memory.copy()
    given: dict[str, Any] = {}
    number = default_of(layout)
    if layout.domain and (ways.fill is not None or isinstance(layout.fill, FillValue)):
        number = number if ways.fill is None else ways.fill
        given |= {} if ways.fill is None else {"fill": ways.fill}
    wanted = np.empty(shape, tensor.dtype)
    wanted[...] = item_of(number, tensor.dtype)
    wanted.reshape(-1)[held] = tensor.reshape(-1)[held]
    same(module.unpack(buffer, shape, **given), wanted, "unpack")
    same(module.unpack(buffer.reshape(-1), list(shape), **given), wanted, "unpack, flat")
    kind = ways.source.replace("broadcast", "turned")
    kind = _taken(kind, wanted, lambda out: module.unpack(buffer, shape, out, **given))
    room, seen = frame(kind, shape, tensor.dtype)
    beside = room.copy()
    kept = seen(beside).copy()
    kept.reshape(-1)[held] = tensor.reshape(-1)[held]
    seen(beside)[...] = kept
    out = seen(room)
    if module.unpack(buffer, shape, out, **given) is not out:
        raise Fault("unpack returns another array than out")
    same(seen(room), seen(beside), "unpack into out")
    same(room, beside, "memory around the tensor")
    same(memory, before, "the buffer that was unpacked")
