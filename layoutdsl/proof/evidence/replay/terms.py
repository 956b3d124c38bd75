"""Terms of a proof: each made once, with a sort, so that two that are equal are one object.

What they mean: `Int` are the integers, `Real` the rational numbers, of which integers are some, and
`to_real` is the same number. `div` and `mod` are Euclidean; by 0 they are functions that nothing is
known of, while `div_total` then is 0 and `mod_total` what is divided. `@purify` is what it names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

DEEPEST = 250
"""How deep a term may be: what is deeper is not followed."""

LARGEST = 1 << 4096
"""Numbers from here on are not calculated with."""


class Refused(ValueError):  # noqa: N818  says what is wrong with a proof
    """A proof is not accepted: a step does not follow, or is none that is known here."""


class Sort(Enum):
    """What a term is a value of."""

    BOOL = "Bool"
    INT = "Int"
    REAL = "Real"


Value: TypeAlias = "Fraction | bool"


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """An operator and what it is applied to; `value` is there for numbers, `true` and `false`.

    Terms are equal where they are the same object: see `Terms`.
    """

    operator: str
    parts: tuple[Term, ...]
    sort: Sort
    value: Value | None = None
    depth: int = 0

    @property
    def number(self) -> Fraction | None:
        """The number that a literal is; of other terms none."""
        value = self.value
        return None if value is None or isinstance(value, bool) else value

    def __str__(self) -> str:
        if not self.parts:
            return self.operator
        if self.depth > 3:
            return f"({self.operator} ...)"
        return f"({self.operator} {' '.join(map(str, self.parts))})"


Sorts: TypeAlias = "Sequence[Sort]"
Typing: TypeAlias = "Callable[[Sorts], Sort | None]"


def _numbers(sorts: Sorts) -> bool:
    return all(each is not Sort.BOOL for each in sorts)


def _connective(least: int, most: int | None) -> Typing:
    def sort(sorts: Sorts) -> Sort | None:
        fits = len(sorts) >= least and (most is None or len(sorts) <= most)
        return Sort.BOOL if fits and all(each is Sort.BOOL for each in sorts) else None

    return sort


def _arithmetic(least: int, most: int | None) -> Typing:
    def sort(sorts: Sorts) -> Sort | None:
        if len(sorts) < least or (most is not None and len(sorts) > most) or not _numbers(sorts):
            return None
        return Sort.REAL if Sort.REAL in sorts else Sort.INT

    return sort


def _relation(sorts: Sorts) -> Sort | None:
    return Sort.BOOL if len(sorts) == 2 and _numbers(sorts) else None


def _equality(sorts: Sorts) -> Sort | None:
    both_bool = list(sorts) == [Sort.BOOL, Sort.BOOL]
    return Sort.BOOL if both_bool or _relation(sorts) else None


def _choice(sorts: Sorts) -> Sort | None:
    if len(sorts) != 3 or sorts[0] is not Sort.BOOL or _equality(sorts[1:]) is None:
        return None
    return Sort.REAL if Sort.REAL in sorts else sorts[1]


def _same(sorts: Sorts) -> Sort | None:
    return sorts[0] if len(sorts) == 1 else None


def from_to(arguments: Sorts, result: Sort) -> Typing:
    """Return the typing of a function of exactly these sorts; an `Int` is a `Real` too."""

    def sort(sorts: Sorts) -> Sort | None:
        pairs = zip(sorts, arguments, strict=False)
        fits = len(sorts) == len(arguments) and all(
            has is wants or (has, wants) == (Sort.INT, Sort.REAL) for has, wants in pairs
        )
        return result if fits else None

    return sort


_INT_2 = from_to((Sort.INT, Sort.INT), Sort.INT)
_INT_1 = from_to((Sort.INT,), Sort.INT)

OPERATORS: dict[str, Typing] = {
    "not": _connective(1, 1),
    "and": _connective(0, None),
    "or": _connective(0, None),
    "=>": _connective(2, 2),
    "xor": _connective(2, 2),
    "=": _equality,
    "ite": _choice,
    **dict.fromkeys(("<", "<=", ">", ">="), _relation),
    **dict.fromkeys(("+", "*"), _arithmetic(1, None)),
    "-": _arithmetic(1, 2),
    "abs": _arithmetic(1, 1),
    **dict.fromkeys(("div", "mod", "div_total", "mod_total"), _INT_2),
    **dict.fromkeys(("@int_div_by_zero", "@mod_by_zero"), _INT_1),
    "to_real": from_to((Sort.REAL,), Sort.REAL),
    "to_int": from_to((Sort.REAL,), Sort.INT),
    "@purify": _same,
}
"""Of each operator that has a meaning, the sort of an application; ``None`` where it has none."""


class Terms:
    """Makes the terms of one proof."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, tuple[Term, ...]], Term] = {}
        self._functions: dict[str, tuple[tuple[Sort, ...], Sort]] = {}
        self.true = Term("true", (), Sort.BOOL, True)
        self.false = Term("false", (), Sort.BOOL, False)
        self.words: dict[str, Term] = {"true": self.true, "false": self.false}
        """Terms by the word that they are, as far as words were read."""

    def declare(self, name: str, arguments: tuple[Sort, ...], result: Sort) -> None:
        """Make a name known, as a function or, without arguments, as an unknown.

        Raises:
            Refused: the name has a meaning already, and another one.
        """
        if name in OPERATORS or name in ("true", "false") or not _plain(name):
            raise Refused(f"`{name[:80]}` is no name for an unknown")
        if self._functions.setdefault(name, (arguments, result)) != (arguments, result):
            raise Refused(f"`{name[:80]}` is declared in two ways")

    def declared(self, name: str) -> tuple[tuple[Sort, ...], Sort] | None:
        """Return the sorts of a name's arguments and of its value; ``None`` of one not declared."""
        return self._functions.get(name)

    def literal(self, value: Fraction | int, sort: Sort) -> Term:
        """Return a number as a term.

        Raises:
            Refused: it is too large.
        """
        number = Fraction(value)
        if not -LARGEST < number < LARGEST or number.denominator >= LARGEST:
            raise Refused("a number is too large to follow")
        word = str(number) if sort is Sort.INT else f"{number.numerator}/{number.denominator}"
        found = self._made.get((word, ()))
        if found is None:
            found = self._made[word, ()] = Term(word, (), sort, number)
        return found

    def integer(self, value: int) -> Term:
        """Return an integer as a term."""
        return self.literal(value, Sort.INT)

    def make(self, operator: str, *parts: Term) -> Term:
        """Return an application, or an unknown.

        Raises:
            Refused: the operator is not known, does not take such parts, or it is too deep.
        """
        found = self._made.get((operator, parts))
        return self._new(operator, parts) if found is None else found

    def _new(self, operator: str, parts: tuple[Term, ...]) -> Term:
        typing = OPERATORS.get(operator)
        if typing is None:
            known = self._functions.get(operator)
            if known is None:
                raise Refused(f"`{operator[:80]}` is not declared")
            typing = from_to(*known)
        sort = typing([each.sort for each in parts])
        if sort is None:
            raise Refused(f"`{operator[:80]}` does not take such arguments")
        depth = 1 + max((each.depth for each in parts), default=-1)
        if depth > DEEPEST:
            raise Refused("a term is too deep to follow")
        found = self._made[operator, parts] = Term(operator, parts, sort, None, depth)
        return found


def _plain(name: str) -> bool:
    """Whether a name is neither a number nor one of the solver's own."""
    return bool(name) and not name.startswith("@") and not (name[0].isdigit() or name[0] == "-")
