"""Right layouts are proved for every shape, wrong ones refuted where it replays, others neither."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from proving import refutations, replays, shapes, sound, words, wrong_at
from texts import EXAMPLES, HERE, LIBRARY, layout

import layoutdsl
from layoutdsl import Checked

RANGE = "the shape range is not empty"
EXTENTS = "every coordinate stays within its extent"
BOUNDS = "every offset is in bounds"
INJECTIVE = "injective"
ONTO = "onto the padded box"
FULL = "every slot holds an element"
INDICES = "every applied index stays in its shape"
SIZE = "the size fits int64"
PROPERTIES = (
    *(RANGE, EXTENTS, BOUNDS, INJECTIVE, "decode inverts encode", ONTO, "padding is exact"),
    *("the printed formula is the proved one", SIZE),
)
PADDED = "padding reads as 0"
OF_CODES = (
    "every code is a value of the element type",
    "no code stands for a nearer number",
    "the error is at most half a step, within the range of codes",
    "0 is stored as the zero point, and read as 0",
    PADDED,
)

NO_INVERSE = {"Overlapping"}
"""Examples that are not read as digits, swizzled or not."""

RIGHT = """
[c, h]
[h, c]
[c/16, h, c%16]
[c%16, h, c/16]
[c/16, h, c%16/4, c%4]
[c/6, h, c%6/4, c%6%4]
[c/6, c%6/4, c%6%4, h]
[c/24, h, c%24/6, c%6/2, c%2]
[c/1024, h, c%1024]
[c/3%5, h, c/15, c%3]
[c/4, h/8; c%4, h%8]
[c/4, h/8; h%8, c%4]
[(c, h)]
[(h, c)]
[(c, h)/4, (c, h)%4]
[(c, h)%4, (c, h)/4]
[(c, h)/8, (c, h)%8/2, (c, h)%2]
[(c, h : H + 1)/4, (c, h : H + 1)%4]
[(c/4, h)/8, c%4, (c/4, h)%8]
[(c/4, (h, c%4))/2, (c/4, (h, c%4))%2]
[(c : roundup(C, 4), h)/4, (c : roundup(C, 4), h)%4]
[c : C + 3, h : 2*H]
[c, h : roundup(H, 64)]
[c/4, h, c%4 : 8]
[c/4 : ceil(C/4) + 1, h, c%4]
[c, h : max(H, 8)]
[c : max(C, H), h : max(C, H)]
[c : min(C, 9) + C, h]
[c, h : 7] where H <= 7
[c, h : 7] where H in 3..7
[c/4, h, c%4] where C % 4 == 0
[c/4 : C/4, h, c%4] where C % 4 == 0
[c/4 : C/4, h, c%4] where C % 8 == 0
[c, h] where C != H
[c, h] where C == H, C > 100
[c, h] where C*H <= 1000
[c%4, h] where C <= 4
[c, 0, h]
[0, c, h]
[c, h, 2 : 3]
[c, 1 : 2, h, 0 : 5]
[c, h] offset 7
[c, h] offset C*H + 1
[c/4, h : H + 1, c%4] offset 3
[c/H, h, c%H]
[c/(2*H), h, c%(2*H)]
[c/k, h, c%k]
[c >> 3, h, c & 7]
[c : 1, h] where C == 1
[c, h] of u4 fill 15
[c : C*H, h]
[c : 2*C*H + H, h : roundup(H, 8)]
[c, h : H*H*C]
[c/k, h : roundup(H, j), c%k]
[c/C, c%C, h]
[c/(H + 1), h, c%(H + 1)]
[c/(2*H), h, c%(2*H)/H, c%H]
[c/(j*k), h, c%(j*k)/k, c%k]
[c : roundup(C, 4)*H, h]
[c : roundup(C, k)*H, h]
[c, h] where C & 5 == 4
[c + c/32, h]
[(c, h ^ 5)]
[c, h : (H & 6) + H]
[(c/4, c%4), h]
[((C + 3)/4 - 1 - c/4)*4 + c%4 : (C + 3)/4*4, h]
[c*(H + (8 - H%8)%8) + h : C*(H + (8 - H%8)%8)]
[(c, h) : 26] where C*H <= 26
[c*26 + 1 + h*k + c%k : 26*C] where k == 1, H*k <= 25
[c%(8*k), c/(8*k) : j, h] where C <= 8*j*k
[c/4%(8*k) : 8*k, c/(32*k) : j, h, c%4] where C <= j*32*k
[c/4%(k/4), c/k : j, h, c%4] where C <= j*k, k % 32 == 0
[h*((C + 1)/2*2) + c : H*((C + 1)/2*2)] where C % 4 == 3
[h*((C + 2)/3*3) + c/3*3 + 2 - c%3 : H*((C + 2)/3*3)] where C % 3 == 2
[(c/(C/k)*((C/k + 3)/4) + (c - c/(C/k)*(C/k))/4)*H*4 + h*4 + (c - c/(C/k)*(C/k))%4 : \
k*((C/k + 3)/4)*H*4] where C % k == 0
[(h*C + c)*2 ^ (h*C + c)*2/128%8*16 : H*C*2] where H % 16 == 0, C % 64 == 0
""".strip().splitlines()

NOT_YET = """
[c/4, h, c%8]
[c*(H + 1) + h]
[h, (h + c)%8, c%8 ^ h%4, c/8]
""".strip().splitlines()
"""Right; the generator finds no proof of one property or another."""

SQUARES = [
    "layout L(i: N, j: N) = [j, i]",
    "layout L(i: N, j: N) = [i/4, j/4, i%4, j%4]",
    "layout L(i: N, j: N) = [(i, j)/8, (i, j)%8]",
    "layout L(i: N, j: N, k: 3) = [i : N + 1, k, j]",
    "layout L(x: 6, y: 4) = [x/4, y, x%4]",
    "layout L(x: 6, y: 4) = [(x, y)/24, (x, y)%24]",
    "layout L(x: 1, y) = [y]",
    "layout L(x: 1) = [x]",
    "layout L() = [0]",
    "layout L() = [1 : 2]",
    "layout L(div, mod, mul, slot) = [div/4, mod, mul/2, slot, div%4, mul%2]",
    "layout L(size, left, right, back) = [(size, left)/3, right, back : BACK + 1, (size, left)%3]",
]


def written(body: str) -> str:
    """A declaration over axes c and h, with the parameters that the body speaks of."""
    parameters = [name for name in "jk" if re.search(rf"\b{name}\b", body)]
    opened = f"<{', '.join(parameters)}>" if parameters else ""
    return f"layout L{opened}(c, h) = {body}\nrefute L\n"


def all_proved(found: Checked, properties: tuple[str, ...] = PROPERTIES) -> None:
    assert found.status == "proved", words(found.findings[0])
    assert [each.property for each in found.findings] == list(properties)
    for each in found.findings:
        conditions: tuple[str, ...] = each.conditions  # type: ignore[union-attr]
        assert conditions == () or each.property in (SIZE, PADDED)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_is_proved(name: str) -> None:
    properties = [FULL if each == ONTO else each for each in PROPERTIES]
    match name:
        case "LapackPackedUpper" | "LapackPackedLower":
            all_proved(sound(LIBRARY[name]), tuple(properties))
        case "LapackBand":  # its corners hold nothing
            properties.remove(FULL)
            all_proved(sound(LIBRARY[name]), tuple(properties))
        case _:
            more: tuple[str, ...] = () if LIBRARY[name].interface is None else OF_CODES
            if "fill any" in LIBRARY[name].clauses:
                more = tuple(each for each in more if each != PADDED)
            all_proved(sound(LIBRARY[name]), (*PROPERTIES, *more))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in NO_INVERSE])
def test_the_examples_are_proved(name: str) -> None:
    more = (INDICES,) if EXAMPLES[name].applied else ()
    all_proved(sound(EXAMPLES[name]), (*PROPERTIES, *more))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("body", RIGHT)
def test_right_layouts_are_proved(body: str) -> None:
    all_proved(sound(layout(written(body))))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", SQUARES)
def test_squares_fixed_extents_and_odd_names(text: str) -> None:
    all_proved(sound(layout(text)))


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("body", NOT_YET)
def test_right_layouts_are_never_refuted(body: str) -> None:
    """Move a line to the table of right layouts once it is proved."""
    assert sound(layout(written(body))).status == "undecided"


def test_there_are_many() -> None:
    assert len(LIBRARY) + len(EXAMPLES) + len(RIGHT) + len(SQUARES) > 120


def test_a_proof_has_a_certificate_and_questions() -> None:
    found: tuple[Any, ...] = sound(LIBRARY["NCHW16c"]).findings
    certificates = {each.certificate for each in found}
    assert [len(each.hash) for each in certificates if each is not None] == [64]
    assert all(each.queries for each in found if each.property in (EXTENTS, BOUNDS))


WRONG = """
[c/16, c%8]
[c/8, h, c%4]
[c%4, h, c/8]
[c/16, h, c%16%4]
[c/24, h, c%24/6, c%4]
[c/4%2, h, c%4]
[c%6/4, h, c/6, c%4%2]
[c % 1024, h]
[c/1000, h]
[c/4, c%4, h : 3]
[c : 5]
[c, h : H - 1]
[c, h : 8] where H <= 9
[c, h : 64] where H <= 65
[c : 16] where C <= 16, C != 3, H == 2
[c/4 : C/4, h, c%4]
[c/4 : C/4, h, c%4] where C % 2 == 0
[c/2, h]
[c + h]
[c, c]
[c - 1 : C, h]
[c, h - c : H]
[C - 1 - c, h - c : H] where C >= 2
[(c, h)/4, (c, h)%3]
[(c, h)/4, (c, h)%4 : 3]
[(c : 4, h)/2, (c : 4, h)%2]
[(c, h : 3), c%2]
[(h, c) : 7]
[(c, h : H - 1)/4, (c, h : H - 1)%4]
[max(c, h) : C + H]
[c, h%(C + 1)]
[c*C + h]
[c : min(C, 5), h]
[c : C^1, h]
[h & 1, c]
[c & 6, h, c%2, h]
[c/k, h, c%j]
[c/k, h, c%k : k - 1]
[c/4, h, c%2] offset 5
[c, h : 4] offset 2*C where H < 6
[c, 3 : 3, h]
[c*2 : 2*C - 2, h]
[c + 1 : C, h]
[c/2 + c%2 : C, h]
[h, c ^ h : C]
""".strip().splitlines()


@pytest.mark.slow
def test_wrong_layouts_are_refuted(golden: Callable[[str, str], None]) -> None:
    """The smallest shape, and what happens there; every point is evaluated again."""
    blocks = []
    for body in WRONG:
        made = layout(written(body))
        found = sound(made)
        blocks.append(f"{body}\n{refutations(found)}\n")
        assert found.status == "refuted"
        for each in found.findings:
            if hasattr(each, "example"):
                assert replays(made, each.property, each.example)
                assert each.property in wrong_at(made, dict(each.example.shape))
    golden("prove/wrong_layouts.txt", "\n".join(blocks))


@pytest.mark.parametrize(
    ("broken", "body"),
    [
        (EXTENTS, "[c : 4, h] where C <= 5, H in 1..1, C > 4, H*0 + C == 0"),
        (EXTENTS, "[c/4, c%4, h : 3]"),
        (INJECTIVE, "[c/8, h, c%4]"),
    ],
)
def test_one_property_alone(broken: str, body: str) -> None:
    """Where coordinates stay in their extents, offsets stay in bounds: that one never breaks alone.

    Of the first, no shape is left, so nothing but its range is wrong.
    """
    found = sound(layout(written(body)))
    refuted = [each.property for each in found.findings if hasattr(each, "example")]
    assert refuted == ([RANGE] if "== 0" in body else [broken])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words_", "where"),
    [
        ("`L` is defined for no shape: `where C > 5, C < 5` never holds", "C > 5, C < 5"),
        ("`L` is defined for no shape: `where C == 0` never holds", "C == 0"),
        ("`L` is defined for no shape: `where C != C` never holds", "C != C"),
        ("`L` is defined for no shape: `where C%4 == 4` never holds", "C % 4 == 4"),
        ("`L` is defined for no shape: `where min(C, H) > C` never holds", "min(C, H) > C"),
        ("`L` is defined for no shape: `where 1 > 2` never holds", "1 > 2"),
        ("`L` is defined for no shape: `where C ^ 1 == 1, C > 5` never holds", "C ^ 1 == 1, C > 5"),
    ],
)
def test_an_empty_range_is_refuted(words_: str, where: str) -> None:
    found = sound(layout(written(f"[c, h] where {where}")))
    assert [words(each) for each in found.findings] == [f"refuted: {words_}"]
    assert found.status == "refuted"


UNDECIDED = [
    "[c/4, h, c%8]",
    "[c, h*h + c]",
    "[c, h] where C*C == 2*H*H",
]


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize("body", UNDECIDED)
@pytest.mark.parametrize("polarity", ["prove", "refute"])
def test_undecided_is_never_passed(polarity: str, body: str) -> None:
    declared = written(body).replace("refute L\n", "")
    (found,) = layoutdsl.prove(layoutdsl.parse(f"{declared}{polarity} L").claims).checked
    assert found.claim.polarity == polarity
    assert found.status == "undecided"
    assert not found.passed
    reasons = [each.reason for each in found.findings if hasattr(each, "reason")]
    assert reasons
    assert all(reasons)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NO_INVERSE))
def test_right_but_no_digits_is_undecided_or_proved(name: str) -> None:
    found = sound(EXAMPLES[name])
    assert found.status != "refuted"
    assert found.passed is (found.status == "proved")


def test_the_size_of_a_bounded_range_is_told() -> None:
    """Only where the range bounds every extent is there something to prove of the size."""
    sizes = {
        where: words(sound(layout(written(f"[c, h]{where}"))).findings[-1])
        for where in ("", " where C <= 64", " where C <= 64, H <= 64")
    }
    assert set(sizes.values()) == {"proved"}
    many = " where C <= 4294967296, H <= 4294967296"
    found = sound(layout(written(f"[c, h]{many}"))).findings[-1]
    assert words(found) == (
        "refuted: `L` does not fit int64\n"
        "  at shape C=4294967296 H=2147483648\n"
        "    (c=4294967295, h=2147483647) -> offset 9223372036854775807; "
        "the size is 9223372036854775808, at most 9223372036854775807 fits"
    )


def test_a_name_that_python_keeps_for_itself_is_a_name_like_others() -> None:
    assert sound(layout("layout L(lambda, b) = [lambda/4, b, lambda%4]")).status == "proved"


def test_progress_is_told() -> None:
    told: list[str] = []
    layoutdsl.prove(layout(written("[c/8, h, c%4]")), told.append)
    assert told == ["proving L", "looking for a counterexample to L"]


def test_golden_texts_are_where_they_should_be() -> None:
    assert (HERE / "golden/prove/wrong_layouts.txt").exists()


# One line of text is never much work: beyond a budget it is undecided, with that reason.

LONG = [
    # sums of thousands of terms, nested as deeply: these ended in a RecursionError
    "((a*b + 2)*(i*a + 6))*((b*j + 2)*(a*j + 1))%9, (j*i + 1)*(i + 8)*(i + 5) ^ i/16%4 ^ a/4%2",
    "j, (j*j + 7)*(j + 5)*(i*b + 9) ^ a/16%16 ^ b%16, ((i + a*3)/7 + j*9)/4 + j*3, b",
    "i, j, i : (B*I + 1)*(J*I + 1)*(B*A + 4)*(J*J + 3)*(B*A + 1), (b + 7)*(a*a + 7) ^ i/2%4",
    # expressions of which each evaluation takes long
    "((((i*j + 1)*b + 9)*j + 3))*((((i*j + 4)*a + 5)*b + 1))/6, (((i*a + 9)*a + 8)*j)*i/7, a, j",
    "(i*j + 1)*(i*j + 2)*(i*j + 3)*(i*j + 4)*(i*j + 5)*(i*j + 6), i, j, a, b",
    "min(i, min(j, min(i + 1, min(j + 1, min(i + 2, min(j + 2, min(i + 3, j + 3))))))), i, j, a, b",
    ", ".join(f"({axis}/{k}%{m}, b/{m}%{k})" for axis in "ija" for k in (2, 3) for m in (4, 5, 7)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.ci(1)
@pytest.mark.parametrize("body", LONG)
def test_a_long_line_is_undecided_or_refuted_and_no_fault_of_ours(body: str) -> None:
    made = layout(f"layout L(i, j, a, b) = [{body}]\nrefute L")
    found = sound(made)
    assert found.status in ("undecided", "refuted")


def ranged(random: Random) -> str:
    """A sum whose strides a range decides: a product, a rest, groups or pages; some are wrong."""
    block = random.choice([2, 3, 4, 8])
    near = random.choice([-1, 0, 0, 0, 1])
    room, header = random.randint(6, 30), random.choice([0, 0, 1, 3])
    rest = random.randrange(1, block)
    up = block - rest + near
    pitch = random.choice([f"(H + {up})", f"((H + {up})/{block}*{block})"])
    head = f" + {header}" if header else ""
    return random.choice(
        (
            lambda: f"[c*{room} + h*K + k{head} : C*{room}] where H*K <= {room - header + near}",
            lambda: f"[c, (h, k) : {room}] where H*K <= {room + near}",
            lambda: f"[c*{pitch} + h : C*{pitch}, k] where H % {block} == {rest}",
            lambda: (
                f"[k, c*{pitch} + h/{block}*{block} + {block - 1} - h%{block} : C*{pitch}]"
                f" where H % {block} == {rest}"
            ),
            lambda: f"[h%({block}*j), h/({block}*j) : i, c, k] where H <= {block}*i*j + {near}",
            lambda: (
                f"[h/4%({block}*j), h/({4 * block + near}*j) : i, c, h%4, k]"
                f" where H <= {4 * block}*i*j"
            ),
            lambda: (
                f"[(h/(H/j)*((H/j + {block - 1 + near})/{block}) + (h - h/(H/j)*(H/j))/{block})"
                f"*{block} + (h - h/(H/j)*(H/j))%{block}"
                f" : j*((H/j + {block - 1 + near})/{block})*{block}, c, k] where H % j == 0"
            ),
        )
    )()


@pytest.mark.slow
@pytest.mark.ci(3)
@pytest.mark.parametrize("seed", range(12))
def test_verdicts_under_drawn_ranges_agree_with_counting(seed: int) -> None:
    random, proved = Random(seed), 0
    for _ in range(6):
        body = ranged(random)
        names = "".join(f"{name}, " for name in "ij" if name in body.replace("if", ""))
        parameters = f"<{names.removesuffix(', ')}>" if names else ""
        made = layout(f"layout L{parameters}(c, h, k) = {body}\nrefute L\n")
        found = sound(made)
        proved += found.status == "proved"
        shown = {each.property for each in found.findings if hasattr(each, "certificate")}
        wrong = set[str]()
        small = [*shapes(made, 7, 40)]
        for values in random.sample(small, min(150, len(small))):
            wrong |= wrong_at(made, values)
        assert not wrong & shown, body
        for each in found.findings:
            if hasattr(each, "example"):
                assert replays(made, each.property, each.example), body
    assert proved >= 2
