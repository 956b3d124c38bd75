"""A plan put into files: JSON with what runs on which tensors, and its weights beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from layoutdsl.files import npy
from layoutdsl.files.whole import replacing
from layoutdsl.graphs.emitting.physical import Call, Emission, Numbers, Operand, Scalar, Step
from layoutdsl.graphs.graph import Attribute, Graph
from layoutdsl.graphs.models.onnx_write import lane_text, layout_text

VERSION = 1
"""Of what a plan's file says."""


def write_plan(
    graph: Graph, emission: Emission, said: Mapping[str, str], place: Path, widest: int
) -> None:
    """Put a plan into a file of JSON, and its weights into ``NAME.npz`` beside it.

    Both get the permissions ``widest`` at most.

    Raises:
        OccupiedError: what is there is not ours to replace.
        OSError: it cannot be written.
    """
    text = json.dumps(plan_said(graph, emission, said), indent=1, allow_nan=False)
    with replacing(beside(place), widest) as file:
        _write_arrays(emission, file)
    with replacing(place, widest) as file:
        file.write(f"{text}\n".encode())


def beside(place: Path) -> Path:
    """Return where the weights of a plan lie."""
    return place.with_name(f"{place.name}.npz")


def _write_arrays(emission: Emission, file: BinaryIO) -> None:
    import zipfile

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for number, array in enumerate(emission.constants.values()):
            entry = zipfile.ZipInfo(f"{number}.npy")
            with archive.open(entry, "w", force_zip64=True) as stream:
                npy.write(stream, array)  # type: ignore[arg-type]


def plan_said(graph: Graph, emission: Emission, said: Mapping[str, str]) -> dict[str, Any]:
    """Return a plan as JSON has it: tensors with their layouts, and what runs on them, in order."""
    return {
        "format": "layoutdsl plan",
        "version": VERSION,
        "graph": graph.name,
        "opset": graph.opset,
        "inputs": list(emission.inputs),
        "outputs": list(emission.outputs),
        "tensors": {name: _tensor(graph, emission, name) for name in emission.tensors},
        "weights": {name: f"{number}.npy" for number, name in enumerate(emission.constants)},
        "work": [_work(graph, each, part.of) for part in emission.parts for each in part.work],
        "said": dict(said),
    }


def _tensor(graph: Graph, emission: Emission, name: str) -> dict[str, Any]:
    tensor = emission.tensors[name]
    dtype = graph.values[tensor.value].dtype
    found = {
        "value": tensor.value,
        "shape": list(tensor.held.placing.shape),
        "extents": list(tensor.extents),
        "layout": layout_text(tensor.held),
        "dtype": None if dtype is None else str(dtype),
    }
    lane = lane_text(tensor.held)
    return {**found, "lane": lane} if lane else found


def _work(graph: Graph, work: Step | Call, of: int | str) -> dict[str, Any]:
    found: dict[str, Any] = {"of": of if isinstance(of, str) else graph.nodes[of].name, "node": of}
    match work:
        case Step(operator, inputs, outputs, attributes):
            operands = [_operand(each) for each in inputs]
            found |= {"operator": operator, "inputs": operands, "outputs": list(outputs)}
            return {**found, "attributes": {key: _said(each) for key, each in attributes.items()}}
        case Call(name, inputs, outputs, takes, makes, body):
            found |= {"function": name, "inputs": list(inputs), "outputs": list(outputs)}
            steps = [_work(graph, each, of) for each in body]
            return {**found, "takes": list(takes), "makes": list(makes), "body": steps}


def _operand(operand: Operand) -> Any:
    match operand:
        case Numbers(_, numbers):
            return {"numbers": list(numbers)}
        case Scalar(number, dtype):
            return {"number": str(number), "dtype": str(dtype)}
        case _:
            return operand


def _said(attribute: Attribute) -> Any:
    if isinstance(attribute, int | str):
        return attribute
    if isinstance(attribute, float):
        return attribute if abs(attribute) < float("inf") else str(attribute)
    if isinstance(attribute, tuple):
        return [_said(each) for each in attribute]
    return {"dtype": str(attribute.dtype), "items": [str(each) for each in attribute.reshape(-1)]}
