"""Offsets by formula in C where numbers on the way leave 64 bits: refused, and nothing written."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from codegen_cases import layout_of
from native_cases import needs_compiler
from native_fuzz import WAYS, Case, faults
from random_digits import Written
from test_codegen_overflow import FOUND

import layoutdsl
from layoutdsl import GeneratedC, UnvalidatedError

CC = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SANITIZED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")

pytestmark = needs_compiler

SMALL, LARGE = (1, 3), (600, 10**6, 10**9, 2**40, 2**62, 2**63 - 1)
"""Extents of every axis."""

PROGRAM = """
#include <stdio.h>

int main(void)
{
    static uint8_t room[2][1 << 20];
    const int64_t extents[] = {@EXTENTS@};
    int all = 1;
    memset(room[1], 77, sizeof room[1]);
    for (int k = 0; k < (int)(sizeof extents / sizeof *extents); k++) {
        const int64_t shape[] = {extents[k], extents[k]};
        for (int verb = 0; verb < 2; verb++) {
            const int done = verb ? @NAME@_unpack_8(room[0], room[1], shape)
                                  : @NAME@_pack_8(room[0], room[1], shape, 0);
            printf("%d", done);
            for (size_t at = 0; done && at < sizeof room[1]; at++) all &= room[1][at] == 77;
            memset(room[1], 77, sizeof room[1]);
        }
    }
    printf(all ? " kept" : " written");
    return 0;
}
"""


def answers(made: GeneratedC, extents: tuple[int, ...], directory: Path) -> str:
    """What packing and unpacking return at each extent, and whether a refusal wrote anything."""
    listed = ", ".join(f"INT64_C({each})" for each in extents)
    program = PROGRAM.replace("@EXTENTS@", listed).replace("@NAME@", made.program.stem)
    (directory / "a.c").write_text(made.program.text + program)
    return ran(directory)


def ran(directory: Path) -> str:
    """What the program `a.c` says, sanitized where that can be had."""
    for options in (SANITIZED, ()):
        command = [*str(CC).split(), *STRICT, *options, "a.c", "-o", "a"]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode == 0 or "sanitize" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr[:2000]
    done = subprocess.run([directory / "a"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


BY_FORMULA = [text for text in FOUND if not text.startswith("layout C(")]
"""All but one, whose coordinates are digits and a number."""
BY_DIGITS = ("layout P(", "layout Q(")
"""Those of which one coordinate is what the other says: no product is computed for it."""
LEAVING = [text for text in BY_FORMULA if not text.startswith(BY_DIGITS)]
NOWHERE = tuple(f"layout {name}(" for name in "BMN")
"""Numbers of these leave 64 bits at every shape, so there is no C of them."""


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("text", LEAVING, ids=lambda each: each.split("(")[0][7:])
def test_what_may_leave_64_bits_is_refused(text: str, tmp_path: Path) -> None:
    if text.startswith(NOWHERE):
        with pytest.raises(UnvalidatedError, match="numbers leave 64 bits at every shape"):
            layoutdsl.generate_c(layout_of(text), widths=(1,), validate=False, unproved=True)
        return
    made = layoutdsl.generate_c(layout_of(text), widths=(1,), validate=False)
    assert made.program.fallback is not None
    found, kept = answers(made, (*SMALL, *LARGE), tmp_path).split()
    assert kept == "kept"
    assert set(found) <= {"0", "3"}
    assert found[2 * len(SMALL) :] == "33" * len(LARGE)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("text", BY_FORMULA, ids=lambda each: each.split("(")[0][7:])
def test_what_is_not_refused_is_right(text: str) -> None:
    layout = layout_of(text)
    some = [
        Case((Written(text),), verb, 4, tuple((each,) * layout.rank for each in (1, 2, 3, 5, 12)))
        for verb in ("pack", "unpack")
    ]
    found = {kind for _, kind in faults(some, WAYS["vectors of 16 bytes"])}
    assert found <= {"too large"}


@pytest.mark.slow
def test_python_takes_another_way() -> None:
    """Its own bounds are asked before; where C refuses all the same, numpy serves."""
    text = "layout P(i) = [i, (i - 1)*999999999999999999%7 : 7]"
    module = layoutdsl.compile(layout_of(text), "native")
    for extent in (1, 3, 4, 5, 6, 7, 8, 9, 40):
        tensor = np.arange(1, extent + 1, dtype=np.int32)
        packed = module.pack(tensor, fill=0)
        want = np.zeros((extent, 7), np.int32)
        for i in range(extent):
            want[i, (i - 1) * 999999999999999999 % 7] = i + 1
        assert np.array_equal(packed, want), extent
        assert np.array_equal(module.unpack(packed, (extent,)), tensor)


SIZES = """
#include <stdio.h>

int main(void)
{
    const int64_t extents[] = {@EXTENTS@};
    for (int k = 0; k < (int)(sizeof extents / sizeof *extents); k++) {
        const int64_t shape[] = {extents[k], extents[k]};
        printf("%lld\\n", (long long)@NAME@_size(shape));
    }
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text",
    [
        "layout Plain(n, c) = [c, n]",
        "layout Blocked(n, c) = [n, c/16, c%16]",
        "layout Led(n, c) = [c, n] offset 5*N*C",
        "layout Ranged(n, c) = [c, n] where N*N*C <= 2000000",
        "layout Pitched(n, c) = [n : N, c : 4*C*N]",
    ],
    ids=lambda each: each.split("(")[0][7:],
)
def test_a_size_that_leaves_64_bits_is_none(text: str, tmp_path: Path) -> None:
    layout, extents = layout_of(text), (*SMALL, *LARGE)
    program = layoutdsl.generate_c(layout, widths=(1,), validate=False).program
    listed = ", ".join(f"INT64_C({each})" for each in extents)
    main = SIZES.replace("@EXTENTS@", listed).replace("@NAME@", program.stem)
    (tmp_path / "a.c").write_text(program.text + main)
    found = list(map(int, ran(tmp_path).split()))
    for extent, said in zip(extents, found, strict=True):
        try:
            size = layout.size((extent, extent))
        except ValueError:
            size = -1
        assert said == size if size < 2**52 else said in (-1, size)
