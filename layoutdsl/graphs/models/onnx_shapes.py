"""Shapes that inputs of a model are given, put into it.

Source: onnx.proto of 1.23, TensorShapeProto; onnx, docs/IR.md, "Static tensor shapes".
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from layoutdsl.graphs.models.onnx_faults import UnfitModelError

MOST = 1 << 63
"""Extents are below it, as the format has them in 64 bits."""

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Extents of inputs, by their names."""


def open_negative(proto: Any) -> None:
    """Leave extents open that are said to be negative, as exporters write what they do not know."""
    for value in (*proto.graph.input, *proto.graph.output, *proto.graph.value_info):
        for each in value.type.tensor_type.shape.dim:
            if each.dim_value < 0:
                each.Clear()


def fix_shapes(proto: Any, known: Container[str], place: Path, shapes: Shapes) -> None:
    """Put numbers in place of the open extents of inputs.

    Args:
        proto: the model, which is changed.
        known: names of inputs that the caller gives.
        place: of the model, to be named.
        shapes: that are given.

    Raises:
        UnfitModelError: one does not fit, or is missing.
    """
    inputs = {each.name: each for each in proto.graph.input if each.name in known}
    _refuse_nothing(inputs)
    for name in shapes:
        if name not in inputs:
            words = f"`{place}` has no input `{name}`"
            raise UnfitModelError(words, f"its inputs are {_names(inputs)}", "option")
    for name, value in inputs.items():
        if not value.type.HasField("tensor_type"):
            continue
        tensor = value.type.tensor_type
        said = [each.dim_value if each.HasField("dim_value") else 0 for each in tensor.shape.dim]
        wanted = shapes.get(name)
        if wanted is None:
            if not tensor.HasField("shape") or 0 in said:
                shown = ",".join(str(each or "?") for each in said) or "..."
                words = f"the shape of input `{name}` is open: {shown}"
                raise UnfitModelError(
                    words, f"give one, as in `--shape {name}=1,3,224,224`", "option"
                )
            continue
        fits = not tensor.HasField("shape") or (
            len(said) == len(wanted)
            and all(one in (0, other) for one, other in zip(said, wanted, strict=True))
        )
        if not fits or not all(1 <= each < MOST for each in wanted):
            words = f"input `{name}` cannot have the shape {','.join(map(str, wanted))}"
            shown = ",".join(str(each or "?") for each in said)
            raise UnfitModelError(words, f"the model says {shown or 'none'}", "option")
        del tensor.shape.dim[:]
        tensor.shape.SetInParent()
        for extent in wanted:
            tensor.shape.dim.add().dim_value = extent
    for value in (*proto.graph.output, *proto.graph.value_info):
        for each in value.type.tensor_type.shape.dim:
            if shapes or not each.HasField("dim_value"):
                each.Clear()


def _refuse_nothing(inputs: Mapping[str, Any]) -> None:
    """Look whether every input has elements: an extent of 0 is said, and is not open."""
    for name, value in inputs.items():
        extents = value.type.tensor_type.shape.dim
        if any(each.HasField("dim_value") and not each.dim_value for each in extents):
            shown = ",".join(str(each.dim_value) if not each.dim_param else "?" for each in extents)
            raise UnfitModelError(
                f"input `{name}` has no elements: {shown}", "export it with extents above 0"
            )


def _names(names: Mapping[str, object]) -> str:
    found = [f"`{each}`" for each in list(names)[:8]]
    return ", ".join(found) + (" and more" if len(names) > len(found) else "")
