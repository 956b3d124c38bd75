"""Layouts without digits, element by element: swizzles, domains, blocks that are no numbers.

The whole target is filled first. Loops go over the axes of the tensor in their order, and what is
copied in them lies at the layouts' own formulas. The innermost is the axis of which the formulas
show most elements to lie together on both sides; so many are copied at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, inf

from layoutdsl.codegen.loops import tree
from layoutdsl.codegen.loops.moves import Move, Side
from layoutdsl.integers.bounds import ONE, simplify
from layoutdsl.integers.conditions import Condition
from layoutdsl.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    children,
    substitute,
    walk,
)
from layoutdsl.integers.written_out import horner_expr
from layoutdsl.meaning.model import Axis
from layoutdsl.meaning.offsets import offset_expr


@dataclass(frozen=True, slots=True)
class _Grown:
    """What becomes of a value as an index grows by less than ``n`` from a multiple of ``n`` on.

    Attributes:
        by: 0, it stays; 1, it grows by as much.
        whole: it starts from a multiple of ``n``.
    """

    by: int
    whole: bool = False


def rows(move: Move) -> tree.Node:
    """Return the tree that moves every element to the offset that its formula gives it."""
    axes = move.layouts[0].axes
    places = tuple(_offset(move, side) for side in (move.target, move.source))
    conditions = [each for side in move.layouts for each in side.domain]
    found = [(_together(axis, [*places, *_sides(conditions)], places), axis) for axis in axes]
    together, inner = max(reversed(found), key=lambda each: inf if each[0] is None else each[0])
    name = inner.name if together in (None, 1) else f"{inner.name}_{together}"
    while name in {axis.name for axis in axes if axis != inner}:
        name += "_"
    node = _run(inner, name, together, places, conditions)
    for axis in reversed(axes):
        if axis != inner:
            node = tree.For(axis.name, axis.extent, node, axis.name)
    if move.target is None:
        return node
    size = simplify(Sub(move.sizes[1], move.target.start))
    return tree.Seq((tree.Fill(tree.Place(tree.TARGET, move.target.start), size), node))


def _offset(move: Move, side: Side) -> Expr:
    """The offset of an element, over the names of the axes of the first layout."""
    axes = move.layouts[0].axes
    if side is None:
        return horner_expr(tuple(Coordinate(Index(axis.name), axis.extent) for axis in axes))
    return offset_expr(side)


def _sides(conditions: list[Condition]) -> list[Expr]:
    return [side for each in conditions for side in (each.left, each.right)]


def _run(
    axis: Axis,
    name: str,
    together: int | None,
    places: tuple[Expr, ...],
    conditions: list[Condition],
) -> tree.Node:
    """The innermost loop: runs of elements that lie together, ``None`` for the whole axis."""
    if together is None:
        return _copied(axis, Constant(0), places, conditions, axis.extent)
    if together == 1:
        node = _copied(axis, Index(axis.name), places, conditions, ONE)
        return tree.For(axis.name, axis.extent, node, axis.name)
    whole = Constant(together)
    first = simplify(Mul(whole, Index(name)))
    node = _copied(axis, first, places, conditions, whole)
    left = simplify(Sub(axis.extent, first))
    if not (isinstance(axis.extent, Constant) and axis.extent.value % together == 0):
        ends = _copied(axis, first, places, conditions, left)
        past = Condition(simplify(Add(first, whole)), "<=", axis.extent)
        node = tree.If(past, node, ends)
    count = simplify(FloorDiv(Add(axis.extent, Constant(together - 1)), whole))
    return tree.For(name, count, node, f"{axis.name}/{together}")


def _copied(
    axis: Axis, first: Expr, places: tuple[Expr, ...], conditions: list[Condition], count: Expr
) -> tree.Node:
    """Elements from an index on, where the layouts hold them."""
    at = {axis.name: first}
    target, source = (_at(each, at) for each in places)
    node: tree.Node = tree.Run(
        tree.Place(tree.TARGET, target), tree.Place(tree.SOURCE, source), count
    )
    for each in conditions:
        held = Condition(_at(each.left, at), each.operator, _at(each.right, at))
        node = tree.If(held, node, tree.EMPTY)
    return node


def _at(expr: Expr, values: dict[str, Expr]) -> Expr:
    return substitute(expr, values)


def _together(axis: Axis, exprs: list[Expr], places: tuple[Expr, ...]) -> int | None:
    """How many elements of an axis lie together, from any multiple of that on."""
    cuts = {
        each.right.value
        for expr in exprs
        for each in walk(expr)
        if isinstance(each, FloorDiv | Mod) and isinstance(each.right, Constant)
    }
    cuts.add(gcd(*cuts))
    for count in (None, *sorted(cuts - {0, 1}, reverse=True)):
        grown = [_grown(expr, axis.name, count) for expr in exprs]
        wanted = [1] * len(places) + [0] * (len(exprs) - len(places))
        if [None if each is None else each.by for each in grown] == wanted:
            return count
    return 1


def _grown(expr: Expr, name: str, count: int | None) -> _Grown | None:
    """What becomes of an expression, as the index grows; nothing where that is not seen."""
    match expr:
        case Index(other):
            return _Grown(1, whole=True) if other == name else _Grown(0)
        case Extent():
            return _Grown(0)
        case Constant(value):
            return _Grown(0, whole=count is not None and value % count == 0)
        case MixedRadix():
            return _grown(horner_expr(expr.parts), name, count)
    parts = [_grown(each, name, count) for each in children(expr)]
    if any(each is None for each in parts):
        return None
    left, right = (each for each in parts if each is not None)
    match expr:
        case Add():
            both = left.by + right.by
            return _Grown(both, left.whole and right.whole) if both <= 1 else None
        case Mul() if not left.by and not right.by:
            return _Grown(0, left.whole or right.whole)
        case Mul(factor, Constant(1)) | Mul(Constant(1), factor):
            return _grown(factor, name, count)
        case FloorDiv(_, Constant(block)) if left.by and left.whole and count is not None:
            return _Grown(0) if block % count == 0 else None
        case Mod(_, Constant(block)) if left.by and left.whole and count is not None:
            return _Grown(1, whole=True) if block % count == 0 else None
    return None if left.by or right.by else _Grown(0)
