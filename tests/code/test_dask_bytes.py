"""`layoutdsl.dask` returns the values, bytes and types of `layoutdsl.compile`, however chunks end.

Layouts are rotations, exclusive ors and blocks; shapes, chunks and types are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import layoutdsl

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
ld = pytest.importorskip("layoutdsl.dask")

LAYOUTS = {
    "rows": "layout L(h, c) = [h, c]",
    "blocks": "layout L(h, c) = [h/3, c/4, h%3, c%4] fill 7",
    "turned blocks": "layout L(h, c) = [c/4, h, c%4]",
    "rotated": "layout L(h, c) = [h, (h + c)%4 : 4] where C <= 4",
    "rotated blocks": "layout L(h, c) = [h/8, c/4, h%8, (h + c)%4 : 4]",
    "exclusive or": "layout L(h, c) = [h, c ^ h%4]",
    "exclusive or of blocks": "layout L(h, c) = [h, c/8 ^ h%4, c%8]",
    "exclusive or in blocks": "layout L(h, c) = [h/2, c/4, h%2, c%4 ^ h%2]",
    "pitch": "layout L(h, c) = [h, c : roundup(C, 8)] fill any",
    "padded rows": "layout L(h, c) = [h : roundup(H, 4), c] fill 3",
    "outer pair": "layout L(h, c) = [(h, c/4), c%4]",
    "no seam": "layout L(h: 8, c: 8) = [c, h ^ c]",
}
TYPES = ("i1", "<i2", ">i2", ">u4", "<f4", ">f4", ">f8", ">c8", "?")


@pytest.fixture(autouse=True)
def _in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def chunks_of(shape: tuple[int, ...], random: Random) -> tuple[tuple[int, ...], ...]:
    """Chunks along each axis: one, or ends anywhere."""
    found = []
    for extent in shape:
        cuts = random.choice((0, 0, 1, 3, extent))
        ends = sorted({random.randint(1, extent) for _ in range(cuts)} | {extent})
        found.append(tuple(after - before for before, after in zip([0, *ends], ends, strict=False)))
    return tuple(found)


def cut(array: np.ndarray, name: str, random: Random) -> Any:
    """An array of dask in drawn chunks; in one chunk where the layout has no seam."""
    chunks = -1 if name == "no seam" else chunks_of(array.shape, random)
    return da.from_array(array, chunks=chunks)


def same(found: Any, wanted: np.ndarray) -> None:
    computed = found.compute()
    assert found.dtype == computed.dtype == wanted.dtype
    assert found.dtype.byteorder == computed.dtype.byteorder == wanted.dtype.byteorder
    assert found.shape == computed.shape == wanted.shape
    assert computed.tobytes() == wanted.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_chunks_change_neither_values_nor_bytes_nor_types(name: str, tmp_path: Path) -> None:
    made, random = layoutdsl.parse(LAYOUTS[name])["L"], Random(name)
    module = layoutdsl.compile(made, "numpy", unproved=True)
    for number in range(18):
        shape = (8, 8) if name == "no seam" else (random.randint(1, 21), random.randint(1, 21))
        if name == "rotated":
            shape = (shape[0], min(shape[1], 4))
        kind = TYPES[number % len(TYPES)]
        tensor = (np.arange(prod(shape)) % 251).astype(kind).reshape(shape)
        fill = {"fill": 1, "unproved": True}
        whole = module.pack(tensor, fill=1)
        same(ld.pack(cut(tensor, name, random), made, **fill), whole)
        same(ld.unpack(cut(whole, name, random), made, shape, unproved=True), tensor)
        packed = ld.pack(cut(tensor, name, random), made, **fill)
        same(ld.unpack(packed, made, shape, unproved=True), tensor)
        place = tmp_path / f"{number}.npy"
        np.save(place, np.zeros_like(whole))
        for task in ld.delayed_into(cut(tensor, name, random), made, place, **fill):
            task.compute()
        written = np.load(place)
        assert (written.dtype, written.tobytes()) == (whole.dtype, whole.tobytes())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("clause", ["offset 3", "offset H%4", "offset max(0, 8 - H)"])
def test_flat_buffer_is_refused_whatever_the_offset_comes_to(clause: str) -> None:
    made = layoutdsl.parse(f"layout L(h, c) = [h, c] {clause}")["L"]
    with pytest.raises(ValueError, match="`L` has an `offset`, so its buffer is flat"):
        ld.pack(da.zeros((8, 4), chunks=4), made)
    with pytest.raises(ValueError, match="`L` has an `offset`, so its buffer is flat"):
        ld.unpack(da.zeros(32, chunks=8), made, (8, 4))
