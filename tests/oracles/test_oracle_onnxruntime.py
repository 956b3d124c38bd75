"""Blocked layouts against onnxruntime: its reorders, its weights, and operators that move elements.

It needs `pip install onnxruntime onnx`. Models of one node are run: `ReorderInput`, `ReorderOutput`
between NCHW or NHWC and NCHWc, whose block is what the processor takes (16 with AVX-512, else 8);
`Conv`, whose weights are read from the optimised model; `MatMulNBits` and its nibbles;
`SpaceToDepth` and `DepthToSpace`. The default run samples; `pytest -m campaign -k onnxruntime -s`
says how much was compared.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from narrow_numbers import in_bytes

import layoutdsl

ort = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
helper = pytest.importorskip("onnx.helper")

NCHWC = "com.microsoft.nchwc"


def model_of(op: str, inputs: tuple[str, ...], domain: str, held: Any, **given: Any) -> Any:
    """A model of one node; ``held`` are its inputs that are constants, by name."""
    kinds = {name: 1 for name in inputs if name not in held}
    graph = helper.make_graph(
        [helper.make_node(op, inputs, ["out"], domain=domain, **given)],
        "one",
        [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()],
        [helper.make_tensor_value_info("out", 1, None)],
        [onnx.numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def session(model: Any, path: Path | None = None) -> Any:
    """A session; the model as it was optimised is left at the path."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if path is not None:
        options.optimized_model_filepath = str(path)
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def run(
    op: str, inputs: dict[str, np.ndarray], domain: str = "", held: Any = None, **given: Any
) -> np.ndarray:
    model = model_of(op, (*inputs, *(held or {})), domain, held or {}, **given)
    return np.asarray(session(model).run(None, inputs)[0])


@cache
def block() -> int:
    """The channels of a block: what a tensor of four of them is padded to."""
    four = np.ones((1, 4, 1, 1), np.float32)
    return int(run("ReorderInput", {"x": four}, NCHWC).shape[1])


@cache
def module_of(text: str) -> Any:
    return layoutdsl.compile(layoutdsl.parse(f"layout Drawn{text}")["Drawn"], target="numpy")


def floats(shape: tuple[int, ...], random: Random) -> np.ndarray:
    """No number is 0, as padding is."""
    draw = np.random.default_rng(random.getrandbits(32))
    return draw.integers(1, 1 << 20, shape).astype(np.float32)


def small(random: Random, most: int) -> int:
    return random.randint(1, most)


def packed(text: str, tensor: np.ndarray) -> np.ndarray:
    return np.asarray(module_of(text).pack(tensor)).reshape(-1)


def by_definition(text: str, tensor: np.ndarray) -> np.ndarray:
    """The buffer by `Layout.offset_at`; it holds nothing but elements."""
    layout = layoutdsl.parse(f"layout Drawn{text}")["Drawn"]
    names = [axis.name for axis in layout.axes]
    indices = dict(zip(names, np.indices(tensor.shape), strict=True))
    buffer = np.zeros(layout.size(tensor.shape), tensor.dtype)
    buffer[layout.offset_at({**layout.bind(tensor.shape), **indices})] = tensor
    return buffer


def assert_reordered_alike(random: Random) -> int:
    """Both ways, from rows of channels and from pixels of channels."""
    last = random.random() < 0.5
    # It takes channels by fours; the way back takes any number of them.
    shape = (small(random, 3), 4 * small(random, 12), small(random, 7), small(random, 7))
    tensor = floats(shape, random)
    layout = layoutdsl.from_notation("onnxruntime", f"NCHWc, B={block()}")
    given = np.ascontiguousarray(tensor.transpose(0, 2, 3, 1)) if last else tensor
    theirs = run("ReorderInput", {"x": given}, NCHWC, channels_last=int(last))
    ours = layoutdsl.compile(layout, target="numpy").pack(tensor)
    assert np.array_equal(ours.reshape(-1), theirs.reshape(-1)), shape
    fewer = random.randint(shape[1] - 3, shape[1])
    tensor = tensor[:, :fewer]
    ours = layoutdsl.compile(layout, target="numpy").pack(np.ascontiguousarray(tensor))
    blocked = ours.reshape(theirs.shape)
    back = run("ReorderOutput", {"x": blocked}, NCHWC, channels=fewer, channels_last=int(last))
    assert np.array_equal(back.transpose(0, 3, 1, 2) if last else back, tensor), shape
    return ours.size


def weights_of(tensor: np.ndarray, group: int, folder: Path) -> np.ndarray | None:
    """The weights and biases of a convolution as the optimised model holds them."""
    out, inner = tensor.shape[:2]
    bias = np.arange(1, out + 1, dtype=np.float32)
    model = model_of(
        "Conv", ("x", "w", "b"), "", {"w": tensor, "b": bias}, group=group,
        kernel_shape=list(tensor.shape[2:]),
    )  # fmt: skip
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 1, [1, inner * group, 9, 9]))
    path = folder / "optimised.onnx"
    session(model, path)
    found = onnx.load(path)
    (node,) = [each for each in found.graph.node if each.op_type == "Conv"]
    if node.domain != NCHWC:
        return None
    held = {each.name: onnx.numpy_helper.to_array(each) for each in found.graph.initializer}
    b = block()
    padded = packed(f"(o) = [o : roundup(O, {b})]", bias)
    assert np.array_equal(held[node.input[2]], padded), tensor.shape
    return np.asarray(held[node.input[1]])


