"""Index functions compiled as C and C++, and called for many indices and slots at once."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from layoutdsl import Layout
from layoutdsl.code.functions import LANGUAGES, Known, write
from layoutdsl.language.digits.inverse import Inverse, invert
from layoutdsl.language.meaning.elements import INTEGER_TYPES
from layoutdsl.language.meaning.offsets import physical_exprs

C = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
CPP = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
COMPILERS = {
    "c": (C, ".c", ["-std=c99"]),
    "opencl": (C, ".c", ["-std=c99"]),
    "cuda": (CPP, ".cpp", ["-std=c++11"]),
}
"""What stands in for the compilers of kernels: their words are put in place of C's."""

PRELUDES = {
    "c": "",
    "opencl": "#include <stdbool.h>\ntypedef unsigned int uint;\ntypedef unsigned long ulong;\n",
    "cuda": "#define __host__\n#define __device__\n#define __forceinline__ inline\n",
}
FLAGS = ["-O1", "-Wall", "-Werror", "-Wno-unused-variable", "-Wno-unused-function"]


def text(layout: Layout, language: str, integers: str) -> str:
    return write(layout, invert(layout), language, Known(INTEGER_TYPES[integers], "none", "none"))


def inverted(layout: Layout) -> bool:
    return isinstance(invert(layout), Inverse)


def wrappers(layout: Layout, language: str, integers: str, *, backward: bool) -> str:
    """Functions over arrays of 64 bits: a row of indices and extents, or extents and slots.

    Args:
        layout: whose name the functions have.
        language: one of `COMPILERS`.
        integers: the type that the functions are written in.
        backward: whether there are functions from slots to indices.
    """
    rank, count, box = layout.rank, len(layout.symbols), len(physical_exprs(layout))
    type_ = LANGUAGES[language].types[integers]
    name = layout.name
    row = ", ".join(f"({type_})p[k*{rank + count} + {j}]" for j in range(rank + count))
    extents = [f"({type_})e[{j}]" for j in range(count)]
    asked = ", ".join(extents)
    given = f"{asked}, " if extents else ""
    lines = [
        f"void r_{name}_offset(const long *p, long n, long *o)",
        f"{{ for (long k = 0; k < n; k++) o[k] = (long){name}_offset({row}); }}",
        f"void r_{name}_sizes(const long *e, long *o)",
        f"{{ (void)e; o[0] = (long){name}_size({asked}); {type_} x[{box}];",
        f"{name}_physical_shape({given}x);",
        f"for (int j = 0; j < {box}; j++) o[1 + j] = (long)x[j]; }}",
    ]
    if layout.domain:
        lines += [
            f"void r_{name}_has_slot(const long *p, long n, long *o)",
            f"{{ for (long k = 0; k < n; k++) o[k] = {name}_has_slot({row}); }}",
        ]
    if backward:
        lines += [
            f"void r_{name}_padded(const long *e, long *o)",
            f"{{ (void)e; {type_} x[{rank}]; {name}_padded_extents({given}x);",
            f"for (int j = 0; j < {rank}; j++) o[j] = (long)x[j]; }}",
            f"void r_{name}_index(const long *e, const long *s, long n, long *o)",
            f"{{ (void)e; for (long k = 0; k < n; k++) {{ {type_} x[{rank}];",
            f"o[k*{rank + 1}] = {name}_index(({type_})s[k], {given}x);",
            f"for (int j = 0; j < {rank}; j++)",
            f"o[k*{rank + 1} + 1 + j] = o[k*{rank + 1}] ? (long)x[j] : -1; }} }}",
        ]
    return "\n".join(lines)


def wrapped(layout: Layout, language: str, integers: str) -> str:
    return wrappers(layout, language, integers, backward=inverted(layout))


def built(layouts: Iterable[Layout], language: str, integers: str, folder: Path) -> ctypes.CDLL:
    compiler, suffix, flags = COMPILERS[language]
    assert compiler is not None
    texts = [PRELUDES[language]]
    found = list(layouts)
    texts += [text(layout, language, integers) for layout in found]
    c_linkage = 'extern "C" {' if language == "cuda" else ""
    texts += [c_linkage, *(wrapped(each, language, integers) for each in found)]
    texts += ["}" if c_linkage else ""]
    source = folder / f"functions_{language}_{integers}{suffix}"
    library = source.with_suffix(".so")
    source.write_text("\n".join(texts), encoding="utf-8")
    command = [compiler, *flags, *FLAGS, "-shared", "-fPIC", "-o", str(library), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


@dataclass(frozen=True)
class Called:
    """The functions of one layout."""

    library: ctypes.CDLL
    layout: Layout

    def _of(self, name: str) -> ctypes._NamedFuncPointer:
        return self.library[f"r_{self.layout.name}_{name}"]

    def _rows(self, points: Mapping[str, np.ndarray | int], name: str) -> np.ndarray:
        names = [*(axis.name for axis in self.layout.axes), *self.layout.symbols]
        columns = np.broadcast_arrays(*(points[each] for each in names))
        rows = np.stack(columns, axis=-1).reshape(-1, len(names)) if names else np.empty((1, 0))
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        out = np.full(len(rows), -9, dtype=np.int64)
        self._of(name)(pointer(rows), ctypes.c_long(len(rows)), pointer(out))
        return out

    def offset(self, points: Mapping[str, np.ndarray | int]) -> np.ndarray:
        return self._rows(points, "offset")

    def has_slot(self, points: Mapping[str, np.ndarray | int]) -> np.ndarray:
        return self._rows(points, "has_slot")

    def _extents(self, values: Mapping[str, int]) -> np.ndarray:
        return np.array([*(values[name] for name in self.layout.symbols), 0], dtype=np.int64)

    def sizes(self, values: Mapping[str, int]) -> list[int]:
        """The size, and then the extents of the packed array."""
        out = np.full(1 + len(physical_exprs(self.layout)), -9, dtype=np.int64)
        self._of("sizes")(pointer(self._extents(values)), pointer(out))
        return [int(each) for each in out]

    def padded(self, values: Mapping[str, int]) -> list[int]:
        out = np.full(self.layout.rank, -9, dtype=np.int64)
        self._of("padded")(pointer(self._extents(values)), pointer(out))
        return [int(each) for each in out]

    def index(self, values: Mapping[str, int], slots: np.ndarray) -> np.ndarray:
        """For each slot whether it holds an element, and the index; -1 everywhere if not."""
        slots = np.ascontiguousarray(slots, dtype=np.int64)
        out = np.full((len(slots), 1 + self.layout.rank), -9, dtype=np.int64)
        self._of("index")(
            pointer(self._extents(values)), pointer(slots), ctypes.c_long(len(slots)), pointer(out)
        )
        return out


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
