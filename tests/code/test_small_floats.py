"""Items of types that numpy lacks: arrays of ml_dtypes, tensors that are none, and their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell
from native_cases import needs_compiler

import layoutdsl

ml_dtypes = pytest.importorskip("ml_dtypes")
__all__ = ["shell"]

TARGETS = ["numpy", pytest.param("native", marks=needs_compiler)]
SHAPE = (3, 6)
Array = np.ndarray[Any, Any]

# An element type, and the types of ml_dtypes that hold such elements.
HELD = {
    "": ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float6_e2m3fn", "int4"),
    "bf16": ("bfloat16",),
    "f8": ("float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2"),
    "f8e4m3": ("float8_e4m3fn",),
    "f8e5m2": ("float8_e5m2", "float8_e5m2fnuz"),
    "e8": ("float8_e8m0fnu",),
    "f4": ("float4_e2m1fn",),
    "u4": ("uint4",),
}
PAIRS = [(element, name) for element, names in HELD.items() for name in names]
CASES = [
    pytest.param(*pair, target, marks=[*marks, *([] if n in often else [pytest.mark.slow])])
    for n, pair in enumerate(PAIRS)
    for target, marks, often in (("numpy", [], (0, 2, 6)), ("native", [needs_compiler], (0,)))
]


def layout(element: str, body: str = "[n, c/4, c%4]", rest: str = "") -> layoutdsl.Layout:
    of = f" of {element}" if element else ""
    return layoutdsl.parse(f"layout A(n, c) = {body}{of}{rest}")["A"]


def array(name: str) -> Array:
    """Every bit of it may be set."""
    dtype = np.dtype(getattr(ml_dtypes, name))
    most = 16 if name in ("float4_e2m1fn", "uint4", "int4") else 64 if "float6" in name else 256
    numbers = np.random.default_rng(5).integers(0, most, (*SHAPE, dtype.itemsize))
    return numbers.astype("u1").view(dtype)[..., 0]


def bits(items: Array) -> Array:
    return items.view(f"u{items.dtype.itemsize}")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("element", "name", "target"), CASES)
def test_there_and_back_as_the_same_type(element: str, name: str, target: Any) -> None:
    """Against the meaning, bit for bit; into what is given too, and from any memory."""
    one, tensor = layout(element), array(name)
    module = layoutdsl.compile(one, target)
    for source in (tensor, np.asfortranarray(tensor), tensor[::-1, ::-1].copy()[::-1, ::-1]):
        for out in (None, np.empty(one.physical_shape(SHAPE), tensor.dtype)):
            packed = module.pack(source, out)
            assert out is None or packed is out
            assert packed.dtype == tensor.dtype
            flat = bits(packed).reshape(-1)
            for index in np.ndindex(SHAPE):
                assert flat[one.offset(index, SHAPE)] == bits(tensor)[index]
            assert np.count_nonzero(flat) == np.count_nonzero(bits(tensor))
        for back in (None, np.empty(SHAPE, tensor.dtype)):
            found = module.unpack(packed, SHAPE, back)
            assert back is None or found is back
            assert (found.dtype, found.tobytes()) == (tensor.dtype, tensor.tobytes())
    turned = layoutdsl.convert(one, layout(element, "[c, n]"), compiled=target)
    for out in (None, np.empty(SHAPE[::-1], tensor.dtype)):
        converted = turned(packed, SHAPE, out)
        assert out is None or converted is out
        assert (converted.dtype, converted.tobytes()) == (tensor.dtype, tensor.T.tobytes())


@pytest.mark.parametrize("target", TARGETS)
def test_a_view_where_nothing_has_to_move(target: Any) -> None:
    module, tensor = layoutdsl.compile(layout("", "[n, c]"), target), array("bfloat16")
    assert np.shares_memory(module.pack(tensor, copy=None), tensor)
    assert module.pack(tensor, copy=None).dtype == tensor.dtype
    with pytest.raises(ValueError, match="cannot be done without a copy"):
        layoutdsl.compile(layout(""), target).pack(tensor, copy=False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
def test_a_fill_is_a_number_of_the_type(target: Any) -> None:
    """The same number whatever the type; held exactly, or refused."""
    nan, inf = float("nan"), float("inf")
    held: dict[str, tuple[float, ...]] = {
        "bfloat16": (1, -1, 1.5, 300, inf, -inf, nan),
        "float8_e4m3fn": (1, 1.5, 448, nan),
        "float8_e5m2": (1, -1.5, inf, nan),
        "float4_e2m1fn": (6, -0.5),
        "int4": (7, -8),
    }
    refused: dict[str, tuple[float, ...]] = {
        "bfloat16": (257, 0.1, 2**1030),
        "float8_e4m3fn": (300, inf, 1e9),
        "float8_e5m2": (300,),
        "float4_e2m1fn": (7, inf, nan),
        "int4": (8, 1.5, nan),
    }
    module = layoutdsl.compile(layout(""), target)
    for name, fills in held.items():
        tensor = array(name)
        for fill in fills:
            packed = module.pack(tensor, fill=fill)
            item = np.array(fill).astype(tensor.dtype)
            assert (bits(packed)[:, 1, 2:] == bits(item)).all(), (name, fill)
            if fill == fill:
                assert packed[0, 1, 3].item() == fill
        for fill in refused[name]:
            with pytest.raises(ValueError, match=f"which {name} cannot hold"):
                module.pack(tensor, fill=fill)
    default = layoutdsl.compile(layout("", rest=" fill 3"), target).pack(array("bfloat16"))
    assert default.tobytes() == module.pack(array("bfloat16"), fill=3).tobytes()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_keeps_its_padding(target: Any) -> None:
    module, tensor = layoutdsl.compile(layout("", rest=" fill any"), target), array("bfloat16")
    out = np.full((3, 2, 4), 9, tensor.dtype)
    module.pack(tensor, out)
    assert (out[:, 1, 2:] == 9).all()
    assert module.unpack(out, SHAPE).tobytes() == tensor.tobytes()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("element", "name", "words"),
    [
        ("f16", "bfloat16", "of dtype float16, not bfloat16"),
        ("i4", "int4", "of dtype int8, not int4"),
        ("u16", "float8_e5m2", "of dtype uint16, not float8_e5m2"),
        ("f4", "float8_e4m3fn", "is outside 0 to 15"),
    ],
)
def test_other_types_are_refused(element: str, name: str, words: str, target: Any) -> None:
    module = layoutdsl.compile(layout(element), target)
    tensor = array(name)
    buffer = tensor.reshape(-1)[np.arange(24) % 18].reshape(3, 2, 4)
    with pytest.raises((TypeError, ValueError), match=words):
        module.pack(tensor)
    with pytest.raises((TypeError, ValueError), match=words):
        module.unpack(buffer, SHAPE)
    with pytest.raises(ValueError, match="`out` holds"):
        layoutdsl.compile(layout(""), target).pack(array(name), np.empty((3, 2, 4), "u4"))


def test_bare_bytes_are_elements_by_their_bits() -> None:
    """They were an error of numpy's, which knows no least of them."""
    module = layoutdsl.compile(layout("u4"), "numpy")
    assert module.pack(bits(array("uint4")).view("V1")).dtype == "V1"
    with pytest.raises(ValueError, match="16 is outside 0 to 15"):
        module.pack(np.full(SHAPE, 16, "u1").view("V1"))


