"""Numbers to codes and back in numpy, against the definition in fractions: exactly, for any float.

What is drawn lies where a rounded quotient could go wrong: at halves of a step and next to them, at
the ends of the range, among the smallest and the largest floats.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from texts import layout

import layoutdsl

CODED = [f"{kind}{bits}" for kind in "iu" for bits in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32)]
LARGEST, SMALLEST = np.finfo("f8").max, 5e-324


@cache
def module_of(element: str, per: str = "", rank: int = 1) -> Any:
    """What makes codes of tensors; nothing is packed by it."""
    axes = ", ".join("abcd"[:rank])
    found = layout(f"layout L({axes}) = [{axes}] of {element} as scale_offset {per}")
    return layoutdsl.compile(found, "numpy", validate=False)


def codes_of(element: str) -> tuple[int, int]:
    """The least and the largest code."""
    bits = int(element[1:])
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if element[0] == "i" else (0, 2**bits - 1)


def decode(code: int, scale: Fraction, zero_point: int) -> Fraction:
    return (code - zero_point) * scale


def a_scale(random: Random) -> float:
    match random.randrange(6):
        case 0:
            return 2.0 ** random.randint(-40, 40)
        case 1:
            return random.randint(1, 999) / 10 ** random.randint(0, 6)
        case 2:
            return float(np.float32(random.uniform(1e-3, 1)))
        case 3:
            return random.uniform(1, 2) * 2.0 ** random.randint(-1000, 960)
        case 4:
            return random.randint(1, 9) * SMALLEST
        case _:
            return random.uniform(0.001, 1)


def a_number(random: Random, scale: float, low: int, high: int) -> float:
    """A number near a code, near half a step, or anywhere."""
    reach = high - low + 3
    steps = random.randint(-reach, reach)
    match random.randrange(5):
        case 0:
            return random.choice((0.0, -0.0, np.inf, -np.inf, LARGEST, -LARGEST, SMALLEST))
        case 1:
            return random.uniform(-1, 1) * 2.0 ** random.randint(-300, 300)
        case 2:
            found = float(steps * scale)
        case _:
            found = float((2 * steps + 1) * Fraction(scale) / 2) if scale < 1e290 else scale
    for _ in range(random.choice((0, 0, 1, 2))):
        found = float(np.nextafter(found, random.choice((-np.inf, np.inf))))
    return found


def meant(number: float, scale: float, zero_point: int, element: str) -> int:
    low, high = codes_of(element)
    if np.isinf(number):
        return high if number > 0 else low
    steps = round(Fraction(number) / Fraction(scale))  # ties to even
    return min(max(steps + zero_point, low), high)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("element", CODED)
def test_codes_are_the_nearest_whatever_the_floats(element: str) -> None:
    random, (low, high) = Random(element), codes_of(element)
    module = module_of(element)
    for _ in range(20):
        scale, zero_point = a_scale(random), random.choice((low, high, random.randint(low, high)))
        numbers = [a_number(random, scale, low, high) for _ in range(60)]
        found = module.quantise(np.array(numbers), scale=scale, zero_point=zero_point)
        assert found.dtype == np.dtype(f"{element[0]}{max(1, int(element[1:]) // 8)}")
        assert found.tolist() == [meant(x, scale, zero_point, element) for x in numbers], scale


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", "i4", "i8", "bf16"])
def test_codes_of_numbers_of_any_type(dtype: str) -> None:
    if dtype == "bf16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    random = Random(3)
    for scale in (0.1, 0.5, 1, 3, float(np.float32(0.1))):
        numbers = np.array([random.randint(0, 100) for _ in range(60)]).astype(dtype)
        found = module_of("i8").quantise(numbers, scale=scale, zero_point=-3)
        expected = [meant(float(each), scale, -3, "i8") for each in numbers]
        assert found.tolist() == expected


def test_every_code_of_8_bits_comes_back() -> None:
    module = module_of("u8")
    every = np.arange(256, dtype="u1")
    for scale in (2.0**-149, 1e-3, 0.1, 1 / 3, 0.5, 7.0, 1e30):
        for zero_point in (0, 1, 128, 255):
            given: dict[str, Any] = {"scale": scale, "zero_point": zero_point}
            numbers = module.dequantise(every, dtype="float64", **given)
            wanted = [float(decode(c, Fraction(scale), zero_point)) for c in range(256)]
            assert numbers.tolist() == wanted
            assert numbers[zero_point] == 0
            assert np.array_equal(module.quantise(numbers, **given), every)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_are_worked_out_in_64_bits(dtype: str) -> None:
    random, module = Random(4), module_of("i32")
    for _ in range(20):
        scale = random.uniform(1e-6, 1e-5)
        zero_point, code = (random.randint(-(2**31), 2**31 - 1) for _ in range(2))
        if dtype == "float16":
            scale, zero_point, code = random.uniform(1e-3, 1), 5, random.randint(0, 9)
            module = module_of("i4")
        given: dict[str, Any] = {"scale": scale, "zero_point": zero_point}
        code = min(code, 7) if dtype == "float16" else code
        items = np.array([code], module.quantise(np.zeros(1), **given).dtype)
        (found,) = module.dequantise(items, dtype=dtype, **given)
        exact = np.float64(code - zero_point) * scale
        assert found == exact.astype(dtype)
        assert abs(Fraction(float(exact)) - decode(code, Fraction(scale), zero_point)) <= Fraction(
            float(np.spacing(abs(exact)) / 2)
        )


def test_the_error_is_half_a_step_at_most_within_the_range() -> None:
    random, module = Random(5), module_of("u8")
    for _ in range(40):
        scale, zero_point = random.uniform(1e-6, 10), random.randint(0, 255)
        steps = [random.uniform(-zero_point - 0.4999, 255.4999 - zero_point) for _ in range(50)]
        numbers = np.array(steps) * scale
        codes = module.quantise(numbers, scale=scale, zero_point=zero_point)
        for number, code in zip(numbers.tolist(), codes.tolist(), strict=True):
            stands_for = decode(code, Fraction(scale), zero_point)
            assert 2 * abs(Fraction(number) - stands_for) <= Fraction(scale)


def test_scales_along_an_axis() -> None:
    random = Random(6)
    numbers = np.random.default_rng(6).normal(0, 20, (3, 40, 5, 60))  # more than one part
    for axis, name in enumerate("abcd"):
        extent = numbers.shape[axis]
        scales = np.array([random.uniform(0.1, 0.5) for _ in range(extent)])
        zeros = np.array([random.randint(-128, 127) for _ in range(extent)])
        for each, other in ((scales, zeros), (scales, 7), (scales[0], zeros)):
            module = module_of("i8", f"per {name}", 4)
            found = module.quantise(numbers, scale=each, zero_point=other)
            back = module.dequantise(found, scale=each, zero_point=other, dtype="f8")
            for _ in range(50):
                index = tuple(random.randrange(extent) for extent in numbers.shape)
                one = float(np.broadcast_to(each, extent)[index[axis]])
                zero = int(np.broadcast_to(other, extent)[index[axis]])
                assert found[index] == meant(float(numbers[index]), one, zero, "i8")
                assert back[index] == (float(found[index]) - zero) * one


def test_a_tensor_without_dimensions() -> None:
    scalar = layout("layout L() = [0] of u8 as scale_offset")
    module: Any = layoutdsl.compile(scalar, "numpy", validate=False)
    for number, code in ((0.5, 0), (1.5, 2), (np.nextafter(0.5, 1), 1), (-1.0, 0)):
        found = module.quantise(np.array(number), scale=1, zero_point=0)
        assert (found.shape, int(found)) == ((), code)
        assert module.dequantise(found, scale=1, zero_point=0).shape == ()


def test_parts_are_those_of_the_whole() -> None:
    numbers = np.random.default_rng(7).normal(0, 1, 3 * 2**14 + 5)
    found = module_of("i16").quantise(numbers, scale=0.5**10, zero_point=0)
    assert np.array_equal(found, np.rint(numbers * 1024))


def test_a_rounded_quotient_alone_would_be_wrong() -> None:
    """Numbers next to a half whose quotient is rounded to it: what `fmod` is there for."""
    random = Random(8)
    scales = np.array([random.uniform(0.001, 1) for _ in range(4000)])
    halves = [(2 * random.randint(0, 300) + 1) * Fraction(scale) / 2 for scale in scales.tolist()]
    numbers = np.array([float(each) for each in halves])
    exact = [
        round(Fraction(number) / Fraction(scale))
        for number, scale in zip(numbers.tolist(), scales.tolist(), strict=True)
    ]
    found = module_of("u16", "per a").quantise(numbers, scale=scales, zero_point=0)
    assert found.tolist() == exact
    wrong = (np.rint(numbers / scales) != exact).sum()
    assert wrong > 100


Refused = list[tuple[Any, dict[str, Any], type[Exception], str]]
REFUSED: Refused = [
    ([1.0], {"scale": 1, "zero_point": 0}, TypeError, "`src` is a list, not a numpy array"),
    (np.ones(3), {"zero_point": 0}, TypeError, "`scale` is missing"),
    (np.ones(3), {"scale": 1}, TypeError, "`zero_point` is missing"),
    (np.ones(3), {"scale": "1", "zero_point": 0}, TypeError, "`scale` is a str"),
    (np.ones(3), {"scale": True, "zero_point": 0}, TypeError, "`scale` is a bool"),
    (np.ones(3), {"scale": 1j, "zero_point": 0}, TypeError, "`scale` is a complex"),
    (np.ones(3), {"scale": 10**400, "zero_point": 0}, TypeError, "`scale` holds object"),
    (np.ones(3), {"scale": 0, "zero_point": 0}, ValueError, "not positive and finite"),
    (np.ones(3), {"scale": -1.5, "zero_point": 0}, ValueError, "not positive and finite"),
    (np.ones(3), {"scale": np.nan, "zero_point": 0}, ValueError, "not positive and finite"),
    (np.ones(3), {"scale": np.inf, "zero_point": 0}, ValueError, "not positive and finite"),
    (np.ones(3), {"scale": np.ones(3), "zero_point": 0}, ValueError, r"has shape \(3,\), not \(\)"),
    (np.ones(3), {"scale": 1, "zero_point": [0]}, ValueError, r"has shape \(1,\), not \(\)"),
    (np.ones(3), {"scale": 1, "zero_point": 256}, ValueError, "is 256, and codes are 0 to 255"),
    (np.ones(3), {"scale": 1, "zero_point": -1}, ValueError, "is -1, and codes are 0 to 255"),
    (np.ones(3), {"scale": 1, "zero_point": 1.0}, TypeError, "a zero point is a code"),
    (np.ones((3, 1)), {"scale": 1, "zero_point": 1}, ValueError, "tensors of rank 1, not 2"),
    (np.ones(3, "c8"), {"scale": 1, "zero_point": 0}, TypeError, "`src` holds complex64"),
    (np.ones(3, "?"), {"scale": 1, "zero_point": 0}, TypeError, "`src` holds bool"),
    (np.ones(3, "V2"), {"scale": 1, "zero_point": 0}, TypeError, r"`src` holds \|V2"),
    (np.array([2**53 + 1]), {"scale": 1, "zero_point": 0}, ValueError, "no float of 64 bits is"),
    (np.array([1, np.nan]), {"scale": 1, "zero_point": 0}, ValueError, r"holds NaN at \(1,\)"),
]


@pytest.mark.parametrize(("src", "given", "kind", "words"), REFUSED)
def test_what_has_no_code_is_refused(
    src: Any, given: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        module_of("u8").quantise(src, **given)


def test_scales_fit_the_axis() -> None:
    module = module_of("u8", "per b", 2)
    with pytest.raises(ValueError, match=r"`scale` has shape \(3,\), not \(4,\) or \(\)"):
        module.quantise(np.ones((3, 4)), scale=np.ones(3), zero_point=0)
    with pytest.raises(ValueError, match="`zero_point` is 300"):
        module.quantise(np.ones((3, 4)), scale=1, zero_point=[0, 1, 300, 2])
    with pytest.raises(ValueError, match="`scale` is not positive"):
        module.quantise(np.ones((3, 4)), scale=[1, 1, 1, 0], zero_point=0)


@pytest.mark.parametrize(
    ("dtype", "scale", "kind", "words"),
    [
        ("float16", 1000, ValueError, "float16 cannot hold what codes stand for"),
        ("float16", 1e-6, ValueError, "float16 cannot hold"),
        ("float32", 1e37, ValueError, "float32 cannot hold"),
        ("float32", 1e-40, ValueError, "float32 cannot hold"),
        ("float64", 1e307, ValueError, "float64 cannot hold"),
        ("int8", 1, TypeError, "`dtype` is int8"),
        ("float33", 1, TypeError, "float33"),
    ],
)
def test_what_a_type_cannot_hold_is_refused(
    dtype: str, scale: float, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        module_of("u8").dequantise(np.zeros(3, "u1"), scale=scale, zero_point=128, dtype=dtype)


def test_codes_that_are_none_are_refused() -> None:
    given: dict[str, Any] = {"scale": 1, "zero_point": 0}
    with pytest.raises(TypeError, match="codes of u8 travel as uint8"):
        module_of("u8").dequantise(np.zeros(3, "i1"), **given)
    with pytest.raises(ValueError, match="16 is outside 0 to 15"):
        module_of("u4").dequantise(np.full(3, 16, "u1"), **given)
