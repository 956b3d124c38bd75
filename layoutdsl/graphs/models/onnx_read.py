"""Models of ONNX, read: bounded, checked, raised to one opset, with the shape of every value.

Weights are read one by one and set aside: what checks, converts and infers never sees them, which
is minutes less for large models. A model is not trusted: files beside it are opened below its
folder only, and nothing of it is run but what `fold.py` names.

Source: onnx.proto of 1.23; onnx, docs/IR.md, docs/ExternalData.md, docs/VersionConverter.md.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any

from layoutdsl.files.npy import UnreadableError
from layoutdsl.graphs.graph import Array, Graph
from layoutdsl.graphs.models.onnx_faults import UnfitModelError, line_of
from layoutdsl.graphs.models.onnx_plain import (
    MOST_INLINED,
    inlined,
    inlined_nodes,
    tell_nodes_apart,
)
from layoutdsl.graphs.models.onnx_raise import raised
from layoutdsl.graphs.models.onnx_shapes import Shapes, fix_shapes, open_negative
from layoutdsl.graphs.models.onnx_tensors import Tensors, unfit
from layoutdsl.graphs.models.onnx_weights import Weights, all_weights, set_aside
from layoutdsl.graphs.models.onnx_wire import Piece, WireError, taken_apart

MOST_BYTES = 2**31 - 1
"""What a message of protobuf may have; larger models keep their weights in files beside them."""

OPSET = 13
"""The oldest opset that is planned: axes of sums, splits and views are operands from here on."""

NOTHING: frozenset[str] = frozenset()

_LOOK = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Older:
    """A model as it was written, of an opset before 13.

    Attributes:
        version: that opset.
        proto: without its large weights, and with shapes of its inputs.
        weights: these.
    """

    version: int
    proto: Any
    weights: Weights


@dataclass(frozen=True, slots=True)
class Model:
    """A model, as its format has it and as a graph.

    Attributes:
        proto: the model without its large weights, of opset 13 at least.
        graph: its main graph.
        size: bytes of the file.
        inner: names that graphs within nodes use for values of their own.
        files: that it is read from, which nobody may replace.
        older: the model before it was raised; `None` where that is this one.
        defaults: of inputs that have one: initialisers of the model that a caller may replace.
    """

    proto: Any
    graph: Graph
    size: int
    inner: frozenset[str] = frozenset()
    files: tuple[Path, ...] = ()
    older: Older | None = None
    defaults: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read once, to be planned at whatever shapes its inputs are given.

    Attributes:
        place: of the file.
        proto: the model without its large weights, as it was written.
        weights: those, by their names; they stay in the file, and are read when they are asked for.
        defaults: initialisers that are inputs, too, likewise.
        size: bytes of the file.
        files: this one, and those beside it that hold weights.
    """

    place: Path
    proto: Any
    weights: Weights
    defaults: Weights
    size: int
    files: tuple[Path, ...]

    @property
    def inputs(self) -> dict[str, Any]:
        """Those that the caller gives, by their names."""
        constants = {*self.weights, *(each.name for each in self.proto.graph.initializer)}
        return {each.name: each for each in self.proto.graph.input if each.name not in constants}


def read_model(place: Path, shapes: Shapes) -> Model:
    """Return the model that a file holds.

    Args:
        place: of the file.
        shapes: of inputs, by their names; needed where the model leaves extents open.

    Raises:
        UnfitModelError: it is no model, or none that can be planned.
        OSError: it, or a file beside it, cannot be read.
    """
    return model_at(read_source(place), shapes)


def read_source(place: Path, known: Container[str] = NOTHING) -> Source:
    """Return what a file holds, before its inputs have shapes.

    Args:
        place: of the file.
        known: operators that an engine speaks of; other functions of the model are put in the
            places where they are called.

    Raises:
        UnfitModelError: it is no model.
        OSError: it, or a file beside it, cannot be read.
    """
    proto, tensors, size = parsed(place)
    try:
        weights, defaults = set_aside(proto, tensors)
    except UnreadableError as error:
        raise unfit(place, error) from None
    if proto.functions:
        count = inlined_nodes(proto)
        if count > MOST_INLINED:
            words = f"`{place}` has functions that call each other: in the places of their calls"
            words += f" they are more than {MOST_INLINED} nodes"
            raise UnfitModelError(words, "export it with fewer calls, or inline some of them")
        proto = inlined(_checked(proto, place), known)
    tell_nodes_apart(proto)
    open_negative(proto)
    return Source(place, proto, weights, defaults, size, tensors.files)


