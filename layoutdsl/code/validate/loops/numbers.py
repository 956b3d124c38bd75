"""What an expression of C is worth, as one of ours. Trusted.

All names are of numbers of 64 bits with a sign; a number that is written is of 32, and so is what
is made of such alone. C rounds quotients towards zero: a dividend is seen to be no negative number,
or stands in a form that rounds up or down whatever its sign. That nothing leaves 64 bits is shown
in `magnitude`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from layoutdsl.code.validate.loops.parsing import C
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.integers.bounds import at_least
from layoutdsl.language.integers.conditions import Condition, Operator
from layoutdsl.language.integers.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.integers.value import evaluate

NARROW, WIDE = 2**31, 2**63
_NAME = re.compile(r"[a-z](_\w+)?|(rows|columns)[0-9]*", re.ASCII)
"""What names look like; no macro does, of the kernels or of what they include."""
_Word = Callable[[Expr, Expr], Expr]
_WORDS: Mapping[str, _Word] = {"+": Add, "-": Sub, "*": Mul}
_ROUNDED: Mapping[str, _Word] = {"/": FloorDiv, "%": Mod}
_BITS: Mapping[str, _Word] = {"|": BitOr, "^": BitXor, "&": BitAnd}
_COMPARED: Mapping[str, Operator] = {
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "==": "==",
    "!=": "!=",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What the names of a place in the text stand for.

    Attributes:
        numbers: names of numbers.
        taken: all names, none of which may be given again.
        counts: below what each index stays, by the name that no other has; of the whole function.
        spoken: all numbers that are worked out; of the whole function.
    """

    numbers: Mapping[str, Expr] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    counts: dict[str, Expr] = field(default_factory=dict)
    spoken: dict[Expr, None] = field(default_factory=dict)

    def named(self, name: str) -> Scope:
        """Return the scope with one name more, which is no number.

        Raises:
            Meaningless: it stands for something else, or may be a macro.
        """
        if name in self.taken:
            raise Meaningless(f"`{name}` is given twice")
        if _NAME.fullmatch(name) is None:
            raise Meaningless(f"`{name}` may be a macro")
        return replace(self, taken=self.taken | {name})

    def given(self, name: str, value: Expr) -> Scope:
        """Return the scope with a name for a value."""
        return replace(self.named(name), numbers={**self.numbers, name: value})

    def walked(self, name: str, count: Expr) -> tuple[Scope, str]:
        """Return the scope with a name for an index below a count, and the name it has alone."""
        own = f"{name}.{len(self.counts)}"
        self.counts[own] = count
        return self.given(name, Index(own)), own

    def number(self, term: C) -> Expr:
        """Return what an expression is worth.

        Raises:
            Meaningless: it has a form that is not known, or may leave its bits.
        """
        found, _ = self._read(term)
        self.spoken[found] = None
        return found

    def real(self, term: C) -> Expr:
        """Return what a sum of products is about, that is worked out in floating point.

        Raises:
            Meaningless: it has another form.
        """
        match term:
            case ("real", int() as value):
                return Constant(value)
            case ("*", left, ("cast", "double", str() as name)) if isinstance(
                self.numbers.get(name), Extent
            ):
                return Mul(self.real(left), self.numbers[name])
            case ("+", left, right):
                return Add(self.real(left), self.real(right))
        raise Meaningless("a number of another form")

    def condition(self, term: C) -> Condition:
        """Return a comparison.

        Raises:
            Meaningless: it is none.
        """
        match term:
            case (str() as word, left, right) if word in _COMPARED:
                return Condition(self.number(left), _COMPARED[word], self.number(right))
        raise Meaningless("a test of another form")

    def _read(self, term: C) -> tuple[Expr, bool]:
        """What an expression is worth, and whether C works it out in 32 bits."""
        match term:
            case int() if term < WIDE:
                return Constant(term), term < NARROW
            case str() if term in self.numbers:
                return self.numbers[term], False
            case ("call", "least", left, right):
                return Min(self._worth(left), self._worth(right)), False
            case ("?", *_) | ("+", ("/", ("-", _, 1), _), 1) | ("%", ("+", ("%", _, _), _), _):
                return self._several(term)
            case ("/" | "%" as word, whole, step):
                self._positive("a dividend may be negative", whole, 0)
                return self._divided(_ROUNDED[word], whole, step)
            case ("|" | "^" | "&" as word, left, right):
                self._positive("bits of a number that may be negative", left, 0)
                self._positive("bits of a number that may be negative", right, 0)
                return self._joined(_BITS[word], left, right)
            case ("-", value):
                return self._joined(Sub, 0, value)
            case ("+" | "-" | "*" as word, left, right):
                return self._joined(_WORDS[word], left, right)
        raise Meaningless("a number of another form")

    def _several(self, term: C) -> tuple[Expr, bool]:
        """What several signs say together: the smaller, the larger, quotients of any sign."""
        match term:
            case ("?", ("<", left, right), one, other) if (left, right) == (one, other):
                return self._joined(Min, left, right)
            case ("?", (">", left, right), one, other) if (left, right) == (one, other):
                return self._joined(Max, left, right)
            case (
                "?",
                (">", whole, 0),
                ("+", ("/", ("-", one, 1), step), 1),
                ("-", ("/", ("-", other), again)),
            ) if (whole, whole, step) == (one, other, again):
                return self._divided(CeilDiv, whole, step)
            case (
                "?",
                ("<", whole, 0),
                ("-", ("/", ("-", ("+", ("-", one), step), 1), again)),
                ("/", other, third),
            ) if (whole, whole, step, step) == (one, other, again, third):
                return self._divided(FloorDiv, whole, step)
            case ("%", ("+", ("%", whole, step), again), third) if step == again == third:
                return self._divided(Mod, whole, step)
            case ("+", ("/", ("-", whole, 1), step), 1):
                self._positive("a dividend may be negative", whole, 1)
                return self._divided(CeilDiv, whole, step)
            case ("%", whole, step):
                self._positive("a dividend may be negative", whole, 0)
                return self._divided(Mod, whole, step)
        raise Meaningless("a choice of another form")

    def _worth(self, term: C) -> Expr:
        return self._read(term)[0]

    def _positive(self, about: str, term: C, least: int) -> None:
        if not at_least(self._worth(term), least):
            raise Meaningless(about)

    def _divided(self, word: _Word, whole: C, step: C) -> tuple[Expr, bool]:
        self._positive("a divisor may be zero", step, 1)
        self.spoken[Add(self._worth(whole), self._worth(step))] = None
        return self._joined(word, whole, step)

    def _joined(self, word: _Word, left: C, right: C) -> tuple[Expr, bool]:
        (one, is_narrow), (other, is_too) = self._read(left), self._read(right)
        if not (is_narrow and is_too):
            return word(one, other), False
        found = evaluate(word(one, other), {})
        if not -NARROW < found < NARROW:
            raise Meaningless("a number leaves 32 bits")
        return Constant(found), True


def divided(expr: Expr, by: int) -> Expr:
    """Return what an expression is that many times.

    Args:
        expr: any.
        by: a number, >= 1.

    Raises:
        Meaningless: it is not seen to be a multiple.
    """
    found = _divided(expr, by)
    if found is None:
        raise Meaningless("an address is between two elements")
    return found


def _divided(expr: Expr, by: int) -> Expr | None:
    match expr:
        case _ if by == 1:
            return expr
        case Constant(value):
            return Constant(value // by) if value % by == 0 else None
        case Add(left, right) | Sub(left, right) | Min(left, right) | Max(left, right):
            one, other = _divided(left, by), _divided(right, by)
            return None if one is None or other is None else type(expr)(one, other)
        case Mul(left, right):
            for part in (each for each in range(by, 0, -1) if by % each == 0):
                one, other = _divided(left, part), _divided(right, by // part)
                if one is not None and other is not None:
                    return Mul(one, other)
    return None
