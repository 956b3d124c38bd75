"""That boxes cover a block of memory, each slot exactly once. Trusted.

A box is a product of intervals, and a loop over a list of parts writes as many boxes as there are
parts. So the number of times a slot is written is a sum of products: for every box one factor for
each thing that decides it, be it a single interval or the member of a loop. Where the things that
decide about the same dimensions exclude each other and leave nothing out, their numbers add up to
one; with that, the sum has to be one. What remains to be proved is linear, and of one axis at a
time: exactly one of these parts holds a given position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from layoutdsl.code.validate.meaning import Need
from layoutdsl.code.validate.values import Array, Choice, Meaningless, Root, choices_in
from layoutdsl.proof.kernel.checker import Term, polynomial, substitute

Place = tuple[Root, int]


@dataclass(frozen=True, slots=True)
class Box:
    """What is written at once, for every member of the choices."""

    array: Array
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class _Factor:
    """Intervals along dimensions of a root; where they are those of a choice, of all members."""

    intervals: tuple[tuple[Place, Term, Term], ...]
    choice: Choice | None


def exactly_once(
    boxes: Sequence[Box], path: tuple[Term, ...], openings: dict[str, Term]
) -> Iterator[Need]:
    """Yield what makes the boxes, all of one block, cover it exactly once.

    Raises:
        Meaningless: slots are written twice, or not at all, whatever the extents.
    """
    cuts = [list(_intervals(box)) for box in boxes]
    groups = _grouped(cuts)
    factors = [_factors(box, cut, groups) for box, cut in zip(boxes, cuts, strict=True)]
    numbered = {
        factor: f"x.{n}" for n, factor in enumerate(dict.fromkeys(f for fs in factors for f in fs))
    }
    total: Term = 0
    for own in factors:
        product: Term = 1
        for factor in own:
            product = ("*", product, numbered[factor])
        total = ("+", total, product)
    members: dict[int, list[_Factor]] = {}
    for factor in numbered:
        members.setdefault(groups[factor.intervals[0][0]], []).append(factor)
    for alike in members.values():
        *others, last = alike
        rest: Term = 1
        for other in others:
            rest = ("-", rest, numbered[other])
        total = substitute(total, {numbered[last]: rest})
    if polynomial(total) != {(): 1}:
        raise Meaningless("some slots are written twice, or never")
    for alike in members.values():
        yield from _one_of(alike, path, openings)


def _intervals(box: Box) -> Iterator[tuple[Place, Term, Term]]:
    """The intervals that decide whether a slot is in a box, root by root."""
    array: Array | None = box.array
    while array is not None:
        under = array.root.parent
        for dimension, (low, high) in enumerate(array.box):
            if array.is_cut(dimension):
                if any(map(choices_in, array.root.shape)) or _moves(under):
                    raise Meaningless("a part of a part is written")
                yield (array.root, dimension), low, high
        array = under


def _moves(array: Array | None) -> bool:
    """Whether an array, or one under it, is another for each round of a loop."""
    while array is not None:
        if any(choices_in(end) for ends in array.box for end in ends):
            return True
        array = array.root.parent
    return False


def _grouped(cuts: Sequence[Sequence[tuple[Place, Term, Term]]]) -> dict[Place, int]:
    """Dimensions that one choice decides belong together."""
    groups: dict[Place, int] = {}
    for cut in cuts:
        for place, _, _ in cut:
            groups.setdefault(place, len(groups))
    for cut in cuts:
        by_choice: dict[str, list[Place]] = {}
        for place, low, high in cut:
            for choice in choices_in(low) | choices_in(high):
                by_choice.setdefault(choice, []).append(place)
        for places in by_choice.values():
            joined = {groups[place] for place in places}
            first = min(joined)
            groups = {
                place: first if number in joined else number for place, number in groups.items()
            }
    return groups


def _factors(
    box: Box, cut: Sequence[tuple[Place, Term, Term]], groups: dict[Place, int]
) -> list[_Factor]:
    by_group: dict[int, list[tuple[Place, Term, Term]]] = {}
    for each in cut:
        by_group.setdefault(groups[each[0]], []).append(each)
    known = {choice.name: choice for choice in box.choices}
    factors: list[_Factor] = []
    for intervals in by_group.values():
        said = {name for _, low, high in intervals for name in choices_in(low) | choices_in(high)}
        if len(said) > 1:
            raise Meaningless("two loops decide about one dimension")
        choice = known.pop(said.pop(), None) if said else None
        factors.append(_Factor(tuple(intervals), choice))
        if said and choice is None:
            raise Meaningless("a box depends on a loop that is not around it")
    if known:
        raise Meaningless("the same box is written by every round of a loop")
    return factors


def _one_of(
    factors: Sequence[_Factor], path: tuple[Term, ...], openings: dict[str, Term]
) -> Iterator[Need]:
    """Exactly one of the factors, and of the members of their choices, holds a position."""
    places = dict.fromkeys(place for f in factors for place, _, _ in f.intervals)
    names = {place: f"s.{number}" for number, place in enumerate(places)}
    conditions: list[Term] = []
    for factor in factors:
        members = factor.choice.alternatives if factor.choice else (None,)
        for member in members:
            values = member_values(factor.choice, member, openings) if factor.choice else {}
            parts: list[Term] = list(member.guard) if member else []
            for place, low, high in factor.intervals:
                parts.append(("<=", substitute(low, values), names[place]))
                parts.append(("<", names[place], substitute(high, values)))
            conditions.append(("and", *parts))
    within = tuple((name, root.shape[dimension]) for (root, dimension), name in names.items())
    yield Need("a slot is written", path, (), within, ("or", *conditions))
    for one, other in combinations(conditions, 2):
        yield Need("a slot is written twice", path, (), within, ("not", ("and", one, other)))


def member_values(choice: Choice, member: object, openings: dict[str, Term]) -> dict[str, Term]:
    """Return what the leaves of a choice stand for in one of its members.

    Raises:
        Meaningless: a slice is left open, and it is not known along what.
    """
    leaves = next(each.leaves for each in choice.alternatives if each is member)
    values: dict[str, Term] = {}
    for number, leaf in enumerate(leaves):
        name = choice.leaf(number)
        if leaf is None and name not in openings:
            raise Meaningless("an open slice is used along no dimension")
        values[name] = openings[name] if leaf is None else leaf
    return values
