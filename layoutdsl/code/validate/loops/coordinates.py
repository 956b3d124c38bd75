"""Coordinates as those of a box: tuples are opened, and digits that follow each other are one.

Axes that lie next to each other, whole, on both sides are read as one, and so are coordinates that
are neighbouring digits of one axis: a number ``h*W + w`` below ``H*W`` is one of each, which is a
theorem of every such pair (`joined`). Trusted, but for which are joined.
"""

from __future__ import annotations

from itertools import permutations

from layoutdsl.code.validate.loops.words import said
from layoutdsl.code.validate.normal import Normal
from layoutdsl.code.validate.terms import size
from layoutdsl.language.integers.bounds import ONE
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
    extents,
    indices,
)
from layoutdsl.proof.kernel.checker import Term

Extents = tuple[Expr, Expr]
"""Those of two coordinates that are read as one, the major one first."""


def read_as_one(
    axes: list[Coordinate], both: list[Expr]
) -> tuple[list[Coordinate], list[Expr], Extents] | None:
    """Return axes and both sides with two axes made one, where one follows the other everywhere.

    Axes of one index are passed over: they lie between others, and part nothing.
    """
    for major, minor in permutations(axes, 2):
        one = Index(f"{name_of(major)} {name_of(minor)}")
        joined = Coordinate(one, Mul(major.extent, minor.extent))
        found = [_joined(each, major, minor, joined) for each in both]
        named = frozenset[str]().union(*map(indices, found))
        if not {name_of(major), name_of(minor)} & named:
            left = [joined if each is major else each for each in axes if each is not minor]
            return left, found, (major.extent, minor.extent)
    for axis in axes:
        if axis.extent == ONE:
            found = [_without(each, axis) for each in both]
            if name_of(axis) not in frozenset[str]().union(*map(indices, found)):
                return read_as_one([each for each in axes if each is not axis], found)
    return None


def name_of(axis: Coordinate) -> str:
    """Return the name of an axis."""
    assert isinstance(axis.value, Index)
    return axis.value.name


def flattened(box: MixedRadix) -> MixedRadix:
    """Return a box with tuples opened, where their parts fill them."""
    parts = list[Coordinate]()
    for each in box.parts:
        inner = flattened(each.value).parts if isinstance(each.value, MixedRadix) else (each,)
        known: dict[str, Term] = {name: name for name in extents(MixedRadix((each,)))}
        room = size(tuple(said(part.extent, known) for part in inner))
        is_whole = Normal().form(room) == Normal().form(said(each.extent, known))
        parts += inner if is_whole else (each,)
    return MixedRadix(tuple(parts))


def _without(expr: Expr, axis: Coordinate) -> Expr:
    """An expression without the coordinate of an axis of one index, which is 0."""
    match expr:
        case MixedRadix(parts):
            kept = (p for p in parts if (p.value, p.extent) != (axis.value, axis.extent))
            return MixedRadix(
                tuple(Coordinate(_without(p.value, axis), p.extent, p.declared) for p in kept)
            )
        case FloorDiv(left, right) | Mod(left, right):
            return type(expr)(_without(left, axis), right)
    return expr


def _joined(expr: Expr, major: Coordinate, minor: Coordinate, joined: Coordinate) -> Expr:
    """An expression in which two axes are one, wherever one follows the other whole."""
    match expr:
        case MixedRadix(parts):
            found = list[Coordinate]()
            for part in parts:
                value = _joined(part.value, major, minor, joined)
                found.append(Coordinate(value, part.extent, part.declared))
                if [(e.value, e.extent) for e in found[-2:]] == [
                    (each.value, each.extent) for each in (major, minor)
                ]:
                    found[-2:] = [joined]
            return MixedRadix(tuple(found))
        case FloorDiv(left, right) | Mod(left, right):
            value = _joined(left, major, minor, joined)
            if isinstance(value, MixedRadix) and len(value.parts) == 1:
                value = value.parts[0].value
            return type(expr)(value, right)
        case Add(Constant() as first, value) | Add(value, Constant() as first):
            return Add(first, _joined(value, major, minor, joined))
    return expr


def neighbours(parts: tuple[Coordinate, ...]) -> tuple[list[Coordinate], list[Extents]]:
    """Return coordinates, those that are neighbouring digits of one axis made one; and which."""
    kept, pairs = list[Coordinate](), list[Extents]()
    for part in parts:
        kept.append(part)
        if len(kept) > 1 and _follow(*kept[-2:]):
            major, minor = kept[-2:]
            value = Add(Mul(major.value, minor.extent), minor.value)
            kept[-2:] = [Coordinate(value, Mul(major.extent, minor.extent))]
            pairs.append((major.extent, minor.extent))
    return kept, pairs


def _follow(major: Coordinate, minor: Coordinate) -> bool:
    above, below = digit_of(shifted(major.value)[1]), digit_of(minor.value)
    match above, below:
        case (str() as axis, int(divisor), _), (str() as other, int(step), int(radix)):
            follow = axis == other and divisor == step * radix
            return follow and minor.extent == Constant(radix)
    return False


def shifted(expr: Expr) -> tuple[int, Expr]:
    """Return a number and what it is added to, of digits that follow each other the whole's."""
    match expr:
        case Add(Constant(first), value) | Add(value, Constant(first)):
            more, rest = shifted(value)
            return first + more, rest
        case Add(Mul(major, Constant(steps)), minor):
            above, high = shifted(major)
            return steps * above, Add(Mul(high, Constant(steps)), minor)
    return 0, expr


def digit_of(expr: Expr) -> tuple[str, int, int | None] | None:
    """Return axis, divisor and radix, where an expression is a digit of one axis."""
    match expr:
        case Index(name):
            return name, 1, None
        case Add(Mul(major, Constant()), minor):
            above, below = digit_of(major), digit_of(minor)
            if above is None or below is None or below[2] is None:
                return None
            return *below[:2], None if above[2] is None else above[2] * below[2]
        case FloorDiv(left, Constant(block)) | Mod(left, Constant(block)):
            found = digit_of(left)
            if found is None:
                return None
            axis, divisor, radix = found
            if isinstance(expr, Mod):
                whole = radix is None or radix % block == 0
                return (axis, divisor, block) if whole else None
            if radix is None or radix % block == 0:
                return axis, divisor * block, None if radix is None else radix // block
    return None
