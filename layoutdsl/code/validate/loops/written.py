"""A tree as a text that no other tree has, to be sealed."""

from __future__ import annotations

from dataclasses import fields

from layoutdsl.code.loops import tree
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Expr, text


def spelled_tree(node: tree.Node | tree.Place | tree.Edge | tree.Step) -> str:
    """Return what a tree says: each node with all that it has, by name."""
    said = (f"{each.name}={_spelled(getattr(node, each.name))}" for each in fields(node))
    return f"{type(node).__name__}({', '.join(said)})"


def _spelled(value: object) -> str:
    match value:
        case None | bool() | int() | str() | Condition():
            return str(value)
        case tuple():
            return f"[{', '.join(map(_spelled, value))}]"
        case tree.For() | tree.Slide() | tree.If() | tree.Seq() | tree.Scratch():
            return spelled_tree(value)
        case tree.Run() | tree.Fill() | tree.Move() | tree.Place() | tree.Edge() | tree.Step():
            return spelled_tree(value)
    expr: Expr = value  # type: ignore[assignment]
    return text(expr)
