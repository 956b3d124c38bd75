"""What compiled modules accept and refuse: the same as numpy's, word for word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from codegen_cases import module_of
from native_cases import modules, needs_compiler
from test_codegen_arguments import DTYPES, SOURCES, filled

pytestmark = needs_compiler

BLOCKED = "layout Blocked(n, c, w) = [n, c/4, w, c%4]"
LED = "layout Led(n, c, w) = [(n, w), c/4, c%4] offset 2"
SHAPE, PHYSICAL = (2, 6, 3), (2, 2, 3, 4)


@pytest.mark.parametrize("text", [BLOCKED, LED])
@pytest.mark.parametrize("name", DTYPES)
def test_every_type_is_moved_bit_for_bit(text: str, name: str) -> None:
    plain, module, tensor = module_of(text), modules(text), filled(np.dtype(name), SHAPE)
    packed = module.pack(tensor)
    assert packed.dtype == tensor.dtype
    assert packed.tobytes() == plain.pack(tensor).tobytes()
    back = module.unpack(packed, SHAPE)
    assert (back.dtype, back.tobytes()) == (tensor.dtype, tensor.tobytes())


@pytest.mark.parametrize("text", [BLOCKED, LED])
@pytest.mark.parametrize("kind", SOURCES)
def test_sources_and_destinations_need_not_be_contiguous(text: str, kind: str) -> None:
    module, tensor = modules(text), np.arange(36, dtype="int32").reshape(SHAPE) + 100
    source, want = SOURCES[kind](tensor), module_of(text).pack(tensor)
    for _ in range(2):
        assert np.array_equal(module.pack(source), want)
        assert np.array_equal(module.unpack(np.asfortranarray(want), SHAPE), tensor)
    apart = np.full((*want.shape, 3), 9, "int32")
    assert np.array_equal(module.pack(tensor, apart[..., 1]), want) or text == LED
    assert (apart[..., ::2] == 9).all()
    backwards = np.full((*SHAPE, 2), 9, "int32")
    module.unpack(want, SHAPE, backwards[::-1, :, ::-1, 0])
    assert np.array_equal(backwards[::-1, :, ::-1, 0], tensor)
    assert (backwards[..., 1] == 9).all()


def test_unaligned_arrays_of_every_shift() -> None:
    text = "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]"
    plain, module = module_of(text), modules(text)
    tensor = np.random.default_rng(0).integers(0, 99, (1, 37, 9, 11)).astype("u4")
    want = plain.pack(tensor)
    for shift in range(17):
        source = np.frombuffer(b"?" * shift + tensor.tobytes(), "u4", offset=shift)
        raw = np.zeros(want.nbytes + shift, "u1")
        out = raw[shift:].view("u4").reshape(want.shape)
        assert np.array_equal(module.pack(source.reshape(tensor.shape), out), want)
        back = np.zeros(tensor.nbytes + shift, "u1")[shift:].view("u4").reshape(tensor.shape)
        assert np.array_equal(module.unpack(out, tensor.shape, back), tensor)


TENSOR = np.arange(36, dtype="int32").reshape(SHAPE)


def read_only() -> np.ndarray:
    out = np.zeros(PHYSICAL, "int32")
    out.flags.writeable = False
    return out


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    memory = np.zeros(83, "int32")
    return memory[:36].reshape(SHAPE), memory[35:].reshape(PHYSICAL)


REFUSED: dict[str, Callable[..., object]] = {
    "a list": lambda m: m.pack([[[1]]]),
    "rank": lambda m: m.pack(TENSOR[0]),
    "objects": lambda m: m.pack(TENSOR.astype(object)),
    "out of another shape": lambda m: m.pack(TENSOR, np.zeros((2, 2, 4, 3), "int32")),
    "out of another type": lambda m: m.pack(TENSOR, np.zeros(PHYSICAL, "int64")),
    "out that is byte-swapped": lambda m: m.pack(TENSOR, np.zeros(PHYSICAL, ">i4")),
    "out that is no array": lambda m: m.pack(TENSOR, [1]),
    "out that is read-only": lambda m: m.pack(TENSOR, read_only()),
    "out with a stride of zero": lambda m: m.pack(
        TENSOR, np.lib.stride_tricks.as_strided(np.zeros(4, "int32"), PHYSICAL, (0, 0, 0, 4))
    ),
    "out that overlaps": lambda m: m.pack(*overlapping()),
    "a fill that is too large": lambda m: m.pack(TENSOR, fill=2**40),
    "a fill of another kind": lambda m: m.pack(TENSOR, fill="x"),
    "a fraction": lambda m: m.pack(TENSOR, fill=0.5),
    "a shape of another rank": lambda m: m.unpack(np.zeros(PHYSICAL), (2, 6)),
    "a shape of no integers": lambda m: m.unpack(np.zeros(PHYSICAL), (2, 6.0, 3)),
    "a shape below zero": lambda m: m.unpack(np.zeros(PHYSICAL), (2, -6, 3)),
    "a buffer of another size": lambda m: m.unpack(np.zeros(47), SHAPE),
    "a tensor that is read-only": lambda m: m.unpack(
        np.zeros(PHYSICAL), SHAPE, np.frombuffer(bytes(288)).reshape(SHAPE)
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_in_the_same_words(name: str) -> None:
    module, plain = modules(BLOCKED), module_of(BLOCKED)
    module.pack(TENSOR)  # remembered shapes refuse as well
    with pytest.raises((ValueError, TypeError)) as expected:
        REFUSED[name](plain)
    for _ in range(2):
        with pytest.raises(expected.type) as found:
            REFUSED[name](module)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("threads", [0, -1, 257, 1.0, True, "2", None])
def test_refuses_threads_that_are_none(threads: object) -> None:
    with pytest.raises((ValueError, TypeError), match="`threads` is"):
        modules(BLOCKED).pack(TENSOR, threads=threads)
    with pytest.raises((ValueError, TypeError), match="`threads` is"):
        modules(BLOCKED).unpack(np.zeros(PHYSICAL), SHAPE, threads=threads)


def test_signs_of_zero_and_types_of_fill_are_kept_apart() -> None:
    module, tensor = modules(BLOCKED), TENSOR.astype("f4")
    for fill in (0, -0.0, 0.0, 1, 1.5, True, np.float32(2)):
        for _ in range(2):
            want = module_of(BLOCKED).pack(tensor, fill=fill)
            assert module.pack(tensor, fill=fill).tobytes() == want.tobytes()


def test_empty_tensors() -> None:
    module = modules(BLOCKED)
    assert module.pack(np.zeros((0, 6, 3))).shape == (0, 2, 3, 4)
    assert module.unpack(np.zeros((0, 2, 3, 4)), (0, 6, 3)).shape == (0, 6, 3)


def test_what_is_remembered_stays_bounded() -> None:
    module = modules(BLOCKED)
    for extent in range(1, 600):
        module.pack(np.zeros((1, 1, extent), "u1"))
    assert len(module._packs) <= 256


def test_the_zero_point_is_asked_for() -> None:
    module = modules("layout Quantised(c, w) = [c/4, w, c%4] of u8 fill zero_point")
    with pytest.raises(TypeError, match="`fill` is missing"):
        module.pack(np.zeros((3, 2), "u1"))
    assert (module.pack(np.zeros((3, 2), "u1"), fill=128)[0, :, 3] == 128).all()
