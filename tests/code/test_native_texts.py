"""Kernels in generated C: a header for included files, only what is used in a standalone file.

What is written includes a header of kernels, one text for vectors of 64, 32 and 16 bytes and for
none, of whole moves and of parts of them. A file that stands alone has those paragraphs of it that
its functions need.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from native_cases import needs_compiler

import layoutdsl
from layoutdsl.code.native import kernel_text
from layoutdsl.code.native.compilers import compiler
from layoutdsl.code.native.program import VERBS, EmittedProgram, generate_c


def emitted(name: str, widths: tuple[int, ...], verbs: tuple[str, ...]) -> EmittedProgram:
    layout = layoutdsl.library(name)
    made = generate_c(layout, source="", certificate=None, widths=widths, verbs=verbs)
    assert isinstance(made, EmittedProgram)
    return made


@needs_compiler
def test_the_header_has_all_kernels_and_a_file_accepts_no_other(tmp_path: Path) -> None:
    header, nests = kernel_text.kernels_header(), emitted("NCHW16c", (4,), VERBS).nests
    assert "INLINED move all_of(" in header
    assert "INLINED move all_of(" not in nests
    number = header.partition("#define LAYOUT_KERNELS ")[2].partition("\n")[0]
    (tmp_path / kernel_text.KERNELS).write_text(header.replace(number, "0x1"))
    (tmp_path / "a.c").write_text(nests)
    done = subprocess.run(
        [*compiler().command, "-fsyntax-only", "a.c"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0
    assert b"is of another version of layoutdsl: generate this file again" in done.stderr


def test_a_file_has_what_its_functions_need_and_nothing_else() -> None:
    """Copies need no network, what is no part has no edge, and powers of two pick nothing."""
    runs = kernel_text.kernel_text([], "run(d, s, n, 0);")
    assert "INLINED void run(" in runs
    assert "zipped" not in runs
    assert "plain_of" not in runs
    even = kernel_text.kernel_text([kernel_text.Call("weave", 2, 8, 32, edged=False)])
    assert "INLINED any mixed(" in even
    for other in ("picked(int", "unweaving(", "#define EDGE", "tile_of"):
        assert other not in even, other
    odd = kernel_text.kernel_text([kernel_text.Call("weave", 2, 6, 32, edged=True)])
    assert "picked(int" in odd
    assert "#define EDGE(" in odd
