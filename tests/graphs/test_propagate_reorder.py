"""Conversions by onnxruntime's own operators: drawn shuffles of channels before and behind blocks.

Every part is run alone, and the whole, at batches that were not planned too.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")
pytest.importorskip("onnxruntime")

from onnx_runs import channels_in_a_block  # noqa: E402
from small_graphs import proto  # noqa: E402

from layoutdsl import check_model, parse, propagate  # noqa: E402

needs_blocks = pytest.mark.skipif(
    channels_in_a_block() is None, reason="onnxruntime has no blocks here"
)


def shuffled(chance: random.Random, batch: int | str, least: int = 3) -> Any:
    """Two shuffles around a convolution that has kernels for blocks, between two that have none."""
    helper = onnx.helper
    groups = chance.choice((2, 4, 8))
    channels = groups * chance.choice((4, 6, 8, 28))
    height, width = chance.randrange(least, 8), chance.randrange(least, 8)
    drawn = np.random.default_rng(chance.randrange(1 << 30))
    weights = {
        "w1": (channels, channels // groups, 1, 1),
        "w2": (channels, 1, 3, 3),
        "w3": (channels, channels // groups, 1, 1),
        "b": (channels,),
    }
    nodes, last = [], "x"

    def add(kind: str, *more: str, **said: Any) -> None:
        nonlocal last
        made = f"v{len(nodes)}"
        nodes.append(helper.make_node(kind, [last, *more], [made], **said))
        last = made

    def shuffle(name: str) -> None:
        parts = (groups, channels // groups)[:: chance.choice((1, -1))]
        numbers = [0, *parts, height, width]
        known.append(onnx.numpy_helper.from_array(np.array(numbers, np.int64), name))
        add("Reshape", name)
        add("Transpose", perm=[0, 2, 1, 3, 4])
        add("Reshape", "whole")

    known = [onnx.numpy_helper.from_array(np.array([0, channels, height, width]), "whole")]
    add("Conv", "w1", group=groups)
    add("Relu")
    shuffle("one")
    add("Conv", "w2", "b", group=channels, pads=[1, 1, 1, 1])
    shuffle("two")
    add("Conv", "w3", group=groups)
    if chance.random() < 0.5:
        nodes.append(helper.make_node("Add", [last, "v1"], ["sum"]))
        last = "sum"
    known += [
        onnx.numpy_helper.from_array(drawn.standard_normal(shape).astype("f4") / 4, name)
        for name, shape in weights.items()
    ]
    shape = [batch, channels, height, width]
    given, taken = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name in ("x", last)
    )
    graph = helper.make_graph(nodes, "shuffles", [given], [taken], known)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.sampled(12)
@needs_blocks
@pytest.mark.parametrize("seed", range(8))
def test_drawn_shuffles_are_run_and_checked(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    place = tmp_path / "model.onnx"
    onnx.save(shuffled(chance, chance.choice((1, 3, "N"))), place)
    found = propagate(place, "onnxruntime", emit="onnxruntime")
    assert found.verified is not None
    assert found.verified.faults == ()
    assert found.status == "done"
    found.write(tmp_path / "out.onnx")
    assert check_model(tmp_path / "out.onnx", place).holds


@pytest.mark.slow
def test_rows_are_moved_and_not_numbers(tmp_path: Path) -> None:
    """Of 32 channels in shuffled blocks of 16, rows go first: no `Transpose` ends in channels."""
    place, seen = tmp_path / "model.onnx", 0
    for seed in range(8):
        onnx.save(shuffled(random.Random(seed), 1, least=4), place)
        found = propagate(place, "onnxruntime16", emit="onnxruntime", verify="off")
        if found.figures.padding.values:
            continue
        for each in found.model.graph.node:
            if each.op_type == "Transpose":
                (order,) = (list(said.ints) for said in each.attribute)
                assert order[-1] == len(order) - 1
                seen += 1
    assert seen


@pytest.mark.sampled(2)
@needs_blocks
@pytest.mark.parametrize("channels", [8, 16])
def test_blocks_of_another_machine_are_written_and_not_run(channels: int, tmp_path: Path) -> None:
    place, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(shuffled(random.Random(1), 1), place)
    found = propagate(place, f"onnxruntime{channels}", emit="onnxruntime")
    if channels == channels_in_a_block():
        assert found.status == "done"
        assert propagate(place, "onnxruntime", emit="onnxruntime").model == found.model
    else:
        assert found.status == "open"
        assert found.verified is not None
        assert found.verified.faults == ()
        assert f"hold {channels_in_a_block()} channels on this machine" in found.verified.unrun[0]
    found.write(out)
    assert check_model(out, place).holds


def drawn_order(chance: random.Random, block: int) -> tuple[str, int]:
    """A layout of some blocks of channels whose digits stand in any order, and their number."""
    digits, divisor = list[str](), 1
    while divisor < 2 * block or divisor % block:
        size = chance.choice((2, 4, 8))
        digits.append(f"c/{divisor}%{size}")
        divisor *= size
    digits[-1] = digits[-1].split("%")[0]
    chance.shuffle(digits)
    place = chance.randrange(len(digits) + 1)
    digits[place:place] = ["h", "w"]
    return f"layout Drawn(n, c, h, w) = [n, {', '.join(digits)}]", divisor


@pytest.mark.sampled(6)
@needs_blocks
@pytest.mark.parametrize("seed", range(30))
def test_drawn_orders_of_channels_become_blocks(seed: int, tmp_path: Path) -> None:
    """On the way in and out: each conversion is run alone, and the whole."""
    chance, block = random.Random(seed), channels_in_a_block()
    assert block is not None
    text, channels = drawn_order(chance, block)
    layout = parse(text)["Drawn"]
    shape = [chance.choice((1, 3)), channels, chance.choice((1, 5)), chance.choice((4, 20))]
    model = proto("y = Conv(x, w)", x=shape, w=(channels, channels, 1, 1))
    onnx.save(model, tmp_path / "model.onnx")
    ends: dict[str, Any] = {"inputs": {"x": layout}, "outputs": {"y": layout}}
    found = propagate(tmp_path / "model.onnx", "onnxruntime", emit="onnxruntime", **ends)
    assert found.status == "done", found.verified
    assert [each.layout for each in found.figures.anchors] == [f"NCHW{block}c"]
    assert any(node.domain for node in found.model.graph.node)


@pytest.mark.parametrize("size", [16, 8])
def test_what_lies_like_a_block_says_nothing_of_the_machine(size: int, tmp_path: Path) -> None:
    """Eight or sixteen channels of one pixel lie as they are written and as a block does."""
    model = proto(
        "a = Relu(p)\nb = Relu(q)\ny = Conv(x, w)",
        outputs="a b y",
        p=[1, 8, 1, 1],
        q=[1, 16, 1, 1],
        x=[1, 20, 6, 5],
        w=(20, 20, 3, 3),
    )
    onnx.save(model, tmp_path / "model.onnx")
    engine = f"onnxruntime{size}"
    found = propagate(tmp_path / "model.onnx", engine, emit="onnxruntime", verify="outputs")
    assert found.verified is not None
    if size == channels_in_a_block():
        assert found.status == "done"
    else:
        assert f"those of the plan {size}" in found.verified.unrun[0]
    assert any(node.domain for node in found.model.graph.node)
