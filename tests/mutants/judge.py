"""One mutant, judged: what the prover finds of it, and what plain integers say to that."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from math import isqrt, prod
from typing import Literal

import numpy as np

from layoutdsl.claims import Claim, EqualsFormula, EqualsLayout, Sound
from layoutdsl.prove import check
from layoutdsl.prove.verdict import BOUNDS, EXTENTS, INJECTIVE, Checked, Refuted, Undecided
from layoutdsl.shelf import elaborated, library, library_names
from layoutdsl.source import LayoutError, Source

from . import oracle
from .oracle import Outside, Reading

LIBRARY = {name: library(name) for name in library_names()}

LARGEST, ELEMENTS, SHAPES = 5000, 60_000, 400
"""Brute force: the largest extent, elements of all shapes, and shapes."""

SMALLER = 20_000
"""Elements of the shapes smaller than a counterexample that are all looked at."""


@dataclass(frozen=True)
class Mutant:
    """A text that was changed in one place, and the declaration it came from.

    ``form`` is "layout", or how the formula is spelled; a ``kind`` of "original" is no mutant.
    """

    base: str
    form: str
    kind: str
    original: str
    text: str


@dataclass
class Judgement:
    """What became of a mutant. ``wrong`` says where plain integers contradict the prover."""

    mutant: Mutant
    verdict: Literal["refused", "equal", "different", "undecided"] = "refused"
    sound: Literal["", "proved", "refuted", "undecided"] = ""
    reason: str = ""
    seconds: float = 0.0
    checked: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def judge(mutant: Mutant) -> Judgement:
    """Ask the prover about a mutant, and hold its answers against brute force."""
    found = Judgement(mutant)
    try:
        claims = _claims(mutant)
    except LayoutError as error:
        found.reason = error.diagnostics[0].code
        return found
    one = oracle.read(mutant.original)
    if mutant.form == "layout":
        two = oracle.read(mutant.text)
    else:
        two = oracle.read(mutant.original, mutant.text)
    begun = time.perf_counter()
    answers = [check(claim) for claim in claims]
    found.seconds = time.perf_counter() - begun
    for answer in answers:
        reasons = {each.reason for each in answer.findings if isinstance(each, Undecided)}
        if answer.status == "undecided":
            found.reason = "; ".join(sorted(reasons))
        if isinstance(answer.claim.predicate, Sound):
            found.sound = answer.status
            _audit_soundness(found, two, answer)
        else:
            verdicts = {"proved": "equal", "refuted": "different"}
            found.verdict = verdicts.get(answer.status, "undecided")  # type: ignore[assignment]
            _audit_equality(found, one, two, answer)
    return found


def _claims(mutant: Mutant) -> list[Claim]:
    """That the mutant is the original, and that it is sound itself."""
    name = mutant.base
    if mutant.form != "layout":
        text = f"{mutant.original}\nprove {name} == {mutant.text}"
        (claim,) = elaborated(Source("", text), LIBRARY).claims
        assert isinstance(claim.predicate, EqualsFormula)
        return [claim]
    changed = mutant.text.replace(f"layout {name}", "layout Mutant", 1)
    parameters = re.match(r"layout \w+(<.*?>)?", changed)
    assert parameters is not None
    text = f"{mutant.original}\n{changed}\nprove {name} == Mutant\nrefute Mutant"
    equality, soundness = elaborated(Source("", text), LIBRARY).claims
    assert isinstance(equality.predicate, EqualsLayout)
    return [soundness, equality]


def _audit_equality(found: Judgement, one: Reading, two: Reading, answer: Checked) -> None:
    (finding,) = answer.findings
    if isinstance(finding, Refuted):
        example = finding.example
        values = dict(example.shape)
        if not one.defined(values) or not two.defined(values):
            found.wrong.append(f"the counterexample {values} is outside the range")
            return
        sizes = one.size(values), two.size(values)
        shown = sizes[1] is not None and sizes[0] != sizes[1] and not example.points
        for point in example.points:
            index = dict(point.index)
            given = one.offsets(values, index), two.offsets(values, index)
            said = [int(each) for each in re.findall(r"(?:offset |gives |, )(-?\d+)", point.words)]
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
                return


def _difference(one: Reading, two: Reading, values: dict[str, int]) -> bool:
    if not two.defined(values):
        return False
    index = oracle.every_index(one, values)
    if np.any(one.offsets(values, index) != two.offsets(values, index)):
        return True
    sizes = one.size(values), two.size(values)
    return sizes[1] is not None and sizes[0] != sizes[1]


def _audit_soundness(found: Judgement, two: Reading, answer: Checked) -> None:
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
                return


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


def _audit_least(found: Judgement, reading: Reading, values: dict[str, int], fails) -> None:  # type: ignore[no-untyped-def]
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
