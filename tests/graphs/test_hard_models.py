"""Models that `propagate` had refused, misread or never finished."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_shell import Shell, shell

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from layoutdsl import check_model, propagate  # noqa: E402

__all__ = ["shell"]

DRAWN = np.random.default_rng(4)
WEIGHTS = {
    "w": DRAWN.standard_normal((20, 3, 3, 3)).astype("f4"),
    "v": DRAWN.standard_normal((20, 20, 3, 3)).astype("f4"),
}
AROUND = {"pads": [1, 1, 1, 1]}
HOW: dict[str, dict[str, Any]] = {
    "NHWC": {"engine": "nhwc"},
    "NCHW16c": {"engine": "blocked16"},
    "NHWC, plain": {"engine": "nhwc", "emit": "plain"},
    "NCHW16c, plain": {"engine": "blocked16", "emit": "plain"},
}


def node(operator: str, inputs: str, output: str, **said: Any) -> Any:
    """A node; `_` is an operand that is left out."""
    names = ["" if each == "_" else each for each in inputs.split()]
    domain, _, name = operator.rpartition("::")
    return helper.make_node(name, names, output.split(), name=output, domain=domain, **said)


FIRST, LAST = node("Conv", "x w", "a", **AROUND), node("Conv", "r v", "y", **AROUND)


def saved(
    place: Path | str,
    nodes: list[Any],
    weights: dict[str, Any],
    inputs: dict[str, Any] | None = None,
    *,
    output: Any = None,
    opset: int = 17,
) -> Any:
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in {"x": [1, 3, 10, 12], **(inputs or {}), "y": output}.items()
    ]
    known = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "test", ends[:-1], ends[-1:], known)
    domains = sorted({each.domain for each in nodes if each.domain})
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(each, 1) for each in domains)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    onnx.save(made, place)
    return made


def run(place: Path, feeds: dict[str, Any]) -> Any:
    session = ort.InferenceSession(str(place), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def image(seed: int = 0, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape or (1, 3, 10, 12)).astype("f4")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("scales", [(0.7, 0.7), (1.1, 0.6), (2.3, 1 / 3), (0.9, 0.55)])
def test_scales_make_the_extents_of_the_runtime(
    how: str, scales: tuple[float, float], tmp_path: Path
) -> None:
    """10 * 0.7 is 7 in 32 bits, and was 6 to shape inference: what was written did not run."""
    place, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    nodes = [FIRST, node("Resize", "a _ sizes", "b"), node("Resize", "b _ sizes", "r"), LAST]
    saved(place, nodes, {**WEIGHTS, "sizes": np.array([1, 1, *scales], "f4")})
    found = propagate(place, **HOW[how])
    assert (found.status, found.verified is not None) == ("done", True)
    found.write(out)
    one, other = (run(each, {"x": image()}) for each in (place, out))
    assert one.shape == other.shape
    assert np.allclose(one, other, atol=1e-4)
    assert check_model(out, place).holds


@pytest.mark.parametrize("said", [[1, 20, 7, 8], [1, 20, 6, 8]])
def test_a_model_may_say_either_extent(said: list[int], tmp_path: Path) -> None:
    place = tmp_path / "model.onnx"
    nodes = [FIRST, node("Resize", "a _ sizes", "y")]
    saved(place, nodes, {**WEIGHTS, "sizes": np.array([1, 1, 0.7, 0.7], "f4")}, output=said)
    found = propagate(place, "nhwc")
    assert found.status == "done"
    assert found.source.graph.values["y"].shape == (1, 20, 7, 8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("batch", [1, "n"])
def test_a_default_of_an_input_may_still_be_replaced(
    how: str, batch: int | str, tmp_path: Path
) -> None:
    """Such initialisers were constants of what was written, and no inputs any more."""
    place, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    nodes = [FIRST, node("Add", "a small", "r"), LAST]
    weights = {**WEIGHTS, "small": np.float32(0.5)}
    inputs: dict[str, Any] = {"x": [batch, 3, 10, 12], "w": [20, 3, 3, 3], "small": []}
    saved(place, nodes, weights, inputs)
    found = propagate(place, **HOW[how])
    assert (found.status, found.figures.defaults) == ("done", 2)
    found.write(out)
    assert [each.name for each in onnx.load(out).graph.input] == ["x", "w", "small"]
    for feeds in ({}, {"w": image(5, 20, 3, 3, 3)}, {"small": np.array(-3, "f4")}):
        one, other = (run(each, {"x": image(), **feeds}) for each in (place, out))
        assert np.allclose(one, other, atol=1e-4)
    assert check_model(out, place).faults == ()


def test_a_default_lies_as_the_caller_gives_the_input(shell: Shell) -> None:
    saved("model.onnx", [FIRST, node("Relu", "a", "r"), LAST], WEIGHTS, {"w": [20, 3, 3, 3]})
    ended = shell(
        "propagate", "model.onnx", "--engine", "nhwc", "--input", "w=NHWC", "-o", "o.onnx"
    )
    assert (ended.code, ended.err) == (0, "")
    assert "inputs            1 input with a default, which callers may replace" in ended.out
    held = {
        each.name: numpy_helper.to_array(each) for each in onnx.load("o.onnx").graph.initializer
    }
    assert np.array_equal(held["w"], WEIGHTS["w"].transpose(0, 2, 3, 1))
    assert shell("propagate", "--check", "o.onnx", "--against", "model.onnx").code == 0
    made = onnx.load("o.onnx")
    next(each for each in made.graph.initializer if each.name == "w").raw_data = bytes(2160)
    onnx.save(made, "o.onnx")
    assert shell("propagate", "--check", "o.onnx", "--against", "model.onnx").code == 1


@pytest.mark.parametrize("axis", [1, -3])
def test_axes_may_be_counted_from_the_end(axis: int, tmp_path: Path) -> None:
    """With -3 no rule had fitted: three transforms for one."""
    place = tmp_path / "model.onnx"
    nodes = [
        FIRST,
        node("QuantizeLinear", "a s z", "q", axis=axis),
        node("DequantizeLinear", "q s z", "r", axis=axis),
        LAST,
    ]
    saved(place, nodes, {**WEIGHTS, "s": np.full(20, 0.1, "f4"), "z": np.zeros(20, "i1")})
    found = propagate(place, "nhwc")
    assert (found.status, found.figures.gaps) == ("done", ())
    assert [each.value for each in found.transforms] == ["x", "y"]


SCALE = {"s": np.float32(0.05), "z": np.uint8(128)}


def test_codes_that_are_added_have_the_shape_of_both(tmp_path: Path) -> None:
    """Models of onnxruntime.quantization were refused, though there is a rule."""
    place, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    nodes = [
        FIRST,
        node("QuantizeLinear", "a s z", "q"),
        node("com.microsoft::QLinearAdd", "q s z q s z s z", "t"),
        node("com.microsoft::QLinearSigmoid", "t s z s z", "u"),
        node("DequantizeLinear", "u s z", "r"),
        LAST,
    ]
    saved(place, nodes, {**WEIGHTS, **SCALE})
    found = propagate(place, "nhwc")
    assert (found.status, found.figures.gaps) == ("done", ())
    assert [each.value for each in found.transforms] == ["x", "y"]
    found.write(out)
    assert np.allclose(*(run(each, {"x": image()}) for each in (place, out)), atol=0.1)


@pytest.mark.parametrize("how", HOW)
def test_what_makes_unknown_shapes_is_as_written(how: str, shell: Shell) -> None:
    nodes = [
        FIRST,
        node("com.acme::Upscale", "a", "b"),
        node("Relu", "b", "c"),
        node("Conv", "x w", "d", **AROUND),
        node("Add", "c d", "y"),
    ]
    saved("model.onnx", nodes, WEIGHTS)
    more = [word for key, each in HOW[how].items() for word in (f"--{key}", each)]
    ended = shell("propagate", "model.onnx", *more, "-o", "out.onnx")
    assert (ended.code, ended.err) == (3, "")
    assert "as written        3 nodes without a rule that fits" in ended.out
    assert "2 of 2 Conv in" in ended.out
    made = onnx.load("out.onnx")
    kept = [each for each in made.graph.node if each.op_type in ("Upscale", "Relu", "Add")]
    assert [list(each.output) for each in kept] == [["b"], ["c"], ["y"]]
    assert shell("propagate", "--check", "out.onnx", "--against", "model.onnx").code == 0
    ended = shell("propagate", "model.onnx", *more, "--output", "y=NHWC")
    assert (ended.code, "`y`" in ended.err) == (2, True)


def test_a_quantised_recurrence_is_as_written(tmp_path: Path) -> None:
    """DynamicQuantizeLSTM has no rule, and nobody infers its shapes: ddddocr was refused."""
    place, size = tmp_path / "model.onnx", 4
    nodes = [
        node("Conv", "x w", "a", **AROUND),
        node("Reshape", "a shape", "t"),
        node(
            "com.microsoft::DynamicQuantizeLSTM",
            "t W R B _ _ _ _ ws wz rs rz",
            "r",
            hidden_size=size,
        ),
        node("Squeeze", "r one", "y"),
    ]
    weights = {
        "w": WEIGHTS["w"],
        "shape": np.array([10, 1, 240], "i8"),
        "one": np.array([1], "i8"),
        "W": DRAWN.integers(-9, 9, (1, 240, 4 * size)).astype("i1"),
        "R": DRAWN.integers(-9, 9, (1, size, 4 * size)).astype("i1"),
        "B": np.zeros((1, 8 * size), "f4"),
        **{name: np.full(1, 0.01, "f4") for name in ("ws", "rs")},
        **{name: np.zeros(1, "i1") for name in ("wz", "rz")},
    }
    saved(place, nodes, weights)
    found = propagate(place, "nhwc")
    assert found.status != "refuted"
    assert {each.operator for each in found.figures.gaps} >= {"com.microsoft::DynamicQuantizeLSTM"}
    found.write(tmp_path / "out.onnx")
    one, other = (run(each, {"x": image()}) for each in (place, tmp_path / "out.onnx"))
    assert np.allclose(one, other, atol=1e-2)


def nested(place: Path, depth: int, circle: bool = False) -> None:
    """Functions each of which calls the one before twice."""
    own = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    functions = []
    for k in range(depth):
        before = depth - 1 if circle and not k else k - 1
        calls = [node(f"own::f{before}", "p", "q"), node(f"own::f{before}", "q", "r")]
        body = calls if before >= 0 else [node("Relu", "p", "r")]
        functions.append(helper.make_function("own", f"f{k}", ["p"], ["r"], body, own))
    made = saved(place, [node(f"own::f{depth - 1}", "x", "y")], {}, output=[1, 3, 10, 12])
    made.functions.extend(functions)
    onnx.save(made, place)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", [(24, False), (24, True), (2000, False)], ids=str)
def test_functions_that_come_to_very_many_nodes_are_refused(
    case: tuple[int, bool], shell: Shell
) -> None:
    """1.6 kB of a file had taken more than 90 seconds, and 1.3 GB."""
    nested(Path("model.onnx"), *case)
    started = time.process_time()
    ended = shell("propagate", "model.onnx", "--engine", "nhwc")
    assert (ended.code, ended.out) == (4, "")
    assert "`model.onnx` has functions that call each other" in ended.err
    assert "more than 262144 nodes" in ended.err
    assert time.process_time() - started < 20
    nested(Path("model.onnx"), 6)
    assert shell("propagate", "model.onnx", "--prefer", "Relu=NHWC").code == 0


def test_a_value_that_nothing_holds_is_refused(shell: Shell) -> None:
    """The solver had failed, as a bug of ours."""
    saved("model.onnx", [FIRST, node("Relu", "a", "y")], WEIGHTS, {"x": [2**40, 3, 2**20, 2**20]})
    ended = shell("propagate", "model.onnx", "--engine", "nhwc")
    assert (ended.code, "`x` has the shape (1099511627776, 3, 1048576, 1048576)" in ended.err) == (
        4,
        True,
    )
    assert "at most 17592186044416 elements" in ended.err
    saved("model.onnx", [FIRST, node("Relu", "a", "y")], WEIGHTS, {"x": ["n", 3, "h", 8]})
    ended = shell("propagate", "model.onnx", "--engine", "nhwc", "--shape", f"x={2**40},3,8,8")
    assert ended.code in (2, 4)
    ended = shell(
        "propagate", "model.onnx", "--engine", "nhwc", "--shape", f"x={2**28},3,8,8", "-o", "o"
    )
    assert (ended.code, "does not fit in the memory" in ended.out) == (3, True)


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose"])
def test_weights_for_other_channels_are_refused(operator: str, shell: Shell) -> None:
    """Nothing runs such a model, and it was written."""
    weight = np.ones((20, 5, 3, 3) if operator == "Conv" else (5, 20, 3, 3), "f4")
    saved("model.onnx", [node(operator, "x k", "y", **AROUND)], {"k": weight})
    ended = shell("propagate", "model.onnx", "--engine", "nhwc", "-o", "out.onnx")
    assert (ended.code, Path("out.onnx").exists()) == (4, False)
    assert f"{operator} `y` takes `x` of 3 channels, and its weights `k` are for 5" in ended.err


def test_an_offset_below_zero_is_said_to_be_one(shell: Shell) -> None:
    made = saved("model.onnx", [FIRST, node("Relu", "a", "y")], WEIGHTS)
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "data"), ("offset", "-8"), ("length", "2160")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text
    Path("model.onnx").write_bytes(made.SerializeToString())
    ended = shell("propagate", "model.onnx", "--engine", "nhwc")
    assert (ended.code, ended.out) == (4, "")
    assert "says that items of `w` begin at byte -8 of their file" in ended.err


def test_sparse_initialisers_are_named(shell: Shell) -> None:
    made = saved("model.onnx", [FIRST, node("Relu", "a", "y")], WEIGHTS)
    values = numpy_helper.from_array(np.ones(1, "f4"), "thin")
    places = numpy_helper.from_array(np.zeros(1, "i8"), "thin_places")
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4]))
    onnx.save(made, "model.onnx")
    ended = shell("propagate", "model.onnx", "--engine", "nhwc")
    assert (ended.code, "has the sparse initialiser `thin`, which is not read" in ended.err) == (
        4,
        True,
    )
    assert "store it dense" in ended.err
