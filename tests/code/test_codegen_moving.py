"""`_move` and `_fill`, which every module that `compile` calls carries.

They store, byte for byte, what ``target[...] = source`` stores, and nothing beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from codegen_cases import module_of

import layoutdsl
from layoutdsl.code import generate_numpy, load

MODULE = load(generate_numpy(layoutdsl.library("NCHW16c"), source="", certificate=None))
"""Each such module carries the same functions that move and fill."""
_fill, _move, _way = MODULE._fill, MODULE._move, MODULE._way

STRUCTURED = np.dtype([("a", "u1"), ("b", "<f4"), ("c", "i2")])
TYPES = ["u1", "?", "u2", ">i2", "f2", "V3", "u4", ">f4", "V6", "u8", "M8[s]", "c8", "V12", "c16"]
EVERY: list[object] = [*TYPES, "S5", "U2", "longdouble", STRUCTURED]


def memory(shape: tuple[int, ...], dtype: np.dtype, random: np.random.Generator) -> np.ndarray:
    """An array on guarded memory of random bytes: its axes in any order, reversed, with gaps."""
    order = random.permutation(len(shape))
    steps = [int(random.choice([1, 1, 1, 2])) for _ in shape]
    whole = [shape[k] * steps[k] + int(random.choice([0, 0, 3])) for k in order]
    start = int(random.choice([0, 0, 1, 5]))
    size = int(np.prod(whole)) * dtype.itemsize
    raw = np.frombuffer(bytearray(random.bytes(64 + size + 64)), "u1")
    if dtype.kind in "?bf" or dtype.names or dtype.kind in "UMc":
        raw &= 1  # nothing that numpy would change in a copy of its own
    array = np.ndarray(whole, dtype, raw, start)
    array = array.transpose(np.argsort(order))
    cut = tuple(slice(0, shape[k] * steps[k], steps[k]) for k in range(len(shape)))
    array = array[cut]
    turned = tuple(slice(None, None, int(random.choice([1, 1, -1]))) for _ in shape)
    return array[turned]


def root(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def checked(
    target: np.ndarray, source: np.ndarray, move: Callable[[np.ndarray, np.ndarray], None]
) -> None:
    """Every byte of both memories is what it is by definition."""
    whole, read = root(target), root(source)
    before, kept = whole.copy(), read.copy()
    move(target, source)
    assert np.array_equal(read.view("u1"), kept.view("u1"))
    moved = whole.copy()
    whole[...] = before
    item = target.dtype.itemsize
    bytes_of = np.dtype((np.void, item))
    target.view(bytes_of)[...] = source.view(bytes_of)
    assert np.array_equal(moved.view("u1"), whole.view("u1"))


@pytest.mark.sampled(11)
@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_moves_as_an_assignment_does(dtype: object) -> None:
    kind = np.dtype(dtype)  # type: ignore[call-overload]
    random = np.random.default_rng(kind.itemsize)
    for _ in range(40):
        rank = int(random.integers(1, 6))
        extents = [int(random.choice([1, 2, 3, 4, 7, 8, 9, 16, 30, 33, 150])) for _ in range(rank)]
        while np.prod(extents) > 60_000:
            extents[extents.index(max(extents))] //= 2
        shape = tuple(extents)
        target, source = memory(shape, kind, random), memory(shape, kind, random)
        args = target.shape, target.strides, source.strides, target.itemsize
        for _ in _way(*args)[3]:  # as often as it takes to try each of them
            checked(target, source, _move)


def test_items_with_holes_are_moved() -> None:
    kind = np.dtype([("a", "u1"), ("b", "<f4")], align=True)
    for count in (10, 10_000):
        source = np.zeros((count, 6), kind)
        source["a"], source["b"] = 7, np.arange(6)
        target = np.zeros((6, count), kind).T
        _move(target, source)
        assert np.array_equal(target, source)


@pytest.mark.parametrize("dtype", ["u1", "V3", "f4", "c16"])
def test_a_source_may_stand_still(dtype: str) -> None:
    random, kind = np.random.default_rng(3), np.dtype(dtype)
    for shape, still in (((40, 7, 33), (1, 7, 1)), ((4, 60, 64), (1, 1, 1)), ((9, 8, 8, 9), (9,))):
        source = np.broadcast_to(memory(still, kind, random), shape)
        checked(memory(shape, kind, random), source, _move)


def turned(shape: tuple[int, ...], order: tuple[int, ...], dtype: str) -> np.ndarray:
    """A guarded array whose memory has its axes in another order."""
    kind = np.dtype(dtype)
    inside = [shape[k] for k in order]
    raw = np.random.default_rng(9).integers(
        0, 256, 128 + int(np.prod(inside)) * kind.itemsize, "u1"
    )
    return np.ndarray(inside, kind, raw, 64).transpose(np.argsort(order))


def way_of(target: np.ndarray, source: np.ndarray) -> tuple:
    """How both are seen, and by which way they are moved first."""
    *seen, tried, _ = _way(target.shape, target.strides, source.strides, target.itemsize)
    return (*seen, *tried[0])


LARGE = {
    "lanes": ((5, 9999, 4), (2, 0, 1), "u1", "parts", ((1, 1),)),
    "lanes of lanes": ((9, 84, 33, 2, 2), (3, 0, 4, 1, 2), "u1", "parts", ((2, 1), (3, 1))),
    "lanes in parts": ((7, 3, 41_000, 3), (0, 1, 3, 2), "f2", "parts", ((0, 1), (2, 1))),
    "columns in parts": ((3, 257, 2031), (0, 2, 1), "u2", "parts", ((2, 256),)),
    "rows that are runs": ((400, 30, 60), (1, 0, 2), "u1", "whole", ()),
    "staged": ((2, 1024, 1536), (0, 2, 1), "f4", "staged", ((1, 256),)),
    "staged in the middle": ((3, 768, 2, 1024), (3, 0, 2, 1), "f4", "staged", ((1, 256),)),
    "plain": ((300, 16, 20), (0, 2, 1), "f4", "plain", ()),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("case", LARGE)
def test_large_moves_take_every_way(case: str, threads: int) -> None:
    shape, order, dtype, *way = LARGE[case]
    plain = tuple(range(len(shape)))
    target, source = turned(shape, plain, dtype), turned(shape, order, dtype)
    assert list(way_of(target, source)[3:]) == way
    checked(target, source, lambda one, other: _move(one, other, threads))
    if threads == 2:
        checked(target[::-1, ::-1], source[::-1], lambda one, other: _move(one, other, threads))
    if threads == 1:
        for _ in range(7):
            checked(target, source, _move)


def test_small_moves_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    target, source = (turned((30, 16, 20), order, "f4") for order in ((0, 1, 2), (0, 2, 1)))
    monkeypatch.setattr(MODULE, "perf_counter", None)
    *_, tried, _ = _way(target.shape, target.strides, source.strides, 4)
    assert tried == (("plain", ()),)
    checked(target, source, _move)


def test_the_fastest_of_those_tried_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that says how long each trial takes: the first time of each is slow."""
    target, source = (turned((3, 257, 2031), order, "u2") for order in ((0, 1, 2), (0, 2, 1)))
    _way.cache_clear()
    *_, tried, taken = _way(target.shape, target.strides, source.strides, 2)
    assert ("plain", ()) in tried
    assert len(tried) == 2 * len(set(tried)) == 6
    moved, copied = list[tuple[str, object]](), MODULE._copy
    told = iter([0.0, 9.0, 10.0, 19.0, 20.0, 29.0, 30.0, 35.0, 40.0, 41.0, 50.0, 53.0])
    monkeypatch.setattr(MODULE, "perf_counter", lambda: next(told, 60.0))
    monkeypatch.setattr(MODULE, "_copy", lambda a, b, *way: moved.append(way) or copied(a, b, *way))
    for _ in range(9):
        checked(target, source, _move)
    outer = [each for each in moved if each in tried]
    times = [9 if each[0] == "plain" else 10 for each in tried]
    assert list(taken.values()) == [n * m for n, m in zip([9, 9, 9, 5, 1, 3], times, strict=True)]
    assert tuple(outer[:6]) == tried
    assert moved.count(tried[4]) == 2 + 3


