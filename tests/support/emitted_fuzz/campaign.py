"""Layout after layout: each with everything that is emitted of it, at a few shapes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random

from functions_built import C

from layoutdsl.proof.refute import refute

from . import modules
from .c_functions import compile_together
from .cases import KINDS_OF_CODE, Case, Kind, Refused, Ways
from .counting import count
from .drawing import drawn, far_shape, pair, shape_in
from .meaning import meaning
from .running import run, same_fault, sort_of
from .shrinking import shrunk

LARGE = (20_000, 20_000, 150_000)
"""Elements of shapes at which regions are moved by wide items, and formulas are run in pieces."""
ALIKE = 4
"""Faults that look the same of which each is made small; more are told as they are."""
EVALUATIONS = 2000
TOGETHER = 12
"""Layouts whose C is compiled in one go."""


@dataclass
class Found:
    """What became of the layouts, and the faults, each as small as it could be made."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[Case, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Share:
    """What is asked of layouts; of what takes long, of how many in a hundred.

    Of layouts that are wrong at a shape that was drawn most are left out, as nothing is emitted.
    """

    shapes: int = 3
    numpy: int = 100
    large: int = 8
    c: int = 15
    conversions: int = 15
    wrong: int = 8
    kinds: tuple[Kind, ...] = KINDS_OF_CODE


def campaign(
    seed: int,
    layouts: int,
    share: Share = Share(),
    tell: Callable[[Found], None] = lambda _: None,
    most: int | None = None,
) -> Found:
    """Run as many layouts, or until so many faults; those that the language refuses do not count.

    The layout of a seed is the same in every run; the next one is that of the next seed.
    """
    with short_search():
        return _campaign(seed, layouts, share, tell, most)


@contextmanager
def short_search() -> Iterator[None]:
    """Look for counterexamples among few shapes, and ask no solver for one.

    What is wrong at a shape that is tried here is known without; the search is tested elsewhere.
    """
    usual = refute.EVALUATIONS, refute._hint
    refute.EVALUATIONS, refute._hint = EVALUATIONS, lambda *_: None
    try:
        yield
    finally:
        refute.EVALUATIONS, refute._hint = usual


def _campaign(
    seed: int, layouts: int, share: Share, tell: Callable[[Found], None], most: int | None
) -> Found:
    found, waiting = Found(), list[Case]()
    while found.counts["layouts"] < layouts:
        cases = cases_of(Random(seed), share, found.counts)
        seed += 1
        for case in cases:
            if case.kind == "c":
                waiting.append(case)
            else:
                _settle(case, found)
        if len({case.text for case in waiting}) >= TOGETHER:
            _settle_compiled(waiting, found)
            waiting = []
        if cases:
            tell(found)
        if most is not None and len(found.faults) >= most:
            return found
    _settle_compiled(waiting, found)
    return found


def cases_of(random: Random, share: Share, counts: Counter[str]) -> list[Case]:
    """What is asked of one layout; nothing where the text is none, or has no shape."""
    text = drawn(random)
    try:
        modules.layout_of(text)
    except Refused:
        counts["refused texts"] += 1
        return []
    shapes = [shape for _ in range(share.shapes) if (shape := shape_in(text, random)) is not None]
    shapes = list(dict.fromkeys(shapes))
    if not shapes:
        counts["no shape"] += 1
        return []
    known = [meaning(text, shape) for shape in shapes]
    if not all(each and each.right for each in known) and random.randrange(100) >= share.wrong:
        counts["wrong, and left out"] += 1
        return []
    far = far_shape(text, random)
    counts["layouts"] += 1
    cases = list[Case]()
    if random.randrange(100) < share.numpy:
        counts["layouts asked for a module"] += "numpy" in share.kinds
        large = shape_in(text, random, random.choice(LARGE))
        some = shapes if large is None or random.randrange(100) >= share.large else [*shapes, large]
        cases += [Case("numpy", text, shape, Ways.drawn(random)) for shape in some]
    cases += [Case("python", text, shape) for shape in (*shapes, far) if shape is not None]
    if random.randrange(100) < share.conversions:
        cases += converted(random, share.shapes)
    if random.randrange(100) < share.c and C is not None:
        cases += [Case("c", text, shape) for shape in (*shapes, far) if shape is not None]
    return [case for case in cases if case.kind in share.kinds]


def converted(random: Random, count: int) -> list[Case]:
    """What is asked of a conversion between two more layouts."""
    text, other = pair(random)
    try:
        modules.layout_of(text), modules.layout_of(other)
    except Refused:
        return []
    shapes = [shape_in(random.choice((text, other)), random) for _ in range(count)]
    return [
        Case("convert", text, shape, Ways.drawn(random), other)
        for shape in dict.fromkeys(shapes)
        if shape is not None
    ]


def _settle_compiled(cases: list[Case], found: Found) -> None:
    with suppress(Exception):  # it is told of the layout of which it is so, one by one
        compile_together(case.text for case in cases)
    for case in cases:
        _settle(case, found)


def _settle(case: Case, found: Found) -> None:
    outcome, message = run(case)
    found.counts[f"{case.kind}: {outcome}"] += 1
    if outcome != "wrong":
        count(case, outcome, found.counts)
    if outcome == "wrong":
        known = sum(sort_of(each) == sort_of(message) for _, each in found.faults)
        small = shrunk(case, same_fault(case, message)) if known < ALIKE else case
        found.faults.append((small, run(small)[1]))


def told(found: Found, seconds: float) -> str:
    """The counts and the faults, as text."""
    counts = found.counts
    rate = 60 * counts["layouts"] / seconds if seconds else 0.0
    lines = [f"{counts['layouts']} layouts, {len(found.faults)} faults, {rate:.0f} a minute"]
    lines += [f"  {counts[name]:7} {name}" for name in sorted(counts) if name != "layouts"]
    for case, message in found.faults:
        lines += [f"{case.text}", f"  at {case.shape}: {message}", f"  {case}"]
    return "\n".join(lines)


def now() -> float:
    return time.perf_counter()
