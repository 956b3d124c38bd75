"""Chunk grids against zarr: the bytes of every chunk that it writes, and what it reads of ours.

It needs `pip install zarr`. Arrays are written uncompressed into a dictionary: formats 2 and 3, any
order within a chunk, ragged last chunks, which zarr fills up, and shards. The default run samples;
`pytest -m campaign -k zarr -s` says how much was compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

import layoutdsl
from layoutdsl import Layout

zarr = pytest.importorskip("zarr")
codecs = pytest.importorskip("zarr.codecs")

KINDS = ("u1", "i2", "u4", "f4", "i8", "f8", "c8")
NO_CHUNK = 2**64 - 1
"""What the index of a shard says of a chunk that is not there (Zarr, "Sharding codec")."""


@dataclass(frozen=True)
class Drawn:
    """A chunk grid: extents of a chunk, the order within it, and chunks in a shard, if any."""

    chunk: tuple[int, ...]
    order: tuple[int, ...]
    shard: tuple[int, ...]
    kind: str
    fill: int
    form: int

    @property
    def names(self) -> str:
        return "abcd"[: len(self.chunk)]

    def layout(self, within: list[str] | None = None) -> str:
        """Our text: the shard, the chunk in it, the element in the chunk.

        Args:
            within: the coordinates of a chunk in its shard; row-major if left out.
        """
        sizes = dict(zip(self.names, self.chunk, strict=True))
        counts = dict(zip(self.names, self.shard or [1] * len(self.chunk), strict=True))
        outer = [f"{a}/{sizes[a] * counts[a]}" for a in self.names]
        if self.shard and within is None:
            within = [f"{a}%{sizes[a] * counts[a]}/{sizes[a]}" for a in self.names]
        inner = [f"{self.names[n]}%{self.chunk[n]}" for n in self.order]
        body = f"{', '.join([*outer, *(within or [])])}; {', '.join(inner)}"
        return f"layout Drawn({', '.join(self.names)}) = [{body}] fill {self.fill}"

    def morton(self) -> list[str]:
        """The bits of chunks in a shard, the lowest of the first axis moving fastest.

        The standard leaves the order open; zarr writes this one, `morton_order_iter` of
        `zarr/core/indexing.py`.
        """
        found: list[str] = []
        for bit in range(8):
            for name, size, count in zip(self.names, self.chunk, self.shard, strict=True):
                if count >> bit > 1:
                    found.append(f"{name}/{size << bit}%2")
        return found[::-1]


def draw(random: Random) -> Drawn:
    rank = random.randint(1, 4)
    chunk = tuple(random.choice((1, 2, 3, 4, 5, 8)) for _ in range(rank))
    form = random.choice((2, 3, 3))
    shard: tuple[int, ...] = ()
    if form == 3 and random.random() < 0.4:
        shard = tuple(random.choice((1, 2, 2, 3, 4)) for _ in range(rank))
    order = tuple(range(rank))
    if random.random() < 0.6:
        order = order[::-1] if form == 2 else tuple(random.sample(order, rank))
    fill = random.choice((0, 0, 7, 100))
    return Drawn(chunk, order, shard, random.choice(KINDS), fill, form)


def shape_for(drawn: Drawn, random: Random) -> tuple[int, ...]:
    """Extents around a multiple of the chunk, or of the shard."""
    most = 2 if len(drawn.chunk) > 3 else 3
    shape = []
    for size, count in zip(drawn.chunk, drawn.shard or [1] * len(drawn.chunk), strict=True):
        whole = size * count
        shape.append(random.choice((whole, whole + 1, whole - 1, random.randint(1, most * whole))))
    return tuple(max(extent, 1) for extent in shape)


def array_for(drawn: Drawn, shape: tuple[int, ...], store: dict[str, Any]) -> Any:
    given: dict[str, Any] = {"shape": shape, "dtype": drawn.kind, "fill_value": drawn.fill}
    if drawn.form == 2:
        order = "C" if drawn.order == tuple(range(len(shape))) else "F"
        given |= {"chunks": drawn.chunk, "order": order}
    else:
        whole = drawn.chunk
        if drawn.shard:
            whole = tuple(s * c for s, c in zip(drawn.chunk, drawn.shard, strict=True))
            given["shards"] = whole
        given["chunks"] = drawn.chunk
        given["filters"] = [codecs.TransposeCodec(order=drawn.order)]
    memory = zarr.storage.MemoryStore(store_dict=store)
    return zarr.create_array(store=memory, compressors=None, zarr_format=drawn.form, **given)


def grid_for(drawn: Drawn, shape: tuple[int, ...]) -> str:
    """The attributes of the array, as our notation takes them."""
    order = f"order={drawn.order}"
    if drawn.form == 2:
        order = f"order={'C' if drawn.order == tuple(range(len(shape))) else 'F'}"
    return f"shape={shape}, chunks={drawn.chunk}, {order}, fill_value={drawn.fill}"


def assert_grid_alike(drawn: Drawn, shape: tuple[int, ...], layout: Layout) -> None:
    """The notation says of the attributes what was compared with zarr's bytes."""
    grid = layoutdsl.from_notation("zarr", grid_for(drawn, shape))
    axes = [axis.name for axis in layout.axes]
    indices = dict(zip(axes, np.indices(shape), strict=True))
    theirs = {axis.name: indices[name] for axis, name in zip(grid.axes, axes, strict=True)}
    ours = layout.offset_at({**layout.bind(shape), **indices})
    assert np.array_equal(np.broadcast_to(grid.offset_at(theirs), shape), ours), drawn
    assert grid.size({}) == layout.size(shape)
    assert grid.fill == layout.fill


