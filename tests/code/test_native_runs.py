"""What is moved and filled without a kernel: bytes that lie together, of every length and place."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from native_cases import needs_compiler
from native_fuzz import MACHINE, RUNNER, WAYS, Way

import layoutdsl

pytestmark = needs_compiler

KNOWN = (1, 3, 15, 16, 17, 63, 64, 65, 100, 384, 1024, 1500, 2048, 2049)
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
enum { MOST = 2400, ROOM = MOST + 512, NEAR = 400 };
static uint8_t source[ROOM], target[ROOM], filling[ROOM], untouched[ROOM], rest[16];
static void begin(void) { memcpy(target, untouched, ROOM); }
/* Whether n bytes at `to` are those that were wanted, and no others were touched. */
static void held(const char *what, int64_t n, int to, const uint8_t *wanted)
{
    const uint8_t *past = target + to + n;
    if (memcmp(target, untouched, to) || memcmp(target + to, wanted, n)
        || memcmp(past, untouched, target + ROOM - past)) {
        printf("%s of %d bytes to %d\\n", what, (int)n, to);
        exit(1);
    }
}
#define PLACES(what, body) \\
    for (int to = 64; to < 128; to += 7) \\
        for (int from = 128; from < 192; from += 9) { \\
            begin(); \\
            body; \\
            held(what, n, to, source + from); \\
        }
#define KNOWN(n_) { \\
        const int64_t n = n_; \\
        PLACES("run", run(target + to, source + from, n_, 0)) \\
        PLACES("past", run(target + to, source + from, n_, 1)) \\
    }
int main(void)
{
    memset(untouched, 0xA5, ROOM);
    for (int k = 0; k < ROOM; k++)
        source[k] = (uint8_t)((k * 167 + k / 251) % 165);
    for (int64_t n = 0; n < MOST; n++) {
        PLACES("run", run(target + to, source + from, n, 0))
        PLACES("past", run(target + to, source + from, n, 1))
        if (n < NEAR) PLACES("copied", copied(target + to, source + from, n))
    }
    for (int size = 1; size <= 8; size *= 2) {
        for (int k = 0; k < ROOM; k++)
            filling[k] = (uint8_t)(k % size + 7);
        memcpy(rest, filling, 16);
        for (int64_t n = 0; n < NEAR; n += size)
            for (int to = 64; to < 128; to += size)
                begin(), filled(target + to, rest, n), held("filled", n, to, filling);
    }
    @KNOWN@
    return 0;
}
"""
FAULTS = (
    ("else if (k < n)", "else if (k + 1 < n)"),
    ("memcpy(d + n - V, s + n - V, V)", "memcpy(d + n - V, s + n - V, V - 1)"),
    ("(int64_t)(-(uintptr_t)d % V)", "(int64_t)((uintptr_t)d % V)"),
    ("memcpy(d + k, s + k, (size_t)(n - k));\n            return", "return"),
    ("n >= 8 ? FILLED(8)", "n >= 8 ? FILLED(4)"),
    ("k + 16 <= n; k += 16", "k + 16 < n + 16; k += 16"),
)
"""Of vectors of 64 bytes; what stands for what."""


@cache
def kernels() -> str:
    """The header of kernels that every generated C file includes."""
    files = layoutdsl.generate_c("NHWC", validate=False).files("NHWC.c")
    (header,) = [text for place, text in files.items() if place.name == "layout-kernels.h"]
    return header


def is_right(way: Way, place: Path, change: tuple[str, str] | None = None) -> bool:
    """Whether all was moved and filled, and nothing else touched."""
    known = "\n    ".join(f"KNOWN({n})" for n in KNOWN)
    program = PROGRAM.replace("@KNOWN@", known)
    text = kernels()
    if change is not None:
        assert change[0] in text, change[0]
        text = text.replace(*change)
    (place / "k.c").write_text(text + program)
    options = ["-std=c11", "-O1", "-w", *way.options]
    command = [*way.compiler.split(), *options, "-o", str(place / "k"), str(place / "k.c")]
    subprocess.run(command, check=True, timeout=600)
    line = [*RUNNER.split(), str(place / "k")]
    done = subprocess.run(line, check=False, timeout=600, capture_output=True, text=True)
    print(done.stdout)
    return done.returncode == 0


@pytest.mark.slow
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
