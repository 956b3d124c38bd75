"""A step under way: what it is given, and the ways in which rules ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.proof.evidence.replay.reading import Argument
from layoutdsl.proof.evidence.replay.terms import Refused, Sort, Term, Terms, Value
from layoutdsl.proof.evidence.replay.values import Polynomial


class Memory:
    """Terms, values and polynomials of one proof, kept so that none is worked out twice."""

    def __init__(self) -> None:
        self.terms = Terms()
        self.values: dict[Term, Value | None] = {}
        self.polynomials: dict[Term, Polynomial] = {}


@dataclass(frozen=True, slots=True)
class Step:
    """What a rule is applied to.

    Attributes:
        memory: of the proof.
        premises: what is known, in the order of the step.
        arguments: what else the step says.
    """

    memory: Memory
    premises: tuple[Term, ...]
    arguments: tuple[Argument, ...] = ()

    @property
    def terms(self) -> Terms:
        """Makes terms."""
        return self.memory.terms

    def make(self, operator: str, *parts: Term) -> Term:
        """Return an application."""
        return self.memory.terms.make(operator, *parts)

    def negation(self, formula: Term) -> Term:
        """Return `(not formula)`."""
        return self.memory.terms.make("not", formula)

    def either(self, formulas: Sequence[Term]) -> Term:
        """Return a clause: `false` of none, the formula of one, else their `or`."""
        match formulas:
            case []:
                return self.terms.false
            case [only]:
                return only
        return self.make("or", *formulas)

    def plain(self, premises: int, arguments: int) -> None:
        """Refuse a step that has not so many premises and arguments, all of them terms."""
        if len(self.premises) != premises:
            raise Refused(f"it has {len(self.premises)} premises and not {premises}")
        if len(self.arguments) != arguments:
            raise Refused(f"it has {len(self.arguments)} arguments and not {arguments}")

    def argument(self, place: int) -> Term:
        """Return the argument at a place, which has to be a term."""
        found = self.arguments[place]
        if isinstance(found, Term):
            return found
        raise Refused("a list stands where a term should")

    def listed(self, place: int) -> tuple[Term, ...]:
        """Return the argument at a place, which has to be a list of terms."""
        found = self.arguments[place]
        if isinstance(found, Term):
            raise Refused("a term stands where a list should")
        terms = tuple(each for each in found if isinstance(each, Term))
        if len(terms) < len(found):
            raise Refused("a list holds another list")
        return terms

    def position(self, place: int, count: int) -> int:
        """Return the argument at a place as a number from 0 to below ``count``."""
        number = self.argument(place).number
        if number is None or number.denominator != 1 or not 0 <= number < count:
            raise Refused("there is no such part")
        return int(number)


Rule: TypeAlias = "Callable[[Step], Term]"


def parts_of(term: Term, operator: str, words: str) -> tuple[Term, ...]:
    """Return what an operator is applied to.

    Args:
        term: has to be an application of it.
        operator: which one.
        words: what the term is here, for the message.

    Raises:
        Refused: it is something else.
    """
    if term.operator != operator or not term.parts:
        raise Refused(f"{words} is no `{operator}`")
    return term.parts


def numbers(*terms: Term) -> None:
    """Refuse terms that are no numbers."""
    if any(each.sort is Sort.BOOL for each in terms):
        raise Refused("a formula stands where a number should")


def integers(*terms: Term) -> None:
    """Refuse terms that are not integers by their sort."""
    if any(each.sort is not Sort.INT for each in terms):
        raise Refused("a term that need not be an integer stands where one should")
