"""Conversions by onnxruntime's own operators: drawn shuffles of channels before and behind blocks.

Every part is run alone, and the whole, at batches that were not planned too.
"""

from __future__ import annotations

import random
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")
pytest.importorskip("onnxruntime")

from small_graphs import proto  # noqa: E402

from layoutdsl import check_model, propagate  # noqa: E402
from layoutdsl.graphs.emitting.emit_reorder import rows_of  # noqa: E402
from layoutdsl.graphs.emitting.physical import Step  # noqa: E402
from layoutdsl.graphs.placings.packing import packed  # noqa: E402
from layoutdsl.graphs.placings.placing import Digit, Placing, as_written, canonical  # noqa: E402
from layoutdsl.graphs.running.onnx_run import block  # noqa: E402

needs_blocks = pytest.mark.skipif(block() is None, reason="onnxruntime has no blocks here")
BLOCK = 16


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


@pytest.mark.sampled(12, slow=11)
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
        steps = [each for part in found.emission.parts for each in part.work]
        ragged = any(each.held.placing.padded_axes for each in found.emission.tensors.values())
        for each in steps:
            if isinstance(each, Step) and each.operator == "Transpose" and not ragged:
                order = each.attributes["perm"]
                assert isinstance(order, tuple)
                assert order[-1] == len(order) - 1
                seen += 1
    assert seen


@pytest.mark.sampled(2, slow=1)
@needs_blocks
@pytest.mark.parametrize("channels", [8, 16])
def test_blocks_of_another_machine_are_written_and_not_run(channels: int, tmp_path: Path) -> None:
    place, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(shuffled(random.Random(1), 1), place)
    found = propagate(place, f"onnxruntime{channels}", emit="onnxruntime")
    assert found.emission.block == channels
    if channels == block():
        assert found.status == "done"
        assert propagate(place, "onnxruntime", emit="onnxruntime").model == found.model
    else:
        assert found.status == "open"
        assert found.verified is not None
        assert found.verified.faults == ()
        assert f"hold {block()} channels on this machine" in found.verified.unrun[0]
    found.write(out)
    assert check_model(out, place).holds


def drawn_blocks(chance: random.Random) -> tuple[Placing, Placing]:
    """Blocks of 16 of channels in any order, and the same value as it was written."""
    cuts, divisor = list[Digit](), 1
    for extent in chance.choice(((16, 3), (4, 7, 4), (2, 8, 5), (28, 4), (2, 2, 2, 2, 9), (8, 6))):
        cuts.append(Digit(1, divisor, extent))
        divisor *= extent
    shape = (chance.choice((1, 3)), divisor, chance.choice((1, 5)), chance.choice((4, 20)))
    chance.shuffle(cuts)
    rest = [Digit(axis, 1, shape[axis]) for axis in (2, 3)]
    whole = [at for at in range(len(cuts)) if prod(each.extent for each in cuts[at:]) == BLOCK]
    at = chance.choice(whole or [0])
    digits = [Digit(0, 1, shape[0]), *cuts[:at], *rest, *cuts[at:]]
    return Placing(shape, canonical(digits)), as_written(shape)


def test_rows_of_drawn_blocks() -> None:
    """Blocks of the rows, as onnxruntime makes them, are the blocks."""
    chance, seen = random.Random(3), 0
    for _ in range(300):
        blocks, written = drawn_blocks(chance)
        found = rows_of(blocks, written, BLOCK)
        if found is None:
            continue
        seen += 1
        array = np.arange(written.slots).reshape(written.shape)
        batch, channels, length, one = found.extents
        rows = packed(array, found.placing, 0).reshape(batch, channels // BLOCK, BLOCK, length, one)
        assert (
            rows.transpose(0, 1, 3, 4, 2).reshape(-1) == packed(array, blocks, 0).reshape(-1)
        ).all()
    assert seen > 30


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
    found = propagate(tmp_path / "model.onnx", engine, emit="onnxruntime", verify="off")
    assert found.emission.block == size
    assert any(node.domain for node in found.model.graph.node)
