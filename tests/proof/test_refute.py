"""Counterexamples: as small as brute force finds them, in the range, and found where far off."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import pytest
from proving import claimed, shapes, sound, words, wrong_at
from texts import layout

from layoutdsl import Layout


def made(body: str) -> Layout:
    parameters = "<k>" if "k" in body else ""
    return layout(f"layout L{parameters}(c, h) = {body}\nrefute L\n")


def volume(made_: Layout, values: dict[str, int]) -> int:
    return prod(made_.shape_of(values))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "body",
    [
        "[c/8, h, c%4]",
        "[c/4, c%4, h : 3]",
        "[c%6/4, h, c/6, c%4%2]",
        "[(c, h)/4, (c, h)%3]",
        "[(c : 4, h)/2, (c : 4, h)%2]",
        "[c/4%2, h, c%4]",
        "[c*C + h]",
        "[c + h]",
        "[max(c, h) : C + H]",
        "[c, h : 8] where H <= 9",
        "[c/4 : C/4, h, c%4] where C % 2 == 0",
        "[c, h%(C + 1)]",
        "[c, h - c : H] where C > 2, H > 1",
        "[c/k, h, c%k : k - 1]",
        "[c/2, h] where C % 5 == 0, H != 1",
    ],
)
def test_the_smallest_shape_is_found(body: str) -> None:
    """No shape of fewer elements fails, by trying every index of each."""
    wrong = made(body)
    found = {
        each.property: each.example for each in sound(wrong).findings if hasattr(each, "example")
    }
    assert found
    volumes = {volume(wrong, dict(each.shape)) for each in found.values()}
    assert len(volumes) == 1
    (least,) = volumes
    failing = [
        values for values in shapes(wrong, 12, least) if wrong_at(wrong, values) & set(found)
    ]
    assert min(volume(wrong, values) for values in failing) == least


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("shape", "body"),
    [
        ("C=1025 H=1", "[c%1024, h]"),
        ("C=65537 H=1", "[c%65536, h]"),
        ("C=1 H=65", "[c, h : 64] where H <= 65"),
        ("C=1 H=4097", "[c, h%4096]"),
        ("C=1001 H=1", "[c%1000, h]"),
        ("C=513 H=1", "[c/512%1, h, c%512]"),
    ],
)
def test_borders_of_large_blocks_are_tried(shape: str, body: str) -> None:
    (text,) = {
        words(each).splitlines()[1].strip()
        for each in sound(made(body)).findings
        if hasattr(each, "example")
    }
    assert text == f"at shape {shape}"


def capacity(random: Random) -> tuple[str, int]:
    """A cache of pages, and the longest axis that it holds."""
    page, pages = random.choice((4, 8, 16, 20, 32)), random.choice((8, 60, 64, 100, 128))
    first = f"b*{pages} + t/{page}"
    body = random.choice(
        (
            f"({first})*{page}*H*D + (h*D + d)*{page} + t%{page} : B*{pages}*{page}*H*D",
            f"(({first})*H + h)*D*{page} + d*{page} + t%{page} : B*{pages}*H*D*{page}",
            f"({first})*H*D + h*D + d : B*{pages}*H*D, t%{page}",
        )
    )
    return f"layout L(b, t, h, d) = [{body}]\nrefute L", page * pages


@pytest.mark.parametrize("seed", range(4))
def test_a_capacity_that_a_long_axis_exceeds(seed: int) -> None:
    random = Random(seed)
    for _ in range(4):
        text, longest = capacity(random)
        found = sound(layout(text))
        assert found.status == "refuted", text
        for each in found.findings:
            if hasattr(each, "example"):
                shape = dict(each.example.shape)
                assert (shape.pop("T") > longest, {*shape.values()}) == (True, {1}), text


@pytest.mark.slow
@pytest.mark.parametrize(
    "where", ["", " where C <= 3", " where C % 2 == 1, H <= 2", " where C > H"]
)
def test_a_fault_of_one_small_shape_is_found(where: str) -> None:
    """The claim is wrong at one shape of the range alone, or at none."""
    made_ = str(made(f"[c, h]{where}"))
    inside = made(f"[c, h]{where}").where
    for c, h in product(range(1, 6), repeat=2):
        claim = f"prove L == c*H + h + (1 - min((C - {c})*(C - {c}) + (H - {h})*(H - {h}), 1))"
        found = claimed(f"{made_}\n{claim}")
        if all(each.holds({"C": c, "H": h}) for each in inside):
            (finding,) = found.findings
            assert found.status == "refuted"
            assert dict(finding.example.shape) == {"C": c, "H": h}  # type: ignore[union-attr]
        else:
            assert found.status != "refuted", (c, h)


def test_a_layout_without_extents_has_one_shape() -> None:
    assert claimed("layout L(x: 3) = [x]\nprove L == x").status == "proved"
    found = sound(layout("layout L(x: 3) = [x/2]\nrefute L"))
    assert {each.example.shape for each in found.findings if hasattr(each, "example")} == {()}
    assert sound(layout("layout L(x: 3) = [x] where 1 > 2\nrefute L")).status == "refuted"


@pytest.mark.slow
def test_a_search_ends_for_layouts_of_many_axes() -> None:
    axes = ", ".join(f"a{number}" for number in range(40))
    many = sound(layout(f"layout L({axes}) = [{axes}, a0 + 1 : 1]\nrefute L"))
    shapes_ = {each.example.shape for each in many.findings if hasattr(each, "example")}
    assert shapes_ == {tuple((f"A{number}", 1) for number in range(40))}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "where"),
    [
        ("proved", ""),
        ("proved", " where C % 4 == 0"),
        ("proved", " where C > 100000"),
        ("proved", " where H == 4096"),
        ("refuted", " where C > 5, C < 5"),
        ("undecided", " where C*C == 2*H*H"),
    ],
)
def test_a_range_has_a_shape_has_none_or_is_open(status: str, where: str) -> None:
    found = sound(made(f"[c, h]{where}"))
    assert found.status == status
    assert found.findings[0].property == "the shape range is not empty"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("proved", "layout S(r: 8, c: 64) = [r, c/8 ^ r, c%8]\nprove S"),
        ("refuted", "layout S(r: 8, c: 64) = [r, c/8 & r, c%8]\nprove S"),
        ("proved", "layout S(i: 8, j: 8) = [i, (i + j)%8]\nprove S"),
        ("proved", "layout S(i, j) = [i, (i + j)%8 : 8] where I <= 8, J <= 8\nprove S"),
        ("refuted", "layout S(i, j) = [i, (i + j)%8 : 8] where I <= 8, J <= 9\nprove S"),
        ("undecided", "layout S(i, j) = [i, (i + j)%8 : 8] where I <= 8000, J <= 8\nprove S"),
        ("proved", "layout S(r: 8, c: 64) = [r, c/8 ^ r, c%8]\nprove S fits int16"),
        ("refuted", "layout S(r: 8, c: 64) = [r, c/8 ^ r, c%8]\nprove S fits int8"),
        ("undecided", "layout S(n, c) = [n, c]\nprove S == n*C + c where C < 1"),
    ],
)
def test_few_shapes_are_decided_by_trying_all(status: str, text: str) -> None:
    assert status == claimed(text).status
