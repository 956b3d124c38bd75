"""What a model of ONNX says: its initialisers, where items lie, and all the rest as it stands.

The file is walked field by field and never built in memory: of items only the place is looked at.
Initialisers of which the items are no numbers of their type (texts, floats of 6 bits in place of
which numbers stand) are part of the rest, and stay in the model.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import MOST_HEADER, shown, unreadable
from layoutdsl.files.weights.onnx_tensors import (
    Spans,
    Tensor,
    pair,
    parts_of,
    refuse_more,
    tensor_of,
)
from layoutdsl.files.weights.protobuf import Field, Messages

GRAPH, METADATA = 7, 14
"""Fields of a model."""

INITIALIZER, INPUT = 5, 11
"""Fields of a graph."""

SAID = "layoutdsl"
MARK = "layoutdsl: lies in an initialiser that was made of several"
"""What an input says of itself that stands for a tensor which has become a field of a record."""

_MOST_COUNT = 1 << 17
_DEEPEST = 100
"""Messages inside each other, as in protobuf itself."""

_INNER: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
"""Where tensors may lie within messages."""


@dataclass(slots=True)
class Model:
    """What a model says, and where.

    Attributes:
        tensors: the initialisers that are tensors of items.
        said: the text under our key.
        model: all other fields of the model, but for its graph.
        graph: all other fields of the graph.
        inputs: the names of its inputs.
        marked: the bytes of those among them that stand for fields of records, which are in none of
            the above.
    """

    tensors: list[Tensor] = field(default_factory=list)
    said: str | None = None
    model: Spans = field(default_factory=Spans)
    graph: Spans = field(default_factory=Spans)
    inputs: set[str] = field(default_factory=set)
    marked: dict[str, tuple[int, int]] = field(default_factory=dict)


def read(handle: int, size: int) -> Model:
    """Return what an open file says.

    Raises:
        UnreadableError: it is no model, or says what cannot be.
        OSError: it cannot be read.
    """
    messages, found = Messages(handle, "onnx"), Model()
    graph = _walk_model(messages, found, size)
    inputs = 0
    for each in messages.fields(graph.data, graph.end):
        if each.number == INPUT and each.kind == "run":
            inputs += each.end - each.start
            refuse_more(inputs)
            name, doc = _input(messages, each)
            found.inputs.add(name)
            if doc == MARK:
                found.marked[name] = each.start, each.end
                continue
        tensor = tensor_of(messages, each) if each.number == INITIALIZER else None
        if tensor is None:
            _keep(messages, "graph", each, found.graph)
            continue
        found.tensors.append(tensor)
        if len(found.tensors) > _MOST_COUNT:
            raise unreadable("onnx", f"it has more than {_MOST_COUNT} initialisers")
    return found


def _input(messages: Messages, found: Field) -> tuple[str, str]:
    """The name of an input, and what it says of itself."""
    texts = {1: "", 3: ""}
    for each in messages.fields(found.data, found.end):
        if each.number in texts:
            texts[each.number] = messages.text(each, MOST_HEADER)
    return texts[1], texts[3]


def _walk_model(messages: Messages, found: Model, size: int) -> Field:
    """Look at the fields of a model; return its graph."""
    graph = None
    for each in messages.fields(0, size):
        if each.number == GRAPH:
            if graph is not None or each.kind != "run":
                raise unreadable("onnx", "it has not one graph")
            graph = each
            continue
        if each.number == METADATA and each.kind == "run":
            key, value = pair(messages, each, MOST_HEADER)
            if key == SAID:
                if found.said is not None:
                    raise unreadable("onnx", f"it says `{SAID}` twice")
                found.said = value
                continue
        _keep(messages, "model", each, found.model)
    if graph is None:
        raise unreadable("onnx", "it has no graph")
    return graph


def _keep(messages: Messages, kind: str, found: Field, spans: Spans) -> None:
    """Add a field of a message to what is said again, if no tensor within lies in another file."""
    inner = _INNER[kind].get(found.number)
    if inner is not None and messages.may_hold(found, b"location"):
        _refuse_hidden(messages, inner, found, 1)
    spans.add(found.start, found.end)


def _refuse_hidden(messages: Messages, kind: str, found: Field, depth: int) -> None:
    """Fail where a tensor that is no initialiser of the graph has its items in another file."""
    if depth > _DEEPEST:
        raise unreadable("onnx", f"it has more than {_DEEPEST} messages inside each other")
    if found.kind != "run":
        raise unreadable("onnx", "a part of it is no message")
    if kind == "tensor":
        tensor = parts_of(messages, found)
        if tensor.is_outside:
            words = f"has the tensor {shown(tensor.name)} in another file"
            why = "which is no initialiser of its main graph"
            raise UnreadableError(f"{words}, {why}; put it into the model with onnx.save")
        return
    for each in messages.fields(found.data, found.end):
        if inner := _INNER[kind].get(each.number):
            _refuse_hidden(messages, inner, each, depth + 1)
