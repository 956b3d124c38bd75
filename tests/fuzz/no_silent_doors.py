"""The meaning of a drawn layout at a shape, in plain integers, and every door that has to keep it.

Offsets come from `mutants.oracle`, a second reading of the text that shares the parser with the
product and nothing else, and some are compared with `Layout.offset`. What a buffer has to hold
follows from them alone. A door packs and unpacks by the product; it calls `Trial.same` with what it
found, and may raise any documented error instead.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from mutants import oracle

import layoutdsl
from layoutdsl.language.meaning.elements import FillValue, FillZeroPoint
from layoutdsl.shell.shell import run as run_shell

Shape = tuple[int, ...]
Array = np.ndarray[Any, Any]

UNPROVED: type[Exception] | None = getattr(layoutdsl, "UnprovedError", None)
MOST_SLOTS = 1 << 21
"""Slots up to which a buffer is made; the padding of a drawn layout can take gigabytes."""
OBJECTS = 6000
"""Elements up to which offsets are worked out in integers of any size."""
SPOTS = 6
"""Indices whose offset is compared with `Layout.offset`."""


class Loss(Exception):  # noqa: N818  a finding, not an error of ours
    """A door gave something else than what is meant."""


class Moved(Loss):
    """A door moved data of a layout that is wrong at the shape."""

    def __init__(self, message: str, verdict: str) -> None:
        super().__init__(message)
        self.verdict = verdict


@dataclass(frozen=True)
class Meaning:
    """A layout at a shape, all its elements tried.

    Attributes:
        values: of every extent and parameter.
        shape: of all axes, those of copies and of bits included.
        held: for every index in row-major order, whether it has a slot.
        slots: of those that have one.
        box: extents of the coordinates.
        start: slots before the first.
        flat: the layout has an offset clause, and its buffer one dimension at every shape.
        fault: why the layout is wrong at this shape; empty where it is right.
    """

    values: Mapping[str, int]
    shape: Shape
    held: Array
    slots: Array
    box: Shape
    start: int
    flat: bool
    fault: str

    @property
    def size(self) -> int:
        return self.start + prod(self.box)

    @property
    def physical(self) -> Shape:
        return (self.size,) if self.flat else self.box


def reading_of(text: str, layout: layoutdsl.Layout) -> oracle.Reading:
    """The second reading of a text, with an axis for bits where the layout places them."""
    reading = oracle.read(text)
    if layout.bit_of is None:
        return reading
    bits = oracle.read(f"layout Bits(bit: {layout.bit_of.bits}) = [bit]").axes
    return replace(reading, axes=(*reading.axes, *bits))


def meaning(reading: oracle.Reading, values: Mapping[str, int]) -> Meaning | None:
    """The meaning of a declaration at a shape; nothing where a divisor is not positive there."""
    shape = reading.shape(values)
    count = prod(shape)
    kind = object if count <= OBJECTS else np.int64
    grids = np.indices(shape, dtype=np.int64).reshape(len(shape), count).astype(kind)
    index = dict(zip((axis.name.text for axis in reading.axes), grids, strict=True))
    try:
        held = np.broadcast_to(np.asarray(reading.held(values, index)), (count,)).astype(bool)
        index = {name: each[held] for name, each in index.items()}
        number = int(held.sum())
        slots = np.broadcast_to(np.asarray(reading.offsets(values, index)), (number,))
        box, start = reading.box(values), reading.start(values)
        spills = number > 0 and reading.spills(values, index)
    except oracle.Outside:
        return None
    fault = ""
    if start < 0 or min(box, default=1) < 0:
        fault = "the buffer has a negative extent"
    elif number and not (start <= min(slots) and max(slots) < start + prod(box)):
        fault = "an element lies outside the buffer"
    elif spills:
        fault = "a coordinate leaves its extent"
    slots = slots.astype(np.int64) if not fault else np.zeros(0, np.int64)
    if not fault and len(np.unique(slots)) < number:
        fault = "two elements share a slot"
    offsets = [each.value for each in reading.clauses if isinstance(each, oracle.ast.OffsetClause)]
    flat = any(getattr(each, "value", None) != 0 for each in offsets)
    return Meaning(dict(values), shape, held, slots, box, start, flat, fault)


@dataclass(frozen=True)
class Subject:
    """A layout with its second reading and its verdict."""

    text: str
    name: str
    layout: layoutdsl.Layout
    reading: oracle.Reading
    verdict: str

    @cached_property
    def copies(self) -> tuple[int, ...]:
        """The places of the axes of copies."""
        return tuple(k for k, a in enumerate(self.layout.axes) if a.name in self.layout.copies)

    @property
    def given(self) -> dict[str, Any]:
        """Keywords by which an undecided layout is moved nevertheless, where there are such."""
        return {"unproved": True} if UNPROVED and self.verdict == "undecided" else {}

    def defined(self, values: Mapping[str, int]) -> bool:
        return self.reading.defined(values)


class Trial:
    """A layout at a shape, with a tensor to move, and whatever doors need."""

    def __init__(
        self,
        subject: Subject,
        values: Mapping[str, int],
        meant: Meaning | None,
        random: Random,
        folder: Path,
        companion: Subject | None = None,
        record: layoutdsl.Record | None = None,
    ) -> None:
        self.subject, self.values, self.meant = subject, values, meant
        self.layout, self.random, self.folder = subject.layout, random, folder
        self.companion, self.record = companion, record
        self.bits = subject.layout.bit_of is not None
        whole = subject.reading.shape(values)
        axes = range(len(whole) - self.bits)
        self.shape: Shape = tuple(whole[k] for k in axes if k not in subject.copies)
        """Of the tensor."""
        self.dtype = self._dtype()
        self.fill = self._fill()
        self.tensor = self._tensor()
        self.compared = 0

    # -- what is moved

    def _dtype(self) -> np.dtype[Any]:
        element = self.layout.tensor_element
        if element is not None:
            kind, width = element.item
            return np.dtype(f"{kind}{width}")
        return np.dtype(self.random.choice(("u1", "i2", "f4", "f8", "i8", ">i2", "u4", "f2", "c8")))

    def _limits(self) -> tuple[int, int] | None:
        element = self.layout.tensor_element
        return None if element is None else element.values

    def _fill(self) -> float | None:
        """A fill that is given, or nothing."""
        low, high = self._limits() or (0, 100)
        if self.bits:
            return None
        if isinstance(self.layout.fill, FillZeroPoint) or self.random.random() < 0.2:
            return self.random.choice((0, 1, 7, 100, 2)) if low <= 0 and high >= 100 else high
        return None

    def _tensor(self) -> Array:
        count, limits = prod(self.shape), self._limits()
        noise = np.random.default_rng(self.random.randrange(2**32))
        if limits is not None and self.dtype.kind in "iu" and self.dtype.itemsize == 1:
            flat = noise.integers(limits[0], limits[1] + 1, count).astype(self.dtype)
        elif self.dtype.kind == "b":
            flat = noise.integers(0, 2, count).astype(bool)
        else:
            flat = noise.integers(0, 256, count * self.dtype.itemsize, dtype=np.uint8).view(
                self.dtype
            )
        tensor = flat.reshape(self.shape)
        match self.random.randrange(4):
            case 0 if self.shape:  # no row of it is contiguous
                wide = np.zeros((*self.shape[:-1], 2 * self.shape[-1]), self.dtype)
                wide[..., ::2] = tensor
                tensor = wide[..., ::2]
            case 1:
                tensor = np.asfortranarray(tensor)
        return tensor

    def spread(self, tensor: Array) -> Array:
        """A tensor with its copies and bits, flat: a number for each index of all axes."""
        whole = self.meant.shape  # type: ignore[union-attr]
        if self.bits:
            width = self.layout.bit_of.bits  # type: ignore[union-attr]
            tensor = bits_of(np.ascontiguousarray(tensor), width).reshape(*tensor.shape, width)
        return np.broadcast_to(np.expand_dims(tensor, self.subject.copies), whole).reshape(-1)

    # -- what is meant

    def number(self, layout: layoutdsl.Layout, fill: float | None) -> float | None:
        """What padding holds: a number, or nothing in particular."""
        if fill is not None:
            return fill
        return layout.fill.value if isinstance(layout.fill, FillValue) else None

    @cached_property
    def buffer(self) -> tuple[Array, Array]:
        """The packed buffer, flat, and which of its slots are said to hold something."""
        return self.filled(self.spread(self.tensor), self.fill)

    def filled(self, items: Array, fill: float | None) -> tuple[Array, Array]:
        meant = self.meant
        assert meant is not None
        number = self.number(self.layout, fill)
        flat = np.zeros(meant.size, items.dtype)
        known = np.zeros(meant.size, bool)
        if number is not None:
            flat[...] = np.array(number).astype(items.dtype)
            known[meant.start :] = True
        flat[meant.slots] = items[meant.held]
        known[meant.slots] = True
        return flat, known

    def dirty(self) -> Array:
        """The packed buffer in its shape, noise wherever no first copy lies."""
        meant = self.meant
        assert meant is not None
        noise = np.random.default_rng(self.random.randrange(2**32))
        flat, _ = self.buffer
        if self.dtype.kind == "b" or self.bits:
            dirt = noise.integers(0, 2, meant.size).astype(flat.dtype)
        elif self._limits() is not None and self.dtype.itemsize == 1:
            low, high = self._limits()  # type: ignore[misc]
            dirt = noise.integers(low, high + 1, meant.size).astype(flat.dtype)
        else:
            size = meant.size * flat.dtype.itemsize
            dirt = noise.integers(0, 256, size, dtype=np.uint8).view(flat.dtype)
        first = np.ones(meant.shape, bool)
        for place in self.subject.copies:
            at = np.arange(meant.shape[place]) == 0
            first &= at.reshape([-1 if k == place else 1 for k in range(first.ndim)])
        keep = meant.slots[first.reshape(-1)[meant.held]]
        dirt[keep] = flat[keep]
        return dirt.reshape(meant.physical)

    @cached_property
    def unpacked(self) -> tuple[Array, Array]:
        """The tensor that comes back, and which of its elements are said to be something."""
        meant = self.meant
        assert meant is not None
        held = meant.held.reshape(meant.shape)
        for place in reversed(self.subject.copies):
            held = held.take(0, place)
        held = held[..., 0] if self.bits else held
        number = self.number(self.layout, None)
        found = np.zeros(self.shape, self.dtype)
        if number is not None:
            found[...] = np.array(number).astype(self.dtype)
        found[held] = self.tensor[held]
        known = held | (not isinstance(self.layout.fill, FillZeroPoint))
        return found, known

    # -- comparing

    def same(
        self, found: Any, wanted: Array, known: Array | None = None, what: str = "pack"
    ) -> None:
        """Raise `Loss` where something else was found than what is meant."""
        self.produced(what)
        if not isinstance(found, np.ndarray):
            raise Loss(f"{what} returns {type(found).__name__}")
        if found.dtype != wanted.dtype or found.shape != wanted.shape:
            raise Loss(
                f"{what} is {found.dtype} {found.shape}, and means {wanted.dtype} {wanted.shape}"
            )
        one, two = (items_of(each) for each in (found, wanted))
        differ = (one != two).any(axis=-1)
        if known is not None:
            differ &= known.reshape(-1)
        if differ.any():
            at = int(differ.argmax())
            held = found.reshape(-1)[at], wanted.reshape(-1)[at]
            count = int(differ.sum())
            raise Loss(
                f"{what}: {count} of {differ.size} differ, {held[0]!r} at {at}, not {held[1]!r}"
            )
        self.compared += 1

    def produced(self, what: str) -> None:
        """Raise `Loss` where nothing should have come of the layout at this shape."""
        if self.meant is None:
            raise Moved(f"{what} takes a shape for which the layout is not defined", "undefined")
        if self.meant.fault:
            raise Moved(f"{what} moves data, though {self.meant.fault}", self.subject.verdict)

    def packed(self, found: Any, what: str = "pack") -> None:
        self.produced(what)
        flat, known = self.buffer
        self.same(found, flat.reshape(self.meant.physical), known, what)  # type: ignore[union-attr]

    def back(self, found: Any, what: str = "unpack") -> None:
        self.produced(what)
        wanted, known = self.unpacked
        self.same(found, wanted, known, what)

    @property
    def filling(self) -> dict[str, Any]:
        return {} if self.fill is None else {"fill": self.fill}


def items_of(array: Array) -> Array:
    """The bytes of each item of an array, one row an item."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize)


