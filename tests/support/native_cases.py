"""What tests of compiled code share: layouts, modules, arrays between pages out of bounds."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of, module_of

from layoutdsl.code.loops.moves import Move, NoCode
from layoutdsl.code.native.libraries import Emitter
from layoutdsl.code.native.loader import native_module, why_not
from layoutdsl.code.native.module import NativeModule
from layoutdsl.code.native.program import EmittedProgram, generate_c

needs_compiler = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

WIDTHS = ("u1", "u2", "u4", "u8")

LAYOUTS = (
    "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]",
    "layout NHWC(n, c, h, w) = [n, h, w, c]",
    "layout NHWC3(n, c: 3, h, w) = [n, h, w, c]",
    "layout NCHW16c3(n, c: 3, h, w) = [n, c/16, h, w, c%16]",
    "layout NCHW4c(n, c, h, w) = [n, c/4, h, w, c%4]",
    "layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32] fill 31",
    "layout Crouton4x1(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8/4, d%32, w%4] fill 31",
    "layout Crouton2x2(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2]",
    "layout HtpWeights(h, w, i, o) = [o/32, i/32, h, w, i%32/4, o%32, i%4]",
    "layout OIhw4i16o4i(o, i, h: 3, w: 3) = [o/16, i/16, h, w, i%16/4, o%16, i%4]",
    "layout Tile2(y, x) = [y/8, x/128, y%8/2, x%128, y%2] fill any",
    "layout Mace(n, h, w, c) = [(n, h), (c/4, w), c%4]",
    "layout Filter(o, i, h, w) = [(o/4, h, w), i, o%4]",
    "layout Odd(n, c, w) = [n, c/12, w, c%12/3, c%3]",
    "layout Turned(n, c, w) = [c%4, n, w, c/4]",
    "layout Pitched(h, w) = [w/8, h : 70, w%8] where H <= 70",
    "layout Apart(n, c, h) = [(h, n)/4, c/2, (h, n)%4, c%2]",
    "layout Led(c, w) = [c/4, w, c%4] offset 7",
    "layout Gapped(c, w) = [c/32, w, c%32/4 : 9, c%4 : 6] fill 7",
    "layout Swizzled(i, j) = [i, (j/8)^(i%8), j%8]",
    "layout Exchanged(y, x) = [x, y]",
)
"""Every way in which something is moved, each with edges."""


def fixed_extent(axis: Any) -> int | None:
    """The extent that a layout gives an axis; `None` where each tensor has its own."""
    return getattr(axis.extent, "value", None)


@cache
def modules(text: str, vector: int = 64) -> NativeModule:
    """The compiled module of a layout, for vectors of so many bytes."""
    return native_module(
        layout_of(text), module_of(text), emit, options=(f"-DLAYOUT_VECTOR={vector}",)
    )


def _written(move: Move, width: int, rank: int) -> EmittedProgram | NoCode:
    layout = move.layouts[0]
    return generate_c(
        layout, source="", certificate=None, widths=(width,), verbs=(move.verb,), rank=rank
    )


emit = Emitter(_written)
"""C that is not read back."""


@contextmanager
def fenced(shape: tuple[int, ...], dtype: str, at_end: bool) -> Iterator[np.ndarray]:
    """An array that ends where memory ends, or starts where it starts: outside lies a fault."""
    bytes_needed = int(np.prod(shape)) * np.dtype(dtype).itemsize
    page = mmap.PAGESIZE
    pages = -(-bytes_needed // page) + 2
    memory = mmap.mmap(-1, pages * page)
    try:
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        _protect(start, page, 0)
        _protect(start + (pages - 1) * page, page, 0)
        first = (pages - 1) * page - bytes_needed if at_end else page
        array = np.frombuffer(memory, dtype, int(np.prod(shape)), first).reshape(shape)
        yield array
        _protect(start, page, mmap.PROT_READ | mmap.PROT_WRITE)
        _protect(start + (pages - 1) * page, page, mmap.PROT_READ | mmap.PROT_WRITE)
    finally:
        del memory


def _protect(address: int, size: int, rights: int) -> None:
    if sys.platform != "linux":
        pytest.skip("pages are protected on Linux only")
    library = ctypes.CDLL(None, use_errno=True)
    if library.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), rights):
        pytest.skip("pages cannot be protected here")
