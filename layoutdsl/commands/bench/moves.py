"""One thing that is measured: a tensor packed, unpacked or converted, with its buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from layoutdsl.commands.bench.buffers import Guarded, guarded
from layoutdsl.commands.bench.meaning import Array, distinct, first_difference, offsets
from layoutdsl.commands.bench.sides import Side, side, tensor_side
from layoutdsl.language.meaning.elements import FillAny, FillValue, FillZeroPoint
from layoutdsl.language.meaning.model import Layout

Verb = Literal["pack", "unpack", "convert"]

LINE = 64
"""Bytes of a cache line."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be measured, without its buffers.

    Attributes:
        title: of the case, in few words.
        source: the layout that is read; ``None`` for the tensor itself.
        target: the layout that is written; ``None`` for the tensor itself.
        shape: extents of the tensor.
        dtype: of its elements, as numpy calls it.
        seed: of a case that was drawn.
    """

    title: str
    source: Layout | None
    target: Layout | None
    shape: tuple[int, ...]
    dtype: str
    seed: int | None = None

    @property
    def name(self) -> str:
        """The title, and the seed by which a drawn case is found again."""
        return self.title if self.seed is None else f"{self.title} #{self.seed}"

    @property
    def verb(self) -> Verb:
        """Which way elements go."""
        if self.source is None:
            return "pack"
        return "unpack" if self.target is None else "convert"

    @property
    def bytes(self) -> int:
        """Bytes of the tensor."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def memory(self) -> int:
        """Bytes that measuring takes, about: buffers, what is expected, and offsets."""
        slots = [prod(self.shape)]
        slots += [each.size(self.shape) for each in (self.source, self.target) if each is not None]
        item = np.dtype(self.dtype).itemsize
        return 3 * item * sum(slots) + 16 * prod(self.shape)

    def __str__(self) -> str:
        extents = "x".join(map(str, self.shape))
        return f"{self.name} {self.dtype} {extents} {self.verb}"


@dataclass(frozen=True, slots=True)
class Move:
    """A task with its buffers.

    Attributes:
        task: what is moved.
        read: what every candidate reads.
        write: what candidates write that can write where they are told.
        expected: what has to be written.
        compared: the slots for which that is so; all, if left out.
        touched: bytes of the cache lines of `read` that hold elements.
        fill: the number that padding is filled with.
        source: `read` as digits, or why it cannot be said so.
        target: `write` in the same way.
        given: what `read` held at first.
    """

    task: Task
    read: Guarded
    write: Guarded
    expected: Array
    compared: NDArray[np.bool_] | None
    touched: int
    fill: float
    source: Side | str
    target: Side | str
    given: Array = field(repr=False)

    @property
    def sides(self) -> tuple[Side, Side] | str:
        """Both buffers as digits, or why one cannot be said so."""
        for each in (self.source, self.target):
            if isinstance(each, str):
                return each
        assert isinstance(self.source, Side)
        assert isinstance(self.target, Side)
        return self.source, self.target

    def fault(self, result: Array | None) -> str | None:
        """Return what is wrong after a candidate has run once, in poisoned buffers; else ``None``.

        Args:
            result: what it returned, where it does not write into `write`.
        """
        if result is not None and np.shares_memory(result, self.read.array):
            return "the result is a view of the source: nothing was moved"
        if not (self.read.intact and self.write.intact):
            return "bytes outside of the buffers were written"
        if first_difference(self.read.array, self.given, None) is not None:
            return "the source was written"
        got = self.write.array if result is None else np.ascontiguousarray(result)
        return first_difference(got, self.expected, self.compared)

    def mend(self) -> None:
        """Put back what a candidate has spoilt, so that the next is not blamed for it."""
        self.read.mend()
        self.write.mend()
        np.copyto(self.read.array, self.given)


