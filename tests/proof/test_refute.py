"""Counterexamples: as small as brute force finds them, in the range, and found where far off."""

from __future__ import annotations

from itertools import product

import pytest
from proving import shapes, sound, words, wrong_at
from texts import layout, module

from layoutdsl import Layout
from layoutdsl.language.meaning.shapes import ceilings, in_range, small, telling, volume
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Refuted
from layoutdsl.proof.refute import refute


def made(body: str) -> Layout:
    parameters = "<k>" if "k" in body else ""
    return layout(f"layout L{parameters}(c, h) = {body}\nrefute L\n")


@pytest.mark.sampled(2, slow=1)
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
        each.property: each.example for each in sound(wrong).findings if isinstance(each, Refuted)
    }
    assert found
    volumes = {volume(wrong, dict(each.shape)) for each in found.values()}
    assert len(volumes) == 1
    (least,) = volumes
    failing = [
        values for values in shapes(wrong, 12, least) if wrong_at(wrong, values) & set(found)
    ]
    assert min(volume(wrong, values) for values in failing) == least


@pytest.mark.sampled(6, slow=5)
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
        if isinstance(each, Refuted)
    }
    assert text == f"at shape {shape}"


@pytest.mark.parametrize("most", [1, 6, 30])
@pytest.mark.parametrize(
    "where", ["", " where C <= 3", " where C % 2 == 1, H <= 2", " where C > H"]
)
def test_small_shapes_are_all_there_by_volume(where: str, most: int) -> None:
    range_ = made(f"[c, h]{where}")
    found = [(each["C"], each["H"]) for each in small(range_, most)]
    wanted = {
        (c, h)
        for c, h in product(range(1, most + 1), repeat=2)
        if c * h <= most and in_range(range_, {"C": c, "H": h})
    }
    assert set(found) == wanted
    assert len(found) == len(wanted)
    assert [c * h for c, h in found] == sorted(c * h for c, h in found)


def test_shapes_without_extents() -> None:
    assert list(small(layout("layout L(x: 3) = [x]"), 10)) == [{}]
    assert list(small(layout("layout L(x: 3) = [x] where 1 > 2"), 10)) == []


@pytest.mark.slow
def test_a_search_ends() -> None:
    """Ranges of few shapes, of none that is small, and layouts of many axes."""
    assert len(list(small(made("[c, h] where C <= 9, H <= 9"), 40_000))) == 81
    assert list(small(made("[c, h] where C > 100000"), 40_000)) == []
    axes = ", ".join(f"a{number}" for number in range(40))
    many = layout(f"layout L({axes}) = [{axes}, a0 ^ 1]\nrefute L")
    assert next(telling(many, (), 20_000)) == dict.fromkeys(many.symbols, 1)


def test_largest_extents() -> None:
    range_ = made("[c, h] where C <= 9, C < 9, 7 >= C, H in 2..5, C*H <= 3")
    assert ceilings(range_) == {"C": 7, "H": 5}
    assert ceilings(made("[c, h] where C != 5, C > 5, C*2 <= 9")) == {}


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"C": 1, "H": 1}, ""),
        ({"C": 4, "H": 1}, " where C % 4 == 0"),
        ({"C": 100001, "H": 1}, " where C > 100000"),
        ({"C": 1, "H": 4096}, " where H == 4096"),
        (None, " where C > 5, C < 5"),
        (None, " where C*C == 2"),
    ],
)
def test_a_witness_of_the_range(values: dict[str, int] | None, where: str) -> None:
    assert refute.witness(made(f"[c, h]{where}")) == values


@pytest.mark.sampled(2, slow=1)
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
    (claim,) = module(text).claims
    assert status == check(claim).status
