"""Layouts whose elements are codes: packed, unpacked and generated, against the definition.

Every slot is looked at: where `Layout.offset` puts an element lies its code, worked out in
fractions, and in every other slot of the box the fill.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from random_layouts import drawn, shape_in
from texts import layout

import layoutdsl
from layoutdsl import Layout

Array = NDArray[Any]
Given = dict[str, Any]

TEXTS = [
    "layout L(n, c, h, w) = [n, c/16, h, w, c%16] of u8 as scale_offset",
    "layout L(b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32] fill 31 of u8 as scale_offset",
    "layout L(n, c) = [n, c/4, c%4] of i4 as scale_offset per n",
    "layout L(n, c) = [n, c : C + 3] of i32 as scale_offset per c fill any",
    "layout L(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2 + 3] of i8 as scale_offset where j <= i",
    "layout L(n, c) = [n/3, c, n%3] offset 5 of u16 as scale_offset",
    "layout L(n, h) = [n, h ^ n%4] of i8 as scale_offset per h fill zero_point",
    "layout L(w, n) = [n, w] of u8 as scale_offset",
]
SHAPES = {"L(n, c, h, w)": (2, 20, 3, 4), "L(b, h, w, d)": (1, 2, 9, 33), "L(i": (5, 5)}


def is_zero_point(layout: Layout) -> bool:
    """Whether padding holds the quantised zero, as it does where no fill is written."""
    return not any(each.startswith("fill") for each in layout.clauses)


def shape_of(text: str) -> tuple[int, ...]:
    return next((shape for start, shape in SHAPES.items() if start in text), (7, 6))


def along(layout: Layout, values: Any, index: tuple[int, ...]) -> Any:
    """The scale or zero point of an element."""
    assert layout.interface is not None
    if layout.interface.per is None or np.ndim(values) == 0:
        return values
    axis = [each.name for each in layout.axes].index(layout.interface.per)
    return values[index[axis]]


def numbers_for(layout: Layout, shape: tuple[int, ...], random: Random) -> tuple[Array, Given]:
    """Numbers within and beyond the codes, with a scale and a zero point."""
    assert layout.element is not None
    assert layout.interface is not None
    assert layout.element.values is not None
    low, high = layout.element.values
    per = layout.interface.per
    axis = [each.name for each in layout.axes].index(per) if per is not None else None
    many = None if axis is None else shape[axis]
    scale: Any = random.choice((0.5, 0.1, 2.0**-20))
    zero: Any = random.randint(low, min(high, 40))
    if many is not None:
        scale = np.array([random.choice((0.5, 0.1, 3)) for _ in range(many)])
        zero = np.full(many, zero) if random.random() < 0.5 else zero
    if not is_zero_point(layout) and many is not None:
        zero = np.array([random.randint(low, high) for _ in range(many)])
    generator = np.random.default_rng(random.randrange(10**6))
    steps = generator.integers(low - high, high - low, shape) / 2
    return np.asarray(steps * np.max(scale)), {"scale": scale, "zero_point": zero}


def expected(layout: Layout, numbers: Array, given: Given, fill: int | None) -> dict[int, int]:
    """What lies in each slot that holds an element or is filled."""
    shape, found = numbers.shape, dict[int, int]()
    assert layout.element is not None
    if fill is not None:
        size = layout.size(shape)
        found = dict.fromkeys(range(size - prod(layout.box(shape)), size), fill)
    for index in product(*map(range, shape)):
        names = dict(zip((axis.name for axis in layout.axes), index, strict=True))
        if layout.holds({**layout.bind(shape), **names}):
            scale = Fraction(float(along(layout, given["scale"], index)))
            zero = int(along(layout, given["zero_point"], index))
            low, high = layout.element.values or (0, 0)
            steps = round(Fraction(float(numbers[index])) / scale)  # ties to even
            code = min(max(steps + zero, low), high)
            found[layout.offset(index, shape)] = code
    return found


def holds(layout: Layout, packs: Callable[..., Array], numbers: Array, given: Given) -> None:
    """Pack, and look at every slot."""
    fill = getattr(layout.fill, "value", None)
    if is_zero_point(layout):
        fill = int(np.ravel(given["zero_point"])[0])
    packed = packs(numbers, **given)
    flat = packed.reshape(-1)
    for slot, code in expected(layout, numbers, given, fill).items():
        assert flat[slot] == code, (slot, given)


def comes_back(layout: Layout, module: Any, numbers: Array, given: Given) -> None:
    """Unpacked numbers are what the codes stand for."""
    packed = module.pack(numbers, **given)
    found = module.unpack(packed, numbers.shape, dtype="float64", **given)
    again = module.quantise(found, **given) if not layout.domain else None
    held = module.quantise(numbers, **given)
    for index in product(*map(range, numbers.shape)):
        names = dict(zip((axis.name for axis in layout.axes), index, strict=True))
        if layout.holds({**layout.bind(numbers.shape), **names}):
            zero = int(along(layout, given["zero_point"], index))
            scale = float(along(layout, given["scale"], index))
            assert found[index] == (int(held[index]) - zero) * scale
            assert again is None or again[index] == held[index]
        else:
            assert found[index] == 0
    single = module.unpack(packed, numbers.shape, **given)
    assert single.dtype == np.float32
    assert np.array_equal(single, found.astype("f4"))


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize("text", TEXTS)
def test_every_slot_holds_the_code_that_is_meant(text: str) -> None:
    found, random = layout(text), Random(text)
    module = layoutdsl.compile(found, "numpy")
    generated = layoutdsl.generate(found).load()
    for _ in range(2):
        numbers, given = numbers_for(found, shape_of(text), random)
        holds(found, module.pack, numbers, given)
        holds(found, generated.pack_numbers, numbers, given)
        comes_back(found, module, numbers, given)
        packed = generated.pack_numbers(numbers, **given)
        assert packed.shape == module.physical_shape(numbers.shape)
        one = generated.unpack_numbers(packed, numbers.shape, **given)
        assert np.array_equal(one, module.unpack(packed, numbers.shape, **given))


def coded(random: Random) -> Layout:
    """A drawn layout with codes for elements."""
    found = drawn(random)
    element = random.choice(("u8", "i8", "i4", "u16", "i32"))
    per = random.choice(("", "", *(f" per {axis.name}" for axis in found.axes)))
    fill = random.choice(("", "", "fill any", "fill 1"))
    others = [each for each in found.clauses if not each.startswith(("fill", "of"))]
    clauses = [f"of {element} as scale_offset{per}", fill, *others]
    head = f"layout {found.name}{found.axes_text} = {found.body_text}"
    return layout(" ".join([head, *clauses]))


def fuzz(seed: int, count: int, validated: bool) -> None:
    random = Random(seed)
    while count:
        found = coded(random)
        shape = shape_in(found, random)
        if shape is None or prod(shape) > 200:
            continue
        try:
            module = layoutdsl.compile(found, "numpy", validate=validated)
        except (layoutdsl.RefusedError, layoutdsl.UnprovedError, layoutdsl.UnvalidatedError):
            continue
        count -= 1
        numbers, given = numbers_for(found, shape, random)
        holds(found, module.pack, numbers, given)
        comes_back(found, module, numbers, given)


def test_drawn_layouts() -> None:
    fuzz(11, 3, validated=False)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(40))
def test_many_drawn_layouts(seed: int) -> None:
    fuzz(100 + seed, 50, validated=True)


# Fills.

CHANNELS = "layout L(n, c) = [n, c/4, c%4] of u8 as scale_offset per c"


def test_zero_points_that_differ_need_a_fill_where_there_is_padding() -> None:
    module = layoutdsl.compile(layout(CHANNELS), "numpy")
    given: Given = {"scale": 0.1, "zero_point": [1, 2, 3, 4, 5]}
    with pytest.raises(ValueError, match="`fill` is missing: zero points differ"):
        module.pack(np.zeros((2, 5)), **given)
    assert module.pack(np.zeros((1, 5)), fill=9, **given).tolist() == [[[1, 2, 3, 4], [5, 9, 9, 9]]]
    given["zero_point"] = [1, 2, 3, 4]
    assert module.pack(np.zeros((1, 4)), **given).tolist() == [[[1, 2, 3, 4]]]


def test_a_fill_that_is_given_goes_before_all() -> None:
    module = layoutdsl.compile(layout(TEXTS[0]), "numpy")
    packed = module.pack(np.zeros((1, 1, 1, 1)), scale=1, zero_point=7, fill=200)
    assert packed.ravel().tolist() == [7, *[200] * 15]
    with pytest.raises(ValueError, match="256"):
        module.pack(np.zeros((1, 1, 1, 1)), scale=1, zero_point=7, fill=256)


def test_what_is_given_to_write_into() -> None:
    module = layoutdsl.compile(layout(TEXTS[0]), "numpy")
    numbers, given = np.ones((1, 2, 1, 1)), {"scale": 1, "zero_point": 7}
    out = np.full((1, 1, 1, 1, 16), 99, "u1")
    assert module.pack(numbers, out=out, **given) is out
    assert out.ravel().tolist() == [8, 8, *[7] * 14]
    into = np.zeros(numbers.shape, "f8")
    assert module.unpack(out, numbers.shape, out=into, **given) is into
    assert np.array_equal(into, numbers)
    for wrong in (np.zeros((1, 1, 1, 1, 16), "i1"), np.zeros(3, "u1")):
        with pytest.raises(ValueError, match="`out`"):
            module.pack(numbers, out=wrong, **given)
    with pytest.raises(ValueError, match="NaN"):
        module.pack(np.full((1, 2, 1, 1), np.nan), out=out, **given)
    assert out.ravel().tolist() == [8, 8, *[7] * 14]


def test_words_hold_codes() -> None:
    found = layout("layout L(n, c) = [n/2, c/8, n%2, c%8] of i4 as scale_offset")
    module, items = layoutdsl.compile(found, "numpy", storage="u32"), layoutdsl.compile(found)
    numbers = np.random.default_rng(1).normal(0, 3, (3, 13))
    given: Given = {"scale": 0.5, "zero_point": -1}
    words = module.pack(numbers, **given)
    assert words.dtype == np.uint32
    assert np.array_equal(words, module.codes.pack(module.quantise(numbers, **given), fill=-1))
    back = module.unpack(words, (3, 13), **given)
    assert np.array_equal(back, items.unpack(items.pack(numbers, **given), (3, 13), **given))


def test_the_module_of_codes_is_at_hand() -> None:
    module: Any = layoutdsl.compile(layout(TEXTS[0]), "numpy")
    items = np.arange(6, dtype="u1").reshape(1, 6, 1, 1)
    assert module.codes.pack(items, fill=3).ravel().tolist() == [*range(6), *[3] * 10]
    assert module.offset((0, 5, 0, 0), (1, 6, 1, 1)) == 5
    assert "codes" in repr(module)


def test_compiled_code_moves_codes() -> None:
    pytest.importorskip("cffi")
    found = layout(TEXTS[0])
    numbers = np.random.default_rng(1).normal(0, 20, (2, 20, 3, 4))
    given: Given = {"scale": 0.3, "zero_point": 100}
    packed = layoutdsl.compile(found).pack(numbers, **given)
    assert np.array_equal(packed, layoutdsl.compile(found, "numpy").pack(numbers, **given))


def test_tensors_of_torch_are_codes() -> None:
    torch = pytest.importorskip("torch")
    from layoutdsl import torch as lt

    tensor = torch.arange(6, dtype=torch.uint8).reshape(1, 6, 1, 1)
    packed = lt.pack(layout(TEXTS[0]), tensor, fill=3)
    assert packed.flatten().tolist() == [*range(6), *[3] * 10]


@pytest.mark.slow
def test_words_of_signed_elements_are_generated() -> None:
    """That their least value is below 0 is a constant too."""
    for clauses in ("of i4", "of i4 as scale_offset"):
        found = layout(f"layout L(n, c) = [n, c/8, c%8] {clauses}")
        module = layoutdsl.generate(found, storage="u32").load()
        assert module.VALIDATED
        items = np.arange(-8, 8, dtype="i1").reshape(2, 8)
        assert np.array_equal(module.unpack_words(module.pack_words(items, fill=0), (2, 8)), items)
