"""Kernels on bytes that say where they lie: every size of move, whole and in part, and every fault.

What is checked of each is `native/self_check.py`, which libraries check themselves by; faults are
put into `kernels.c`, and each has to be noticed.

C kernels are not proved but trusted, so each is tested alone, at every size.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path
from random import Random

import pytest
from native_cases import needs_compiler
from native_fuzz import MACHINE, RUNNER, WAYS, Way, instructions

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.kernels import UNITS, suits
from layoutdsl.code.native.kernel_text import Call, kernel_text
from layoutdsl.code.native.self_check import check_text
from layoutdsl.language.integers.expr import Constant

pytestmark = needs_compiler

KERNELS = ("plain", "tile", "grid", "zip", "unzip", "weave", "unweave", "gather", "shuffle")
GATHERED = (3, 6, 7, 12, 14, 24, 40, 63)
COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 80, 128)


def may(kernel: str, e: int, rows: int, columns: int) -> bool:
    """Whether a kernel may do such a move where what it wants together lies together."""
    apart = rows * columns * e + 64
    ro = columns * e if kernel in ("unzip", "unweave", "shuffle") else apart
    co = rows * e if kernel in ("zip", "weave", "shuffle") else apart
    tables = [(tree.Step(n, Constant(by)),) for n, by in ((rows, ro), (columns, co))]
    return suits(kernel, e, rows, columns, tables[0], tables[1])


GRID = tuple(
    Call(kernel, e, rows, columns, edged)
    for kernel in KERNELS
    for e in (GATHERED if kernel == "gather" else UNITS)
    for rows in COUNTS
    for columns in COUNTS
    for edged in (False, True)
    if rows * columns * e <= 1 << 13
    if may(kernel, e, rows, columns)
)


def first_wrong(
    calls: Collection[Call], way: Way, place: Path, change: tuple[str, str] | None = None
) -> Call | None:
    """The first of some kernels that does not do what it has to, or the first if all are killed.

    Args:
        calls: the kernels.
        way: how they are compiled.
        place: a folder.
        change: what is put into their text in place of something else.
    """
    text = kernel_text(calls)
    if change is not None:
        assert change[0] in text, change[0]
        text = text.replace(*change)
    lines = [text, *check_text("k", calls), "int main(void)", "{", "    return k_checked();", "}"]
    (place / "k.c").write_text("\n".join([*lines, ""]))
    options = ["-std=c11", "-O1", "-w", *way.options]
    command = [*way.compiler.split(), *options, "-o", str(place / "k"), str(place / "k.c")]
    subprocess.run(command, check=True, timeout=600)
    done = subprocess.run([*RUNNER.split(), str(place / "k")], check=False, timeout=600)
    number = done.returncode if 0 <= done.returncode < 128 else 1
    return sorted(calls)[number - 1] if number else None


def some(seed: int, count: int) -> list[Call]:
    """So many of the grid, some of each kernel."""
    random, each = Random(seed), count // len(KERNELS)
    return [
        call
        for kernel in KERNELS
        for call in random.sample([call for call in GRID if call.kernel == kernel], each)
    ]


@pytest.mark.slow
def test_kernels_do_what_they_have_to(tmp_path: Path) -> None:
    assert first_wrong(some(1, 18), MACHINE, tmp_path) is None


@pytest.mark.ci(1)
@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_in_all_ways(name: str, tmp_path: Path) -> None:
    calls = some(sum(name.encode()), 60)
    all_counts = Way((*WAYS[name].options, "-DLAYOUT_CHECK_ALL"), WAYS[name].compiler)
    assert first_wrong(calls, WAYS[name], tmp_path) is None
    assert first_wrong(calls[::10], all_counts, tmp_path) is None


@pytest.mark.campaign
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_whole_grid(name: str, kernel: str, tmp_path: Path) -> None:
    calls = [call for call in GRID if call.kernel == kernel]
    for first in range(0, len(calls), 40):
        assert first_wrong(calls[first : first + 40], WAYS[name], tmp_path) is None


TILE, WIDE, TALL = ("tile", 1, 64, 64), ("tile", 4, 16, 9), ("tile", 1, 256, 16)
SHORT, LOW, ACROSS = ("tile", 1, 7, 20), ("tile", 1, 20, 7), ("tile", 1, 20, 64)
WEAVE, UNWEAVE, FEW = ("weave", 1, 3, 64), ("unweave", 2, 64, 5), ("weave", 1, 3, 9)
EVEN, APART, BOTH = ("weave", 2, 8, 40), ("unweave", 16, 8, 4), ("weave", 1, 12, 64)
LONG, TOGETHER = ("weave", 16, 24, 3), ("unweave", 1, 80, 4)
ZIP, UNZIP = ("zip", 2, 4, 40), ("unzip", 2, 40, 4)
GRID64, GRID16 = ("grid", 1, 64, 48), ("grid", 2, 24, 40)
PLAIN, GATHER, FAR = ("plain", 2, 3, 5), ("gather", 12, 9, 4), ("gather", 40, 9, 4)
SPREAD, TWO_LANES = ("gather", 6, 9, 11), ("gather", 22, 5, 4)
LEFT, BLOCK, LINES = ("tile", 2, 43, 9), ("shuffle", 1, 7, 22), ("shuffle", 2, 7, 7)
X64, X32, X16, NONE = "this machine", "a x86-64-v3", "a x86-64", "no vectors"
SSSE3, ANY64 = "a x86-64-v2", "this machine, if any of 64 bytes are one instruction away"
WITH = {**WAYS, ANY64: MACHINE} if "__AVX512VBMI__" in instructions(*MACHINE.options) else WAYS
FAULTS = (
    # A network with a stage wrong, or one too few.
    (X64, TILE, "w[k / 2], w[k / 2 + vectors / 2]", "w[k / 2 + vectors / 2], w[k / 2]"),
    (X16, TILE, "zipped(e, k % 2,", "zipped(e, 0,"),
    (X32, TILE, "turns = n / across", "turns = n / across / 2"),
    (X32, ZIP, "turns = n / across", "turns = n"),
    (X16, UNZIP, "vectors = n / down", "vectors = n"),
    (X64, WIDE, "ZIPPED(v4, P2, 2)", "ZIPPED(v2, P4, 4)"),
    # Lanes in another order.
    (ANY64, TILE, "PAIR(l[2], l[3])", "PAIR(l[3], l[2])"),
    (X32, TILE, "(__m128i)l[1], 1)", "(__m128i)l[0], 1)"),
    (X64, ACROSS, "lanes[i], across", "lanes[i ^ 1], across"),
    # Steps from row to row, and from column to column; groups of them.
    (X64, GRID64, "(table[1] - table[0])", "(table[1] - table[0] + 1)"),
    (X64, GRID64, "STEP(to, m.co)", "STEP(to, m.ro)"),
    (X64, GRID64, "STEP(from, m.ro)", "from += m.even ? (uintptr_t)(C * e) : 0;"),
    (X64, GRID64, "STEP(to, m.co)", "to += m.even ? (uintptr_t)(R * e) : 0;"),
    (X64, GRID64, "at = i * n + (m.even ? 0 : k * down)", "at = m.even ? i : i * n + k * down"),
    (X32, GRID16, "*co = m.co + column", "*co = m.co"),
    (X16, GRID16, "*ro = m.ro + row", "*ro = m.ro"),
    # What is left, off by one; a row that is missing; a row too many.
    (X64, WIDE, "all - step : 0", "all - step - 1 : 0"),
    (X16, WIDE, "all - step : 0", "all - step + 1 : 0"),
    (X64, TILE, "at = i * n + (m.even", "at = i + (m.even"),
    (X64, UNZIP, "0 : k * down)", "0 : k)"),
    (X64, ZIP, "0 : k * across)", "0 : k)"),
    (X64, WIDE, "m.s + (uintptr_t)(column * e)", "m.s + (uintptr_t)column"),
    (X64, SHORT, "taken = R < n ? (R + down", "taken = R < n ? (R - 1 + down"),
    (X64, LOW, "given = C < vectors ? C", "given = C < vectors ? C - 1"),
    (X64, SHORT, "out = R < n ? R * e : 16", "out = 16"),
    # What is left of rows: none of it, some of no row, or too much of a line.
    (ANY64, LEFT, "if (left && ", "if (0 && "),
    (ANY64, LEFT, "whole * e < written", "whole * e + 16 < written"),
    (X64, TALL, "r < whole && r * e < written", "r < whole && r * e + 64 < written"),
    (ANY64, LEFT, "if (rows > 0)", "if (rows > -4)"),
    (ANY64, LEFT, "there = by > 0 && R < V / e ? R : V / e", "there = V / e"),
    (ANY64, LEFT, "least(by > 0 ? there * e : V, m", "least(V, m"),
    # What is too much of a unit, past the last row; too little of it.
    (X64, FAR, "r + 1 < R", "r < R"),
    (X32, GATHER, "e <= 16 ? 16 : e", "e <= 16 ? 8 : e"),
    (X64, FAR, "m.s + (uintptr_t)(c * e)", "m.s + (uintptr_t)c"),
    (X64, FAR, "least(e, m.read - c * e)", "e"),
    (X64, FAR, "written - k, 0)", "e - k, 0)"),
    # Units in other lanes, or left there; too much or too little of them.
    (ANY64, GATHER, "2 * turns == n ? 2 : 0", "0"),
    (ANY64, SPREAD, "turns > 1 && 2 * turns < n", "turns > 1"),
    (ANY64, TWO_LANES, "(l) == 32 ? (e) : (l)", "(l)"),
    (ANY64, SPREAD, "least(rows * e, m.written - row * e)", "rows * e"),
    (ANY64, SPREAD, "least(columns * e, m.read - column * e)", "columns * e"),
    # Lines of the wrong half of a block; units in another order; too much of the last line.
    (ANY64, BLOCK, "_mm512_movepi8_mask(at)", "0"),
    (ANY64, LINES, "* (C) + (b) / ((R) * (e))", "* (C) + (b) / (R)"),
    (ANY64, BLOCK, "least(64, size - 64 * k), m.stream", "64, m.stream"),
    # Bytes woven wrongly.
    (X64, WEAVE, "(ANY * (j) + (b)) / (e) % (k)", "((ANY * (j) + (b)) / (e) + 1) % (k)"),
    (X64, WEAVE, "/ (e) / (k) * (e) + (b) % (e)", "/ (e) / (k) * (e) + ((b) == 7)"),
    (SSSE3, UNWEAVE, "((b) / (e) * (k) + (j))", "((b) / (e) * (k) + 1)"),
    (ANY64, WEAVE, "_mm512_set1_epi8((char)i)", "_mm512_set1_epi8((char)(i == 2 ? 1 : i))"),
    (X64, UNWEAVE, "m.co[k] + row * e", "m.co[k]"),
    (X64, FEW, "written - ANY * k,", "written - ANY * k + 1,"),
    (X64, FEW, "m.all_out && columns * e == ANY", "m.all_out"),
    # Vectors zipped wrongly, in another order, or too seldom.
    (X64, EVEN, "k % 2, w[k / 2], w[k / 2 + n / 2]", "k % 2, w[k / 2], w[k / 2]"),
    (ANY64, EVEN, "MIXED(any2, P16, Q32, 32)", "MIXED(any2, P16, Q32, 31)"),
    (X16, EVEN, "MIXED(any2, P4, Q8, 8)", "MIXED(any2, P4, Q8, 7)"),
    (X64, APART, "mixed(e, 1, k >= n / 2,", "mixed(e, 1, 0,"),
    (X64, BOTH, "left * zips + k / span / left * span", "left * zips + k % zips * span"),
    (ANY64, BOTH, "(of) % 2 * 64", "(of) / 2 * 64"),
    (X64, LONG, "span = e * zips < ANY ? 1 : e * zips / ANY", "span = 1"),
    # Masks that are wrong by a byte, or by an item.
    (X64, TILE, "m.read - column * e", "m.read - column * e - 1"),
    (X64, WIDE, "m.read - column * e", "m.read - column * e + 1"),
    (X64, TILE, "m.written - row * e", "m.written - row * e + 1"),
    (X64, EVEN, "(m.columns - column) * R * e", "(m.columns - column) * R * e + 1"),
    (X64, ZIP, "across > 1 ? left : ", ""),
    (X64, UNZIP, "down > 1 ? left : ", ""),
    (X64, UNZIP, "m.rows - row - at) * C * e", "m.rows - row - at) * C * e + 1"),
    (X64, ZIP, "(m.columns - column - at) * R * e", "(m.columns - column - at) * R * e - 1"),
    # Bytes of the last number wrong, or of the first; fill in place of them.
    (
        X32,
        SHORT,
        "UP(number(p + (uintptr_t)(n - size), size), n - size)",
        "UP(number(p + size, size), n - size)",
    ),
    (X32, SHORT, "DOWN(d, n - size)", "DOWN(d, n - size - 1)"),
    (
        X16,
        SHORT,
        "DOWN(number(p + (uintptr_t)(n - 8), 8), 16 - n)",
        "DOWN(number(p + 8, 8), 16 - n)",
    ),
    (X16, LOW, "DOWN(both[0], n - 8) |", ""),
    (X16, LOW, "UP(both[1], 16 - n)", "UP(both[1], 15 - n)"),
    (X32, TILE, "(places >= (w16){0}", "(places > (w16){0}"),
    (X32, WIDE, "lanes[1], n - 16)", "lanes[1], n - 15)"),
    (X32, ACROSS, "GET16(p + 16, n - 16, rest)", "GET16(p + 16, n - 15, rest)"),
    (X64, TOGETHER, "(m.rows - row) * C * e", "(m.rows - row) * C * e - 1"),
    (X64, TOGETHER, "least(rows * e, m.written - row * e)", "least(rows * e, m.written)"),
    (X64, WEAVE, "((together) == 1 && (is_all))", "((together) == 1)"),
    # Rows and columns that are not there.
    (X64, TILE, "masked && r < m->rows", "masked && r <= m->rows"),
    (X64, TILE, "masked && c < m->columns", "masked && c <= m->columns"),
    (X64, TILE, "(m->rows == R && (masked", "((masked"),
    (X64, TILE, "(m.rows == (R) && m.read == (C) * (e))", "(m.rows == (R))"),
    (X64, TILE, "(m.columns == (C) && m.written == (R) * (e))", "(m.columns == (C))"),
    (NONE, PLAIN, "line, m->rest, size)", "line, m->rest, size - 1)"),
    (NONE, PLAIN, "r < m->rows ? m->read : 0", "r <= m->rows ? m->read : 0"),
    (NONE, PLAIN, "out + c * (R) * (e), written)", "out + c * (R) * (e), written - 1)"),
    (NONE, PLAIN, "m.co[c] + r * e", "m.co[c] + r"),
    # A store past the cache that is not aligned.
    (ANY64, ("tile", 1, 128, 16), "stream && q % size == 0", "stream && q % 16 == 0"),
    (X32, ("tile", 2, 24, 8), "stream && q % size == 0", "stream && q % 16 == 0"),
)


def test_steps_take_what_lies_evenly_apart_and_nothing_else() -> None:
    """In groups of 16 bytes at least; of other tables each offset is looked up."""

    def table(*radixes: int) -> tree.Table:
        return tuple(tree.Step(radix, Constant(1000**k)) for k, radix in enumerate(radixes, 1))

    for rows, columns, may_step in (
        (table(48), table(48), True),
        (table(16, 3), table(32, 2), True),
        (table(48), table(3, 16), False),
        (table(24, 2), table(48), False),
        (table(1), table(48), False),
    ):
        sizes = tree.length(rows), tree.length(columns)
        assert suits("grid", 1, *sizes, rows, columns) is may_step
        assert suits("tile", 1, *sizes, rows, columns)


@pytest.mark.slow
@pytest.mark.sampled(22)
@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_no_fault_goes_unseen(number: int, tmp_path: Path) -> None:
    way, sizes, old, new = FAULTS[number]
    if way not in WITH:
        pytest.skip(f"no {way}")
    calls = [Call(*sizes, edged) for edged in (False, True)]
    assert first_wrong(calls, WITH[way], tmp_path) is None
    assert first_wrong(calls, WITH[way], tmp_path, (old, new)) is not None
