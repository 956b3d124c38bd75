"""Extents and ranges of a record, carried over to the layout of one of its parts.

An axis of extent ``K/16`` has an extent of its own there, ``B``; where the range says that 16
divides ``K``, that is ``16*B``, and ``K % 256 == 0`` is ``B % 16 == 0``. What cannot be said so
stays a parameter of the layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from layoutdsl.language.elaborate.scope import Scope
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Mod,
    Mul,
    extents,
    substitute,
)
from layoutdsl.language.meaning.model import Condition, Layout


def own_extents(
    layout: Layout, given: Mapping[str, Expr], where: Sequence[Condition], scope: Scope
) -> tuple[Layout, tuple[tuple[str, Expr], ...]]:
    """Return the layout without extents of the record that are none of its own, as far as can be.

    Returns what each of its extents and parameters is in the record, too.
    """
    own = {axis.extent.name for axis in layout.axes if isinstance(axis.extent, Extent)}
    bases = _bases(given, own, scope)
    layout = layout.substituted(bases)
    coordinates = tuple(replace(c, extent=simplify(c.extent)) for c in layout.coordinates)
    layout = replace(layout, coordinates=coordinates, start=simplify(layout.start))
    spoken = [each.extent for each in layout.all_coordinates]
    spoken += [layout.start, *(each.value for each in layout.all_coordinates)]
    opened = sorted({name for each in spoken for name in extents(each)} - own)
    known = {*own, *opened, *bases}
    carried = [each for each in where if _symbols(each) <= known]
    conditions = [_plain(each.substituted(bases)) for each in carried]
    exact = {name for each in bases.values() for name in extents(each)}
    for name, expr in given.items():
        value = simplify(substitute(expr, bases))
        if name not in exact and extents(expr) <= known:
            conditions.append(Condition(Extent(name), "==", value))
    found = tuple(
        dict.fromkeys([*layout.where, *(each for each in conditions if each is not None)])
    )
    values = tuple((name, given.get(name, Extent(name))) for name in (*sorted(own), *opened))
    return replace(layout, where=found, parameters=tuple(opened)), values


def _symbols(condition: Condition) -> frozenset[str]:
    return frozenset(extents(condition.left)) | frozenset(extents(condition.right))


def _bases(given: Mapping[str, Expr], own: set[str], scope: Scope) -> dict[str, Expr]:
    """What extents of the record are that are none of the part: 16*B, where B is K/16 exactly."""
    multiples: dict[str, int] = {}
    for left, right in scope.multiples:
        match left, right:
            case Extent(name), Constant(value):
                multiples[name] = max(value, multiples.get(name, 1))
    found: dict[str, tuple[int, str]] = {}
    for name, expr in given.items():
        match expr:
            case Extent(whole):
                found[whole] = (1, name)
            case FloorDiv(Extent(whole), Constant(divisor)) if (
                multiples.get(whole, 1) % divisor == 0
            ):
                found[whole] = min(found.get(whole, (divisor, name)), (divisor, name))
    return {
        whole: Extent(name) if factor == 1 else Mul(Constant(factor), Extent(name))
        for whole, (factor, name) in found.items()
        if whole not in own
    }


def _plain(condition: Condition) -> Condition | None:
    """The condition in plainer words; `None` where it always holds."""
    match condition:
        case Condition(Mod(Mul(Constant(factor), rest), Constant(divisor)), "==", Constant(0)):
            if factor % divisor == 0:
                return None
            if divisor % factor == 0:
                return Condition(Mod(rest, Constant(divisor // factor)), "==", Constant(0))
    left, right = simplify(condition.left), simplify(condition.right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return None if condition.holds({}) else condition
    return Condition(left, condition.operator, right)
