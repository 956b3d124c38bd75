"""Runs: contiguity and alignment against counting, over digits of axes and of tuples."""

from __future__ import annotations

import re
from math import prod
from random import Random

import pytest
from proving import claimed, elements, shapes, words
from texts import layout, message

from layoutdsl import Claim

RIGHT = [
    "(c, h) = [(c, h)/4, (c, h)%4]\nprove L keeps (c, h)%4 contiguous",
    "(c, h) = [(c, h)/4, (c, h)%4]\nprove L aligns (c, h)%4 to 16 bytes of f32",
    "(c, h) = [(c, h)/8, (c, h)%8/2, (c, h)%2]\nprove L keeps (c, h)%8 contiguous",
    "(c, h) = [(c, h)/8, (c, h)%8/2, (c, h)%2]\nprove L keeps (c, h)%8/2, (c, h)%2 contiguous",
    "(c, h) = [(c, h)/8, (c, h)%8/2, (c, h)%2]\nprove L aligns (c, h)%2 to 1 bytes of u4",
    "(h, c) = [(h, c/4)/8, (h, c/4)%8, c%4]\nprove L keeps (h, c/4)%8, c%4 contiguous",
    "(h, c) = [(h, c/4)/8, (h, c/4)%8, c%4]\nprove L aligns (h, c/4)%8, c%4 to 128 bytes of f32",
    "(a, b, c) = [(a, b, c)/6, (a, b, c)%6]\nprove L keeps (a, b, c)%6 contiguous",
    "(a, b, c) = [(a, b, c)/6, (a, b, c)%6]\nprove L aligns (a, b, c)%6 to 12 bytes of u16",
    "(c, h) = [(c : 12, h)/8, (c : 12, h)%8] where C <= 12\nprove L keeps (c : 12, h)%8 contiguous",
    "(n, c, h) = [(n, (c/4, h))/2, (n, (c/4, h))%2, c%4]\n"
    "prove L keeps (n, (c/4, h))%2, c%4 contiguous",
    "<k>(c, h) = [(c, h)/k, (c, h)%k]\nprove L keeps (c, h)%k contiguous",
    "(c, h) = [(c, h)/4, (c, h)%4] offset 4\nprove L aligns (c, h)%4 to 4 bytes of u8",
    "(c, h) = [(c, h)/4; (c, h)%4]\nprove L keeps (c, h)%4 contiguous",
    "(c, h: 6) = [(c, h)/4, (c, h)%4]\nprove L keeps (c, h)%4 contiguous",
]

