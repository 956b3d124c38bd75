"""For which shapes two layouts agree, where they do not for all: conditions found, then proved.

The numbers that cut an axis and those that extents are declared as give the conditions that are
tried: one, all of a block, no more than a block, a multiple of it. A conjunction of them is kept
where no sample that satisfies it differs, and no weaker one is left; then it is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod

from layoutdsl.language.integers.expr import Constant, Expr, Extent, Max, Min, Mod, extents, walk
from layoutdsl.language.meaning.claims import Claim, EqualsLayout
from layoutdsl.language.meaning.model import Condition
from layoutdsl.language.meaning.shapes import Values, in_range
from layoutdsl.language.offsets.axes import Paired
from layoutdsl.language.offsets.cuts import numbers_of
from layoutdsl.language.offsets.maps import COST
from layoutdsl.language.texts.values import said
from layoutdsl.proof.prover.check import attempt
from layoutdsl.proof.prover.verdict import Finding, Proved, certificate_hash
from layoutdsl.view.compare.offsets import common, same

Conditions = tuple[Condition, ...]

MOST_SAMPLES = 3000
MOST_ELEMENTS = 20_000
MOST_CONDITIONS = 4
"""Shapes that are tried, elements of one, and conditions that hold together."""

MOST_ALTERNATIVES = 4
"""Ranges that are proved, the widest first."""

MOST_CONJUNCTIONS = 300_000
ALL_SAMPLES_ELEMENTS = 3_000_000
"""Conjunctions of one number of conditions, and elements of all samples together."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A range in which both layouts are equal, with its certificate."""

    conditions: Conditions
    certificate: str
    queries: int

    def __repr__(self) -> str:
        return said(self, str(self))

    @property
    def of_single_elements(self) -> bool:
        """Whether all it says is that axes have one element, so that their places play no part."""
        return all(map(is_single, self.conditions))

    def __str__(self) -> str:
        return ", ".join(map(str, self.conditions))


def is_single(condition: Condition) -> bool:
    """Return whether a condition says that an extent, or a parameter, is one."""
    return condition.operator == "==" and condition.right == Constant(1)


@dataclass(frozen=True, slots=True)
class Agreements:
    """Where two layouts are equal.

    Attributes:
        proved: ranges, the widest first.
        unproved: ranges in which no difference was found, and no proof either.
        exact: whether at every shape that was tried outside of these they differ.
    """

    proved: tuple[Agreement, ...] = ()
    unproved: tuple[Conditions, ...] = ()
    exact: bool = True


def equality(pair: Paired, where: Conditions = ()) -> Claim:
    """Return the claim that both layouts are equal, where both are defined."""
    further = tuple(each for each in pair.other.where if each not in pair.one.where)
    conditions = (*further, *where)
    text = f"prove {pair.one.name} == {pair.other.name}"
    if conditions:
        text += f" where {', '.join(map(str, conditions))}"
    return Claim("prove", pair.one, EqualsLayout(pair.other), conditions, text)


def proof(pair: Paired, where: Conditions = ()) -> Finding:
    """Return what comes of trying to prove that both layouts are equal."""
    return attempt(equality(pair, where))


def agreements(pair: Paired, tell: Callable[[str], None] = lambda _: None) -> Agreements:
    """Return the ranges in which two layouts, which are not equal, agree."""
    samples = sample(pair)
    alike = sum(1 << k for k, values in enumerate(samples) if same(pair.one, pair.other, values))
    if not alike:
        return Agreements()
    proved: list[Agreement] = []
    unproved: list[Conditions] = []
    covered = 0
    for conditions, mask in _widest(pair, samples, alike)[:MOST_ALTERNATIVES]:
        tell(f"proving equality where {', '.join(map(str, conditions))}")
        finding = proof(pair, conditions)
        covered |= mask
        if isinstance(finding, Proved):
            proved.append(Agreement(conditions, certificate_hash(finding), finding.queries))
        else:
            unproved.append(conditions)
    return Agreements(tuple(proved), tuple(unproved), not alike & ~covered)


