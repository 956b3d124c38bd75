"""Layouts without digits, element by element: swizzles, domains, blocks that are no numbers.

The whole target is filled first. Loops go over the axes of the tensor in their order, and what is
copied in them lies at the layouts' own formulas. The innermost is the axis of which the formulas
show most elements to lie together on both sides; so many are copied at once.
"""

from __future__ import annotations

from math import inf

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.moves import Move, Side
from layoutdsl.code.together import together
from layoutdsl.language.integers.bounds import ONE, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    FloorDiv,
    Index,
    Mul,
    Sub,
    substitute,
)
from layoutdsl.language.integers.written_out import horner_expr
from layoutdsl.language.meaning.model import Axis
from layoutdsl.language.meaning.offsets import offset_expr


def rows(move: Move) -> tree.Node:
    """Return the tree that moves every element to the offset that its formula gives it."""
    axes = move.layouts[0].axes
    places = _places(move)
    if not axes:
        return _filled_before(move, _single(places))
    conditions = [each for side in move.layouts for each in side.domain]
    run, inner = _longest(move)
    name = inner.name if run in (None, 1) else f"{inner.name}_{run}"
    while name in {axis.name for axis in axes if axis != inner}:
        name += "_"
    node = _run(inner, name, run, places, conditions)
    for axis in reversed(axes):
        if axis != inner:
            node = tree.For(axis.name, axis.extent, node, axis.name)
    return _filled_before(move, node)


def run_of(move: Move) -> int | None:
    """Return how many elements are copied at once, as far as formulas show: ``None`` for rows."""
    return _longest(move)[0] if move.layouts[0].axes else 1


def along(move: Move) -> Axis:
    """Return the axis along which elements are copied at once, of a move that has any."""
    return _longest(move)[1]


def _longest(move: Move) -> tuple[int | None, Axis]:
    """The axis along which most elements lie together on both sides, and how many do."""
    conditions = [each for side in move.layouts for each in side.domain]
    axes, places = move.layouts[0].axes, _places(move)
    found = [(together(axis, places, _sides(conditions)), axis) for axis in axes]
    return max(reversed(found), key=lambda each: inf if each[0] is None else each[0])


def _places(move: Move) -> tuple[Expr, ...]:
    return tuple(_offset(move, side) for side in (move.target, move.source))


def _single(places: tuple[Expr, ...]) -> tree.Node:
    """The only element of a tensor without axes."""
    target, source = places
    return tree.Run(tree.Place(tree.TARGET, target), tree.Place(tree.SOURCE, source), ONE)


def _filled_before(move: Move, node: tree.Node) -> tree.Node:
    if move.target is None:
        return node
    size = simplify(Sub(move.sizes[1], move.target.start))
    return tree.Seq((tree.Fill(tree.Place(tree.TARGET, move.target.start), size), node))


def _offset(move: Move, side: Side) -> Expr:
    """The offset of an element, over the names of the axes of the first layout."""
    axes = move.layouts[0].element_axes
    if side is None:
        own = tuple(Coordinate(Index(axis.name), axis.extent) for axis in axes)
        return horner_expr(own) if own else Constant(0)
    return offset_expr(side)


def _sides(conditions: list[Condition]) -> list[Expr]:
    return [side for each in conditions for side in (each.left, each.right)]


def _run(
    axis: Axis,
    name: str,
    run: int | None,
    places: tuple[Expr, ...],
    conditions: list[Condition],
) -> tree.Node:
    """The innermost loop: runs of elements that lie together, ``None`` for the whole axis."""
    if run is None:
        return _copied(axis, Constant(0), places, conditions, axis.extent)
    if run == 1:
        node = _copied(axis, Index(axis.name), places, conditions, ONE)
        return tree.For(axis.name, axis.extent, node, axis.name)
    whole = Constant(run)
    first = simplify(Mul(whole, Index(name)))
    node = _copied(axis, first, places, conditions, whole)
    left = simplify(Sub(axis.extent, first))
    if not (isinstance(axis.extent, Constant) and axis.extent.value % run == 0):
        ends = _copied(axis, first, places, conditions, left)
        past = Condition(simplify(Add(first, whole)), "<=", axis.extent)
        node = tree.If(past, node, ends)
    count = simplify(FloorDiv(Add(axis.extent, Constant(run - 1)), whole))
    return tree.For(name, count, node, f"{axis.name}/{run}")


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
