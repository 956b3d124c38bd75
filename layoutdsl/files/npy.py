"""`.npy` files: what their headers say, and the arrays behind them; the one reader of the house.

A header is a literal of Python. It is cut into words first, so that nothing but strings, numbers,
`True`, `False`, tuples, lists and one dictionary is ever handed on, never deeper than `DEEPEST`.
Nothing in a file is run, and no memory is taken for what a file claims and does not hold.

Source: numpy, "NPY format" (numpy.lib.format), versions 1.0, 2.0 and 3.0.
"""

from __future__ import annotations

import ast
import mmap
import os
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as formats
from numpy.typing import NDArray

Array = NDArray[Any]

MAGIC = b"\x93NUMPY"
VERSIONS = {(1, 0): (2, "latin-1"), (2, 0): (4, "latin-1"), (3, 0): (4, "utf-8")}
"""The bytes of the length of a header, and its encoding."""

LONGEST = 10_000
"""Bytes of a header: numpy takes as many without being asked twice."""

DEEPEST = 16
"""Brackets inside each other; a type of fields within fields has a few."""

MOST_AXES = 32
"""Axes of an array, in every version of numpy."""

MOST_BYTES = 2**63 - 1
ALIGNED = 64
GROWTH = 21
"""Characters that numpy leaves for an extent to grow into."""

PLAIN = "biufcSUVmM"
"""Kinds of items that are plain bytes."""

EIGHT_BITS = "<f1"
"""How numpy saves float8_e5m2 of ml_dtypes, which it then does not read: the others are V1."""

CHUNK = 1 << 20
KEYS = {"descr", "fortran_order", "shape"}

_WORD = re.compile(
    r"""[\s,:]+ | (?P<open>[({\[]) | (?P<close>[)}\]]) | True\b | False\b
    | (?P<number>[0-9]{1,20}) L?\b
    | '(?: [^'\\\0\n\r] | \\[\\'"nrt] | \\x[0-9a-f]{2} | \\u[0-9a-f]{4} | \\U[0-9a-f]{8} )*'
    | "(?: [^"\\\0\n\r] | \\[\\'"nrt] | \\x[0-9a-f]{2} | \\u[0-9a-f]{4} | \\U[0-9a-f]{8} )*"
    """,
    re.VERBOSE,
)


class UnreadableError(ValueError):
    """The input is not what it has to be; ``fact`` says why, as in "is cut short"."""

    def __init__(self, fact: str) -> None:
        super().__init__(f"it {fact}")
        self.fact = fact


