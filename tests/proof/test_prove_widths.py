"""Widths of integers: sizes, offsets and intermediate values, in elements, bytes and bits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from cli_shell import Shell, shell
from proving import claimed, elements, shapes, words
from texts import LIBRARY, edge_shapes, layout, message, module

from layoutdsl import Claim, Layout

__all__ = ["shell"]

L = "layout L(c, h) = [c/8, h, c%8]\n"
F = "layout L(n, c, h, w) = [n, c/16, h, w, c%16] of f32\n"
Q = "layout L(c) = [c] of u4\n"
K = "layout L<k>(c) = [c/k, c%k]\n"

RIGHT = [
    f"{L}prove L fits 8 bits where C <= 16, H <= 15",
    f"{L}prove L fits uint8 in bytes of u8 where C <= 16, H <= 15",
    f"{L}prove L fits 10 bits in bytes of f32 where C <= 16, H <= 15",
    f"{L}prove L fits 7 bits in bytes of u4 where C <= 16, H <= 15",
    f"{L}prove L offsets fit 8 bits where C <= 16, H <= 16",
    f"{L}prove L offsets fit 10 bits in bytes of f32 where C <= 16, H <= 16",
    f"{L}prove L computes in 8 bits where C <= 16, H <= 16",
    f"{F}prove L fits int32 in bytes where N <= 4, C <= 64, H <= 32, W <= 32",
    f"{F}prove L computes in int32 where N <= 4, C <= 64, H <= 32, W <= 32",
    f"{Q}prove L fits uint8 in bytes where C <= 510",
    f"{Q}prove L offsets fit uint8 in bytes where C <= 512",
    f"{Q}prove L offsets fit 9 bits in bytes of u8 where C <= 512",
    f"{Q}prove L computes in uint8 where C <= 255",
    f"{K}prove L fits 6 bits where C <= 30, k <= 2",
    f"{K}prove L offsets fit 5 bits where C <= 15, k <= 2",
    f"{K}prove L computes in 5 bits where C <= 15, k <= 2",
    "layout L(n, c) = [c, n]\nprove L fits int32 where N*C < 2147483648",
    f"{F}prove L offsets fit int32 where N*C*H*W <= 134217728",
    f"{F}prove L offsets fit int32 in bytes where N*C*H*W <= 536870912, C % 16 == 0",
    f"{F}prove L computes in int32 where N*C*H*W < 2147483648, C % 16 == 0",
    "layout L(n, c) = [n*C + c : N*C]\nprove L computes in int32 where N*C < 2147483648",
    f"{L}prove L fits 8 bits where roundup(C, 8)*H <= 255",
    f"{L}prove L fits 10 bits in bytes of f32 where C*H <= 255, C % 8 == 0",
    f"{F}prove L fits int32 in bytes where N*C*H*W <= 536870911, C % 16 == 0",
    "layout L(c) = [c/16, c%16]\nprove L computes in uint8 where C <= 255",
    "layout L(c) = [c/16, c%16]\nprove L fits 128 bits where C <= 999999999999999999",
    "layout L(n, c) = [(n, c)/4, (n, c)%4] where N <= 9, C <= 9\nprove L offsets fit 7 bits",
    "layout L(c) = [c] offset 250 where C <= 6\nprove L offsets fit uint8",
    "layout L(r: 8, c: 64) = [r, c/8 ^ r, c%8]\nprove L offsets fit 9 bits",
]

WRONG = [
    f"{L}prove L fits 8 bits where C <= 16, H <= 16",
    f"{L}prove L fits uint8 in bytes of u8 where C <= 16, H <= 16",
    f"{L}prove L fits 10 bits in bytes of f32 where C <= 16, H <= 16",
    f"{L}prove L offsets fit 8 bits where C <= 16, H <= 17",
    f"{L}prove L offsets fit 10 bits in bytes of f32 where C <= 16, H <= 17",
    f"{L}prove L computes in 8 bits where C <= 16, H <= 17",
    f"{L}prove L fits 8 bits where roundup(C, 8)*H <= 256",
    f"{L}prove L fits 10 bits in bytes of f32 where C*H <= 256, C % 8 == 0",
    f"{L}prove L offsets fit int32",
    f"{F}prove L fits int32 in bytes",
    f"{F}prove L fits 24 bits in bytes where N <= 4, C <= 64, H <= 128, W <= 128",
    f"{F}prove L computes in int32",
    f"{F}prove L offsets fit int32 where N*C*H*W <= 134217729",
    f"{F}prove L computes in int32 where N*C*H*W < 2147483648",
    f"{F}prove L computes in int16 where N <= 4, C <= 64, H <= 32, W <= 32",
    f"{Q}prove L fits uint8 in bytes where C <= 511",
    f"{Q}prove L offsets fit uint8 in bytes where C <= 513",
    f"{Q}prove L offsets fit 8 bits in bytes of u8 where C <= 257",
    f"{K}prove L fits 4 bits where C <= 15, k <= 2",
    "layout L(c) = [c/16, c%16 : 100]\nprove L computes in uint8 where C <= 64",
    "layout L(c) = [c] offset 250 where C <= 7\nprove L offsets fit uint8",
    "layout L(r: 8, c: 64) = [r, c/8 ^ r, c%8]\nprove L offsets fit 8 bits",
    "layout L(c) = [C - 1 - c]\nprove L offsets fit 4 bits where C <= 17",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", RIGHT)
def test_right_widths_are_proved(text: str) -> None:
    found = claimed(text)
    assert [words(each) for each in found.findings] == ["proved"]
    assert not claimed(text.replace("prove ", "refute ")).passed


@pytest.mark.slow
@pytest.mark.sampled(24)
@pytest.mark.parametrize("text", WRONG)
def test_wrong_widths_are_refuted_and_replay(text: str, shell: Shell) -> None:
    found = claimed(text)
    claim, (finding,) = found.claim, found.findings
    assert isinstance(claim, Claim)
    assert found.status == "refuted"
    shape = dict(finding.example.shape)  # type: ignore[union-attr]
    assert all(each.holds(shape) for each in claim.ranged.where)
    (point,) = finding.example.points  # type: ignore[union-attr]
    bound = {**shape, **dict(point.index)}
    assert not holds_at(claim.layout, claim.text, bound, c_text(claim.layout, shell))
    assert claimed(text.replace("prove ", "refute ")).passed


def c_text(found: Layout, shell: Shell) -> str:
    """The offset as `layoutdsl formula` prints it in C."""
    declared = str(found)
    if declared not in C_TEXTS:
        Path("printed.layout").write_text(declared)
        ended = shell("formula", "printed.layout", "--as", "c")
        assert ended.code == 0, ended.err
        (C_TEXTS[declared],) = re.findall(r"_offset\(.*\n\{\n    return (.*);\n\}", ended.out)
    return C_TEXTS[declared]


C_TEXTS: dict[str, str] = {}
"""By declaration: each proof behind a text is found once."""


def values_of(text: str, bound: dict[str, int]) -> list[int]:
    """Every value that a C expression without conditionals works out, by Python's own parser."""
    seen: list[int] = []

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                result = number
            case ast.Name(id=name):
                result = bound[name]
            case ast.BinOp(left=left, op=operator, right=right):
                one, other = value(left), value(right)
                match operator:
                    case ast.Add():
                        result = one + other
                    case ast.Sub():
                        result = one - other
                    case ast.Mult():
                        result = one * other
                    case ast.Div():
                        assert one >= 0
                        result = one // other
                    case ast.Mod():
                        assert one >= 0
                        result = one % other
                    case _:
                        raise AssertionError(operator)
            case _:
                raise AssertionError(ast.dump(node))
        seen.append(result)
        return result

    value(ast.parse(text, mode="eval").body)
    return seen


