"""Weights of a model of ONNX, set aside: each is read when it is asked for, and none is kept.

Source: onnx.proto of 1.23; onnx, docs/ExternalData.md.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from layoutdsl.files.npy import UnreadableError
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_items import MOST_WEIGHTS, count_of
from layoutdsl.graphs.models.onnx_tensors import Tensors

SMALL = 128
"""Elements of a constant that stays in sight of whoever infers shapes."""

MOST_DEEP = 50
"""Graphs within graphs."""


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


def all_weights(proto: Any, tensors: Tensors) -> Weights:
    """Return all initialisers of a model, after a look at each.

    Raises:
        UnreadableError: one cannot be read, or two have one name.
        OSError: a file cannot be read.
    """
    refuse_hidden(proto)
    return _looked_at(tensors, ((n, tensors.head(n).name) for n in range(len(tensors))))


OVERRIDABLE = 4
"""The version of the format since which an initialiser that is an input, too, is its default."""


def set_aside(proto: Any, tensors: Tensors) -> tuple[Weights, Weights]:
    """Return large initialisers, which become inputs of the model, and defaults of its inputs.

    The model gets the small initialisers. An input with a default stays an input: the caller may
    give another value.

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
    graph, large, defaults = proto.graph, list[tuple[int, str]](), list[tuple[int, str]]()
    inputs = {each.name: each for each in graph.input}
    for number in range(len(tensors)):
        tensor = tensors.head(number)
        count, kind = count_of(tensor), tensor.data_type
        outside = tensor.data_location == onnx.TensorProto.EXTERNAL
        shape = tuple(tensor.dims)
        may_differ = proto.ir_version >= OVERRIDABLE and tensor.name in inputs
        if may_differ and kind != onnx.TensorProto.STRING and count:
            defaults.append((number, tensor.name))
            value = helper.make_tensor_value_info(tensor.name, kind, shape)
            inputs[tensor.name].type.CopyFrom(value.type)
            continue
        if not outside and (count <= SMALL or kind == onnx.TensorProto.STRING):
            graph.initializer.append(tensors.whole(number))
            continue
        large.append((number, tensor.name))
        if tensor.name not in inputs:
            graph.input.append(helper.make_tensor_value_info(tensor.name, kind, shape))
    return _looked_at(tensors, large), _looked_at(tensors, defaults)


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
        name = proto.graph.sparse_initializer[0].values.name[:80]
        raise UnreadableError(
            f"has the sparse initialiser `{name}`, which is not read; "
            "store it dense, with `onnx.numpy_helper.from_array`"
        )
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
