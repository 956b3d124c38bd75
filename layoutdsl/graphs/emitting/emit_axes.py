"""Operators of ONNX that name axes, on buffers: what they name are dimensions now."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from layoutdsl.graphs.emitting.emit_along import ALONG, along, place_of, reduce, tail
from layoutdsl.graphs.emitting.emit_picks import gather, gather_by_many, gather_each
from layoutdsl.graphs.emitting.emit_pieces import cut, grow, join, scale, split
from layoutdsl.graphs.emitting.emit_products import emit_product
from layoutdsl.graphs.emitting.emitting import Emitting
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.variants import Variant

Way = Callable[[Emitting, Bound, Variant], bool]

_BY_OPERATOR: Mapping[str, Way] = {
    "Concat": join,
    "Split": split,
    "Slice": cut,
    "Gather": gather,
    "GatherElements": gather_each,
    "GatherND": gather_by_many,
    "Pad": grow,
    "Resize": scale,
    "MatMul": emit_product,
    "Gemm": emit_product,
    "LayerNormalization": tail,
    "ArgMax": place_of,
    "ArgMin": place_of,
    **dict.fromkeys(ALONG, along),
}


def emit_by_axes(out: Emitting, bound: Bound, variant: Variant) -> bool:
    """Add an operator that names axes on buffers; false where it cannot be one node there."""
    operator = bound.node.operator
    way = reduce if operator.startswith("Reduce") else _BY_OPERATOR.get(operator)
    return way is not None and way(out, bound, variant)
