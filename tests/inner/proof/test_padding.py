"""The cost of padding: exact extremes against brute force, proofs, and the numbers at a shape.

The proofs of extremes rest on turning points and signs, which are held against brute force one by
one.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from random import Random

import pytest
from texts import EVERY, LIBRARY, defined, layout

from layoutdsl import Layout
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.padding.along import Undescribed, along, sign, turns, value
from layoutdsl.proof.padding.cost import cost
from layoutdsl.proof.padding.extremes import Bound, ratio_at, spread
from layoutdsl.proof.prover.padding import Share, prove_ratio
from layoutdsl.proof.prover.verdict import Proved

WHOLE = {name: each for name, each in LIBRARY.items() if not each.domain}
COUNTED = {name: each for name, each in EVERY.items() if not each.domain}

C = Extent("C")


def brute(found: Layout, most: int) -> list[tuple[Fraction, int, dict[str, int]]]:
    """The ratio at every shape of the range with extents up to ``most``."""
    ratios = []
    for choice in product(range(1, most + 1), repeat=len(found.symbols)):
        values = dict(zip(found.symbols, choice, strict=True))
        if all(each.holds(values) for each in found.where):
            held = prod(found.shape_of(values))
            slots = prod(evaluate(each.extent, values) for each in found.coordinates)
            ratio = Fraction(slots + evaluate(found.start, values), held)
            ratios.append((ratio, held, values))
    return ratios


# How the largest ratio is decided, its value, and the smallest shape that has it.
WORST = [
    ("reached", "16", "C=1", "(c) = [c/16, c%16]"),
    ("reached", "8/5", "C=20", "(c) = [c/16, c%16] where C >= 20"),
    ("reached", "4", "C=4", "(c) = [c/16, c%16] where C % 4 == 0"),
    ("reached", "1", "C=16", "(c) = [c/16, c%16] where C % 16 == 0"),
    ("reached", "16/3", "C=3", "(c) = [c/16, c%16] where C != 1, C != 2"),
    ("reached", "16/11", "C=22", "(c) = [c/16, c%16] where C >= 20, C % 3 == 1"),
    ("reached", "32/17", "C=17", "(c) = [c/16, c%16] where C in 17..100000000000"),
    ("reached", "256", "W=1", "(w) = [w : 256] where W <= 256"),
    ("reached", "256", "W=1", "(w) = [w : 256]"),
    ("reached", "2", "C=1", "(c) = [c : C + 1]"),
    ("limit", "2", "", "(c) = [c : 2*C - 1]"),
    ("limit", "2", "", "(c, h) = [c : 2*C - 1, h]"),
    ("limit", "32", "", "(c, h) = [c : 2*C - 1, h/16, h%16]"),
    ("reached", "19/10", "C=10", "(c) = [c : 2*C - 1] where C <= 10"),
    ("unbounded", "None", "", "(c) = [c, 0 : C]"),
    ("unbounded", "None", "", "<k>(c) = [c/k, c%k]"),
    ("reached", "16", "C=1 k=16", "<k>(c) = [c/k, c%k] where k <= 16"),
    ("unbounded", "None", "", "<p>(y, x) = [y : p, x] where Y <= p"),
    ("reached", "256/81", "N=9", "(i: N, j: N) = [i/8, j/8, i%8, j%8] where N > 8"),
    ("reached", "64", "H=1 W=1", "(h, w) = [h/8, w/8, h%8, w%8] where H == W"),
    ("reached", "64", "H=1 W=1", "(h, w) = [h/8, w/8, h%8, w%8] where H <= W, W <= 9"),
    ("reached", "4", "N=1 C=1", "(n, c) = [(n, c)/4, (n, c)%4]"),
    ("reached", "32", "W=1 C=1", "(w, c) = [(w, c/4)/8, (w, c/4)%8, c%4]"),
    ("reached", "4", "C=1 H=1", "(c, h) = [h, c] offset 3"),
    ("reached", "8", "C=1 H=1", "(c, h) = [c/4, h, c%4 : 8]"),
    ("reached", "5", "C=1", "(c) = [c : max(C, 5)]"),
    ("undecided", "32", "H=2 W=1", "(h, w) = [h/8, w/8, h%8, w%8] where H == 2*W"),
    ("undecided", "32/3", "W=3 C=1", "(w, c) = [(w, c/4)/8, (w, c/4)%8, c%4] where W >= 3"),
    ("reached", "16", "A=1 B=1", "(a, b) = [a, b/16, b%16] where A*B < 40, A <= 50, B <= 50"),
]  # fmt: skip


def said(bound: Bound) -> tuple[str, str, str]:
    shape = " ".join(f"{name}={number}" for name, number in bound.shape)
    return bound.how, str(bound.value), shape


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("how", "ratio", "shape", "text"), WORST)
def test_the_worst_ratio(how: str, ratio: str, shape: str, text: str) -> None:
    found = layout(f"layout L{text}")
    worst = spread(found).most
    assert said(worst) == (how, ratio, shape)
    tried = brute(found, 40)
    if worst.value is not None and how != "undecided":
        assert all(each <= worst.value for each, _, _ in tried)
    if how == "reached":
        assert ratio_at(found, dict(worst.shape)) == worst.value
        held = prod(found.shape_of(dict(worst.shape)))
        assert not [v for each, other, v in tried if each == worst.value and other < held]
    if how == "limit":
        assert all(each != worst.value for each, _, _ in tried)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("how", "ratio", "far", "text"),
    [
        ("reached", "1", "1", "(c) = [c/16, c%16]"),
        ("reached", "1", "None", "(w) = [w : 256] where W <= 256"),
        ("limit", "0", "0", "(w) = [w : 256]"),
        ("limit", "1", "1", "(c) = [c : C + 1]"),
        ("limit", "1", "1", "(c, h) = [h, c] offset 3"),
        ("reached", "2", "2", "(c, h) = [c/4, h, c%4 : 8]"),
        ("reached", "1", "None", "<p>(y, x) = [y : p, x] where Y <= p"),
        ("reached", "6/5", "None", "(c: 20) = [c/8, c%8]"),
        ("reached", "128/100", "None", "(c: 100, h) = [c/32, h, c%32] where H < 9"),
    ],
)
def test_the_best_ratio_and_the_end(how: str, ratio: str, far: str, text: str) -> None:
    found = spread(layout(f"layout L{text}"))
    assert (found.least.how, found.least.value) == (how, Fraction(ratio))
    assert str(found.far) == far


def test_an_empty_range_has_no_ratio() -> None:
    with pytest.raises(ValueError, match="no shape"):
        spread(layout("layout L(c) = [c] where C > 5, C < 3"))


def random_layout(random: Random) -> Layout:
    """Blocks, pitches, conditions and offsets that come together by chance; not always right."""
    coordinates, conditions, minor = [], [], []
    for axis in "abc"[: random.randint(1, 3)]:
        block = random.choice([1, 2, 3, 4, 6])
        wide = random.choice(["", "", f" : {block + 1}", f" : roundup({block}, 4)"])
        coordinates.append(f"{axis}/{block}" if block > 1 else axis)
        if block > 1:
            minor.append(f"{axis}%{block}{wide}")
        elif random.random() < 0.4:
            extent = axis.upper()
            pitches = [f"roundup({extent}, 3)", f"{extent} + 2", f"max({extent}, 5)"]
            coordinates[-1] += f" : {random.choice(pitches)}"
        some = [f"{axis.upper()} % 2 == 0", f"{axis.upper()} >= 3", f"{axis.upper()} != 2",
                f"{axis.upper()} <= 7"]  # fmt: skip
        conditions += random.sample(some, random.choice([0, 0, 1, 2]))
    axes = "abc"[: len(coordinates)]
    if len(axes) > 1 and random.random() < 0.2:
        conditions.append(random.choice(["A <= B", "A*B <= 30", "A == B", "A != B"]))
    body = f"[{', '.join([*coordinates, *minor])}]"
    start = random.choice(["", "", "", " offset 5", " offset A"])
    where = f" where {', '.join(conditions)}" if conditions else ""
    return layout(f"layout L({', '.join(axes)}) = {body}{start}{where}")


def holds_against_brute_force(found: Layout, *, most: int) -> str:
    tried = brute(found, most)
    if not tried:
        return "none"
    both = spread(found)
    low, high = min(each for each, _, _ in tried), max(each for each, _, _ in tried)
    for bound, best in ((both.most, high), (both.least, low)):
        sense = 1 if bound is both.most else -1
        certain = bound.beyond if bound.how == "undecided" else bound.value
        if certain is not None:
            assert sense * best <= sense * certain
        if bound.how in ("reached", "undecided"):
            values = dict(bound.shape)
            assert all(each.holds(values) for each in found.where)
            assert ratio_at(found, values) == bound.value
            assert max(values.values()) > most or sense * bound.value <= sense * best
        if bound.how == "limit":
            assert best != bound.value
    proof = cost(found).proof
    if isinstance(proof, Proved):
        assert both.most.how in ("reached", "limit")
    return both.most.how


@pytest.mark.slow
def test_random_layouts_against_brute_force() -> None:
    random = Random(7)
    hows = [holds_against_brute_force(random_layout(random), most=8) for _ in range(25)]
    assert {"reached"} < {*hows}
    assert hows.count("undecided") <= 3


@pytest.mark.campaign
def test_many_random_layouts_against_brute_force() -> None:
    random = Random(11)
    for _ in range(2000):
        holds_against_brute_force(random_layout(random), most=14)


def random_expr(random: Random, depth: int) -> Expr:
    if depth == 0:
        return random.choice([C, C, Constant(random.randint(1, 9))])
    left, right = random_expr(random, depth - 1), random_expr(random, depth - 1)
    block = Constant(random.randint(1, 5))
    kinds = [Add, Mul, Min, Max, Sub]
    return random.choice([
        lambda: random.choice(kinds)(left, right),
        lambda: CeilDiv(left, block),
        lambda: FloorDiv(left, block),
        lambda: Mod(left, block),
        lambda: CeilDiv(left, Add(C, Constant(1))),
    ])()  # fmt: skip


@pytest.mark.slow
def test_any_quotient_along_one_extent() -> None:
    """Within a range that ends the extremes are those of brute force; without an end they bound."""
    random, decided = Random(3), 0
    for _ in range(400):
        top = random_expr(random, random.randint(1, 3))
        bottom = random.choice([C, Mul(C, C), Constant(1), Add(C, Constant(4))])
        conditions = [
            Condition(Mod(C, Constant(3)), "!=", Constant(random.randint(0, 5))),
            Condition(C, ">", Constant(random.randint(0, 7))),
        ]
        last = random.choice([None, 8, 50])
        if last is not None:
            conditions.append(Condition(C, "<=", Constant(last)))
        tried = {
            number: Fraction(evaluate(top, {"C": number}), evaluate(bottom, {"C": number}))
            for number in range(1, 300)
            if all(each.holds({"C": number}) for each in conditions)
        }
        try:
            found = along(top, bottom, "C", conditions)
        except Undescribed:
            continue
        decided += 1
        assert (found is None) == (not tried)
        if found is None:
            continue
        assert found.first == min(tried)
        for extreme, best in (
            (found.most, max(tried.values())),
            (found.least, min(tried.values())),
        ):
            reached = [number for number, ratio in tried.items() if ratio == best]
            sense = 1 if extreme is found.most else -1
            if extreme.at is not None:
                assert (
                    Fraction(evaluate(top, {"C": extreme.at}), evaluate(bottom, {"C": extreme.at}))
                    == extreme.value
                )
                assert extreme.at > 299 or (extreme.value, extreme.at) == (best, min(reached))
            elif extreme.value is not None:
                assert last is None
                assert sense * best < sense * extreme.value
            else:
                assert last is None
    assert decided > 300


def test_an_empty_range_along_one_extent() -> None:
    assert along(C, C, "C", [Condition(C, "<", Constant(1))]) is None


def test_too_long_a_period_is_said() -> None:
    with pytest.raises(Undescribed):
        along(CeilDiv(C, Constant(10007)), C, "C")


@pytest.mark.parametrize(
    "poly", [(), (5,), (-7, 2), (0, 1), (6, -5, 1), (-30, 31, -10, 1), (1, 0, -3, 0, 1), (9, -6, 1)]
)
def test_signs_change_at_the_turns(poly: tuple[int, ...]) -> None:
    signs = [sign(value(poly, t)) for t in range(60)]
    assert turns(poly) == [t for t in range(1, 60) if signs[t] != signs[t - 1]]


OPEN = {
    *("NcnnMatF32", "NcnnMatF16", "NcnnMatInt8", "NcnnPack4F16", "NcnnPack8Int8"),
    *("NcnnKernel", "NcnnDeformableKernel"),
}
"""Their worst ratio is not proved: a product of extents, or a block that is open, is rounded up."""


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", WHOLE)
def test_the_worst_ratio_of_the_library_is_proved(name: str) -> None:
    found = cost(LIBRARY[name])
    if name in OPEN:
        assert not isinstance(found.proof, Proved)
    else:
        assert isinstance(found.proof, Proved) or found.most.how == "unbounded"
    headers = found.least.value == found.most.value  # blocks have one at every shape
    assert found.least.value == 1 or headers or found.least.how == "undecided"
    assert found.least.how == "reached"


@pytest.mark.sampled(36)
@pytest.mark.parametrize("name", COUNTED)
def test_no_small_shape_is_outside_the_bounds(name: str) -> None:
    found = spread(EVERY[name])
    choices = [[1, 2, 3, 5, 9, 16, 33]] * len(EVERY[name].symbols)
    for values in defined(EVERY[name], choices)[::7]:
        ratio = ratio_at(EVERY[name], values)
        assert found.most.value is None or ratio <= found.most.value
        assert found.least.value is None or ratio >= found.least.value


def test_a_smaller_bound_is_not_proved() -> None:
    """The proof is of the bound that it is asked for, and of no better one."""
    blocked = layout("layout L(c, h) = [c/16, h, c%16]")
    share = [Share(Mul(Constant(16), CeilDiv(C, Constant(16))), C, Fraction(16)),
             Share(Extent("H"), Extent("H"), Fraction(1))]  # fmt: skip
    assert isinstance(prove_ratio(blocked, Fraction(16), [share]), Proved)
    assert not isinstance(prove_ratio(blocked, Fraction(31, 2), [share]), Proved)
    lower = [Share(share[0].top, C, Fraction(15)), share[1]]
    assert not isinstance(prove_ratio(blocked, Fraction(15), [lower]), Proved)
    assert not isinstance(prove_ratio(blocked, Fraction(16), [share[:1]]), Proved)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("formulas", "text"),
    [
        (("C", "16*ceil(C/16)", "16*ceil(C/16) - C", "16*ceil(C/16)/C"), "(c) = [c/16, c%16]"),
        (("N*C", "N*C", "0", "1"), "(n, c) = [n, c]"),
        (("C*H", "3 + H*C", "0", "(3 + H*C)/(C*H)"), "(c, h) = [h, c] offset 3"),
        (("20*H", "32*H", "32*H - 20*H", "8/5"), "(c: 20, h) = [c/16, h, c%16]"),
        (("W", "256", "256 - W", "256/W"), "(w) = [w : 256]"),
        (("Y", "Y + 2", "Y + 2 - Y", "(Y + 2)/Y"), "(y) = [y : Y + 2]"),
    ],
)
def test_formulas(formulas: tuple[str, ...], text: str) -> None:
    found = cost(layout(f"layout L{text}"))
    assert (found.elements, found.size, found.padding, found.ratio) == formulas


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("bytes_", "text"),
    [
        ("64*ceil(C/16)", "(c) = [c/16, c%16] of f32"),
        ("8*ceil(C/16)", "(c) = [c/16, c%16] of u4"),
        ("ceil(C/2)", "(c) = [c] of u4"),
        ("ceil(3*C/4)", "(c) = [c, 0 : 3] of u2"),
        ("4*(3 + C)", "(c) = [c] offset 3 of f32"),
        ("ceil((3 + C)/8)", "(c) = [c] offset 3 of u1"),
    ],
)
def test_bytes(bytes_: str, text: str) -> None:
    found = layout(f"layout L{text}")
    assert found.element is not None
    said_ = cost(found, (5,))
    assert said_.bytes == bytes_
    assert said_.at is not None
    assert said_.at.bytes == -(-found.size((5,)) * found.element.bits // 8)


@pytest.mark.sampled(192)
@pytest.mark.parametrize("name", COUNTED)
def test_numbers_at_a_shape_count_every_slot(name: str) -> None:
    """Held against each slot of the buffer, asked what it holds."""
    found = EVERY[name]
    shapes = defined(found, [[5, 2, 3, 4, 1]] * len(found.symbols))
    shapes = shapes or defined(found, [[1, 4, 8, 16, 32, 64, 256]] * len(found.symbols))
    values = next((each for each in shapes if found.size(each) <= 300), min(shapes, key=found.size))
    at = cost(found, values).at
    assert at is not None
    if at.size > 2000:
        return
    padding = [slot for slot in range(at.size) if found.is_padding(slot, values)]
    assert (at.size, at.elements) == (found.size(values), prod(found.element_shape(values)))
    assert at.padding == len(padding) or name == "Scaled"
    if at.axes is not None:
        split = prod((each.ratio for each in at.axes), start=at.gaps)
        assert split == Fraction(at.size - at.before, at.elements)
