"""Proofs about layouts with a domain: what is right is proved, what is wrong is refuted.

The kernel is also given theorems and tactics that are wrong, which no text of a layout leads to.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from proving import claimed, refutations, replays, shapes, sound, words, wrong_at
from texts import DOMAINS, layout

from layoutdsl import Layout
from layoutdsl.language.digits.domains import Read, Reading, reading_of
from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Add, Constant, Coordinate, Index, Sub
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import establish
from layoutdsl.proof.kernel.checker import Have, Theorem
from layoutdsl.proof.prover.verdict import Proved, Refuted, Undecided
from layoutdsl.proof.statements.sound import FULL, PADDING, RANGE
from layoutdsl.proof.tactics.domain_proof import DomainSoundness


def full_at_small_shapes(layout: Layout) -> bool:
    """Whether every slot holds an element, by trying the slots of small shapes."""
    return not any(
        layout.is_padding(slot, values)
        for values in shapes(layout, 5, 150)
        for slot in range(layout.size(values))
    )


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", [name for name in DOMAINS if name != "OddPlaces"])
def test_right_layouts_are_proved_for_all_shapes(name: str) -> None:
    found = sound(DOMAINS[name])
    assert [words(each) for each in found.findings] == ["proved"] * len(found.findings)
    proved = {each.property: each for each in found.findings if isinstance(each, Proved)}
    assert proved[PADDING].certificate
    assert (FULL in proved) == full_at_small_shapes(DOMAINS[name])


def test_a_domain_of_remainders_needs_no_rows() -> None:
    assert sound(DOMAINS["OddPlaces"]).status == "proved"


SQUARE = "(i: N, j: N) ="
TRIANGLE = "N*(N + 1)/2"
WRONG = {
    f"layout L{SQUARE} [i*(i + 1)/2 + j : {TRIANGLE}] where j <= i + 1": """\
refuted: `L` is not injective
  at shape N=2
    (i=0, j=1) -> offset 1
    (i=1, j=0) -> offset 1""",
    f"layout L{SQUARE} [i*(i + 1)/2 + j : {TRIANGLE}]": """\
refuted: `L` is not injective
  at shape N=2
    (i=0, j=1) -> offset 1
    (i=1, j=0) -> offset 1""",
    f"layout L{SQUARE} [i*(i + 1)/2 + j : {TRIANGLE} - 1] where j <= i": """\
refuted: coordinate `i*(i + 1)/2 + j : (N*N + N)/2 - 1` of `L` leaves its extent
  at shape N=1
    (i=0, j=0) -> 0, outside 0..-1
refuted: `L` leaves its buffer
  at shape N=1
    (i=0, j=0) -> offset 0, outside 0..-1""",
    f"layout L{SQUARE} [i*(i + 1)/2 + j : N*(N - 1)/2 + 1] where j <= i": """\
refuted: coordinate `i*(i + 1)/2 + j : (N*N - N)/2 + 1` of `L` leaves its extent
  at shape N=2
    (i=1, j=1) -> 2, outside 0..1
refuted: `L` leaves its buffer
  at shape N=2
    (i=1, j=1) -> offset 2, outside 0..1""",
    f"layout L{SQUARE} [i*(i - 1)/2 + j : {TRIANGLE}] where j <= i": """\
refuted: `L` is not injective
  at shape N=2
    (i=0, j=0) -> offset 0
    (i=1, j=0) -> offset 0""",
    f"layout L{SQUARE} [i*(i + 1) + j : {TRIANGLE}] where j <= i": """\
refuted: coordinate `i*(i + 1) + j : (N*N + N)/2` of `L` leaves its extent
  at shape N=2
    (i=1, j=1) -> 3, outside 0..2
refuted: `L` leaves its buffer
  at shape N=2
    (i=1, j=1) -> offset 3, outside 0..2""",
    f"layout L{SQUARE} [i + j*(j + 1)/2 : {TRIANGLE}] where j <= i": """\
refuted: `L` is not injective
  at shape N=3
    (i=1, j=1) -> offset 2
    (i=2, j=0) -> offset 2""",
    f"layout L{SQUARE} [i*(i + 1)/2 - j : {TRIANGLE}] where j <= i": """\
refuted: `L` is not injective
  at shape N=2
    (i=0, j=0) -> offset 0
    (i=1, j=1) -> offset 0""",
    f"layout L{SQUARE} [i, j - i : N - 1] where i <= j": """\
refuted: coordinate `j - i : N - 1` of `L` leaves its extent
  at shape N=1
    (i=0, j=0) -> 0, outside 0..-1
refuted: `L` leaves its buffer
  at shape N=1
    (i=0, j=0) -> offset 0, outside 0..-1""",
    f"layout L{SQUARE} [i] where j <= i": """\
refuted: `L` is not injective
  at shape N=2
    (i=1, j=0) -> offset 1
    (i=1, j=1) -> offset 1""",
    f"layout L{SQUARE} [max(i, j)*(max(i, j) + 1)/2 + min(i, j) : {TRIANGLE}]": """\
