"""Somebody's function, called and held against a layout: right ones, and every way to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from texts import layout as parsed

from layoutdsl import compile as compiled
from layoutdsl import library, probe

Array = Any
NCHW16C = library("NCHW16c")
SHAPE = (2, 20, 3, 4)
MARLIN = [0, 2, 4, 6, 1, 3, 5, 7]


def padded(x: Array, fill: float = 0) -> Array:
    n, c, h, w = x.shape
    found = np.full((n, -(-c // 16) * 16, h, w), fill, dtype=x.dtype)
    found[:, :c] = x
    return found


def cut(x: Array) -> Array:
    n, c, h, w = x.shape
    return x.reshape(n, c // 16, 16, h, w).transpose(0, 1, 3, 4, 2)


def right(x: Array) -> Array:
    return cut(padded(x))


def flat(x: Array) -> Array:
    return right(x).ravel()


def with_shape(x: Array, shape: tuple[int, ...]) -> Array:
    assert shape == SHAPE
    return right(x)


def with_default(x: Array, fill: int = 0) -> Array:
    return cut(padded(x, fill))


def swapped(x: Array) -> Array:
    return right(x.transpose(0, 1, 3, 2))


def filled(x: Array) -> Array:
    return cut(padded(x, 7))


def floor(x: Array) -> Array:
    return cut(x[:, : x.shape[1] // 16 * 16])


def repeated(x: Array) -> Array:
    c = x.shape[1]
    return cut(np.pad(x, ((0, 0), (0, -c % 16), (0, 0), (0, 0)), mode="edge"))


def in_place(x: Array) -> Array:
    found = right(x)
    x += 1
    return found


def raising(_: Array) -> Array:
    raise RuntimeError("no such luck\nand more")


_CALLS = [0]


def anything(x: Array) -> Array:
    _CALLS[0] += 1
    return np.random.default_rng(_CALLS[0]).integers(0, 16, right(x).shape).astype(x.dtype)


def stale(x: Array) -> Array:
    """Padding is whatever the last call left there."""
    _CALLS[0] += 1
    return cut(padded(x, _CALLS[0]))


def summed(x: Array) -> Array:
    found = right(x)
    found[1] += found[0]
    return found


def nothing(_: Array) -> None:
    return None


async def waits(x: Array) -> Array:
    return x


def words(x: Array) -> Array:
    return np.array(["a"] * right(x).size)


def shorter(x: Array) -> Array:
    return right(x).ravel()[:-1]


def zero(x: Array) -> Array:
    return np.zeros_like(right(x))


@pytest.mark.parametrize("function", [right, flat, with_shape, with_default])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i8", "f2", "f4", "f8"])
def test_a_right_function(function: Callable[..., Array], dtype: str) -> None:
    found = probe(function, NCHW16C, SHAPE, dtype=dtype)
    assert (found.faults, found.hints, found.padding) == ((), (), (0.0,))
    assert found.same
    assert (found.elements, found.slots, found.wrong) == (480, 768, 0)
    assert found.calls == 8  # three digits of 4 bits, each turned round, and twice asked again


@pytest.mark.parametrize("bits", range(1, 9))
def test_digits_of_any_width(bits: int) -> None:
    assert probe(right, NCHW16C, SHAPE, bits=bits).same
    assert not probe(swapped, NCHW16C, SHAPE, bits=bits).same


WRONG: list[tuple[Callable[..., Array], str, str]] = [
    (swapped, "element", "element (n=0, c=0, h=0, w=1) goes to offset 48, and not to offset 16, "
     "where there is element (n=0, c=0, h=1, w=0)"),
    (filled, "fill", "slot 196, which is padding, holds 7, and not 0"),
    (floor, "size", "it returns 384 elements, of shape (2, 1, 3, 4, 16); the buffer of `NCHW16c` "
     "has 768, (2, 2, 3, 4, 16)"),
    (repeated, "padding", "slot 196, which is padding, holds element (n=0, c=19, h=0, w=0)"),
    (in_place, "changes_input", "it changes the array that it is given"),
    (anything, "random", "the slot of element (n=0, c=0, h=0, w=0) is another at each call with "
     "the same tensor"),
    (stale, "random", "slot 196, which is padding, holds another value at each call"),
    (summed, "element", "element (n=1, c=0, h=0, w=0) goes nowhere, and not to offset 384, where "
     "there is no element"),
    (nothing, "array", "it returns NoneType of object, no array of numbers"),
    (words, "array", "it returns ndarray of <U1, no array of numbers"),
    (waits, "array", "it returns a coroutine: wrap it in a function that calls `asyncio.run`"),
    (shorter, "size", "it returns 767 elements, of shape (767,); the buffer of `NCHW16c` has 768, "
     "(2, 2, 3, 4, 16)"),
    (zero, "element", "element (n=0, c=0, h=0, w=0) goes nowhere, and not to offset 0, where "
     "there is padding"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "kind", "sentence"), WRONG)
def test_wrong_functions(function: Callable[..., Array], kind: str, sentence: str) -> None:
    _CALLS[0] = 0
    found = probe(function, NCHW16C, SHAPE)
    assert not found.same
    fault = found.faults[0]
    assert (fault.kind, fault.sentence) == (kind, sentence)


def test_an_exception_is_the_functions_own() -> None:
    found = probe(raising, NCHW16C, SHAPE)
    (fault,) = found.faults
    assert fault.kind == "raised"
    assert fault.sentence.startswith("it raises RuntimeError: no such luck (")
    assert "test_probe.py:" in fault.sentence
    assert isinstance(found.raised, RuntimeError)


def test_hints_say_what_was_done() -> None:
    (axes,) = probe(swapped, NCHW16C, SHAPE).hints
    assert (axes.kind, axes.axes) == ("axes", "h=w,w=h")  # type: ignore[union-attr]
    (rounded,) = probe(floor, NCHW16C, SHAPE).hints
    assert (rounded.kind, rounded.extent) == ("rounded down", "ceil(C/16)")  # type: ignore[union-attr]


def interleaved(x: Array) -> Array:
    """Lane j holds element MARLIN[j], as in the weights of that kernel."""
    k, n = x.shape
    return x.reshape(k // 8, 8, n)[:, MARLIN].transpose(0, 2, 1)


def test_an_inverted_interleave() -> None:
    told = parsed("layout Marlin(k, n) = [k/8, n, k%2, k%8/2]")
    inverse = parsed("layout Inverse(k, n) = [k/8, n, k%4, k%8/4]")
    assert probe(interleaved, told, (16, 5)).same
    (hint,) = probe(interleaved, inverse, (16, 5)).hints
    assert (hint.axis, hint.block, hint.kind) == ("k", 8, "inverse")  # type: ignore[union-attr]
    assert hint.other == tuple(MARLIN)  # type: ignore[union-attr]


def test_what_padding_may_hold() -> None:
    anyhow = parsed("layout A(n, c, h, w) = [n, c/16, h, w, c%16] fill any")
    quantised = parsed("layout Q(n, c, h, w) = [n, c/16, h, w, c%16] fill zero_point")
    seven = parsed("layout S(n, c, h, w) = [n, c/16, h, w, c%16] fill 7")
    assert probe(filled, seven, SHAPE).padding == (7.0,)
    for function, layouts in {
        filled: (anyhow, quantised, seven),
        stale: (anyhow,),
        repeated: (anyhow,),
        right: (anyhow, quantised),
    }.items():
        for each in (anyhow, quantised, seven):
            assert probe(function, each, SHAPE).same is (each in layouts)


def test_slots_before_the_first_are_left_alone() -> None:
    late = parsed("layout Late(n) = [n/4, n%4] offset 2")

    def pack(x: Array) -> Array:
        return np.concatenate([[9, 9], x, np.zeros(-len(x) % 4, x.dtype)])

    found = probe(pack, late, (6,))
    assert found.same
    assert set(found.padding) == {0.0, 9.0}


def test_unpack() -> None:
    module = compiled(NCHW16C)

    def unpack(buffer: Array, shape: tuple[int, ...]) -> Array:
        return module.unpack(buffer, shape)

    def from_flat(buffer: Array) -> Array:
        return unpack(buffer.reshape(NCHW16C.physical_shape(SHAPE)), SHAPE)

    def turned(buffer: Array, shape: tuple[int, ...]) -> Array:
        n, c, h, w = shape
        return unpack(buffer.transpose(0, 1, 3, 2, 4), (n, c, w, h))

    square = (1, 20, 3, 3)
    assert probe(unpack, NCHW16C, SHAPE, unpack=True).same
    assert probe(from_flat, NCHW16C, SHAPE, unpack=True, flat=True).same
    found = probe(turned, NCHW16C, square, unpack=True)
    assert found.faults[0].sentence == (
        "element (n=0, c=0, h=0, w=1) is taken from offset 48, and not from 16"
    )
    assert [each.kind for each in found.hints] == ["axes"]
    kinds = {
        "shape": lambda b, s: unpack(b, s).ravel(),
        "random": lambda b, s: np.random.default_rng().integers(0, 16, s).astype(b.dtype),
        "element": lambda b, s: np.zeros(s, b.dtype),
    }
    for kind, function in kinds.items():
        assert probe(function, NCHW16C, SHAPE, unpack=True).faults[0].kind == kind


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name", ["R4Crouton2x2Layout", "MaceChannelMajor", "R4Depth32MemoryLayout"]
)
def test_generated_code_is_what_its_layout_says(name: str) -> None:
    one = library(name)
    module = compiled(one)
    shape = (2, 9, 10, 33)
    assert probe(module.pack, one, shape).same
    other = library("R4Crouton4x1Layout")
    assert not probe(module.pack, other, shape).same


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        ("wat", "numpy has no type `wat`"),
        ("U3", "`U3` is no type of integers or floats"),
        ("?", "`?` is no type of integers or floats"),
    ],
)
def test_types_that_hold_too_little(dtype: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        probe(right, NCHW16C, SHAPE, dtype=dtype)
    assert str(raised.value) == message


def test_bounds() -> None:
    with pytest.raises(ValueError, match="at most 67108864 are probed"):
        probe(right, NCHW16C, (1024, 1024, 64, 64))
    with pytest.raises(ValueError, match="a digit has 1 to 8 bits, not 9"):
        probe(right, NCHW16C, SHAPE, bits=9)
    with pytest.raises(ValueError, match="must be >= 1"):
        probe(right, NCHW16C, (0, 1, 1, 1))


def test_torch() -> None:
    torch = pytest.importorskip("torch")

    def pack(x: Array) -> Array:
        assert isinstance(x, torch.Tensor)
        n, c, h, w = x.shape
        found = torch.nn.functional.pad(x, (0, 0, 0, 0, 0, -c % 16))
        return found.reshape(n, -1, 16, h, w).permute(0, 1, 3, 4, 2)

    assert probe(pack, NCHW16C, SHAPE, array="torch").same
    assert not probe(pack, library("NHWC"), SHAPE, array="torch").same


def test_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert probe(lambda x: jnp.transpose(x, (0, 2, 3, 1)), library("NHWC"), SHAPE, array="jax").same


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"no {name}")

    monkeypatch.setattr("layoutdsl.view.compare.calling.import_module", missing)
    with pytest.raises(ValueError, match="torch is not installed here: no torch"):
        probe(right, NCHW16C, SHAPE, array="torch")


class Foreign:
    """An array of another package, as numpy sees it."""

    def __init__(self, array: Array, door: str) -> None:
        self._array = array
        if door == "__dlpack__":
            self.__dlpack__ = array.__dlpack__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self._array


def test_arrays_of_other_packages() -> None:
    assert probe(lambda x: Foreign(right(x), "__array__"), NCHW16C, SHAPE).same
    assert probe(lambda x: right(x).tolist(), NCHW16C, SHAPE).same


def in_words(elements: list[int], bits: int, word: np.dtype[Any]) -> Array:
    """Elements as the digits of one large number, cut into words."""
    number = sum(each << place * bits for place, each in enumerate(elements))
    width = 8 * word.itemsize
    count = -(-len(elements) * bits // width)
    words = [number >> place * width & (1 << width) - 1 for place in range(count)]
    return np.array(words, f"u{word.itemsize}").astype(word)


@pytest.mark.parametrize("seed", range(12))
def test_a_buffer_of_words_is_read_as_its_elements(seed: int) -> None:
    random = Random(seed)
    bits = random.choice([1, 2, 3, 4, 4, 5, 6, 8, 12])
    word = np.dtype(random.choice(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"]))
    name = f"{word.kind}{8 * word.itemsize}"
    body = random.choice(["[c/4, h, c%4]", "[h, c]", "[c/8, h/2, c%8, h%2]"])
    layout = parsed(f"layout L(c, h) = {body} of u{bits} fill {random.choice([0, 1])}")
    shape = random.randint(1, 9), random.randint(1, 9)
    offsets, slots = layout.offsets(shape), layout.size(shape)
    turned = random.random() < 0.4

    def pack(tensor: Array) -> Array:
        held = [int(layout.fill.value)] * slots  # type: ignore[union-attr]
        for offset, value in zip(offsets.ravel(), tensor.ravel(), strict=True):
            held[slots - 1 - offset if turned else offset] = int(value)
        return in_words(held, bits, word)

    def unpack(words: Array) -> Array:
        width = 8 * word.itemsize
        number = sum((int(each) & (1 << width) - 1) << width * n for n, each in enumerate(words))
        held = [number >> place * bits & (1 << bits) - 1 for place in range(slots)]
        return np.array(held, np.uint8)[slots - 1 - offsets if turned else offsets]

    reversed_ = slots - 1 - offsets
    same = not turned or bool((reversed_ == offsets).all())
    assert probe(pack, layout, shape, word=name).same is same
    assert probe(unpack, layout, shape, word=name, unpack=True).same is same


def test_words_of_another_number_or_type_are_refused() -> None:
    gptq = library("GptqWeights")
    zeros = np.zeros((8, 8), np.int32)
    (fault,) = probe(lambda _: zeros, gptq, (64, 8), word="u16").faults
    assert fault.sentence == (
        "it returns 64 items of int32, of shape (8, 8); "
        "the buffer of `GptqWeights` has 128 words of uint16"
    )
    (fault,) = probe(lambda _: zeros.astype("i8"), gptq, (64, 8), word="i32").faults
    assert fault.sentence == "it returns words of int64, not of int32"
    (fault,) = probe(lambda _: zeros, gptq, (64, 8)).faults
    assert fault.sentence.endswith("it returns words of 8 elements: say so with `--word u32`")
    with pytest.raises(ValueError, match="does not say how many bits"):
        probe(lambda _: zeros, NCHW16C, SHAPE, word="u32")
    with pytest.raises(ValueError, match="`f32` is no type of words"):
        probe(lambda _: zeros, gptq, (64, 8), word="f32")