def key(drawn: Drawn, at: tuple[int, ...]) -> str:
    """The name of a chunk, by the two formats."""
    return ".".join(map(str, at)) if drawn.form == 2 else "/".join(["c", *map(str, at)])


def pieces(drawn: Drawn, data: bytes) -> Iterator[bytes | None]:
    """The chunks of a shard, in the order of their numbers; None for one that is not there."""
    count = prod(drawn.shard)
    index = np.frombuffer(data[-16 * count - 4 : -4], "<u8").reshape(count, 2)
    for start, size in index.tolist():
        yield None if start == NO_CHUNK else data[start : start + size]


def assert_written_alike(drawn: Drawn, module: Any, tensor: np.ndarray) -> int:
    """Every chunk that zarr writes holds the bytes of ours; chunks of fill alone it leaves out."""
    store: dict[str, Any] = {}
    array_for(drawn, tensor.shape, store)[...] = tensor
    packed = module.pack(tensor)
    rank, compared = tensor.ndim, 0
    inner = packed.shape[rank : len(packed.shape) - rank]
    for at in np.ndindex(packed.shape[:rank]):
        ours = packed[at].reshape(prod(inner), -1)
        held = store.pop(key(drawn, at), None)
        theirs = [None] * len(ours) if held is None else [held.to_bytes()]
        if held is not None and drawn.shard:
            theirs = list(pieces(drawn, held.to_bytes()))
        for mine, other in zip(ours, theirs, strict=True):
            if other is None:
                assert (mine == drawn.fill).all(), (drawn, tensor.shape, at)
            else:
                assert mine.tobytes() == other, (drawn, tensor.shape, at)
            compared += mine.size
    assert [name for name in store if not name.startswith((".z", "zarr"))] == []
    return compared


def assert_read_alike(drawn: Drawn, module: Any, tensor: np.ndarray) -> None:
    """Zarr finds the tensor in the chunks that we write."""
    store: dict[str, Any] = {}
    array = array_for(drawn, tensor.shape, store)
    packed = module.pack(tensor)
    for at in np.ndindex(packed.shape[: tensor.ndim]):
        data = zarr.core.buffer.cpu.Buffer.from_bytes(packed[at].tobytes())
        store[key(drawn, at)] = data
    assert np.array_equal(array[...], tensor), (drawn, tensor.shape)


def assert_shards_alike(drawn: Drawn, tensor: np.ndarray) -> int:
    """Whole shards are the bytes of our layout in Morton's order, and zarr's index behind them."""
    store: dict[str, Any] = {}
    array_for(drawn, tensor.shape, store)[...] = tensor
    layout = layoutdsl.parse(drawn.layout(drawn.morton()))["Drawn"]
    indices = dict(zip(drawn.names, np.indices(tensor.shape), strict=True))
    offsets = layout.offset_at({**layout.bind(tensor.shape), **indices})
    packed = np.empty(tensor.size, tensor.dtype)
    packed[offsets] = tensor
    shards = [n // (s * c) for n, s, c in zip(tensor.shape, drawn.chunk, drawn.shard, strict=True)]
    for at, ours in zip(
        product(*map(range, shards)), packed.reshape(prod(shards), -1), strict=True
    ):
        data = store[key(drawn, at)].to_bytes()
        assert data[: ours.nbytes] == ours.tobytes(), (drawn, tensor.shape)
        assert len(data) == ours.nbytes + 16 * prod(drawn.shard) + 4
    return tensor.size


def tensor_for(drawn: Drawn, shape: tuple[int, ...], random: Random) -> np.ndarray:
    """Random numbers, none of which is the fill."""
    made = np.random.default_rng(random.getrandbits(32)).integers(1, 99, shape)
    return np.where(made == drawn.fill, 99, made).astype(drawn.kind)


def compare(count: int, seed: int) -> None:
    random = Random(seed)
    found = {
        "grids": 0,
        "ragged": 0,
        "elements": 0,
        "read": 0,
        "sharded": 0,
        "in Morton's order": 0,
    }
    for _ in range(count):
        drawn = draw(random)
        layout = layoutdsl.parse(drawn.layout())["Drawn"]
        module = layoutdsl.compile(layout, target="numpy")
        for _ in range(3):
            shape = shape_for(drawn, random)
            if not drawn.shard:
                assert_grid_alike(drawn, shape, layout)
            tensor = tensor_for(drawn, shape, random)
            found["grids"] += 1
            found["ragged"] += any(n % s for n, s in zip(shape, drawn.chunk, strict=True))
            found["elements"] += assert_written_alike(drawn, module, tensor)
            if not drawn.shard:
                assert_read_alike(drawn, module, tensor)
                found["read"] += 1
                continue
            found["sharded"] += 1
            if all(n in (1, 2, 4) for n in drawn.shard):
                whole = tuple(s * c for s, c in zip(drawn.chunk, drawn.shard, strict=True))
                shape = (2 * whole[0], *whole[1:])
                assert_shards_alike(drawn, tensor_for(drawn, shape, random))
                found["in Morton's order"] += 1
    print(f"zarr {zarr.__version__}: {found}")
    assert min(found.values()) > count // 20


@pytest.mark.slow
def test_a_sample_of_zarr_chunks() -> None:
    compare(7, 1)


def test_zarr_can_refute() -> None:
    drawn = Drawn((2, 3), (0, 1), (), "i2", 7, 3)
    wrong = Drawn((3, 2), (0, 1), (), "i2", 7, 3)
    module = layoutdsl.compile(layoutdsl.parse(wrong.layout())["Drawn"], target="numpy")
    with pytest.raises(AssertionError):
        assert_written_alike(drawn, module, tensor_for(drawn, (6, 6), Random(1)))


@pytest.mark.campaign
def test_zarr_chunks_of_random_arrays() -> None:
    compare(400, 2)
