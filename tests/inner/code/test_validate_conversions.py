"""Generated numpy code that converts buffers: what is right is validated, what is wrong is not.

The validator decides which generated texts may run, and no public door takes a wrong text.
"""

from __future__ import annotations

import ast
from itertools import islice, pairwise, permutations
from typing import Any

import pytest
from codegen_cases import Shape, layout_of
from converting_cases import (
    BY_NAME,
    PAIRS,
    Pair,
    assert_converts,
    emitted,
    over_same_axes,
)
from text_mutants import mutants

import layoutdsl
from layoutdsl import Layout
from layoutdsl.code import Fallback, generate_conversion, load
from layoutdsl.code.loops.moves import Move
from layoutdsl.code.loops.trees import tree_of
from layoutdsl.code.validate import NotValidated, Validated, validate_conversion
from layoutdsl.code.validate.loops import validate_tree_conversion


def run(text: str, pair: tuple[Layout, Layout], shapes: tuple[Shape, ...]) -> None:
    """Run a module, and hold it against the definition."""
    names: dict[str, Any] = {}
    exec(compile(text, "conversion", "exec", dont_inherit=True), names)
    assert_converts(names["convert"], pair, shapes)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_right_modules_are_validated(pair: Pair) -> None:
    found = validate_conversion(emitted(pair).text, *pair.layouts, texts=pair.texts)
    assert isinstance(found, Validated), found


LIBRARY = (
    ("NCHW4c", "NCHW16c", "nChw8c", "NHWC", "NCHW", "FractalZFp16", "MaceChannelMajor"),
    ("R4FlatMemoryLayout", "R4Depth32MemoryLayout", "R4CroutonLayout", "R4Crouton2x2Layout"),
    ("OIhw16i16o", "OIhw4i16o4i", "OHWIo8i4", "HWIO", "HtpConvWeights"),
    ("XlaRowMajor", "XlaTile8x128", "XlaTile2x2", "XlaTile2x4x2"),
    ("MlirPack8x32", "CublasCol32", "CublasCol4_4R2_8C"),
)
BESIDE = [both for family in LIBRARY for pair in pairwise(family) for both in (pair, pair[::-1])]
APART = [both for family in LIBRARY for both in permutations(family, 2) if both not in BESIDE]
SMALL = {4: ((1, 5, 3, 2), (2, 33, 9, 3)), 2: ((3, 5), (17, 66))}


@pytest.mark.slow
@pytest.mark.sampled(15)
@pytest.mark.parametrize("names", BESIDE, ids="-".join)
def test_pairs_of_the_library(names: tuple[str, str]) -> None:
    """Numpy validated and run; of compiled code the tree."""
    _try_pair(names)


@pytest.mark.campaign
@pytest.mark.parametrize("names", APART, ids="-".join)
def test_more_pairs_of_the_library(names: tuple[str, str]) -> None:
    _try_pair(names)


def _try_pair(names: tuple[str, str]) -> None:
    pair = over_same_axes(*map(layoutdsl.library, names))
    made = generate_conversion(*pair, texts=("", ""))
    assert not isinstance(made, Fallback)
    found = validate_conversion(made.text, *pair, texts=("", ""))
    assert isinstance(found, Validated), found
    run(made.text, pair, SMALL[pair[0].rank])
    move = Move(*pair)
    assert isinstance(validate_tree_conversion(tree_of(move, 2), *pair, 2), Validated)