WRONG = [
    "(c, h) = [(c, h)%4, (c, h)/4]\nprove L keeps (c, h)%4 contiguous",
    "(c, h) = [(c, h)/4, (c, h)%4 : 5]\nprove L aligns (c, h)%4 to 4 bytes of u8",
    "(c, h) = [(c, h)/4, (c, h)%4]\nprove L keeps (h, c)%4 contiguous",
    "(c, h) = [(c, h)/4, (c, h)%4]\nprove L aligns (c, h)%4 to 8 bytes of u8",
    "(c, h) = [(c, h)/4, (c, h)%4] offset 2\nprove L aligns (c, h)%4 to 4 bytes of u8",
    "(a, b, c) = [(a, b, c)/6, (a, b, c)%6/2, (a, b, c)%2 : 3]\n"
    "prove L keeps (a, b, c)%6 contiguous",
    "(h, c) = [(h, c)%8/2, (h, c)/8, (h, c)%2]\nprove L keeps (h, c)%8 contiguous",
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", RIGHT)
def test_right_runs_are_proved(text: str) -> None:
    found = claimed(f"layout L{text}")
    assert [words(each) for each in found.findings] == ["proved"]
    assert all(each.certificate for each in found.findings)  # type: ignore[union-attr]


def test_what_no_proof_shows_is_looked_at_where_shapes_are_few() -> None:
    text = "layout L(i: 4, j: 2) = [i*i + i : 13, j]\nprove L aligns j to 4 bytes of u8"
    found = claimed(text)
    assert found.status == "proved"
    assert not any(each.certificate for each in found.findings)  # type: ignore[union-attr]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", WRONG)
def test_wrong_runs_are_refuted(text: str) -> None:
    found = claimed(f"layout L{text}")
    claim, (finding,) = found.claim, found.findings
    assert isinstance(claim, Claim)
    assert found.status == "refuted"
    shape = dict(finding.example.shape)  # type: ignore[union-attr]
    bad = [bound for bound in elements(claim.ranged, shape) if not holds_at(claim, bound)]
    assert bad


DIGIT = re.compile(r"(?:\(([a-z, ]+)\)|([a-z]))((?:[/%]\d+)*)")
"""A tuple of axes, or an axis, and what cuts it."""


class Digit:
    """A digit of a run, in plain integers: ``(c, h)%8/2`` of axes c and h."""

    def __init__(self, tuple_: str, axis: str, cuts: str) -> None:
        self.axes = tuple_.split(", ") if tuple_ else [axis]
        self.cuts = [(sign, int(number)) for sign, number in re.findall(r"([/%])(\d+)", cuts)]

    def total(self, bound: dict[str, int]) -> int:
        """The number that is cut: the index, or that of a tuple, the first axis most major."""
        found = 0
        for axis in self.axes:
            found = found * bound[axis.upper()] + bound[axis]
        return found

    def cut(self, total: int) -> int:
        for sign, number in self.cuts:
            total = total // number if sign == "/" else total % number
        return total

    def extent(self, bound: dict[str, int]) -> int:
        found = prod(bound[axis.upper()] for axis in self.axes)
        for sign, number in self.cuts:
            found = -(-found // number) if sign == "/" else number
        return found

    def place(self, total: int, bound: dict[str, int]) -> dict[str, int]:
        """The indices of the axes at a number; the first axis has no end."""
        found: dict[str, int] = {}
        for axis in reversed(self.axes[1:]):
            found[axis], total = total % bound[axis.upper()], total // bound[axis.upper()]
        return {**found, self.axes[0]: total}


def digits_of(claim: Claim) -> list[Digit]:
    said = re.search(r" (?:keeps|aligns) (.*?) (?:contiguous|to )", claim.text)
    assert said is not None
    found = [Digit(*each) for each in DIGIT.findall(said[1])]
    assert DIGIT.sub("", said[1]).strip(", ") == "", said[1]
    return found


def offset_of_start(claim: Claim, bound: dict[str, int]) -> tuple[int, int]:
    """Where the run of an index starts, and how far into it the index lies, counted out.

    Only for tuples of plain axes; what one more of a digit is worth is found by looking.
    """
    there, place = dict(bound), 0
    for digit in digits_of(claim):
        value = digit.cut(digit.total(bound))
        place = place * digit.extent(bound) + value
        if value == 0:
            continue
        one = next(step for step in range(1, 400) if digit.cut(step) == 1)
        if len(digit.axes) == 1:
            there[digit.axes[0]] -= value * one
        else:
            there |= digit.place(digit.total(bound) - value * one, bound)
    return claim.layout.offset_at(there), place


def holds_at(claim: Claim, bound: dict[str, int]) -> bool:
    first, place = offset_of_start(claim, bound)
    if " contiguous" in claim.text:
        return claim.layout.offset_at(bound) == first + place
    said = re.search(r" to (\d+) bytes of [a-z]+(\d+)", claim.text)
    assert said is not None
    return first * int(said[2]) % (8 * int(said[1])) == 0


BODIES = [
    "[c/8, h, c%8]", "[c/8, h/4, h%4, c%8]", "[h, c/16, c%16/4, c%4]", "[(c, h)/4, (c, h)%4]",
    "[(h, c)/6, (h, c)%6]", "[(h, c), 0 : 4]", "[c/4, h : roundup(H, 8), c%4]", "[h, c : 256]",
    "[c/8, h : H + 3, c%8] offset 8", "[h/2, c/4, h%2, c%4]", "[c%4, h, c/4]",
    "[h, c/4, c%4 : 5]", "[(c, h)/8, (c, h)%8/2, (c, h)%2]",
]  # fmt: skip
RUNS = [
    "c%8", "c%4", "c", "h", "h, c%8", "(c, h)%4", "(h, c)%6", "(c, h)%8", "h, c", "h%2, c%4",
    "(c, h)%2", "(c, h)%8/2", "c%8/4", "c/4",
]  # fmt: skip


def random_claim(random: Random) -> str:
    run = random.choice(RUNS)
    where = random.choice(
        ["", "", " where C % 8 == 0", " where C <= 12, H <= 9", " where H % 4 == 0"]
    )
    to = (
        f"{random.choice([1, 2, 4, 8, 16, 3])} bytes of {random.choice(['u4', 'u8', 'f16', 'f32'])}"
    )
    form = random.choice([f"keeps {run} contiguous", f"aligns {run} to {to}"])
    return f"layout L(c, h) = {random.choice(BODIES)}{where}\nprove L {form}"


def agrees_with_counting(text: str) -> str:
    checked = claimed(text)
    claim = checked.claim
    assert isinstance(claim, Claim)
    found = claim.ranged
    (finding,) = checked.findings
    small = [bound for each in shapes(found, 17, 60) for bound in elements(found, each)]
    holds = all(holds_at(claim, bound) for bound in small)
    if checked.status == "proved":
        assert holds, text
    if checked.status == "refuted":
        shape = dict(finding.example.shape)  # type: ignore[union-attr]
        assert all(each.holds(shape) for each in claim.ranged.where)
        assert any(not holds_at(claim, bound) for bound in elements(claim.ranged, shape)), text
    return checked.status


@pytest.mark.slow
def test_random_runs_against_counting() -> None:
    random = Random(2)
    found = [agrees_with_counting(random_claim(random)) for _ in range(40)]
    assert {"proved", "refuted"} <= set(found)
    assert found.count("undecided") <= 2


@pytest.mark.campaign
def test_many_random_runs_against_counting() -> None:
    random = Random(9)
    found = [agrees_with_counting(random_claim(random)) for _ in range(1500)]
    assert found.count("undecided") <= 75


# Runs and digits that do not divide one another.


def of_other_digits(random: Random) -> str:
    """A claim of a run over digits, neither of which divides the other."""
    block = random.choice((4, 6, 10, 12, 16))
    times = random.choice((1, 2, 3))
    cut = [f"c/{block}"]
    if times > 1:
        cut = [f"c/{block * times}", f"c%{block * times}/{block}"]
    places = random.choice(
        (["h", *cut], [*cut, "h"], [*cut[:1], "h", *cut[1:]], ["h/2", "h%2", *cut])
    )
    last = random.choice((f"c%{block}", f"c%{block}", f"c%{block} : {block + 2}"))
    run = random.choice([each for each in range(3, 41) if each % block and block % each])
    where = random.choice(("", f" where C % {block} == 0", " where C <= 50, H <= 9"))
    offset = random.choice(("", "", " offset 8"))
    form = f"keeps c%{run} contiguous"
    if random.random() < 0.4:
        form = f"aligns c%{run} to {random.choice((1, 2, 3, 4, 8, 16))} bytes of u8"
    return f"layout L(c, h) = [{', '.join((*places, last))}]{offset}{where}\nprove L {form}"


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize("count", [12, pytest.param(150, marks=pytest.mark.slow)])
def test_runs_over_other_digits_against_counting(count: int) -> None:
    random = Random(24)
    found = [agrees_with_counting(of_other_digits(random)) for _ in range(count)]
    assert {*found} == {"proved", "refuted"}


def test_the_conditions_of_an_alignment_are_named() -> None:
    found = claimed(f"layout L{RIGHT[1]}")
    (finding,) = found.findings
    assert found.status == "proved"
    assert finding.conditions == ("the buffer starts at a multiple of 16 bytes",)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("a part of an axis is in the run twice",
         "(c, h) = [(c, h)/4, (c, h)%4]\nprove L keeps h, (c, h)%4 contiguous"),
        ("`c + h` is not a digit of an axis",
         "(c, h) = [(c + h, h)/4, (c + h, h)%4]\nprove L keeps (c + h, h)%4 contiguous"),
    ],
)  # fmt: skip
def test_runs_that_cannot_be_stated(reason: str, text: str) -> None:
    (finding,) = claimed(f"layout L{text}").findings
    assert words(finding).endswith(reason)


def test_a_part_of_a_tuple_twice_is_refused() -> None:
    text = "layout L(c, h) = [c, h]\nprove L keeps (c, h)%4, (c, h)%8 contiguous"
    assert "is in the run twice" in message(text)


def test_a_run_of_a_tuple_in_slots() -> None:
    """Straight from the buffer: four slots in a row hold the four elements of a run."""
    found = layout("layout L(c, h) = [(c, h)/4, (c, h)%4]")
    values = {"C": 5, "H": 7}
    for first in range(0, found.size(values), 4):
        held = [found.decode(slot, values) for slot in range(first, first + 4)]
        totals = [c * 7 + h for c, h in (each for each in held if each is not None)]
        assert totals == list(range(first, first + len(totals)))
