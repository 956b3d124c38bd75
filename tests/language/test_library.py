"""The library: sources, names, and its claims counted out over small shapes in plain integers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bank_counts import counted
from texts import LIBRARY, LIBRARY_MODULES, edge_shapes, every_index

from layoutdsl import Claim, Layout
from layoutdsl.language.integers.digit import read
from layoutdsl.language.integers.expr import Constant, Coordinate, Extent, Index
from layoutdsl.language.integers.value import evaluate, horner
from layoutdsl.language.meaning.claims import (
    Aligns,
    EqualsFormula,
    EqualsLayout,
    Fits,
    Keeps,
    Reads,
    Sound,
)
from layoutdsl.language.texts import resources

SOURCES = (
    "layout-transformation",
    "mace-memory-layout",
    "qualcomm-htp-memory-layouts",
    "xla-shapes-and-layout",
    "OpenXLA",
    "LAPACK",
    "TensorFlow",
    "PyTorch",
)
"""Documents that say the layout itself. Of other sources a remark says how sure it is."""

FAMILIES = {
    "ascend": 7,
    "blocked": 3,
    "compilers": 4,
    "cpu": 14,
    "flat": 4,
    "fragments": 13,
    "gguf": 10,
    "gguf_records": 16,
    "gpu_weights": 10,
    "htp": 20,
    "llama_records": 8,
    "mace": 6,
    "nvidia": 12,
    "packed": 3,
    "records": 18,
    "replicated": 7,
    "swizzles": 6,
    "xla": 12,
}


def test_the_families() -> None:
    """A layout more, or one less, is a line here and one of `library_formulas.py`.

    A record more is a line here and a test of its own in `test_records.py`.
    """
    found = {each.name: len(each.layouts) + len(each.records) for each in LIBRARY_MODULES}
    assert {name.removesuffix(".layout"): count for name, count in found.items()} == FAMILIES


def test_names_are_unique_over_the_library() -> None:
    names = [
        name for each in LIBRARY_MODULES for name in (*each.layouts, *each.tables, *each.records)
    ]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("family", "text"), resources.library_families())
def test_every_layout_stands_below_its_source(family: str, text: str) -> None:
    declared = r"((?:^#.*\n)*)^(?:layout|record) (\w+)"
    for comment, name in re.findall(declared, text, re.MULTILINE):
        remark = " ".join(comment.replace("#", " ").split())
        known = any(source in remark for source in SOURCES)
        assert known or "Confidence: high" in remark, f"{family}: {name}"


def test_every_layout_has_a_claim() -> None:
    claimed = {claim.layout.name for found in LIBRARY_MODULES for claim in found.claims}
    assert set(LIBRARY) == claimed


CLAIMS = [claim for found in LIBRARY_MODULES for claim in found.claims]


@pytest.mark.sampled(60, slow=59)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_claim_counted_out(claim: Claim) -> None:
    if isinstance(claim.predicate, Fits):
        assert (claim.polarity == "prove") == fits(claim, claim.predicate)
        return
    found = [holds(claim, values) for values in edge_shapes(claim.ranged)]
    assert found
    assert (claim.polarity == "prove") == all(found)


def holds(claim: Claim, values: dict[str, int]) -> bool:
    layout = claim.layout
    point = {**values, **every_index(layout, values)}
    offsets = layout.offset_at(point)
    match claim.predicate:
        case Sound():
            return len(np.unique(offsets)) == np.size(offsets) and np.max(offsets) < layout.size(
                values
            )
        case EqualsLayout(other):
            if not all(condition.holds(values) for condition in other.where):
                return True
            elements = (every_index(each, values).values() for each in (layout, other))
            if not all(map(np.array_equal, *elements)):
                return False
            same = np.array_equal(offsets, other.offset_at(point))
            return same and layout.size(values) == other.size(values)
        case EqualsFormula(expr):
            return np.array_equal(offsets, evaluate(expr, point))
        case Keeps(run):
            start = layout.offset_at(zeroed(run, point))
            return np.array_equal(offsets, start + horner(run, point))
        case Aligns(run, number, element):
            start = layout.offset_at(zeroed(run, point))
            return bool(np.all(start * element.bits % (8 * number) == 0))
        case Reads(reading):
            starts = [dict(reading.at(t, values)) for t in range(reading.threads)]
            begin = [
                layout.offset_at({**values, **at}) * reading.element.bits // 8 for at in starts
            ]
            return counted(begin, reading.bytes)[0] == 1
    raise AssertionError(claim)


def zeroed(run: tuple[Coordinate, ...], point: dict[str, object]) -> dict[str, object]:
    """The point with the digits of the run set to zero."""
    start = dict(point)
    for coordinate in run:
        digit = read(coordinate.value)
        assert digit is not None
        assert isinstance(digit.whole, Index)
        divisor = evaluate(digit.divisor, point)
        name = digit.whole.name
        start[name] = start[name] - evaluate(coordinate.value, point) * divisor
    return start


def fits(claim: Claim, predicate: Fits) -> bool:
    """The size at the largest shape that the range allows."""
    most = {
        each.left.name: each.right.value
        for each in claim.where
        if isinstance(each.left, Extent) and isinstance(each.right, Constant)
    }
    return claim.layout.size(most) <= predicate.type.largest


def test_qualcomm_gives_two_orders_the_name_nchw() -> None:
    shape, index = (1, 2, 3, 4), (0, 1, 0, 0)
    assert LIBRARY["HtpNCHW"].offset(index, shape) == 3
    assert LIBRARY["R4NCHWMemoryLayout"].offset(index, shape) == 1


@pytest.mark.parametrize(
    ("name", "chunk"),
    [
        ("R4CroutonLayout", 2048),
        ("R4Crouton4x1Layout", 2048),
        ("R4Crouton2x2Layout", 2048),
        ("R4Crouton2Layout", 1024),
        ("SpatialXMajor", 1024),
        ("HtpConvWeights", 1024),
        ("R4Depth32MemoryLayout", 128),
    ],
)
def test_elements_of_a_chunk(name: str, chunk: int) -> None:
    layout: Layout = LIBRARY[name]
    assert layout.chunk_rank is not None
    inside = [coordinate.extent for coordinate in layout.coordinates[layout.chunk_rank :]]
    assert chunk == np.prod([evaluate(extent, {}) for extent in inside])
