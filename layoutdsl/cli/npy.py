"""`.npy` files in and out: read without a copy where possible, written whole or not at all.

Nothing in a file is ever executed: arrays of Python objects are refused.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np

from layoutdsl.cli.exits import Exit, Failure, reading, writing


@dataclass(frozen=True, slots=True)
class _Stream:
    """A pipe as numpy should see it: it may not ask where in the stream it is."""

    file: BinaryIO

    def read(self, count: int) -> bytes:
        """Read up to ``count`` bytes."""
        return self.file.read(count)

    def write(self, data: bytes) -> int:
        """Write all of ``data``."""
        return self.file.write(data)


def read(name: str) -> Any:
    """Return the array of a file, mapped and not copied; ``-`` is the standard input."""
    shown = "the standard input" if name == "-" else f"`{name}`"
    with reading(shown):
        try:
            if name == "-":
                return np.lib.format.read_array(_Stream(sys.stdin.buffer), allow_pickle=False)  # type: ignore[arg-type]
            return _from_file(Path(name))
        except (ValueError, EOFError, SyntaxError, TokenError) as error:
            message = f"{shown} is no .npy array that can be read: {_damage(error)}"
            raise Failure(Exit.INPUT, message) from None


def _damage(error: Exception) -> str:
    """What is wrong with an array, in numpy's words where they are for its readers."""
    words = (str(error).splitlines() or ["it is damaged"])[0].rstrip(".")
    if words.startswith("EOF"):
        return "it is cut short"
    if isinstance(error, (SyntaxError, TokenError)) or "<ast." in words or "malformed" in words:
        return "its header is damaged"
    return f"{words[:1].lower()}{words[1:]}"


def _from_file(path: Path) -> Any:
    if not path.is_file():
        with path.open("rb") as pipe:
            return np.lib.format.read_array(_Stream(pipe), allow_pickle=False)  # type: ignore[arg-type]
    with path.open("rb") as file:
        magic = file.read(6)
        if magic != b"\x93NUMPY":
            raise ValueError("it does not start as one")
        file.seek(0)
        version = np.lib.format.read_magic(file)
        shape, _, dtype = _header(file, version)
        if not dtype.hasobject:
            _refuse_short(path, file.tell() + math.prod(shape) * dtype.itemsize)
        if 0 in shape or dtype.itemsize == 0 or dtype.hasobject:
            file.seek(0)
            return np.lib.format.read_array(file, allow_pickle=False)
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _refuse_short(path: Path, expected: int) -> None:
    size = path.stat().st_size
    if size < expected:
        raise ValueError(f"it is cut short: {size} bytes of {expected}")


def _header(file: BinaryIO, version: tuple[int, int]) -> Any:
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


@contextmanager
def fitting(name: str, option: str = "") -> Iterator[None]:
    """What the generated module refuses, it refuses because of the array, or of an option."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if option and str(error).startswith("`fill` "):
            raise Failure(Exit.USAGE, str(error).replace("`fill`", option, 1)) from None
        raise Failure(Exit.INPUT, f"`{name}` does not fit: {error}") from None


def write(name: str, array: Any) -> None:
    """Write an array to a file, whole or not at all; ``-`` is the standard output."""
    if name == "-":
        sys.stdout.flush()
        np.lib.format.write_array(_Stream(sys.stdout.buffer), array, allow_pickle=False)
        sys.stdout.buffer.flush()
        return
    place = Path(os.path.realpath(name))
    with writing(f"`{name}`"):
        if place.exists() and not place.is_file():
            with place.open("wb") as device:  # a pipe or a device, kept in its place
                np.lib.format.write_array(_Stream(device), array, allow_pickle=False)
            return
        _write_whole(place, array)


def _write_whole(place: Path, array: Any) -> None:
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".tmp")
    try:
        with open(handle, "wb") as file:  # noqa: PTH123  a descriptor
            np.lib.format.write_array(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_permissions(place))
        Path(temporary).replace(place)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _permissions(place: Path) -> int:
    if place.exists():
        return place.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
