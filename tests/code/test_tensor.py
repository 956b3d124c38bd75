"""A tensor where it lies: read and written as numpy does an array of its elements.

The oracle is an array beside it: the same keys pick from both, the same values are written to both,
and both stay equal. What lies in the buffer is looked at by `Layout.offset`.
"""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from random_layouts import drawn, shape_in
from texts import layout

import layoutdsl
from layoutdsl import Layout, Tensor

Array = NDArray[Any]

CROUTON = "layout C(b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32] fill 31 of u8"
BLOCKED = "layout B(n, c, h) = [n, c/4, h, c%4]"
CODES = "layout Q(n, c, h) = [n, c/4, h, c%4] of u8 as scale_offset"
CHANNELS = "layout Q(n, c, h) = [n, c/4, h, c%4] of i8 as scale_offset per c"
NARROW = "layout N(r, c) = [c/2, r, c%2] of i4 as scale_offset"
TRIANGLE = (
    "layout T(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] of u8 as scale_offset where j <= i"
)
SWIZZLE = "layout S(r, c) = [r, c ^ r%4] of f16"
LATER = "layout L(n, c) = [c, n] offset 3 of i16"
COPIES = "layout R(r, x: 3 broadcast, g, y: R broadcast) = [x, r, y, g]"
COPIED_CODES = "layout R(r, g, k: 4 broadcast) = [r, g/8, k, g%8] of u8 as scale_offset per g"
SCALAR = "layout Z() = [0] of u8 as scale_offset"


def a_key(random: Random, shape: tuple[int, ...]) -> Any:
    """Integers, slices and `...`, as numpy takes them."""

    def along(extent: int) -> Any:
        if random.random() < 0.4:
            return random.randrange(-extent, extent)
        ends = [random.choice((None, random.randint(-extent - 2, extent + 2))) for _ in range(2)]
        return slice(*ends, random.choice((None, 1, 2, -1, -2)))

    entries = [along(extent) for extent in shape[: random.randint(0, len(shape))]]
    if random.random() < 0.4:
        place = random.randint(0, len(entries))
        left = len(shape) - len(entries)
        tail = [along(extent) for extent in shape[place + left :]]
        entries = [*entries[:place], ..., *tail][: len(shape) + 1]
    return entries[0] if len(entries) == 1 and random.random() < 0.5 else tuple(entries)