def test_words_hold_the_bits() -> None:
    tensor = array("bfloat16")
    module = layoutdsl.compile(layout("bf16"), storage="u32")
    words = module.pack(tensor)
    assert words.dtype == np.uint32
    assert module.unpack(words, SHAPE).view(tensor.dtype).tobytes() == tensor.tobytes()


RECORD = """\
record Scaled(n) = {
    scale(n)       = [n, 0 : 5]      of bf16
    value(n, k: 8) = [n, 2 + k : 10] of f8e5m2
}
"""


@pytest.mark.slow
def test_records_take_them() -> None:
    module = layoutdsl.compile(layoutdsl.parse(RECORD).records["Scaled"], "numpy")
    scale, value = array("bfloat16").reshape(-1)[:2], array("float8_e5m2").reshape(-1)[:16]
    packed = module.pack(scale=scale, value=value.reshape(2, 8))
    back = module.unpack(packed, {"n": 2})
    assert back.scale.view(scale.dtype).tobytes() == scale.tobytes()
    assert back.value.view(value.dtype).tobytes() == value.tobytes()


class Tensor:
    """Is called as torch calls its own."""


class ArrayImpl:
    """Is called as jax calls its own."""


@pytest.mark.parametrize("target", TARGETS)
def test_tensors_of_others_are_told_what_to_do(target: Any) -> None:
    module = layoutdsl.compile(layout(""), target)
    calls: list[Callable[[Any], Any]] = [module.pack, lambda each: module.unpack(each, SHAPE)]
    torch = (
        "`src` is a Tensor, not a numpy array: give `tensor.numpy()`, of bfloat16 "
        "`tensor.view(torch.uint16).numpy()` and of float8 that of uint8, or call "
        "`layoutdsl.torch.pack`"
    )
    jax = "`src` is a ArrayImpl, not a numpy array: give `np.asarray(array)`"
    for call in calls:
        for given, words in ((Tensor(), torch), (ArrayImpl(), jax), ([1], "not a numpy array")):
            with pytest.raises(TypeError) as caught:
                call(given)
            assert str(caught.value).startswith((words, f"`src` is a list, {words}"))


