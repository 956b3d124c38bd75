"""Runs: contiguity and alignment against counting, over digits of axes and of tuples."""

from __future__ import annotations

from math import prod
from random import Random

import pytest
from proving import claimed, elements, shapes, words
from texts import layout, message, module

from layoutdsl import Claim, Layout
from layoutdsl.language.integers.expr import Coordinate, Expr, FloorDiv, Index, MixedRadix, Mod
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.claims import Aligns, Keeps
from layoutdsl.proof.prover.check import check
from layoutdsl.proof.prover.verdict import Proved, Refuted
from layoutdsl.proof.statements.run_statement import start_of

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


@pytest.mark.sampled(2, slow=1)
@pytest.mark.parametrize("text", RIGHT)
def test_right_runs_are_proved(text: str) -> None:
    found = claimed(f"layout L{text}")
    assert [words(each) for each in found.findings] == ["proved"]
    (finding,) = found.findings
    assert isinstance(finding, Proved)
    assert finding.certificate


def test_what_no_proof_shows_is_looked_at_where_shapes_are_few() -> None:
    text = "layout L(i: 4, j: 2) = [i*i + i : 13, j]\nprove L aligns j to 4 bytes of u8"
    (finding,) = claimed(text).findings
    assert isinstance(finding, Proved)
    assert not finding.certificate


@pytest.mark.sampled(2, slow=1)
@pytest.mark.parametrize("text", WRONG)
def test_wrong_runs_are_refuted(text: str) -> None:
    claim = module(f"layout L{text}").claims[-1]
    (finding,) = check(claim).findings
    assert isinstance(finding, Refuted), finding
    shape = dict(finding.example.shape)
    bad = [bound for bound in elements(claim.ranged, shape) if not holds_at(claim, bound)]
    assert bad


def parts_of(value: int, parts: tuple[Coordinate, ...], bound: dict[str, int]) -> list[int]:
    """A value split into the parts of a tuple, most major first, the first without an end."""
    found: list[int] = []
    for part in reversed(parts[1:]):
        extent = evaluate(part.extent, bound)
        found.insert(0, value % extent)
        value //= extent
    return [value, *found]


def offset_of_start(claim: Claim, bound: dict[str, int]) -> tuple[int, int]:
    """Where the run of an index starts, and how far into it the index lies, counted out.

    Only for tuples of plain axes; what one more of a digit is worth is found by looking.
    """
    predicate = claim.predicate
    assert isinstance(predicate, Keeps | Aligns)
    there, place = dict(bound), 0
    for digit in predicate.run:
        value = evaluate(digit.value, bound)
        place = place * evaluate(digit.extent, bound) + value
        if value == 0:
            continue
        whole = digit.value
        while not isinstance(whole, Index | MixedRadix):
            whole = whole.left  # type: ignore[union-attr]
        one = next(step for step in range(1, 400) if of_total(digit.value, whole, step, bound) == 1)
        if isinstance(whole, Index):
            there[whole.name] -= value * one
            continue
        before = parts_of(evaluate(whole, bound) - value * one, whole.parts, bound)
        for part, value_there in zip(whole.parts, before, strict=True):
            assert isinstance(part.value, Index)
            there[part.value.name] = value_there
    return claim.layout.offset_at(there), place


def of_total(expr: Expr, whole: Expr, total: int, bound: dict[str, int]) -> int:
    """The digit where the index or the tuple that it is cut from has another value."""
    if expr == whole:
        return total
    assert isinstance(expr, FloorDiv | Mod)
    left, right = of_total(expr.left, whole, total, bound), evaluate(expr.right, bound)
    return left % right if isinstance(expr, Mod) else left // right


def holds_at(claim: Claim, bound: dict[str, int]) -> bool:
    predicate = claim.predicate
    first, place = offset_of_start(claim, bound)
    if isinstance(predicate, Keeps):
        return claim.layout.offset_at(bound) == first + place
    assert isinstance(predicate, Aligns)
    return first * predicate.element.bits % (8 * predicate.bytes) == 0


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
    claim = module(text).claims[-1]
    found = claim.ranged
    (finding,) = check(claim).findings
    small = [bound for each in shapes(found, 17, 60) for bound in elements(found, each)]
    holds = all(holds_at(claim, bound) for bound in small)
    if isinstance(finding, Proved):
        assert holds, text
    if isinstance(finding, Refuted):
        shape = dict(finding.example.shape)
        assert all(each.holds(shape) for each in claim.ranged.where)
        assert any(not holds_at(claim, bound) for bound in elements(claim.ranged, shape)), text
    return type(finding).__name__


@pytest.mark.slow
def test_random_runs_against_counting() -> None:
    random = Random(2)
    found = [agrees_with_counting(random_claim(random)) for _ in range(40)]
    assert {"Proved", "Refuted"} <= set(found)
    assert found.count("Undecided") <= 2


@pytest.mark.campaign
def test_many_random_runs_against_counting() -> None:
    random = Random(9)
    found = [agrees_with_counting(random_claim(random)) for _ in range(1500)]
    assert found.count("Undecided") <= 75


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


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, pytest.param(150, marks=pytest.mark.slow)])
def test_runs_over_other_digits_against_counting(count: int) -> None:
    random = Random(24)
    found = [agrees_with_counting(of_other_digits(random)) for _ in range(count)]
    assert {*found} == {"Proved", "Refuted"}


@pytest.mark.sampled(3, slow=2)
@pytest.mark.parametrize("run", ["(c, h)%4", "(h, c)%6", "(c, h)%8/2", "c%4, (h, c/4)%3", "h"])
def test_a_start_has_zero_digits_and_is_its_own_start(run: str) -> None:
    claim = module(f"layout L(c, h) = [c, h]\nprove L keeps {run} contiguous").claims[0]
    predicate = claim.predicate
    assert isinstance(predicate, Keeps)
    start = start_of(predicate.run)
    for values in shapes(claim.layout, 9, 80):
        for bound in elements(claim.layout, values):
            there = start.at(bound)
            assert [evaluate(each.value, there) for each in predicate.run] == [0] * len(
                predicate.run
            )
            assert start.at(there) == there


def test_the_conditions_of_an_alignment_are_named() -> None:
    (finding,) = claimed(f"layout L{RIGHT[1]}").findings
    assert isinstance(finding, Proved)
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


def slots_in_order(found: Layout, values: dict[str, int]) -> int:
    return prod(evaluate(each.extent, values) for each in found.coordinates)


def test_a_run_of_a_tuple_in_slots() -> None:
    """Straight from the buffer: four slots in a row hold the four elements of a run."""
    found = layout("layout L(c, h) = [(c, h)/4, (c, h)%4]")
    values = {"C": 5, "H": 7}
    for first in range(0, slots_in_order(found, values), 4):
        held = [found.decode(slot, values) for slot in range(first, first + 4)]
        totals = [c * 7 + h for c, h in (each for each in held if each is not None)]
        assert totals == list(range(first, first + len(totals)))
