"""Coordinates that are digits moved by others: proved over open ranges, refuted where wrong.

What is proved is held against plain integers: the printed inverse reads back every slot of small
shapes as `Layout.offset` filled it, and no small shape contradicts a proof.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import pytest
from cli_shell import Shell, shell
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import claimed, elements, replays, shapes, sound, words, wrong_at
from texts import layout

from layoutdsl import Layout

__all__ = ["shell"]

EXTENTS = "every coordinate stays within its extent"
BOUNDS = "every offset is in bounds"
PROPERTIES = 9
"""What is found of every layout."""

SWIZZLES = """
(i, j) = [i, (j/8) ^ (i%8), j%8]
(i, j) = [i, (j/8) ^ (i%8), j%8] where J % 64 == 0
(i, j) = [i, (j/8) ^ (i%8) : J/8, j%8] where J % 64 == 0
(i, j) = [i, j/64, (j/8%8) ^ (i%8), j%8]
(i, j) = [i/8, j/8, (i%8) ^ (j%8), j%8]
(i, j) = [i/8, j/8, (i%8) ^ (j%8), i%8]
(i, j) = [i/4, j%8 ^ i%4, j/8, i%4]
(r, c) = [r/8, c/64, r%8, (c%64/8) ^ (r%8), c%8]
(b) = [b ^ ((b >> 3) & 112)]
(b) = [b ^ ((b >> 3) & 112)] where B % 1024 == 0
(b) = [b ^ ((b >> 3) & 48)]
(b) = [b ^ ((b >> 3) & 16)]
(b) = [b ^ ((b >> 3) & 56)]
(b) = [b/128, (b/16%8) ^ (b/128%8), b%16]
(b) = [b/1024, b/128%8, (b/16%8) ^ (b/128%8), b%16] where B % 1024 == 0
(x) = [x/8, x%8 ^ x/2%4]
(i, j, k) = [i, k, j ^ i%4 ^ k%8]
(r: 8, x) = [r, x ^ r]
(r: 6, x) = [r/4, x ^ r, r%4]
(c, h) = [h, c ^ 5]
(i, j) = [i, j ^ i%8 : roundup(J, 16)]
<k>(i, j) = [i, (j/k) ^ (i%8), j%k]
""".strip().splitlines()

ROTATIONS = """
(i, j) = [i, (i + j) % 32, j / 32]
(i, j) = [i, (i + j) % J]
(i: N, j: N) = [i, (i + j) % N]
<B>(i, j) = [i, (j + 3*i) % B, j/B]
<B>(i, j) = [i, (j - i) % B, j/B]
<B>(i, j) = [i, (i - j) % B, j/B]
<B>(i, j) = [i, j/B, (j%B + i%B) % B]
(i, j) = [i, j/8, (j%8 + i/4) % 8]
(i, j) = [i, j/8, (j%8 + i/4) % 8 : 10]
(i, j) = [i, j/4, (j%4 + i) % 8]
(i, j, k) = [i, (j + i + k) % J, k]
""".strip().splitlines()

SUMS = """
(i, j) = [i, i + j]
(i, j) = [i, i%4 + j]
(c, h) = [c, h + 3]
(c, h) = [c, h + 3 : H + 8]
(c, h) = [h, C - 1 - c]
(c, h) = [C - c, h]
(c, h) = [h, c*2]
(c, h) = [c/3*2, h, c%3]
(i, j) = [i*J + j]
(i, j: 32) = [i*33 + j]
(i, j) = [i, j + j/32 : ceil(J/32)*33]
(c, h) = [c/8, h, c & 5, c/2%2]
""".strip().splitlines()

BITS = """
(x, y) = [x/8, y/8, y/4%2, x/4%2, y/2%2, x/2%2, y%2, x%2]
(x: 4, y: 4) = [(x & 1) + ((y & 1) << 1) + ((x & 2) << 1) + ((y & 2) << 2)]
(x, y) = [x/4, y/4, (x & 1) + ((y & 1) << 1) + ((x & 2) << 1) + ((y & 2) << 2)]
(x, y) = [x/4, y/4, (x & 1) ^ ((y & 1) << 1) ^ ((x & 2) << 1) ^ ((y & 2) << 2)]
(n) = [n/8, n%2*4 + n%8/2]
(k, n) = [k/16, n/64, n%8*4 + k%8/2, n/16%4, k%2*4 + n%16/8*2 + k%16/8] where K % 16 == 0
""".strip().splitlines()

DETERMINED = """
(c, h) = [c/2, (h + c)%2, h, c%2]
(i, j) = [i, j/8, (j%8) ^ (i%8), j%2]
(i, j) = [i, j, i%4]
""".strip().splitlines()

PARTS = (
    """
