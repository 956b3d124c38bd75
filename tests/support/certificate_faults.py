"""Certificates with one fault each: a goal, a step, a premise or a definition is changed.

Some faults are harmless: a premise may be superfluous, and a changed goal may be true too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeVar

from layoutdsl.proof.evidence.manifest import Proofs
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.theorem import (
    By,
    Calculate,
    Define,
    Have,
    Rewrite,
    Ring,
    Step,
    Term,
    Theorem,
    Use,
)

Kind = TypeVar("Kind", bound=Step)
_LEMMAS = tuple(lemmas.stated())
_TRIES = 30


class Unfit(Exception):  # noqa: N818  the fault does not fit this proof
    """The proof has nothing that a fault of this kind could change."""


@dataclass
class Draft:
    """A theorem and its proof, to be changed."""

    random: Random
    theorem: Theorem
    steps: list[Any]
    theorems: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """All names of integers, at least one."""
        defined = [step.name for step in self.steps if isinstance(step, Define)]
        own = [name for name, _ in self.theorem.definitions]
        return [*self.theorem.variables, *own, *defined] or ["zz"]

    def pick(self, kind: type[Kind], has: Callable[[Kind], Any] = bool) -> tuple[int, Kind]:
        """Choose a step of a kind."""
        found = [(n, s) for n, s in enumerate(self.steps) if isinstance(s, kind) and has(s)]
        if not found:
            raise Unfit
        return self.random.choice(found)

    def changed(self, term: Term, names: Sequence[str] | None = None) -> Term:
        """Return a term or formula with one number, name or operator changed."""
        for _ in range(_TRIES):
            path, part = self.random.choice(list(_parts(term)))
            other = self._other(part, names or self.names)
            if other != part:
                return _with(term, path, other)
        raise Unfit

    def _other(self, part: Term, names: Sequence[str]) -> Term:
        match part:
            case int():
                return part + self.random.choice([-1, 1])
            case str():
                return self.random.choice(names)
            case ("<=", left, right):
                return ("<", left, right)
            case ("<", left, right):
                return ("<", right, left)
            case (("+" | "-" | "*" | "div" | "mod") as operator, left, right):
                return (_EXCHANGED[operator], left, right)
            case ("=>", _, conclusion):
                return conclusion
            case (("and" | "or"), *parts) if len(parts) > 1:
                return part[:-1]
            case ("not", inner):
                return inner
        return part


_EXCHANGED = {"+": "-", "-": "+", "*": "+", "div": "mod", "mod": "div"}


def _parts(term: Term, path: tuple[int, ...] = ()) -> Any:
    yield path, term
    if isinstance(term, tuple):
        for number, part in enumerate(term[1:], 1):
            yield from _parts(part, (*path, number))


def _with(term: Any, path: tuple[int, ...], new: Term) -> Term:
    if not path:
        return new
    number, *rest = path
    return (*term[:number], _with(term[number], tuple(rest), new), *term[number + 1 :])


def _replace(items: Sequence[Any], number: int, new: Any) -> tuple[Any, ...]:
    return (*items[:number], new, *items[number + 1 :])


def _goal(draft: Draft) -> None:
    """Change a goal, mostly together with the step that proves it."""
    number = draft.random.randrange(len(draft.theorem.goals))
    old = draft.theorem.goals[number]
    new = draft.changed(old)
    draft.theorem = replace(draft.theorem, goals=_replace(draft.theorem.goals, number, new))
    if draft.random.random() < 0.7:
        draft.steps = [
            replace(step, formula=new) if isinstance(step, Have) and step.formula == old else step
            for step in draft.steps
        ]


def _hypothesis(draft: Draft) -> None:
    found = draft.theorem.hypotheses
    if not found:
        raise Unfit
    number = draft.random.randrange(len(found))
    empty: Term = ("<=", 0, 0)
    new = empty if draft.random.random() < 0.5 else draft.changed(found[number])
    draft.theorem = replace(draft.theorem, hypotheses=_replace(found, number, new))


def _definition(draft: Draft) -> None:
    found = draft.theorem.definitions
    if not found:
        raise Unfit
    number = draft.random.randrange(len(found))
    name, term = found[number]
    new = (name, draft.changed(term))
    draft.theorem = replace(draft.theorem, definitions=_replace(found, number, new))


def _have(draft: Draft) -> None:
    number, step = draft.pick(Have)
    draft.steps[number] = replace(step, formula=draft.changed(step.formula))


def _premise(draft: Draft) -> None:
    number, step = draft.pick(Have, lambda step: step.premises)
    premises = list(step.premises)
    premises.pop(draft.random.randrange(len(premises)))
    draft.steps[number] = replace(step, premises=tuple(premises))


def _drop(draft: Draft) -> None:
    draft.steps.pop(draft.random.randrange(len(draft.steps)))


def _calculate(draft: Draft) -> None:
    number, step = draft.pick(Calculate)
    draft.steps[number] = replace(step, term=draft.changed(step.term))


def _ring(draft: Draft) -> None:
    def rings(step: Calculate) -> list[int]:
        return [n for n, move in enumerate(step.moves) if isinstance(move, Ring)]

    number, step = draft.pick(Calculate, rings)
    at = draft.random.choice(rings(step))
    move = step.moves[at]
    assert isinstance(move, Ring)
    moves = _replace(step.moves, at, Ring(draft.changed(move.term)))
    draft.steps[number] = replace(step, moves=moves)


def _equation(draft: Draft) -> None:
    """Use an equation from the other side."""

    def equations(step: Calculate | Rewrite) -> list[int]:
        return [n for n, move in enumerate(step.moves) if isinstance(move, By)]

    kind = draft.random.choice([Calculate, Rewrite])
    number, step = draft.pick(kind, equations)  # type: ignore[type-var]
    at = draft.random.choice(equations(step))
    move = step.moves[at]
    assert isinstance(move, By)
    moves = _replace(step.moves, at, By(move.fact, not move.backwards))
    draft.steps[number] = replace(step, moves=moves)


def _value(draft: Draft) -> None:
    number, step = draft.pick(Use, lambda step: step.values)
    at = draft.random.randrange(len(step.values))
    name, term = step.values[at]
    values = _replace(step.values, at, (name, draft.changed(term)))
    draft.steps[number] = replace(step, values=values)


def _used_premise(draft: Draft) -> None:
    number, step = draft.pick(Use, lambda step: step.premises)
    at = draft.random.randrange(len(step.premises))
    facts = ["hyp.0", *(each.fact for each in draft.steps if isinstance(each, Have))]
    premises = _replace(step.premises, at, draft.random.choice(facts))
    draft.steps[number] = replace(step, premises=premises)


def _used_theorem(draft: Draft) -> None:
    number, step = draft.pick(Use)
    draft.steps[number] = replace(step, theorem=draft.random.choice([*_LEMMAS, *draft.theorems]))


def _circle(draft: Draft) -> None:
    """Define a name by itself, or by a name that comes later."""
    number, step = draft.pick(Define)
    names = [*draft.names, step.name, step.name]
    draft.steps[number] = replace(step, term=draft.changed(step.term, names))


def _capture(draft: Draft) -> None:
    """Define a name that is taken, so that its equation may contradict the other."""
    number, step = draft.pick(Define)
    draft.steps[number] = replace(step, name=draft.random.choice(draft.names))


def _contradiction(draft: Draft) -> None:
    name = draft.random.choice(draft.names)
    draft.steps.insert(0, Define(name, ("+", name, 1)))


def _swap(draft: Draft) -> None:
    if len(draft.steps) < 2:
        raise Unfit
    number = draft.random.randrange(len(draft.steps) - 1)
    draft.steps[number : number + 2] = reversed(draft.steps[number : number + 2])


FAULTS: Mapping[str, Callable[[Draft], None]] = {
    each.__name__.strip("_"): each
    for each in (
        *(_goal, _hypothesis, _definition, _have, _premise, _drop, _calculate, _ring, _equation),
        *(_value, _used_premise, _used_theorem, _circle, _capture, _contradiction, _swap),
    )
}


def faulty(proofs: Proofs, random: Random) -> tuple[str, Proofs]:
    """Return the name of a fault, and the proofs of a claim with this fault in one of them."""
    while True:
        number = random.randrange(len(proofs))
        theorem, proof = proofs[number]
        assert not hasattr(proof, "native")
        names = tuple(each.name for each, _ in proofs)
        draft = Draft(random, theorem, list(proof), names)  # type: ignore[arg-type]
        name = random.choice(list(FAULTS))
        try:
            if draft.steps:
                FAULTS[name](draft)
        except Unfit:
            continue
        changed = _replace(proofs, number, (draft.theorem, tuple(draft.steps)))
        if changed != proofs:
            return name, changed
