"""Banks of shared memory: against tensor-layouts, against plain counting, and as a claim."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from bank_counts import counted
from cli_shell import Shell, shell
from picture_pages import read

import layoutdsl
from layoutdsl import Layout, LayoutError, library, parse

__all__ = ["shell"]

WIDTHS = {1: "u8", 2: "f16", 4: "f32"}


@dataclass(frozen=True)
class Case:
    """A tile in which rows have a pitch, or are swizzled, and what each of 32 threads reads.

    Threads go down ``down`` rows first, then ``step`` elements to the right.
    """

    columns: int
    pitch: int
    block: int
    mask: int
    down: int
    step: int
    size: int
    element: int

    @property
    def text(self) -> str:
        rows = f"layout L(y: {self.down}, x: {self.columns}) ="
        if self.mask == 1:
            return f"{rows} [y, x : {self.pitch}]"
        return f"{rows} [y, x/{self.block} ^ y%{self.mask}, x%{self.block}]"

    @property
    def layout(self) -> Layout:
        return parse(self.text)["L"]

    @property
    def thread(self) -> str:
        return f"y = t%{self.down}, x = t/{self.down}*{self.step}"

    def theirs(self, package: Any) -> Any:
        """The same by the algebra of tensor-layouts: threads, and values side by side."""
        threads, values = (self.down, 32 // self.down), self.size // self.element
        plain = package.Layout((threads, values), ((self.pitch, self.step), 1))
        bits, base = self.mask.bit_length() - 1, self.block.bit_length() - 1
        if bits == 0:
            return plain
        apart = self.columns.bit_length() - 1 - base
        return package.compose(package.Swizzle(bits, base, apart), plain)


def drawn(random: Random) -> Case:
    element = random.choice((1, 2, 4))
    size = random.choice([each for each in (1, 2, 4, 8, 16) if each >= element])
    values, down = size // element, random.choice((1, 2, 4, 8, 16, 32))
    step = values * random.choice((1, 1, 2))
    columns = max(32, 32 // down * step) * random.choice((1, 2))
    if random.random() < 0.5:
        pitch = columns + values * random.choice((0, 0, 1, 2, 3))
        return Case(columns, pitch, 1, 1, down, step, size, element)
    block = values * random.choice((1, 2, 4))
    most = columns // block
    mask = random.choice([each for each in (2, 4, 8) if each <= most] or [1])
    return Case(columns, columns, block, mask, down, step, size, element)


def offsets(case: Case) -> list[int]:
    """Where each of 32 threads begins, by the meaning."""
    layout = case.layout
    return [layout.offset((t % case.down, t // case.down * case.step), {}) for t in range(32)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("part", range(10))
def test_they_are_those_of_tensor_layouts(part: int) -> None:
    """200 tiles: each phase has as many ways and the same threads at each bank."""
    package = pytest.importorskip("tensor_layouts")
    analysis = pytest.importorskip("tensor_layouts.analysis")
    for seed in range(20 * part, 20 * part + 20):
        case = drawn(Random(seed))
        told = layoutdsl.banks(
            case.layout, thread=case.thread, bytes=case.size, of=WIDTHS[case.element]
        )
        mine, theirs = told.banks, case.theirs(package)
        found = analysis.per_group_bank_conflicts(
            theirs, element_bytes=case.element, group_size=mine.together
        )
        assert len(mine.phases) == len(found["groups"])
        for phase, group in zip(mine.phases, found["groups"], strict=True):
            assert max(map(len, phase.values())) == group["max_ways"]
            served = {
                bank: {each.thread for word in words.values() for each in word}
                for bank, words in phase.items()
            }
            assert served == {bank: set(who) for bank, who in group["bank_to_threads"].items()}
        assert mine.ways == found["worst_max_ways"]
        fetched = analysis.segment_analysis(theirs, element_bytes=case.element)
        assert (mine.sectors, mine.lines) == (fetched["segments"], fetched["cache_lines"])
        assert mine.wanted_bytes == fetched["unique_bytes"]


def begins(case: Case) -> list[int]:
    """The byte at which each of 32 threads begins."""
    return [each * case.element for each in offsets(case)]


@pytest.mark.slow
def test_wide_reads_go_in_phases() -> None:
    seen = set()
    for seed in range(100):
        case = drawn(Random(seed))
        given = {"thread": case.thread, "bytes": case.size, "of": WIDTHS[case.element]}
        found = layoutdsl.banks(case.layout, **given).banks  # type: ignore[arg-type]
        assert (found.ways, found.cycles) == counted(begins(case), case.size)
        seen.add((case.size, found.ways > 1))
    assert len(seen) == 10


def test_what_is_known_of_swizzles() -> None:
    thread = "m = t%8, k = t/8*8"
    assert layoutdsl.banks(library("GmmaKSw128"), thread=thread, bytes=16).banks.cycles == 4
    rows = parse("layout Rows(m: 8, k: 64) = [m, k] of f16")["Rows"]
    assert layoutdsl.banks(rows, thread=thread, bytes=16).banks.ways == 8
    square = parse("layout S(y: 32, x: 32) = [y, x]\nlayout X(y: 32, x: 32) = [y, x ^ y]")
    assert layoutdsl.banks(square["S"], thread="y = t, x = 0", of="f32").banks.ways == 32
    assert layoutdsl.banks(square["X"], thread="y = t, x = 0", of="f32").banks.ways == 1
    assert layoutdsl.banks(square["S"], thread="y = 0, x = 0", of="f32").banks.ways == 1


# Claims.

TEXT = """\
layout Rows(m: 8, k: 64) = [m, k] of f16
layout Sw(m: 8, k: 64) = [m, k/8 ^ m, k%8] of f16
layout Open(m, k) = [m, k]
prove Sw reads 16 bytes by t: 32 at (m = t%8, k = t/8*8) without conflicts
refute Rows reads 16 bytes by t: 32 at (k = t/8*8, m = t%8) without conflicts
refute Rows reads 16 bytes by t: 8 at (m = t, k = 1) without conflicts
refute Rows reads 16 bytes by t: 9 at (m = t, k = 0) without conflicts
prove Open reads 4 bytes of f32 by t: 32 at (m = 0, k = t) without conflicts where M <= 2, K == 32
refute Open reads 4 bytes of f32 by t: 32 at (m = t, k = 0) without conflicts where M >= 32
"""


def test_claims() -> None:
    module = parse(TEXT)
    found = layoutdsl.prove(module.claims).checked
    assert [each.passed for each in found] == [True] * 6
    (proved,) = found[0].findings
    assert found[0].status == "proved"
    assert proved.conditions == ("the buffer starts at a multiple of 16 bytes",)  # type: ignore[union-attr]
    (refuted,) = found[1].findings
    assert found[1].status == "refuted"
    example = refuted.example  # type: ignore[union-attr]
    assert example.sentence == "`Rows` is read with conflicts: 8-way, in bank 0"
    assert [each.words for each in example.points] == [
        "-> offset 0, bytes 0..15, for thread 0",
        "-> offset 64, bytes 128..143, for thread 1",
    ]


@pytest.mark.slow
def test_open_extents_are_undecided_where_nothing_is_found() -> None:
    text = TEXT.splitlines()[2] + (
        "\nprove Open reads 4 bytes of f32 by t: 32 at (m = 0, k = t) without conflicts"
        " where K >= 32"
    )
    (finding,) = layoutdsl.prove(parse(text).claims).checked[0].findings
    assert finding.reason.endswith("has too many shapes: add `where M == 64`")  # type: ignore[union-attr]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(4))
def test_claims_say_what_is_counted(part: int) -> None:
    found = set()
    for seed in range(20 * part, 20 * part + 20):
        case = drawn(Random(seed))
        claim = f"prove L reads {case.size} bytes of {WIDTHS[case.element]} by t: 32 at"
        module = parse(f"{case.text}\n{claim} ({case.thread}) without conflicts")
        status = layoutdsl.prove(module.claims).status
        assert status == ("proved" if counted(begins(case), case.size)[0] == 1 else "refuted")
        found.add(status)
    assert len(found) == 2


@pytest.mark.slow
def test_claims_are_looked_at_again(shell: Shell) -> None:
    """A certificate of such a claim has no proof: all shapes are tried again."""
    Path("banks.layout").write_text(TEXT)
    assert shell("prove", "banks.layout", "--write", "--into", "kept").code == 0
    again = shell("recheck", "banks.layout", "--dir", "kept")
    assert again.code == 0, again.err + again.out
    wrong = TEXT.replace("k/8 ^ m, k%8", "k/8, k%8")
    Path("banks.layout").write_text(wrong)
    assert shell("recheck", "banks.layout", "--dir", "kept").code == 1


WRONG = [
    ("reads 3 bytes by t: 32 at (m = t%8, k = 0)", "a thread reads 1, 2, 4, 8 or 16 bytes at once"),
    ("reads 4 bytes by t: 0 at (m = t%8, k = 0)", "there are 1 to 1024 threads"),
    ("reads 4 bytes by T: 32 at (m = 0, k = 0)", "the thread `T` is not in lower case"),
    ("reads 4 bytes by m: 32 at (m = 0, k = 0)", "the layout already has the name `m`"),
    ("reads 4 bytes by t: 32 at (m = t%8)", "the start index along `k` is missing"),
    ("reads 4 bytes by t: 32 at (m = t%8, k = 0, m = 0)", "axis `m` "),
    ("reads 4 bytes by t: 32 at (m = t%8, q = 0)", "`Rows` has no axis `q`"),
    ("reads 4 bytes of f17 by t: 32 at (m = t%8, k = 0)", "there is no element type `f17`"),
    ("reads 4 bytes by t: 32 at (m = k, k = 0)", "`k`"),
]


@pytest.mark.parametrize(("claim", "words"), WRONG, ids=[each for each, _ in WRONG])
def test_claims_that_say_nothing(claim: str, words: str) -> None:
    text = f"layout Rows(m: 8, k: 64) = [m, k] of f16\nprove Rows {claim} without conflicts"
    with pytest.raises(LayoutError) as raised:
        parse(text)
    assert words in str(raised.value)


def test_claims_are_printed_as_they_are_read(shell: Shell) -> None:
    printed = shell("print", "-", stdin=TEXT.encode()).out
    assert parse(printed).all_claims == parse(TEXT).all_claims
    assert TEXT.splitlines()[3] in printed


# In the shell.


def test_the_shell(shell: Shell) -> None:
    ended = shell("banks", "GmmaKSw128", "--thread", "m = t%8, k = t/8*8", "--bytes", "16")
    assert (ended.code, ended.out) == (
        0,
        "`GmmaKSw128`: 32 threads read 16 bytes each, 8 at a time\n"
        "without conflicts: 4 cycles\n"
        "from global memory: 16 sectors of 32 bytes, in 8 lines of 128\n"
        "  512 of 512 bytes are wanted, 100%\n",
    )
    column = ("banks", "NCHW", "--shape", "1,1,32,32", "--of", "f32", "--thread")
    ended = shell(*column, "n=0, c=0, h=t, w=0")
    assert (ended.code, ended.out) == (
        1,
        "`NCHW` at shape N=1 C=1 H=32 W=32: 32 threads read 4 bytes each\n"
        "32-way conflicts: 32 cycles, and 1 without\n"
        "  bank 0:\n"
        "    thread 0 at (n=0, c=0, h=0, w=0) reads bytes 0..3\n"
        "    thread 1 at (n=0, c=0, h=1, w=0) reads bytes 128..131\n"
        "from global memory: 32 sectors of 32 bytes, in 32 lines of 128\n"
        "  128 of 1024 bytes are wanted, 12%\n",
    )
    ended = shell(*column, "n=0, c=0, h=t, w=0", "--as", "svg")
    assert ended.code == 1
    labels = [each.text for each in ElementTree.fromstring(ended.out).iter() if each.text]
    assert [str(each) in labels for each in range(32)] == [True] * 32
    ended = shell(*column, "n=0, c=0, h=t, w=0", "--as", "html", "-o", "b.html")
    page = read(Path("b.html").read_text("utf-8"))
    assert len(page.buffer) == 32 * 32
    assert [each.keys for each in page.buffer if each.keys] == [[t] for t in range(32)]
    assert len([each for each in page.buffer if "s" in each.kinds]) == 31


@pytest.mark.parametrize(
    ("thread", "words"),
    [
        ("n=0, c=0, h=t, w=t+1", "thread 31 reads at w=32, outside 0..31"),
        ("n=0, c=0, h=t, w=0) without conflicts where (N == 1", "--thread"),
        ("n=0, c=0, h=t", "the start index along `w` is missing"),
        ("", "expected"),
    ],
)
def test_what_the_shell_refuses(shell: Shell, thread: str, words: str) -> None:
    ended = shell("banks", "NCHW", "--shape", "1,1,32,32", "--of", "f32", "--thread", thread)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
