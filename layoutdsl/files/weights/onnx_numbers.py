"""Items of initialisers that do not lie as such: numbers of a varying width, or in several runs.

They are written out once, to a file without a name that goes when it is closed, so that whatever
moves items finds them side by side.

Source: onnx.proto of 1.23, `TensorProto`: a number for each element of 8 bits or more, for each two
of 4 bits, for each four of 2; the low bytes count. protobuf.dev, "Encoding".
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from layoutdsl.files.npy import Array
from layoutdsl.files.weights.bounds import exactly, rounded, shown, unreadable
from layoutdsl.files.weights.onnx_types import TYPES

_FLOATS, _INTS, _LONGS, _DOUBLES, _UNSIGNED = 4, 5, 7, 10, 11
_VARYING = (_INTS, _LONGS, _UNSIGNED)

FIELDS: Mapping[str, int] = {
    **{word: _INTS for word, each in TYPES.items() if each.bits in (2, 4, 8, 16)},
    "INT32": _INTS,
    "INT64": _LONGS,
    "UINT32": _UNSIGNED,
    "UINT64": _UNSIGNED,
    "FLOAT": _FLOATS,
    "COMPLEX64": _FLOATS,
    "DOUBLE": _DOUBLES,
    "COMPLEX128": _DOUBLES,
}
"""The field of a tensor whose numbers its items are, by its type; 6 bits lie in no whole bytes."""

MOST_RUNS = 256
"""Runs of one initialiser; every program writes one."""

_WINDOW = 1 << 20
_STEP = 64


@dataclass(frozen=True, slots=True)
class Numbers:
    """The items of an initialiser: a field, and the bytes of each of its runs in the model."""

    field: int
    runs: tuple[tuple[int, int], ...]


class WrittenOut:
    """Items of a model, written out."""

    def __init__(self, handle: int, stack: ExitStack) -> None:
        self.handles: tuple[int, ...] = ()
        self._model, self._stack, self._size = handle, stack, 0

    def items(self, name: str, word: str, numbers: Numbers, size: int) -> tuple[int, int]:
        """Return the file where items lie now, and where they start in it.

        Args:
            name: of the initialiser.
            word: its type.
            numbers: where they are.
            size: bytes that its shape and type say.

        Raises:
            UnreadableError: there are more or fewer, or they are no numbers.
            OSError: they cannot be written.
        """
        if not self.handles:
            with tempfile.TemporaryFile() as file:
                self.handles = (os.dup(file.fileno()),)
            self._stack.callback(os.close, self.handles[0])
        (target,), start, found = self.handles, self._size, 0
        for part in self._parts(word, numbers):
            found += part.nbytes
            if found > size:
                break
            _write(target, part.tobytes(), start + found - part.nbytes)
        if found != size:
            count = "more" if found > size else f"{found}"
            words = f"{shown(name)} has {count} bytes of items, and its shape and type say {size}"
            raise unreadable("onnx", words)
        self._size = rounded(start + size, _STEP)
        return target, start

    def _parts(self, word: str, numbers: Numbers) -> Iterator[Array]:
        """Items, some at a time."""
        dtype = (
            np.dtype(f"<u{max(TYPES[word].bits, 8) // 8}") if numbers.field in _VARYING else None
        )
        for start, end in numbers.runs:
            at, left = start, b""
            while at < end:
                window = exactly(self._model, at, min(_WINDOW, end - at))
                at += len(window)
                if dtype is None:
                    yield np.frombuffer(window, np.uint8)
                    continue
                found, left = varints(left + window)
                yield found.astype(dtype)
            if left:
                raise unreadable("onnx", "a number in it does not end")


def varints(data: bytes) -> tuple[Array, bytes]:
    """Return the numbers that bytes begin with, and the bytes of one that does not end there.

    >>> varints(bytes.fromhex("ac0205 80"))
    (array([300,   5], dtype=uint64), b'\\x80')

    Raises:
        UnreadableError: one has more than 64 bits.
    """
    whole = np.frombuffer(data, np.uint8)
    lasts = np.flatnonzero(whole < 0x80)
    count = int(lasts[-1]) + 1 if len(lasts) else 0
    firsts = np.concatenate(([0], lasts[:-1] + 1)) if count else lasts
    places = np.arange(count) - np.repeat(firsts, lasts - firsts + 1)
    if len(data) - count >= 10 or (places > 9).any() or (whole[:count][places == 9] > 1).any():
        raise unreadable("onnx", "a number in it has more than 64 bits")
    parts = (whole[:count] & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    found = np.add.reduceat(parts, firsts) if count else np.empty(0, np.uint64)
    return found, data[count:]


def _write(handle: int, data: bytes, place: int) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(handle, view, place)
        view, place = view[count:], place + count
