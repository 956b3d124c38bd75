"""Files of models taken apart, held against what the package onnx parses of the same bytes.

The reader meets bytes of strangers, so it gets bytes that no model on disk could hand to it, and
its limits are lowered to what a test can write.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from google.protobuf.message import DecodeError  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx_runs import run  # noqa: E402
from small_models import written  # noqa: E402

from layoutdsl import check_model, propagate  # noqa: E402
from layoutdsl.graphs.models import onnx_files, onnx_wire  # noqa: E402
from layoutdsl.graphs.models.onnx_files import in_pieces  # noqa: E402
from layoutdsl.graphs.models.onnx_wire import WireError, taken_apart  # noqa: E402


def drawn(chance: random.Random) -> bytes:
    """A model with weights among its other fields, in any order, sometimes of two graphs."""
    whole = b""
    for _ in range(chance.choice((1, 1, 2))):
        pieces = list[bytes]()
        for number in range(chance.randrange(6)):
            array = np.zeros(chance.choice((0, 1, 3, 200, 20000)), np.float32)
            weight = numpy_helper.from_array(array, f"w{number}")
            pieces.append(onnx.GraphProto(initializer=[weight]).SerializeToString())
        for number in range(chance.randrange(4)):
            node = helper.make_node("Relu", [f"x{number}"], [f"y{number}"], alpha=0.5, k=-1)
            pieces.append(onnx.GraphProto(node=[node]).SerializeToString())
        pieces.append(onnx.GraphProto(name="g" * chance.randrange(300)).SerializeToString())
        chance.shuffle(pieces)
        graph = onnx.GraphProto.FromString(b"".join(pieces))
        own = onnx.ModelProto(ir_version=chance.randrange(1 << 40), graph=graph)
        own.graph.doc_string = "text"
        whole += own.SerializeToString()
    return whole


def put_together(data: bytes, place: Path) -> Any:
    """What is made of a file when its pieces are put back."""
    place.write_bytes(data)
    handle = os.open(place, os.O_RDONLY)
    try:
        shell, pieces = taken_apart(handle, len(data))
        found = onnx.ModelProto.FromString(shell)
        assert not found.graph.initializer
        for each in pieces:
            weight = onnx_wire.read(handle, each.inside, each.end)
            found.graph.initializer.append(onnx.TensorProto.FromString(weight))
    finally:
        os.close(handle)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost(seed: int, tmp_path: Path) -> None:
    data = drawn(random.Random(seed))
    assert put_together(data, tmp_path / "model") == onnx.ModelProto.FromString(data)


def test_whatever_bytes_are_changed_it_is_the_same_or_none(tmp_path: Path) -> None:
    chance, same = random.Random(7), 0
    for _ in range(400):
        wrong = bytearray(drawn(chance))
        for _ in range(chance.randrange(1, 4)):
            wrong[chance.randrange(min(len(wrong), 400))] = chance.randrange(256)
        cut = bytes(wrong[: chance.choice((len(wrong), chance.randrange(len(wrong))))])
        try:
            found = put_together(cut, tmp_path / "model")
        except (WireError, DecodeError):
            continue
        assert found == onnx.ModelProto.FromString(cut)
        same += 1
    assert same > 40


@pytest.mark.parametrize(
    "data", [b"\x0b\x0c", b"\x08", b"\x08" + b"\xff" * 12, b"\x3a\x05ab", b"\x00\x01", b"\x0d\0"]
)
def test_what_is_no_message_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(WireError):
        put_together(data, tmp_path / "model")


def test_more_fields_than_anybody_writes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_wire, "MOST_PIECES", 10)
    with pytest.raises(WireError, match="more than 10 fields"):
        put_together(b"\x08\x01" * 11, tmp_path / "model")


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (5, 40, 7)])
@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int8",
        "uint16",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "bfloat16",
        "float8_e4m3fn",
        "int4",
    ],
)
def test_a_weight_in_pieces_is_what_the_package_writes(dtype: str, shape: tuple[int, ...]) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    own = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape[::-1]) % 7
    for array in (numbers.T.astype(own, order="K"), numbers.reshape(shape).astype(own)):
        head, items = in_pieces(("w", array))
        wanted = numpy_helper.from_array(np.asarray(array, order="C"), "w")
        assert head + items.tobytes() == wanted.SerializeToString(deterministic=True)


def test_large_weights_lie_beside_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than a gibibyte of them, for which 100 bytes stand here; they are read again, too."""
    pytest.importorskip("scipy")
    monkeypatch.setattr(onnx_files, "INSIDE", 100)
    place, out, beside = written(tmp_path), tmp_path / "out.onnx", tmp_path / "out.onnx.data"
    found = propagate(place, "blocked16", verify="off")
    found.write(out)
    assert beside.stat().st_size > 4 * 20 * 20 * 9
    assert onnx.load(out).graph.node == found.model.graph.node
    onnx.checker.check_model(out, full_check=True)
    assert check_model(out, place).holds
    pytest.importorskip("onnxruntime")
    again = propagate(out, "nhwc", verify="outputs")
    assert again.status == "done"
    feeds = {"x": np.random.default_rng(2).standard_normal((2, 3, 8, 8)).astype("f4")}
    (theirs,), (ours,) = run(onnx.load(place), feeds), run(again.model, feeds)
    assert np.allclose(theirs, ours, 1e-4, 1e-5)
    data = bytearray(beside.read_bytes())
    data[-1] ^= 1
    beside.write_bytes(bytes(data))
    assert not check_model(out, place).holds