# Wrong modules. Each line: of which pair, what the text says, what it should not say.
WRONG = {
    "one slot too far": ("NCHW16c-NHWC", "read = (slice(0, _q0)", "read = (slice(1, _q0 + 1)"),
    "the wrong block is read": (
        "NCHW16c-NHWC",
        "read = (slice(_q0, _q0 + 1), slice(0, _q1))",
        "read = (slice(0, 1), slice(0, _q1))",
    ),
    "the part is another": (
        "NCHW16c-NCHW4c",
        "(slice(0, 16*_q0), (_q0, 4, 4)",
        "(slice(0, 8*_q0), (_q0, 4, 4)",
    ),
    "digits are exchanged": ("NCHW16c-NCHW4c", "(_q0, 4, 4)", "(4, _q0, 4)"),
    "padding is moved": ("NCHW16c-NHWC", "if _q1:", "if not _q1:"),
    "read from what is written": ("NCHW16c-NHWC", "held[read]", "buffer[put]"),
    "what is written is read": ("NHWC-NCHW16c", "buffer[put]", "held[read]"),
    "turned wrongly": ("NHWC-NCHW16c", "transpose((0, 1, 3, 4, 2))", "transpose((0, 1, 4, 3, 2))"),
    "the fill is left out": ("NHWC-NCHW16c", "_fill(buffer[gap], item)", "pass"),
    "the fill comes last": (
        "NHWC-NCHW16c",
        "    return buffer if out is None else out",
        "    for gap in gaps:\n        _fill(buffer, item)\n"
        "    return buffer if out is None else out",
    ),
    "another fill": ("Crouton-NCHW16c", "fill: _Number = 0", "fill: _Number = 31"),
    "nothing is returned": ("NHWC-NCHW16c", "if out is None else out", "if box is None else out"),
    "another buffer": ("NHWC-NCHW16c", "return buffer if out", "return held if out"),
    "a shape is not asked about": ("Radix-Radix8", "shape = _extents(shape)", "shape = shape"),
    "a range is wider": ("Radix-Radix8", "if not (n_C) >= (5):", "if not (n_C) >= (4):"),
    "a range is narrower": ("Radix-Radix8", "if not (n_C) >= (5):", "if not (n_C) >= (6):"),
    "the source starts elsewhere": ("Lead-InnerGap", "buffer[7:]", "buffer[6:]"),
    "the region names too little": (
        "Gaps-LeadBy",
        "for part_c in _cut_c(shape)[0]:\n",
        "for part_c in _cut_c(shape)[1]:\n",
    ),
    "regions are left out": (
        "NHWC-NCHW16c",
        "regions.append((take, split, put, read))",
        "regions.append((take, split, read, read))",
    ),
    "several threads unasked": ("NHWC-NCHW16c", "threads: int = 1", "threads: int = 2"),
    "threads are asked about too late": (
        "NHWC-NCHW16c",
        "    return buffer if out is None else out",
        "    _workers(threads)\n    return buffer if out is None else out",
    ),
    "an alias is another": ("NHWC-NCHW16c", "_Passage = tuple[", "_Passage = list["),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", WRONG)
def test_wrong_modules_are_not_validated(what: str) -> None:
    name, right, wrong = WRONG[what]
    pair = BY_NAME[name]
    text = emitted(pair).text
    assert right in text
    found = validate_conversion(text.replace(right, wrong, 1), *pair.layouts, texts=pair.texts)
    assert isinstance(found, NotValidated), what


MUTATED = ("NCHW16c-NCHW4c", "Lead-InnerGap", "Tile-Tile2", "TupleBlock-TupleQuad")
TRIED = 8
"""Mutants of each that are tried by default; the campaign tries all."""


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MUTATED)
def test_mutants(name: str) -> None:
    count = len(list(mutants(emitted(BY_NAME[name]).text)))
    _try_mutants(BY_NAME[name], count // TRIED)


@pytest.mark.campaign
@pytest.mark.parametrize("name", MUTATED)
def test_all_mutants(name: str) -> None:
    _try_mutants(BY_NAME[name], 1)


def _try_mutants(pair: Pair, step: int) -> None:
    """A mutant that is validated has to behave as the layouts mean, shape by shape."""
    tried = rejected = 0
    for mutant in islice(mutants(emitted(pair).text), step // 2, None, step):
        text = mutant.text
        if text is None:
            continue
        tried += 1
        if isinstance(validate_conversion(text, *pair.layouts, texts=pair.texts), Validated):
            run(text, pair.layouts, pair.shapes)
        else:
            rejected += 1
    assert rejected
    print(f"{pair.name}: {tried} mutants, {rejected} rejected, the others equal in behaviour")


def test_a_module_is_for_its_own_layouts() -> None:
    pair = BY_NAME["NCHW16c-NHWC"]
    source, target = pair.layouts
    text = emitted(pair).text
    other = layout_of("layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]")
    for wrong in ((target, source), (other, target), (source, other)):
        assert isinstance(validate_conversion(text, *wrong, texts=pair.texts), NotValidated)
    narrow = layout_of("layout NHWC(n, c, h, w) = [n, h, w, c] where C <= 9")
    other = validate_conversion(text, source, narrow, texts=pair.texts)
    assert isinstance(other, NotValidated)


def test_the_text_is_the_same_every_time() -> None:
    pair = BY_NAME["Crouton-NCHW16c"]
    again = generate_conversion(*pair.layouts, texts=(pair.source, pair.target))
    assert again == emitted(pair)
    tree = ast.parse(emitted(pair).text)
    assert ast.get_docstring(tree, clean=False) is not None
    assert pair.target == load(emitted(pair)).TARGET