def assert_weights_alike(random: Random, folder: Path) -> int:
    """Convolutions of many channels, of few, of groups, and of one channel each."""
    b = block()
    kernel = (small(random, 3), small(random, 3))
    match random.choice(("many", "few", "groups", "depthwise")):
        case "many":
            group, out, inner = 1, 4 * small(random, 12), b + 4 * small(random, 8)
            order = "OIHWBiBo"
        case "few":
            group, out, inner = 1, 4 * small(random, 12), random.randint(1, b - 1)
            order = "OIHWBo"
        case "groups":
            group = random.randint(2, 3)
            out, inner = group * b * small(random, 2), b * small(random, 2)
            order = "OIHWBiBo"
        case _:
            group = out = 4 * small(random, 12)
            inner, order = 1, "OIHWBo"
    tensor = floats((out, inner, *kernel), random)
    theirs = weights_of(tensor, group, folder)
    if theirs is None:
        return 0
    ours = packed(f'(o, i, h, w) = onnxruntime "{order}, B={b}"', tensor)
    assert np.array_equal(ours, theirs.reshape(-1)), (order, tensor.shape, group)
    return ours.size


def assert_nibbles_alike(random: Random) -> int:
    """What `MatMulNBits` makes of our bytes, multiplied by the unit matrix, are our numbers."""
    bits, size = random.choice((4, 4, 8)), random.choice((16, 32, 64))
    n, k = small(random, 9), random.choice((size, size + 1, small(random, 4 * size)))
    draw = np.random.default_rng(random.getrandbits(32))
    numbers = draw.integers(0, 2**bits, (n, k), dtype=np.uint8)
    blocks = -(-k // size)
    zeros = draw.integers(0, 2**bits, (n, blocks), dtype=np.uint8)
    scales = draw.choice([0.5, 1, 2, 4], (n, blocks)).astype(np.float32)
    weights = packed(f"(n, k) = [n, k/{size}, k%{size}] of u{bits}", numbers)
    each = 8 // bits
    points = packed(f"(n, z) = [n, z : roundup(Z, {each})] of u{bits}", zeros)
    held = {
        "w": in_bytes(weights, bits).reshape(n, blocks, -1),
        "s": scales.reshape(-1),
        "z": in_bytes(points, bits),
    }
    unit = np.eye(k, dtype=np.float32)
    theirs = run(
        "MatMulNBits", {"x": unit}, "com.microsoft", held, K=k, N=n, bits=bits, block_size=size
    )
    wide = [np.repeat(part, size, axis=1)[:, :k] for part in (zeros, scales)]
    ours = (numbers.astype(np.float32) - wide[0]) * wide[1]
    assert np.array_equal(theirs.T, ours), (bits, size, n, k)
    return weights.size


def assert_moved_alike(random: Random) -> int:
    """`SpaceToDepth`, and `DepthToSpace` in both orders."""
    b = random.randint(2, 4)
    square = b * b
    h, w, c = small(random, 5), small(random, 5), small(random, 5)
    n = small(random, 3)
    op, given, shape, text = random.choice(
        (
            ("SpaceToDepth", {}, (n, c, b * h, b * w), f"[n, h%{b}, w%{b}, c, h/{b}, w/{b}]"),
            (
                "DepthToSpace",
                {"mode": "DCR"},
                (n, square * c, h, w),
                f"[n, c%(C/{square}), h, c/(C/{b}), w, c/(C/{square})%{b}]",
            ),
            (
                "DepthToSpace",
                {"mode": "CRD"},
                (n, square * c, h, w),
                f"[n, c/{square}, h, c%{square}/{b}, w, c%{b}]",
            ),
        )
    )
    where = f"H%{b} == 0, W%{b} == 0" if op == "SpaceToDepth" else f"C%{square} == 0"
    tensor = floats(shape, random)
    theirs = run(op, {"x": tensor}, blocksize=b, **given)
    ours = by_definition(f"(n, c, h, w) = {text} where {where}", tensor)
    assert np.array_equal(ours, theirs.reshape(-1)), (op, given, shape)
    return ours.size


def compare(count: int, seed: int, folder: Path) -> None:
    random = Random(seed)
    moves = {
        "reorders": lambda: assert_reordered_alike(random),
        "weights": lambda: assert_weights_alike(random, folder),
        "nibbles": lambda: assert_nibbles_alike(random),
        "spaces": lambda: assert_moved_alike(random),
    }
    found = dict.fromkeys(moves, 0)
    slots = 0
    for name, move in moves.items():
        for _ in range(count):
            compared = move()
            found[name] += compared > 0
            slots += compared
    print(f"onnxruntime {ort.__version__}, blocks of {block()}: {found}, {slots} slots")
    assert min(found.values()) > count // 2


@pytest.mark.slow
def test_a_sample_of_onnxruntimes_layouts(tmp_path: Path) -> None:
    compare(4, 1, tmp_path)


@pytest.mark.slow
def test_onnxruntime_can_refute() -> None:
    tensor = floats((1, 20, 2, 3), Random(2))
    theirs = run("ReorderInput", {"x": tensor}, NCHWC)
    wrong = packed(f"(n, c, h, w) = [n, c/{block()}, w, h, c%{block()}]", tensor)
    assert wrong.size == theirs.size
    assert not np.array_equal(wrong, theirs.reshape(-1))


@pytest.mark.campaign
def test_onnxruntimes_layouts_at_random(tmp_path: Path) -> None:
    compare(400, 3, tmp_path)
