"""Models read: what is wrong with bad ones, in a sentence; what odd ones become."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper
from onnx_runs import run

from layoutdsl import UnfitModelError, propagate

EXTERNAL = TensorProto.EXTERNAL
DRAWN = np.random.default_rng(3)


def info(name: str, shape: Any, kind: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name: str, *shape: int) -> Any:
    return numpy_helper.from_array(DRAWN.standard_normal(shape).astype(np.float32), name)


def model(nodes: list[Any], inputs: list[Any], outputs: list[Any], *weights: Any) -> Any:
    graph = helper.make_graph(nodes, "graph", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(operator: str, inputs: str, outputs: str, **said: Any) -> Any:
    return helper.make_node(operator, inputs.split(), outputs.split(), **said)


CONV = node("Conv", "x w", "c")
W, V = weight("w", 20, 3, 3, 3), weight("v", 5, 20, 1, 1)
X = info("x", [1, 3, 8, 8])


def good() -> Any:
    return model([CONV], [X], [info("c", None)], W)


def changed(change: Callable[[Any], object]) -> Any:
    found = good()
    change(found)
    return found


def outside(location: str, length: str) -> Any:
    """The model with its weights somewhere else."""
    found = good()
    tensor = found.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = EXTERNAL
    for key, text in (("location", location), ("length", length)):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text
    return found


def hidden() -> Any:
    tensor = outside("data", "2160").graph.initializer[0]
    return model([node("Constant", "", "k", value=tensor)], [X], [info("k", None)])


LOOP = [node("Relu", "a", "b"), node("Relu", "b", "a")]
BAD: dict[str, tuple[Any, str]] = {
    "empty": (b"", "is no model of ONNX; name a file that `onnx.load` reads"),
    "junk": (b"hello world" * 99, "is no model of ONNX; name a file that `onnx.load` reads"),
    "cut": (good().SerializeToString()[:-20], "is no model of ONNX"),
    "opset": (
        changed(lambda m: setattr(m.opset_import[0], "version", 99)),
        "is of opset 99, and",
    ),
    "operator": (
        changed(lambda m: setattr(m.graph.node[0], "op_type", "Nope")),
        "is no valid model: No Op registered for Nope",
    ),
    "cyclic": (model(LOOP, [X], [info("a", None)]), "must be topologically sorted"),
    "no maker": (model([], [X], [info("c", None)]), "is no valid model"),
    "extents": (
        changed(lambda m: m.graph.initializer[0].dims.__setitem__(0, -8)),
        "has an initialiser without a name or with an extent below 0",
    ),
    "huge": (
        changed(lambda m: m.graph.initializer[0].dims.__setitem__(0, 1 << 62)),
        "has the initialiser `w`, which cannot be read",
    ),
    "short": (
        changed(lambda m: setattr(m.graph.initializer[0], "raw_data", b"1234")),
        "has the initialiser `w`, which cannot be read",
    ),
    "type": (
        changed(lambda m: setattr(m.graph.initializer[0], "data_type", 99)),
        "has the initialiser `w`, which cannot be read",
    ),
    "shapes": (
        changed(lambda m: m.graph.output[0].CopyFrom(info("c", [1, 9, 6, 6]))),
        "cannot be inferred",
    ),
    "above": (outside("../data", "2160"), "in `../data`, which is no place below its folder"),
    "root": (outside("/etc/passwd", "2160"), "which is no place below its folder"),
    "missing": (outside("data", "2160"), "in `data`, which is not there"),
    "length": (outside("data", "77"), "says 77 bytes of items of `w`, and type and shape say 2160"),
    "hidden": (hidden(), "has a tensor in another file that is no initialiser"),
    "acme": (
        model([helper.make_node("Up", ["x"], ["c"], domain="com.acme")], [X], [info("c", None)]),
        "No opset import for domain 'com.acme'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_models_get_a_sentence(case: str, tmp_path: Path) -> None:
    found, words = BAD[case]
    place = tmp_path / "model.onnx"
    place.write_bytes(found if isinstance(found, bytes) else found.SerializeToString())
    with pytest.raises(UnfitModelError) as caught:
        propagate(place, "nhwc")
    assert words in str(caught.value)
    assert caught.value.message.startswith(("`", "the shapes of `"))
    assert caught.value.remedy
    assert caught.value.kind == "file"
    assert "\n" not in str(caught.value)


OPEN = model([CONV], [info("x", ["n", 3, "h", 8])], [info("c", None)], W)
NEGATIVE = model([CONV], [info("x", [-1, 3, -1, 8])], [info("c", [-1, 20, -1, 6])], W)


def output_shape(found: Any) -> list[int]:
    """The extents of the first output of the model that is written."""
    return [each.dim_value for each in found.model.graph.output[0].type.tensor_type.shape.dim]


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({}, "the shape of input `x` is open: ?,3,?,8; give one, as in `--shape x=1,3,224,224`"),
        ({"x": (1, 4, 8, 8)}, "input `x` cannot have the shape 1,4,8,8; the model says ?,3,?,8"),
        ({"x": (0, 3, 8, 8)}, "input `x` cannot have the shape 0,3,8,8; the model says ?,3,?,8"),
        ({"x": (1, 3)}, "input `x` cannot have the shape 1,3; the model says ?,3,?,8"),
        ({"w": (1, 3)}, "has no input `w`; its inputs are `x`"),
    ],
)
def test_open_shapes_are_asked_for(
    shapes: dict[str, tuple[int, ...]], words: str, tmp_path: Path
) -> None:
    place = tmp_path / "model.onnx"
    onnx.save(OPEN, place)
    with pytest.raises(UnfitModelError) as caught:
        propagate(place, "nhwc", shapes=shapes)
    assert str(caught.value).endswith(words)
    assert caught.value.kind == "option"
    found = propagate(place, "nhwc", shapes={"x": (2, 3, 9, 8)})
    assert (found.status, output_shape(found)) == ("done", [2, 20, 7, 6])


def test_negative_extents_are_open_ones(tmp_path: Path) -> None:
    """As exporters write what they do not know."""
    place = tmp_path / "model.onnx"
    onnx.save(NEGATIVE, place)
    with pytest.raises(UnfitModelError, match=r"is open: \?,3,\?,8"):
        propagate(place, "nhwc")
    found = propagate(place, "nhwc", shapes={"x": (2, 3, 9, 8)})
    assert (found.status, output_shape(found)) == ("done", [2, 20, 7, 6])


def test_no_plain_file_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(UnfitModelError, match="is no plain file"):
        propagate("/dev/null", "nhwc")
    with pytest.raises(OSError, match="No such file"):
        propagate(tmp_path / "none.onnx", "nhwc")


def branch(name: str, *nodes: Any) -> Any:
    shape = [1, 20, 6, 6]
    weights = [numpy_helper.from_array(np.float32(2), "two")]
    return helper.make_graph(list(nodes), name, [], [info(nodes[-1].output[0], shape)], weights)


def branches() -> Any:
    """Inner graphs that use values, weights and inputs of the outer one."""
    then = branch("then", node("Mul", "r two", "z"))
    other = branch("else", node("Conv", "x w", "c@NHWC"), node("Add", "c@NHWC r", "y1"))
    nodes = [CONV, node("Relu", "c", "r"), node("ReduceSum", "x", "s", keepdims=0)]
    nodes += [node("Cast", "s", "hot", to=TensorProto.BOOL)]
    nodes += [node("If", "hot", "y", then_branch=then, else_branch=other)]
    nodes += [node("Conv", "y v", "q"), node("Conv", "r v", "p")]
    return model(nodes, [X], [info("q", None), info("p", None), X], W, V)


def own_function() -> Any:
    """A model that has a function of the name that ours would have."""
    opsets = [helper.make_opsetid("", 17)]
    inner = helper.make_function(
        "layoutdsl", "Conv_NHWC", ["a"], ["b"], [node("Abs", "a", "b")], opsets
    )
    call = helper.make_node("Conv_NHWC", ["c"], ["d"], domain="layoutdsl")
    found = model([CONV, call, node("Conv", "d v", "q")], [X], [info("q", None)], W, V)
    found.functions.append(inner)
    found.opset_import.append(helper.make_opsetid("layoutdsl", 1))
    return found


def halves() -> Any:
    tensors = [numpy_helper.to_array(each).astype(np.float16) for each in (W, V)]
    weights = [
        numpy_helper.from_array(each, name) for each, name in zip(tensors, "wv", strict=True)
    ]
    nodes = [CONV, node("Relu", "c", "r"), node("Conv", "r v", "q")]
    ends = [info("x", [1, 3, 8, 8], TensorProto.FLOAT16)], [info("q", None, TensorProto.FLOAT16)]
    return model(nodes, *ends, *weights)


BACK, AND_FORTH = {"perm": [0, 2, 3, 1]}, {"perm": [0, 3, 1, 2]}
ODD: dict[str, Any] = {
    "branches": branches(),
    "own function": own_function(),
    "halves": halves(),
    "outputs of one value": model(
        [
            *(CONV, node("Identity", "c", "i"), node("Transpose", "i", "t", **BACK)),
            node("Transpose", "t", "u", **AND_FORTH),
        ],
        [X],
        [info(each, None) for each in "citu"],
        W,
    ),
    "weights from the caller": model(
        [CONV, node("Conv", "c v", "q")], [X, info("v", [5, 20, 1, 1])], [info("q", None)], W
    ),
    "names like ours": model(
        [
            *(node("Conv", "x w", "c@NHWC"), node("Relu", "c@NHWC", "numbers@0")),
            node("Conv", "numbers@0 v", "x@NHWC"),
        ],
        [X],
        [info("x@NHWC", None)],
        W,
        V,
    ),
    "a mask": model(
        [CONV, node("Dropout", "c", "d m"), node("Conv", "d v", "q")],
        [X],
        [info("q", None), info("m", None, TensorProto.BOOL)],
        W,
        V,
    ),
    "indices": model(
        [CONV, node("MaxPool", "c", "d i", kernel_shape=[2, 2]), node("Conv", "d v", "q")],
        [X],
        [info("q", None), info("i", None, TensorProto.INT64)],
        W,
        V,
    ),
    "a folded output": model(
        [node("Transpose", "w", "t", perm=[1, 0, 2, 3]), node("Relu", "x", "r")],
        [X],
        [info("t", None), info("r", None)],
        W,
    ),
}
KINDS: dict[str, dict[str, Any]] = {
    "nhwc": {"engine": "nhwc"},
    "blocked16": {"engine": "blocked16"},
    "plain": {"engine": "nhwc", "emit": "plain"},
    "onnxruntime": {"engine": "onnxruntime", "emit": "onnxruntime"},
}


def remade(place: Path, kind: str, out: Path | None = None) -> tuple[Any, Any]:
    """What becomes of a model, and what is found when it is run; it is written, too."""
    found = propagate(place, **KINDS[kind])
    onnx.checker.check_model(found.model)
    assert found.theorems.refuted == ()
    if out is not None:
        found.write(out)
    return found.model, found.verified


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", ODD)
def test_odd_models_mean_the_same(case: str, kind: str, tmp_path: Path) -> None:
    place = tmp_path / "model.onnx"
    onnx.save(ODD[case], place)
    proto, seen = remade(place, kind)
    assert seen.faults == ()
    assert [each.name for each in proto.graph.output] == [e.name for e in ODD[case].graph.output]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("opset", "normal"),
    [
        (21, node("GroupNormalization", "c s s", "d", num_groups=4)),
        (13, node("MeanVarianceNormalization", "c", "d")),
        (9, node("MeanVarianceNormalization", "c", "d")),
    ],
    ids=lambda each: getattr(each, "op_type", each),
)
def test_normalisations_of_which_the_package_says_no_shape(
    opset: int, normal: Any, kind: str, tmp_path: Path
) -> None:
    place, behind = tmp_path / "model.onnx", node("Conv", "d v", "y")
    whole = model([CONV, normal, behind], [X], [info("y", None)], W, V, weight("s", 20))
    whole.opset_import[0].version = opset
    onnx.save(whole, place)
    _, seen = remade(place, kind)
    assert (seen.faults, seen.nodes) == ((), 3)


def test_what_came_out_is_planned_again(tmp_path: Path) -> None:
    place = tmp_path / "model.onnx"
    onnx.save(ODD["branches"], place)
    again = tmp_path / "again.onnx"
    remade(place, "blocked16", again)
    _, seen = remade(again, "nhwc")
    assert seen.faults == ()


FOLDS: list[tuple[str, dict[str, Any], list[Any], Any]] = [
    ("Slice", {}, [[1, 2, 3, 4], [-1], [-9], [0], [-2]], [4, 2]),
    ("Div", {}, [[7, -7, 7, -7], [2, 2, -2, -2]], [3, -3, -3, 3]),
    ("Mod", {}, [[7, -7], [3, 3]], [1, 2]),
    ("Range", {}, [2, 9, 3], [2, 5, 8]),
    ("ReduceProd", {"keepdims": 0}, [[2, 3, 4]], 24),
    ("Concat", {"axis": 0}, [[1], [2, 3]], [1, 2, 3]),
    ("Gather", {"axis": 0}, [[5, 6, 7], -1], 7),
    ("Expand", {}, [[1], [3]], [1, 1, 1]),
    ("Reshape", {}, [[1, 2, 3, 4], [2, -1]], [[1, 2], [3, 4]]),
    ("Where", {}, [[True, False], [1, 2], [3, 4]], [1, 4]),
    ("Squeeze", {}, [[[5]], [0]], [5]),
    ("Max", {}, [[1, 5], [3, 3]], [3, 5]),
]


@pytest.mark.parametrize(("operator", "said", "operands", "expected"), FOLDS)
def test_what_is_known_beforehand_is_computed(
    operator: str, said: dict[str, Any], operands: list[Any], expected: Any, tmp_path: Path
) -> None:
    """What an operator makes of constants is a constant in the model that is written."""
    arrays = [np.array(each, bool if each == [True, False] else np.int64) for each in operands]
    names = [f"x{number}" for number in range(len(arrays))]
    weights = [numpy_helper.from_array(a, name) for a, name in zip(arrays, names, strict=True)]
    made = [node(operator, " ".join(names), "k", **said), node("Relu", "x", "r")]
    ends = [info("k", None, TensorProto.INT64), info("r", None)]
    whole = model(made, [X], ends, *weights)
    onnx.save(whole, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "nhwc")
    assert found.status == "done"
    assert operator not in {each.op_type for each in found.model.graph.node}
    feeds = {"x": np.ones((1, 3, 8, 8), "f4")}
    assert run(found.model, feeds)[0].tolist() == expected
    assert np.array_equal(run(whole, feeds)[0], expected)


STAYS: dict[str, tuple[Any, list[Any]]] = {
    "not known": (node("Div", "x two", "k"), [numpy_helper.from_array(np.float32(2), "two")]),
    "drawn at random": (node("RandomNormal", "", "k", shape=[2, 3]), []),
    "large": (
        node("ConstantOfShape", "s", "k"),
        [numpy_helper.from_array(np.array([1 << 18, 1 << 17]), "s")],
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_what_cannot_be_computed_stays(case: str, tmp_path: Path) -> None:
    made, weights = STAYS[case]
    whole = model([made, node("Relu", "x", "r")], [X], [info("k", None), info("r", None)], *weights)
    onnx.save(whole, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "nhwc", verify="off")
    assert made.op_type in {each.op_type for each in found.model.graph.node}