def ways_through(rank: int) -> list[tuple[str, tuple[tuple[int, int], ...]]]:
    """Ways to move so many dimensions, sensible or not."""
    places = [(axis, step) for axis in range(rank) for step in (1, 16, 64, 256)]
    parts = [(each,) for each in places]
    parts += [(one, other) for one in places[:4] for other in places[-4:]]
    staged = [("staged", ((axis, 16),)) for axis in range(rank - 1)]
    return [("whole", ()), *[("parts", each) for each in parts], *staged]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["u1", "V3", "f4", "c16"])
def test_every_way_stores_the_same(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, random = np.dtype(dtype), np.random.default_rng(5)
    for _ in range(12):
        shape = tuple(int(random.choice([2, 3, 17, 20, 70])) for _ in range(random.integers(2, 4)))
        shape = (*shape, 300) if np.prod(shape) < 2048 else shape
        target, source = memory(shape, kind, random), memory(shape, kind, random)
        order, seen, wide, *_ = way_of(target, source)
        rank = len(seen or shape) - bool(wide)  # the last dimension becomes the item
        for how, cuts in ways_through(rank):
            found = order, seen, wide, ((how, cuts),), dict[int, float]()
            monkeypatch.setattr(MODULE, "_way", lambda *_, found=found: found)
            checked(target, source, _move)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("threads", [2, 5, 256])
def test_threads_share_what_is_long_along_any_axis(threads: int) -> None:
    for shape in ((600_001,), (3, 200_003), (2, 2, 150_001), (700_001, 1, 1)):
        target, source = turned(shape, tuple(range(len(shape))), "u2"), np.zeros((*shape, 2), "u2")
        source[..., 1] = np.arange(np.prod(shape)).reshape(shape) % 65521
        checked(target, source[..., 1], lambda one, other: _move(one, other, threads))


def test_a_thread_that_fails_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: np.ndarray) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(MODULE, "_copy", broken)
    with pytest.raises(MemoryError, match="no room"):
        _move(np.zeros(2_000_000, "u1")[::2], np.zeros(1_000_000, "u1"), 2)


