"""Branches where they are asked about once: outside of loops, and not where the answer is known.

The planner asks at each leaf what it needs to know there. What depends on the shape alone is asked
before any loop, so that threads can share the loops; and what others around it settle is not asked
again, so that a reader meets no branch that is dead.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.code.loops import tree
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Index,
    Min,
    Mul,
    Sub,
    indices,
)

PART = 1 << 14
"""Bytes of a part of a long run."""

Facts = tuple[Expr, ...]
"""What is known not to be negative."""


def pruned(node: tree.Node, known: Facts = ()) -> tree.Node:
    """Return a tree that does the same, without branches that are never taken.

    Args:
        node: the tree.
        known: expressions that are not negative where it is reached.
    """
    match node:
        case tree.For(name, count, body):
            facts = [Sub(Sub(count, Index(name)), ONE)]
            if isinstance(count, CeilDiv):  # the last block begins before the end
                facts.append(Sub(Sub(count.left, Mul(count.right, Index(name))), ONE))
            return replace(node, body=pruned(body, (*known, *facts)))
        case tree.Slide(name, extent, step, body):
            last = Sub(Sub(extent, Index(name)), Constant(step))
            return replace(node, body=pruned(body, (*known, last)))
        case tree.Seq(parts):
            return tree.Seq(tuple(pruned(part, known) for part in parts))
        case tree.Scratch():
            return replace(node, body=pruned(node.body, known))
        case tree.If(condition, then, other):
            return _branch(condition, then, other, known)
    return node


def hoisted(node: tree.Node) -> tree.Node:
    """Return a tree that does the same, and asks about the shape outside of loops."""
    match node:
        case tree.For() | tree.Slide():
            body = hoisted(node.body)
            if isinstance(body, tree.If) and _of_shape(body.condition):
                then, other = (
                    hoisted(replace(node, body=each)) if each != tree.EMPTY else each
                    for each in (body.then, body.other)
                )
                return tree.If(body.condition, then, other)
            return replace(node, body=body)
        case tree.If(condition, then, other):
            return tree.If(condition, hoisted(then), hoisted(other))
    return node


def cut(node: tree.Node, width: int) -> tree.Node:
    """Return a tree that does the same; if it is but one long run, in parts that threads share.

    Args:
        node: the tree.
        width: bytes of an element.
    """
    match node:
        case tree.Run(target, source, count) if not isinstance(count, Constant):
            part = Constant(PART // width)
            first = Mul(part, Index("part"))
            to, out = (replace(e, offset=simplify(Add(e.offset, first))) for e in (target, source))
            some = tree.Run(to, out, Min(simplify(Sub(count, first)), part))
            return tree.For("part", simplify(CeilDiv(count, part)), some, f"{PART} bytes at a time")
        case tree.If(condition, then, other):
            return tree.If(condition, cut(then, width), cut(other, width))
    return node


def _of_shape(condition: Condition) -> bool:
    return not indices(condition.left) | indices(condition.right)


def _branch(condition: Condition, then: tree.Node, other: tree.Node, known: Facts) -> tree.Node:
    slack = _slack(condition)
    if slack is None:
        return tree.If(condition, pruned(then, known), pruned(other, known))
    beyond = Sub(Sub(ZERO, slack), ONE)
    if _follows(slack, known):
        return pruned(then, known)
    if _follows(beyond, known):
        return pruned(other, known)
    one, two = pruned(then, (*known, slack)), pruned(other, (*known, beyond))
    return one if one == two else tree.If(condition, one, two)


def _slack(condition: Condition) -> Expr | None:
    """What is not negative where a condition holds, and negative where it does not."""
    left, right = condition.left, condition.right
    match condition.operator:
        case "<":
            return Sub(Sub(right, left), ONE)
        case "<=":
            return Sub(right, left)
        case ">":
            return Sub(Sub(left, right), ONE)
        case ">=":
            return Sub(left, right)
    return None


def _follows(wanted: Expr, known: Facts) -> bool:
    return at_least(simplify(wanted), 0) or any(
        at_least(simplify(Sub(wanted, each)), 0) for each in known
    )
