"""Integers of 10, 12, 14 and 24 bits: items of the next larger type, and dense bits in words.

The oracle is one integer that holds all bits of a buffer, element after element.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from texts import layout

import layoutdsl

ODD = [f"{kind}{bits}" for kind in "ui" for bits in (10, 12, 14, 24)]
BODIES = (
    "(n, c) = [n, c]",
    "(n, c) = [c/4, n, c%4]",
    "(n, c) = [n, c/8 : ceil(C/8) + 1, c%8]",
    "(n, c: 8) = [c ^ n%8, n]",
)


def item_of(element: str) -> np.dtype[Any]:
    return np.dtype(f"{element[0]}{4 if element.endswith('24') else 2}")


def limits(element: str) -> tuple[int, int]:
    bits = int(element[1:])
    return (0, (1 << bits) - 1) if element[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def drawn(random: Random, element: str, shape: tuple[int, ...]) -> Any:
    low, high = limits(element)
    values = [random.choice((low, high, random.randint(low, high))) for _ in range(np.prod(shape))]
    return np.array(values, item_of(element)).reshape(shape)


def dense(items: Any, bits: int) -> bytes:
    """The bytes of items without room between them, the first in the lowest bits."""
    total = sum((int(each) & (1 << bits) - 1) << bits * k for k, each in enumerate(items.ravel()))
    return total.to_bytes(-(-items.size * bits // 8), "little")


@pytest.mark.filterwarnings("ignore:`L` is moved element by element")
@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize("element", ODD)
def test_items_and_bytes(element: str, target: Any) -> None:
    random = Random(element)
    for body in BODIES:
        made = layout(f"layout L{body} of {element}")
        shape = (random.randint(1, 5) * 8, 8)
        tensor = drawn(random, element, shape)
        module = layoutdsl.compile(made, target)
        packed = module.pack(tensor)
        assert packed.dtype == item_of(element)
        want = np.zeros(made.size(shape), packed.dtype)
        for index in np.ndindex(shape):
            want[made.offset(index, shape)] = tensor[index]
        assert (packed.ravel() == want).all()
        assert (module.unpack(packed, shape) == tensor).all()
        for storage in ("bytes", "u16"):
            stored = layoutdsl.compile(made, target, storage=storage)  # type: ignore[call-overload]
            words = stored.pack(tensor)
            assert words.tobytes() == dense(want, int(element[1:])), (body, storage)
            back = stored.unpack(words, shape)
            assert back.dtype == tensor.dtype
            assert (back == tensor).all()


@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize("element", ODD)
def test_numbers_outside_the_type_are_refused(element: str, target: Any) -> None:
    made = layout(f"layout L(n, c) = [n, c/4, c%4] of {element}")
    low, high = limits(element)
    for storage in ("items", "bytes"):
        module = layoutdsl.compile(made, target, storage=storage)  # type: ignore[call-overload]
        for wrong in {high + 1, max(low - 1, np.iinfo(item_of(element)).min)} - {low}:
            tensor = np.zeros((2, 8), item_of(element))
            tensor[1, 3] = wrong
            with pytest.raises(ValueError, match=str(high)):
                module.pack(tensor)
    with pytest.raises(TypeError):
        layoutdsl.compile(made, target).pack(np.zeros((2, 8), np.int64))


@pytest.mark.parametrize("element", ["u10", "u24", "i12"])
def test_bits_may_be_placed_one_by_one(element: str) -> None:
    bits = int(element[1:])
    made = layout(f"layout L(n) = [n, {bits - 1} - bit] of {element}")
    tensor = drawn(Random(1), element, (5,))
    module = layoutdsl.compile(made, "numpy", storage="bytes")
    words = module.pack(np.concatenate([tensor, np.zeros(3, tensor.dtype)]))
    total = int.from_bytes(words.tobytes(), "little")
    for k, each in enumerate(tensor.tolist()):
        held = [each >> bit & 1 for bit in reversed(range(bits))]
        assert [total >> bits * k + bit & 1 for bit in range(bits)] == held
    assert (module.unpack(words, (8,))[:5] == tensor).all()


def test_fills_and_ranges() -> None:
    assert layout("layout L(n) = [n/4, n%4] fill 1023 of u10")
    with pytest.raises(layoutdsl.LayoutError, match="outside the range of `u10`"):
        layout("layout L(n) = [n/4, n%4] fill 1024 of u10")
    made = layout("layout L(n) = [n/4, n%4] fill 5 of u12")
    packed = layoutdsl.compile(made, "numpy", storage="bytes").pack(np.zeros(2, np.uint16))
    assert packed.tobytes() == dense(np.array([0, 0, 5, 5]), 12)


@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize("seed", range(3))
def test_records_of_odd_widths(seed: int, target: Any) -> None:
    """Fields one after the other, each in units of a few elements."""
    random = Random(seed)
    one, two = random.sample([each for each in ODD if each[0] == "u"], 2)
    slots = 4 * int(one[1:]) + 4 * int(two[1:])
    text = (
        f"record R(n) = {{ a(n) = [n/4, n%4*{one[1:]} + bit : {slots}] of {one} "
        f"b(n) = [n/4, {4 * int(one[1:])} + n%4*{two[1:]} + bit : {slots}] of {two} }} "
        "where N % 4 == 0"
    )
    record = layoutdsl.parse(text)["R"]
    module = layoutdsl.compile(record, target)
    count = 4 * random.randint(1, 6)
    a, b = drawn(random, one, (count,)), drawn(random, two, (count,))
    total = place = 0
    for first in range(0, count, 4):
        for values, element in ((a, one), (b, two)):
            for each in values[first : first + 4]:
                total |= int(each) << place
                place += int(element[1:])
    packed = module.pack(a=a, b=b)
    assert packed.tobytes() == total.to_bytes(place // 8, "little")
    back = module.unpack(packed, (count,))
    assert (back.a == a).all()
    assert (back.b == b).all()


def test_records_of_odd_widths_have_no_sign() -> None:
    with pytest.raises(layoutdsl.LayoutError) as caught:
        layoutdsl.parse("record R(n) = { a(n) = [n] of i12 }")
    (found,) = caught.value.diagnostics
    assert found.code == "L208"
    assert found.help
