"""What a model of ONNX says: its initialisers, where items lie, and all the rest as it stands.

The file is walked field by field and never built in memory: of items only the place is looked at.
Initialisers of which the items are no numbers of their type (texts, floats of 6 bits in place of
which numbers stand) are part of the rest, and stay in the model.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from layoutdsl.files.npy import MOST_AXES, UnreadableError
from layoutdsl.weights.bounds import MOST_HEADER, exactly, shown, unreadable
from layoutdsl.weights.onnx_numbers import FIELDS, MOST_RUNS, Numbers
from layoutdsl.weights.onnx_types import BY_NUMBER, TYPES
from layoutdsl.weights.protobuf import Field, Messages

GRAPH, METADATA = 7, 14
"""Fields of a model."""

INITIALIZER, INPUT = 5, 11
"""Fields of a graph."""

DIMS, TYPE, NAME, RAW, OUTSIDE, WHERE = 1, 2, 8, 9, 13, 14
"""Fields of a tensor."""

KEY, VALUE = 1, 2
"""Fields of an entry of metadata, and of what says where items lie."""

SAID = "layoutdsl"
MARK = "layoutdsl: lies in an initialiser that was made of several"
"""What an input says of itself that stands for a tensor which has become a field of a record."""

_FLOATS, _DOUBLES, _OUTSIDE = 4, 10, 1
_AS_THEY_LIE = {"FLOAT": _FLOATS, "COMPLEX64": _FLOATS, "DOUBLE": _DOUBLES, "COMPLEX128": _DOUBLES}
_MOST_NAME, _MOST_COUNT = 1 << 16, 1 << 17
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
class Spans:
    """Stretches of a file, those side by side as one."""

    found: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        """Add a stretch behind all others."""
        if self.found and self.found[-1][1] == start:
            start = self.found.pop()[0]
        self.found.append((start, end))

    def read(self, handle: int) -> bytes:
        """Return all of their bytes, which are not many.

        Raises:
            UnreadableError: they are too many.
        """
        size = sum(end - start for start, end in self.found)
        _refuse_more(size)
        return b"".join(exactly(handle, start, end - start) for start, end in self.found)


def _refuse_more(size: int) -> None:
    if size > MOST_HEADER:
        words = f"has {size} bytes besides initialisers, and {MOST_HEADER} are the most"
        raise UnreadableError(f"{words}; make its large constants initialisers")


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a model says of an initialiser.

    Attributes:
        name: as the graph has it.
        word: its type.
        shape: the extents.
        span: the bytes of its field in the model.
        items: the bytes of its items there; where these are numbers that have to be written out;
            ``None`` where they lie in another file.
        outside: what is said of that: ``location``, ``offset``, ``length``.
        more: fields that say something else, as they stand.
    """

    name: str
    word: str
    shape: tuple[int, ...]
    span: tuple[int, int]
    items: tuple[int, int] | Numbers | None
    outside: Mapping[str, str]
    more: Spans

    @property
    def size(self) -> int:
        """The bytes of all that the model says of it."""
        return self.span[1] - self.span[0]


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
            _refuse_more(inputs)
            name, doc = _input(messages, each)
            found.inputs.add(name)
            if doc == MARK:
                found.marked[name] = each.start, each.end
                continue
        tensor = _tensor(messages, each) if each.number == INITIALIZER else None
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
            key, value = _pair(messages, each, MOST_HEADER)
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


def _pair(messages: Messages, found: Field, most: int) -> tuple[str, str]:
    texts = {KEY: "", VALUE: ""}
    for each in messages.fields(found.data, found.end):
        if each.number in texts:
            texts[each.number] = messages.text(each, most)
    return texts[KEY], texts[VALUE]


@dataclass(slots=True)
class _Parts:
    """What the fields of a tensor say, the last of each kind; of items the first of them, too."""

    name: str = ""
    number: int = 0
    where: int = 0
    shape: list[int] = field(default_factory=list)
    outside: dict[str, str] = field(default_factory=dict)
    items: dict[int, list[Field]] = field(default_factory=dict)
    more: Spans = field(default_factory=Spans)


def _parts(messages: Messages, tensor: Field) -> _Parts:
    found = _Parts()
    for each in messages.fields(tensor.data, tensor.end):
        match each.number:
            case 1:
                room = MOST_AXES + 1 - len(found.shape)
                found.shape += islice(messages.numbers(each), max(room, 0))
            case 2:
                found.number = each.value & 0xFFFFFFFF
            case 8:
                found.name = messages.text(each, _MOST_NAME)
            case 13 if each.kind == "run":
                key, value = _pair(messages, each, _MOST_NAME)
                found.outside[key] = value
            case 14:
                found.where = each.value
            case 3 | 4 | 5 | 6 | 7 | 9 | 10 | 11:
                held = found.items.setdefault(each.number, [])
                del held[MOST_RUNS:]  # so many are too many; the last is kept
                held.append(each)
            case _:
                found.more.add(each.start, each.end)
    return found


def _tensor(messages: Messages, tensor: Field) -> Tensor | None:
    """What an initialiser is; ``None`` where its items do not lie as such."""
    if tensor.kind != "run":
        raise unreadable("onnx", "an initialiser of it is no message")
    found = _parts(messages, tensor)
    word, span = BY_NUMBER.get(found.number), (tensor.start, tensor.end)
    items = None
    if found.where != _OUTSIDE:
        items = _items(word, found.items, tensor)
        if word is None or items is None:
            return None
    elif found.items:
        raise unreadable("onnx", f"items of {shown(found.name)} lie in it and in another file")
    elif word is None:
        words = f"has the initialiser {shown(found.name)} of the type {found.number}"
        raise UnreadableError(f"{words}, and {', '.join(TYPES)} are known")
    shape = tuple(found.shape)
    return Tensor(found.name, word, shape, span, items, found.outside, found.more)


def _items(
    word: str | None, held: Mapping[int, Sequence[Field]], tensor: Field
) -> tuple[int, int] | Numbers | None:
    """Where the items of an initialiser lie; nothing where they are no numbers of its type."""
    if not held:
        return tensor.end, tensor.end
    (number, runs), *others = held.items()
    if others or any(each.kind != "run" for each in runs):
        return None
    last = runs[-1]
    if number == RAW or (len(runs) == 1 and number == _AS_THEY_LIE.get(word or "")):
        return last.data, last.end
    if number != FIELDS.get(word or "") or len(runs) > MOST_RUNS:
        return None
    return Numbers(number, tuple((each.data, each.end) for each in runs))


def _refuse_hidden(messages: Messages, kind: str, found: Field, depth: int) -> None:
    """Fail where a tensor that is no initialiser of the graph has its items in another file."""
    if depth > _DEEPEST:
        raise unreadable("onnx", f"it has more than {_DEEPEST} messages inside each other")
    if found.kind != "run":
        raise unreadable("onnx", "a part of it is no message")
    if kind == "tensor":
        tensor = _parts(messages, found)
        if tensor.where == _OUTSIDE:
            words = f"has the tensor {shown(tensor.name)} in another file"
            why = "which is no initialiser of its main graph"
            raise UnreadableError(f"{words}, {why}; put it into the model with onnx.save")
        return
    for each in messages.fields(found.data, found.end):
        if inner := _INNER[kind].get(each.number):
            _refuse_hidden(messages, inner, each, depth + 1)
