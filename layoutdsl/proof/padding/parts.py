"""One quotient of products: what bounds it, and which shapes have the bound.

The parts that share no extent are looked at one by one: along one extent exactly, along several by
going through the values of all but one, or by bounds from simpler quotients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product as boxes
from math import prod

from layoutdsl.language.integers.expr import Expr, substitute
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.parameters import constants
from layoutdsl.language.meaning.shapes import ceilings
from layoutdsl.proof.padding.along import Along, Extreme, Undescribed, along
from layoutdsl.proof.padding.quotient import Quotient, one_of, parts, scaled, simpler, spoken_of

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
    """What a quotient does over its range; ``ends`` where all its extents have an end."""

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