def moves_of(tasks: list[Task]) -> Iterator[Move]:
    """Yield each task with buffers; those that follow each other share what they need of it."""
    known: tuple[object, _Tensor] | None = None
    for task in tasks:
        key = task.shape, task.dtype
        if known is None or known[0] != key:
            known = key, _Tensor(distinct(*key))
        yield known[1].move(task)


@dataclass(slots=True)
class _Tensor:
    """A tensor, and where its elements lie by the layout that was last asked for."""

    array: Array
    _offsets: dict[Layout, NDArray[np.int64]] = field(default_factory=dict)

    def move(self, task: Task) -> Move:
        """Return the task with buffers."""
        source, target = (
            None if each is None else _with_fill(each) for each in (task.source, task.target)
        )
        read, touched = self._source(source)
        write, expected, compared = self._expectation(target, self._missing(source))
        given = read.array.copy()
        shape = self.array.shape
        fill = None if target is None else _fill(target)
        one, other = (
            tensor_side(shape) if each is None else side(each, shape) for each in (source, target)
        )
        filled = replace(task, source=source, target=target)
        return Move(filled, read, write, expected, compared, touched, fill or 0, one, other, given)

    def _places(self, layout: Layout) -> NDArray[np.int64]:
        if layout not in self._offsets:
            if len(self._offsets) >= 2:
                self._offsets.clear()
            self._offsets[layout] = offsets(layout, self.array.shape)
        return self._offsets[layout]

    def _missing(self, source: Layout | None) -> NDArray[np.bool_] | None:
        """The elements that a source does not hold."""
        if source is None or not source.domain:
            return None
        return self._places(source) < 0

    def _source(self, layout: Layout | None) -> tuple[Guarded, int]:
        """The buffer that is read: poison in its padding."""
        shape, dtype = self.array.shape, self.array.dtype
        if layout is None:
            read = guarded(shape, dtype)
            read.array[...] = self.array
            return read, self.array.nbytes
        read = guarded(layout.physical_shape(shape), dtype)
        places = self._places(layout)
        held = slice(None) if not layout.domain else places >= 0
        read.array.reshape(-1)[places[held]] = self.array[held]
        lines = np.zeros(-(-read.array.nbytes // LINE), dtype=np.bool_)
        lines[places[held] * dtype.itemsize // LINE] = True
        return read, LINE * int(lines.sum())

    def _expectation(
        self, layout: Layout | None, missing: NDArray[np.bool_] | None
    ) -> tuple[Guarded, Array, NDArray[np.bool_] | None]:
        """The buffer that is written, what it has to hold, and which slots that is said of."""
        shape, dtype = self.array.shape, self.array.dtype
        if layout is None:
            return guarded(shape, dtype), self.array, None if missing is None else ~missing
        write = guarded(layout.physical_shape(shape), dtype)
        fill = _fill(layout)
        expected = np.full(write.array.shape, fill or 0, dtype)
        places = self._places(layout)
        held = places >= 0 if missing is None else (places >= 0) & ~missing
        flat = expected.reshape(-1)
        flat[places[held]] = self.array[held]
        start = layout.size(shape) - prod(layout.box(shape))
        if fill is not None and missing is None and start == 0:
            return write, expected, None
        compared = np.zeros(expected.size, dtype=np.bool_)
        compared[start:] = fill is not None
        compared[places[places >= 0]] = False
        compared[places[held]] = True
        return write, expected, compared


def _fill(layout: Layout) -> float | None:
    """The number that padding has to hold; ``None`` where any will do."""
    match layout.fill:
        case FillValue(value):
            return value
        case FillAny():
            return None
        case FillZeroPoint():
            return 0


def _with_fill(layout: Layout) -> Layout:
    """Where the caller gives the fill, it is 0; elements are of whatever type was asked for."""
    layout = replace(layout, element=None, interface=None)
    if isinstance(layout.fill, FillZeroPoint):
        return replace(layout, fill=FillValue(0))
    return layout
