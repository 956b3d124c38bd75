"""Weights of a model of ONNX, set aside: each is read when it is asked for, and none is kept.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary, finalize

import numpy as np

from layoutdsl.files.npy import UnreadableError
from layoutdsl.propagation.graph import Array
from layoutdsl.propagation.models.onnx_faults import UnfitModelError
from layoutdsl.propagation.models.onnx_items import (
    MOST_WEIGHTS,
    RAW_DATA,
    Stamp,
    count_of,
    inside,
    outside,
    raw_items,
    stamp_of,
)
from layoutdsl.propagation.models.onnx_wire import Piece, WireError, read, taken_out

SMALL = 128
"""Elements of a constant that stays in sight of whoever infers shapes."""

MOST_DEEP = 50
"""Graphs within graphs."""

CHANGED = "was changed while it was read; run it again"


class Tensors:
    """The initialisers of a model that lies in a file, read one by one, as often as asked.

    Args:
        handle: of the file; it is closed when nobody needs these any more.
        pieces: where they lie in it.
        place: of the file, beside which others may lie.
    """

    def __init__(self, handle: int, pieces: tuple[Piece, ...], place: Path) -> None:
        self._handle, self._pieces, self.place = handle, pieces, place
        self._stamp = stamp_of(handle)
        self._beside = dict[str, Stamp]()
        finalize(self, os.close, handle)

    def __len__(self) -> int:
        return len(self._pieces)

    def head(self, number: int) -> Any:
        """Return one as the package onnx has it, without items that are bytes.

        Raises:
            UnreadableError: it is none.
            OSError: it cannot be read.
        """
        return self._apart(number)[0]

    def whole(self, number: int) -> Any:
        """Return one as the package onnx has it.

        Raises:
            UnreadableError, OSError: as of `head`.
        """
        piece = self._pieces[number]
        try:
            return _parsed(read(self._handle, piece.inside, piece.end))
        except WireError:
            raise UnreadableError(CHANGED) from None

    def array(self, number: int) -> Array:
        """Return the items of one, as the file had them when it was opened.

        Raises:
            UnreadableError: they cannot be what is said of them, or were changed meanwhile.
            OSError: they cannot be read.
        """
        import onnx

        if stamp_of(self._handle) != self._stamp:
            raise UnreadableError(CHANGED)
        tensor, raw = self._apart(number)
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            array, location, stamp = outside(tensor, self.place.parent)
            if self._beside.setdefault(location, stamp) != stamp:
                raise UnreadableError(CHANGED)
            return array
        found = None if raw is None else raw_items(tensor, raw, self._handle)
        return inside(self.whole(number)) if found is None else found

    def again(self, number: int) -> Array:
        """Return the items of one that could be read before.

        Raises:
            UnfitModelError: they were changed meanwhile.
            OSError: they cannot be read.
        """
        try:
            return self.array(number)
        except UnreadableError as error:
            raise unfit(self.place, error) from None

    def _apart(self, number: int) -> tuple[Any, Piece | None]:
        piece = self._pieces[number]
        try:
            rest, raw = taken_out(self._handle, piece, RAW_DATA)
        except WireError:
            raise UnreadableError("has an initialiser that is none") from None
        return _parsed(rest), raw


def _parsed(data: bytes) -> Any:
    """Bytes as a weight."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        return onnx.TensorProto.FromString(data)
    except DecodeError:
        raise UnreadableError("has an initialiser that is none") from None


