"""Outputs that go past the cache, made small: every place of a line where a target may start.

The bytes from which outputs are streamed are a word of the C file; here it says one. Shapes have
rows of whole lines, and rows that end inside one, around the extents of tiles.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from c_library import CLibrary
from codegen_cases import layout_of, module_of
from native_cases import WIDTHS, fixed_extent, needs_compiler

import layoutdsl

pytestmark = needs_compiler

LINE = 64
GUARD = 192

LAYOUTS = (
    "layout NHWC(n, c, h, w) = [n, h, w, c]",
    "layout NCHW(n, h, w, c) = [n, c, h, w]",
    "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]",
    "layout NCHW16c3(n, c: 3, h, w) = [n, c/16, h, w, c%16]",
    "layout NHWC3(n, c: 3, h, w) = [n, h, w, c]",
    "layout Tile(y, x) = [y/8, x/128, y%8, x%128]",
    "layout Tile2(y, x) = [y/8, x/128, y%8/2, x%128, y%2]",
    "layout Pitched(y, x) = [y, x : 16*ceil(X/16)]",
    "layout Turned(y, x) = [x, y]",
    "layout Mace(n, h, w, c) = [(n, h), (c/4, w), c%4]",
    "layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32] fill 31",
)

SHAPES = {
    2: ((16, 256), (24, 250), (7, 129), (64, 64), (9, 429), (5, 1001), (280, 530)),
    4: ((2, 64, 8, 8), (1, 64, 16, 17), (2, 65, 4, 16), (1, 80, 3, 43), (1, 16, 16, 96)),
}


def placed(shape: tuple[int, ...], dtype: str, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """An array that starts so many bytes after a line does, in a longer one of poison."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    whole = np.full(count + 3 * GUARD, 7, "u1")
    first = GUARD - whole.ctypes.data % LINE + shift
    inner = whole[first : first + count].view(dtype).reshape(shape)
    assert inner.ctypes.data % LINE == shift
    return whole, inner


def built(text: str, vector: int, folder: Path, *dtypes: str) -> CLibrary:
    """The C of a layout that streams whatever is aligned."""
    options = ("-march=native", f"-DLAYOUT_VECTOR={vector}", "-DSTREAM_BYTES=1")
    widths = tuple(np.dtype(each).itemsize for each in dtypes)
    return CLibrary(layout_of(text), folder, *options, widths=widths)


def moved(text: str, library: CLibrary, dtype: str, shift: int) -> None:
    layout, plain = layout_of(text), module_of(text)
    for extents in SHAPES[layout.rank]:
        shape = tuple(
            extent if (fixed := fixed_extent(axis)) is None else fixed
            for axis, extent in zip(layout.axes, extents, strict=True)
        )
        count = int(np.prod(shape))
        tensor = (np.arange(count, dtype="u8") * 2654435761 % 251).astype(dtype).reshape(shape)
        want = plain.pack(tensor, fill=9)
        for given, result in ((tensor, want), (want, tensor)):
            whole, out = placed(result.shape, dtype, shift)
            before = whole.copy()
            library.move("pack" if result is want else "unpack", given, out, shape, 9)
            assert np.array_equal(out, result), (text, dtype, shift, shape)
            out.view("u1")[...] = 7
            assert np.array_equal(whole, before)


@pytest.mark.slow
@pytest.mark.sampled(18)
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
@pytest.mark.parametrize("vector", [16, 64])
def test_wherever_the_target_starts(number: int, vector: int, tmp_path: Path) -> None:
    dtype = WIDTHS[(number + vector // 64) % 4]
    library = built(LAYOUTS[number], vector, tmp_path, dtype)
    for shift in (0, 16, 48, 8):
        moved(LAYOUTS[number], library, dtype, shift)


@pytest.mark.campaign
@pytest.mark.parametrize("text", LAYOUTS)
@pytest.mark.parametrize("vector", [16, 32, 64])
def test_every_width_and_vector(text: str, vector: int, tmp_path: Path) -> None:
    library = built(text, vector, tmp_path, *WIDTHS)
    for dtype, shift in product(WIDTHS, range(0, LINE, 8)):
        moved(text, library, dtype, shift)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["u1", "f8"])
def test_a_large_new_buffer_starts_with_a_line(dtype: str) -> None:
    """Nothing of it would go past the cache where numpy puts it."""
    text = "layout Turned(n, c) = [c, n]"
    module = layoutdsl.compile(layout_of(text), "native")
    shape = (1 << 10, (8 << 10) // np.dtype(dtype).itemsize)
    tensor = np.arange(8 << 20, dtype="u1").view(dtype)[: np.prod(shape)].reshape(shape)
    for _ in range(3):
        packed = module.pack(tensor)
        back = module.unpack(packed, shape)
        assert packed.ctypes.data % LINE == back.ctypes.data % LINE == 0
        assert packed.flags.c_contiguous
        assert packed.flags.writeable
        assert packed.tobytes() == tensor.T.tobytes()
        assert back.tobytes() == tensor.tobytes()