refuted: `L` is not injective
  at shape N=2
    (i=0, j=1) -> offset 1
    (i=1, j=0) -> offset 1""",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", WRONG)
def test_wrong_layouts_are_refuted_at_the_smallest_shape(text: str) -> None:
    found = sound(layout(text))
    assert refutations(found) == WRONG[text]
    for each in found.findings:
        if isinstance(each, Refuted):
            assert replays(layout(text), each.property, each.example)


def mutants(layout: Layout) -> list[Layout]:
    """The layout with one thing wrong, or something that is as good."""
    found: list[Layout] = []
    for number, each in enumerate(layout.coordinates):
        more, less = Add(each.value, ONE), Sub(each.value, ONE)
        changed = [
            Coordinate(more, each.extent, declared=True),
            Coordinate(less, each.extent, declared=True),
            Coordinate(each.value, Sub(each.extent, ONE), declared=True),
            Coordinate(each.value, Add(each.extent, ONE), declared=True),
            *(
                Coordinate(Add(each.value, Index(axis.name)), each.extent, declared=True)
                for axis in layout.axes
            ),
        ]
        for other in changed:
            coordinates = list(layout.coordinates)
            coordinates[number] = other
            found.append(replace(layout, coordinates=tuple(coordinates)))
    for number, condition in enumerate(layout.domain):
        for step in (-1, 1):
            domain = list(layout.domain)
            right = Add(condition.right, Constant(step))
            domain[number] = Condition(condition.left, condition.operator, right)
            found.append(replace(layout, domain=tuple(domain)))
        found.append(replace(layout, domain=layout.domain[:number] + layout.domain[number + 1 :]))
    return found


def judged(mutant: Layout) -> None:
    """Hold a verdict against every index of small shapes."""
    wrong = set[str]()
    for values in shapes(mutant, 5, 130):
        wrong |= wrong_at(mutant, values)
    found = sound(mutant)
    proved = {each.property for each in found.findings if isinstance(each, Proved)}
    assert not wrong & proved, [str(each) for each in mutant.domain]
    if wrong:
        assert found.status == "refuted"
    for each in found.findings:
        if isinstance(each, Refuted) and each.property != RANGE:
            assert replays(mutant, each.property, each.example)
    if FULL in proved:
        assert full_at_small_shapes(mutant)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Upper"])
def test_no_mutant_is_taken_for_right(name: str) -> None:
    for mutant in mutants(DOMAINS[name]):
        judged(mutant)


@pytest.mark.campaign
@pytest.mark.parametrize("name", DOMAINS)
def test_no_mutant_of_any_layout_is_taken_for_right(name: str) -> None:
    for mutant in mutants(DOMAINS[name]):
        judged(mutant)


L = f"layout L{SQUARE} [i*(i + 1)/2 + j : {TRIANGLE}] where j <= i\n"
U = f"layout U{SQUARE} [i + j*(j + 1)/2 : {TRIANGLE}] where i <= j\n"
T = f"layout T(j: N, i: N) = [j + i*(i + 1)/2 : {TRIANGLE}] where j <= i\n"
BY_PLACE = f"layout P(p: N, q: N) = [q + p*(p + 1)/2 : {TRIANGLE}] where q <= p\n"
RIGHT = [
    f"{L}prove L == (i*i + i)/2 + j",
    f"{L}prove L == i*(i - 1)/2 + i + j",
    f"{L}prove L == [j + (i + 1)*i/2 : (N*N + N)/2]",
    f"{L}{T}prove L == T",
    f"{L}{BY_PLACE}prove L == P",
    f"{L}prove L fits int32 where N <= 10000",
    f"{L}prove L fits uint8 where N <= 22",
]


@pytest.mark.parametrize("text", RIGHT)
def test_right_claims_are_proved(text: str) -> None:
    assert claimed(text).status == "proved"


S = f"layout S{SQUARE} [i, j]\nlayout H{SQUARE} [i, j] where j <= i\n"
REFUTED = {
    f"{L}{U}refute L == U": """\
refuted: `L` is not `U`
  at shape N=2
    (i=0, j=1) -> offset 1 in `U`, no slot in `L`""",
    f"{S}refute H == S": """\
refuted: `H` is not `S`
  at shape N=2
    (i=0, j=1) -> offset 1 in `S`, no slot in `H`""",
    f"{S}refute S == H": """\
refuted: `S` is not `H`
  at shape N=2
    (i=0, j=1) -> offset 1 in `S`, no slot in `H`""",
    f"{L}refute L == i*(i + 1)/2 + j + 1": """\
refuted: the formula is not the offset of `L`
  at shape N=1
    (i=0, j=0) -> offset 0, the formula gives 1""",
    f"{L}refute L fits uint8 where N <= 23": """\
refuted: `L` does not fit uint8
  at shape N=23
    (i=22, j=22) -> offset 275; the size is 276, at most 255 fits""",
    f"{U}refute U fits int8": """\