def test_runs_that_are_wide_items_are_moved_as_such() -> None:
    for dtype, lanes, wide in (("u1", 4, "u4"), ("f2", 8, "c16"), ("f4", 12, "V48")):
        target = np.zeros((700, 5, lanes), dtype)
        source = np.zeros((5, 700, lanes), dtype).transpose(1, 0, 2)
        assert way_of(target, source)[2:] == (wide, "whole", ())
        odd = np.zeros(source.nbytes + 1, "u1")[1:].view(dtype).reshape(5, 700, lanes)
        odd[...] = np.arange(lanes)
        checked(target, odd.transpose(1, 0, 2), _move)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_fills_as_an_assignment_does(dtype: object) -> None:
    kind = np.dtype(dtype)  # type: ignore[call-overload]
    random = np.random.default_rng(kind.itemsize)
    item = np.ndarray((1,), kind, bytes([1]) * kind.itemsize)
    for _ in range(25):
        shape = tuple(int(random.choice([1, 2, 5, 13, 40])) for _ in range(random.integers(1, 5)))
        target = memory(shape, kind, random)
        checked(target, np.broadcast_to(item, shape), lambda one, _: _fill(one, item.reshape(())))


@pytest.mark.parametrize("start", range(9))
def test_short_runs_of_bytes_are_filled_piece_by_piece(start: int) -> None:
    item = np.array(77, "u1")
    for width, last in ((16, 13), (16, 15), (8, 7), (12, 11), (9, 5), (32, 31), (24, 17), (4, 2)):
        for rows in (60, 700):
            raw = np.zeros(16 + rows * 60 * width + 64, "u1")
            whole = np.ndarray((rows, 60, width), "u1", raw, start)
            first = min(start, width - last)
            runs = whole[..., first : first + last]
            assert MODULE._short_runs(runs)
            _fill(runs, item)
            assert (runs == 77).all()
            assert (raw == 77).sum() == runs.size


