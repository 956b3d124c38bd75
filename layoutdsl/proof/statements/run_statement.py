"""Where a run starts: the index whose digits in the run are zero. Trusted, as `claim_statement` is.

A run is a list of digits, of axes or of tuples. What holds of it is said between an index and the
start of the run that the index lies in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from layoutdsl.language.integers.digit import Digit, apart, read
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    text,
    walk,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.proof.statements.terms import NotExpressible


@dataclass(frozen=True, slots=True)
class Start:
    """Where a run starts: an index, each of whose digits in the run is zero.

    Attributes:
        steps: for each tuple that the run cuts its value there, ``_t0``, and the parts that this
            value has: ``_t0_2`` the most minor, ``_t0_r1`` the rest above it, and so on.
        index: each index that is another one there, over the steps.
    """

    steps: tuple[tuple[str, Expr], ...]
    index: dict[str, Expr]

    def at(self, bound: Mapping[str, int]) -> dict[str, int]:
        """Return every extent and index at the start of the run that an index lies in."""
        values = dict(bound)
        for name, value in self.steps:
            values[name] = evaluate(value, values)
        return {**bound, **{name: evaluate(value, values) for name, value in self.index.items()}}


def start_of(run: tuple[Coordinate, ...]) -> Start:
    """Return where a run starts.

    A digit of a tuple is taken from the tuple's value, and the new value is split into the parts of
    the tuple as a slot is into coordinates. That may lead to an index of the padding.

    Raises:
        NotExpressible: a part of a tuple is no digit, or two digits share a part of an axis.
    """
    digits = [(each.value, _digit(each.value)) for each in flat(run)]
    changes: dict[Expr, list[Expr]] = {}
    cuts: dict[Expr, list[Digit]] = {}
    for value, digit in digits:
        changes.setdefault(digit.whole, []).append(Sub(Constant(0), Mul(value, digit.divisor)))
        cuts.setdefault(digit.whole, []).append(digit)
    steps: list[tuple[str, Expr]] = []
    number = 0
    while (whole := _outermost(changes)) is not None:
        value = _moved(whole, changes.pop(whole))
        for part, there in zip(whole.parts, _split(whole, value, number, steps), strict=True):
            digit = _digit(part.value)
            moved = Mul(Sub(there, part.value), digit.divisor)
            changes.setdefault(digit.whole, []).append(moved)
            cuts.setdefault(digit.whole, []).append(digit)
        number += 1
    for several in cuts.values():
        if any(not apart(one, other) for one, other in combinations(several, 2)):
            raise NotExpressible("a part of an axis is in the run twice")
    index = {w.name: _moved(w, moves) for w, moves in changes.items() if isinstance(w, Index)}
    return Start(tuple(steps), index)


def _outermost(changes: Mapping[Expr, object]) -> MixedRadix | None:
    """The tuple that no other one of these can be a part of."""
    tuples = [each for each in changes if isinstance(each, MixedRadix)]
    return max(tuples, key=lambda each: len(list(walk(each))), default=None)


def _moved(whole: Expr, changes: list[Expr]) -> Expr:
    for change in changes:
        whole = Add(whole, change)
    return whole


def _digit(value: Expr) -> Digit:
    digit = read(value)
    if digit is None:
        raise NotExpressible(f"`{text(value)}` is not a digit of an axis")
    return digit


def _split(
    whole: MixedRadix, value: Expr, number: int, steps: list[tuple[str, Expr]]
) -> list[Expr]:
    """Add the steps that split a value into the parts of a tuple; returns the parts."""
    name = f"_t{number}"
    steps.append((name, value))
    found: list[Expr] = []
    for place in range(len(whole.parts) - 1, 0, -1):
        rest, extent = Index(name), whole.parts[place].extent
        name = f"_t{number}_r{place - 1}"
        steps += [(f"_t{number}_{place}", Mod(rest, extent)), (name, FloorDiv(rest, extent))]
        found.insert(0, Index(f"_t{number}_{place}"))
    return [Index(name), *found]


def flat(run: tuple[Coordinate, ...]) -> tuple[Coordinate, ...]:
    """Return the run with each whole tuple replaced by its parts."""
    found: list[Coordinate] = []
    for each in run:
        match each.value:
            case MixedRadix(parts):
                found += flat(parts)
            case _:
                found.append(each)
    return tuple(found)
