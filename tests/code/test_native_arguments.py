"""What compiled modules accept and refuse: the same as numpy's, word for word."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from c_library import CLibrary
from codegen_cases import layout_of, module_of
from native_cases import modules, needs_compiler
from test_codegen_arguments import DTYPES, SOURCES, filled
from test_numpy_module import COPIED, IDENTITIES

pytestmark = needs_compiler

BLOCKED = "layout Blocked(n, c, w) = [n, c/4, w, c%4]"
LED = "layout Led(n, c, w) = [(n, w), c/4, c%4] offset 2"
SHAPE, PHYSICAL = (2, 6, 3), (2, 2, 3, 4)
TENSOR = np.arange(36, dtype="int32").reshape(SHAPE)


@pytest.mark.sampled(56)
@pytest.mark.parametrize("text", [BLOCKED, LED])
@pytest.mark.parametrize("name", DTYPES)
def test_every_type_is_moved_bit_for_bit(text: str, name: str) -> None:
    plain, module, tensor = module_of(text), modules(text), filled(np.dtype(name), SHAPE)
    packed = module.pack(tensor)
    assert packed.dtype == tensor.dtype
    assert packed.tobytes() == plain.pack(tensor).tobytes()
    back = module.unpack(packed, SHAPE)
    assert (back.dtype, back.tobytes()) == (tensor.dtype, tensor.tobytes())


@pytest.mark.sampled(6)
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


BIG = "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]"
AWKWARD: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    **SOURCES,
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    "of stride zero": lambda x: np.broadcast_to(x[:1, :1], x.shape),
    "one number": lambda x: np.broadcast_to(x[:1, :1, :1], x.shape),
    "a matrix of pages": lambda x: np.lib.stride_tricks.as_strided(
        np.arange(60, dtype=x.dtype), x.shape, (x.itemsize * 3, x.itemsize, x.itemsize * 7)
    ),
    "masked": np.ma.masked_array,
    "of a class of its own": lambda x: x.view(type("Own", (np.ndarray,), {})),
}


@pytest.mark.sampled(48)
@pytest.mark.parametrize("text", [BLOCKED, LED])
@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", ">f4", ">i2", "f8", "c8"])
def test_awkward_arrays_of_every_width(text: str, kind: str, dtype: str) -> None:
    """Again and again, with and without `out`, alone and in threads: what numpy makes of them."""
    plain, module = module_of(text), modules(text)
    source = AWKWARD[kind](filled(np.dtype(dtype), SHAPE))
    want = plain.pack(source, fill=3)
    for threads in (1, 3, 1):
        assert module.pack(source, fill=3, threads=threads).tobytes() == want.tobytes()
        out = np.zeros_like(want)
        out.reshape(-1)[:2] = 3
        assert module.pack(source, out, 3, threads) is out
        assert out.tobytes() == want.tobytes()
        # the other byte order of the same items is another type, refused as an out
        other = np.zeros(want.shape, source.dtype.newbyteorder())
        if other.dtype != source.dtype:
            with pytest.raises(ValueError, match="`out` holds"):
                module.pack(source, other, 3, threads)
        back = np.zeros_like(source, subok=False)
        assert module.unpack(want, SHAPE, back, threads) is back
        assert back.tobytes() == np.ascontiguousarray(source).tobytes()


@pytest.mark.slow
def test_files_mapped_into_memory_are_moved_by_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, module = module_of(BIG), modules(BIG)
    shape = (1, 20, 4, 5)
    source = np.memmap(tmp_path / "in", "f4", "w+", shape=shape)
    source[...] = np.arange(400).reshape(shape)
    want = plain.pack(np.array(source))
    out = np.memmap(tmp_path / "out", "f4", "w+", shape=want.shape)
    back = np.memmap(tmp_path / "back", "f4", "w+", shape=shape)
    monkeypatch.setattr(module._plain, "pack", lambda *_, **__: pytest.fail("numpy served"))
    monkeypatch.setattr(module._plain, "unpack", lambda *_, **__: pytest.fail("numpy served"))
    for threads in (1, 2):
        out[...] = back[...] = 9
        assert module.pack(source, out, threads=threads) is out
        assert module.unpack(out, shape, back, threads) is back
        assert out.tobytes() == want.tobytes()
        assert back.tobytes() == source.tobytes()
    readable = np.memmap(tmp_path / "out", "f4", "r", shape=want.shape)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="`out` is read-only"):
        module.pack(np.array(source), readable)


@pytest.mark.parametrize("first", [0, 63, 64, 65, 100, 112, 147, 148, 149])
@pytest.mark.parametrize("threads", [1, 2])
def test_neighbours_are_no_overlap(first: int, threads: int) -> None:
    """36 elements of a tensor and 48 of its buffer, in one piece of memory."""
    module, memory = modules(BLOCKED), np.zeros(200, "i4")
    buffer = memory[100:148].reshape(PHYSICAL)
    tensor = memory[first : first + 36].reshape(SHAPE)
    tensor[...] = TENSOR
    before = memory.copy()
    if first + 36 <= 100 or first >= 148:
        module.pack(tensor, buffer, threads=threads)
        tensor[...] = 0
        module.unpack(buffer, SHAPE, tensor, threads=threads)
        assert np.array_equal(tensor, TENSOR)
        return
    for _ in range(2):
        with pytest.raises(ValueError, match="`out` overlaps `src`"):
            module.pack(tensor, buffer, threads=threads)
        with pytest.raises(ValueError, match="`out` overlaps `src`"):
            module.unpack(buffer, SHAPE, tensor, threads=threads)
        assert np.array_equal(memory, before)


class Impostor:
    """Says that it is what was packed before, and holds less."""

    shape, dtype = SHAPE, np.dtype("i4")

    def __buffer__(self, _: int) -> memoryview:
        return memoryview(b"1234")


def test_what_only_looks_like_an_array_is_refused() -> None:
    module = modules(BLOCKED)
    module.pack(TENSOR)
    module.unpack(module.pack(TENSOR), SHAPE)
    with pytest.raises(TypeError, match="`src` is a Impostor, not a numpy array"):
        module.pack(Impostor())
    with pytest.raises(TypeError, match="`out` is a Impostor, not a numpy array"):
        module.unpack(module.pack(TENSOR), SHAPE, Impostor())


MANY = (1 << 32) // 1024 + 1
DEEP = {
    BIG: (MANY, 16, 8, 8),
    "layout NHWC(n, c, h, w) = [n, h, w, c]": (MANY, 16, 8, 8),
    "layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32] fill 31": (MANY, 8, 8, 16),
}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", DEEP)
def test_beyond_32_bits(text: str, tmp_path: Path) -> None:
    """The last tensor of a batch of 4 GiB; of the file only what is touched exists."""
    shape, plain, layout = DEEP[text], module_of(text), layout_of(text)
    box, library = plain.physical_shape(shape), CLibrary(layout, tmp_path, widths=(1,))
    tensor = np.memmap(tmp_path / "in", "u1", "w+", shape=shape)
    buffer = np.memmap(tmp_path / "out", "u1", "w+", shape=box)
    assert min(tensor.size, buffer.size) > 1 << 32
    last = np.random.default_rng(1).integers(1, 250, shape[1:]).astype("u1")
    tensor[-1] = last
    want = plain.pack(last[None])[0]
    for verb, source, target, held in (
        ("pack", tensor, buffer, want),
        ("unpack", buffer, tensor, last),
    ):
        target[-1] = 7
        units = library.units(verb, "u1", shape)
        first = units * (shape[0] - 1) // shape[0]
        assert units > first
        library.part(verb, source, target, shape, range(first, units), layout.fill.value)
        assert np.array_equal(target[-1], held)


def test_sizes_beyond_all_memory_are_left_to_numpy() -> None:
    module = modules(BLOCKED)
    assert module.within_words((1, 2**31, 3), 4)
    assert module.within_words((2**20, 2**20, 2**9), 4)
    assert not module.within_words((2**20, 2**20, 2**10), 4)
    assert not module.within_words((2**20, 2**20, 2**20), 8)
    assert not module.within_words((2**31, 2**31, 2**31), 1)
    everywhere = np.broadcast_to(np.zeros(1, "u1"), (2**31, 2**20, 2**10))
    with pytest.raises((ValueError, MemoryError)):
        module.pack(everywhere)


@pytest.mark.slow
def test_unaligned_arrays_of_every_shift() -> None:
    plain, module = module_of(BIG), modules(BIG)
    tensor = np.random.default_rng(0).integers(0, 99, (1, 37, 9, 11)).astype("u4")
    want = plain.pack(tensor)
    for shift in range(17):
        source = np.frombuffer(b"?" * shift + tensor.tobytes(), "u4", offset=shift)
        raw = np.zeros(want.nbytes + shift, "u1")
        out = raw[shift:].view("u4").reshape(want.shape)
        assert np.array_equal(module.pack(source.reshape(tensor.shape), out), want)
        back = np.zeros(tensor.nbytes + shift, "u1")[shift:].view("u4").reshape(tensor.shape)
        assert np.array_equal(module.unpack(out, tensor.shape, back), tensor)


def read_only() -> np.ndarray:
    out = np.zeros(PHYSICAL, "int32")
    out.flags.writeable = False
    return out


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    memory = np.zeros(83, "int32")
    return memory[:36].reshape(SHAPE), memory[35:].reshape(PHYSICAL)


REFUSED: dict[str, Callable[..., object]] = {
    "a list": lambda m: m.pack([[[1]]]),
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


@pytest.mark.sampled(4)
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


def test_names_the_axes_when_the_rank_differs() -> None:
    with pytest.raises(ValueError, match=r"3 are needed"):
        module_of(BLOCKED).pack(TENSOR[0])
    with pytest.raises(ValueError, match=r"`src` has shape \(6, 3\), .* 3 axes: \(N, C, W\)"):
        modules(BLOCKED).pack(TENSOR[0])


@pytest.mark.parametrize("threads", [0, -1, 257, 1.0, True, "2", None])
def test_refuses_threads_that_are_none(threads: object) -> None:
    with pytest.raises((ValueError, TypeError), match="`threads` is"):
        modules(BLOCKED).pack(TENSOR, threads=threads)
    with pytest.raises((ValueError, TypeError), match="`threads` is"):
        modules(BLOCKED).unpack(np.zeros(PHYSICAL), SHAPE, threads=threads)


def outcome(call: Callable[[], np.ndarray], *held: np.ndarray) -> object:
    """What a call returns and where that is, or what it refuses."""
    try:
        found = call()
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return found.tobytes(), found.shape, [np.shares_memory(found, each) for each in held]


SEEN = [(text, shape) for text, shape, _ in IDENTITIES] + [(text, (3, 8)) for text in COPIED]


@pytest.mark.sampled(30)
@pytest.mark.parametrize(("text", "shape"), SEEN)
@pytest.mark.parametrize("copy", [True, None, False, 0, "no", np.True_])
def test_copies_are_left_out_where_numpy_leaves_them_out(
    text: str, shape: tuple[int, ...], copy: object
) -> None:
    plain, module = module_of(text), modules(text)
    tensor = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    packed = plain.pack(tensor)
    assert packed.tobytes() == module.pack(tensor).tobytes()
    second = min(1, tensor.ndim - 1)
    inner = np.moveaxis(np.moveaxis(tensor, second, -1).copy(), -1, second)
    for seen in (tensor, tensor.T.copy().T, inner):
        for dtype in ("f4", "c16"):  # the second is left to numpy
            source, box = seen.astype(dtype, "K"), packed.astype(dtype)
            for _ in range(2):
                for new, out in ((None, None), (np.zeros_like(box), np.zeros(shape, dtype))):
                    one, other = (
                        [
                            outcome(partial(m.pack, source, new, copy=copy), source),
                            outcome(partial(m.unpack, box, shape, out, copy=copy), box),
                        ]
                        for m in (plain, module)
                    )
                    assert one == other


def test_what_has_to_be_moved_is_moved_by_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, module = module_of(BLOCKED), modules(BLOCKED)
    want, asked = plain.pack(TENSOR), list[object]()

    def refused(*_: object, **given: object) -> None:
        asked.append(given["copy"])
        raise ValueError("`copy` is False")

    monkeypatch.setattr(module._plain, "pack", refused)
    monkeypatch.setattr(module._plain, "unpack", refused)
    assert module.pack(TENSOR, copy=None).tobytes() == want.tobytes()
    assert module.unpack(want, SHAPE, copy=None).tobytes() == TENSOR.tobytes()
    assert asked == [False, False]
    assert module.pack(TENSOR, np.empty_like(want), copy=None).tobytes() == want.tobytes()
    assert len(asked) == 2


def test_threads_are_passed_on_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    module, asked = modules(BLOCKED), list[object]()
    monkeypatch.setattr(module._plain, "pack", lambda *_, threads: asked.append(threads))
    monkeypatch.setattr(module._plain, "unpack", lambda *_, threads: asked.append(threads))
    apart = np.repeat(TENSOR, 2, -1)[..., ::2]
    for threads in (1, 3):
        module.pack(apart, threads=threads)
        module.unpack(np.zeros((2, 2, 3, 8))[..., ::2], SHAPE, threads=threads)
    assert asked == [1, 1, 3, 3]


@pytest.mark.slow
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