SPEC = """\
layout Bf(n, c, h, w) = [n, c/16, h, w, c%16] of bf16
layout E4(n, c, h, w) = [n, c/16, h, w, c%16] of f8e4m3
layout E5(n, c, h, w) = [n, c/16, h, w, c%16] of f8e5m2
layout F4(n, c, h, w) = [n, c/16, h, w, c%16] of f4
layout Three(n, c, h, w) = [n, c/16, h, w, c%16] of bf16 fill 3
layout F32(n, c, h, w) = [n, c/16, h, w, c%16] of f32
"""
LARGE = (2, 20, 3, 4)


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("Bf", "bfloat16"), ("E4", "float8_e4m3fn"), ("E5", "float8_e5m2"), ("F4", "float4_e2m1fn")],
)
@pytest.mark.parametrize("how", [(), ("--mem", "64K")], ids=["at once", "in pieces"])
def test_files_as_numpy_saves_them(
    shell: Shell, name: str, dtype: str, how: tuple[str, ...]
) -> None:
    """It saves them as bare bytes, and so are they packed; float8_e5m2 as what it cannot read."""
    Path("a.layout").write_text(SPEC)
    kind = np.dtype(getattr(ml_dtypes, dtype))
    tensor = (np.arange(480).reshape(LARGE) % 7).astype(kind)
    np.save("in.npy", tensor)
    done = shell("pack", f"a.layout:{name}", "in.npy", "out.npy", *how)
    assert done == Ended(0, "", "", b"")
    packed = np.load("out.npy")
    assert packed.dtype == f"V{kind.itemsize}"
    want = layoutdsl.compile(layoutdsl.library("NCHW16c"), "numpy").pack(tensor)
    assert np.array_equal(packed.view(kind), want)
    shape = ("--shape", "2,20,3,4")
    assert shell("unpack", f"a.layout:{name}", "out.npy", "back.npy", *shape, *how).code == 0
    assert np.array_equal(np.load("back.npy").view(kind), tensor)
    if not how:
        assert shell("convert", f"a.layout:{name}", "NHWC", "out.npy", "to.npy", *shape).code == 0
        assert np.array_equal(np.load("to.npy").view(kind), tensor.transpose(0, 2, 3, 1))


@pytest.mark.slow
def test_files_that_do_not_fit(shell: Shell) -> None:
    Path("a.layout").write_text(SPEC)
    tensor = np.ones(LARGE, ml_dtypes.bfloat16)
    np.save("in.npy", tensor)
    help_ = "  = help: save `array.view(numpy.uint16)`, whose fill is a number\n"
    for mem in ((), ("--mem", "64K")):
        words = "error: `Three` has a fill that bare bytes cannot hold\n"
        done = shell("pack", "a.layout:Three", "in.npy", "out.npy", *mem)
        assert (done.code, done.err) == (4, words + help_)
        words = "error: --fill is 3, which |V2 cannot hold\n"
        done = shell("pack", "a.layout:Bf", "in.npy", "out.npy", "--fill", "3", *mem)
        assert (done.code, done.err) == (2, words + help_)
        words = "error: `in.npy` holds void16, and `F32` is of f32: convert it to float32"
        done = shell("pack", "a.layout:F32", "in.npy", "out.npy", *mem)
        assert (done.code, done.err) == (4, f"{words}\n")
    for bare in ("V16", "V3", [("a", "<f4"), ("b", "<i4")]):  # what numpy has no integer for
        np.save("in.npy", np.zeros((1, 2, 3, 4), bare))
        done = shell("pack", "NCHW16c", "in.npy", "out.npy", "--fill", "3")
        assert (done.code, done.err) == (
            2,
            f"error: --fill is 3, which {np.dtype(bare)} cannot hold\n",
        )
    np.save("in.npy", np.full(LARGE, 16, "u1").view("V1"))
    words = "error: `in.npy` holds 16, and f4 is 0..15\n"
    assert shell("pack", "a.layout:F4", "in.npy", "out.npy").err == words
    np.save("in.npy", tensor.view("u2"))
    assert shell("pack", "a.layout:Three", "in.npy", "out.npy").code == 0
    assert np.load("out.npy")[0, 1, 0, 0, 15] == 3


def test_arrays_of_jax() -> None:
    """Their memory is that of an array of ml_dtypes; `docs/tensors.md` shows the rest."""
    jax = pytest.importorskip("jax")
    module = layoutdsl.compile(layoutdsl.library("NCHW16c"), "numpy")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "uint16", "float32", "bool"):
        tensor = (jax.numpy.arange(480).reshape(LARGE) % 2).astype(name)
        held = np.asarray(tensor)
        assert np.asarray(tensor).ctypes.data == held.ctypes.data == tensor.unsafe_buffer_pointer()
        packed = jax.numpy.asarray(module.pack(held))
        assert packed.dtype == tensor.dtype
        assert (module.unpack(np.asarray(packed), LARGE) == held).all()
    with pytest.raises(TypeError, match=r"`src` is a ArrayImpl.*give `np.asarray\(array\)`"):
        module.pack(tensor)