IDENTITIES = (
    ("layout NCHW(n, c, h, w) = [n, c, h, w]", (2, 3, 4, 5), (0, 1, 2, 3)),
    ("layout NHWC(n, c, h, w) = [n, h, w, c]", (2, 3, 4, 5), (0, 2, 3, 1)),
    ("layout Vector(i) = [i]", (7,), (0,)),
    ("layout Fixed(c, k: 4) = [k, c]", (3, 4), (1, 0)),
)


@pytest.mark.parametrize(("text", "shape", "order"), IDENTITIES)
def test_no_copy_is_made_where_items_lie_so_already(
    text: str, shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    module = module_of(text)
    buffer = np.arange(np.prod(shape)).reshape([shape[k] for k in order])
    tensor = buffer.transpose(np.argsort(order))
    assert not np.shares_memory(module.pack(tensor), tensor)
    for copy in (None, False):
        packed = module.pack(tensor, copy=copy)
        assert np.shares_memory(packed, tensor)
        assert packed.flags.c_contiguous
        assert np.array_equal(packed, module.pack(tensor))
    apart = np.repeat(tensor, 2, axis=-1)[..., ::2]
    assert np.array_equal(module.pack(apart, copy=None), packed)
    assert not np.shares_memory(module.pack(apart, copy=None), apart)
    with pytest.raises(ValueError, match="`copy` is False"):
        module.pack(apart, copy=False)


def test_a_buffer_is_seen_as_its_tensor() -> None:
    module, buffer = module_of(IDENTITIES[0][0]), np.arange(24).reshape(1, 2, 3, 4)
    for source in (buffer, buffer.reshape(-1)):
        seen = module.unpack(source, (1, 2, 3, 4), copy=False)
        assert np.shares_memory(seen, buffer)
        assert np.array_equal(seen, buffer)
        assert not np.shares_memory(module.unpack(source, (1, 2, 3, 4)), buffer)
    buffer.flags.writeable = False
    assert not module.unpack(buffer, (1, 2, 3, 4), copy=None).flags.writeable
    assert module.unpack(buffer, (1, 2, 3, 4)).flags.writeable
    turned = module_of(IDENTITIES[1][0])
    assert turned.unpack(buffer, (1, 4, 2, 3), copy=None).flags.c_contiguous
    with pytest.raises(ValueError, match="`copy` is False"):
        turned.unpack(buffer, (1, 4, 2, 3), copy=False)


COPIED = (
    "layout Blocked(n, c) = [n, c/4, c%4]",
    "layout Joined(n, c) = [(n, c)]",
    "layout Lead(n, c) = [n, c] offset 2",
    "layout Gap(n, c) = [n : 5, c] where N <= 5",
    "layout Xor(n, c) = [n, (c/4)^(n%2), c%4]",
)


@pytest.mark.parametrize("text", [*COPIED, IDENTITIES[1][0]])
def test_elements_that_are_moved_are_copied(text: str) -> None:
    module = module_of(text)
    shape = (1, 2, 3, 4) if "NHWC" in text else (3, 8)
    tensor = np.arange(24).reshape(shape)
    packed = module.pack(tensor, copy=None)
    assert np.array_equal(packed, module.pack(tensor))
    assert np.array_equal(module.unpack(packed, shape, copy=None), tensor)
    out, back = np.full_like(packed, -1), np.full_like(tensor, -1)
    for call in (
        lambda copy: module.pack(tensor, out, copy=copy),
        lambda copy: module.unpack(packed, shape, back, copy=copy),
    ):
        with pytest.raises(ValueError, match="`copy` is False"):
            call(False)
        for wrong in (0, 1, "no", np.True_):
            with pytest.raises(TypeError, match="not True, False or None"):
                call(wrong)
    assert (out == -1).all()
    assert (back == -1).all()
    assert module.pack(tensor, out, copy=None) is out


REFUSED_THREADS = (
    *((number, ValueError) for number in (0, -1, 257)),
    *((other, TypeError) for other in (1.0, 2.0, True, "1", None)),
)


@pytest.mark.parametrize("text", [*COPIED, IDENTITIES[1][0]])
def test_a_number_of_threads_is_asked_for(text: str) -> None:
    module = module_of(text)
    shape = (1, 2, 3, 4) if "NHWC" in text else (3, 8)
    tensor = np.arange(24).reshape(shape)
    packed = module.pack(tensor)
    out, back = np.full_like(packed, -1), np.full_like(tensor, -1)
    for threads, error in REFUSED_THREADS:
        with pytest.raises(error, match="threads"):
            module.pack(tensor, out, threads=threads)
        with pytest.raises(error, match="threads"):
            module.unpack(packed, shape, back, threads=threads)
    assert (out == -1).all()
    assert (back == -1).all()
    assert np.array_equal(module.pack(tensor, threads=3), packed)
    assert np.array_equal(module.unpack(packed, shape, threads=3), tensor)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text",
    [
        "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16] fill 7",
        "layout NHWC(n, c, h, w) = [n, h, w, c]",
        "layout Crouton(n, c, h, w) = [n, h/8, w/8, c/32, h%8, w%8, c%32] fill 7",
        "layout Image(n, c, h, w) = [(n, h), (c/4, w), c%4] fill 7",
        "layout Bytes(n, c, h, w) = [n, h/8, c/16, w, c%16, h%8/4, h%4] fill 7",
    ],
)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_threads_move_what_one_moves(text: str, dtype: str) -> None:
    module, shape = module_of(text), (2, 50, 91, 93)
    tensor = (np.arange(np.prod(shape)) % 251).astype(dtype).reshape(shape)
    packed = module.pack(tensor)
    for threads in (2, 3):
        assert np.array_equal(module.pack(tensor, threads=threads), packed)
        assert np.array_equal(module.unpack(packed, shape, threads=threads), tensor)


