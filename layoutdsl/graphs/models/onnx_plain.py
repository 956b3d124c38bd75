"""A model as whoever plans it wants it: functions in the places where they are called, and names
told apart.

Exporters put layers into functions of the model's own, which say nothing of axes: what is in them
is planned like the rest. One that a rule, a kernel or a preference speaks of stays as it is.

Source: onnx, docs/IR.md, "Functions"; onnx.inliner of 1.23.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import suppress
from typing import Any

MOST_INLINED = 1 << 18
"""Nodes that functions may come to in the places where they are called; real models have 10^5."""


def inlined_nodes(proto: Any) -> int:
    """Return how many nodes a model has with its functions in the places where they are called.

    Functions that call each other in a circle come to more than `MOST_INLINED`.
    """
    bodies = {(each.domain, each.name): each.node for each in proto.functions}
    known = dict[tuple[str, str], int]()
    stack: list[tuple[str, str]] = []

    def calls(nodes: Any) -> Iterator[Any]:
        for node in nodes:
            yield node
            for attribute in node.attribute:
                graphs = [attribute.g] if attribute.HasField("g") else []
                for graph in (*graphs, *attribute.graphs):
                    yield from calls(graph.node)

    def counted(nodes: Any) -> int:
        found = 0
        for node in calls(nodes):
            key = (node.domain, node.op_type)
            found += known.get(key, MOST_INLINED + 1) if key in bodies else 1
        return found

    # Callees first, without recursion: a file may nest functions as deeply as it likes.
    for start in bodies:
        stack.append(start)
        open_ = set[tuple[str, str]]()
        while stack:
            key = stack[-1]
            inner = [(each.domain, each.op_type) for each in calls(bodies[key])]
            left = [each for each in inner if each in bodies and each not in known]
            if key in known or not left or key in open_:
                known.setdefault(key, counted(bodies[key]))
                stack.pop()
                continue
            open_.add(key)
            stack += dict.fromkeys(left)
    return counted(proto.graph.node)


def inlined(proto: Any, known: Container[str]) -> Any:
    """Return a model without calls of its own functions, but for those that are known.

    Where that cannot be, as functions are of another opset, they all stay.

    Args:
        proto: the model, which is valid.
        known: operators that somebody speaks of, as `com.acme::Upscale`.
    """
    from onnx import inliner

    kept = [
        (each.domain, each.name)
        for each in proto.functions
        if f"{each.domain}::{each.name}" in known
    ]
    if len(kept) == len(proto.functions):
        return proto
    found = type(proto)()
    found.CopyFrom(proto)
    _share_opsets(found)
    with suppress(Exception):  # whatever C++ throws
        return inliner.inline_selected_functions(found, kept, exclude=True)
    return proto


def _share_opsets(proto: Any) -> None:
    """Let functions be of the model's opset, where their operators are the same in both."""
    own = {each.domain: each.version for each in proto.opset_import}
    for function in proto.functions:
        for each in function.opset_import:
            version = own.get(each.domain, each.version)
            if all(_is_same(node, each.domain, each.version, version) for node in function.node):
                each.version = version


def _is_same(node: Any, domain: str, one: int, other: int) -> bool:
    """Whether an operator, and those of graphs inside of it, mean the same in two opsets."""
    from onnx import defs

    bodies = [each.g for each in node.attribute if each.HasField("g")]
    bodies += [graph for each in node.attribute for graph in each.graphs]
    inner = (each for body in bodies for each in body.node)
    if not all(_is_same(each, domain, one, other) for each in inner):
        return False
    if node.domain != domain:
        return True
    try:
        versions = {
            defs.get_schema(node.op_type, each, domain).since_version for each in (one, other)
        }
    except defs.SchemaError:
        return False
    return len(versions) == 1


def tell_nodes_apart(proto: Any) -> None:
    """Give each node of the main graph a name of its own, if it has any.

    onnxruntime 1.32 refuses two nodes of one name, which ONNX asks for and nobody checks.
    """
    taken = {node.name for node in proto.graph.node}
    seen = set[str]()
    for node in proto.graph.node:
        name, number = node.name, 1
        while name and name in seen:
            number += 1
            name = f"{node.name}_{number}" if f"{node.name}_{number}" not in taken else name
        node.name = name
        seen.add(name)
        taken.add(name)
