"""The library: sources, names, and its claims counted out over small shapes in plain integers."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np
import pytest
from bank_counts import counted
from integers import value
from texts import LIBRARY, LIBRARY_MODULES, edge_shapes, every_index

import layoutdsl
from layoutdsl import Claim, Layout

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
    "gguf_records": 17,
    "gpu_weights": 10,
    "htp": 20,
    "llama_records": 27,
    "mace": 12,
    "mnn": 15,
    "ncnn": 20,
    "nvidia": 12,
    "packed": 3,
    "records": 24,
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


def text_of(family: layoutdsl.Module) -> str:
    """The whole file of a family, as the places of its declarations tell it."""
    whole = family.span_of(family.all_claims[0])
    assert whole is not None
    return whole.source.text


TEXTS = [(each.name, text_of(each)) for each in LIBRARY_MODULES]


@pytest.mark.parametrize(("family", "text"), TEXTS)
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


@pytest.mark.sampled(60)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_claim_counted_out(claim: Claim) -> None:
    words = statement(claim)
    if words.startswith("fits "):
        assert (claim.polarity == "prove") == fits(claim, words.removeprefix("fits "))
        return
    found = [holds(claim, words, values) for values in edge_shapes(claim.ranged)]
    assert found
    assert (claim.polarity == "prove") == all(found)


def statement(claim: Claim) -> str:
    """What the text says of the layout, without the range of shapes; nothing if it is sound."""
    found = re.fullmatch(r"(?:prove|refute) \w+(?:<[^>]*>)?(.*)", claim.text)
    assert found is not None, claim.text
    return found[1].partition(" where ")[0].strip()


def holds(claim: Claim, words: str, values: dict[str, int]) -> bool:
    layout = claim.layout
    point: dict[str, Any] = {**values, **every_index(layout, values)}
    offsets: Any = layout.offset_at(point)
    predicate: Any = claim.predicate
    same: bool
    match words.split(" ")[0]:
        case "":
            return len(np.unique(offsets)) == np.size(offsets) and np.max(offsets) < layout.size(
                values
            )
        case "==" if hasattr(predicate, "other"):
            other: Layout = predicate.other
            if not all(condition.holds(values) for condition in other.where):
                return True
            elements = (every_index(each, values).values() for each in (layout, other))
            if not all(map(np.array_equal, *elements)):
                return False
            same = np.array_equal(offsets, other.offset_at(point))
            return same and layout.size(values) == other.size(values)
        case "==":
            formula, _, names = words.removeprefix("== ").partition(" with ")
            said = dict(point)
            for each in re.split(r", (?=\w+ = )", names) if names else ():
                name, _, meant = each.partition(" = ")
                said[name] = value(meant, said)
            return np.array_equal(offsets, np.broadcast_to(value(formula, said), offsets.shape))
        case "keeps" | "aligns":
            run = re.split(r" (?:contiguous|to )", words.partition(" ")[2])[0].split(", ")
            start = layout.offset_at(zeroed(run, point))
            if words.startswith("keeps"):
                return np.array_equal(offsets, start + ranks(run, point))
            bits = {"f32": 32, "f16": 16, "u8": 8, "i8": 8, "u4": 4, "bf16": 16}
            found = re.search(r" to (\d+) bytes of (\w+)$", words)
            assert found is not None, words
            return bool(np.all(start * bits[found[2]] % (8 * int(found[1])) == 0))
        case "reads":
            reading = predicate.reading
            starts = [dict(reading.at(t, values)) for t in range(reading.threads)]
            begin = [
                layout.offset_at({**values, **at}) * reading.element.bits // 8 for at in starts
            ]
            return counted(begin, reading.bytes)[0] == 1
    raise AssertionError(claim)


def digit(text: str, point: dict[str, Any]) -> tuple[str, Any, Any]:
    """The axis of a digit, its divisor and its radix; of the top digit there is none."""
    found = re.fullmatch(r"(\w+)(?:/(\w+))?(?:%(\w+))?", text)
    assert found is not None, text
    divisor, radix = (value(each, point) if each else None for each in found.groups()[1:])
    return found[1], divisor or 1, radix


def zeroed(run: list[str], point: dict[str, Any]) -> dict[str, Any]:
    """The point with the digits of the run set to zero."""
    start = dict(point)
    for each in run:
        name, divisor, _ = digit(each, point)
        start[name] = start[name] - value(each, point) * divisor
    return start


def ranks(run: list[str], point: dict[str, Any]) -> Any:
    """The place of each element in its run, whose last digit counts single elements."""
    rank: Any = 0
    for each in run:
        name, divisor, radix = digit(each, point)
        extent = radix if radix is not None else -(-point[name.upper()] // divisor)
        rank = rank * extent + value(each, point)
    return rank


def fits(claim: Claim, integer: str) -> bool:
    """The size at the largest shape that the range allows."""
    found = re.fullmatch(r"(u?)int(\d+)", integer)
    assert found is not None, integer
    most = {
        name: int(number)
        for name, number in re.findall(r"(\w+) <= (\d+)", claim.text.partition(" where ")[2])
    }
    bits = int(found[2]) - (not found[1])
    return claim.layout.size(most) < 1 << bits


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
    sizes: list[Any] = [each.extent for each in layout.coordinates[layout.chunk_rank :]]
    assert chunk == prod(extent.value for extent in sizes)