def bits_of(flat: Array, width: int) -> Array:
    """The low bits of items, the lowest first, along a last axis."""
    rows = np.ascontiguousarray(flat).reshape(-1)
    rows = rows.view(np.uint8).reshape(-1, rows.dtype.itemsize)
    return np.unpackbits(rows, axis=1, bitorder="little")[:, :width]


# --- Doors -------------------------------------------------------------------


def through_module(trial: Trial, module: Any, what: str) -> None:
    """Pack and unpack by a module, into new arrays and into given ones."""
    meant = trial.meant
    found = module.pack(trial.tensor, **trial.filling)
    trial.packed(found, what)
    assert meant is not None
    if tuple(module.physical_shape(trial.shape)) != meant.physical:
        raise Loss(
            f"{what}: physical_shape is {module.physical_shape(trial.shape)}, not {meant.physical}"
        )
    flat, known = trial.buffer
    out = np.full(meant.physical, 1, flat.dtype)
    module.pack(trial.tensor, out, **trial.filling)
    wanted = out.reshape(-1).copy()
    wanted[known] = flat[known]
    trial.same(out, wanted.reshape(meant.physical), None, f"{what} out=")
    if (out.reshape(-1)[: meant.start] != 1).any():
        raise Loss(f"{what} out= writes before the first slot")
    trial.back(module.unpack(trial.dirty(), trial.shape), f"{what} unpack")
    offset = getattr(module, "offset", None)
    if offset is not None and not trial.bits:
        for index, slot in spots(trial):
            if offset(index, trial.shape) != slot:
                raise Loss(f"{what} offset of {index} is {offset(index, trial.shape)}, not {slot}")


