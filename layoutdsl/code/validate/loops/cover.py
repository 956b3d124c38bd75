"""Which write fills a slot: for each variable its value, from the coordinates of the slot.

A loop over a digit of a coordinate is that coordinate divided by the steps of the loop, below the
digits over it. These are guesses, but for `slid`: whether a write with such values is done, and has
the place, is what is stated, and has to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from math import inf

from layoutdsl.code.validate.loops.stores import Sliding, Turning, Variable, Write
from layoutdsl.code.validate.normal import Normal
from layoutdsl.proof.kernel.checker import Polynomial, Term, names, substitute
from layoutdsl.proof.tactics.polynomials import canonical


def covers(normal: Normal, write: Write, slot: tuple[str, ...]) -> tuple[Term, ...]:
    """Return formulas, each: for some values of its variables a write is done, and fills a slot.

    Where digits of several variables lie in one place, there is more than one guess.

    Args:
        normal: of the terms.
        write: with variables.
        slot: the coordinates of the slot.
    """
    return tuple(_done(normal, write, slot, values) for values in guesses(normal, write, slot))


def guesses(
    normal: Normal, write: Write, slot: tuple[str, ...], unknown: Sequence[float] = (1.0, inf)
) -> list[dict[str, Term]]:
    """Return values that the variables of a write may have where it fills a slot.

    Args:
        normal: of the terms.
        write: with variables.
        slot: the coordinates of the slot.
        unknown: what counts that are no numbers are taken for, one guess after the other.
    """
    found = list[dict[str, Term]]()
    orders = write.here.variables, write.here.variables[::-1]
    for order, many, is_begun in product(orders, unknown, (False, True)):
        variables = {each.name: each for each in order}
        values = dict[str, Term](dict.fromkeys(variables, 0))
        for place, coordinate in zip(write.target, slot, strict=True):
            digits = dict(_digits(normal.polynomial(place), coordinate, variables, many, is_begun))
            values.update({name: each for name, each in digits.items() if values[name] == 0})
        if values not in found:
            found.append(values)
    solved = _solved(normal, write, slot)
    return found if solved is None or solved in found else [*found, solved]


def _solved(normal: Normal, write: Write, slot: tuple[str, ...]) -> dict[str, Term] | None:
    """Each variable as what is left of a coordinate in which the others are known already."""
    variables = [each.name for each in write.here.variables if isinstance(each, Turning)]
    places = [(normal.polynomial(p), own) for p, own in zip(write.target, slot, strict=True)]
    values = dict[str, Term]()
    for _ in variables:
        for place, coordinate in places:
            left = [each for each in place if set(each) & set(variables) - set(values)]
            if len(left) == 1 and len(left[0]) == 1 and place[left[0]] in (1, -1):
                others = {each: number for each, number in place.items() if each != left[0]}
                both = coordinate, canonical(others)
                values[left[0][0]] = ("-", *(both if place[left[0]] == 1 else both[::-1]))
    return values if len(values) == len(write.here.variables) else None


def _done(normal: Normal, write: Write, slot: tuple[str, ...], values: dict[str, Term]) -> Term:
    """That a write is done for these values, a slide for that which an index is in."""
    within = list[Term]()
    for variable in write.here.variables:
        value = values[variable.name]
        if isinstance(variable, Sliding):
            within += [("<=", 0, value), ("<", value, variable.extent)]
            values[variable.name] = _turn(variable, value)
        else:
            within += variable.facts
    values = resolved(values)
    same = [("=", place, own) for place, own in zip(write.target, slot, strict=True)]
    goals = [substitute(each, values) for each in (*within, *write.here.conditions, *same)]
    return ("and", ("<=", 0, 0), *dict.fromkeys(map(normal.form, goals)))


def resolved(values: dict[str, Term]) -> dict[str, Term]:
    """Return values that speak of no other variables; they may speak of those further out.

    A value in terms of itself is no guess, and would double in length each time: it becomes 0.
    """
    for _ in range(3):
        values = {name: 0 if name in names(v) else v for name, v in values.items()}
        values = {name: substitute(value, values) for name, value in values.items()}
    return values


def _turn(variable: Sliding, index: Term) -> Term:
    """The turn of a slide that an index below its extent is in; the last one is moved back."""
    step = variable.step
    return ("min", ("*", step, ("div", index, step)), ("-", variable.extent, step))


def _digits(
    place: Polynomial,
    coordinate: str,
    variables: Mapping[str, Variable],
    unknown: float,
    is_begun: bool,
) -> Iterator[tuple[str, Term]]:
    """Guess the variables in a place; of one that slides, which index it is asked about.

    ``is_begun`` takes all digits from what comes after the first place of a part.
    """
    rest: Term = coordinate
    steps = list[tuple[int, str]]()
    other = dict(place)
    for factors, weight in place.items():
        variable = variables.get(factors[0]) if len(factors) == 1 else None
        if variable is None or weight < 1:
            continue
        del other[factors]
        if isinstance(variable, Turning):
            steps.append((weight, variable.name))
        else:
            rest = ("-", coordinate, variable.name)
            yield variable.name, coordinate
    steps = list(_apart(steps, variables, unknown))
    if is_begun and set(other) - {()} and len(steps) > 1:
        rest, other = ("-", rest, canonical(other)), {}
    if set(other) == {()}:
        rest = ("-", rest, other[()])
    for number, (weight, name) in enumerate(steps):
        below = ("mod", rest, steps[number - 1][0]) if number else rest
        if number + 1 == len(steps) and set(other) - {()}:
            above = [("*", each, outer) for each, outer in steps[:-1]]
            below = reduce(lambda left, right: ("-", left, right), above, rest)
            below = ("-", below, canonical(other))
        yield name, ("div", below, weight)


def _apart(
    steps: list[tuple[int, str]], variables: Mapping[str, Variable], unknown: float
) -> Iterator[tuple[int, str]]:
    """The variables, most major first, without those whose steps lie within another's.

    Of equal ones the first is kept; ``unknown`` is what a count is taken for that is no number.
    """
    order, reach = [*variables], 1.0
    kept = list[tuple[int, str]]()
    for weight, name in sorted(steps, key=lambda each: (each[0], order.index(each[1]))):
        if weight >= reach:
            kept.append((weight, name))
            variable = variables[name]
            count = variable.count if isinstance(variable, Turning) else unknown
            reach = weight * (count if isinstance(count, int) else unknown)
    return reversed(kept)
