"""What plain integers say to a verdict: counterexamples replayed, proofs tried by brute force."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isqrt, prod

import numpy as np

from layoutdsl import Checked, Claim
from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.claims import EqualsFormula, EqualsLayout, Fits, Sound
from layoutdsl.proof.prover.verdict import Refuted
from layoutdsl.proof.statements.sound import BOUNDS, EXTENTS, INJECTIVE

from . import oracle
from .oracle import Outside, Reading

LARGEST, ELEMENTS, SHAPES = 5000, 60_000, 400
"""Brute force: the largest extent, elements of all shapes, and shapes."""

SMALLER = 20_000
"""Elements of the shapes smaller than a counterexample that are all looked at."""


@dataclass
class Audit:
    """What was checked, and what of it contradicts the verdict."""

    checked: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def of_claim(claim: Claim, answer: Checked) -> Audit:
    """Hold what was found of a claim against plain integers; `keeps` and `aligns` are left out."""
    text = declaration(replace(claim.ranged, name="Left"))
    one = oracle.read(text)
    match claim.predicate:
        case Sound():
            return soundness(one, answer)
        case EqualsFormula():
            return equality(one, oracle.read(text, claim.text.split(" == ", 1)[1]), answer)
        case EqualsLayout(other):
            two = oracle.read(declaration(replace(other, name="Right")))
            return equality(one, two, answer)
        case Fits(type_):
            return _width(one, type_.largest, answer)
    return Audit()


def _width(one: Reading, largest: int, answer: Checked) -> Audit:
    """The smallest shape that does not fit: with any extent one less, the size does."""
    found = Audit()
    (finding,) = answer.findings
    if isinstance(finding, Refuted):
        values = dict(finding.example.shape)
        found.checked["replayed"] += 1
        if (one.size(values) or 0) <= largest:
            found.wrong.append(f"{values} fits")
        for name, extent in values.items():
            smaller = {**values, name: extent - 1}
            if extent > 1 and one.defined(smaller) and (one.size(smaller) or 0) > largest:
                found.wrong.append(f"{smaller} does not fit either")
    return found


def equality(one: Reading, two: Reading, answer: Checked) -> Audit:
    """Hold what was found of ``one == two`` against plain integers."""
    found = Audit()
    (finding,) = answer.findings
    if isinstance(finding, Refuted):
        example = finding.example
        values = dict(example.shape)
        if not one.defined(values) or not two.defined(values):
            found.wrong.append(f"the counterexample {values} is outside the range")
            return found
        sizes = one.size(values), two.size(values)
        shown = sizes[1] is not None and sizes[0] != sizes[1] and not example.points
        for point in example.points:
            index = dict(point.index)
            given = one.offsets(values, index), two.offsets(values, index)
            said = [
                int(each) for each in re.findall(r"(?:-> offset |gives |`, )(-?\d+)", point.words)
            ]
            shown = given[0] != given[1] and list(given) == said
        found.checked["replayed"] += 1
        if not shown:
            found.wrong.append(f"the counterexample {example} does not replay")
        _audit_least(found, one, values, lambda smaller: _difference(one, two, smaller))
    elif answer.status == "proved":
        for values in oracle.shapes((one, two), LARGEST, ELEMENTS, SHAPES):
            found.checked["shapes"] += 1
            if _difference(one, two, values):
                found.wrong.append(f"proved equal, but different at {values}")
                break
    return found


def _difference(one: Reading, two: Reading, values: dict[str, int]) -> bool:
    if not two.defined(values):
        return False
    index = oracle.every_index(one, values)
    if np.any(one.offsets(values, index) != two.offsets(values, index)):
        return True
    sizes = one.size(values), two.size(values)
    return sizes[1] is not None and sizes[0] != sizes[1]


def soundness(two: Reading, answer: Checked) -> Audit:
    """Hold what was found of a layout itself against plain integers."""
    found = Audit()
    refuted = [each for each in answer.findings if isinstance(each, Refuted)]
    for finding in refuted:
        values = dict(finding.example.shape)
        if not values and two.symbols:
            continue  # the range is empty, which no shape shows
        found.checked["replayed"] += 1
        given = [dict(point.index) for point in finding.example.points]
        if not _shows(two, finding.property, values, given):
            found.wrong.append(f"the counterexample {finding.example} does not replay")
    if refuted and dict(refuted[0].example.shape):
        least = dict(refuted[0].example.shape)
        _audit_least(found, two, least, lambda smaller: _faults(two, smaller))
    if answer.status == "proved":
        for values in oracle.shapes((two,), LARGEST, ELEMENTS, SHAPES):
            found.checked["shapes"] += 1
            if _faults(two, values):
                found.wrong.append(f"proved sound, but not at {values}")
                break
    return found


def _shows(
    reading: Reading, name: str, values: dict[str, int], given: list[dict[str, int]]
) -> bool:
    offsets = [reading.offsets(values, index) for index in given]
    match name:
        case _ if name == EXTENTS:
            return reading.spills(values, given[0])
        case _ if name == BOUNDS:
            return not 0 <= offsets[0] < (reading.size(values) or 0)
        case _ if name == INJECTIVE:
            return given[0] != given[1] and offsets[0] == offsets[1]
    return False


def _faults(reading: Reading, values: dict[str, int]) -> bool:
    """Whether elements collide, or leave their extents or the buffer."""
    index = oracle.every_index(reading, values)
    offsets = np.broadcast_to(reading.offsets(values, index), (prod(reading.shape(values)),))
    size = reading.size(values)
    assert size is not None
    inside = bool(np.all(offsets >= 0) and np.all(offsets < size))
    unique = len(np.unique(offsets)) == len(offsets)
    return not (inside and unique) or reading.spills(values, index)


def _audit_least(
    found: Audit,
    reading: Reading,
    values: dict[str, int],
    fails: Callable[[dict[str, int]], bool],
) -> None:
    """No shape of smaller volume fails, where those are few enough to look at all of them."""
    volume = prod(reading.shape(values))
    smaller = _smaller(reading, volume)
    if smaller is None:
        return
    found.checked["least"] += 1
    for each in smaller:
        try:
            failing = reading.defined(each) and fails(each)
        except Outside:
            continue
        if failing:
            found.wrong.append(f"fails at {values}, but at the smaller {each} too")
            return


def _smaller(reading: Reading, volume: int) -> list[dict[str, int]] | None:
    """Every shape of smaller volume; nothing where they are many."""
    if reading.parameters or volume > 400:
        return None
    symbols = reading.symbols
    found: list[dict[str, int]] = []
    elements = 0
    for total in range(1, volume):
        for choice in _products(total, len(symbols)):
            values = dict(zip(symbols, choice, strict=True))
            held = prod(reading.shape(values))
            if held < volume:
                found.append(values)
                elements += held + 20
        if elements > SMALLER:
            return None
    return found


def _products(total: int, count: int) -> list[tuple[int, ...]]:
    if count == 0:
        return [()] if total == 1 else []
    if count == 1:
        return [(total,)]
    low = [each for each in range(1, isqrt(total) + 1) if total % each == 0]
    divisors = sorted({*low, *(total // each for each in low)})
    return [(first, *rest) for first in divisors for rest in _products(total // first, count - 1)]
