"""Tree to meaning: natural extents, clauses, parameters, aliases, claims and names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cli_shell import Shell, shell
from texts import LIBRARY, layout, message, module

import layoutdsl
from layoutdsl import LayoutError

__all__ = ["shell"]


def told(shell: Shell, text: str) -> dict[str, Any]:
    """What `check` says of the only layout of a text: extents and values as they are written."""
    done = shell("check", "-", "--json", stdin=text.encode())
    (found,) = json.loads(done.out)["layouts"]
    assert isinstance(found, dict)
    return found


NATURAL = [
    # coordinate, its natural extent
    ("c", "C"),
    ("7", "8"),
    ("C", "C + 1"),
    ("c/16", "ceil(C/16)"),
    ("c//16", "ceil(C/16)"),
    ("c%16", "16"),
    ("c/16%4", "4"),
    ("c%16/4", "4"),
    ("c%16/3", "6"),
    ("c/H", "ceil(C/H)"),
    ("c%H", "H"),
    ("c + h", "C + H - 1"),
    ("c + 3", "C + 3"),
    ("C - 1 - c", "C"),
    ("c - h", "C"),
    ("c*4", "4*C - 3"),
    ("c*h", "C*H + 2 - C - H"),
    ("c*4 + h%4", "4*C"),
    ("c << 2", "4*C - 3"),
    ("c >> 2", "ceil(C/4)"),
    ("c & 15", "16"),
    ("15 & c", "16"),
    ("c & 12", "13"),
    ("c & h%8", "8"),
    ("c ^ 3", "4*ceil(C/4)"),
    ("c ^ h%8", "8*ceil(C/8)"),
    ("c%8 ^ h%8", "8"),
    ("c%8 ^ h%3", "8"),
    ("(c, h)", "C*H"),
    ("(c, h/4)", "C*ceil(H/4)"),
    ("(c, h)/4", "ceil(C*H/4)"),
    ("(c : 7, h)", "7*H"),
    ("min(c, 4)", "min(C, 5)"),
    ("max(c, 4)", "max(C, 5)"),
    ("c : 32", "32"),
    ("c : roundup(C, 16)", "16*ceil(C/16)"),
    ("c : ceil(C/16)*16", "16*ceil(C/16)"),
    ("c : max(C, H)", "max(C, H)"),
    ("c : C + H - C", "H"),
    ("c : C/2*2 + 2", "2*(C/2) + 2"),
]


@pytest.mark.parametrize(("written", "extent"), NATURAL)
def test_natural_extent(written: str, extent: str, shell: Shell) -> None:
    found = told(shell, f"layout Demo(c, h) = [{written}] where C > 0")
    assert extent == found["coordinates"][0]["extent"]


MEANT = [
    # coordinate, the value as the language writes it back
    ("c << 4", "c*16"),
    ("c >> 4", "c/16"),
    ("c & 15", "c%16"),
    ("c & 6", "c & 6"),
    ("c + -3 : 9", "c + (-3)"),
    ("roundup(c, 4) : 99", "ceil(c/4)*4"),
    ("c%H0", None),
]


@pytest.mark.parametrize(("written", "meant"), MEANT)
def test_value(written: str, meant: str | None, shell: Shell) -> None:
    if meant is None:
        assert message(f"layout Demo(c, h) = [{written}] where C > 0").startswith("error[L201]")
    else:
        found = told(shell, f"layout Demo(c, h) = [{written}] where C > 0")
        assert meant == found["coordinates"][0]["value"]


@pytest.mark.parametrize(
    ("divisor", "where"),
    [
        ("C/4", "C % 4 == 0"),
        ("C/2", "C % 4 == 0"),
        ("C/k", "C % k == 0"),
        ("C/k", "C % (k*k) == 0"),
        ("C/k", "C % (2*k) == 0"),
        ("C/8 + C/2", "C % 8 == 0"),
    ],
)
def test_a_quotient_that_leaves_nothing_over_divides(divisor: str, where: str) -> None:
    found = layout(f"layout Demo<k>(c) = [c/({divisor}), c%({divisor})] where {where}")
    assert [found.offset((c,), {"C": 16, "k": 2}) for c in range(16)] == [*range(16)]


@pytest.mark.parametrize(
    ("divisor", "where"),
    [("C/3", "C % 4 == 0"), ("C/8", "C % 4 == 0"), ("C/k", "C % 4 == 0"), ("H/2", "C % 4 == 0")],
)
def test_a_quotient_that_may_be_0_does_not(divisor: str, where: str) -> None:
    text = f"layout Demo<k>(c, h) = [h, c/({divisor}), c%({divisor})] where {where}"
    assert message(text).startswith("error[L205]")


FILLS = [
    ("", ()),
    ("fill 0", ()),
    ("fill 31", ("fill 31",)),
    ("fill -1", ("fill -1",)),
    ("fill any", ("fill any",)),
    ("fill zero_point", ("fill zero_point",)),
]


@pytest.mark.parametrize(("clause", "fill"), FILLS)
def test_fill(clause: str, fill: tuple[str, ...]) -> None:
    assert fill == layout(f"layout Demo(c) = [c] {clause}").clauses


def test_clauses_in_any_order() -> None:
    one = layout("layout Demo(c) = [c] of u8 fill 3 offset 2*C where C < 9")
    assert one == layout("layout Demo(c) = [c] where C < 9 offset 2*C fill 3 of u8")
    assert one.element is not None
    assert (one.element.kind, one.element.bits) == ("u", 8)
    assert "offset 2*C" in one.clauses


CONDITIONS = [
    ("C % 4 == 0", ["C%4 == 0"]),
    ("1 <= C < 9", ["1 <= C", "C < 9"]),
    ("C in 1..64", ["C >= 1", "C <= 64"]),
    ("C in H..2*H, H != 3", ["C >= H", "C <= 2*H", "H != 3"]),
]


@pytest.mark.parametrize(("written", "conditions"), CONDITIONS)
def test_conditions(written: str, conditions: list[str]) -> None:
    found = layout(f"layout Demo(c, h) = [c, h] where {written}")
    assert conditions == [str(each) for each in found.where]


AXES = [
    ("n, c", ("N", "C"), ("N", "C")),
    ("n, c: K", ("N", "K"), ("N", "K")),
    ("n, k: 4", ("N", "4"), ("N",)),
    ("i: N, j: N", ("N", "N"), ("N",)),
    ("c1, c_2", ("C1", "C_2"), ("C1", "C_2")),
]


@pytest.mark.parametrize(("written", "extents", "symbols"), AXES)
def test_axes(
    written: str, extents: tuple[str, ...], symbols: tuple[str, ...], shell: Shell
) -> None:
    names = ", ".join(each.split(":")[0] for each in written.split(", "))
    text = f"layout Demo({written}) = [{names}]"
    assert extents == tuple(axis["extent"] for axis in told(shell, text)["axes"])
    assert symbols == layout(text).symbols


CUT = "layout Cut<k>(c) = [c/k, c%k] fill 3 of u8\n"
ALIASES = [
    # text after Cut, what its last layout is
    ("layout A = Cut<4>", "layout A(c) = [c/4, c%4] fill 3 of u8"),
    ("layout A<m> = Cut<m>", "layout A<m>(c) = [c/m, c%m] fill 3 of u8"),
    ("layout B<m> = Cut<m>\nlayout A = B<4>", "layout A(c) = [c/4, c%4] fill 3 of u8"),
    ("layout B = Cut<4>\nlayout A = B", "layout A(c) = [c/4, c%4] fill 3 of u8"),
    ("layout A = Cut<4> fill 9", "layout A(c) = [c/4, c%4] fill 9 of u8"),
    ("layout A = Cut<4> of i8", "layout A(c) = [c/4, c%4] fill 3 of i8"),
    ("layout A = Cut<4> offset C", "layout A(c) = [c/4, c%4] fill 3 of u8 offset C"),
    ("layout A = Cut<4> where C > 4", "layout A(c) = [c/4, c%4] fill 3 of u8 where C > 4"),
    (
        "layout B = Cut<4> where C > 4\nlayout A = B where C < 9",
        "layout A(c) = [c/4, c%4] fill 3 of u8 where C > 4, C < 9",
    ),
    (
        "layout A = Later<2>\nlayout Later<k>(c) = [c/k, c%k]\nlayout A2 = A",
        "layout A2(c) = [c/2, c%2]",
    ),
    ("layout A<m> = Cut<m> where C > m", "layout A<m>(c) = [c/m, c%m] fill 3 of u8 where C > m"),
]


@pytest.mark.parametrize(("written", "meant"), ALIASES)
def test_alias(written: str, meant: str) -> None:
    assert layout(meant) == layout(CUT + written)


def test_parameter_of_a_library_layout() -> None:
    found = module("layout Mine = NCHWc<8> fill any\nlayout Open<m> = NCHWc<m>", LIBRARY)
    assert (
        found["Mine"].coordinates
        == layout("layout A(n, c, h, w) = [n, c/8, h, w, c%8]").coordinates
    )
    assert found["Mine"].parameters == ()
    assert found["Open"].parameters == ("m",)
    assert found["Open"].offset((0, 9, 0, 0), (1, 20, 1, 1, 8)) == 9


def test_parameter_that_needs_a_number() -> None:
    text = "layout Shifted<k>(c) = [c >> k, c%4]\nlayout By2 = Shifted<2>"
    assert list(module(text)) == ["By2"]
    assert message(f"{text}\nprove By2 == [c/4, c%4]") == ""
    assert message(f"{text}\nprove Shifted").startswith("error[L207]: a shift is by a number")


def test_a_text_may_name_a_layout_as_the_library_does() -> None:
    found = module("layout NCHW(a) = [a]\nprove NCHW == a", LIBRARY)
    assert found["NCHW"].rank == 1
    assert found.claims[0].layout == found["NCHW"]


PREDICATES = [
    # a claim, and the property that is looked at
    ("prove NCHW fits int32", "fits int32"),
    ("prove NCHW", "injective"),
    ("prove NCHW keeps w contiguous", "keeps the run contiguous"),
    ("prove NCHW keeps h%4, w/2%2 contiguous", "keeps the run contiguous"),
    ("prove NCHW aligns w to 4 bytes of f32", "aligns the run to 4 bytes"),
    ("refute NCHW == NHWC", "equals NHWC"),
    ("refute NCHW == NCHWc<16>", "equals NCHWc<16>"),
    ("refute NCHW == [n, h, c, w]", "equals [n, h, c, w]"),
    ("refute NCHW == n + c", "equals the formula"),
    ("refute NCHW == n", "equals the formula"),
    ("refute NCHWc == NCHWc", "equals NCHWc"),
    ("refute NCHWc<4> == NCHW", "equals NCHW"),
    ("refute NCHW == x with x = n + c", "equals the formula"),
    ("refute NCHW == [y, x] with x = c/4, y = n*C + x", "equals [y, x]"),
    ("refute NCHWc == x + k with x = c%k where C > 2", "equals the formula"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "property_"), PREDICATES)
def test_predicate(text: str, property_: str) -> None:
    (found,) = layoutdsl.prove(layoutdsl.parse(text).claims).checked
    assert text == found.claim.text
    assert found.claim.polarity == text.split()[0]
    properties = [each.property for each in found.findings]
    assert property_ in properties
    assert (len(properties) == 1) == (text != "prove NCHW")


def test_axes_of_the_same_names_are_matched_by_name() -> None:
    texts = (
        "layout A(n, c, h) = [n, h, c]\n"
        "layout B(c, h, n) = [n, h, c]\n"
        "table T(h, n, c)[i: N, j: H, k: C] = (h = j, n = i, c = k)\n"
        "prove A == B\nprove T inverts A"
    )
    found = module(texts)
    (equal,), (inverse,) = found.claims, found.table_claims
    for other in (equal.predicate.other, inverse.predicate.layout):  # type: ignore[union-attr]
        named = {"n": 1, "c": 4, "h": 2}
        shape = {"n": 2, "c": 5, "h": 3}
        assert other.offset(named, shape) == (1 * 3 + 2) * 5 + 4
    assert layoutdsl.prove(layoutdsl.parse(texts)).passed


def test_axes_of_the_other_layout_are_matched_by_position() -> None:
    (claim,) = module("prove R4NCHWMemoryLayout == NCHW", LIBRARY).claims
    other = claim.predicate.other  # type: ignore[union-attr]
    assert [axis.name for axis in other.axes] == ["b", "h", "w", "d"]
    assert other.offset((0, 1, 0, 0), (1, 2, 3, 4)) == 12


def test_a_name_stands_for_its_expression() -> None:
    """As if it stood there in parentheses; a name may speak of those before it."""
    short = "prove NCHW == ((n*C + c)*x + y)*W + w%z with x = H, y = h - q, q = 1, z = x + q*2"
    with pytest.raises(LayoutError, match="`q` is not known yet"):
        module(short, LIBRARY)
    ordered = short.replace("y = h - q, q = 1", "q = 1, y = h - q")
    long = "prove NCHW == ((n*C + c)*H + (h - 1))*W + w%(H + 1*2)"
    one, other = module(ordered, LIBRARY).claims + module(long, LIBRARY).claims
    assert one.predicate == other.predicate


def test_claim_narrows_the_range_of_its_layout() -> None:
    text = "layout A(c) = [c] where C > 2\nprove A fits int8 where C < 9"
    (claim,) = module(text).claims
    assert [str(each) for each in claim.ranged.where] == ["C > 2", "C < 9"]


GAPS = [
    # a gap is a fault, but not where the shapes are restricted or the layout is refuted
    ("layout A(c) = [c/16, c%8]", "L202"),
    ("layout A(c) = [c/16, c%8] where C <= 8", ""),
    ("layout A(c) = [c/16, c%8]\nrefute A", ""),
    ("layout A(n, c) = [c]", "L209"),
    ("layout A(n, c) = [c]\nrefute A", ""),
    ("layout A(n: 1, c) = [c]", ""),
]


@pytest.mark.parametrize(("text", "code"), GAPS)
def test_gaps(text: str, code: str) -> None:
    assert code == message(text)[6:10]


@pytest.mark.parametrize(
    "name", ["__class__", "__import__", "None", "lambda", "exec", "import", "_", "layout", "prove"]
)
def test_python_means_nothing_in_a_name(name: str) -> None:
    assert list(module(f"layout {name}(lambda, none) = [lambda, none]")) == [name]