(n, k) = [n/8, (k/4, (k + n%8)%4 : 4, n%8 : 8)]
(n, k) = [n/8, 8 + (k/4, (k - n%8)%4 : 4, n%8 : 8) : 8 + (K + 3)/4*32]
(n, k) = [n/8, 1 + (k/4, (k - n%8)%4 : 4) : 4*ceil(K/4) + 1, n%8]
(n, k) = [n/8, 1 + (k/4, ((k - n%8)%4 : 4) : 4) : 4*ceil(K/4) + 1, n%8]
(n, k) = [n/8, k/4, ((k - n%8)%4 : 4)/2, ((k - n%8)%4 : 4)%2, n%8]
(n, k) = [(n/8, (k - n%8)%4 : 4, k/4)/4, (n/8, (k - n%8)%4 : 4, k/4)%4, n%8]
(i, j) = [(i/8, j/8%8 ^ i%8, j/64, i%8)/3, (i/8, j/8%8 ^ i%8, j/64, i%8)%3, j%8]
(k) = [k/4, (3 - k%4 : 4)/2, (3 - k%4 : 4)%2]
(y) = [(Y - 1 - y)/8, (Y - 1 - y)%8 : 8]
(y, x) = [(Y - 1 - y : Y)/8, x, (Y - 1 - y : Y)%8 : 8]
(y, x) = [((X - x - 1) + ((Y - y - 1)/8)*X)*8 + ((Y - y - 1) & 7) : X*((Y + 7)/8)*8]
(n, k) = [n/8*(8 + ((K + 3) & -4)*8) + 8 + ((k & -4) + ((k - n%8) & 3))*8 + n%8 :
 (N + 7)/8*(8 + ((K + 3) & -4)*8)]
""".replace(":\n", ":")
    .strip()
    .splitlines()
)
"""Moved digits that are parts of tuples, or are cut further."""

TURNED = """
(h, w) = [h, w + h%2*(W - 1 - 2*w) : W]
(h, w: 8) = [h, w + h%2*(7 - 2*w) : 8]
""".strip().splitlines()
"""Every other row runs back."""

TEXTS = SWIZZLES + ROTATIONS + SUMS + BITS + DETERMINED + PARTS + TURNED
RIGHT = [f"layout L{each}" for each in TEXTS]


@pytest.mark.sampled(24)
@pytest.mark.parametrize("text", RIGHT)
def test_swizzled_layouts_are_proved(text: str) -> None:
    """Every property of every shape; Morton order of eight bits is among the slow ones."""
    found = sound(layout(text))
    assert [words(each) for each in found.findings] == ["proved"] * PROPERTIES
    assert all(each.certificate for each in found.findings)  # type: ignore[union-attr]


def test_morton_order_of_eight_bits() -> None:
    digits = ", ".join(f"y/{1 << k}%2, x/{1 << k}%2" for k in reversed(range(8)))
    assert sound(layout(f"layout L(x: 256, y: 256) = [{digits}]")).status == "proved"


class Inverse:
    """The closed inverse that `layoutdsl formula` prints, in Python's integers."""

    def __init__(self, text: str, shell: Shell) -> None:
        Path("swizzled.layout").write_text(text)
        ended = shell("formula", "swizzled.layout", "--json")
        assert ended.code == 0, ended.err
        found = json.loads(ended.out)["inverse"]
        self.slot = found["slot"]
        self.steps = [(each["name"], code(each["value"])) for each in found["steps"]]
        self.index = [code(each) for each in found["index"].values()]
        self.guards = [code(each) for each in found["holds_where"]]

    def read(self, slot: int, values: dict[str, int]) -> tuple[int, ...] | None:
        """What it reads in a slot."""
        known: dict[str, Any] = {**values, self.slot: slot}
        for name, step in self.steps:
            known[name] = eval(step, known)
        index = [eval(each, known) for each in self.index]
        known.update(zip(self.axes, index, strict=True))
        return tuple(index) if all(eval(each, known) for each in self.guards) else None

    axes: Sequence[str] = ()


