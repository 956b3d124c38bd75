"""What a model costs in memory: weights stay in the file, and are laid, run and held one by one.

It is the growth over a process that did the same to a small model: the packages alone have 140 MB.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from models import SMALL, light
from processes import ended
from small_models import written

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")
pytest.importorskip("onnxruntime")

from layoutdsl import UnfitModelError, check_model, propagate  # noqa: E402

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the system does not say its peaks"
)

MEASURED = """if True:
    import gc, json, sys
    from pathlib import Path
    import layoutdsl

    small, model, engine, emit = sys.argv[1:]

    def said(word):
        return int(Path("/proc/self/status").read_text().partition(word)[2].split()[0]) << 10

    def carried(place):
        found = layoutdsl.propagate(place, engine, emit=emit)
        assert found.status == "done", found.verified
        found.write(f"{place}.out")

    def checked(place):
        assert layoutdsl.check_model(f"{place}.out", place).holds

    carried(small), checked(small)
    grown = []
    for step in (carried, checked):
        gc.collect()
        before = said("VmRSS:")
        Path("/proc/self/clear_refs").write_text("5")
        step(model)
        grown.append(said("VmHWM:") - before)
    print(json.dumps(grown))
"""


def grown(folder: Path, place: Path, engine: str) -> tuple[float, float]:
    """How much memory a model and its check need, in sizes of its file."""
    small = written(folder, "small.onnx", batch=1)
    emit = "onnxruntime" if engine == "onnxruntime" else "functions"
    said = [str(small), str(place), engine, emit]
    done = ended([sys.executable, "-c", MEASURED, *said], text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    carried, checked = json.loads(done.stdout)
    size = place.stat().st_size
    return carried / size, checked / size


def one_large_weight(place: Path) -> None:
    """A matrix of 33 MB behind a picture, whose rows go where its channels go."""
    helper, drawn = onnx.helper, np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("Gemm", ["f", "m"], ["y"], transB=1),
    ]
    shapes = {"w": (32, 3, 3, 3), "m": (1024, 32 * 16 * 16)}
    weights = [
        onnx.numpy_helper.from_array(drawn.standard_normal(shape).astype("f4") / 64, name)
        for name, shape in shapes.items()
    ]
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 3, 16, 16]), ("y", [1, 1024]))
    ]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, place)


@pytest.mark.slow
@needs_proc
def test_memory_is_below_three_times_the_file(tmp_path: Path) -> None:
    one_large_weight(tmp_path / "model.onnx")
    carried, checked = grown(tmp_path, tmp_path / "model.onnx", "nhwc")
    assert 1 < carried < 3
    assert 1 < checked < 2.5


@pytest.mark.ci(1)
@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["nhwc", "blocked16", "onnxruntime"])
@pytest.mark.parametrize("name", [each for each in SMALL if "net121" in each or "incep" in each])
def test_memory_of_real_graphs(name: str, engine: str, tmp_path: Path) -> None:
    """In blocks, bodies of functions are run by an onnxruntime that has no kernels for them."""
    onnx.save(light(name), tmp_path / "model.onnx")
    carried, checked = grown(tmp_path, tmp_path / "model.onnx", engine)
    assert carried < 3
    assert checked < 2


def test_weights_are_those_that_the_file_had(tmp_path: Path) -> None:
    """They are read late: what was changed meanwhile is noticed, and nothing is written."""
    place = written(tmp_path)
    found = propagate(place, "nhwc", verify="off")
    data = bytearray(place.read_bytes())
    data[len(data) // 2] ^= 1
    place.write_bytes(bytes(data))
    os.utime(place, ns=(1, 1))
    with pytest.raises(UnfitModelError, match="was changed while it was read"):
        found.write(tmp_path / "out.onnx")
    assert not (tmp_path / "out.onnx").exists()


def test_a_file_that_is_replaced_is_the_old_one_to_who_reads_it(tmp_path: Path) -> None:
    place = written(tmp_path)
    found = propagate(place, "nhwc", verify="off")
    other = written(tmp_path, "other.onnx", between="Tanh")
    other.replace(place)
    found.write(tmp_path / "out.onnx")
    assert written(tmp_path).stat().st_size
    assert check_model(tmp_path / "out.onnx", place).holds