refuted: `U` does not fit int8
  at shape N=16
    (i=15, j=15) -> offset 135; the size is 136, at most 127 fits""",
    f"layout L{SQUARE} [i*(i - 1)/2 + j : N*(N - 1)/2] where j < i\nrefute L fits int8": """\
refuted: `L` does not fit int8: its buffer has 136 elements
  at shape N=17""",
}


@pytest.mark.parametrize("text", REFUTED)
def test_wrong_claims_are_refuted(text: str) -> None:
    found = claimed(text)
    assert found.passed
    assert refutations(found) == REFUTED[text]


@pytest.mark.slow
def test_a_layout_that_holds_nothing_is_refuted() -> None:
    text = "layout L(i, j) = [i, j] where j < i, i < j"
    assert words(sound(layout(text)).findings[0]) == (
        "refuted: `L` holds no element: `where j < i, i < j` never holds"
    )


def test_elements_of_large_shapes_only_are_found() -> None:
    assert sound(layout("layout L(i, j) = [i, j] where j > i + 30")).status == "proved"


TETRAHEDRON = (
    "layout L(i: N, j: N, k: N) = [i*(i + 1)*(i + 2)/6 + j*(j + 1)/2 + k : N*(N + 1)*(N + 2)/6] "
    "where j <= i, k <= j"
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "layout L(i: N, j: N) = [i, j + min(i, j) : 2*N] where j <= i",
            "no rows of indices were found in `j + min(i, j)`",
        ),
        (
            "layout L(i: N, j: N) = [i*i*i + j : N*N*N] where j <= i",
            "the solver does not confirm each of its steps",
        ),
    ],
)
def test_what_has_no_such_rows_is_undecided(text: str, reason: str) -> None:
    found = sound(layout(text))
    assert found.status == "undecided"
    reasons = [each.reason for each in found.findings if isinstance(each, Undecided)]
    assert any(reason in each for each in reasons)


def test_a_few_shapes_are_tried() -> None:
    assert sound(layout(f"{TETRAHEDRON}, N <= 6")).status == "proved"


def reading(name: str) -> Reading:
    found = reading_of(DOMAINS[name])
    assert isinstance(found, Reading)
    return found


def wrong_readings(name: str) -> list[Reading]:
    """The reading with one thing wrong: the index that is read, where rows begin, how many."""
    right, found = reading(name), list[Reading]()
    for number, each in enumerate(right.reads):
        changed = [replace(each, value=Add(each.value, ONE)), Read(each.axis, Constant(0))]
        if each.rows is not None:
            rows = each.rows
            changed += [
                replace(each, rows=replace(rows, start=Add(rows.start, ONE))),
                replace(each, rows=replace(rows, start=Sub(rows.start, ONE))),
                replace(each, rows=replace(rows, own=Add(rows.own, ONE))),
            ]
        for other in changed:
            reads = (*right.reads[:number], other, *right.reads[number + 1 :])
            found.append(replace(right, reads=reads))
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["StrictUpper", "Band", "Diagonal"])
def test_wrong_readings_are_not_established(name: str) -> None:
    readings = wrong_readings(name)
    assert len(readings) > 1
    for wrong in readings:
        soundness = DomainSoundness(DOMAINS[name], wrong, lemmas.stated())
        try:
            outcomes = establish(soundness.theorems())
        except NoProof:
            continue
        assert not all(each.established for each in outcomes.values()), wrong.reads


@pytest.mark.parametrize("name", ["Lower", "Blocks"])
def test_rows_that_are_too_few_are_found_out(name: str) -> None:
    right = reading(name)
    (read, *others) = right.reads
    assert read.rows is not None
    fewer = replace(read.rows, count=Sub(read.rows.count, ONE))
    wrong = replace(right, reads=(replace(read, rows=fewer), *others))
    soundness = DomainSoundness(DOMAINS[name], wrong, lemmas.stated())
    proved = list(soundness.theorems())
    outcomes = establish([*proved, *soundness.filling()])
    assert not outcomes["domain.own"].established
    assert not outcomes["domain.rows"].established


def test_the_domain_is_what_the_proofs_rest_on() -> None:
    """Without its condition, no theorem about an element follows."""
    soundness = DomainSoundness(DOMAINS["Lower"], reading("Lower"), lemmas.stated())
    weakened = []
    for theorem, proof in soundness.theorems():
        hypotheses = tuple(
            ("<=", 0, 0) if each == ("<=", "i.j", "i.i") else each for each in theorem.hypotheses
        )
        weakened.append((replace(theorem, hypotheses=hypotheses), proof))
    outcomes = establish(weakened)
    for name in ("domain.element", "domain.own", "domain.read", "domain.injective"):
        assert not outcomes[name].established


@pytest.mark.parametrize("factor", [1, 3])
def test_neighbours_have_no_other_half(factor: int) -> None:
    product = ("*", "x", ("+", "x", 1))
    goal = ("=", ("*", factor, ("div", product, 2)), product)
    theorem = Theorem("WRONG", ("x",), (), (goal,))
    outcome = establish([(theorem, (Have("f.1", goal, ()),))])["WRONG"]
    assert not outcome.established
