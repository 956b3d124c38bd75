"""Models of older opsets, raised by the package onnx, and what it changes on the way.

Source: onnx, docs/Changelog.md; onnx/version_converter/adapters of 1.23: `Hardmax` gets none,
`Resize` and `Upsample` become a `Resize` that says nothing of coordinates, and an operand that
`axis` aligned gets an axis too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layoutdsl.graphs.models.onnx_faults import UnfitModelError, line_of

COORDINATES = 11
"""The opset since which `Resize` says where it reads; before, it read at ``index / scale``."""

BROADCAST = 7
"""The opset since which axes of two operands are matched from the last one on."""


def raised(proto: Any, version: int, opset: int, place: Path) -> Any:
    """Return a checked model with the operators of a newer opset.

    Raises:
        UnfitModelError: it cannot be raised, or would be another model then.
    """
    from onnx import version_converter

    words, help_ = f"`{place}` is of opset {version}", f"export it for opset {opset} or newer"
    for node in _nodes(proto.graph):
        if node.op_type == "Hardmax":
            words = f"{words}, where Hardmax takes several axes for one, as later ones do not"
            raise UnfitModelError(words, help_)
        if version < BROADCAST and {"axis", "broadcast"} <= {each.name for each in node.attribute}:
            words = f"{words}, where {node.op_type} says which axes two operands have in common"
            raise UnfitModelError(words, help_)
    if version == COORDINATES - 1 and any(_shrinks(proto)):
        words = f"{words}, where no text says which element a smaller Resize takes"
        raise UnfitModelError(words, help_)
    try:
        found = version_converter.convert_version(proto, opset)
    except Exception as error:  # whatever C++ threw
        words = f"{words} and cannot be raised to {opset}: {line_of(error)}"
        raise UnfitModelError(words, help_) from None
    if version < COORDINATES:
        _say_coordinates(found)
    before, after = _ranks(proto), _ranks(found)
    for name in before:  # the batch of `Scan` is one that opset 8 alone has
        if after.get(name, before[name]) != before[name]:
            raise UnfitModelError(f"{words}, and raised to {opset} `{name}` has other axes", help_)
    return found


def _shrinks(proto: Any) -> Iterator[bool]:
    """Whether each resize to the nearest element may leave out some, and not every so many."""
    from onnx import numpy_helper

    held = {each.name: each for each in proto.graph.initializer}
    for node in _nodes(proto.graph):
        said = {each.name: each for each in node.attribute}
        if node.op_type == "Constant" and "value" in said:
            held[node.output[0]] = said["value"].t
        if node.op_type != "Resize" or ("mode" in said and said["mode"].s == b"linear"):
            continue
        scales = held.get(node.input[1])
        if scales is None:
            yield True
            continue
        known = numpy_helper.to_array(scales).reshape(-1).tolist()
        yield any(0 < each < 1 and not (1 / each).is_integer() for each in known)


def _say_coordinates(proto: Any) -> None:
    """Resizing as it was before opset 11: from the edge, and down to the element before."""
    import onnx

    for node in _nodes(proto.graph):
        if node.op_type == "Resize":
            said = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
            kept = [each for each in node.attribute if each.name not in said]
            kept += [onnx.helper.make_attribute(*each) for each in said.items()]
            del node.attribute[:]
            node.attribute.extend(kept)


def _nodes(graph: Any) -> Iterator[Any]:
    """Nodes of ONNX's own operators, in their order, those of graphs inside of them too."""
    for node in graph.node:
        for each in node.attribute:
            for body in (*([each.g] if each.HasField("g") else ()), *each.graphs):
                yield from _nodes(body)
        if node.domain in ("", "ai.onnx"):
            yield node


def _ranks(proto: Any) -> dict[str, int]:
    """How many axes inputs and outputs have, where a model says so."""
    return dict(_said(proto))


def _said(proto: Any) -> Iterator[tuple[str, int]]:
    for each in (*proto.graph.input, *proto.graph.output):
        if each.type.tensor_type.HasField("shape"):
            yield each.name, len(each.type.tensor_type.shape.dim)
