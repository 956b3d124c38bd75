"""Parts of two records that hold the same bits cut otherwise, brought together. Trusted.

Where all bits of one part are among those of the other, what is claimed of both is a claim about
the smaller one: in its axes the digits of the larger are numbers that it fixes, digits that both
have, or the value of all its digits along an axis cut again. Each bit of a field is in one part of
either record, so claims about all pairs that have a bit in common are claims about every bit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import gcd, lcm
from typing import Literal

from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    Mul,
    substitute,
)
from layoutdsl.language.meaning.application import digits_of
from layoutdsl.language.meaning.elements import BIT_AXIS
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.proof.properties.field import (
    extents_in,
    index_of,
    multiples,
    narrowed,
    picked_digits,
)
from layoutdsl.proof.statements.record_statement import whole

Values = dict[str, Expr]


@dataclass(frozen=True, slots=True)
class Inside:
    """A part whose bits are all in a part of the other record.

    Attributes:
        part: the smaller one.
        of: which record it is of.
        layout: where it puts bits.
        other: where the larger part puts the same bits, over the same axes.
    """

    part: Part
    of: Literal["left", "right"]
    layout: Layout
    other: Layout


def brought_together(
    record: Record, other: Record, alike: frozenset[tuple[int, int]]
) -> list[Inside] | str:
    """Return what has to hold of parts that have no like; or why that is not all.

    Args:
        record: its range is that of the claim.
        other: of the same extents.
        alike: the numbers of parts of both that hold the same bits, cut alike.
    """
    mine, theirs = ({pair[side] for pair in alike} for side in (0, 1))
    fields = {part.field for n, part in enumerate(record.parts) if n not in mine}
    fields |= {part.field for n, part in enumerate(other.parts) if n not in theirs}
    known = [each.name for each in record.fields if each.name in {f.name for f in other.fields}]
    for name in sorted(fields):
        if name not in known:
            return f"`{name}` is a field of one of them"
        why = _unlike(record, record.field(name), other.field(name))
        if why:
            return why
    found: list[Inside] = []
    for n, part in enumerate(record.parts):
        for m, twin in enumerate(other.parts):
            if (n in mine and m in theirs) or part.field != twin.field or _apart(part, twin):
                continue
            one = inside(record, part, twin)
            two = inside(record, twin, part)
            if one is not None:
                found.append(Inside(part, "left", *one))
            elif two is not None:
                found.append(Inside(twin, "right", *two))
            else:
                named = f"`{part.label}` of `{record.name}` and `{twin.label}` of `{other.name}`"
                return f"{named} are cut in ways that are not brought together"
    return found


def _unlike(record: Record, one: Field, other: Field) -> str:
    """Why parts of both do not say together where each bit is."""
    if (one.element.bits, len(one.extents)) != (other.element.bits, len(other.extents)):
        return f"`{one.name}` has other elements, or other axes"
    for each in (one, other):
        if not has_extents(record, each, one):
            return f"parts of `{each.name}` say its extents in several ways"
    return whole(one) or whole(other)


def has_extents(record: Record, held: Field, field: Field) -> bool:
    """Return whether the digits of all parts of one field are seen to make up those of another.

    Args:
        record: whose range says what divides an extent.
        held: whose parts are looked at.
        field: whose extents they have to have.
    """
    return all(_has_extents(record, part, field) for part in held.parts)


def _has_extents(record: Record, part: Part, field: Field) -> bool:
    values = extents_in(record, part)
    known = _multiples_of(record, values)
    return all(
        _size(picked_digits(part, axis, values), known)
        == _factors(substitute(substitute(extent, values), known))
        for axis, extent in enumerate(field.extents)
    )


def _multiples_of(record: Record, values: Values) -> Values:
    """What extents of a part are times a number, as far as the range says so."""
    found: Values = {}
    for whole_, expr in values.items():
        times = lcm(
            *(n for each in record.where for e, n in multiples(each) if e == Extent(whole_))
        )
        match expr:
            case Extent(own):
                found[own] = Mul(Constant(times), Extent(f"{own}/{times}"))
            case Mul(Constant(divisor), Extent(own)) if divisor > 0:
                left = times // gcd(times, divisor)
                found[own] = Mul(Constant(left), Extent(f"{own}/{left}"))
    return found


def _apart(part: Part, other: Part) -> bool:
    """Whether two parts of a field are seen to have no bit in common."""
    if not set(part.bits) & set(other.bits):
        return True
    return any(
        not (mine.name or theirs.name) and mine.fixed != theirs.fixed
        for one, two in zip(part.picks, other.picks, strict=True)
        if [each.extent for each in one] == [each.extent for each in two]
        for mine, theirs in zip(one, two, strict=True)
    )


def inside(record: Record, part: Part, larger: Part) -> tuple[Layout, Layout] | None:
    """Return where both put the bits of the first, over its axes; none where one is elsewhere."""
    if not set(part.bits) <= set(larger.bits):
        return None
    if part.layout.parameters or larger.layout.parameters:
        return None
    values = extents_in(record, part)
    said: Values = {name: simplify(substitute(expr, values)) for name, expr in larger.values}
    if part.low != larger.low:
        said[BIT_AXIS] = Add(Index(BIT_AXIS), Constant(part.low - larger.low))
    for axis in range(len(part.picks)):
        found = _along(record, part, larger, axis)
        if found is None:
            return None
        said |= found
    layout = narrowed(record, part)
    moved = larger.in_bits.substituted(said)
    return layout, replace(
        moved, axes=layout.axes, where=layout.where, parameters=layout.parameters
    )


def _along(record: Record, part: Part, larger: Part, axis: int) -> Values | None:
    """What the digits of the larger part are along an axis; none where they do not hold all."""
    values = extents_in(record, part)
    mine = picked_digits(part, axis, values)
    theirs = picked_digits(larger, axis, values)
    names = [each.name for each in larger.picks[axis]]
    if [each.extent for each in mine] == [each.extent for each in theirs]:
        found: Values = {}
        for name, one, other in zip(names, mine, theirs, strict=True):
            if name:
                found[name] = one.value
            elif one.value != other.value:
                return None
        return found
    known = _multiples_of(record, values)
    if not all(names) or _size(mine, known) != _size(theirs, known):
        return None
    again = digits_of(index_of(mine), [each.extent for each in theirs])
    return {name: each.value for name, each in zip(names, again, strict=True)}


def _size(digits: tuple[Coordinate, ...], known: Values) -> tuple[int, Counter[Expr]]:
    """How many values digits have together."""
    return _factors(substitute(product(tuple(each.extent for each in digits)), known))


def _factors(expr: Expr) -> tuple[int, Counter[Expr]]:
    """A product as a number and its other factors, by which products that are alike are known."""
    match expr:
        case Constant(number):
            return number, Counter()
        case Mul(left, right):
            (one, first), (two, second) = _factors(left), _factors(right)
            return one * two, first + second
        case FloorDiv(left, Constant(divisor)) if divisor > 0:
            number, rest = _factors(left)
            if number % divisor == 0:
                return number // divisor, rest
    return 1, Counter([expr])
