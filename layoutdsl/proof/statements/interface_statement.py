"""What has to hold of codes: that numbers are stored as the nearest one, and 0 as the zero point.

Trusted. The theorems speak of one number, and of no layout: where its code lies is said elsewhere.
A number is ``a/b`` and a scale ``p/q``, with ``b``, ``p`` and ``q`` positive: every rational, and
so every float. What is said of them is multiplied by ``b*q``, after which it is a matter of
integers: the number comes to ``n = a*q``, a step of the scale to ``d = b*p``, and the number that a
code stands for to ``(code - z)*d``. `steps` is ``n/d``, rounded to the nearest, ties to even. It is
worked out by two divisions, which differ at a tie only: there the even one of both is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from layoutdsl.language.meaning.elements import Fill, FillAny, FillValue
from layoutdsl.language.meaning.interface import codes_of
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.theorem import Term, Theorem

IN_RANGE = "every code is a value of the element type"
NEAREST = "no code stands for a nearer number"
STEP = "the error is at most half a step, within the range of codes"
ZERO = "0 is stored as the zero point, and read as 0"
PADDED = "padding reads as 0"

ROUNDED = "codes.rounded"
_RESTS_ON: Mapping[str, tuple[str, ...]] = {
    IN_RANGE: ("codes.range",),
    NEAREST: (ROUNDED, "codes.nearest"),
    STEP: (ROUNDED, "codes.step"),
    ZERO: (ROUNDED, "codes.zero"),
    PADDED: ("codes.padding",),
}

Range: TypeAlias = tuple[int, int]
"""The least and the largest code."""


def interface_properties(layout: Layout) -> dict[str, tuple[str, ...]]:
    """Return what is said of the codes of a layout, each with its theorems; nothing of plain ones.

    Of padding that may hold anything nothing is said.
    """
    if layout.interface is None:
        return {}
    padded = not isinstance(layout.fill, FillAny)
    return {name: by for name, by in _RESTS_ON.items() if name != PADDED or padded}


def interface_conditions(layout: Layout, name: str) -> tuple[str, ...]:
    """Return under which conditions a property of codes is said."""
    if layout.interface is None or name != PADDED:
        return ()
    per = layout.interface.per
    if isinstance(layout.fill, FillValue):
        every = "the zero point is" if per is None else f"the zero point of every {per} is"
        return (f"{every} {layout.fill.value}",)
    return () if per is None else (f"every {per} has the same zero point",)


def interface_theorems(layout: Layout) -> tuple[Theorem, ...]:
    """Return every theorem about the codes of a layout; those that others rest on come first."""
    if layout.interface is None:
        return ()
    assert layout.element is not None
    limits = codes_of(layout.element)
    of_numbers = (rounded(limits), in_range(limits), nearest(limits), step(limits), zero(limits))
    return of_numbers if isinstance(layout.fill, FillAny) else (*of_numbers, padding(layout.fill))


_VARIABLES = ("a", "b", "p", "q", "z", "steps", "code")
_TWICE: Term = ("*", 2, "d")
_HALF_UP: Term = ("+", ("*", 2, "n"), "d")
_DEFINITIONS: tuple[tuple[str, Term], ...] = (
    ("n", ("*", "a", "q")),
    ("d", ("*", "b", "p")),
    ("up", ("div", _HALF_UP, _TWICE)),
    ("down", ("div", ("-", _HALF_UP, 1), _TWICE)),
)
_ERROR: Term = ("-", "n", ("*", ("-", "code", "z"), "d"))
"""How far a number is from what its code stands for, times ``b*q``."""


def _hypotheses(limits: Range) -> tuple[Term, ...]:
    """The numbers that are meant, and the code that is stored: rounded, moved, and cut off."""
    low, high = limits
    even: Term = ("=", ("mod", "down", 2), 0)
    moved: Term = ("+", "steps", "z")
    return (
        ("<", 0, "b"),
        ("<", 0, "p"),
        ("<", 0, "q"),
        ("<=", low, "z"),
        ("<=", "z", high),
        ("=>", even, ("=", "steps", "down")),
        ("=>", ("not", even), ("=", "steps", "up")),
        ("=>", ("<", moved, low), ("=", "code", low)),
        ("=>", ("<", high, moved), ("=", "code", high)),
        ("=>", _within(moved, limits), ("=", "code", moved)),
    )


def _within(term: Term, limits: Range) -> Term:
    return ("and", ("<=", limits[0], term), ("<=", term, limits[1]))


def _said(name: str, limits: Range, *goals: Term) -> Theorem:
    return Theorem(name, _VARIABLES, _hypotheses(limits), goals, _DEFINITIONS)


def rounded(limits: Range) -> Theorem:
    """Half a step is left of a number at most; where it is as much, the number of steps is even."""
    left: Term = ("*", 2, ("-", "n", ("*", "steps", "d")))
    below: Term = ("-", 0, "d")
    even: Term = ("=", ("mod", "steps", 2), 0)
    return _said(
        ROUNDED,
        limits,
        ("<=", below, left),
        ("<=", left, "d"),
        ("=>", ("=", left, below), even),
        ("=>", ("=", left, "d"), even),
    )


def in_range(limits: Range) -> Theorem:
    """What is stored is a value of the element type."""
    return _said("codes.range", limits, ("<=", limits[0], "code"), ("<=", "code", limits[1]))


def nearest(limits: Range) -> Theorem:
    """Of no `other` code the error is smaller, whatever the number: ``|error| <= |wrong|``."""
    definitions: tuple[tuple[str, Term], ...] = (
        ("error", _ERROR),
        ("wrong", ("-", "n", ("*", ("-", "other", "z"), "d"))),
    )
    goals: list[Term] = []
    for each in ("error", ("-", 0, "error")):
        apart: Term = ("not", ("<=", each, "wrong"))
        goals.append(("=>", apart, ("<=", each, ("-", 0, "wrong"))))
    return Theorem(
        "codes.nearest",
        (*_VARIABLES, "other"),
        (*_hypotheses(limits), ("<=", limits[0], "other"), ("<=", "other", limits[1])),
        tuple(goals),
        (*_DEFINITIONS, *definitions),
    )


def step(limits: Range) -> Theorem:
    """Where nothing is cut off, a number is off by half a step at most."""
    kept = _within(("+", "steps", "z"), limits)
    error: Term = ("*", 2, _ERROR)
    return _said(
        "codes.step",
        limits,
        ("=>", kept, ("<=", ("-", 0, "d"), error)),
        ("=>", kept, ("<=", error, "d")),
    )


def zero(limits: Range) -> Theorem:
    """The code of 0 is the zero point, and what it stands for, times ``q``, is 0."""
    stated = _said(
        "codes.zero",
        limits,
        ("=", "code", "z"),
        ("=", ("*", ("-", "code", "z"), "p"), 0),
    )
    hypotheses = (*stated.hypotheses, ("=", "a", 0))
    return Theorem(stated.name, stated.variables, hypotheses, stated.goals, stated.definitions)


def padding(fill: Fill) -> Theorem:
    """What a slot of padding stands for, times ``q``, is 0.

    It holds the fill: the zero point, or the number that the layout names, where that is it.
    """
    held: Term = ("=", "fill", "z")
    hypotheses: tuple[Term, ...] = (("<", 0, "p"), ("<", 0, "q"), held)
    if isinstance(fill, FillValue):
        hypotheses = (
            ("<", 0, "p"),
            ("<", 0, "q"),
            ("=", "fill", fill.value),
            ("=", "z", fill.value),
        )
    goal: Term = ("=", ("*", ("-", "fill", "z"), "p"), 0)
    return Theorem("codes.padding", ("p", "q", "z", "fill"), hypotheses, (goal,))
