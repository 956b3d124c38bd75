"""How C is called from Python: two arrays and a job, in this thread or in several.

A *job* is what else a call needs, as an array of integers: the bytes of the source and of the
target, the first piece of work and where to stop, the fill, and the shape. It is made once per
shape. C compares the places of the arrays itself, which is sooner done there.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from math import prod
from sys import byteorder
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdsl.code.native.again import Again, again, method, never
from layoutdsl.code.native.threads import MOST_THREADS, shared

Array = NDArray[Any]
Lead = tuple[int, Array]
"""How many slots before the first of the layout a new buffer has, and what they hold."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A call but for its arrays.

    Attributes:
        called: the function.
        job: what else it takes.
        result: the shape of the target.
        dtype: of both.
        lead: for a new buffer.
        again: moves arrays that are like these in one step.
    """

    called: Any
    job: Any
    result: tuple[int, ...]
    dtype: np.dtype[Any]
    lead: Lead | None
    again: Again


OUTSIDE = "the layout leaves its buffer at this shape"
OVERLAPS = "`out` overlaps `src`"
TOO_LARGE = 3
"""What C returns where it might leave 64 bits, and does nothing."""
PAST = 8 << 20
"""Bytes from which on results are written past the cache: `STREAM_BYTES` of `kernels.c`."""
LINE = 64
"""Bytes of a line of the cache."""

SHARES = 4
"""Parts of a job for each thread: one that is held up does fewer of them."""
SHARE_BYTES = 1 << 22
"""Read or written in a part, at least: less is done sooner than handed over."""
_SHAPE = 5
"""Where in a job the shape starts."""


def entry_text(name: str, mark: str) -> list[str]:
    """Return the C function that Python calls.

    Args:
        name: of the function that moves everything; it has parts.
        mark: of the library, which its name carries: another library has no such function.
    """
    return [
        "",
        "/* job: bytes of src, bytes of dst, first, past, fill, and the shape. */",
        f"int {name}_job_{mark}(const void *src, void *dst, const int64_t *job);",
        f"int {name}_job_{mark}(const void *src, void *dst, const int64_t *job)",
        "{",
        "    const uintptr_t p = (uintptr_t)src, q = (uintptr_t)dst;",
        "    if (p < q + (uintptr_t)job[1] && q < p + (uintptr_t)job[0]) return 2;",
        f"    return {name}_part(src, dst, job + {_SHAPE}, job + 4, job[2], job[3]);",
        "}",
    ]


@dataclass(frozen=True, slots=True)
class Function:
    """A compiled function.

    Attributes:
        job: it.
        units: says how many pieces of work it has.
        method: where the library describes what `again` is made of; ``None`` without it.
    """

    job: Any
    units: Any
    method: int | None = None


def function(library: ctypes.CDLL, name: str, mark: str) -> Function:
    """Return a function of a library that has `entry_text` and `again_text` in it.

    Raises:
        OSError: it is another library.
    """
    job = symbol(library, f"{name}_job_{mark}", "int (*)(const void *, void *, const int64_t *)")
    units = symbol(library, f"{name}_units", "int64_t (*)(const int64_t *)")
    return Function(job, units, method(library, mark))


def symbol(library: ctypes.CDLL, name: str, form: str) -> Any:
    """Return a function of a library, as one of a type.

    Raises:
        OSError: there is none of that name.
    """
    try:
        found = library[name]
    except AttributeError as error:
        raise OSError(str(error)) from None
    return foreign().cast(form, ctypes.cast(found, ctypes.c_void_p).value)


@cache
def foreign() -> Any:
    """The half of `cffi` that needs no parser in Python, which takes long to load."""
    from _cffi_backend import FFI

    return FFI()


def ready(
    called: Function,
    extents: tuple[int, ...],
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    dtype: np.dtype[Any],
    fill: bytes = b"",
    lead: Lead | None = None,
    *,
    asked: bool = False,
) -> Ready:
    """Return a call but for its arrays.

    Args:
        called: what moves.
        extents: of the tensor.
        shapes: of the source and of the target.
        dtype: of both.
        fill: one element; zero without it.
        lead: for a new buffer.
        asked: whether calls say the extents too.
    """
    ffi, width = foreign(), dtype.itemsize
    word = int.from_bytes(fill.ljust(8, b"\0"), byteorder, signed=True)
    sizes = prod(shapes[0]) * width, prod(shapes[1]) * width
    job = ffi.new("int64_t[]", [*sizes, 0, 0, word, *extents])
    job[3] = called.units(job + _SHAPE)
    found = never
    if called.method is not None:
        move = int(ffi.cast("intptr_t", called.job))
        expected = (*shapes, extents if asked else None)
        found = again(called.method, move, dtype, expected, list(job))
    return Ready(called.job, job, shapes[1], dtype, lead, found)


def fresh(prepared: Ready) -> Array:
    """Return a new array for the result of a call.

    One that is written past the cache starts with a line of it: what numpy returns for so many
    bytes starts 16 behind one, and no store there may go past the cache.
    """
    size = prepared.job[1]
    if size < PAST:
        array: Array = np.empty(prepared.result, prepared.dtype)
    else:
        memory = np.empty(size + LINE, np.uint8)
        start = -memory.ctypes.data % LINE
        array = memory[start : start + size].view(prepared.dtype).reshape(prepared.result)
    if prepared.lead is not None:
        array.reshape(-1)[: prepared.lead[0]] = prepared.lead[1]
    return array


def moved(prepared: Ready, src: object, out: object, threads: int) -> Array | None:
    """Return the result; ``None`` where C cannot take these arrays, and nothing was written.

    Raises:
        ValueError: the arrays overlap, or an offset leaves the buffer.
    """
    called, job = prepared.called, prepared.job
    target = fresh(prepared) if out is None else out
    if not isinstance(src, np.ndarray) or not isinstance(target, np.ndarray):
        return None
    if target.shape != prepared.result or target.dtype != prepared.dtype:
        return None
    try:
        read, write = _memory(src), _memory(target, True)
    except (ValueError, BufferError):  # not contiguous, or read-only
        return None
    parts = min(job[3], SHARES * threads, (job[0] + job[1]) // SHARE_BYTES)
    if threads == 1 or parts < 2:
        failed = called(read, write, job)
    else:
        shares = _shares(job, parts)
        failed = shared(lambda part: called(read, write, part), shares, min(threads, parts))
    if failed == TOO_LARGE:
        return None
    if failed:
        raise ValueError(OVERLAPS if failed == 2 else OUTSIDE)
    return target


def _memory(array: Array, writes: bool = False) -> Any:
    """Where the items of an array lie; ValueError or BufferError where they lie apart."""
    ffi = foreign()
    return ffi.from_buffer(ffi.typeof("char[]"), array, writes)


def _shares(job: Any, parts: int) -> list[Any]:
    """The job, cut into parts of about the same work."""
    ends = [job[3] * part // parts for part in range(parts + 1)]
    shares = [foreign().new("int64_t[]", list(job)) for _ in range(parts)]
    for part, share in enumerate(shares):
        share[2], share[3] = ends[part], ends[part + 1]
    return shares


def checked_threads(threads: object) -> int:
    """Return how many threads may work; TypeError or ValueError where that is no such number."""
    if type(threads) is not int:
        raise TypeError(f"`threads` is a {type(threads).__name__}, not an int")
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"`threads` is {threads}, not 1 to {MOST_THREADS}")
    return threads
