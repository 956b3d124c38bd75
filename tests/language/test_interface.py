"""What elements stand for: the clause `as`, and the definition of codes in fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import module

from layoutdsl import diff, notations, to_notation, translate
from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.elements import (
    ELEMENT_TYPES,
    ElementType,
    Fill,
    FillAny,
    FillValue,
    FillZeroPoint,
)
from layoutdsl.language.meaning.interface import ScaleOffset, codes_of, decode, encode, takes_codes

PLAIN: list[tuple[str, Fill, str]] = [
    ("of u8", FillValue(0), "of u8"),
    ("of u8 as plain", FillValue(0), "of u8"),
    ("of f16 as plain fill 31", FillValue(31), "fill 31 of f16"),
]
CODES: list[tuple[str, str | None, Fill, str]] = [
    ("of u8 as scale_offset", None, FillZeroPoint(), "of u8 as scale_offset"),
    ("of u8 as scale_offset fill zero_point", None, FillZeroPoint(), "of u8 as scale_offset"),
    ("of i32 as scale_offset per c", "c", FillZeroPoint(), "of i32 as scale_offset per c"),
    ("of u8 as scale_offset fill 0", None, FillValue(0), "fill 0 of u8 as scale_offset"),
    ("fill 31 of u8 as scale_offset", None, FillValue(31), "fill 31 of u8 as scale_offset"),
    ("of i4 as scale_offset fill any", None, FillAny(), "fill any of i4 as scale_offset"),
]


@pytest.mark.parametrize(("clauses", "fill", "printed"), PLAIN)
def test_plain_elements_stand_for_themselves(clauses: str, fill: Fill, printed: str) -> None:
    found = module(f"layout L(n, c) = [n, c/16, c%16] {clauses}")["L"]
    assert (found.interface, found.fill) == (None, fill)
    assert declaration(found) == f"layout L(n, c) = [n, c/16, c%16] {printed}"


@pytest.mark.parametrize(("clauses", "per", "fill", "printed"), CODES)
def test_codes_are_padded_with_the_quantised_zero_unless_said_otherwise(
    clauses: str, per: str | None, fill: Fill, printed: str
) -> None:
    found = module(f"layout L(n, c) = [n, c/16, c%16] {clauses}")["L"]
    assert (found.interface, found.fill) == (ScaleOffset(per), fill)
    assert declaration(found) == f"layout L(n, c) = [n, c/16, c%16] {printed}"
    assert module(declaration(found))["L"] == found


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
    assert declaration(module(text)["B"]) == f"layout B(n, c) = [n, c/16, c%16] {both}"


def test_a_claim_has_the_interface_on_the_axes_of_the_other_layout() -> None:
    text = (
        "layout A(n, c) = [n, c]\nlayout B(m, d) = [m, d] of u8 as scale_offset per d\nprove A == B"
    )
    (claim,) = module(text).claims
    assert claim.predicate.other.interface == ScaleOffset("c")  # type: ignore[union-attr]


def test_an_interface_is_part_of_what_layouts_are() -> None:
    texts = ["of u8 fill zero_point", "of u8 as scale_offset", "of u8 as scale_offset per c"]
    assert len({module(f"layout L(n, c) = [n, c] {each}")["L"] for each in texts}) == 3


def test_a_record_takes_the_codes_of_a_layout_that_it_names() -> None:
    text = "layout A(n) = [n] of u8 as scale_offset\nrecord R(n) = { q(n) = A }"
    (part,) = module(text).records["R"].parts
    assert (part.layout.interface, part.layout.fill) == (None, FillValue(0))


def test_other_notations_say_where_codes_lie() -> None:
    found = module("layout L(n: 4, c: 32) = [n, c] of u8 as scale_offset fill any")["L"]
    written = [translate(found, notation) for notation in notations()]
    assert written == [translate(found.of_codes, notation) for notation in notations()]
    assert sum(each.text is not None for each in written) >= 4
    assert to_notation(found, "numpy") == to_notation(found.of_codes, "numpy")
    other = module("layout L(n: 4, c: 32) = [n, c] of u8 fill any")["L"]
    assert "codes of real numbers" in str(diff(found, other).notes)


# The definition.

CODED = [each for each in ELEMENT_TYPES.values() if takes_codes(each)]


def test_codes_are_integers_of_up_to_32_bits() -> None:
    expected = {f"{kind}{bits}" for kind in "iu" for bits in (*range(1, 9), 16, 32)}
    assert {each.name for each in CODED} == expected
    for name in ("f16", "u64", "bool", "e8", "f4"):
        with pytest.raises(ValueError, match=f"`{name}` holds no codes"):
            codes_of(ELEMENT_TYPES[name])


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


@pytest.mark.parametrize(("name", "value", "scale", "zero_point", "code"), WORKED)
def test_codes_worked_out_by_hand(
    name: str, value: str, scale: str, zero_point: int, code: int
) -> None:
    found = encode(Fraction(value), Fraction(scale), zero_point, ELEMENT_TYPES[name])
    assert found == code


@pytest.mark.slow
@given(
    st.sampled_from([each for each in CODED if each.bits <= 8]),
    st.fractions(-40, 40, max_denominator=64),
    st.fractions(Fraction(1, 64), 8, max_denominator=64),
    st.data(),
)
def test_no_code_is_nearer(
    element: ElementType, value: Fraction, scale: Fraction, data: st.DataObject
) -> None:
    low, high = codes_of(element)
    zero_point = data.draw(st.integers(low, high))
    code = encode(value, scale, zero_point, element)
    errors = {each: abs(value - decode(each, scale, zero_point)) for each in range(low, high + 1)}
    assert errors[code] == min(errors.values())
    assert decode(zero_point, scale, zero_point) == 0
