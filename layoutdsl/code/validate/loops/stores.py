"""Stores of a tree, each with its loops and digits as variables, and what has to hold for them.

A variable of a loop is known to be not negative and below its count; one that slides lies between 0
and what is left of its extent. Trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from layoutdsl.proof.kernel.theorem import Term


@dataclass(frozen=True, slots=True)
class Turning:
    """A variable ``0 <= name < count``."""

    name: str
    count: Term

    @property
    def facts(self) -> tuple[Term, ...]:
        """What is known of it."""
        return ("<=", 0, self.name), ("<", self.name, self.count)


@dataclass(frozen=True, slots=True)
class Sliding:
    """A variable ``name = min(k*step, extent - step)`` for some ``k*step`` below the extent."""

    name: str
    extent: Term
    step: int

    @property
    def facts(self) -> tuple[Term, ...]:
        """What is known of it, where the extent is not below the step."""
        return ("<=", 0, self.name), ("<=", ("+", self.name, self.step), self.extent)


Variable = Turning | Sliding


@dataclass(frozen=True, slots=True)
class Here:
    """Where in a tree we are.

    Attributes:
        known: what its names stand for.
        variables: of loops and digits, the outer first.
        conditions: under which it is done.
    """

    known: dict[str, Term]
    variables: tuple[Variable, ...] = ()
    conditions: tuple[Term, ...] = ()

    def under(self, *conditions: Term) -> Here:
        """Return the same, with more known."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def turning(self, variable: Variable) -> Here:
        """Return the same inside of a loop."""
        return replace(self, variables=(*self.variables, variable))

    @property
    def facts(self) -> tuple[Term, ...]:
        """All that is known."""
        return (*(fact for each in self.variables for fact in each.facts), *self.conditions)


@dataclass(frozen=True, slots=True)
class Write:
    """A store of one element, or of the fill, for all values of its variables.

    Attributes:
        here: under which it is done.
        target: its place in the box that is written.
        source: the place that is read in the other box, ``None`` for the fill.
    """

    here: Here
    target: tuple[Term, ...]
    source: tuple[Term, ...] | None


@dataclass(frozen=True, slots=True)
class Need:
    """A formula that has to hold under facts."""

    about: str
    facts: tuple[Term, ...]
    goal: Term


def ends(place: Sequence[Term], box: Sequence[Term]) -> tuple[Term, ...]:
    """Return what says that a place lies in a box."""
    both = zip(place, box, strict=True)
    return tuple(each for at, extent in both for each in (("<=", 0, at), ("<", at, extent)))


def is_plain(formula: Term) -> bool:
    """Return whether a formula is an equation of equals, or a comparison of numbers that holds."""
    match formula:
        case ("=", left, right):
            return bool(left == right)
        case ("<=", int() as left, int() as right):
            return left <= right
        case ("<", int() as left, int() as right):
            return left < right
    return False