WIDTH = re.compile(
    r"(fits|offsets fit|computes in) (?:(u?)int(\d+)|(\d+) bits)( in bytes(?: of [a-z]+(\d+))?)?"
)


def holds_at(found: Layout, claim: str, bound: dict[str, int], printed: str) -> bool:
    """Whether a claim holds at one index, counted out from its words."""
    said = WIDTH.search(claim)
    assert said is not None, claim
    form, unsigned, type_, plain, in_bytes, element = said.groups()
    is_signed = type_ is not None and not unsigned
    width = int(type_ or plain)
    largest = (1 << (width - is_signed)) - 1
    least = -largest - 1 if is_signed else 0
    if form == "computes in":
        return all(least <= each <= largest for each in values_of(printed, bound))
    bits = 0
    if in_bytes:
        named = re.search(r"\d+$", found.element.name) if found.element is not None else None
        bits = int(element or (named[0] if named else ""))
    offset = found.offset_at(bound)
    if form == "fits":
        size = found.size({name: bound[name] for name in found.symbols})
        return -(-size * (bits or 8) // 8) <= largest and offset >= 0
    if not bits:
        return 0 <= offset <= largest
    all_bits = range(offset * bits, (offset + 1) * bits)
    return all(0 <= bit // 8 <= largest for bit in all_bits)


def random_claims(random: Random) -> Iterator[str]:
    for _ in range(90):
        body = random.choice([
            "[c/4, h, c%4]", "[h, c]", "[c/4, c%4 : 6, h]", "[(c, h)/3, (c, h)%3]",
            "[c/2, h : H + 2, c%2]", "[h/2, c/8, c%8/2, h%2, c%2]", "[c, h] offset 5",
            "[c/6*2, h, c%6] of u4", "[h, c/4%2, c/8, c%4]",
        ])  # fmt: skip
        width = random.choice(["int8", "uint8", "5 bits", "6 bits", "9 bits"])
        measure = random.choice(["", "", " in bytes of u4", " in bytes of u8", " in bytes of f16"])
        form = random.choice(["fits {}{}", "offsets fit {}{}", "computes in {}"])
        where = random.choice([
            f"C <= {random.randint(1, 20)}, H <= {random.randint(1, 20)}",
            f"C*H <= {random.randint(1, 20)}",
        ])  # fmt: skip
        yield f"layout L(c, h) = {body}\nprove L {form.format(width, measure)} where {where}"


def agrees_with_brute_force(text: str, shell: Shell) -> str:
    claim = module(text).claims[-1]
    found, printed = claim.ranged, c_text(claim.layout, shell)
    holds = all(
        holds_at(found, claim.text, bound, printed)
        for values in shapes(found, 20, 400)
        for bound in elements(found, values)
    )
    status = claimed(text).status
    assert status == "undecided" or holds == (status == "proved"), text
    return status


@pytest.mark.slow
def test_random_widths_against_counting(shell: Shell) -> None:
    claims = list(random_claims(Random(5)))[::3]
    found = [agrees_with_brute_force(text, shell) for text in claims]
    assert {"proved", "refuted"} <= set(found)
    assert found.count("undecided") <= len(found) // 8


@pytest.mark.campaign
def test_many_random_widths_against_counting(shell: Shell) -> None:
    for seed in range(20):
        for text in random_claims(Random(seed)):
            agrees_with_brute_force(text, shell)


# Halves of differences divide what C would round towards zero, if it were ever negative.
# Masks are no part of what the reader of C's text here works out.
ASIDE = {
    *("LapackPackedLower", "Swizzle128", "Swizzle64", "Swizzle32"),
    *("GmmaKSw128", "GmmaKSw64", "GmmaKSw32"),
}
LARGER_ON_THE_WAY = {"LapackPackedUpper"}
"""Triangles are halves of products that may be twice as large."""

SPELLED = [name for name in LIBRARY if name not in ASIDE]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SPELLED)
def test_as_many_bits_as_c_needs_and_no_fewer(name: str, shell: Shell) -> None:
    """Every value on the way counts; of constants of the text only the claim may count some."""
    found = LIBRARY[name]
    printed = c_text(found, shell)
    numbers = {int(each) for each in re.findall(r"\b\d+\b", printed)}
    *_, values = [*shapes(found, 5, 60)] or edge_shapes(found)[:1]
    seen = {each for bound in elements(found, values) for each in values_of(printed, bound)} | set(
        values.values()
    )
    at_it = ", ".join(f"{key} == {value}" for key, value in values.items()) or "1 == 1"
    enough, least = max(seen).bit_length(), max((seen - numbers) | {1}).bit_length()
    claim = f"prove {name} computes in {{}} bits where {at_it}"
    assert claimed(claim.format(enough)).status == "proved"
    if least > 1:
        assert claimed(claim.format(least - 1)).status == "refuted"


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [each for each in SPELLED if not LIBRARY[each].parameters])
def test_31_bits_suffice_where_tensor_and_buffer_are_small_enough(name: str, shell: Shell) -> None:
    """2**12 elements are left for what a loop adds beyond the end of a row."""
    found = LIBRARY[name]
    tensor = "*".join(
        str(each).partition(": ")[2] or each.name.upper() for each in found.element_axes
    )
    (buffer,) = re.findall(r"^size = (.*)", shell("formula", name).out, re.MULTILINE)
    buffer = re.sub(r"\(-\(-(\w+)//(\w+)\)\)", r"ceil(\1/\2)", buffer)
    small = [f"{each} <= {2**31 - 2**12}" for each in (tensor, buffer)]
    claim = f"prove {name} computes in int32 where {', '.join(small)}"
    status = claimed(claim).status
    assert status == "undecided" if name in LARGER_ON_THE_WAY else status == "proved"


