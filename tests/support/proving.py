"""What the tests of proofs share: findings of a text, as words, and counterexamples replayed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import layoutdsl
from layoutdsl import Checked, Layout
from layoutdsl.language.integers.expr import MixedRadix, walk
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.proof.statements.sound import BOUNDS, EXTENTS, INJECTIVE

Values = Mapping[str, int]


def sound(layout: Layout) -> Checked:
    """What is found of a layout, without any claim."""
    (found,) = layoutdsl.prove(layout).checked
    return found


def claimed(text: str) -> Checked:
    """What is found of the last claim of a text, which may speak of the library."""
    (found,) = layoutdsl.prove(layoutdsl.parse(text).claims[-1:]).checked
    return found


def words(finding: Any) -> str:
    """A finding as text: the whole counterexample, the whole reason, or just *proved*."""
    if hasattr(finding, "example"):
        example = finding.example
        shape = " ".join(f"{name}={value}" for name, value in example.shape)
        lines = [f"refuted: {example.sentence}"]
        lines += [f"  at shape {shape}"] if shape else []
        for point in example.points:
            index = ", ".join(f"{name}={value}" for name, value in point.index)
            lines.append(f"    ({index}) {point.words}")
        return "\n".join(lines)
    if hasattr(finding, "reason"):
        return f"undecided: {finding.property}: {finding.reason}"
    assert hasattr(finding, "certificate")
    return "proved"


def refutations(checked: Checked) -> str:
    """Every counterexample that was found, as text."""
    return "\n".join(words(each) for each in checked.findings if hasattr(each, "example"))


def shapes(layout: Layout, most: int, elements: int) -> Iterator[dict[str, int]]:
    """Every shape of the range with extents up to ``most`` and no more elements than told."""
    for choice in product(range(1, most + 1), repeat=len(layout.symbols)):
        values = dict(zip(layout.symbols, choice, strict=True))
        if all(each.holds(values) for each in layout.where):
            total = 1
            for extent in layout.shape_of(values):
                total *= extent
            if total <= elements:
                yield values


def elements(layout: Layout, values: Values) -> Iterator[dict[str, int]]:
    """Extents and index of every element of a shape."""
    names = [axis.name for axis in layout.axes]
    for index in product(*map(range, layout.shape_of(values))):
        bound = {**values, **dict(zip(names, index, strict=True))}
        if all(condition.holds(bound) for condition in layout.domain):
            yield bound


def leaves_extent(layout: Layout, bound: Values) -> bool:
    """Whether a coordinate, one inside a tuple included, is outside its extent."""
    pending = list(layout.coordinates)
    for top in layout.coordinates:
        for each in walk(top.value):
            pending += each.parts if isinstance(each, MixedRadix) else ()
    return any(
        not 0 <= evaluate(each.value, bound) < evaluate(each.extent, bound) for each in pending
    )


def wrong_at(layout: Layout, values: Values) -> set[str]:
    """The properties of a layout itself that fail at a shape, by trying every index."""
    found: set[str] = set()
    start, end = evaluate(layout.start, values), evaluate(layout.start, values)
    slots = 1
    for each in layout.coordinates:
        slots *= evaluate(each.extent, values)
    end += slots
    taken: set[int] = set()
    for bound in elements(layout, values):
        offset = layout.offset_at(bound)
        found |= {EXTENTS} if leaves_extent(layout, bound) else set()
        found |= {BOUNDS} if not start <= offset < end else set()
        found |= {INJECTIVE} if offset in taken else set()
        taken.add(offset)
    return found


def replays(layout: Layout, name: str, example: Counterexample) -> bool:
    """Whether a counterexample to a layout shows what it says, by `Layout.offset` alone."""
    shape = dict(example.shape)
    given = [dict(point.index) for point in example.points]
    offsets = [layout.offset(index, shape) for index in given]
    said = [int(re.findall(r"-> (?:offset )?(-?\d+)", point.words)[0]) for point in example.points]
    match name:
        case "every coordinate stays within its extent":
            return leaves_extent(layout, {**layout.bind(shape), **given[0]})
        case "every offset is in bounds":
            start = evaluate(layout.start, layout.bind(shape))
            return said == offsets and not start <= offsets[0] < layout.size(shape)
        case "injective":
            return given[0] != given[1] and offsets[0] == offsets[1] and said == offsets
    return False
