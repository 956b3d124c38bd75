"""The generated C of a layout, compiled as a user compiles it, and called through pointers."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from functions_built import C

import layoutdsl
from layoutdsl import Layout

Array = np.ndarray[Any, Any]


def pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class CLibrary:
    """`pack` and `unpack` of one layout, from the files that `layoutdsl.generate_c` writes.

    Args:
        layout: proved, or undecided.
        folder: for the files.
        options: of the compiler.
        widths: bytes of an element.
        where: the shapes that the C is for; all of the layout if left out.
    """

    def __init__(
        self,
        layout: Layout,
        folder: Path,
        *options: str,
        widths: tuple[int, ...] = (1, 2, 4, 8),
        where: str | None = None,
    ) -> None:
        how: dict[str, Any] = {"widths": widths, "where": where}
        made = layoutdsl.generate_c(layout, **how, validate=False, unproved=True)
        folder.mkdir(parents=True, exist_ok=True)
        source, library = made.write(folder / "a.c")[0], folder / "a.so"
        command = [*str(C).split(), "-std=c11", "-O1", *options, "-shared", "-fPIC", "-o"]
        subprocess.run([*command, str(library), str(source)], check=True, timeout=300)
        self._stem, self._library = layout.name.lower(), ctypes.CDLL(str(library))

    def size(self, shape: Sequence[int]) -> int:
        """The elements of a buffer; -1 where the layout has no such shape."""
        return self._number("size", shape)

    def units(self, verb: str, dtype: Any, shape: Sequence[int]) -> int:
        """The number of pieces of work."""
        return self._number(f"{_function(verb, dtype)}_units", shape)

    def move(
        self, verb: str, src: Array, out: Array, shape: Sequence[int], fill: float = 0
    ) -> None:
        """Pack or unpack one array into another."""
        function = self._library[f"{self._stem}_{_function(verb, src.dtype)}"]
        extents, item = np.array(shape, "i8"), np.array(fill, src.dtype)
        last = [pointer(item)] if verb == "pack" else []
        assert function(pointer(src), pointer(out), pointer(extents), *last) == 0

    def part(
        self,
        verb: str,
        src: Array,
        out: Array,
        shape: Sequence[int],
        units: range,
        fill: float = 0,
    ) -> None:
        """Do some pieces of the work."""
        function = self._library[f"{self._stem}_{_function(verb, src.dtype)}_part"]
        extents, item = np.array(shape, "i8"), np.array(fill, src.dtype)
        arrays = map(pointer, (src, out, extents, item))
        work = (ctypes.c_int64(units.start), ctypes.c_int64(units.stop))
        assert function(*arrays, *work) == 0

    def _number(self, name: str, shape: Sequence[int]) -> int:
        function = self._library[f"{self._stem}_{name}"]
        function.restype = ctypes.c_int64
        return int(function(pointer(np.array(shape, "i8"))))


def _function(verb: str, dtype: Any) -> str:
    return f"{verb}_{8 * np.dtype(dtype).itemsize}"