@pytest.mark.slow
def test_before_the_division_nothing_overflows() -> None:
    """`(C - 1)/16 + 1` holds where `C + 15` would not: at the largest value of the type."""
    at_the_end = "layout L(h, c) = [h, c/16, c%16]\nprove L computes in uint8 where H == 1, C <= {}"
    assert claimed(at_the_end.format(255)).status == "proved"
    assert claimed(at_the_end.format(256)).status == "refuted"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("may divide what is negative",
         "layout L(c) = [(C - 1 - c)/2, (C - 1 - c)%2]\nprove L computes in int8"),
        ("may round up what is not positive",
         "layout L(c, h) = [h, c : ceil((C - H)/4)*4]\nprove L computes in int8"),
        ("the range gives `H` no largest value",
         f"{L}prove L offsets fit int32 where C <= 9, H < 2*C"),
    ],
)  # fmt: skip
def test_what_is_not_decided_says_why(reason: str, text: str) -> None:
    (finding,) = claimed(text).findings
    assert words(finding).startswith("undecided")
    assert reason in words(finding)


@pytest.mark.parametrize(
    "text",
    ["fits 24 bits", "fits int32 in bytes", "fits 8 bits in bytes of bf16", "offsets fit uint16",
     "offsets fit 12 bits in bytes of u4", "computes in int32", "computes in 40 bits"],
)  # fmt: skip
def test_a_claim_is_printed_as_it_is_written(text: str) -> None:
    found = module(f"layout L(c) = [c] of u8\nprove L {text} where C <= 9")
    assert found.claims[0].text == f"prove L {text} where C <= 9"


def test_the_words_of_widths_are_names_elsewhere() -> None:
    text = "layout L(bits, bytes, fit, computes, offsets) = [bits, bytes, fit, computes, offsets]"
    assert len(layout(text).axes) == 5
    assert (
        len(module(f"{text}\nlayout offsets(c) = [c]\nprove offsets offsets fit int8").claims) == 1
    )


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("error[L301]: an integer has 1 to 128 bits", "prove L fits 0 bits"),
        ("error[L301]: an integer has 1 to 128 bits", "prove L offsets fit 129 bits"),
        ("error[L301]: there is no integer type `int33`", "prove L computes in int33"),
        ("error[L301]: `L` does not say how wide an element is", "prove L fits int32 in bytes"),
        ("error[L208]: there is no element type `f33`", "prove L fits int32 in bytes of f33"),
        ("error[L101]", "prove L fits 32"),
        ("error[L101]", "prove L offsets int32"),
        ("error[L101]", "prove L computes int32"),
    ],
)
def test_what_is_no_width(said: str, text: str) -> None:
    assert message(f"layout L(c) = [c]\n{text}").startswith(said)