def code(text: str) -> CodeType:
    return compile(text, "<formula>", "eval")


def telling(made: Layout, most: int) -> Iterator[dict[str, int]]:
    """Small shapes, and some that fill blocks; as many as hold so many elements in all."""
    edges = (1, 2, 3, 4, 7, 8, 9, 17, 33, 64, 65, 130, 1024)
    found = []
    for choice in product(edges, repeat=len(made.symbols)):
        values = dict(zip(made.symbols, choice, strict=True))
        if all(each.holds(values) for each in made.where):
            found.append((made.size(values), values))
    for number, (size, values) in enumerate(sorted(found, key=lambda each: each[0])):
        most -= size
        if most < 0 and number:
            return
        yield values


@pytest.mark.sampled(64)
@pytest.mark.parametrize("text", RIGHT)
def test_the_inverse_reads_every_slot(text: str, shell: Shell) -> None:
    made = layout(text)
    inverse = Inverse(text, shell)
    inverse.axes = [axis.name for axis in made.axes]
    tried = 0
    for values in telling(made, 2_500):
        held = {made.offset_at(each): each for each in elements(made, values)}
        names = [axis.name for axis in made.axes]
        for slot in range(made.size(values)):
            index = tuple(held[slot][name] for name in names) if slot in held else None
            assert inverse.read(slot, values) == index, (values, slot)
            tried += 1
        assert wrong_at(made, values) == set()
    assert tried


@pytest.mark.slow
@pytest.mark.parametrize("text", RIGHT[::7])
def test_the_inverse_is_printed_in_every_language(text: str, shell: Shell) -> None:
    Path("swizzled.layout").write_text(text)
    for language in ("python", "latex", "sympy", "c"):
        ended = shell("formula", "swizzled.layout", "--as", language)
        assert ended.code == 0, ended.err
        assert "no closed inverse" not in ended.out
        assert "slot" in ended.out


WRONG = """
(i, j) = [i, (j/8) ^ (i%8) : ceil(J/8), j%8]
(i, j) = [i, (j/8) ^ (i%8) : J/8, j%8] where J % 32 == 0
(i, j) = [i/8, (j/8) ^ (i%8), j%8]
(i, j) = [i, j/64, (j/8%8) ^ (i%8), j%4]
(i, j) = [i, j/64, (j/8%4) ^ (i%8), j%8]
(i, j) = [i, j/8%8 ^ i%8, j%8]
(b) = [b ^ ((b >> 3) & 112) : B]
(b) = [b ^ (b & 112)]
(b) = [b/128, (b/16%8) ^ (b/16%4), b%16]
(b) = [b/128, (b/16%8) ^ (b/8%8), b%8]
(i, j) = [i, (i + j) % 32]
(i, j) = [i, (i + j) % 16, j / 32]
(i, j) = [i, (i + 2*j) % J]
(i, j) = [j, (i + j) % J]
<B>(i, j) = [i, (j + 3*i) % B : B - 1, j/B]
(i, j) = [i + j]
(i, j) = [i, i + j : J]
(i, j) = [i, j/4*2 + j%4]
(i, j: 32) = [i*31 + j]
(x, y) = [x/4, y/4, (x & 1) + ((y & 1) << 1) + ((x & 2) << 1) + ((y & 2) << 1)]
(n) = [n/8, n%2*4 + n%8/4]
(c, h) = [h, C - c : C]
(c, h) = [h, c*2 : 2*C - 2]
(i, j) = [i%8, (j/8) ^ (i%8), j%8]
(h, w) = [h, w + h%2*(W - 2*w) : W]
""".strip().splitlines()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("text", [f"layout L{each}" for each in WRONG])
def test_mutants_are_refuted_and_replay(text: str) -> None:
    made = layout(f"{text}\nrefute L\n")
    found = sound(made)
    assert found.status == "refuted"
    for each in found.findings:
        if hasattr(each, "example"):
            assert replays(made, each.property, each.example)


