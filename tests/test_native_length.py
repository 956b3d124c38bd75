"""How long generated C is: of one verb and width, as a person reads it, and of all of them.

What is written includes a header of kernels, one text for vectors of 64, 32 and 16 bytes and for
none, of whole moves and of parts of them. A file that stands alone has those paragraphs of it that
its functions need.
"""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest

import layoutdsl
from layoutdsl.codegen.native import WIDTHS, kernel_text
from layoutdsl.codegen.native.compilers import compiler
from layoutdsl.codegen.native.program import VERBS, EmittedProgram, generate_c

MOST = {
    "NCHW": (57, 337, 448),
    "NCHW16c": (74, 461, 1093),
    "NHWC": (104, 702, 1170),
    "OIhw4i16o4i": (284, 1687, 2186),
}
"""Lines beside the header of one verb and width, of all, and of all with their kernels."""


def emitted(name: str, widths: tuple[int, ...], verbs: tuple[str, ...]) -> EmittedProgram:
    layout = layoutdsl.library(name)
    made = generate_c(layout, source="", certificate=None, widths=widths, verbs=verbs)
    assert isinstance(made, EmittedProgram)
    return made


@pytest.mark.parametrize("name", MOST)
def test_generated_c_is_no_longer_than_it_was(name: str) -> None:
    parts = [emitted(name, (width,), (verb,)) for width, verb in product(WIDTHS, VERBS)]
    whole = emitted(name, WIDTHS, VERBS)
    found = max(each.nests.count("\n") for each in parts), whole.nests.count("\n")
    for most, lines in zip(MOST[name], (*found, whole.text.count("\n")), strict=True):
        assert most - 20 < lines <= most, "say what was reached"


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
