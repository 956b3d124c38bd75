"""How long generated C is: of one verb and width, as a person reads it, and of all of them.

Kernels are most of it: one text for vectors of 64, 32 and 16 bytes and for none, of whole moves and
of parts of them. A file has those paragraphs of it alone that its functions need.
"""

from __future__ import annotations

from itertools import product

import pytest

import layoutdsl
from layoutdsl.codegen.native import WIDTHS, kernel_text
from layoutdsl.codegen.native.program import VERBS, EmittedProgram, generate_c

MOST = {"NCHW": (193, 620), "NCHW16c": (591, 1358), "NHWC": (611, 1475), "OIhw4i16o4i": (829, 2515)}
"""Lines of one verb and width, and of all verbs and widths: what was reached."""


def lines(name: str, widths: tuple[int, ...], verbs: tuple[str, ...]) -> int:
    layout = layoutdsl.library(name)
    emitted = generate_c(layout, source="", certificate=None, widths=widths, verbs=verbs)
    assert isinstance(emitted, EmittedProgram)
    return emitted.text.count("\n")


@pytest.mark.parametrize("name", MOST)
def test_generated_c_is_no_longer_than_it_was(name: str) -> None:
    one, everything = MOST[name]
    each = [lines(name, (width,), (verb,)) for width, verb in product(WIDTHS, VERBS)]
    assert one - 20 < max(each) <= one, "say what was reached"
    assert everything - 20 < lines(name, WIDTHS, VERBS) <= everything, "say what was reached"


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
