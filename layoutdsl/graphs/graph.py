"""A graph of operators: values, the nodes between them, and constants. It knows no format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

Attribute: TypeAlias = (
    int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Array
)
"""What an attribute of a node may be; one that is anything else makes the node *as written*."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the graph.

    Attributes:
        name: once in a graph.
        shape: extents; none is open, as all shapes are given before planning.
        dtype: of its elements, in bytes of which costs are counted; `None` for what is no tensor.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any] | None


@dataclass(frozen=True, slots=True)
class Node:
    """An operator with its operands and results.

    Attributes:
        number: of its place in the graph, from 0.
        name: as the file has it; it may be empty.
        operator: `Conv`, or `com.acme::Upscale` of another domain than ONNX's own.
        inputs: names of values; `""` for one that is left out.
        outputs: names of values; `""` for one that nobody asks for.
        attributes: by their names, without defaults.
        outer: values that graphs inside of it use by their names; they are inputs, too.
        opaque: an attribute is a graph or anything else that is not read: the node is as written.
        source: the node as the format has it, for the files of this package about that format only.
    """

    number: int
    name: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    opaque: bool = False
    outer: tuple[str, ...] = ()
    source: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in an order in which they can be run.

    Attributes:
        name: of the graph.
        opset: of ONNX's own operators.
        nodes: each after those that make its operands.
        values: by their names, constants too.
        constants: what is known before it is run: weights, and what follows from them.
        inputs: names, in order; no constants.
        outputs: names, in order.
    """

    name: str
    opset: int
    nodes: tuple[Node, ...]
    values: Mapping[str, Value]
    constants: Mapping[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
