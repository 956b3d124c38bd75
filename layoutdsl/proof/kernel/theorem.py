"""What is proved and how: terms, theorems, and the steps of a proof, as plain values.

Terms and formulas are integers, names, and tuples with an operator in front: `+ - * div mod`,
`= <= <`, `and or not =>`. `div` and `mod` are floor division where the divisor is positive; nothing
is known of divisors that are not. What a step means, and when it is right, says `checker.py`.
This file imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Term: TypeAlias = "int | str | tuple[Any, ...]"


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement about all integers; `definitions` name terms over what comes before them."""

    name: str
    variables: tuple[str, ...]
    hypotheses: tuple[Term, ...]
    goals: tuple[Term, ...]

    def __repr__(self) -> str:
        counts = f"{len(self.hypotheses)} hypotheses, {len(self.goals)} goals"
        return f"<Theorem {self.name}: {counts}>"

    definitions: tuple[tuple[str, Term], ...] = ()


@dataclass(frozen=True, slots=True)
class Native:
    """The whole theorem is one question in the solver's own arithmetic, products included."""


@dataclass(frozen=True, slots=True)
class Define:
    """A new name for a term; the fact `name` says that they are equal."""

    name: str
    term: Term

    def __repr__(self) -> str:
        return f"<Define {self.name}>"


@dataclass(frozen=True, slots=True)
class Have:
    """The solver is asked whether the premises entail the formula; products are opaque to it."""

    fact: str
    formula: Term
    premises: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Have {self.fact}>"


@dataclass(frozen=True, slots=True)
class Use:
    """An earlier theorem, its variables replaced by terms; gives the facts `fact.0`, `fact.1`, ...

    A name without a value stands for itself. The premises are, in order, the theorem's hypotheses
    and definitions after replacement.
    """

    fact: str
    theorem: str
    values: tuple[tuple[str, Term], ...]
    premises: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Use {self.fact}>"


@dataclass(frozen=True, slots=True)
class Ring:
    """The term so far equals `term` as a polynomial, in quotients and remainders as unknowns."""

    term: Term

    def __repr__(self) -> str:
        return "<Ring>"


@dataclass(frozen=True, slots=True)
class By:
    """Replace one side of a known equation by the other, everywhere in the term so far."""

    fact: str
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class Calculate:
    """`term` equals what the moves make of it."""

    fact: str
    term: Term
    moves: tuple[Ring | By, ...]

    def __repr__(self) -> str:
        return f"<Calculate {self.fact}>"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A known fact with known equations applied to it, one after the other."""

    fact: str
    source: str
    moves: tuple[By, ...]

    def __repr__(self) -> str:
        return f"<Rewrite {self.fact}>"


Step: TypeAlias = Define | Have | Use | Calculate | Rewrite
Proof: TypeAlias = "Sequence[Step] | Native"


def names(term: Term) -> Iterator[str]:
    """Yield the names in a term or formula."""
    if isinstance(term, str):
        yield term
    elif isinstance(term, tuple):
        for part in term[1:]:
            yield from names(part)


def size(term: Term) -> int:
    """Return how many names, numbers and operators a term or formula has."""
    total, pending = 0, [term]
    while pending:
        each = pending.pop()
        total += 1
        if isinstance(each, tuple):
            pending += each[1:]
    return total


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """Return the term with names replaced, all at once."""
    if isinstance(term, str):
        return values.get(term, term)
    if isinstance(term, tuple):
        return (term[0], *(substitute(part, values) for part in term[1:]))
    return term


def replaced(term: Term, old: Term, new: Term) -> Term:
    """Return the term with every occurrence of `old` replaced."""
    if term == old:
        return new
    if isinstance(term, tuple):
        return (term[0], *(replaced(part, old, new) for part in term[1:]))
    return term
