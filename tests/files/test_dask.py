"""Arrays of dask: chunks end at seams or are refused; a block is made of exactly its elements."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections import Counter
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from random_layouts import drawn, shape_in
from texts import LIBRARY, layout

import layoutdsl
from layoutdsl import Layout

da = pytest.importorskip("dask.array")
ld = pytest.importorskip("layoutdsl.dask")

TILES = layout("layout Tiles(n, k) = [n/64, k/32, n%64, k%32]")


@pytest.fixture(autouse=True)
def _in_this_thread() -> Any:
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


def tensor_of(shape: tuple[int, ...], dtype: str = "f4") -> np.ndarray:
    return np.arange(1, prod(shape) + 1).astype(dtype).reshape(shape)


@pytest.mark.slow
def test_chunks_of_1000_rows_where_blocks_have_64() -> None:
    """`map_blocks` made 131 outer blocks of it, without an error."""
    tensor = tensor_of((8192, 64), "u2")
    array = da.from_array(tensor, chunks=(1000, 64))
    packed = ld.pack(array, TILES)
    assert packed.shape == (128, 2, 64, 32)
    assert packed.chunks[0] == (16, 15, 16, 16, 15, 16, 15, 16, 3)
    whole = layoutdsl.compile(TILES).pack(tensor)
    assert np.array_equal(packed.compute(), whole)
    with pytest.raises(
        ValueError, match="do not end where `Tiles` can be taken apart: give `array"
    ):
        ld.pack(array, TILES, off_seam="refuse")
    again = ld.pack(array.rechunk({0: 1024}), TILES, off_seam="refuse")
    assert again.chunks[0] == (16,) * 8
    assert np.array_equal(again.compute(), whole)
    back = ld.unpack(packed.rechunk((7, 1, 64, 16)), TILES, tensor.shape)
    assert back.chunks == ((448,) * 18 + (128,), (32, 32))
    assert np.array_equal(back.compute(), tensor)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("NCHW16c", {"n": 1, "c": 16, "h": 1, "w": 1}),
        ("AmxInt8", {}),
    ],
)
def test_seams(name: str, found: dict[str, int]) -> None:
    assert ld.seams(name) == found


def chunks_of(length: int, random: Random) -> tuple[int, ...]:
    ends = sorted({length, *(random.randint(1, length) for _ in range(random.randint(0, 3)))})
    return tuple(np.diff([0, *ends]).tolist())


LATER = 100
"""Seeds from here on draw layouts of any kind, and of the library, few of which can be cut."""


def blocked(random: Random) -> Layout:
    """Blocks of some axes, outermost coordinates first, in any order: these can be cut."""
    axes = random.sample("nchw", random.randint(1, 3))
    blocks = {axis: random.choice((1, 2, 3, 4, 8)) for axis in axes}
    outer = [axis if size == 1 else f"{axis}/{size}" for axis, size in blocks.items()]
    inner = [f"{axis}%{size}" for axis, size in blocks.items() if size > 1]
    random.shuffle(inner)
    if len(outer) > 1 and random.random() < 0.2:
        outer = [f"({', '.join(outer[:2])})", *outer[2:]]
    fill = random.choice(("", " fill 3", " fill any"))
    return layout(f"layout Blocked({', '.join(axes)}) = [{', '.join(outer + inner)}]{fill}")


def tried(seed: int, folder: Path) -> str:
    """One layout, shape and chunks, packed, unpacked and written; returns what came of it."""
    random = Random(seed)
    kind = random.choice(("blocked", "drawn", "known")) if seed >= LATER else "blocked"
    known = LIBRARY[random.choice(sorted(LIBRARY))]
    found = known if kind == "known" else drawn(random) if kind == "drawn" else blocked(random)
    found = found.of_codes
    shape = None if found.parameters or found.bit_of is not None else shape_in(found, random)
    if shape is None or not all(shape):
        return "none"
    letter, width = ("u", 1) if found.element is None else found.element.item
    tensor = tensor_of(shape, f"{letter}{width}") % 8
    tensor = np.asarray(tensor, dtype=f"{letter}{width}")
    fill = {"fill": 7} if "fill zero_point" in found.clauses else {}
    try:
        module = layoutdsl.compile(found, "numpy")
        want = module.pack(tensor, **fill)
        array = da.from_array(tensor, chunks=tuple(chunks_of(each, random) for each in shape))
        packed = ld.pack(array, found, **fill)
    except (layoutdsl.RefusedError, layoutdsl.UnprovedError, layoutdsl.UnvalidatedError):
        return "refused"
    except ValueError as unfit:
        return str(unfit).split(":")[0].partition("` ")[2]
    assert np.array_equal(packed.compute(), want), (found, shape, array.chunks)
    for cell in product(*map(range, packed.numblocks)):  # each is whole by itself
        assert packed.blocks[cell].compute().shape == packed.blocks[cell].shape
    buffer = da.from_array(want, chunks=tuple(chunks_of(each, random) for each in want.shape))
    if ld.seams(found):
        back = ld.unpack(buffer, found, shape)
        assert np.array_equal(back.compute(), tensor), (found, shape, buffer.chunks)
    out = folder / "out.npy"
    np.save(out, np.full_like(want, 0x25))
    written = [each.compute() for each in ld.delayed_into(array, found, out, **fill)]
    assert sum(written) == want.nbytes
    assert np.array_equal(np.load(out), want)
    return "done" if packed.npartitions > 1 else "one block"


def tried_in_turn(seeds: range, folder: Path) -> Counter[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return Counter(tried(seed, folder) for seed in seeds)


@pytest.mark.slow
def test_random_chunks_of_random_layouts(tmp_path: Path) -> None:
    assert tried_in_turn(range(5), tmp_path)["done"] >= 2


@pytest.mark.campaign
def test_more_random_chunks(tmp_path: Path) -> None:
    assert tried_in_turn(range(100, 200), tmp_path)["done"] >= 25


@pytest.mark.campaign
def test_many_random_chunks(tmp_path: Path) -> None:
    print(tried_in_turn(range(1000, 6000), tmp_path))


@pytest.mark.slow
def test_a_tuple_outermost() -> None:
    found = layout("layout A(n, h, c) = [(n, h), c/4, c%4]")
    tensor = tensor_of((5, 3, 9))
    packed = ld.pack(da.from_array(tensor, chunks=(2, 1, 9)), found)
    assert packed.chunks[0] == (6, 6, 3)
    assert np.array_equal(packed.compute(), layoutdsl.compile(found).pack(tensor))
    back = ld.unpack(packed.rechunk((4, 3, 4)), found, tensor.shape)
    assert back.chunks == ((1, 2, 1, 1), (3,), (9,))
    assert np.array_equal(back.compute(), tensor)


REFUSED = [
    ("[n, c/4, c%4]", np.zeros((2, 8)), TypeError, "has to be an array of dask"),
    ("[n, c/4, c%4]", (2, 8, 3), ValueError, "the shape has 3 extents, and 2 are needed"),
    ("[(n, c)%3, (n, c)/3]", (9, 70), ValueError, r"cannot be taken apart: .*rechunk\(-1\)"),
    ("[n, c/4, c%4] offset 5", (9, 70), ValueError, "has an `offset`, so its buffer is flat"),
    ("[n, bit, c/8, c%8] of u4", (9, 72), ValueError, "places the bits of its elements"),
    ("[n, c%4]", (9, 72), layoutdsl.RefusedError, "refuted"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("body", "given", "kind", "words"), REFUSED)
def test_what_is_refused(body: str, given: Any, kind: type[Exception], words: str) -> None:
    array = da.zeros(given, chunks=3) if isinstance(given, tuple) else given
    with pytest.raises(kind, match=words):
        ld.pack(array, layout(f"layout A(n, c) = {body}"))


@pytest.mark.slow
def test_what_else_is_refused(tmp_path: Path) -> None:
    array = da.zeros((64, 32), chunks=30)
    with pytest.raises(ValueError, match="'rechunk' or 'refuse'"):
        ld.pack(array, TILES, off_seam="bend")
    with pytest.raises(ValueError, match="chunks of unknown sizes"):
        ld.pack(array[array[:, 0] == 0], TILES)
    with pytest.raises(ValueError, match=r"has the shape \(64, 32\), not \(1, 1, 64, 32\)"):
        ld.unpack(array, TILES, (64, 32))
    with pytest.raises(TypeError, match="`layout` is an int"):
        ld.pack(array, 3)
    with pytest.raises(ValueError, match="`A` holds copies of its elements"):
        ld.pack(array, layout("layout A(n, c, x: 2 broadcast) = [n, c, x]"))
    np.save(tmp_path / "out.npy", np.zeros((2, 1, 64, 32)))
    with pytest.raises(ValueError, match="is to be written"):
        ld.delayed_into(array, TILES, tmp_path / "out.npy")
    with pytest.raises(FileNotFoundError):
        ld.delayed_into(array, TILES, tmp_path / "none.npy")


def test_a_block_that_is_not_what_was_promised() -> None:
    lying = da.map_blocks(lambda block: block[:1], da.zeros((128, 32), chunks=64), dtype=float)
    with pytest.raises(RuntimeError, match="came, not"):
        ld.pack(lying, TILES).compute()


def slow_rows(first: int, count: int) -> np.ndarray:
    """Rows of a tensor, which take their time, and leave a note of who works on them."""
    time.sleep(0.25)
    return np.arange(first * 64, (first + count) * 64, dtype="u4").reshape(count, 64)


def slow_tensor() -> Any:
    import dask

    rows = dask.delayed(slow_rows)
    parts = [da.from_delayed(rows(n * 100, 100), (100, 64), "u4") for n in range(30)]
    return da.concatenate(parts)


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", ["pack", "unpack", "into"])
def test_several_processes_one_of_which_is_killed(verb: str, tmp_path: Path) -> None:
    """Off-seam chunks of 100 rows where blocks have 64."""
    distributed = pytest.importorskip("distributed")
    want = np.arange(3000 * 64, dtype="u4").reshape(3000, 64)
    whole = layoutdsl.compile(TILES).pack(want)
    cluster = distributed.LocalCluster(
        processes=True, n_workers=3, threads_per_worker=1, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        packed = ld.pack(slow_tensor(), TILES)
        if verb == "into":
            np.save(tmp_path / "out.npy", np.zeros_like(whole))
            tasks = ld.delayed_into(slow_tensor(), TILES, tmp_path / "out.npy")
            future = client.compute(tasks)
        elif verb == "unpack":
            future = client.compute(ld.unpack(packed, TILES, want.shape))
        else:
            future = client.compute(packed)
        time.sleep(1.0)
        os.kill(victim, signal.SIGKILL)
        found = client.gather(future)
        assert victim not in client.run(os.getpid).values()
    match verb:
        case "into":
            assert sum(found) == whole.nbytes
            assert np.array_equal(np.load(tmp_path / "out.npy"), whole)
        case "unpack":
            assert np.array_equal(found, want)
        case _:
            assert np.array_equal(found, whole)
