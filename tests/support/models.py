"""Models of real graphs with seeded weights, so that what is computed depends on every element.

The topologies are those that the package onnx brings along, and torchvision's architectures, as it
exports them where it is installed; no trained weights are needed for either.

    python -m tests.models FOLDER [NAME...]
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

LIGHT = (
    *("light_bvlc_alexnet", "light_densenet121", "light_inception_v1", "light_inception_v2"),
    *("light_resnet50", "light_shufflenet", "light_squeezenet", "light_vgg19", "light_zfnet512"),
)
SMALL = ("light_densenet121", "light_inception_v2", "light_shufflenet", "light_squeezenet")
"""Those with few weights."""

TORCHVISION = (
    *("resnet50", "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "densenet121"),
    *("shufflenet_v2_x1_0", "convnext_tiny", "vit_b_16", "swin_t"),
)
SHAPE = (1, 3, 224, 224)
SEED = 20


def convolutions(channels: tuple[int, ...]) -> Any:
    """Return convolutions in a row, a Relu between two of them."""
    from onnx import TensorProto, helper, numpy_helper

    drawn, nodes, weights = np.random.default_rng(SEED), [], []
    for number, (taken, made) in enumerate(pairwise(channels)):
        weight = drawn.standard_normal((made, taken, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(weight, f"w{number}"))
        if number:
            nodes.append(helper.make_node("Relu", [f"c{number - 1}"], [f"r{number}"]))
        source = f"r{number}" if number else "x"
        nodes.append(
            helper.make_node("Conv", [source, f"w{number}"], [f"c{number}"], pads=[1, 1, 1, 1])
        )
    nodes[-1].output[0] = "y"
    ends = (("x", channels[0]), ("y", channels[-1]))
    first, last = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, count, 5, 6])
        for name, count in ends
    )
    graph = helper.make_graph(nodes, "convolutions", [first], [last], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def light(name: str) -> Any:
    """Return a topology of the package onnx as a model, its weights drawn."""
    import onnx

    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    model = onnx.load(folder / f"{name}.onnx")
    graph, drawn = model.graph, np.random.default_rng(SEED)
    kept = {each.name: each for each in graph.initializer}
    uses = dict(_uses(graph))
    made = [each for each in graph.node if each.op_type == "ConstantOfShape"]
    shapes = {each.output[0]: onnx.numpy_helper.to_array(kept[each.input[0]]) for each in made}
    unread = {each.input[0] for each in made}
    for each in kept.values():
        if each.data_type == onnx.TensorProto.FLOAT:
            shapes[each.name] = np.array(each.dims, np.int64)
    rest = [each for each in graph.node if each.op_type != "ConstantOfShape"]
    weights = [
        onnx.numpy_helper.from_array(_weight(drawn, tuple(map(int, shape)), uses.get(name)), name)
        for name, shape in sorted(shapes.items())
    ]
    others = [each for name, each in kept.items() if name not in unread and name not in shapes]
    inputs = [each for each in graph.input if each.name not in kept]
    for field, now in (("node", rest), ("initializer", [*weights, *others]), ("input", inputs)):
        graph.ClearField(field)
        getattr(graph, field).extend(now)
    model.ir_version = 7
    return model


def _uses(graph: Any) -> Iterator[tuple[str, tuple[str, int]]]:
    """The operator that takes each value first, through those that only add axes, and where."""
    behind = {}
    for node in reversed(graph.node):
        for place, name in enumerate(node.input):
            behind[name] = (node.op_type, place)
            if node.op_type == "Unsqueeze" and node.output[0] in behind:
                behind[name] = behind[node.output[0]]
    yield from behind.items()


def _weight(
    drawn: np.random.Generator, shape: tuple[int, ...], use: tuple[str, int] | None
) -> np.ndarray[Any, Any]:
    """Numbers that keep what flows through a network of the size that it has."""
    match use:
        case ("BatchNormalization", 1) | ("Mul", _):  # below 1, or residues double block by block
            found = drawn.uniform(0.3, 0.9, shape)
        case ("BatchNormalization", 4):
            found = drawn.uniform(0.5, 1.5, shape)
        case ("Conv", 1):
            fan_in = max(1, int(np.prod(shape[1:])))
            found = drawn.standard_normal(shape) * np.sqrt(2 / fan_in)
        case ("Gemm", 1):  # small, as a softmax of large numbers is 0 and 1 whatever they are
            found = drawn.standard_normal(shape) * np.sqrt(0.01 / shape[-1])
        case _:
            found = drawn.standard_normal(shape) * 0.1
    return found.astype(np.float32)


def exported(name: str, place: Path) -> None:
    """Write an architecture of torchvision with seeded weights as a model."""
    import torch

    torchvision = _torchvision(torch)
    torch.manual_seed(SEED)
    torch.backends.mha.set_fastpath_enabled(False)  # it has no counterpart in ONNX
    net = getattr(torchvision.models, name)(weights=None)
    with torch.no_grad():
        for part in net.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.momentum = 1.0  # what is seen once is what is kept, so that nothing fades
                part.weight.uniform_(0.5, 1.5)
                part.bias.normal_(0, 0.1)
            elif isinstance(part, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(part.weight)
            elif isinstance(part, torch.nn.Linear) and not part.weight.any():
                part.weight.normal_(0, 0.1)  # a head that is 0 would tell nothing
        net.train()(torch.randn(2, *SHAPE[1:]))
        torch.onnx.export(
            net.eval(),
            (torch.randn(SHAPE),),
            place,
            opset_version=17,
            do_constant_folding=True,
            dynamo=False,
            input_names=["x"],
            output_names=["y"],
        )


def _torchvision(torch: Any) -> Any:
    """The package; where its wheel is of another build, with names for operators that it lacks."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    while True:
        try:
            return importlib.import_module("torchvision")
        except RuntimeError as lacking:
            found = re.search(r"operator torchvision::(\w+) does not exist", str(lacking))
            if found is None:
                raise
            library.define(f"{found[1]}() -> Tensor")
        for each in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[each]


def write(name: str, folder: Path) -> Path:
    """Write a model of either kind, unless it is there, and return where it lies."""
    place = folder / f"{name}.onnx"
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = place.with_suffix(".part")
        if name in LIGHT:
            part.write_bytes(light(name).SerializeToString())
        else:
            exported(name, part)
        part.replace(place)
    return place


if __name__ == "__main__":
    for each in sys.argv[2:] or LIGHT:
        print(write(each, Path(sys.argv[1])))
