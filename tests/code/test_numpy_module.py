"""`NumpyModule`: what callers of `compile` were promised, and a generated module does not do.

`_put`, which generated modules carry, stores byte for byte what ``target[...] = source`` stores,
and nothing beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from codegen_cases import module_of
from emitted_fuzz.modules import executed

import layoutdsl

TYPES = ["u1", "?", "u2", ">i2", "f2", "V3", "u4", ">f4", "V6", "u8", "M8[s]", "c8", "V12", "c16"]
PUT = executed(layoutdsl.generate("NCHW4c", validate=False).text)._put


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


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("last", [1, 2, 3, 4, 8, 9, 16, 70])
def test_put_is_an_assignment(dtype: str, last: int) -> None:
    random = np.random.default_rng(last)
    for rows in (3, 700):
        shape = (2, rows, 3, last)
        checked(*(memory(shape, np.dtype(dtype), random) for _ in range(2)), PUT)
        whole = [np.frombuffer(random.bytes(6 * rows * last), "u1") & 1 for _ in range(2)]
        plain = [each.copy().view("?").reshape(shape) for each in whole]
        checked(plain[0], plain[1], PUT)


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
