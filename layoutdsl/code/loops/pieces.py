"""Which turns of a tree threads share: those of its outermost loops, counted as one."""

from __future__ import annotations

from typing import TypeAlias

from layoutdsl.code.loops import tree
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import Add, CeilDiv, Constant, Expr, FloorDiv

MOST_SHARED = 3
"""Loops that are counted as one: each costs a division a piece."""
TOGETHER = 16
"""Turns of an innermost loop that are one piece."""

Loop: TypeAlias = tree.For | tree.Slide


def shared(node: tree.Node) -> tuple[tuple[Loop, ...], tree.Node]:
    """Return the loops whose turns are shared, outermost first, and what one turn of all does.

    A tree that starts with no loop is one piece. What a fixed number of turns does inside of a
    slide may be done again by the next of its turns, and is not shared.
    """
    found = list[Loop]()
    while isinstance(node, Loop) and len(found) < MOST_SHARED:
        slid = any(isinstance(each, tree.Slide) for each in found)
        if slid and isinstance(node, tree.For) and isinstance(node.count, Constant):
            break
        found.append(node)
        node = node.body
    return tuple(found), node


def span(loop: Loop) -> int:
    """Return how far a piece of a loop goes: a turn, or several where one would be little work."""
    step = 1 if isinstance(loop, tree.For) else loop.step
    if isinstance(loop, tree.Slide) and loop.together:
        return max(loop.together // step, 1) * step
    return step if _loops(loop.body) else TOGETHER * step


def turns(loop: Loop) -> Expr:
    """Return how many pieces a loop is: a turn that is moved back is in one that begins before."""
    whole = Constant(span(loop))
    if isinstance(loop, tree.For):
        return loop.count if whole.value == 1 else simplify(CeilDiv(loop.count, whole))
    return simplify(FloorDiv(Add(loop.extent, Constant(whole.value - loop.step)), whole))


def _loops(node: tree.Node) -> bool:
    match node:
        case tree.For() | tree.Slide():
            return True
        case tree.If(_, then, other):
            return _loops(then) or _loops(other)
        case tree.Seq(parts):
            return any(map(_loops, parts))
    return False