S = "layout S(i, j) = [i, (j/8) ^ (i%8), j%8]\n"
EVEN = "layout S(i, j) = [i, (j/8) ^ (i%8), j%8] where J % 64 == 0\n"
SWZ = "layout Z(b) = [b ^ ((b >> 3) & 112)]\n"
ROTATED = "layout R(i, j) = [i, (i + j) % 32, j / 32]\n"
CUT = "layout L(n, c) = [n, c/16, c%16]\n"

CLAIMS = [
    f"{S}prove S == [i, (i%8) ^ (j/8), j%8]",
    f"{S}prove S == [i, (j/8) ^ (i & 7), j & 7]",
    f"{EVEN}prove S == i*J + ((j/8) ^ (i & 7))*8 + j%8",
    f"{EVEN}prove S == i*J + (j ^ (i%8*8))",
    f"{EVEN}prove S == [i, j ^ ((i & 7) << 3)]",
    f"{SWZ}prove Z == b ^ (b/128%8*16)",
    f"{SWZ}prove Z == [b/128, (b/16%8) ^ (b/128%8), b%16]",
    f"{SWZ}prove Z keeps b%16 contiguous",
    f"{ROTATED}prove R == (i*32 + (j%32 + i%32) % 32)*ceil(J/32) + j/32",
    f"{ROTATED}prove R == [i, (j + i) & 31, j >> 5]",
    "layout X(r: 8, x) = [r, x ^ r]\nprove X == [r, r ^ x]",
    "layout M(x, y) = [x/4, y/4, (x & 1) + ((y & 1) << 1) + ((x & 2) << 1) + ((y & 2) << 2)]\n"
    "prove M == [x/4, y/4, y/2%2, x/2%2, y%2, x%2]",
    f"{CUT}prove L == [n, c/16, c/4%4, c%4]",
    f"{CUT}prove L == [n, c/16, (c/8%2, c%8)]",
    f"{CUT}prove L == [n, c : 16] where C <= 16",
    f"{CUT}prove L == n*16 + c where C == 4",
    "layout L(x: 6, y) = [x, y]\nprove L == x%8*Y + y",
    "layout L(c, h) = [c, h]\nprove L == c*C + h where C == H",
]

WRONG_CLAIMS = [
    f"{S}prove S == [i, (j/8) ^ (i%4), j%8]",
    f"{S}prove S == i*J + ((j/8) ^ (i & 7))*8 + j%8",
    f"{EVEN}prove S == i*J + (j ^ (i%8*4))",
    f"{SWZ}prove Z == b ^ (b/64%8*16)",
    f"{SWZ}prove Z keeps b%32 contiguous",
    f"{ROTATED}prove R == [i, (j - i) % 32, j/32]",
    f"{CUT}prove L == n*16 + c where C <= 17",
    "layout L(c, h) = [c, h]\nprove L == c*C + h where C >= H",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", CLAIMS)
def test_claims_see_through_spellings(text: str) -> None:
    assert [words(each) for each in claimed(text).findings] == ["proved"]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("text", WRONG_CLAIMS)
def test_wrong_claims_are_refuted(text: str) -> None:
    assert claimed(text).status == "refuted"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text",
    [
        "layout L(c, h) = [c/4, h, c%8]",
        "layout L(i, j) = [i, j + j/32]",
        "layout L(c, h) = [(c*c + h)%7, h, c]",
    ],
)
def test_bounds_are_proved_where_injectivity_is_not(text: str) -> None:
    found = sound(layout(text))
    proved = {each.property for each in found.findings if hasattr(each, "certificate")}
    assert {EXTENTS, BOUNDS} <= proved
    assert found.status == "undecided" or len(proved) == PROPERTIES


