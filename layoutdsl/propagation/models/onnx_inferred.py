"""Shapes of a model's tensors, as the package onnx infers them.

Source: onnx, docs/ShapeInference.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from layoutdsl.propagation.graph import Array, Value
from layoutdsl.propagation.models.onnx_faults import UnfitModelError, line_of

IN_SIGHT = 128
"""Elements of a folded constant that whoever infers shapes is shown."""


def inferred(proto: Any, constants: Mapping[str, Array], place: str) -> dict[str, Value]:
    """Return the tensors of the main graph of a model whose shapes are known, by their names.

    Args:
        proto: the model.
        constants: that are known besides those in it.
        place: of the model, to be named.

    Raises:
        UnfitModelError: the package says that shapes contradict each other, or fails.
    """
    import onnx
    from onnx import numpy_helper

    light = onnx.ModelProto()
    light.CopyFrom(proto)
    held = {each.name for each in (*light.graph.initializer, *light.graph.input)}
    for name, array in constants.items():
        if name not in held and array.size <= IN_SIGHT and array.dtype.kind in "iufb":
            light.graph.initializer.append(numpy_helper.from_array(np.array(array), name))
    _drop_made_twice(light)
    _say_shapes(light)
    try:
        found = onnx.shape_inference.infer_shapes(light, strict_mode=True, data_prop=True).graph
    except Exception as error:  # whatever C++ threw
        words = f"the shapes of `{place}` cannot be inferred: {line_of(error)}"
        raise UnfitModelError(words, "export it again, or check what `--shape` says") from None
    values = dict[str, Value]()
    for each in (*found.input, *found.value_info, *found.output):
        if (value := _value(each)) is not None:
            values[each.name] = value
    return values


def _drop_made_twice(light: Any) -> None:
    """Leave out nodes of which all results are initialisers by now."""
    held = {each.name for each in light.graph.initializer}
    left = [each for each in light.graph.node if not set(each.output) <= held]
    if len(left) < len(light.graph.node):
        nodes = [type(each).FromString(each.SerializeToString()) for each in left]
        del light.graph.node[:]
        light.graph.node.extend(nodes)


LIKE_THE_FIRST = frozenset({"GroupNormalization", "MeanVarianceNormalization"})
"""Operators of which the package onnx (1.23) says no shape: their result has that of `x`.

What it does instead, to go through their bodies, fails for the one, and says nothing for the other.
"""


def _say_shapes(light: Any) -> None:
    """Let operators that have no shapes be one that has the same."""
    for node in light.graph.node:
        if node.op_type in LIKE_THE_FIRST and node.domain in ("", "ai.onnx"):
            node.op_type = "Identity"
            del node.input[1:], node.attribute[:]


def _value(proto: Any) -> Value | None:
    """A tensor of known shape."""
    from onnx import helper

    kind = proto.type.WhichOneof("value")
    if kind is None:
        return None
    if kind != "tensor_type":
        return Value(proto.name, (), None)
    tensor = proto.type.tensor_type
    extents = tensor.shape.dim
    if not tensor.HasField("shape") or not all(each.HasField("dim_value") for each in extents):
        return None
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except (KeyError, TypeError):
        return None
    return Value(proto.name, tuple(each.dim_value for each in extents), kind_of(dtype))


def kind_of(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return a type of items, or nothing where these are no numbers."""
    return None if dtype.kind in "OUS" else dtype
