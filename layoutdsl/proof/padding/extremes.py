"""How many slots an element costs at most, and at least, over all shapes of the range.

The ratio is a product of quotients that share no extent, so its supremum is the product of theirs.
Each is found exactly along its extent. One of several extents is bounded, and the bound is kept
where a shape is found that has it. What is said to be reached was worked out in plain integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice
from itertools import product as boxes
from math import prod
from typing import Literal

from layoutdsl.language.integers.expr import Constant, Expr, substitute
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.parameters import constants
from layoutdsl.language.meaning.shapes import ceilings, in_range, small, telling
from layoutdsl.proof.padding.along import Along, Extreme, Undescribed, along
from layoutdsl.proof.padding.quotient import (
    Quotient,
    elements,
    one_of,
    parts,
    per_element,
    scaled,
    simpler,
    size,
    spoken_of,
)
from layoutdsl.proof.refute.refute import witness

Values = Mapping[str, int]

MOST_VALUES = 256
"""Values of bounded extents that are gone through while one extent runs."""


@dataclass(frozen=True, slots=True)
class Side:
    """One extreme of a quotient.

    Attributes:
        value: a bound that is certain; ``None`` where there is none, or none is known.
        at: extents that have it, the smallest; ``None`` where none are known.
        sharp: no tighter bound would hold, and where ``at`` is missing no extents have it.
    """

    value: Fraction | None
    at: Values | None
    sharp: bool


@dataclass(frozen=True, slots=True)
class Part:
    """The extremes of a quotient over its range; ``ends`` where all its extents have an end."""

    most: Side
    least: Side
    far: Fraction | None
    ends: bool


UNKNOWN = Part(Side(None, None, sharp=False), Side(None, None, sharp=False), None, ends=False)


def part_of(layout: Layout, whole: Quotient) -> Part:
    """Return what a quotient does over the range of a layout."""
    apart = parts(whole, layout.symbols, layout.where)
    found = [_part(layout, names, each) for names, each in apart]
    lowest = [each.least.value for each in found if each.least.at is not None]
    if whole.scale <= 0 or any(each is not None and each <= 0 for each in lowest):
        return UNKNOWN  # a product of suprema bounds a product of positive numbers only
    endless = [each for each in found if not each.ends]
    far = [each.most.value if each.ends else each.far for each in found]
    known = [each for each in far if each is not None]
    return Part(
        _product([each.most for each in found], whole.scale),
        _product([each.least for each in found], whole.scale),
        scaled((*known, whole.scale)) if endless and len(known) == len(far) else None,
        ends=not endless,
    )


def _product(sides: list[Side], scale: Fraction) -> Side:
    values = [each.value for each in sides]
    total = None if None in values else scaled((*(v for v in values if v is not None), scale))
    at: dict[str, int] | None = {}
    for each in sides:
        at = None if at is None or each.at is None else {**at, **each.at}
    return Side(total, at, all(each.sharp for each in sides))


def _part(layout: Layout, names: tuple[str, ...], whole: Quotient) -> Part:
    conditions = [each for each in layout.where if spoken_of(each) <= set(names)]
    top, bottom = one_of(whole.top), one_of(whole.bottom)
    try:
        if len(names) == 1:
            return _of(names[0], along(top, bottom, names[0], conditions), {})
        if names:
            return _value_by_value(layout, names, top, bottom, conditions)
    except Undescribed:
        pass
    return _bounded(layout, names, whole, conditions) if len(names) > 1 else UNKNOWN


def _of(name: str, found: Along | None, others: Values) -> Part:
    if found is None:
        raise Undescribed("no extent satisfies the conditions")

    def side(extreme: Extreme) -> Side:
        at = None if extreme.at is None else {**others, name: extreme.at}
        return Side(extreme.value, at, sharp=True)

    return Part(side(found.most), side(found.least), found.far, found.ends)


def _value_by_value(
    layout: Layout,
    names: tuple[str, ...],
    top: Expr,
    bottom: Expr,
    conditions: Sequence[Condition],
) -> Part:
    """Go through every value of the bounded extents, while the last one runs over its range.

    Raises:
        Undescribed: several extents have no end, or too many values.
    """
    most = ceilings(replace(layout, where=tuple(conditions)))
    running = max(names, key=lambda name: most.get(name, 1 << 200))
    fixed = [name for name in names if name != running]
    if not set(fixed) <= set(most) or prod(most[name] for name in fixed) > MOST_VALUES:
        raise Undescribed("several extents have no end")
    found: list[Part] = []
    for choice in boxes(*(range(1, most[name] + 1) for name in fixed)):
        values: dict[str, int] = dict(zip(fixed, choice, strict=True))
        given = constants(values)
        here = [given_values(each, given) for each in conditions]
        one = along(substitute(top, given), substitute(bottom, given), running, here)
        found += [] if one is None else [_of(running, one, values)]
    if not found:
        raise Undescribed("no extents satisfy the conditions")
    far = [each.far for each in found if not each.ends]
    return Part(
        _best([each.most for each in found], max),
        _best([each.least for each in found], min),
        max((each for each in far if each is not None), default=None) if None not in far else None,
        ends=all(each.ends for each in found),
    )


def _best(sides: list[Side], better: Callable[..., Fraction]) -> Side:
    if any(each.value is None for each in sides):
        return Side(None, None, sharp=True)
    value = better(each.value for each in sides if each.value is not None)
    reached = [each.at for each in sides if each.value == value and each.at is not None]
    smallest = min(reached, key=lambda at: prod(at.values())) if reached else None
    return Side(value, smallest, sharp=True)


def _bounded(
    layout: Layout, names: tuple[str, ...], whole: Quotient, conditions: Sequence[Condition]
) -> Part:
    """Bounds of a quotient of several extents, from simpler ones whose extents are apart."""
    sides: list[Side] = []
    for up in (True, False):
        simple = simpler(whole, conditions, up=up)
        rest = parts(simple, names)
        found = [UNKNOWN if len(some) > 1 else _part(layout, some, each) for some, each in rest]
        chosen = [each.most if up else each.least for each in found]
        sides.append(replace(_product(chosen, simple.scale), sharp=False))
    return Part(sides[0], sides[1], None, ends=False)


def given_values(condition: Condition, values: Mapping[str, Expr]) -> Condition:
    """Return a condition with numbers put for extents."""
    left, right = substitute(condition.left, values), substitute(condition.right, values)
    return Condition(left, condition.operator, right)


How = Literal["reached", "limit", "unbounded", "undecided"]

MOST_SHAPES = 4096
"""Shapes that are tried one by one: all of a small range, or in search of a bad one."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A supremum or infimum of the slots per element.

    Attributes:
        how: ``reached`` by ``shape``; the ``limit`` of shapes that come as near as one likes;
            ``unbounded``; or ``undecided``: then ``value`` is only what ``shape`` has.
        value: exact; ``None`` where there is no bound.
        shape: extents and parameters by name, as small as was found; empty for a limit.
        beyond: where undecided, a bound that is certain, if there is one.
    """

    how: How
    value: Fraction | None
    shape: tuple[tuple[str, int], ...] = ()
    beyond: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """The extremes of the ratio over a range of shapes; ``far`` as all extents without end grow."""

    most: Bound
    least: Bound
    far: Fraction | None


def ratio_at(layout: Layout, values: Values) -> Fraction:
    """Return the slots per element at one shape."""
    return Fraction(evaluate(size(layout), values), evaluate(elements(layout), values))


def spread(layout: Layout) -> Spread:
    """Return the largest and the smallest ratio over the range of a layout.

    Raises:
        ValueError: no shape of the range was found.
    """
    first = witness(layout)
    if first is None:
        raise ValueError(f"no shape of `{layout.name}` was found in the range")
    terms = [part_of(layout, each) for each in per_element(layout)]
    most = _sum([each.most for each in terms])
    least = _sum([each.least for each in terms])
    return Spread(
        _settled(layout, most, first, max), _settled(layout, least, first, min), _far(terms)
    )


def _far(terms: list[Part]) -> Fraction | None:
    first, *others = terms
    return first.far if all(each.far == 0 for each in others) and not first.ends else None


def _sum(sides: list[Side]) -> Side:
    """The bound of a sum is the sum of the bounds; it is sharp where one shape has them all."""
    first, *others = sides
    if not others:
        return first
    values = [each.value for each in sides]
    total = None if None in values else sum((v for v in values if v is not None), Fraction(0))
    return Side(total, first.at if first.at is not None else others[0].at, sharp=False)


def _settled(layout: Layout, side: Side, first: Values, better: Callable[..., Fraction]) -> Bound:
    """Return what is certain: the bound where shapes have it, or where it is known to be sharp."""
    if side.at is not None and _has(layout, side.at, side.value):
        return _reached(layout, side.value, side.at)
    if side.sharp and side.at is None:
        return Bound("unbounded" if side.value is None else "limit", side.value)
    tried, complete = _shapes(layout)
    ratios = [(ratio_at(layout, values), values) for values in (*tried, first)]
    best = better(ratio for ratio, _ in ratios)
    at = next(values for ratio, values in ratios if ratio == best)
    if complete or best == side.value:
        return _reached(layout, best, at)
    bases = [first] if side.at is None else [first, {**first, **side.at}]
    for start, name, line in (each for base in bases for each in _lines(layout, base)):
        extreme = line.most if better is max else line.least
        if extreme.value != side.value:
            continue
        if extreme.at is not None:
            return _reached(layout, extreme.value, {**start, name: extreme.at})
        return Bound("unbounded" if extreme.value is None else "limit", extreme.value)
    return replace(_reached(layout, best, at), how="undecided", beyond=side.value)


def _has(layout: Layout, values: Values, ratio: Fraction | None) -> bool:
    whole = set(layout.symbols) <= set(values)
    return whole and in_range(layout, values) and ratio_at(layout, values) == ratio


def _reached(layout: Layout, ratio: Fraction | None, values: Values) -> Bound:
    return Bound("reached", ratio, tuple((name, values[name]) for name in layout.symbols))


def _lines(layout: Layout, start: Values) -> Iterator[tuple[Values, str, Along]]:
    """The ratio along each extent, while the others keep their values at a shape of the range."""
    if not in_range(layout, start):
        return
    for name in layout.symbols:
        given: dict[str, Expr] = {k: Constant(v) for k, v in start.items() if k != name}
        top, bottom = substitute(size(layout), given), substitute(elements(layout), given)
        try:
            found = along(top, bottom, name, [given_values(each, given) for each in layout.where])
        except Undescribed:
            continue
        if found is not None:
            yield start, name, found


def _shapes(layout: Layout) -> tuple[list[Values], bool]:
    """Return shapes to try, by volume, and whether they are all there are."""
    most = ceilings(layout)
    names = layout.symbols
    if set(names) <= set(most) and prod(most[name] for name in names) <= MOST_SHAPES:
        every = boxes(*(range(1, most[name] + 1) for name in names))
        values = [dict(zip(names, each, strict=True)) for each in every]
        within = [each for each in values if in_range(layout, each)]
        return sorted(within, key=lambda each: prod(layout.shape_of(each))), True
    some: Iterator[Values] = chain(
        islice(small(layout, MOST_SHAPES), MOST_SHAPES),
        islice(telling(layout, (), MOST_SHAPES), MOST_SHAPES),
    )
    return list(some), False