def _widest(pair: Paired, samples: Sequence[Values], alike: int) -> list[tuple[Conditions, int]]:
    """Return the conjunctions that no sample contradicts, each with its samples as bits."""
    tried = [
        (condition, mask)
        for condition in candidates(pair)
        if (mask := sum(1 << k for k, each in enumerate(samples) if condition.holds(each)))
    ]
    found: list[tuple[Conditions, int]] = []
    for count in range(1, MOST_CONDITIONS + 1):
        if comb(len(tried), count) > MOST_CONJUNCTIONS:
            break
        for chosen in combinations(tried, count):
            if len({_subject(each) for each, _ in chosen}) < count:
                continue
            mask = chosen[0][1]
            for _, more in chosen[1:]:
                mask &= more
            covered = any(mask | other == other for _, other in found)
            if mask and not mask & ~alike and not covered:
                conditions = tuple(each for each, _ in chosen)
                found = [each for each in found if each[1] | mask != mask]
                found.append((conditions, mask))
    return sorted(found, key=lambda each: (-each[1].bit_count(), len(each[0])))


def _subject(condition: Condition) -> Expr:
    return condition.left.left if isinstance(condition.left, Mod) else condition.left


def candidates(pair: Paired) -> tuple[Condition, ...]:
    """Return the conditions on one extent or parameter each that are worth trying."""
    both = common(pair)
    cuts = numbers_of(both)
    extremes = (part for each in both.all_coordinates for part in walk(each.extent))
    bounded = {name for each in extremes if isinstance(each, Min | Max) for name in extents(each)}
    found: list[Condition] = []
    for name in both.symbols:
        symbol = Extent(name)
        found.append(Condition(symbol, "==", Constant(1)))
        for number in sorted(cuts[name] - {1}):
            block = Constant(number)
            found.append(Condition(Mod(symbol, block), "==", Constant(0)))
            found.append(Condition(symbol, "<=", block))
            found.append(Condition(symbol, "==", block))
            if name in bounded:
                found.append(Condition(symbol, ">=", block))
        found += [
            Condition(symbol, "==", Extent(other))
            for other in both.parameters
            if other != name and (name not in both.parameters or name < other)
        ]
    return tuple(found)


def sample(pair: Paired) -> tuple[Values, ...]:
    """Return shapes around the blocks of both layouts, the smallest first."""
    both = common(pair)
    cuts = numbers_of(both)
    choices = [_choices(cuts[name], len(both.symbols)) for name in both.symbols]
    boxes = sorted(_some(choices), key=prod)
    left, found = 4 * ALL_SAMPLES_ELEMENTS // COST, list[Values]()
    for extents_ in boxes:
        values = dict(zip(both.symbols, extents_, strict=True))
        elements = prod(both.shape_of(values))
        if elements > MOST_ELEMENTS or not in_range(both, values):
            continue
        left -= elements
        if left < 0:
            break
        found.append(values)
    return tuple(found)


def _choices(cuts: set[int], count: int) -> list[int]:
    """Extents around blocks; those that matter most come first, and the rest is cut off."""
    blocks = sorted(cuts - {1})
    ordered = [1, 2, 3, *blocks, *(2 * each for each in blocks)]
    ordered += [each + step for each in blocks for step in (-1, 1)]
    ordered += [2 * each + 1 for each in blocks]
    most = max(3, int((4 * MOST_SAMPLES) ** (1 / max(count, 1))))
    return [each for each in dict.fromkeys(ordered) if each >= 1][:most]


def _some(choices: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Yield all boxes, or so many of them, evenly, that they are few enough."""
    total = prod(map(len, choices))
    step = max(1, total // MOST_SAMPLES)
    while step > 1 and any(step % len(each) == 0 for each in choices):
        step += 1
    for number, box in enumerate(product(*choices)):
        if number % step == 0:
            yield box
