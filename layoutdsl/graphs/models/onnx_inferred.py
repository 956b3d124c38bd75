"""Shapes of a model's tensors, as the package onnx infers them.

Source: onnx, docs/ShapeInference.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from layoutdsl.graphs.graph import Array, Value
from layoutdsl.graphs.models.onnx_faults import UnfitModelError, line_of

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
    _say_sizes(light, constants)
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


LIKE_SOME: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("Gelu", "FastGelu", "QuickGelu"), (0,)),
    **dict.fromkeys(("QLinearLeakyRelu", "QLinearSigmoid"), (0,)),
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), (0, 3)),
}
"""Operators of `com.microsoft` that go element by element, and the operands that they broadcast.

Source: onnxruntime 1.32, docs/ContribOperators.md.
"""


def _say_shapes(light: Any) -> None:
    """Let operators that have no shapes be one that has the same."""
    for node in light.graph.node:
        if node.op_type in LIKE_THE_FIRST and node.domain in ("", "ai.onnx"):
            node.op_type = "Identity"
            del node.input[1:], node.attribute[:]
        elif node.domain == "com.microsoft" and node.op_type in LIKE_SOME:
            operands = [node.input[k] for k in LIKE_SOME[node.op_type] if k < len(node.input)]
            node.domain, node.op_type = "", "Identity" if len(operands) == 1 else "Add"
            del node.input[:], node.attribute[:]
            node.input.extend(operands)


def _say_sizes(light: Any, constants: Mapping[str, Array]) -> None:
    """Let each Resize say the sizes that runtimes make of its scales.

    onnxruntime multiplies extents and scales in 32 bits: 10 * 0.7 is 7 there, and 6 to the package
    onnx (1.23), which has 64. Where the two differ nothing else that follows would fit.

    Source: onnxruntime 1.32, core/providers/cpu/tensor/upsamplebase.h, `ComputeOutputShape`.
    """
    import onnx
    from onnx import numpy_helper

    known = {each.name: each for each in light.graph.initializer}
    left = {
        node.output[0]: node
        for node in light.graph.node
        if node.op_type == "Resize" and len(node.input) == 3 and node.domain in ("", "ai.onnx")
    }
    while left:
        found = onnx.shape_inference.infer_shapes(light, data_prop=True).graph
        shapes = {
            each.name: value
            for each in (*found.input, *found.value_info, *found.output)
            if (value := _value(each)) is not None
        }
        changed = False
        for name, node in list(left.items()):
            scales = constants.get(node.input[2])
            if scales is None and node.input[2] in known:
                scales = numpy_helper.to_array(known[node.input[2]])
            if scales is None or node.input[0] not in shapes:
                continue
            del left[name]
            before = shapes[node.input[0]].shape
            sizes = _resized(before, scales, node, np.dtype(np.float32))
            if sizes is None or sizes == _resized(before, scales, node, np.dtype(np.float64)):
                continue
            changed = True
            del node.input[1:], node.attribute[:]
            label = f"{name}@sizes"
            node.input.extend(["", "", label])
            light.graph.initializer.append(
                numpy_helper.from_array(np.array(sizes, np.int64), label)
            )
            _forget_shapes(light)
        if not changed:
            return


def _resized(
    shape: tuple[int, ...], scales: Array, node: Any, dtype: np.dtype[Any]
) -> tuple[int, ...] | None:
    """The extents that a Resize makes by scales, which are multiplied as numbers of a type."""
    named = next((each.ints for each in node.attribute if each.name == "axes"), range(len(shape)))
    factors = np.asarray(scales).reshape(-1)
    if len(factors) != len(named) or not np.isfinite(factors).all():
        return None
    found = list(shape)
    for axis, factor in zip(named, factors, strict=True):
        if not -len(shape) <= axis < len(shape):
            return None
        found[axis] = int(np.floor(dtype.type(shape[axis]) * dtype.type(factor)))
    return tuple(found)


def _forget_shapes(light: Any) -> None:
    """Leave out what a model says of values that are made, as a shape before them is another."""
    del light.graph.value_info[:]
    for each in light.graph.output:
        each.type.tensor_type.ClearField("shape")


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