def model_at(source: Source, shapes: Shapes) -> Model:
    """Return a model whose inputs have shapes.

    Raises:
        UnfitModelError: it is none that can be planned.
    """
    from layoutdsl.graphs.models.onnx_graph import graph_of

    place, proto = source.place, _copied(source.proto)
    fix_shapes(proto, source.inputs, place, shapes)
    proto, older = _raised(proto, source)
    graph = graph_of(proto, source.weights, str(place))
    inner = frozenset(_inner_names(graph))
    return Model(proto, graph, source.size, inner, source.files, older, source.defaults)


def _copied(proto: Any) -> Any:
    """A message of its own, as shapes are put into it."""
    return type(proto).FromString(proto.SerializeToString())


def _inner_names(graph: Graph) -> Iterator[str]:
    """Names that graphs within nodes give, which nothing outside may have."""
    left = [node.source for node in graph.nodes if node.opaque]
    while left:
        node: Any = left.pop()
        bodies = [each.g for each in node.attribute if each.HasField("g")]
        bodies += [body for each in node.attribute for body in each.graphs]
        for body in bodies:
            yield from (each.name for each in (*body.input, *body.initializer))
            yield from (name for each in body.node for name in each.output)
            left += body.node


def weights_of(place: Path) -> tuple[Any, Weights]:
    """Return what a model says besides its weights, and all weights by their names.

    Each is read from the file when it is asked for.

    Raises:
        UnfitModelError: it is no model, or says of its weights what cannot be.
        OSError: it, or a file beside it, cannot be read.
    """
    proto, tensors, _ = parsed(place)
    try:
        return proto, all_weights(proto, tensors)
    except (UnreadableError, ValueError, TypeError) as error:
        words = f"`{place}` has weights that cannot be read: {line_of(error)}"
        raise UnfitModelError(words, "save it again") from None


def parsed(place: Path) -> tuple[Any, Tensors, int]:
    """Return a model as the package onnx has it, its initialisers, and the bytes of its file.

    The model is unchecked, and without initialisers in its main graph.

    Raises:
        UnfitModelError: it is none.
        OSError: it cannot be read.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    handle = os.open(place, _LOOK)
    proto, pieces = onnx.ModelProto(), tuple[Piece, ...]()
    try:
        size = _size_of(handle, place)
        with suppress(WireError, DecodeError):
            shell, pieces = taken_apart(handle, size)
            proto.ParseFromString(shell)
        if not proto.HasField("graph") or not proto.graph.output:
            words = f"`{place}` is no model of ONNX"
            raise UnfitModelError(words, "name a file that `onnx.load` reads")
    except BaseException:
        os.close(handle)
        raise
    return proto, Tensors(handle, pieces, place), size


def _size_of(handle: int, place: Path) -> int:
    """The bytes of a file that may be a model."""
    found = os.fstat(handle)
    if not S_ISREG(found.st_mode):
        raise UnfitModelError(f"`{place}` is no plain file", "name a model of ONNX")
    if found.st_size > MOST_BYTES:
        words = f"`{place}` has {found.st_size} bytes, and {MOST_BYTES} are the most"
        raise UnfitModelError(words, "save it with its weights in a file beside it")
    return found.st_size


def _raised(proto: Any, source: Source) -> tuple[Any, Older | None]:
    """The model, checked, with operators of opset 13 at least; what it was where it has others."""
    import onnx

    version = _version(proto, source.place)
    proto = _checked(proto, source.place)
    if not any(each.domain in ("", "ai.onnx") for each in proto.opset_import):
        proto.opset_import.append(onnx.helper.make_opsetid("", version))
    if version >= OPSET:
        return proto, None
    older = Older(version, proto, source.weights)
    return raised(proto, version, OPSET, source.place), older


def _version(proto: Any, place: Path) -> int:
    """The opset of a model; one that says none is of the newest."""
    import onnx

    known = onnx.defs.onnx_opset_version()
    own = [each.version for each in proto.opset_import if each.domain in ("", "ai.onnx")]
    version = max(own, default=known)
    if version > known:
        words = f"`{place}` is of opset {version}, and {known} is the newest that is known"
        raise UnfitModelError(words, "update the package onnx, or export it for an older opset")
    return int(version)


def _checked(proto: Any, place: Path) -> Any:
    """The model, where the package's own checker has nothing to say.

    It asks for the shapes of outputs, which many models leave out and nothing here needs.
    """
    import onnx

    said = type(proto)()
    said.CopyFrom(proto)
    for each in said.graph.output:
        if each.type.HasField("tensor_type"):
            each.type.tensor_type.shape.SetInParent()
    try:
        onnx.checker.check_model(said)
    except Exception as error:  # the checker's own, and ValueError of what it calls
        raise UnfitModelError(
            f"`{place}` is no valid model: {line_of(error)}", "export it again"
        ) from None
    return proto
