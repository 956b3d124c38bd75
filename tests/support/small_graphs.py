"""Graphs of a few operators, written in the text of `onnx.parser`, with seeded constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layoutdsl import Engine, load_engine
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.models.onnx_graph import graph_of
from layoutdsl.graphs.models.onnx_weights import Weights
from layoutdsl.graphs.proving.theorems import template_of
from layoutdsl.graphs.roles.binding import rule_of
from layoutdsl.graphs.roles.bound import Bound
from layoutdsl.graphs.roles.roles import Template
from layoutdsl.graphs.ways.ways import Ways, Wishes, ways
from layoutdsl.language.elaborate.shelf import operator_rules

pytest.importorskip("onnx")
pytest.importorskip("scipy")

NO_WEIGHTS = Weights(dict[int, Any]().__getitem__, {})

ENGINES = {
    "NHWC": "prefer Conv = NHWC\n",
    "NCHW8c": "layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]\nprefer Conv = NCHW8c\n",
    "NCHW16c": "prefer Conv = NCHW16c\n",
}
"""Three layouts that a convolution is asked to be in."""


def engine(text: str) -> Engine:
    """Return the engine of a text, or of one of `ENGINES`."""
    return load_engine(ENGINES.get(text, text), "test")


def graph(text: str, outputs: str = "y", **tensors: Any) -> Graph:
    """Return a graph of nodes in the text of `onnx.parser`, as `proto` takes it."""
    return graph_of(proto(text, outputs, **tensors), NO_WEIGHTS, "test")


def proto(text: str, outputs: str = "y", **tensors: Any) -> Any:
    """Return a model of nodes in the text of `onnx.parser`, one a line.

    Args:
        text: ``v = Conv(x, w)``.
        outputs: names, apart by blanks.
        tensors: shapes of inputs, which are lists, and constants: arrays, or shapes of seeded ones.
    """
    from onnx import TensorProto, helper, numpy_helper, parser, shape_inference

    nodes = [parser.parse_node(line.strip()) for line in text.strip().splitlines()]
    drawn = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(
            drawn.standard_normal(each).astype("f4") if isinstance(each, tuple) else each, name
        )
        for name, each in tensors.items()
        if not isinstance(each, list)
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, each)
        for name, each in tensors.items()
        if isinstance(each, list)
    ]
    made = [helper.make_empty_tensor_value_info(name) for name in outputs.split()]
    whole = helper.make_graph(nodes, "test", inputs, made, weights)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return shape_inference.infer_shapes(model, data_prop=True)


def bound(one: Graph, number: int = -1) -> Bound:
    """Return a node as the rule that it fits has it."""
    found = rule_of(one.nodes[number], one, operator_rules())
    assert isinstance(found, Bound), found
    return found


def reason(one: Graph, number: int = -1) -> str:
    """Return why a node fits no rule."""
    found = rule_of(one.nodes[number], one, operator_rules())
    assert isinstance(found, str)
    return found


def found(one: Graph, layout: str, wishes: Wishes | None = None) -> Ways:
    """Return all ways of a graph in which convolutions are asked to be in a layout."""
    return ways(one, engine(layout), wishes or Wishes())


def templates(some: Ways, number: int) -> list[Template]:
    """Return the ways of a node, without what padding holds."""
    return list(dict.fromkeys(template_of(each) for each in some.variants[number]))


def placings(some: Ways, number: int) -> list[str]:
    """Return how a node's first result may lie, in words, in the order of its ways."""
    made = [each.makes[0] for each in templates(some, number)]
    return list(dict.fromkeys(str(each) for each in made))
