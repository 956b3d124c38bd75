"""Random graphs of ONNX that nobody would choose: what is legal, and rare.

Values are outputs and operands at once, inputs are outputs, weights are shared, are outputs, or
inputs too; tensors have no axes, one, or no elements; graphs lie inside of nodes; names are odd.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from propagate_fuzz import CHANNELS, FLOAT, Growing

ODD_NAMES = ("a b", "shape", "batch@shape", "x@NHWC", "numbers@1", "é", "y/0:1", "fill@0", "c0")


class OddGrowing(Growing):
    """A graph whose weights are shared, and whose names are odd."""

    def __init__(self, random: Random, opset: int) -> None:
        super().__init__(random, opset)
        self._left = [*ODD_NAMES]
        self._weights: dict[tuple[int, ...], list[str]] = {}

    def name(self, word: str) -> str:
        if self._left and self.random.random() < 0.15:
            return self._left.pop(self.random.randrange(len(self._left)))
        return super().name(word)

    def weight(self, *shape: int) -> str:
        known = self._weights.setdefault(shape, [])
        if known and self.random.random() < 0.5:
            return self.random.choice(known)
        known.append(super().weight(*shape))
        return known[-1]

    def pick(self, *ranks: int) -> str | None:
        """A value that has elements; what has none is used by `empty` alone."""
        kept, self.shapes = self.shapes, {n: s for n, s in self.shapes.items() if 0 not in s}
        try:
            return super().pick(*ranks)
        finally:
            self.shapes = kept


def twice(g: Growing) -> bool:
    name = g.pick()
    assert name is not None
    shape = g.shapes[name]
    operator = g.random.choice(("Add", "Mul", "Sub", "Max", "Sum", "Concat"))
    if operator == "Concat":
        if not shape or shape[0] > 20:
            return False
        g.add("Concat", [name] * 2, (2 * shape[0], *shape[1:]), axis=0)
    else:
        g.add(operator, [name] * (3 if operator == "Sum" else 2), shape)
    return True


def scalar(g: Growing) -> bool:
    """All of a value summed to one number without axes, and what may become of that."""
    name = g.pick()
    assert name is not None
    shape = g.shapes[name]
    one = g.add(
        "ReduceSum", [name, g.ints(*range(len(shape)))] if shape else [name], (), keepdims=0
    )
    match g.random.randrange(4):
        case 0:
            g.add("Mul", [name, one], shape)
        case 1:
            g.add("Unsqueeze", [one, g.ints(0)], (1,))
        case 2:
            g.add("Reshape", [one, g.ints(1, 1, 1)], (1, 1, 1))
        case _:
            g.add("Relu", [one], ())
    return True


def vector(g: Growing) -> bool:
    """A value as one axis, and what may become of that."""
    name = g.pick()
    assert name is not None
    size = int(np.prod(g.shapes[name]))
    if not 0 < size < 500:
        return False
    one = g.add("Reshape", [name, g.ints(-1)], (size,))
    match g.random.randrange(4):
        case 0:
            g.add("Softmax", [one], (size,))
        case 1:
            g.add("Gather", [one, g.ints(0, -1)], (2,))
        case 2:
            g.add("MatMul", [one, g.weight(size, 3)], (3,))
        case _:
            g.add("Slice", [one, g.ints(-1), g.ints(-(1 << 40)), g.ints(0), g.ints(-1)], (size,))
    return True


def empty(g: Growing) -> bool:
    """Nothing of a value, and that beside all of it again."""
    name = g.pick(2, 3, 4)
    if name is None:
        return False
    shape = list(g.shapes[name])
    axis = g.random.randrange(len(shape))
    none = (*shape[:axis], 0, *shape[axis + 1 :])
    cut = g.add("Slice", [name, g.ints(0), g.ints(0), g.ints(axis)], none)
    if g.random.random() < 0.5:
        cut = g.add("Relu", [cut], none)
    if g.random.random() < 0.7:
        g.add("Concat", [name, cut], tuple(shape), axis=axis)
    return True


def _infos(*names: str) -> list[Any]:
    return [helper.make_empty_tensor_value_info(name) for name in names]


def branch(g: Growing) -> bool:
    """One of two graphs, which use values of the outer one."""
    name = g.pick()
    assert name is not None
    shape, number = g.shapes[name], len(g.nodes)
    total = g.add("ReduceMax", [name], (), keepdims=0)
    hot = g.add("Greater", [total, g.constant(np.float32(0.3))], ())
    del g.shapes[hot]
    then, other = f"then{number}", f"else{number}"
    one = helper.make_graph([helper.make_node("Neg", [name], [then])], "then", [], _infos(then))
    two = helper.make_graph(
        [helper.make_node("Mul", [name, total], [other])], "else", [], _infos(other)
    )
    made = g.add("If", [hot], shape, then_branch=one, else_branch=two)
    if g.random.random() < 0.5:
        g.add("Abs", [made], shape)
    return True


def loop(g: Growing) -> bool:
    """A value that is changed three times, by what the outer graph has."""
    name = g.pick()
    assert name is not None
    shape, number = g.shapes[name], len(g.nodes)
    go, old, new, count, again = (f"{word}{number}" for word in ("go", "old", "new", "n", "again"))
    body = helper.make_graph(
        [
            helper.make_node("Identity", [go], [again]),
            helper.make_node("Sub", [old, name], [new]),
        ],
        "body",
        [
            helper.make_tensor_value_info(count, TensorProto.INT64, []),
            helper.make_tensor_value_info(go, TensorProto.BOOL, []),
            helper.make_tensor_value_info(old, FLOAT, shape),
        ],
        _infos(again, new),
    )
    started = g.add("Sigmoid", [name], shape)
    three, yes = g.constant(np.int64(3)), g.constant(np.array(True))
    g.add("Loop", [three, yes, started], shape, body=body)
    return True


def unused(g: Growing) -> bool:
    """Results that nobody asks for."""
    name = g.pick(3, 4)
    if name is None:
        return False
    shape = g.shapes[name]
    made = g.name("v")
    match g.random.randrange(3):
        case 0 if shape[1] > 1:
            sizes = g.ints(1, shape[1] - 1)
            g.nodes.append(helper.make_node("Split", [name, sizes], ["", made], axis=1))
            g.shapes[made] = (shape[0], shape[1] - 1, *shape[2:])
        case 1:
            g.nodes.append(helper.make_node("Dropout", [name], [made, f"{made}_mask"]))
            g.shapes[made] = shape
        case _:
            k = g.constant(np.array([1], np.int64))
            g.nodes.append(helper.make_node("TopK", [name, k], [made, f"{made}_n"], axis=1))
            g.shapes[made] = (shape[0], 1, *shape[2:])
    return True


ODD: tuple[Callable[[Growing], bool], ...] = (twice, scalar, vector, empty, branch, loop, unused)


def odd_model(seed: int) -> Any:
    """A model that onnx's checker takes; the same for the same seed."""
    random = Random(seed)
    g = OddGrowing(random, random.randint(13, 22))
    rank = random.choice((1, 2, 2, 2))
    space = [random.choice((1, 1, 2, 3, 5, 6)) for _ in range(rank)]
    g.input((random.choice((1, 1, 2)), random.choice(CHANNELS), *space))
    if random.random() < 0.3:
        g.input(random.choice(((), (3,), (1, 4, 1, 3))))
    for _ in range(random.randint(3, 12)):
        if random.random() < 0.45:
            random.choice(ODD)(g)
        else:
            g.grow()
    return _odd_ends(g, random)


def _odd_ends(g: OddGrowing, random: Random) -> Any:
    """The model: anything may be an output, and a weight an input too."""
    used = {name for node in g.nodes for name in node.input}
    outputs = [name for name in g.shapes if name not in used and name not in g.inputs]
    outputs += [name for name in g.shapes if name in used and random.random() < 0.15]
    infos = [helper.make_tensor_value_info(name, FLOAT, g.shapes[name]) for name in g.inputs]
    wanted = [helper.make_tensor_value_info(name, FLOAT, g.shapes[name]) for name in outputs]
    for tensor in g.weights:
        if tensor.data_type == FLOAT and random.random() < 0.05:
            info = helper.make_tensor_value_info(tensor.name, FLOAT, tensor.dims)
            (infos if random.random() < 0.5 else wanted).append(info)
    for number, node in enumerate(g.nodes):
        node.name = random.choice(("", node.output[0], f"{node.op_type} {number}"))
    graph = helper.make_graph(g.nodes, "", infos, wanted, g.weights)
    graph.name = "odd"
    opsets = [helper.make_opsetid("", g.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8 if g.opset < 19 else 10)
