"""Claims: the right ones are proved, the wrong ones refuted at a shape, both polarities judged."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from proving import claimed, refutations, words

import layoutdsl
from layoutdsl import Claim

OF_THE_LIBRARY = layoutdsl.library_module().claims


@pytest.mark.sampled(40)
@pytest.mark.parametrize("claim", OF_THE_LIBRARY, ids=lambda claim: claim.text)
def test_the_claims_of_the_library_pass(claim: Claim) -> None:
    (found,) = layoutdsl.prove((claim,)).checked
    assert found.passed
    assert found.status == ("proved" if claim.polarity == "prove" else "refuted")


L = "layout L(c, h) = [c/8, h, c%8]\n"
SQUARE = "layout L(i: N, j: N) = [i, j]\n"
EVEN = "layout L(c) = [c/4, c%4] where C % 4 == 0\n"

RIGHT = [
    f"{L}prove L == [c/8, (h, c%8)]",
    f"{L}prove L == [(c/8, h), c%8]",
    f"{L}prove L == [c/8, h, c%8/2, c%2]",
    f"{L}prove L == [c/8; h, c%8]",
    f"{L}prove L == (c/8*H + h)*8 + c%8",
    f"{L}prove L == c/8*8*H + h*8 + c - c/8*8",
    f"{L}prove L == c + (c/8*8)*(H - 1) + h*8",
    f"{L}prove L == c/4/2*8*H + h*8 + c%16%8",
    f"{L}prove L == (c/8*H + h)*8 + c%8 + C*H - H*C",
    f"{L}prove L == (c/8*H + h)*8 + c%8 + (C + 7)/8 - ceil(C/8)",
    f"{L}prove L == (c/8*H + h)*8 + c%8 + (C - 1)/8 + 1 - ceil(C/8)",
    f"{L}prove L keeps c%8 contiguous",
    f"{L}prove L keeps c%4 contiguous",
    f"{L}prove L keeps h, c%8 contiguous",
    f"{L}prove L aligns c%8 to 8 bytes of u8",
    f"{L}prove L aligns c%8 to 4 bytes of u4",
    f"{L}prove L aligns c%8 to 1 bytes of u1",
    f"{L}prove L fits uint8 where C <= 16, H <= 15",
    f"{L}prove L fits int8 where C <= 8, H == 15",
    f"{SQUARE}prove L == [i : N, j]",
    f"{SQUARE}prove L == i*N + j",
    f"{EVEN}prove L == c",
    f"{EVEN}prove L == [c]",
    f"{EVEN}layout M(c) = [c]\nprove M == L",
    f"{L}prove L == [c, h] where C % 8 == 0, H == 1",
    f"{L}prove L == [h, c] where C == 8",
    f"{L}prove L == [c/4, h, c%4] where C == 4 * 2, H == 1",
    f"{L}prove L == [h, c : 8] where C <= 8",
    f"{L}prove L == [h, c%2, c/2 : 4] where C <= 1",
    "layout P<k>(c, h) = [c/k, h, c%k]\nprove P == [c/8, h, c%8] where k == 8",
    "layout P<k>(c, h) = [c/k, h, c%k]\nprove P == [c, h] where k == 1",
    "layout P<k>(c, h) = [c/k, h, c%k]\nprove P == [c, h] where C == k, H == 1",
    f"{L}prove L == [c/8, h, c%8 : max(C, 8)] where C <= 8",
    f"{L}prove L == [c/8, h, c%8 : min(C, 8)] where C % 8 == 0",
    f"{L}prove L == [c/8, h, c%8 : min(C, 8)] where C >= 8",
    f"{L}prove L == [c/8, h, c%8 : min(C, 8)] where C == 9",
    "layout P<P>(y, x) = [x, y : P] where Y <= P\nprove P == [x, y] where Y == P",
    "layout L(c) = [c : 9] where C <= 9\nlayout M(c) = [c : 9] where C in 2..9\nprove L == M",
    "layout L(c) = [c] offset 250 where C <= 5\nprove L fits uint8",
    "layout L(c) = [c*3 : C*3 - 2] where C <= 10000\nprove L fits uint16",
    "layout L(c, h) = [c/4, h, c%8] where C <= 100, H <= 100\nprove L fits uint16",
    "layout L(c) = [c] offset 8\nprove L aligns c to 8 bytes of u8",
    "layout L(c, h) = [c, h : roundup(H, 4)]\nprove L keeps h contiguous",
    "layout L(c, h) = [c, h : roundup(H, 4)]\nprove L aligns h to 4 bytes of u8",
]

WRONG = [
    f"{L}prove L == [h, c/8, c%8]",
    f"{L}prove L == [c/8, h, c%8 : 9]",
    f"{L}prove L == [c/8 : ceil(C/8) + 1, h, c%8]",
    f"{L}prove L == [c/4, h, c%4]",
    f"{L}prove L == (c/8*H + h)*8 + c%4",
    f"{L}prove L == (c/8*(H + 1) + h)*8 + c%8",
    f"{L}prove L == c*H + h",
    f"{L}prove L == (c/8*H + h)*8 + c%8 + (C - H)/100",
    f"{L}prove L == (c/8*H + h)*8 + c%8 + (h - 1)/1000",
    f"{L}prove L == (c/8*H + h)*8 + c%8 + C/1000",
    f"{L}prove L == [c, h] where C % 4 == 0, H == 1",
    f"{L}prove L == [h, c] where C <= 8",
    f"{L}prove L == [h, c : 8] where C <= 9",
    "layout P<k>(c, h) = [c/k, h, c%k]\nprove P == [c/8, h, c%8] where k <= 8",
    "layout P<k>(c, h) = [c/k, h, c%k]\nprove P == [c/8, h, c%8]",
    "layout P<k>(c, h) = [c/k, h, c%k]\nprove P == [h, c]",
    f"{L}prove L == [c/8, h, c%8 : min(C, 8)] where C >= 7",
    f"{L}prove L == [c/8, h, c%8 : max(C, 8)] where C <= 9",
    f"{L}prove L keeps c contiguous",
    f"{L}prove L keeps c%8, h contiguous",
    f"{L}prove L keeps c%16 contiguous",
    f"{L}prove L aligns c%8 to 16 bytes of u8",
    f"{L}prove L aligns c%8 to 8 bytes of u4",
    f"{L}prove L aligns c%4 to 8 bytes of u8",
    f"{L}prove L aligns h to 2 bytes of u8",
    f"{L}prove L fits uint8 where C <= 16, H <= 16",
    f"{L}prove L fits int32",
    f"{SQUARE}prove L == [j, i]",
    f"{SQUARE}prove L == i*4 + j",
    f"{EVEN}prove L == c + C%8",
    "layout L(c) = [c]\nlayout M(c) = [c : 8] where C <= 8\nprove L == M",
    "layout L(c) = [c] offset 1\nprove L == c",
    "layout L(c) = [c] offset 1\nprove L == [c]",
    "layout L(c) = [c] offset 2\nprove L aligns c to 4 bytes of u8",
    "layout L(c) = [c] offset 1\nprove L aligns c to 1 bytes of u4",
    "layout L(c) = [c] offset 250 where C <= 6\nprove L fits uint8",
    "layout L(c) = [c*1000 : 5] where C <= 100\nprove L fits uint8",
    "layout L(c) = [c - 3 : C] where C <= 10\nprove L fits uint8",
    "layout L(c, h) = [c, h : H + 1]\nprove L keeps c, h contiguous",
    "prove NCHW16c == NCHW4c",
    "prove R4Crouton2x2Layout == R4Crouton4x1Layout",
    "prove XlaTile8x128 == XlaRowMajor",
    "prove MaceHeightMajor == MaceWidthMajor",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", RIGHT)
def test_right_claims_are_proved(text: str) -> None:
    found = claimed(text)
    assert [words(each) for each in found.findings] == ["proved"]
    assert found.passed
    other = claimed(text.replace("prove ", "refute "))
    assert other.findings == found.findings
    assert not other.passed


@pytest.mark.slow
def test_wrong_claims_are_refuted(golden: Callable[[str, str], None]) -> None:
    """The smallest shape, and what happens there."""
    blocks = []
    for text in WRONG:
        found = claimed(text)
        blocks.append(f"{text}\n{refutations(found)}\n")
        assert found.status == "refuted"
        assert not found.passed
        assert claimed(text.replace("prove ", "refute ")).passed
    golden("prove/wrong_claims.txt", "\n".join(blocks))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", [each for each in WRONG if " == " in each.split("prove ")[-1]])
def test_an_inequality_replays(text: str) -> None:
    """Both offsets, or both sizes, are what `Layout.offset` and `Layout.size` say."""
    found = claimed(text)
    claim, (finding,) = found.claim, found.findings
    assert found.status == "refuted"
    example, shape = finding.example, dict(finding.example.shape)
    other = getattr(claim.predicate, "other", None)
    for point in example.points:
        offset = claim.layout.offset(dict(point.index), shape)
        assert point.words.startswith(f"-> offset {offset}")
        if other is not None:
            second = other.offset(dict(point.index), shape)
            assert second != offset
            assert point.words == f"-> offset {offset} in `L`, {second} in `{other.name}`".replace(
                "`L`", f"`{claim.layout.name}`"
            )
    if not example.points:
        sizes = claim.layout.size(shape), other.size(shape)
        assert sizes[0] != sizes[1]
        assert example.sentence.endswith(f"have {sizes[0]} and {sizes[1]} elements")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            "no shape of the range was found, and of none anything holds",
            "layout L(c) = [c] where C > 10\nlayout M(c) = [c] where C < 5\nprove L == M",
        ),
        (
            "no shape of the range was found, and of none anything holds",
            f"{L}prove L == [c/8, h, c%8] where C > 5, C < 5",
        ),
        (
            "no shape of the range was found, and of none anything holds",
            f"{L}prove L fits int8 where C == H, C != H",
        ),
        (
            "no proof was found: a part of an axis is in the run twice",
            "layout L(c, h) = [(c, h)/4, (c, h)%4]\nprove L keeps (c, h)%4, h contiguous",
        ),
        (
            "no proof was found: the two sides have different normal forms",
            f"{L}prove L == (c/8*H + h)*8 + c%8 + (h*h + h)%2",
        ),
    ],
)
@pytest.mark.parametrize("polarity", ["prove ", "refute "])
def test_undecided_is_never_passed(polarity: str, reason: str, text: str) -> None:
    found = claimed(text.replace("prove ", polarity))
    assert [words(each).split(": ", 2)[-1] for each in found.findings] == [reason]
    assert found.status == "undecided"
    assert not found.passed


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ((), f"{L}prove L == [c/8, (h, c%8)]"),
        (("`M` is defined: C%4 == 0",), "layout M(c) = [c] where C % 4 == 0\nlayout L(c) = [c]\n"
         "prove L == M"),
        ((), "layout M(c) = [c] where C % 4 == 0\nlayout L(c) = [c]\nprove M == L"),
        ((), "layout M(d) = [d] where D > 4\nlayout L(c) = [c] where C > 4\nprove L == M"),
        (("`M` is defined: C > 4",), "layout M(d) = [d] where D > 4\nlayout L(c) = [c]\n"
         "prove L == M"),
        (("the buffer starts at a multiple of 8 bytes",),
         f"{L}prove L aligns c%8 to 8 bytes of u8"),
        (("the buffer starts at a multiple of 4 bytes", "elements of u4 are packed, 2 to a byte"),
         f"{L}prove L aligns c%8 to 4 bytes of u4"),
        (("elements of u1 are packed, 8 to a byte",),
         f"{L}prove L fits int8 in bytes of u1 where C <= 8, H <= 9"),
        ((), f"{L}prove L offsets fit int8 in bytes of u8 where C <= 8, H <= 9"),
    ],
)  # fmt: skip
def test_a_proof_names_its_conditions(conditions: tuple[str, ...], text: str) -> None:
    found = claimed(text)
    (finding,) = found.findings
    assert found.status == "proved"
    assert finding.conditions == conditions
