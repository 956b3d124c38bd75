"""Pictures that grow by whole numbers, as onnxruntime has an operator for them on blocks.

Source: onnxruntime 1.32, contrib_ops/cpu/nchwc_ops.cc, `NchwcUpsample`; onnx, docs/Operators.md,
Resize.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.graphs.emitting.emit_digits import scales_of
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.graph import Attribute, Node
from layoutdsl.graphs.variants import Held

READS = "coordinate_transformation_mode"

_NEAREST = frozenset(
    {
        ("half_pixel", "round_prefer_floor"),
        ("half_pixel", "round_prefer_ceil"),
        ("asymmetric", "floor"),
    }
)
"""Where element `i` is read, and which is taken there: `i // s`, for each whole number `s`.

Of pixels: `(i + 1/2) / s - 1/2` is less than 1/2 away from `i // s`.
"""

_LINEAR = frozenset({"asymmetric", "half_pixel", "align_corners"})
"""Where element `i` is read, to be put together of those beside it."""


def growth(out: Emitting, node: Node, held: Held, result: Held) -> Mapping[str, Attribute] | None:
    """Return what the operator is told of a Resize; nothing where it reads other elements.

    Args:
        out: what has come out so far.
        node: a Resize.
        held: the picture.
        result: what it becomes.
    """
    said, own, after = node.attributes, held.placing.shape, result.placing.shape
    if said.get("antialias", 0) or said.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        return None
    mode, reads = said.get("mode", "nearest"), said.get(READS, "half_pixel")
    nearest = (reads, said.get("nearest_mode", "round_prefer_floor")) in _NEAREST
    if not (nearest if mode == "nearest" else mode == "linear" and reads in _LINEAR):
        return None
    factors = tuple(new // max(old, 1) for new, old in zip(after, own, strict=True))
    if own[:2] != after[:2] or any(f * e != n for f, e, n in zip(factors, own, after, strict=True)):
        return None
    if 0 in factors or scales_of(out, node) not in (None, factors):
        return None
    numbers: dict[str, Attribute] = {"scales": factors, "mode": mode}
    if mode == "linear":
        numbers[READS] = reads
    return numbers