def spots(trial: Trial) -> Iterator[tuple[Shape, int]]:
    """Some elements of the tensor, with the slot of their first copy."""
    meant = trial.meant
    assert meant is not None
    places = meant.held.nonzero()[0]
    for _ in range(SPOTS):
        if len(places):
            number = trial.random.randrange(len(places))
            index = np.unravel_index(places[number], meant.shape)
            if all(index[k] == 0 for k in trial.subject.copies):
                own = (int(i) for k, i in enumerate(index) if k not in trial.subject.copies)
                yield tuple(own), int(meant.slots[number])


def numpy_door(trial: Trial) -> None:
    module = layoutdsl.compile(trial.layout, "numpy", **trial.subject.given)
    through_module(trial, module, "compile numpy")


def native_door(trial: Trial) -> None:
    module = layoutdsl.compile(trial.layout, "native", **trial.subject.given)
    through_module(trial, module, "compile native")


def generate_door(trial: Trial) -> None:
    """Write a module, import it as a file, and run it; layouts that place bits in words."""
    storage = {"storage": "u8"} if trial.bits else {}
    made = layoutdsl.generate(trial.layout, **storage, **trial.subject.given)
    place = made.write(trial.folder / "generated_module.py")
    spec = importlib.util.spec_from_file_location("generated_module", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if trial.subject.given:
        # A module that was allowed for an undecided layout checks no shape, and says what it is.
        if not module.VALIDATED.startswith("unproved: "):
            raise Loss(f"generate: VALIDATED of an undecided layout is {module.VALIDATED!r}")
        if trial.meant is None or trial.meant.fault:
            return
    if trial.bits:
        words = module.pack_words(trial.tensor)
        in_words(trial, words, np.dtype("u1"), "generate --storage u8")
        trial.back(module.unpack_words(words, trial.shape), "generate unpack_words")
    else:
        through_module(trial, module, "generate")


def in_words(trial: Trial, found: Any, dtype: np.dtype[Any], what: str) -> None:
    """Compare a buffer of words with the bits that are meant, byte by byte."""
    trial.produced(what)
    flat, known = trial.buffer
    element = trial.layout.tensor_element
    assert element is not None
    width = 1 if trial.bits else element.bits
    bits, mask = bits_of(flat, width).reshape(-1), np.repeat(known, width)
    if found.dtype != dtype or found.nbytes * 8 != bits.size:
        raise Loss(
            f"{what} is {found.dtype} of {found.nbytes} bytes, and means {dtype}, {bits.size} bits"
        )
    held = np.unpackbits(np.ascontiguousarray(found).reshape(-1).view(np.uint8), bitorder="little")
    differ = (held != bits) & mask
    if differ.any():
        raise Loss(
            f"{what}: {int(differ.sum())} bits differ, the first is bit {int(differ.argmax())}"
        )
    trial.compared += 1


def words_door(trial: Trial) -> None:
    storage = trial.random.choice(("bytes", "u8", "u16", "i32", "u32", "u64"))
    target = "numpy"
    module = layoutdsl.compile(trial.layout, target, storage=storage, **trial.subject.given)
    found = module.pack(trial.tensor, **trial.filling)
    name = {"bytes": "u1"}.get(
        storage, f"<{storage[0]}{int(storage[1:] or 8) // 8}" if storage != "bytes" else ""
    )
    in_words(trial, found, np.dtype(name), f"words {storage}")
    if tuple(module.physical_shape(trial.shape)) != found.shape:
        raise Loss(f"words {storage}: physical_shape differs from what pack returns")
    trial.back(module.unpack(found, trial.shape), f"words {storage} unpack")


def convert_door(trial: Trial) -> None:
    """Convert a buffer of the layout, its padding noise, into one of its companion."""
    target = trial.companion
    if target is None:
        return
    given = trial.subject.given or target.given
    moves = layoutdsl.convert(trial.layout, target.layout, compiled="numpy", **given)
    values = {**trial.values}
    pairs = zip(trial.layout.tensor_axes, trial.shape, strict=True)
    sizes = {axis.extent.name: n for axis, n in pairs if hasattr(axis.extent, "name")}
    values = {name: {**values, **sizes}[name] for name in target.reading.symbols}
    meant = meaning(target.reading, values) if target.defined(values) else None
    if meant is not None and meant.size > MOST_SLOTS:
        return  # Seed 7, number 2495: the companion's padding alone took 16 GiB.
    wrong = trial.meant is None or trial.meant.fault or meant is None or meant.fault
    shape = (*trial.shape,)
    source = trial.dirty() if trial.meant is not None and not trial.meant.fault else None
    if source is None:
        size = trial.layout.physical_shape(trial.subject.reading.shape(trial.values))
        source = np.zeros(size, trial.dtype)
    found = moves(source, shape)
    if wrong:
        why = (trial.meant and trial.meant.fault) or (meant and meant.fault) or ""
        verdicts = {target.verdict if meant is None or meant.fault else trial.subject.verdict}
        verdict = "undecided" if why and verdicts == {"undecided"} else "undefined"
        raise Moved(f"convert moves data, though {why or 'the shape is not defined'}", verdict)
    assert meant is not None
    # By name where both have the same names: `M` has the axes of `L` in their order.
    tensor, known = trial.unpacked
    other = Trial(target, values, meant, trial.random, trial.folder)
    other.tensor, other.fill, other.dtype = tensor, None, tensor.dtype
    flat, mask = other.filled(other.spread(tensor), None)
    if not known.all():
        return
    trial.same(found, flat.reshape(meant.physical), mask, "convert")


def record_door(trial: Trial) -> None:
    """Pack a record that has a field laid out as the layout is, and take its fields out again."""
    record = trial.record
    if record is None:
        return
    values = {name: trial.values[name] for name in record.frame.symbols if name in trial.values}
    if record.size_bits(values) > 8 * MOST_SLOTS:
        return  # Seed 7, number 5080: a second field laid out like the first took 26 GiB.
    verdict = layoutdsl.prove(record).status
    given = {"unproved": True} if UNPROVED and verdict == "undecided" else {}
    module = layoutdsl.compile(record, "numpy", **given)
    shapes = record.field_shapes(values)
    noise = np.random.default_rng(trial.random.randrange(2**32))
    tensors, codes = dict[str, Array](), dict[str, Array]()
    for each in record.fields:
        kind, width = each.element.item
        count = prod(shapes[each.name])
        codes[each.name] = noise.integers(0, 1 << each.element.bits, count, dtype=np.uint64)
        signed = codes[each.name].astype(f"u{width}")
        if kind == "i" and each.element.bits < 8 * width:
            raise AssertionError("fields of narrow signed numbers are not drawn")
        tensors[each.name] = signed.view(f"{kind}{width}").reshape(shapes[each.name])
    found = module.pack(**tensors, shape=values)
    size = record.size_bits(values)
    bits, taken = np.zeros(size, np.uint8), np.zeros(size, bool)
    numbers = {each.name: shapes[each.name] for each in record.fields}
    seen = 0
    for _, held, address in record.every_bit(record.bind(values)):
        if not 0 <= address < size or taken[address]:
            raise Moved(
                f"record {verdict} moves data, though bit {address} is taken or outside", verdict
            )
        at = int(np.ravel_multi_index(held.index, numbers[held.field])) if held.index else 0
        taken[address], seen = True, seen + 1
        bits[address] = int(codes[held.field][at]) >> held.bit & 1
    if seen != record.elements_bits(record.bind(values)):
        raise Moved(f"record {verdict} moves data, though bits are left out", verdict)
    wanted = np.packbits(bits, bitorder="little")
    if size % 8 or found.dtype != np.uint8 or found.nbytes * 8 != size:
        raise Loss(f"record: {found.nbytes} bytes, and means {size} bits")
    known = np.repeat(True, wanted.size) if isinstance(record.fill, FillValue) else None
    if known is not None and not np.array_equal(found.reshape(-1), wanted):
        at = int((found.reshape(-1) != wanted).argmax())
        raise Loss(f"record: byte {at} is {found.reshape(-1)[at]}, and means {wanted[at]}")
    fields = module.unpack(found, values)
    for name, tensor in tensors.items():
        one = getattr(fields, name)
        if (
            one.dtype != tensor.dtype
            or one.shape != tensor.shape
            or one.tobytes() != tensor.tobytes()
        ):
            raise Loss(f"record: field {name} does not come back")
    trial.compared += 1


def dask_door(trial: Trial) -> None:
    import dask
    import dask.array as da

    import layoutdsl.dask as ld

    def cut(extent: int) -> Shape:
        step = trial.random.choice((1, 2, 3, 4, 7, 8, 16, 64, extent or 1))
        step = max(step, -(-extent // 6))
        return tuple(min(step, extent - k) for k in range(0, extent, step)) or (0,)

    with dask.config.set(scheduler="synchronous"):
        tensor = np.ascontiguousarray(trial.tensor)
        array = da.from_array(tensor, chunks=tuple(map(cut, tensor.shape)))
        found = ld.pack(array, trial.layout, **trial.filling, **trial.subject.given)
        packed = found.compute()
        trial.packed(packed, "dask pack")
        if found.dtype != packed.dtype or found.shape != packed.shape:
            raise Loss(f"dask pack declares {found.dtype} {found.shape}")
        dirty = trial.dirty()
        array = da.from_array(dirty, chunks=tuple(map(cut, dirty.shape)))
        back = ld.unpack(array, trial.layout, trial.shape, **trial.subject.given).compute()
        trial.back(back, "dask unpack")


def pieces_door(trial: Trial) -> None:
    memory = trial.random.choice((64, 500, 4000, 10**6, 10**8))
    width = trial.dtype.itemsize
    found = layoutdsl.pieces_of(
        trial.layout, trial.shape, memory, itemsize=width, **trial.subject.given
    )
    module = layoutdsl.compile(trial.layout, "numpy", **trial.subject.given)
    flat = np.zeros(prod(module.physical_shape(trial.shape)), trial.dtype)
    written = np.zeros(flat.size, int)
    for piece in trial.random.sample(found, len(found)):
        packed = module.pack(trial.tensor[piece.box], **trial.filling).reshape(-1)
        flat[piece.stretch] = packed[-piece.slots :] if piece.slots else packed[:0]
        written[piece.stretch] += 1
    trial.produced("pieces")
    assert trial.meant is not None
    if (written != 1).any():
        raise Loss("pieces do not cover the buffer once")
    trial.packed(flat.reshape(trial.meant.physical), "pieces")


def file_door(trial: Trial) -> None:
    source, packed, back = (trial.folder / each for each in ("in.npy", "packed.npy", "back.npy"))
    for each in (packed, back):
        each.unlink(missing_ok=True)
    np.save(source, trial.tensor)
    words = trial.layout.tensor_element is not None and (trial.bits or trial.random.random() < 0.3)
    given: dict[str, Any] = {"mem": trial.random.choice((2000, 20_000, 1 << 20, 1 << 28))}
    given |= {"jobs": trial.random.choice((1, 1, 2)), "target": "numpy"}
    given |= {"storage": trial.random.choice(("bytes", "u16", "u32"))} if words else {}
    given |= trial.subject.given
    try:
        layoutdsl.pack_file(trial.layout, source, packed, **trial.filling, **given)
    except Exception:
        if packed.exists():
            raise Loss("pack_file fails, and leaves a result") from None
        raise
    found = np.load(packed)
    if words:
        name = {"bytes": "u1", "u16": "<u2", "u32": "<u4"}[given["storage"]]
        in_words(trial, found, np.dtype(name), f"pack_file {given['storage']}")
    else:
        trial.packed(found, "pack_file")
    layoutdsl.unpack_file(trial.layout, packed, back, trial.shape, **given)
    trial.back(np.load(back), "unpack_file")


class Refusal(Exception):  # noqa: N818  an answer of the shell, not an error of ours
    """The shell refused, with a message."""


def shell(*arguments: str) -> None:
    """Run a command line in this process.

    Raises:
        Refusal: it ends with 1 for a refuted layout, with 2, 3 or 4, and says why.
        Loss: it ends otherwise, or in silence.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in "oe")
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = run_shell(arguments)
    finally:
        sys.stdout, sys.stderr = kept
    out.flush()
    err.flush()
    said = err.buffer.getvalue().decode()  # type: ignore[attr-defined]
    if code == 0:
        return
    if code not in (1, 2, 3, 4) or not said.strip() or "Traceback" in said:
        raise Loss(f"`{' '.join(arguments)}` ends with {code}: {said.strip()[-300:]}")
    raise Refusal(f"exit {code}: {said.strip().splitlines()[0]}")


def shell_door(trial: Trial) -> None:
    """`layoutdsl pack` and `unpack`, at once or in pieces, in items or in words."""
    spec = trial.folder / "spec.layout"
    spec.write_text(trial.subject.text)
    about = f"{spec}:{trial.subject.name}"
    source, packed, back = (trial.folder / each for each in ("in.npy", "packed.npy", "back.npy"))
    for each in (packed, back):
        each.unlink(missing_ok=True)
    np.save(source, trial.tensor)
    more = ["--target", "numpy", *(["--unproved"] if trial.subject.given else [])]
    word = ""
    if trial.layout.tensor_element is not None and (trial.bits or trial.random.random() < 0.3):
        word = trial.random.choice(("u8", "u16", "i32", "u64"))
        more += ["--word", word]
    if trial.random.random() < 0.4:
        more += ["--mem", trial.random.choice(("2k", "64K", "1M"))]
    filling = [] if trial.fill is None else ["--fill", str(trial.fill)]
    try:
        shell("pack", about, str(source), str(packed), *more, *filling)
    except Refusal:
        if packed.exists():
            raise Loss("`pack` is refused, and leaves a result") from None
        raise
    found = np.load(packed)
    if word:
        in_words(
            trial, found, np.dtype(f"<{word[0]}{int(word[1:]) // 8}"), f"shell pack --word {word}"
        )
    else:
        trial.packed(found, "shell pack")
    values = ",".join(f"{name}={trial.values[name]}" for name in trial.layout.symbols)
    shape = values or ",".join(map(str, trial.shape))
    check = ["--check"] if trial.layout.copies and trial.random.random() < 0.5 else []
    check = [] if "--mem" in more else check
    shell("unpack", about, str(packed), str(back), "--shape", shape, *more, *check)
    trial.back(np.load(back), "shell unpack")


def weights_door(trial: Trial) -> None:
    """A file of one tensor, packed by a rule, verified, and unpacked."""
    form = trial.random.choice(("npz", "npz", "npz"))
    source, packed, back = (trial.folder / f"{each}.{form}" for each in ("w", "wp", "wb"))
    for each in (packed, back):
        each.unlink(missing_ok=True)
    rules = layoutdsl.parse(f'{trial.subject.text}\ntensor "w" = {trial.subject.name}\n')
    np.savez(source, w=np.ascontiguousarray(trial.tensor))
    given = trial.subject.given
    try:
        layoutdsl.pack_weights(source, packed, rules, target="numpy", **given)
    except Exception:
        if packed.exists():
            raise Loss("pack_weights fails, and leaves a result") from None
        raise
    trial.produced("pack_weights")
    assert trial.meant is not None
    with np.load(packed) as archive:
        found = archive["w"]
    keep, trial.fill = trial.fill, None
    trial.__dict__.pop("buffer", None)
    if trial.bits:
        in_words(trial, found, np.dtype("u1"), "pack_weights")
    else:
        trial.packed(found, "pack_weights")
    trial.fill = keep
    trial.__dict__.pop("buffer", None)
    fault = layoutdsl.verify_weights(packed, source)
    if fault.fault is not None:
        raise Loss(f"verify_weights finds a fault in a right file: {fault.fault}")
    layoutdsl.unpack_weights(packed, back, target="numpy", **given)
    with np.load(back) as archive:
        trial.same(archive["w"], np.ascontiguousarray(trial.tensor), None, "unpack_weights")


def tensor_door(trial: Trial) -> None:
    """`Tensor.pack`, its buffer, single elements, and all of them."""
    if trial.fill is not None and not isinstance(trial.layout.fill, FillZeroPoint):
        trial.fill = None
    tensor = layoutdsl.Tensor.pack(
        trial.layout, trial.tensor, **trial.filling, **trial.subject.given
    )
    trial.packed(tensor.buffer, "Tensor.pack")
    trial.back(tensor.numpy(), "Tensor.numpy")
    for index, _ in spots(trial):
        one, two = np.asarray(tensor[index]), np.asarray(trial.tensor[index])
        if one.tobytes() != two.tobytes():
            raise Loss(f"Tensor[{index}] is {one}, and means {two}")


Door = Callable[[Trial], None]

DOORS: Mapping[str, Door] = {
    "numpy": numpy_door,
    "native": native_door,
    "generate": generate_door,
    "words": words_door,
    "convert": convert_door,
    "record": record_door,
    "dask": dask_door,
    "pieces": pieces_door,
    "file": file_door,
    "shell": shell_door,
    "weights": weights_door,
    "tensor": tensor_door,
}


def fits(door: str, trial: Trial) -> bool:
    """Whether a door is there for what was drawn."""
    match door:
        case "words":
            return trial.layout.tensor_element is not None
        case "convert":
            return trial.companion is not None
        case "dask":
            return importlib.util.find_spec("dask") is not None
        case "record":
            return trial.record is not None and prod(trial.shape) <= 2000
        case "tensor" | "pieces":
            return not trial.bits
    return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No warning is printed: that elements are moved one by one is no finding."""
    import warnings

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
