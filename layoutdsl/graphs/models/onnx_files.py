"""What comes out, put into files: a model, and its weights beside it where they are large.

Source: onnx, docs/ExternalData.md; onnx.proto; protobuf.dev, Encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from layoutdsl.files.places import widest_mode
from layoutdsl.files.whole import replacing
from layoutdsl.graphs.emitting.physical import Emission
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.models.onnx_items import RAW_DATA, is_plain
from layoutdsl.graphs.models.onnx_read import Model
from layoutdsl.graphs.models.onnx_wire import GRAPH, INITIALIZER, sized
from layoutdsl.graphs.models.onnx_write import initialisers, items_of, shell_of

INSIDE = 1 << 30
"""Bytes of weights that are kept in the model; more lie in a file beside it."""

ALIGNED = 4096
"""Tensors in a file of their own begin at multiples of this, so that they can be mapped."""

SMALL = 1024
"""Bytes of a tensor that is kept in the model whatever the others have."""

EMPTY = np.zeros(0, np.uint8)

Weights: TypeAlias = Callable[[], Iterator[tuple[bytes, Array]]]
"""Messages one by one, each in two pieces, as often as they are asked for."""


def write(model: Model, emission: Emission, said: Mapping[str, str], place: Path) -> None:
    """Put what a model became into a file, whole or not at all.

    Weights are laid and written one by one. Where they are large they go beside it.

    Args:
        model: that was read.
        emission: what it became.
        said: metadata, by its keys.
        place: of the file; the other one is ``NAME.data``.

    Raises:
        OccupiedError: what is there is not ours to replace.
        OSError: it cannot be written.
    """
    widest = widest_mode(model.files)
    shell, constants = shell_of(model, emission, said)
    if sum(array.nbytes for array in constants.values()) <= INSIDE:
        with replacing(place, widest) as file:
            _write_model(shell, lambda: map(in_pieces, constants.items()), file)
        return
    other = beside(place)
    with replacing(other, widest) as file:
        small = [(_beside(each, file, other.name), EMPTY) for each in constants.items()]
    with replacing(place, widest) as file:
        _write_model(shell, lambda: iter(small), file)


def beside(place: Path) -> Path:
    """Return where the weights of a model lie that are too large for it."""
    return place.with_name(f"{place.name}.data")


def _write_model(shell: Any, weights: Weights, file: BinaryIO) -> None:
    """Write a message of protobuf that is never held as a whole: lengths stand before contents."""
    graph = shell.graph.SerializeToString(deterministic=True)
    shell.ClearField("graph")
    file.write(shell.SerializeToString(deterministic=True))
    sizes = [len(head) + items.nbytes for head, items in weights()]
    whole = len(graph) + sum(len(sized(INITIALIZER, size)) + size for size in sizes)
    file.write(sized(GRAPH, whole) + graph)
    for (head, items), size in zip(weights(), sizes, strict=True):
        file.write(sized(INITIALIZER, size) + head)
        file.write(items.data)


def in_pieces(weight: tuple[str, Array]) -> tuple[bytes, Array]:
    """Return a weight as a message in two pieces: what stands before its items, and these.

    Items are not copied. Fields go by their numbers: none that a weight has comes behind them.
    """
    name, array = weight
    if not is_plain(array.dtype):
        (tensor,) = initialisers({name: array})
        return tensor.SerializeToString(deterministic=True), EMPTY
    items = items_of(array)
    head = _named(name, array).SerializeToString(deterministic=True)
    return head + sized(RAW_DATA, items.nbytes), items


def _beside(weight: tuple[str, Array], file: BinaryIO, name: str) -> bytes:
    """Write what is large into a file of its own, and return what says where it lies."""
    import onnx

    key, array = weight
    plain = is_plain(array.dtype)
    (tensor,) = [_named(key, array)] if plain else initialisers({key: array})
    items = items_of(array) if plain else np.frombuffer(tensor.raw_data, np.uint8)
    if items.nbytes <= SMALL:
        if plain:
            tensor.raw_data = items.tobytes()
        return bytes(tensor.SerializeToString(deterministic=True))
    file.write(bytes(-file.tell() % ALIGNED))
    said = {"location": name, "offset": str(file.tell()), "length": str(items.nbytes)}
    file.write(items.data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, text in said.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text
    return bytes(tensor.SerializeToString(deterministic=True))


def _named(name: str, array: Array) -> Any:
    """A weight without its items."""
    import onnx

    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.TensorProto(name=name, data_type=kind, dims=array.shape)
