"""Kernels in generated C: a header for included files, only what is used in a standalone file.

What is written includes a header of kernels, one text for vectors of 64, 32 and 16 bytes and for
none, of whole moves and of parts of them. A file that stands alone has those paragraphs of it that
its functions need.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from codegen_cases import layout_of
from functions_built import C
from native_cases import LAYOUTS

import layoutdsl

KERNELS = "layout-kernels.h"


@pytest.mark.skipif(C is None, reason="there is no C compiler")
def test_the_header_has_all_kernels_and_a_file_accepts_no_other(tmp_path: Path) -> None:
    made = layoutdsl.generate_c("NCHW16c", widths=(4,), validate=False)
    made.write(tmp_path / "a.c")
    header, nests = ((tmp_path / name).read_text() for name in (KERNELS, "a.c"))
    assert "INLINED move all_of(" in header
    assert "INLINED move all_of(" not in nests
    assert "INLINED move all_of(" in made.program.text, "it stands alone"
    number = header.partition("#define LAYOUT_KERNELS ")[2].partition("\n")[0]
    (tmp_path / KERNELS).write_text(header.replace(number, "0x1"))
    command = [str(C), "-fsyntax-only", "a.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode != 0
    assert b"is of another version of layoutdsl: generate this file again" in done.stderr


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", LAYOUTS)
def test_a_file_has_no_function_that_it_does_not_call(text: str) -> None:
    program = layoutdsl.generate_c(layout_of(text), validate=False).program.text
    functions = set(re.findall(r"^(?:INLINED|APART) [\w ]+?\*?(\w+)\(", program, re.MULTILINE))
    assert functions
    counts = {name: len(re.findall(rf"\b{name}\b", program)) for name in functions}
    assert min(counts.values()) >= 2, counts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "present", "absent"),
    [
        # Copies need no network.
        (
            "Rows(n, c) = [n, c : C + 3]",
            ["void run("],
            ["zipped", "mixed(", "#define EDGE", "plain_of"],
        ),
        # Powers of two pick nothing.
        ("NHWC(n, c, h, w) = [n, h, w, c]", ["tile_of", "zipped"], ["picked(int", "unweaving("]),
        (
            "NHWC3(n, c: 3, h, w) = [n, h, w, c]",
            ["picked(int", "mixed(", "#define EDGE"],
            ["tile_of"],
        ),
    ],
    ids=["copies", "powers of two", "threes"],
)
def test_a_file_has_what_its_functions_need(
    text: str, present: list[str], absent: list[str]
) -> None:
    program = layoutdsl.generate_c(layout_of(f"layout {text}"), validate=False).program.text
    for word in present:
        assert word in program, word
    for word in absent:
        assert word not in program, word