def test_bounds_are_proved_where_injectivity_is_refuted() -> None:
    found = sound(layout("layout L(i, j) = [i + j]"))
    proved = {each.property for each in found.findings if hasattr(each, "certificate")}
    assert {EXTENTS, BOUNDS} <= proved
    assert found.status == "refuted"


# Random swizzles against brute force.

RANDOM = st.integers(0, 1 << 30).map(Random)


def swizzled(random: Random) -> str:
    """Three axes in digits, of which one or two are moved by others; mostly right."""
    places = moved(random)
    axes = sorted(set(re.findall("[ijk]", " ".join(places))))
    return f"layout L({', '.join(axes)}) = [{', '.join(places)}]"


def nested(random: Random) -> str:
    """Such digits as parts of a tuple, which may follow a header or be cut again."""
    places = moved(random)
    axes = sorted(set(re.findall("[ijk]", " ".join(places))))
    if random.random() < 0.3:
        places = [re.sub(r"\bj\b", "(J - 1 - j)", each) for each in places]
    first = random.randrange(len(places) - 1)
    last = random.randrange(first + 2, len(places) + 1)
    joined = f"({', '.join(places[first:last])})"
    match random.randrange(3):
        case 0:
            joined = f"{random.choice([1, 3, 8])} + {joined}"
        case 1:
            block = random.choice([2, 3, 4])
            joined = f"{joined}/{block}, {joined}%{block}"
    places[first:last] = [joined]
    return f"layout L({', '.join(axes)}) = [{', '.join(places)}]"


def moved(random: Random) -> list[str]:
    places = ["i", "j/8", "j%8"] if random.random() < 0.5 else ["i/4", "i%4", "j/8", "j%8", "k"]
    for _ in range(random.choice([1, 1, 2])):
        number = random.randrange(len(places))
        others = [each for place, each in enumerate(places) if place != number]
        other = random.choice(others)
        digit, radix = places[number], random.choice([2, 4, 8])
        match random.randrange(4):
            case 0:
                places[number] = f"({digit}) ^ ({other})%{radix}"
            case 1 if "%" in digit:
                modulus = re.findall(r"%(\d+)", digit)[0]
                places[number] = f"({digit} + {random.choice([1, 2, 3])}*({other}))%{modulus}"
            case 2:
                places[number] = f"{digit} + ({other})%{radix}"
            case _:
                places[number] = f"({other})%{radix} ^ {digit}"
    random.shuffle(places)
    return places


def agrees(text: str) -> str:
    made = layout(f"{text}\nrefute L\n")
    found = sound(made)
    wrong: set[str] = set()
    for values in shapes(made, 9, 40):
        wrong |= wrong_at(made, values)
    proved = {each.property for each in found.findings if hasattr(each, "certificate")}
    assert not wrong & proved
    for each in found.findings:
        if hasattr(each, "example"):
            assert replays(made, each.property, each.example)
    return found.status


@pytest.mark.slow
@given(RANDOM)
@settings(max_examples=6)
def test_swizzles_agree_with_brute_force(random: Random) -> None:
    agrees(swizzled(random))


@pytest.mark.slow
@pytest.mark.ci(2)
@pytest.mark.parametrize("seed", range(8))
def test_moved_parts_of_tuples_agree_with_brute_force(seed: int) -> None:
    random = Random(seed)
    found = [agrees(nested(random)) for _ in range(6)]
    assert "proved" in found


@pytest.mark.campaign
@given(RANDOM)
@settings(max_examples=500)
def test_campaign_of_random_swizzles(random: Random) -> None:
    agrees(swizzled(random))
    agrees(nested(random))
