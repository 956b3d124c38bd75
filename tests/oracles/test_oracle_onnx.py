"""Codes against ONNX: QuantizeLinear and DequantizeLinear of its reference, of axes too.

ONNX divides in 32 bits. So numbers are halves of steps of scales that are powers of two, where that
is exact, ties among them; and numbers that are no nearer to a half than its rounding could blur.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import layoutdsl

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx.reference")

TYPES = {
    "u8": onnx.TensorProto.UINT8,
    "i8": onnx.TensorProto.INT8,
    "u16": onnx.TensorProto.UINT16,
    "i16": onnx.TensorProto.INT16,
    "u4": onnx.TensorProto.UINT4,
    "i4": onnx.TensorProto.INT4,
}
LIMITS = {"u8": 255, "i8": 127, "u16": 65535, "i16": 32767, "u4": 15, "i4": 7}


def node(kind: str, element: str, axis: int | None) -> Any:
    """A model of one operator; its zero point has the type of the codes."""
    names = ["x", "scale", "zero"]
    given = {} if axis is None else {"axis": axis}
    codes, real = TYPES[element], onnx.TensorProto.FLOAT
    types = (real, real, codes) if kind == "QuantizeLinear" else (codes, real, codes)
    inputs = [
        onnx.helper.make_tensor_value_info(name, type_, None)
        for name, type_ in zip(names, types, strict=True)
    ]
    made = codes if kind == "QuantizeLinear" else real
    output = onnx.helper.make_tensor_value_info("y", made, None)
    body = [onnx.helper.make_node(kind, names, ["y"], **given)]
    graph = onnx.helper.make_graph(body, "one", inputs, [output])
    opset = [onnx.helper.make_opsetid("", 21)]
    return onnx.reference.ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opset))


def run(kind: str, element: str, axis: int | None, *given: NDArray[Any]) -> NDArray[Any]:
    (found,) = node(kind, element, axis).run(
        None, dict(zip(("x", "scale", "zero"), given, strict=True))
    )
    return np.asarray(found)


def dtype_of(element: str) -> np.dtype[Any]:
    found: np.dtype[Any] = onnx.helper.tensor_dtype_to_np_dtype(TYPES[element])
    return found


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("element", TYPES)
def test_codes_and_numbers_are_those_of_onnx(element: str, axis: int | None) -> None:
    random, per = np.random.default_rng(7), "" if axis is None else f"per {'ab'[axis]}"
    text = f"layout L(a, b) = [a, b] of {element} as scale_offset {per}"
    module = layoutdsl.compile(layoutdsl.parse(text)["L"], "numpy")
    shape, most = (5, 200), LIMITS[element]
    along = () if axis is None else (shape[axis],)
    broadcast = along if axis != 0 else (*along, 1)
    for exact in (True, False):
        scale = 0.5 ** random.integers(0, 9, along) if exact else random.uniform(0.01, 1, along)
        scale = np.asarray(scale, "f4")
        zero = np.asarray(random.integers(0, most, along))
        steps = random.integers(-3 * most, 3 * most, shape) / 2
        if not exact:
            steps = np.floor(steps) + random.uniform(-0.4, 0.4, shape)
        numbers = (steps * scale.reshape(broadcast)).astype("f4")
        theirs = run(
            "QuantizeLinear", element, axis, numbers, scale, zero.astype(dtype_of(element))
        )
        given: dict[str, Any] = {"scale": scale, "zero_point": zero}
        codes = module.quantise(numbers, **given)
        assert np.array_equal(codes.astype("i8"), theirs.astype("i8"))
        theirs = run("DequantizeLinear", element, axis, theirs, scale, zero.astype(theirs.dtype))
        assert np.allclose(module.dequantise(codes, **given), theirs, rtol=1e-6, atol=0)