class Weights(Mapping[str, Array]):
    """Initialisers of a model by their names; each is read when it is asked for.

    Who asks again while one is in use gets the same array.

    Args:
        read: returns one by its number.
        about: their numbers, shapes and types, by their names.
    """

    def __init__(
        self,
        read: Callable[[int], Array],
        about: Mapping[str, tuple[int, tuple[int, ...], np.dtype[Any]]],
    ) -> None:
        self._read, self._about = read, about
        self._used = WeakValueDictionary[str, Array]()

    def __getitem__(self, name: str) -> Array:
        found = self._used.get(name)
        if found is None:
            found = self._used[name] = self._read(self._about[name][0])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._about

    def __iter__(self) -> Iterator[str]:
        return iter(self._about)

    def __len__(self) -> int:
        return len(self._about)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the extents of one."""
        return self._about[name][1]

    def dtype(self, name: str) -> np.dtype[Any]:
        """Return the type of the items of one."""
        return self._about[name][2]

    def only(self, names: Container[str]) -> Weights:
        """Return those of some names."""
        found = Weights(self._read, {n: each for n, each in self._about.items() if n in names})
        found._used = self._used
        return found


def unfit(place: Path, error: UnreadableError) -> UnfitModelError:
    """Return what is wrong with a model whose weights cannot be read."""
    fact, _, remedy = error.fact.partition("; ")
    return UnfitModelError(f"`{place}` {fact}", remedy or "save it again")


def all_weights(proto: Any, tensors: Tensors) -> Weights:
    """Return all initialisers of a model, after a look at each.

    Raises:
        UnreadableError: one cannot be read, or two have one name.
        OSError: a file cannot be read.
    """
    refuse_hidden(proto)
    return _looked_at(tensors, ((n, tensors.head(n).name) for n in range(len(tensors))))


def set_aside(proto: Any, tensors: Tensors) -> Weights:
    """Return large initialisers, which become inputs of the model; it gets the small ones.

    Args:
        proto: the model without initialisers.
        tensors: these.

    Raises:
        UnreadableError: the model says of its weights what cannot be.
        OSError: a file cannot be read.
    """
    import onnx
    from onnx import helper

    refuse_hidden(proto)
    graph, large = proto.graph, list[tuple[int, str]]()
    inputs = {each.name for each in graph.input}
    for number in range(len(tensors)):
        tensor = tensors.head(number)
        count, kind = count_of(tensor), tensor.data_type
        outside = tensor.data_location == onnx.TensorProto.EXTERNAL
        if not outside and (count <= SMALL or kind == onnx.TensorProto.STRING):
            graph.initializer.append(tensors.whole(number))
            continue
        large.append((number, tensor.name))
        if tensor.name not in inputs:
            shape = tuple(tensor.dims)
            graph.input.append(helper.make_tensor_value_info(tensor.name, kind, shape))
    return _looked_at(tensors, large)


def _looked_at(tensors: Tensors, named: Iterable[tuple[int, str]]) -> Weights:
    """Weights that can be read: each was once."""
    about, total = dict[str, tuple[int, tuple[int, ...], np.dtype[Any]]](), 0
    for number, name in named:
        array = tensors.array(number)
        total += array.nbytes
        if total > MOST_WEIGHTS:
            raise UnreadableError(f"has more than {MOST_WEIGHTS} bytes of weights")
        if name in about:
            raise UnreadableError("has two weights of one name")
        about[name] = number, array.shape, array.dtype
    return Weights(tensors.again, about)


def refuse_hidden(proto: Any) -> None:
    """Fail where a tensor that is no initialiser of the main graph lies in another file."""
    nodes = [*proto.graph.node, *(node for each in proto.functions for node in each.node)]
    if len(proto.graph.sparse_initializer) > 0:
        raise UnreadableError("has sparse weights; make them dense")
    depth = 0
    while nodes:
        depth += 1
        if depth > MOST_DEEP:
            raise UnreadableError(f"has more than {MOST_DEEP} graphs inside each other")
        inner = list[Any]()
        for attribute in (each for node in nodes for each in node.attribute):
            graphs = [attribute.g] if attribute.HasField("g") else []
            graphs += attribute.graphs
            tensors = [attribute.t] if attribute.HasField("t") else []
            tensors += [*attribute.tensors, *(each for g in graphs for each in g.initializer)]
            if any(each.data_location for each in tensors):
                words = "has a tensor in another file that is no initialiser of its main graph"
                raise UnreadableError(f"{words}; put it into the model with onnx.save")
            inner += [node for graph in graphs for node in graph.node]
        nodes = inner