@dataclass(frozen=True, slots=True)
class Header:
    """What a `.npy` file says of its array.

    Attributes:
        dtype: of the items, which are plain bytes.
        shape: the extents.
        fortran: whether the last axis is the most major one.
        data: the byte where the items start.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    data: int

    @property
    def end(self) -> int:
        """The bytes up to the last item."""
        return self.data + prod(self.shape) * self.dtype.itemsize

    def shaped(self, items: Array) -> Array:
        """Return a run of items as the array that they are."""
        if self.fortran:
            return items.reshape(self.shape[::-1]).transpose()
        return items.reshape(self.shape)


def read_header(handle: int) -> Header:
    """Return what an open file says of its array; its items are not looked at.

    Raises:
        UnreadableError: it is no array of plain bytes, or the file is not as long as it says.
        OSError: it cannot be read.
    """
    return read_header_within(handle, 0, os.fstat(handle).st_size)


def read_header_within(handle: int, start: int, size: int) -> Header:
    """Return what a stretch of an open file says of its array, as `read_header` does.

    Args:
        handle: of the file.
        start: the byte where the stretch begins.
        size: the bytes of it.

    Raises:
        UnreadableError: it is no array of plain bytes, or not as long as it says.
        OSError: it cannot be read.
    """
    place = 0

    def more(count: int) -> bytes:
        nonlocal place
        found = os.pread(handle, min(count, max(size - place, 0)), start + place)
        place += len(found)
        return found

    found = _header(more)
    if size < found.end:
        raise UnreadableError(f"is cut short: {size} bytes of {found.end}")
    if size > found.end:
        raise UnreadableError(f"goes on behind its array: {size} bytes, and not {found.end}")
    return replace(found, data=start + found.data)


def mapped(handle: int, found: Header) -> Array:
    """Return the array of an open file as a map of it, which is not copied.

    Raises:
        UnreadableError: the file has become shorter.
        OSError: it cannot be mapped.
    """
    if found.end == found.data:
        return found.shaped(np.empty(0, found.dtype))
    try:
        memory = mmap.mmap(handle, found.end, access=mmap.ACCESS_READ)
    except ValueError:
        raise UnreadableError("was cut short while it was read") from None
    return found.shaped(np.frombuffer(memory, found.dtype, offset=found.data))


def read_stream(stream: BinaryIO) -> Array:
    """Return the array that a stream holds; memory grows with what comes.

    Raises:
        UnreadableError: it is no array of plain bytes, or it ends too soon or too late.
        OSError: it cannot be read.
    """
    found = _header(lambda count: _upto(stream, count))
    wanted, data = found.end - found.data, bytearray()
    while len(data) < wanted and (more := stream.read(min(CHUNK, wanted - len(data)))):
        data += more
    if len(data) < wanted:
        raise UnreadableError(f"is cut short: {found.data + len(data)} bytes of {found.end}")
    if stream.read(1):
        raise UnreadableError(f"goes on behind its array, which has {found.end} bytes")
    return found.shaped(np.frombuffer(data, found.dtype))


def _upto(stream: BinaryIO, count: int) -> bytes:
    """Bytes of a stream, fewer only where it ends."""
    found = b""
    while len(found) < count and (more := stream.read(count - len(found))):
        found += more
    return found


def _header(read: Callable[[int], bytes]) -> Header:
    start = read(len(MAGIC) + 2)
    if not start.startswith(MAGIC):
        raise _no_array("it is cut short" if start and MAGIC.startswith(start) else "")
    if len(start) < len(MAGIC) + 2:
        raise _no_array("it is cut short")
    major, minor = start[-2:]
    if (major, minor) not in VERSIONS:
        raise _no_array(f"it is of version {major}.{minor}, and 1.0, 2.0 and 3.0 are known")
    width, encoding = VERSIONS[major, minor]
    length = int.from_bytes(said := read(width), "little")
    if length > LONGEST:
        raise _no_array(f"its header has {length} bytes, and {LONGEST} are the most")
    text = read(length)
    if len(said) < width or len(text) < length:
        raise _no_array("it is cut short")
    dtype, shape, fortran = _said(text, encoding)
    return Header(dtype, shape, fortran, len(start) + width + length)


def _no_array(words: str) -> UnreadableError:
    why = words or "it does not start as one"
    return UnreadableError(f"is no .npy array that can be read: {why}")


def _said(data: bytes, encoding: str) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """What a header says, where all of it makes sense."""
    found = _literal(data, encoding)
    if not isinstance(found, dict) or found.keys() != KEYS:
        raise _no_array("its header does not say `descr`, `fortran_order` and `shape`")
    shape, fortran = found["shape"], found["fortran_order"]
    if type(shape) is not tuple or not all(type(each) is int for each in shape):
        raise _no_array("its shape is no row of numbers")
    if type(fortran) is not bool:
        raise _no_array("its `fortran_order` is neither True nor False")
    dtype = _dtype(found["descr"])
    if len(shape) > MOST_AXES:
        raise UnreadableError(f"is of rank {len(shape)}, and {MOST_AXES} axes are the most")
    if prod(each or 1 for each in shape) * dtype.itemsize > MOST_BYTES:
        raise UnreadableError("has a shape of more than 2**63 - 1 bytes")
    return dtype, shape, fortran and len(shape) > 1


def _literal(data: bytes, encoding: str) -> Any:
    """The value that a header spells, if it is made of the few words that headers have."""
    damaged = _no_array("its header is damaged")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise damaged from None
    words, place, depth = list[str](), 0, 0
    while place < len(text):
        word = _WORD.match(text, place)
        if word is None:
            raise damaged
        depth += bool(word["open"]) - bool(word["close"])
        if not 0 <= depth <= DEEPEST:
            raise damaged
        words.append(word["number"] or word[0])  # Python 2 wrote 20L
        place = word.end()
    try:
        return ast.literal_eval("".join(words).strip())
    except (ValueError, SyntaxError, TypeError):  # TypeError: a key that is a list
        raise damaged from None


def _dtype(said: Any) -> np.dtype[Any]:
    """The type of items, which are plain bytes and at least one each."""
    if said == EIGHT_BITS:
        return np.dtype("V1")
    try:
        if not isinstance(said, str | list):  # a type with axes of its own is no type of items
            raise TypeError
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that numpy will not know for ever
            found = formats.descr_to_dtype(cast("Any", said))
    except Exception:  # whatever numpy makes of it: the file is at fault
        raise _no_array(f"its items are of no known type: {str(said)[:60]!r}") from None
    if found.hasobject:
        raise UnreadableError("holds Python objects, which are no plain bytes")
    if found.subdtype is not None or found.kind not in PLAIN or found.itemsize == 0:
        raise UnreadableError(f"holds items of type {str(said)[:60]!r}, which are no plain bytes")
    return found


def header(dtype: np.dtype[Any], shape: tuple[int, ...], *, fortran: bool = False) -> bytes:
    """Return what a `.npy` file starts with, to the byte as numpy writes it."""
    said = {"descr": formats.dtype_to_descr(dtype), "fortran_order": fortran, "shape": shape}
    text = "".join(f"'{key}': {value!r}, " for key, value in said.items())
    grows = f"{shape[-1 if fortran else 0]}" if shape else " " * GROWTH
    text = f"{{{text}}}{' ' * (GROWTH - len(grows))}"
    for version, (width, encoding) in VERSIONS.items():
        try:
            data = text.encode(encoding)
        except UnicodeEncodeError:
            continue
        start = len(MAGIC) + 2 + width
        length = ((start + len(data) + 1) // ALIGNED + 1) * ALIGNED - start
        if length < 256**width:
            head = MAGIC + bytes(version) + length.to_bytes(width, "little")
            return head + data + b" " * (length - len(data) - 1) + b"\n"
    raise AssertionError("a header of 4 GiB")


_CHUNK = 8 << 20
"""Bytes that are written between two times that somebody is told."""


def write(file: BinaryIO, array: Array, told: Callable[[int], None] | None = None) -> None:
    """Write an array of plain bytes, as `numpy.save` does, to any file or stream.

    Args:
        file: is written.
        array: what it holds then.
        told: how many bytes of items have been written, from time to time.

    Raises:
        OSError: it cannot be written.
    """
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    file.write(header(array.dtype, array.shape, fortran=fortran))
    items = np.ascontiguousarray(array.T if fortran else array).reshape(-1)
    data = items.view(np.uint8).data
    if told is None:
        file.write(data)
        return
    for first in range(0, len(data), _CHUNK):
        told(first)
        file.write(data[first : first + _CHUNK])
    told(len(data))