def test_a_shape_that_is_equal_and_not_alike_is_still_refused() -> None:
    module = module_of("layout Blocked(n, c) = [n, c/4, c%4]")
    packed = module.pack(np.ones((1, 3)))
    assert module.unpack(packed, (1, 3)).shape == (1, 3)
    for shape in ((True, 3), (1.0, 3), (1, 3 + 0j)):
        with pytest.raises(TypeError, match="no integer"):
            module.unpack(packed, shape)
    assert module.unpack(packed, [np.int64(1), 3]).shape == (1, 3)


def test_memory_that_is_its_own_neighbour_is_refused() -> None:
    module = module_of("layout Plain(i, j) = [i, j]")
    windows = np.lib.stride_tricks.sliding_window_view(np.zeros(9), 4, writeable=True)
    strided = np.ndarray((3, 4), "f8", strides=(8, 8))
    for out in (windows, strided):
        with pytest.raises(ValueError, match="several places"):
            module.pack(np.ones(out.shape), out)
        assert not np.any(out == 1)
    owned = np.zeros((3, 4))
    with pytest.raises(ValueError, match="overlaps"):
        module.pack(owned, owned)
    assert module.pack(np.ones((3, 4)), np.zeros((3, 8))[:, ::-2])[0].tolist() == [1, 1, 1, 1]
