"""Weights of a model of ONNX, set aside: in the file, or in files beside it.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np

from layoutdsl.files.near import opened_near
from layoutdsl.files.npy import UnreadableError
from layoutdsl.propagation.graph import Array
from layoutdsl.propagation.models.onnx_wire import Piece, WireError, read

MOST_WEIGHTS = 1 << 36
"""Bytes of all weights, in the model and beside it."""

SMALL = 128
"""Elements of a constant that stays in sight of whoever infers shapes."""

MOST_DEEP = 50
"""Graphs within graphs."""


class Tensors:
    """The initialisers of a model that lies in a file, read one by one, as often as asked.

    Args:
        handle: of the file; it is closed when nobody needs these any more.
        pieces: where they lie in it.
    """

    def __init__(self, handle: int, pieces: tuple[Piece, ...]) -> None:
        self._handle, self._pieces = handle, pieces
        finalize(self, os.close, handle)

    def __len__(self) -> int:
        return len(self._pieces)

    def __getitem__(self, number: int) -> Any:
        """Return one as the package onnx has it.

        Raises:
            UnreadableError: it is none.
        """
        import onnx
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

        piece = self._pieces[number]
        try:
            return onnx.TensorProto.FromString(read(self._handle, piece.inside, piece.end))
        except (DecodeError, WireError):
            raise UnreadableError("has an initialiser that is none") from None

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))


class Weights(Mapping[str, Array]):
    """All initialisers of a model by their names; each is read when it is asked for.

    Args:
        tensors: that are read.
        place: of the model.

    Raises:
        UnreadableError: one cannot be read, or two have one name.
    """

    def __init__(self, tensors: Tensors, place: Path) -> None:
        self._tensors, self._place = tensors, place
        self._numbers = dict[str, int]()
        total = 0
        for number, tensor in enumerate(tensors):
            total += _array(tensor, place).nbytes
            refuse_many(total)
            self._numbers[tensor.name] = number
        if len(self._numbers) != len(tensors):
            raise UnreadableError("has two weights of one name")

    def __getitem__(self, name: str) -> Array:
        return _array(self._tensors[self._numbers[name]], self._place)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def set_aside(proto: Any, tensors: Iterable[Any], place: Path) -> Iterator[tuple[str, Array]]:
    """Yield large initialisers, which become inputs of the model; it gets the small ones.

    Args:
        proto: the model without initialisers.
        tensors: these.
        place: of the model.

    Raises:
        UnreadableError: the model says of its weights what cannot be.
        OSError: a file beside it cannot be read.
    """
    import onnx
    from onnx import helper

    refuse_hidden(proto)
    graph = proto.graph
    inputs, total = {each.name for each in graph.input}, 0
    for tensor in tensors:
        count = _count(tensor)
        outside = tensor.data_location == onnx.TensorProto.EXTERNAL
        if not outside and (count <= SMALL or tensor.data_type == onnx.TensorProto.STRING):
            graph.initializer.append(tensor)
            continue
        array = _array(tensor, place)
        total += array.nbytes
        refuse_many(total)
        if tensor.name not in inputs:
            shape = tuple(tensor.dims)
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, shape))
        yield tensor.name, array


def refuse_many(total: int) -> None:
    """Fail where weights have too many bytes."""
    if total > MOST_WEIGHTS:
        raise UnreadableError(f"has more than {MOST_WEIGHTS} bytes of weights")


def _count(tensor: Any) -> int:
    if not tensor.name or any(extent < 0 for extent in tensor.dims):
        raise UnreadableError("has an initialiser without a name or with an extent below 0")
    return int(np.prod(tensor.dims, dtype=object))


def _array(tensor: Any, place: Path) -> Array:
    """The items of an initialiser, from the model or beside it."""
    import onnx

    count = _count(tensor)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return _outside(tensor, place, count)
    return _inside(tensor)


def _inside(tensor: Any) -> Array:
    from onnx import numpy_helper

    try:
        array: Array = numpy_helper.to_array(tensor)
    except Exception as error:  # whatever the package makes of it: the file is at fault
        words = f"has the initialiser `{tensor.name[:80]}`, which cannot be read: {error}"
        raise UnreadableError(words) from None
    return array


def _outside(tensor: Any, place: Path, count: int) -> Array:
    """The items of an initialiser that lie in a file beside the model."""
    from onnx import helper

    said = {each.key: each.value for each in tensor.external_data}
    what = f"items of `{tensor.name[:80]}`"
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
        start, length = int(said.get("offset", "0")), int(said.get("length", "-1"))
    except (KeyError, TypeError, ValueError):
        raise UnreadableError(f"says of {what} what cannot be") from None
    size = count * dtype.itemsize
    if length not in (-1, size) or start < 0 or size > MOST_WEIGHTS:
        raise UnreadableError(f"says {length} bytes of {what}, and type and shape say {size}")
    handle = opened_near(place.parent, said.get("location", ""), what)
    try:
        if os.fstat(handle).st_size < start + size:
            raise UnreadableError(f"has {what} in a file that is cut short")
        with open(handle, "rb", closefd=False) as file:
            file.seek(start)
            array: Array = np.fromfile(file, dtype, count).reshape(tuple(tensor.dims))
    finally:
        os.close(handle)
    return array


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
