"""A text in the usual spelling: the same words and remarks, the same again, as the library is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import random_declarations
import random_layouts
import random_records
from cli_shell import Shell, shell
from pygments.token import Comment
from respelled import respelled
from statements import STATEMENTS

from layoutdsl.pygments import LayoutLexer

__all__ = ["shell"]

HERE = Path(__file__).parents[1]
PACKAGE = HERE.parent / "layoutdsl"
WIDTH = 100
"""Longer declarations are broken at their clauses, as `format --help` says."""

RULES = [
    each.strip()
    for path in sorted(PACKAGE.glob("graphs/*/*.layout"))
    for each in re.findall(
        r"^(?:rule|op|prefer|layout)\b.*\n(?:[ \t].*\n)*", path.read_text("utf-8"), re.MULTILINE
    )
]
OTHERS = [
    'group "**.w" = Q4_0(d = "{}.scales", q = "{}.qweight") as "{}.packed"',
    'tensor "**.norm" = keep',
    'tensor "**.w"(r, k) = [r/8, k, r%8] from words u32 of GptqWeights of u4 fill any',
    'tensor "x" = onednn "aBcd16b" offset -3 where N in 1..64, 1 <= C < 9',
    "record R<k>(r, k) = { d(r, (s: K/64, 1 : 2)) bits 0..3 = [r, s] of u4 } where K % 2 == 0",
    "table T<k>(n, c)[j: N*(C + 3)/4, i: (n, 2 : 3)] = (n = j, c = -j%C + max(1, 2)) where N != 1",
    "prove Q6_K.scale(r, j) aligns (r, j : 3)/2, ceil(r/2) to 64 bytes of f32 where R < 3",
    "prove A<16>== B<k> where N//2 <= -3 & 7 << 2 ^ 1, N-M in -1..+4",
    "rule Gelu, com.x::FastGelu(x[..]*, a?[n, c: sum, s..: window, ..: max], b?*) -> [..], y, "
    "z[m]* with axis = -1: whole, keep: keep where axis == -1",
    "op Conv(x: NCHW<16>, b?: Vec16) -> NCHW<4>, NHWC where group > 1, C % (16*group) == 0",
    "layout A(c) = B<3> fill -1 of u8 as scale_offset per c offset -(3 - C)",
]


def texts(random: Random) -> str:
    """Some declarations, of any kind."""
    kinds = (
        lambda: random_declarations.drawn(random),
        lambda: random_declarations.any_arithmetic(random),
        lambda: random_layouts.line(random),
        lambda: random_records.drawn(random).text,
        lambda: random.choice(STATEMENTS),
        lambda: random.choice(OTHERS),
        lambda: random.choice(RULES),
    )
    return "\n".join(random.choice(kinds)() for _ in range(random.randint(1, 2)))


def words(text: str) -> list[str]:
    """The words and signs of a text, as the highlighter tells them apart, without remarks."""
    found = LayoutLexer().get_tokens(text)
    return [each for kind, each in found if not each.isspace() and kind not in Comment]


def remarks(text: str) -> list[str]:
    return [each.rstrip() for kind, each in LayoutLexer().get_tokens(text) if kind in Comment]


def formatted(shell: Shell, text: str) -> str:
    """What `layoutdsl format -` makes of a text."""
    ended = shell("format", "-", stdin=text.encode())
    assert (ended.code, ended.err) == (0, ""), text
    return ended.raw.decode()


def tried(shell: Shell, seed: int) -> None:
    random = Random(seed)
    right = texts(random)
    other = respelled(random, right, random.choice((0.0, 0.02, 0.2)))
    found = formatted(shell, other)
    assert words(found) == words(other) == words(right), seed
    assert remarks(found) == remarks(other), seed
    assert formatted(shell, found) == found, seed
    lines = found.split("\n")
    assert not any(re.search(r"[ \t\f]\r?$", each) for each in lines if '"' not in each), seed
    assert not re.search(r"\n\r?\n\r?\n|\A\s|[^\n]\Z", found), seed


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(0, 120, 30))
def test_any_spelling_becomes_one_that_stays(shell: Shell, first: int) -> None:
    for seed in range(first, first + 30):
        tried(shell, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(120, 10120, 500))
def test_any_spelling_becomes_one_that_stays_campaign(shell: Shell, first: int) -> None:
    for seed in range(first, first + 500):
        tried(shell, seed)


@pytest.mark.slow
def test_blanks_alone_are_no_matter(shell: Shell) -> None:
    """Without remarks, and where a record opens its line alike, all spellings become one."""
    random = Random(7)
    for _ in range(30):
        right = texts(random)
        other = respelled(random, right, 0)
        if "{" not in right and "#" not in right + other:
            flat = re.sub(r"\n\s*\n", "\n", formatted(shell, right))
            again = formatted(shell, other).replace("\r", "")
            assert re.sub(r"\n\s*\n", "\n", again) == flat


@pytest.mark.slow
def test_what_comes_along_is_spelt_so(shell: Shell) -> None:
    done = shell("format", "--check", str(PACKAGE))
    assert (done.code, done.out) == (0, ""), done.err
    assert len(list(PACKAGE.rglob("*.layout"))) >= 20


def blocks() -> Iterator[Any]:
    for page in sorted([HERE.parent / "README.md", *(HERE.parent / "docs").glob("*.md")]):
        if page.name == "editors.md":
            continue  # it shows how a text was before
        text = page.read_text(encoding="utf-8")
        found = re.findall(r"^```layout[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for number, block in enumerate(found):
            yield pytest.param(block, id=f"{page.name}-{number}")


@pytest.mark.parametrize("block", list(blocks()))
def test_pages_are_spelt_so(shell: Shell, block: str) -> None:
    assert formatted(shell, block) == block


@pytest.mark.slow
def test_what_is_printed_is_spelt_so(shell: Shell) -> None:
    """`print` and `format` agree on blanks, but for a `%` in a condition."""
    tried = 0
    for path in sorted(PACKAGE.glob("language/library/*.layout"))[::3]:
        for printed in shell("print", str(path)).out.splitlines(keepends=True):
            if len(printed) <= WIDTH and "where" not in printed:
                assert formatted(shell, printed) == printed
                tried += 1
    assert tried > 40


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n\n  \n", ""),
        ("\n# only a remark", "# only a remark\n"),
        ("layout A(c)=[c/4,c  %4]", "layout A(c) = [c/4, c%4]\n"),
        ("prove A prove B", "prove A\nprove B\n"),
        (
            "layout A(c) # x\n =\n# y\n[c]",
            "layout A(c)  # x\n    =\n    # y\n    [c]\n",
        ),
        (
            "record R(r,k)={d(r)=[r] of u8 qq(r)=[r:4]}",
            "record R(r, k) = { d(r) = [r] of u8 qq(r) = [r : 4] }\n",
        ),
        (
            "record R(r,k)={\nd(r)=[r] of u8 qq(r)=[r:4]\n# z\n}",
            "record R(r, k) = {\n    d(r)  = [r]     of u8\n    qq(r) = [r : 4]\n    # z\n}\n",
        ),
        ('prove A\ntensor "a\r\nb"=keep', 'prove A\ntensor "a\r\nb" = keep\n'),
        ("prove A\r\nprove B", "prove A\r\nprove B\r\n"),
    ],
)
def test_examples(shell: Shell, text: str, expected: str) -> None:
    assert formatted(shell, text) == expected


def test_long_lines_end_at_their_clauses(shell: Shell) -> None:
    body = ", ".join(f"{each}/16" for each in "abcdefgh")
    text = f"layout A(a, b, c, d, e, f, g, h) = [{body}] of u4 where A % 16 == 0"
    first, second = formatted(shell, text).splitlines()
    assert second == "    where A % 16 == 0"
    assert len(first) <= WIDTH
    product = "*".join("a" * 17)
    named = f"prove A == x + y + a/16 + b/16 with x = {product}, y = {product} where N > 1"
    assert formatted(shell, named).splitlines() == [
        "prove A == x + y + a/16 + b/16",
        f"    with x = {product}, y = {product} where N > 1",
    ]


@pytest.mark.slow
def test_texts_of_any_size_take_no_longer_than_to_read_them(shell: Shell) -> None:
    names = ", ".join(f"a{each}" for each in range(60))
    text = f"layout Wide({names}) = [{names}]\n" * 20
    assert len(formatted(shell, text)) > len(text)


def test_files_are_written_where_they_change(shell: Shell) -> None:
    Path("a").mkdir()
    Path("a/one.layout").write_bytes(b"\xef\xbb\xbflayout A(c)=[c]\r\n# \xc3\xa9\r\n")
    Path("a/two.layout").write_text("layout B(c) = [c]\n", encoding="utf-8")
    Path("a/one.layout").chmod(0o640)
    Path("link.layout").symlink_to("a/one.layout")
    done = shell("format", "--check", "a", "link.layout")
    assert (done.code, done.out) == (1, "")
    assert "would be written anew: a/one.layout" in done.err
    done = shell("format", "link.layout", "a/two.layout")
    assert (done.code, done.out, done.err) == (
        0, "wrote link.layout\n", "1 of 2 texts changed\n",
    )  # fmt: skip
    assert Path("link.layout").is_symlink()
    written = Path("a/one.layout")
    assert written.read_bytes() == b"\xef\xbb\xbflayout A(c) = [c]\r\n# \xc3\xa9\r\n"
    assert written.stat().st_mode & 0o777 == 0o640
    assert shell("format", "--check", "a").code == 0


def test_what_would_change_is_shown(shell: Shell) -> None:
    done = shell("format", "--diff", "-", stdin=b"layout A(c)=[c]\nprove A\n")
    assert done.code == 0
    assert done.out.splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        "-layout A(c)=[c]",
        "+layout A(c) = [c]",
        " prove A",
    ]
    assert shell("format", "--diff", "--check", "-", stdin=b"prove A").code == 1


def test_the_standard_input_is_printed(shell: Shell) -> None:
    done = shell("format", "-", stdin=b"layout A(c)=[c]# x")
    assert (done.code, done.out, done.err) == (0, "layout A(c) = [c]  # x\n", "")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "there is nothing to format"),
        (("none.layout",), 4, "`none.layout` cannot be read"),
        (("empty",), 2, "`empty` has no file that ends in .layout"),
        (("wrong.layout", "demo.layout"), 2, "error[L101]"),
        (("bytes.layout",), 4, "is not UTF-8"),
        (("locked.layout",), 4, "protected from being written"),
    ],
)
def test_what_is_refused_stays(
    shell: Shell, words: tuple[str, ...], code: int, message: str
) -> None:
    if words == ("locked.layout",) and os.geteuid() == 0:
        pytest.skip("the superuser may write everything")
    Path("empty").mkdir()
    Path("wrong.layout").write_text("layout A(c)=[c", encoding="utf-8")
    Path("bytes.layout").write_bytes(b"# \xff")
    Path("locked.layout").write_text("layout A(c)=[c]", encoding="utf-8")
    Path("locked.layout").chmod(0o444)
    before = {each: each.read_bytes() for each in Path().glob("*.layout")}
    done = shell("format", *words)
    assert done.code == code
    assert message in done.err
    assert {each: each.read_bytes() for each in Path().glob("*.layout")} == before


def test_a_text_that_grows_too_long_is_refused(shell: Shell) -> None:
    text = f"prove A=={'+'.join('b' * 99)}\n" * 5 + "#" * (256 * 1024 - 1100)
    done = shell("format", "-", stdin=text.encode())
    assert (done.code, done.out) == (2, "")
    assert "characters" in done.err
