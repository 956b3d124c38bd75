"""Tables: what they mean, which are proved, which are refuted and where, against plain integers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import pytest
from proving import refutations, shapes, words
from texts import LIBRARY, LIBRARY_MODULES, module

import layoutdsl
from layoutdsl import Checked, Layout, Table, TableClaim

EVERY = "every element lies in a slot"
ONCE = "no element lies in two slots"
Element = tuple[int, ...]
TABLES = {name: each for found in LIBRARY_MODULES for name, each in found.tables.items()}
CLAIMS = [claim for found in LIBRARY_MODULES for claim in found.table_claims]


def table(text: str) -> Table:
    return list(module(text, LIBRARY).tables.values())[-1]


def found(text: str) -> Checked:
    """What is found of the last claim about a table."""
    return proved(module(text, LIBRARY).table_claims[-1])


def proved(claim: TableClaim) -> Checked:
    (found,) = layoutdsl.prove([claim]).checked
    return found


def inverted(claim: TableClaim) -> Layout | None:
    """The layout that the claim is about; nothing if it is about the table alone."""
    return getattr(claim.predicate, "layout", None)


def held(made: Table, values: dict[str, int]) -> dict[Element, list[Element]]:
    """The slots that hold each element of a shape, by decoding every slot."""
    extents, names = made.frame.shape_of(values), [each.name for each in made.slots]
    slots: dict[Element, list[Element]] = {index: [] for index in product(*map(range, extents))}
    for slot in made.every_slot(values):
        index = made.decode_at({**values, **dict(zip(names, slot, strict=True))}, extents)
        if index is not None:
            slots[index].append(slot)
    return slots


def right(claim: TableClaim, values: dict[str, int]) -> bool:
    """Whether a claim holds at one shape, counted out."""
    made = claim.table
    slots = held(made, values)
    layout, axes = inverted(claim), [axis.name for axis in made.axes]
    if layout is None:
        return all(len(each) == 1 for each in slots.values())
    numbers = {slot: n for n, slot in enumerate(made.every_slot(values))}
    return made.size(values) == layout.size(values) and all(
        [numbers[slot] for slot in each]
        == [layout.offset_at({**values, **dict(zip(axes, index, strict=True))})]
        for index, each in slots.items()
    )


# What is written.


def test_white_space_and_order_of_the_indices_say_nothing() -> None:
    one = table("table T(n,c)[j:N,i:C]=(c=i,n=j)")
    assert one == table("table T(n, c) [j: N,\n i: C] = # the slots\n (n = j, c = i)")


def test_a_text_has_layouts_tables_and_claims() -> None:
    text = "prove T inverts L\ntable T(n)[j: N] = (n = j)\nlayout L(n) = [n]\nprove L\nrefute T"
    made = module(text)
    assert list(made) == ["L", "T"]
    assert list(made.layouts) == ["L"]
    assert list(made.tables) == ["T"]
    assert list(made.texts) == ["L", "T"]
    assert [each.text for each in made.all_claims] == ["prove L", "prove T inverts L", "refute T"]
    assert inverted(made.table_claims[0]) == made["L"]
    assert made.table_claims[0].subject == made.tables["T"]


def test_what_a_text_declares_comes_before_the_library() -> None:
    text = "layout MaceArgumentTable(w) = [w]\nprove MaceArgumentTable"
    made = layoutdsl.parse(text)
    assert [claim.layout.name for claim in made.claims] == ["MaceArgumentTable"]
    assert not made.table_claims


def test_a_claim_may_be_about_a_table_of_the_library() -> None:
    text = "layout Mine(w) = [w/4, w%4]\nprove MaceArgumentTable inverts Mine"
    assert layoutdsl.prove(layoutdsl.parse(text)).passed


# What it means.


def test_worked_values_of_the_sources() -> None:
    pixel = TABLES["MaceChannelMajorTable"]
    assert pixel.decode((13, 9, 1), (2, 7, 5, 6)) == (1, 6, 4, 5)
    assert pixel.decode({"k": 2, "i": 9, "j": 13}, (2, 7, 5, 6)) is None
    assert pixel.box((2, 7, 5, 6)) == (14, 10, 4)
    assert TABLES["MaceChannelMajorPublished"].box((1, 1, 5, 6)) == (1, 11, 4)
    assert list(pixel.holders((1, 6, 4, 5), (2, 7, 5, 6))) == [(13, 9, 1)]


@pytest.mark.parametrize(
    ("name", "shape", "lost", "double"),
    [
        ("MaceHeightMajorPublished", (2, 7, 5, 6), 180, 240),
        ("MaceHeightMajorPublished", (1, 7, 5, 6), 90, 120),
        ("MaceHeightMajorPublished", (4, 4, 5, 6), 0, 0),
        ("MaceWidthMajorPublished", (1, 4, 4, 4), 48, 0),
        ("MaceDepthwiseFilterTable", (2, 6, 3, 3), 54, 0),
        ("MaceHeightMajorTable", (2, 7, 5, 6), 0, 0),
    ],
)
def test_what_the_published_tables_lose(name: str, shape: Element, lost: int, double: int) -> None:
    """The slots beyond the first that hold an element are counted as held twice."""
    made = TABLES[name]
    counts = Counter(len(each) for each in held(made, made.frame.bind(shape)).values())
    assert counts[0] == lost
    assert sum((times - 1) * count for times, count in counts.items() if times) == double


# Slots to indices, by hand.
BY_HAND: list[tuple[str, Callable[..., Element]]] = [
    (
        "table T(n, h, w, c)[j: N*H, i: W*ceil(C/4), k: 4] ="
        "(n = j/H, h = j%H, w = i%W, c = i/W*4 + k)",
        lambda j, i, k, N, H, W, C: (j // H, j % H, i % W, i // W * 4 + k),  # noqa: ARG005, N803
    ),
    (
        "table T(c, h)[s: C*H + 3] = (c = s/2 - 1, h = min(s, H)*s%5)",
        lambda s, C, H: (s // 2 - 1, min(s, H) * s % 5),  # noqa: ARG005, N803
    ),
    (
        "table T<k>(c)[a: ceil(C/k), b: k] = (c = (a, b : k) ^ 1)",
        lambda a, b, C, k: ((a * k + b) ^ 1,),  # noqa: ARG005, N803
    ),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "by_hand"), BY_HAND)
def test_decode_is_what_is_written(text: str, by_hand: Callable[..., Element]) -> None:
    made = table(text)
    for values in shapes(made.frame, 4, 60):
        extents = made.frame.shape_of(values)
        for slot in made.every_slot(values):
            coordinates = dict(zip([each.name for each in made.slots], slot, strict=True))
            index = by_hand(**coordinates, **values)
            inside = all(0 <= i < extent for i, extent in zip(index, extents, strict=True))
            assert made.decode(slot, values) == (index if inside else None)


@pytest.mark.parametrize(
    ("slot", "shape", "message"),
    [
        ((1, 0), (3,), "takes a slot over a$"),
        ({"b": 0}, (3,), "takes a slot over a$"),
        ((3,), (3,), r"slot coordinate a=3 is outside 0\.\.2"),
        ((0,), (0,), "extent `C` of layout `T` is 0"),
        ((0,), (9,), "is defined where C < 9"),
    ],
)
def test_what_is_no_slot(slot: Element, shape: Element, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table("table T(c)[a: C] = (c = a) where C < 9").decode(slot, shape)


def test_a_box_without_slots() -> None:
    made = table("table T(c, h)[a: C - 2, b: H - 2] = (c = a, h = b)")
    assert made.size((1, 1)) == 0
    assert list(made.every_slot((1, 1))) == []
    assert made.size((3, 4)) == 2


# What is found.


@pytest.mark.sampled(18)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_the_claims_of_the_library_pass(claim: TableClaim) -> None:
    checked = proved(claim)
    assert checked.passed
    assert checked.status == ("proved" if claim.polarity == "prove" else "refuted")


@pytest.mark.sampled(18)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_the_claims_of_the_library_counted_out(claim: TableClaim) -> None:
    frame = claim.ranged.frame
    layout = inverted(claim)
    if layout is not None:
        frame = replace(frame, where=(*frame.where, *layout.where))
    counted = [right(claim, values) for values in shapes(frame, 5, 30)]
    assert counted
    assert (claim.polarity == "prove") == all(counted)


def test_every_table_of_the_library_has_its_source_and_a_claim() -> None:
    for family in LIBRARY_MODULES:
        whole = family.span_of(family.all_claims[0])
        assert whole is not None
        text = whole.source.text
        for comment, name in re.findall(r"((?:^#.*\n)*)^table (\w+)", text, re.MULTILINE):
            assert "mace-memory-layout" in comment, name
    assert {claim.table.name for claim in CLAIMS} == set(TABLES)
    assert len(TABLES) == 10


LAYOUTS = """
layout Gap(c, h) = [c/4, h : H + 1, c%4]
layout Pitch(h, w) = [h, w : roundup(W, 64)]
layout Even(c) = [c]
layout Most(c, h) = [c/4 : max(ceil(C/4), 3), h, c%4]
layout One(m: 1, c) = [m, c]
layout Ragged(h, w) = [h, w]
layout Swizzled(i: 8, j: 8) = [i, i ^ j]
layout Weights(h, w, i, o) = [i/32, o/32, (h, w), i%32/4, o%32, i%4]
layout Rows(n, h, w, c) = [n, h, w, c]
layout Open<k>(c, h) = [c/k, h, c%k]
"""

PROVED = {
    "NCHW16c": "table T(n, c, h, w)[a: N, b: ceil(C/16), y: H, x: W, k: 16] ="
    "(n = a, c = b*16 + k, h = y, w = x)",
    "R4CroutonLayout": "table T(b, h, w, d)[t: B*ceil(H/8)*ceil(W/8)*ceil(D/32), y: 8, x: 8, k: 32]"
    "= (b = t/(ceil(H/8)*ceil(W/8)*ceil(D/32)), h = t/(ceil(W/8)*ceil(D/32))%ceil(H/8)*8 + y,"
    "w = t/ceil(D/32)%ceil(W/8)*8 + x, d = t%ceil(D/32)*32 + k)",
    "R4Crouton2x2Layout": "table T(b, h, w, d)[a: B, r: ceil(H/8), s: ceil(W/8), t: ceil(D/32),"
    "p: 4, q: 4, k: 32, y: 2, x: 2] = (b = a, h = r*8 + p*2 + y, w = s*8 + q*2 + x, d = t*32 + k)",
    "XlaTile8x128": "table T(y, x)[r: ceil(Y/8), q: ceil(X/128), a: 8, b: 128] ="
    "(y = r*8 + a, x = q*128 + b)",
    "XlaTile8x128x2": "table T(y, x)[r: ceil(Y/8), q: ceil(X/128), p: 4, b: 128, a: 2] ="
    "(y = r*8 + p*2 + a, x = (q, b : 128))",
    "Weights": "table T(h, w, i, o)[s: ceil(I/32), t: ceil(O/32), u: H*W, a: 8, b: 32, c: 4] ="
    "(h = u/W, w = u%W, i = s*32 + a*4 + c, o = t*32 + b)",
    "Rows": "table T(n, h, w, c)[s: N*H*W*C] = (n = s/(H*W*C), h = s/(C*W)%H, w = s/C%W, c = s%C)",
    "Gap": "table T(c, h)[s: ceil(C/4)*(H + 1)*4] = (c = s/4/(H + 1)*4 + s%4, h = s/4%(H + 1))",
    "Pitch": "table T(h, w)[s: H*roundup(W, 64)] = (h = s/roundup(W, 64), w = s%roundup(W, 64))",
    "Even": "table T(c)[a: C/16, b: 16] = (c = a*16 + b) where C % 16 == 0",
    "Most": "table T(c, h)[a: max(ceil(C/4), 3), b: H, k: 4] = (c = a*4 + k, h = b)",
    "One": "table T(m: 1, c)[a: C, b: 1] = (m = b, c = a)",
    "Ragged": "table T(h, w)[s: H*W] = (h = s/W, w = s - s/W*W)",
    "Swizzled": "table T(i: 8, j: 8)[a: 8, b: 8] = (i = a, j = a ^ b)",
    "Open": "table T<k>(c, h)[b: ceil(C/k)*H, l: k] = (c = b/H*k + l, h = b%H)",
    "Open<8>": "table T(c, h)[b: ceil(C/8)*H, l: 8] = (c = b/H*8 + l, h = b%H)",
    "NCHWc": "table T<k>(n, c, h, w)[p: N*ceil(C/k), q: H*W, r: k] ="
    "(n = p/ceil(C/k), c = p%ceil(C/k)*k + r, h = q/W, w = q%W)",
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROVED)
def test_tables_of_other_layouts_are_proved(name: str) -> None:
    text = f"{LAYOUTS}{PROVED[name]}\nprove T inverts {name}"
    checked = found(text)
    assert [words(each) for each in checked.findings] == ["proved"]
    assert not proved(replace(module(text, LIBRARY).table_claims[0], polarity="refute")).passed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROVED)
def test_tables_of_other_layouts_counted_out(name: str) -> None:
    claim = module(f"{LAYOUTS}{PROVED[name]}\nprove T inverts {name}", LIBRARY).table_claims[0]
    frame, telling = claim.ranged.frame, (1, 2, 5, 16, 17, 33)
    choices = product(telling, repeat=len(frame.symbols))
    values = [dict(zip(frame.symbols, each, strict=True)) for each in choices]
    ranged = [v for v in values if all(each.holds(v) for each in frame.where)]
    tried = [v for v in ranged if prod(frame.shape_of(v)) <= 66]
    small = [each for each in tried if claim.table.size(each) <= 4096]
    assert small
    assert all(right(claim, each) for each in small[:: max(1, len(small) // 5)])


INFERRED = [
    ("[n, b/16, h, w, b%16]", "table T(n, b, h, w)[s: N*ceil(B/16), y: H*W, k: 16] ="
     "(n = s/ceil(B/16), b = s%ceil(B/16)*16 + k, h = y/W, w = y%W)"),
    ("[(h/4, n), c, h%4]", "table T(n, h, c)[j: N*ceil(H/4), i: C, k: 4] ="
     "(n = j%N, h = j/H*4 + k, c = i) where N == H"),
    ("[h, w : 64*ceil(W/64)]", "table T(h, w)[y: H, x: roundup(W, 64)] = (h = y, w = x)"),
    ("[0, w/4, w%4]", "table T(w)[j: 1, i: ceil(W/4), k: 4] = (w = i*4 + k)"),
    ("[i/4, i%4]", "table T(m, i)[x: ceil(I/4)*M, k: 4] = (m = 0, i = x*4 + k) where M == 1"),
    ("[c/16 : C/16, c%16]", "table T(c)[a: C/16, b: 16] = (c = a*16 + b) where C % 16 == 0"),
    ("[c, h]", "table T(c, h)[a: C, b: H] = (c = b, h = a) where C == H, H > 3"),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("inferred", "text"), INFERRED)
def test_a_proof_says_which_layout_is_inverted(inferred: str, text: str) -> None:
    checked = found(f"{text}\nprove T")
    (every, once) = checked.findings
    assert checked.status == "proved"
    assert every.certificate == once.certificate != ""  # type: ignore[union-attr]
    said = re.findall(r"\w+", every.says)[2:]  # type: ignore[union-attr]
    assert sorted(said) == sorted(re.findall(r"\w+", inferred))


def test_the_layout_that_is_said_is_the_one() -> None:
    checked = found(f"{INFERRED[0][1]}\nprove T")
    says = checked.findings[0].says  # type: ignore[union-attr]
    assert says == "it inverts `[(n, b/16), (h, w), b%16]`"
    text = f"{INFERRED[0][1]}\nlayout Said(n, b, h, w) = {says[12:-1]}\nprove T inverts Said"
    assert found(text).passed


def test_a_proof_names_its_conditions() -> None:
    text = "layout L(c) = [c] where C > 3\ntable T(c)[a: C] = (c = a)\nprove T inverts L"
    (finding,) = found(text).findings
    assert words(finding) == "proved"
    assert getattr(finding, "conditions", ()) == ("`L` is defined: C > 3",)


K = "table T(n, h, w, c)[j: N*ceil(H/4), i: W*C, k: 4] ="
REFUTED = [
    f"{K} (n = j%N, h = j/H*4 + k, w = i%W, c = i/W)\nprove T",
    f"{K} (n = j%N, h = j/H*4 + k, w = i%W, c = i/W)\nprove T inverts MaceHeightMajor",
    f"{K} (n = j%N, h = j/N*4 + k, w = i%W, c = i/W)\nprove T inverts MaceHeightMajor",
    "table T(n, h, w, c)[j: N*H, i: ceil(W/4)*C, k: 4] ="
    "(n = j/H, h = j%H, w = i%W*4 + k, c = i/W)\nprove T",
    "table T(n, h, w, c)[j: N*H, i: W*(C+3)/4, k: 4] ="
    "(n = j/H, h = j%H, w = i%W, c = i/W*4 + k)\nprove T inverts MaceChannelMajor",
    "table T(m, i, h, w)[n: ceil(I/4), x: H*W*M, k: 4] ="
    "(m = 0, i = n*4 + k, h = x/W, w = x%W)\nprove T",
    "table T(c)[a: C, b: 2] = (c = a)\nprove T",
    "table T(c)[a: C - 3] = (c = a)\nprove T where C > 5",
    "table T(c)[a: C - 3] = (c = a)\nprove T",
    "table T(c, h)[a: C - 1, b: H - 1] = (c = a, h = b)\nprove T inverts L where C == 1, H == 1\n"
    "layout L(c, h) = [c, h]",
    "table T(c)[a: C] = (c = a)\nlayout L(c) = [c - c]\nprove T inverts L\nrefute L",
    "table T(c)[a: C] = (c = C - 1 - a)\nlayout L(c) = [c]\nprove T inverts L",
    "table T(i: 8, j: 8)[a: 8, b: 8] = (i = a, j = a ^ b)\nprove T inverts L\n"
    "layout L(i: 8, j: 8) = [i, j]",
    "table T(c)[a: ceil(C/64), b: 64] = (c = a*64 + b%32)\nprove T",
    "table T(c)[a: ceil(C/64)*32, b: 2] = (c = a/32*64 + a%32 + b*33)\nprove T",
    "prove T<5>\ntable T<k>(c)[a: ceil(C/k), b: k] = (c = a*4 + b)",
]


@pytest.mark.slow
def test_wrong_tables_are_refuted(golden: Callable[[str, str], None]) -> None:
    """The smallest shape, and the element that is lost or held twice."""
    blocks = []
    for text in REFUTED:
        checked = found(text)
        assert checked.status == "refuted"
        assert found(text.replace("prove T", "refute T")).passed
        blocks.append(f"{text}\n{refutations(checked)}\n")
    golden("prove/wrong_tables.txt", "\n".join(blocks))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", REFUTED)
def test_a_refutation_replays(text: str) -> None:
    claim = module(text, LIBRARY).table_claims[0]
    for finding in proved(claim).findings:
        if hasattr(finding, "example"):
            assert replays(claim, finding)
            assert not right(claim, dict(finding.example.shape))


def replays(claim: TableClaim, finding: Any) -> bool:
    """Whether a counterexample shows what it says, by `Table.decode` alone."""
    made, shape = claim.table, dict(finding.example.shape)
    points = [dict(point.index) for point in finding.example.points]
    if finding.property == EVERY:
        return list(made.holders(points[0], shape)) == []
    if finding.property == ONCE:
        one, other = (made.decode(slot, shape) for slot in points)
        return one == other and one is not None and points[0] != points[1]
    layout = inverted(claim)
    assert layout is not None
    if not points:
        return made.size(shape) != layout.size(shape)
    (slot,) = points
    number = 0
    for each, extent in zip(slot.values(), made.box(shape), strict=True):
        number = number * extent + each
    elements = list(layout.holders(number, shape))
    return elements != [e for e in [made.decode(slot, shape)] if e is not None]


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            "no layout was read off it: `c = s - 4` is no sum of digits of the slot",
            "table T(c)[s: C + 4] = (c = s - 4)\nprove T",
        ),
        (
            "no layout was read off it: `c = s - 4` is no sum of digits of the slot",
            "table T(c)[s: C + 4] = (c = s - 4)\nlayout L(c) = [c] offset 4\nprove T inverts L",
        ),
        (
            "no layout was read off it: the extent of slot coordinate `i` does not fit: "
            "(C*W + 3*W)/4 is no multiple of W",
            "table T(w, c)[i: W*(C+3)/4, k: 4] = (w = i%W, c = i/W*4 + k)\nprove T where C > 30000",
        ),
        (
            "no layout was read off it: `j = a ^ b` is no sum of digits of the slot",
            "table T(i: N, j: N)[a: N, b: N] = (i = a, j = a ^ b)\nprove T where N == 512",
        ),
        (
            "no shape of the range was found, and of none anything holds",
            "table T(c)[a: C] = (c = a)\nprove T where C > 5, C < 5",
        ),
        (
            "no shape of the range was found, and of none anything holds",
            "table T(c)[a: C] = (c = a) where C == 3\nlayout L(c) = [c] where C == 4\n"
            "prove T inverts L",
        ),
    ],
)
@pytest.mark.parametrize("polarity", ["prove ", "refute "])
def test_undecided_is_never_passed(polarity: str, reason: str, text: str) -> None:
    checked = found(text.replace("prove ", polarity))
    assert {each.reason for each in checked.findings if hasattr(each, "reason")} == {reason}
    assert checked.status == "undecided"
    assert not checked.passed


# Mutants: one thing of a right table changed, judged by counting out.

MUTATED = [
    "table T(n, h, c)[j: N*H, i: ceil(C/2), k: 2] = (n = j/H, h = j%H, c = i*2 + k)",
    "table T(h, w, c)[i: W*ceil(C/2), y: H, k: 2] = (h = y, w = i%W, c = i/W*2 + k)",
    "table T(o, h, w)[n: ceil(O/2)*W*H, k: 2] = (o = n/(H*W)*2 + k, h = n%(H*W)/W, w = n%(H*W)%W)",
    "table T(c, h)[a: ceil(C/4), b: H, k: 2, l: 2] = (c = a*4 + k*2 + l, h = b)",
]


def mutants(text: str) -> Iterator[str]:
    """Every text in which one operator, number or name of the body is another."""
    head, body = text.split(" = (", 1)
    names = re.findall(r"(\w): ", head)
    extents = re.findall(r"[A-Z]", head.split("[")[1])
    for place in re.finditer(r"[*/%+]|\b\d\b|\b[a-zA-Z]\b(?! =)", body):
        word = place.group()
        if word.isdigit():
            others = [str(int(word) + 1), str(max(1, int(word) - 1))]
        elif word in names:
            others = [name for name in names if name != word][:1]
        elif word.isupper():
            others = [each for each in extents if each != word][:1]
        else:
            others = {"/": ["%"], "%": ["/"], "*": ["+"], "+": ["*"]}[word]
        for other in others:
            mutant = body[: place.start()] + other + body[place.end() :]
            if not re.search(r"[/%]\(?[a-z]|[/%]\([^)]*[a-z]", mutant):
                yield f"{head} = ({mutant}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", MUTATED)
def test_mutants_of_the_body_are_told_apart(text: str) -> None:
    told = Counter[str]()
    for mutant in dict.fromkeys(mutants(text)):
        claim = module(f"{mutant}\nprove T").table_claims[0]
        status = proved(claim).status
        holds = all(right(claim, values) for values in shapes(claim.table.frame, 9, 9))
        told[f"{status} {'right' if holds else 'wrong'}"] += 1
    assert told["refuted wrong"] >= 8
    assert not told["proved wrong"] + told["refuted right"] + told["undecided wrong"]


@pytest.mark.parametrize("text", MUTATED)
def test_tables_that_are_mutated_are_right(text: str) -> None:
    assert found(f"{text}\nprove T").status == "proved"


SWAPPED = [
    ("j: N*H, i: ceil(C/2)", "i: ceil(C/2), j: N*H"),
    ("ceil(C/2)", "C/2"),
    ("k: 2", "k: 3"),
    ("N*H", "N*H + 1"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("old", "new"), SWAPPED)
def test_mutants_of_the_box_invert_another_layout(old: str, new: str) -> None:
    text = f"{MUTATED[0]}\nlayout L(n, h, c) = [(n, h), c/2, c%2]\nprove T inverts L"
    assert found(text).status == "proved"
    assert found(text.replace(old, new, 1)).status == "refuted"


# Wrong tables, and the API.

RIGHT = "table T(c, h)[a: ceil(C/4), b: H, k: 4] = (c = a*4 + k, h = b)"
WRONG = "table T(c, h)[a: ceil(C/4), b: H, k: 4] = (c = a*4 + 3 - k, h = b)"


def test_no_goal_can_be_left_out() -> None:
    """Each theorem says something that another wrong table breaks, and only that one."""
    broken = {
        "room": RIGHT.replace("b: H", "b: H + 1"),
        "held": WRONG,
        "single": RIGHT.replace("a*4 + k", "a*4 + k%2*k"),
    }
    for text in broken.values():
        claim = f"{text}\nlayout L(c, h) = [c/4, h, c%4]\nprove T inverts L"
        assert found(claim).status == "refuted"


def test_a_table_is_proved_by_itself() -> None:
    assert layoutdsl.prove(table(RIGHT)).passed
    assert layoutdsl.prove(table("table T(c)[a: C, b: 2] = (c = a)")).status == "refuted"
    made = layoutdsl.parse(f"{RIGHT}\nlayout L(c, h) = [c/4, h, c%4]\nprove T inverts L")
    assert isinstance(made.tables["T"], layoutdsl.Table)
    assert isinstance(made.table_claims[0], layoutdsl.TableClaim)
    said = [each.claim.text for each in layoutdsl.prove(made).checked]
    assert said == ["prove L", "prove T", "prove T inverts L"]


def test_what_a_text_refutes_is_not_proved_besides() -> None:
    made = layoutdsl.parse("table T(c)[a: C, b: 2] = (c = a)\nrefute T")
    assert [each.claim.text for each in layoutdsl.prove(made).checked] == ["refute T"]


def test_the_frame_has_the_box_of_the_slots() -> None:
    made = table(RIGHT)
    assert made.frame.box((6, 3)) == made.box((6, 3)) == (2, 3, 4)
    assert made.size((6, 3)) == prod(made.box((6, 3)))