def same(found: Any, wanted: Any) -> None:
    assert np.shape(found) == np.shape(wanted)
    assert np.array_equal(found, wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype


PLAIN = [
    (BLOCKED, (2, 6, 3), "f4"),
    (BLOCKED, (2, 6, 3), "i8"),
    (CROUTON, (1, 9, 3, 33), "u1"),
    (SWIZZLE, (5, 8), "f2"),
    (LATER, (3, 4), "i2"),
    (COPIES, (2, 5), "u2"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("text", "shape", "dtype"), PLAIN)
def test_elements_are_picked_and_written_as_in_numpy(
    text: str, shape: tuple[int, ...], dtype: str
) -> None:
    random, generator = Random(text), np.random.default_rng(1)
    wanted = generator.integers(0, 100, shape).astype(dtype)
    tensor = Tensor.pack(layout(text), wanted.copy())
    for _ in range(120):
        key = a_key(random, shape)
        same(tensor[key], wanted[key])
        same(tensor.raw[key], wanted[key])
        value = generator.integers(0, 100, random.choice((wanted[key].shape, ()))).astype(dtype)
        tensor[key] = value
        wanted[key] = value
    same(tensor.numpy(), wanted)
    in_its_place(tensor, wanted)


def in_its_place(tensor: Tensor, items: Array) -> set[int]:
    """Hold every copy of every element against the items; returns their slots."""
    flat, layout, held = tensor.buffer.reshape(-1), tensor.layout, set[int]()
    for index in product(*map(range, layout.shape_of(layout.bind(tensor.shape)))):
        named = zip(index, layout.axes, strict=True)
        element = tuple(number for number, axis in named if axis.name not in layout.copies)
        offset = layout.offset(index, tensor.shape)
        held.add(offset)
        assert flat[offset] == items[element]
    return held


CODED: list[tuple[str, tuple[int, ...], Any, Any]] = [
    (CODES, (2, 6, 3), 0.25, 128),
    (CODES, (2, 6, 3), 0.1, 0),
    (CHANNELS, (2, 6, 3), np.linspace(0.1, 0.7, 6), 3),
    (COPIED_CODES, (3, 10), np.linspace(0.1, 0.7, 10), 3),
    (CHANNELS, (2, 6, 3), np.linspace(0.1, 0.7, 6), np.arange(6)),
    (NARROW, (3, 5), 0.5, -2),
    (SCALAR, (), 0.5, 4),
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("text", "shape", "scale", "zero"), CODED)
def test_codes_are_read_and_written_as_numbers(
    text: str, shape: tuple[int, ...], scale: Any, zero: Any
) -> None:
    random, generator = Random(text), np.random.default_rng(2)
    of = layout(text)
    module: Any = layoutdsl.compile(of, "numpy")
    given: dict[str, Any] = {"scale": scale, "zero_point": zero}
    numbers = np.asarray(generator.normal(0, 10, shape))
    tensor = Tensor.pack(of, numbers, fill=1, **given)
    codes = module.quantise(numbers, **given)
    for _ in range(80):
        key = a_key(random, shape)
        same(tensor.raw[key], codes[key])
        same(tensor[key], module.dequantise(codes, **given)[key])
        value = generator.normal(0, 10, random.choice((codes[key].shape, ())))
        tensor[key] = value
        whole = module.dequantise(codes, dtype="f8", **given)
        whole[key] = value
        codes[key] = module.quantise(whole, **given)[key]
    same(tensor.raw[...], codes)
    same(tensor.numpy(), module.dequantise(codes, **given))
    same(np.asarray(tensor), tensor.numpy())
    same(np.asarray(tensor, "f8"), tensor.numpy().astype("f8"))
    padding = set(range(tensor.buffer.size)) - in_its_place(tensor, codes)
    assert {int(tensor.buffer.reshape(-1)[slot]) for slot in padding} <= {1}


@pytest.mark.slow
def test_what_has_no_slot_is_read_as_0_and_not_written() -> None:
    tensor = Tensor(layout(TRIANGLE), (4, 4), scale=0.5, zero_point=9)
    tensor[3, 1] = 2
    tensor[2, :3] = [1, 2, 3]
    wanted = np.zeros((4, 4), "f4")
    wanted[3, 1], wanted[2, :3] = 2, [1, 2, 3]
    same(tensor[...], wanted)
    same(tensor.numpy(), wanted)
    assert tensor[0, 3] == 0
    for key in ((0, 3), (slice(None), 0)):
        if key == (0, 3):
            with pytest.raises(ValueError, match="`T` holds elements where j <= i"):
                tensor[key] = 1
        else:
            tensor[key] = 5
    before = tensor.buffer.copy()
    with pytest.raises(ValueError, match="and no others"):
        tensor[...] = 7
    assert np.array_equal(tensor.buffer, before)


@pytest.mark.slow
def test_a_plain_tensor_reads_its_fill_where_it_has_no_slot() -> None:
    of = layout("layout T(i: N, j: N) = [i, j] of i8 fill 7 where j <= i")
    tensor = Tensor.pack(of, np.ones((3, 3), "i1"))
    same(tensor[...], tensor.numpy())
    assert tensor[0, 2] == 7


@pytest.mark.slow
def test_a_new_tensor_holds_zeros_and_its_fill() -> None:
    plain = Tensor(layout(CROUTON), (1, 2, 2, 2))
    assert (plain.dtype, int(plain.buffer.sum())) == (np.uint8, 31 * (2048 - 8))
    codes = Tensor(layout(CODES), {"n": 1, "c": 2, "h": 1}, scale=0.5, zero_point=7, dtype="f8")
    assert (codes.shape, codes.dtype) == ((1, 2, 1), np.float64)
    assert codes.buffer.tolist() == [[[[7, 7, 7, 7]]]]
    assert not codes.numpy().any()
    any_type = Tensor(layout(BLOCKED), (1, 2, 1), dtype="i2")
    assert any_type.buffer.dtype == any_type.dtype == np.int16
    assert (len(plain), plain.ndim, plain.size) == (1, 4, 8)
    assert repr(plain) == "<Tensor C of (1, 2, 2, 2), uint8>"
    assert "raw" in repr(plain.raw).lower()


def test_the_buffer_is_shared() -> None:
    of, memory = layout(BLOCKED), np.arange(12, dtype="f4")
    tensor = Tensor(of, (1, 6, 1), memory[:8])
    tensor[0, 4, 0] = 99
    assert memory[4] == 99
    memory[5] = -1
    assert tensor[0, 5, 0] == -1
    copied = tensor.numpy()
    copied[...] = 0
    assert memory[4] == 99
    flat = layout("layout R(n, c) = [n, c]")
    whole = Tensor(flat, (3, 4), memory)
    whole.numpy()[...] = 5
    assert memory[4] == 99


def test_iteration_ends() -> None:
    tensor = Tensor.pack(layout(BLOCKED), np.arange(12, dtype="f4").reshape(2, 6, 1))
    assert [each.shape for each in tensor] == [(6, 1), (6, 1)]  # type: ignore[attr-defined]


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (2, IndexError, "index 2 is outside axis 0, which has 2"),
    ((0, -7), IndexError, "index -7 is outside axis 1, which has 6"),
    ((0, 0, 0, 0), IndexError, "a tensor of 3 axes has no 4 indices"),
    ((..., ...), IndexError, "stands there twice"),
    ((None, 0), TypeError, "a new axis is none of the tensor's"),
    ([0, 1], TypeError, "a list picks no elements along axis 0"),
    (np.array([0, 1]), TypeError, "a ndarray picks no elements|an ndarray picks no elements"),
    (True, TypeError, "a bool picks no elements"),
    (1.0, TypeError, "a float picks no elements"),
    (slice(None, None, 0), ValueError, "step"),
]


@pytest.mark.parametrize(("key", "kind", "words"), REFUSED)
def test_keys_that_pick_nothing_are_refused(key: Any, kind: type[Exception], words: str) -> None:
    tensor = Tensor(layout(BLOCKED), (2, 6, 3))
    for reads in (tensor, tensor.raw):
        with pytest.raises(kind, match=words):
            reads[key]
        with pytest.raises(kind, match=words):
            reads[key] = 0


def test_integers_of_numpy_are_keys() -> None:
    tensor = Tensor.pack(layout(BLOCKED), np.arange(36, dtype="i4").reshape(2, 6, 3))
    same(tensor[np.int64(1)], tensor[1])
    same(tensor[np.int64(1), np.uint8(2)], tensor[1, 2])


def made(text: str, *given: Any, **named: Any) -> Tensor:
    return Tensor(layout(text), *given, **named)


def test_what_is_no_tensor_is_refused() -> None:
    cases: list[tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
        ((CODES, (1, 2, 3)), {}, TypeError, "`scale` is missing"),
        ((CODES, (1, 2, 3)), {"scale": 0, "zero_point": 0}, ValueError, "not positive"),
        ((CODES, (1, 2, 3)), {"scale": 1, "zero_point": 256}, ValueError, "codes are 0 to 255"),
        ((BLOCKED, (1, 2, 3)), {"scale": 1}, ValueError, "elements stand for themselves"),
        ((BLOCKED, (1, 2)), {}, ValueError, "takes|has extents"),
        ((BLOCKED, (1, 2, 3), np.zeros(5)), {}, ValueError, r"`buffer` has shape \(5,\)"),
        ((BLOCKED, (1, 2, 3), [1]), {}, TypeError, "`buffer` is a list"),
        ((CROUTON, (1, 1, 1, 1), np.zeros(2048)), {}, TypeError, "has to be of dtype uint8"),
        ((LATER, (1, 2), np.zeros(10, "i2")[::2]), {}, ValueError, "not contiguous"),
        (("layout P(n) = [n, bit] of u4", (1, 4)), {}, ValueError, "places the bits"),
    ]
    for given, named, kind, words in cases:
        with pytest.raises(kind, match=words):
            made(*given, **named)
    with pytest.raises(layoutdsl.RefusedError):
        made("layout W(n, c) = [n, c : 9]", (1, 12), np.zeros(9))
    with pytest.raises(TypeError, match="`layout` is an int, and has to be a layout, or the name"):
        Tensor(7, (1, 2, 3, 4))  # type: ignore[arg-type]


@pytest.mark.slow
def test_values_that_an_item_cannot_hold_are_refused() -> None:
    tensor, flat = Tensor(layout(CROUTON), (1, 1, 1, 2)), layout("layout R(c) = [c] of i4")
    for value in (256, -1, 0.5, float("inf")):
        with pytest.raises(ValueError, match="cannot hold every number"):
            tensor[0, 0, 0, 0] = value
    for wrong in ("a", 1j, 10**30, None):
        with pytest.raises(TypeError, match="the buffer holds uint8"):
            tensor[0, 0, 0, 0] = wrong
    with pytest.raises(ValueError, match="8 is outside -8 to 7"):
        Tensor(flat, (3,))[1] = 8
    with pytest.raises(ValueError, match="broadcast"):
        tensor[0, 0, 0] = [1, 2, 3]
    half = Tensor(layout(SWIZZLE), (2, 4))
    with pytest.raises(ValueError, match="float16 cannot hold"):
        half[0] = 1e6
    half[0] = float("inf")
    codes = made(CODES, (1, 2, 3), scale=1, zero_point=0)
    with pytest.raises(ValueError, match="NaN"):
        codes[0, 0, 0] = float("nan")
    locked = np.zeros(8, "f4")
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        Tensor(layout(BLOCKED), (1, 6, 1), locked)[0] = 1
    with pytest.raises(ValueError, match="a copy"):
        np.asarray(tensor, copy=False)
    with pytest.raises(TypeError, match="no length"):
        len(made(SCALAR, (), scale=1, zero_point=0))


def test_a_tensor_of_a_layout_of_the_library() -> None:
    of: Layout = layoutdsl.library("NCHW16c")
    array = np.random.default_rng(3).normal(size=(2, 20, 3, 4))
    tensor = Tensor.pack(of, array)
    same(tensor[1, 3:18:5, ..., -1], array[1, 3:18:5, ..., -1])
    assert tensor.buffer.shape == (2, 2, 3, 4, 16)


def fuzz(seed: int, count: int) -> None:
    """Drawn layouts, plain ones: what is picked and written stays equal to an array's."""
    random, generator = Random(seed), np.random.default_rng(seed)
    while count:
        of = drawn(random)
        shape = shape_in(of, random)
        if shape is None or np.prod(shape) > 300:
            continue
        dtype = "i4" if of.element is None else "{}{}".format(*of.element.item)
        wanted = np.asarray(generator.integers(0, 100, shape)).astype(dtype)
        try:
            tensor = Tensor.pack(of, wanted, fill=3)
        except (layoutdsl.RefusedError, layoutdsl.UnprovedError, layoutdsl.UnvalidatedError):
            continue
        count -= 1
        for _ in range(20):
            key = a_key(random, shape)
            same(tensor[key], wanted[key])
            value = generator.integers(0, 100, random.choice((wanted[key].shape, ())))
            tensor[key] = value
            wanted[key] = value
        same(tensor.numpy(), wanted)


@pytest.mark.slow
def test_drawn_layouts() -> None:
    fuzz(2, 2)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(40))
def test_many_drawn_layouts(seed: int) -> None:
    fuzz(100 + seed, 40)
