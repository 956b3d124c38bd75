"""What is moved and filled without a kernel: bytes that lie together, of every length and place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from native_cases import needs_compiler
from native_fuzz import MACHINE, RUNNER, WAYS, Way

from layoutdsl.codegen.native.kernel_text import kernel_text

pytestmark = needs_compiler

KNOWN = (1, 3, 15, 16, 17, 63, 64, 65, 100, 384, 1024, 1500, 2048, 2049)
PROGRAM = """
#include <stdlib.h>
enum { MOST = 2400, ROOM = MOST + 512 };
static uint8_t source[ROOM], target[ROOM], rest[16];
static void begin(void) { memset(target, 0xA5, ROOM); }
/* Whether n bytes at `to` are those at `from`, or the fill, and no others were touched. */
static void held(int64_t n, int to, int from)
{
    for (int k = 0; k < ROOM; k++) {
        const int at = k - to, there = at >= 0 && at < n;
        const uint8_t wanted = from >= 0 ? source[there ? from + at : 0] : rest[(at & 15)];
        if (target[k] != (there ? wanted : 0xA5))
            exit(1);
    }
}
#define PLACES(body) \\
    for (int to = 64; to < 128; to += 7) \\
        for (int from = 128; from < 192; from += 9) { begin(); body; held(n, to, from); }
#define KNOWN(n_) { const int64_t n = n_; PLACES(run(target + to, source + from, n_, 0)) \\
    PLACES(run(target + to, source + from, n_, 1)) }
int main(void)
{
    for (int k = 0; k < ROOM; k++)
        source[k] = (uint8_t)((k * 167 + k / 251) % 165);
    for (int64_t n = 0; n < MOST; n += 1 + n / 300) {
        for (volatile int past = 0; past < 2; past++)
            if (past) PLACES(run(target + to, source + from, n, 1))
            else PLACES(run(target + to, source + from, n, 0))
        if (n < 600) PLACES(copied(target + to, source + from, n))
    }
    for (int size = 1; size <= 8; size *= 2) {
        for (int k = 0; k < 16; k++)
            rest[k] = (uint8_t)(k % size + 7);
        for (int64_t n = 0; n < 700; n += size)
            for (int to = 64; to < 128; to += size)
                begin(), filled(target + to, rest, n), held(n, to, -1);
    }
    @KNOWN@
    return 0;
}
"""
FAULTS = (
    ("else if (k < n)", "else if (k + 1 < n)"),
    ("memcpy(d + n - V, s + n - V, V)", "memcpy(d + n - V, s + n - V, V - 1)"),
    ("(int64_t)(-(uintptr_t)d % V)", "(int64_t)((uintptr_t)d % V)"),
    ("memcpy(d + k, s + k, (size_t)(n - k));\\n            return", "return"),
    ("n >= 8 ? FILLED(8)", "n >= 8 ? FILLED(4)"),
    ("k + 16 <= n; k += 16", "k + 16 < n + 16; k += 16"),
)
"""Of vectors of 64 bytes; what stands for what."""


def is_right(way: Way, place: Path, change: tuple[str, str] | None = None) -> bool:
    """Whether all was moved and filled, and nothing else touched."""
    known = "\n    ".join(f"KNOWN({n})" for n in KNOWN)
    program = PROGRAM.replace("@KNOWN@", known)
    text = kernel_text((), program)
    if change is not None:
        old, new = (each.replace("\\n", "\n") for each in change)
        assert old in text, old
        text = text.replace(old, new)
    (place / "k.c").write_text(text + program)
    options = ["-std=c11", "-O1", "-w", *way.options]
    command = [*way.compiler.split(), *options, "-o", str(place / "k"), str(place / "k.c")]
    subprocess.run(command, check=True, timeout=600)
    done = subprocess.run([*RUNNER.split(), str(place / "k")], check=False, timeout=600)
    return done.returncode == 0


def test_runs_and_fills_of_every_length(tmp_path: Path) -> None:
    assert is_right(MACHINE, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_in_all_ways(name: str, tmp_path: Path) -> None:
    assert is_right(WAYS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("change", FAULTS)
def test_faults_are_found(change: tuple[str, str], tmp_path: Path) -> None:
    assert not is_right(MACHINE, tmp_path, change)
