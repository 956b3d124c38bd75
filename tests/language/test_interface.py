"""What elements stand for: the clause `as`, and the definition of codes in fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import module

import layoutdsl
from layoutdsl import LayoutError, diff, notations, to_notation, translate

SPELLED: list[tuple[str, str]] = [
    ("of u8", "of u8"),
    ("of u8 as plain", "of u8"),
    ("of f16 as plain fill 31", "fill 31 of f16"),
    ("of u8 as scale_offset", "of u8 as scale_offset"),
    ("of u8 as scale_offset fill zero_point", "of u8 as scale_offset"),
    ("of i32 as scale_offset per c", "of i32 as scale_offset per c"),
    ("of u8 as scale_offset fill 0", "fill 0 of u8 as scale_offset"),
    ("fill 31 of u8 as scale_offset", "fill 31 of u8 as scale_offset"),
    ("of i4 as scale_offset fill any", "fill any of i4 as scale_offset"),
]


@pytest.mark.parametrize(("clauses", "printed"), SPELLED)
def test_codes_are_padded_with_the_quantised_zero_unless_said_otherwise(
    clauses: str, printed: str
) -> None:
    """What is not said is left out of the declaration, and what is read back is the same."""
    found = module(f"layout L(n, c) = [n, c/16, c%16] {clauses}")["L"]
    assert str(found) == f"layout L(n, c) = [n, c/16, c%16] {printed}"
    assert module(str(found))["L"] == found
    assert (found.of_codes == found) == ("scale_offset" not in clauses)


def test_padding_of_codes_is_their_zero_point() -> None:
    tensor, how = np.zeros((1, 3), "f4"), {"scale": 0.5, "zero_point": 7}
    for clauses, padding in (("", 7), (" fill 0", 0)):
        layout = module(f"layout L(n, c) = [n, c/4, c%4] of u8 as scale_offset{clauses}")["L"]
        moved = layoutdsl.compile(layout, "numpy", validate=False)
        assert moved.pack(tensor, **how).ravel().tolist() == [7, 7, 7, padding]


ALIASES: list[tuple[str, str, str]] = [
    ("", "of u8 as scale_offset", "of u8 as scale_offset"),
    ("fill 31", "of u8 as scale_offset", "fill 31 of u8 as scale_offset"),
    ("fill 31", "of u8 as scale_offset fill zero_point", "of u8 as scale_offset"),
    ("of u8 as scale_offset", "fill 7", "fill 7 of u8 as scale_offset"),
    ("of u8 as scale_offset", "of i8", "fill zero_point of i8"),
    ("of u8 as scale_offset per c", "where C == 4", "of u8 as scale_offset per c where C == 4"),
]


@pytest.mark.parametrize(("first", "second", "both"), ALIASES)
def test_a_layout_named_after_another_takes_its_interface(
    first: str, second: str, both: str
) -> None:
    text = f"layout A(n, c) = [n, c/16, c%16] {first}\nlayout B = A {second}"
    assert str(module(text)["B"]) == f"layout B(n, c) = [n, c/16, c%16] {both}"


def test_a_claim_has_the_interface_on_the_axes_of_the_other_layout() -> None:
    text = (
        "layout A(n, c) = [n, c]\nlayout B(m, d) = [m, d] of u8 as scale_offset per d\nprove A == B"
    )
    (claim,) = module(text).claims
    assert str(claim.predicate.other).endswith("of u8 as scale_offset per c")  # type: ignore[union-attr]


def test_an_interface_is_part_of_what_layouts_are() -> None:
    texts = ["of u8 fill zero_point", "of u8 as scale_offset", "of u8 as scale_offset per c"]
    assert len({module(f"layout L(n, c) = [n, c] {each}")["L"] for each in texts}) == 3


def test_a_record_takes_the_codes_of_a_layout_that_it_names() -> None:
    text = "layout A(n) = [n] of u8 as scale_offset\nrecord R(n) = { q(n) = A }"
    (part,) = module(text).records["R"].parts
    assert part.layout.clauses == ("of u8",)


def test_other_notations_say_where_codes_lie() -> None:
    found = module("layout L(n: 4, c: 32) = [n, c] of u8 as scale_offset fill any")["L"]
    written = [translate(found, notation) for notation in notations()]
    assert written == [translate(found.of_codes, notation) for notation in notations()]
    assert sum(each.text is not None for each in written) >= 4
    assert to_notation(found, "numpy") == to_notation(found.of_codes, "numpy")
    other = module("layout L(n: 4, c: 32) = [n, c] of u8 fill any")["L"]
    assert "codes of real numbers" in str(diff(found, other).notes)


# The definition.

CODES = [f"{kind}{bits}" for kind in "iu" for bits in (*range(1, 9), 16, 32)]
OTHERS = ["f16", "f32", "bf16", "i64", "u64", "bool", "e8", "f4"]


def test_codes_are_integers_of_up_to_32_bits() -> None:
    for name in CODES:
        assert module(f"layout L(n) = [n] of {name} as scale_offset")["L"].tensor_element
    for name in OTHERS:
        with pytest.raises(LayoutError, match=f"`{name}`"):
            module(f"layout L(n) = [n] of {name} as scale_offset")


@cache
def coder(name: str) -> Any:
    """A module whose `quantise` and `dequantise` are the codes of a type."""
    layout = module(f"layout L(n) = [n] of {name} as scale_offset")["L"]
    return layoutdsl.compile(layout, "numpy", validate=False)


def encoded(values: list[Fraction], scale: Fraction, zero_point: int, name: str) -> list[int]:
    numbers = np.array([float(each) for each in values])
    found = coder(name).quantise(numbers, scale=float(scale), zero_point=zero_point)
    codes: list[int] = found.astype("i8").tolist()
    return codes


WORKED = [
    ("u8", "0", "1", 128, 128),
    ("u8", "1/2", "1", 0, 0),  # a tie: to the even number of steps
    ("u8", "3/2", "1", 0, 2),
    ("u8", "5/2", "1", 0, 2),
    ("u8", "5/2", "1", 1, 3),  # steps are even, and not the code
    ("i8", "-1/2", "1", 0, 0),
    ("i8", "-3/2", "1", 0, -2),
    ("i4", "100", "1/3", 0, 7),
    ("i4", "-100", "1/3", 0, -8),
    ("u1", "1", "2", 0, 0),
    ("i32", "-2147483648", "1", 0, -(2**31)),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "value", "scale", "zero_point", "code"), WORKED)
def test_codes_worked_out_by_hand(
    name: str, value: str, scale: str, zero_point: int, code: int
) -> None:
    assert encoded([Fraction(value)], Fraction(scale), zero_point, name) == [code]


def codes_of(name: str) -> range:
    """Two's complement."""
    bits = int(name[1:])
    return range(2**bits) if name[0] == "u" else range(-(2 ** (bits - 1)), 2 ** (bits - 1))


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.sampled_from([name for name in CODES if int(name[1:]) <= 8]),
    st.lists(st.integers(-40 * 64, 40 * 64), min_size=1, max_size=20),
    st.integers(1, 8 * 64),
    st.data(),
)
def test_no_code_is_nearer(name: str, values: list[int], scale: int, data: st.DataObject) -> None:
    """Numbers and scales are multiples of 1/64, so that floats say exactly what is a tie."""
    codes, step = codes_of(name), Fraction(scale, 64)
    zero_point = data.draw(st.integers(codes[0], codes[-1]))
    numbers = [Fraction(each, 64) for each in values]
    means = {each: (each - zero_point) * step for each in codes}
    for number, code in zip(numbers, encoded(numbers, step, zero_point, name), strict=True):
        assert abs(number - means[code]) == min(abs(number - each) for each in means.values())
    held = np.array([*codes]).astype(
        coder(name).quantise(np.zeros(1), scale=1.0, zero_point=0).dtype
    )
    back = coder(name).dequantise(held, scale=float(step), zero_point=zero_point)
    assert [Fraction(float(each)) for each in back] == [*means.values()]
