"""From what has to be shown to theorems of the checker. Trusted.

A goal that speaks of the member at hand of one loop becomes a theorem for each member of its list.
One that speaks of several loops becomes one theorem, under facts of which each speaks of one loop
and is such a goal itself; whoever finds proofs also finds the facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from layoutdsl.code.validate.ground import Stated
from layoutdsl.code.validate.meaning import Meaning, Need
from layoutdsl.code.validate.partition import member_values
from layoutdsl.code.validate.values import Choice, Meaningless, choices_in
from layoutdsl.proof.kernel.checker import Term, Theorem, names, substitute

Cut = Callable[[Term], Sequence[Term]]
"""Finds facts for a goal that speaks of several loops: formulas that speak of one each."""


@dataclass(frozen=True, slots=True)
class _Key:
    """What goals have in common that are shown at once."""

    path: tuple[Term, ...]
    choice: Choice | None
    places: tuple[tuple[str, Term], ...]


def theorems(stated: Stated, cut: Cut) -> list[tuple[str, Theorem]]:
    """Return the theorems that a module rests on, and what each is about, in a few words.

    Raises:
        Meaningless: a goal speaks of a loop that is not around it.
    """
    meaning, ground = stated.meaning, stated.ground.hypotheses
    bundles: dict[_Key, dict[Term, str]] = {}
    found: list[tuple[str, Theorem]] = []
    pending = list(meaning.needs)
    while pending:
        need = pending.pop(0)
        said = choices_in(need.goal)
        own = [choice for choice in need.choices if choice.name in said]
        if len(own) < len(said):
            raise Meaningless("a goal speaks of a loop that is not around it")
        places = _about(need, said)
        if len(own) < 2:
            key = _Key(need.path, own[0] if own else None, places)
            bundles.setdefault(key, {}).setdefault(need.goal, need.about)
            continue
        facts = [each for each in cut(need.goal) if len(choices_in(each)) == 1]
        pending += [Need(need.about, need.path, need.choices, need.places, each) for each in facts]
        hypotheses = (*ground, *need.path, *_within(places), *facts)
        theorem = _theorem(f"whole.{len(found)}", meaning, hypotheses, (need.goal,))
        found.append((need.about, theorem))
    for number, (key, goals) in enumerate(bundles.items()):
        about = ", ".join(dict.fromkeys(goals.values()))
        parts = _parts(f"part.{number}", key, tuple(goals), stated)
        found += [(about, part) for part in parts]
    for each in stated.separate:
        theorem = _theorem(each.name, meaning, each.hypotheses, each.goals)
        found.append(("a shape that is refused", theorem))
    different = {(theorem.hypotheses, theorem.goals): (about, theorem) for about, theorem in found}
    return list(different.values())


def _about(need: Need, said: set[str]) -> tuple[tuple[str, Term], ...]:
    """The places that a goal speaks of, or that the same loops are about."""
    used = set(names(need.goal))
    return tuple(
        (name, extent)
        for name, extent in need.places
        if name in used or (choices_in(extent) and choices_in(extent) <= said)
    )


def _within(places: Iterable[tuple[str, Term]]) -> list[Term]:
    return [each for name, extent in places for each in (("<=", 0, name), ("<", name, extent))]


def _parts(name: str, key: _Key, goals: tuple[Term, ...], stated: Stated) -> list[Theorem]:
    meaning = stated.meaning
    hypotheses = (*stated.ground.hypotheses, *key.path, *_within(key.places))
    if key.choice is None:
        return [_theorem(name, meaning, hypotheses, goals)]
    found: list[Theorem] = []
    for number, member in enumerate(key.choice.alternatives):
        values = member_values(key.choice, member, meaning.openings)
        given = tuple(substitute(each, values) for each in hypotheses)
        shown = tuple(dict.fromkeys(substitute(each, values) for each in goals))
        found.append(_theorem(f"{name}.{number}", meaning, (*given, *member.guard), shown))
    return found


def _theorem(
    name: str, meaning: Meaning, hypotheses: Sequence[Term], goals: tuple[Term, ...]
) -> Theorem:
    """The theorem, with those definitions that it speaks of, directly or not."""
    hypotheses = tuple(dict.fromkeys(hypotheses))
    used = {each for term in (*hypotheses, *goals) for each in names(term)}
    defined = {own: term for term, own in meaning.definitions.items()}
    definitions: list[tuple[str, Term]] = []
    for own, term in reversed(defined.items()):
        if own in used:
            definitions.append((own, term))
            used.update(names(term))
    variables = tuple(sorted(used - {own for own, _ in definitions}))
    return Theorem(name, variables, hypotheses, goals, tuple(reversed(definitions)))
