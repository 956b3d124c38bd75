"""Models that are legal and strange: functions of their own, names twice, numbers nobody runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx_runs import run  # noqa: E402
from small_graphs import proto  # noqa: E402

from layoutdsl import OccupiedError, UnfitModelError, check_model, load_engine, propagate  # noqa: E402

helper, TO = onnx.helper, onnx.TensorProto
CONV = "c = Conv<pads=[1,1,1,1]>(x, w)\n"
NUMBERS: dict[str, Any] = {"x": [1, 3, 6, 5], "w": (20, 3, 3, 3)}
TARGETS: dict[str, dict[str, Any]] = {
    "NHWC": {"engine": "nhwc"},
    "NCHW16c": {"engine": "blocked16"},
    "plain": {"prefer": {"Conv": "NCHW"}, "emit": "plain"},
    "onnxruntime": {"engine": "onnxruntime", "emit": "onnxruntime"},
}


def saved(model: Any, folder: Path) -> Path:
    del model.graph.value_info[:]
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def with_blocks(*nodes: Any) -> Any:
    """A network of calls of one function, and what else is named."""
    inner = [
        helper.make_node("Conv", ["a", "k"], ["q"], pads=[1, 1, 1, 1]),
        helper.make_node("LeakyRelu", ["q"], ["o"]),
    ]
    inner[1].attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=1))
    block = helper.make_function(
        "my", "Block", ["a", "k"], ["o"], inner, [helper.make_opsetid("", 17)], ["slope"]
    )
    model = proto("y = Relu(x)", x=[1, 3, 6, 5], w=(20, 3, 3, 3), v=(20, 20, 3, 3))
    del model.graph.node[:], model.graph.output[:]
    model.graph.node.extend(nodes)
    model.graph.output.append(helper.make_tensor_value_info("y", TO.FLOAT, [1, 20, 6, 5]))
    model.opset_import.append(helper.make_opsetid("my", 1))
    model.functions.append(block)
    return model


def blocks() -> Any:
    return with_blocks(
        helper.make_node("Block", ["x", "w"], ["c"], domain="my", slope=0.3),
        helper.make_node("Block", ["c", "v"], ["y"], domain="my", slope=0.1),
    )


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_in_functions_is_planned_too(target: str, tmp_path: Path) -> None:
    model, out = blocks(), tmp_path / "out.onnx"
    place = saved(model, tmp_path)
    found = propagate(place, **TARGETS[target])
    assert found.status == "done"
    assert [each.operator for each in found.source.graph.nodes] == ["Conv", "LeakyRelu"] * 2
    assert found.figures.gaps == ()
    found.write(out)
    assert check_model(out, place).faults == ()
    given = {"x": np.random.default_rng(3).standard_normal((1, 3, 6, 5)).astype("f4")}
    for one, other in zip(run(model, given), run(onnx.load(out), given), strict=True):
        assert np.allclose(one, other, 1e-4, 1e-5)


@pytest.mark.parametrize(
    ("opset", "text", "operators"),
    [
        (17, "o = Relu(a)", ["Relu"]),
        (13, "o = HardSigmoid(a)", ["HardSigmoid"]),
        (14, "o = Relu(a)", ["Relu"]),
        (17, "m = Neg(a)\no = Sub(a, m)", ["Neg", "Sub"]),
    ],
)
def test_functions_of_an_older_opset(
    opset: int, text: str, operators: list[str], tmp_path: Path
) -> None:
    """Those whose operators are others now are no valid model."""
    model = with_blocks(helper.make_node("Old", ["x"], ["y"], domain="my"))
    del model.functions[:], model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("y", TO.FLOAT, [1, 3, 6, 5]))
    inner = onnx.parser.parse_graph(f"old (float[1] a) => (float[1] o) {{ {text} }}").node
    model.functions.append(
        helper.make_function("my", "Old", ["a"], ["o"], inner, [helper.make_opsetid("", opset)])
    )
    place, out = saved(model, tmp_path), tmp_path / "out.onnx"
    found = propagate(place, "nhwc")
    assert found.status == "done"
    own = [each.operator for each in found.source.graph.nodes]
    assert own == operators
    found.write(out)
    assert check_model(out, place).faults == ()


def test_a_function_that_a_text_speaks_of_stays_one(tmp_path: Path) -> None:
    engine = load_engine(
        "rule my::Block(a[n, c: sum, h: window, w: window], k[o, c: sum, i, j]) -> [n, o, h, w]\n"
        "prefer my::Block = NHWC"
    )
    place, out = saved(blocks(), tmp_path), tmp_path / "out.onnx"
    found = propagate(place, engine)
    assert found.status == "done"
    assert [each.operator for each in found.source.graph.nodes] == ["my::Block"] * 2
    assert [each.value for each in found.transforms] == ["x", "y"]
    found.write(out)
    assert check_model(out, place).faults == ()


def test_what_came_out_can_be_planned_again(tmp_path: Path) -> None:
    """Its functions are put in their places, and moves that need not be are gone."""
    place = saved(proto(CONV + "y = Relu(c)", **NUMBERS), tmp_path)
    propagate(place, "blocked16").write(tmp_path / "blocked.onnx")
    found = propagate(tmp_path / "blocked.onnx", prefer={"Conv": "NCHW"}, emit="plain")
    assert found.status == "done"
    assert all(each.domain == "" for each in found.model.graph.node)
    given = {"x": np.random.default_rng(3).standard_normal((1, 3, 6, 5)).astype("f4")}
    one, other = (run(each, given) for each in (onnx.load(place), found.model))
    assert np.allclose(one[0], other[0], 1e-4, 1e-5)


def test_functions_that_call_each_other_are_refused(tmp_path: Path) -> None:
    model = blocks()
    model.functions[0].opset_import.append(helper.make_opsetid("my", 1))
    model.functions[0].node[1].CopyFrom(helper.make_node("Block", ["q", "k"], ["o"], domain="my"))
    with pytest.raises(UnfitModelError):
        propagate(saved(model, tmp_path), "nhwc")


@pytest.mark.slow
def test_nodes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    model = proto(CONV + "a = Relu(c)\nb = Neg(a)\nd = Abs(b)\ny = Conv(d, v)", **NUMBERS,
                  v=(4, 20, 1, 1))  # fmt: skip
    for node, name in zip(model.graph.node, ("n", "n", "n_2", "", "n"), strict=True):
        node.name = name
    place, out = saved(model, tmp_path), tmp_path / "out.onnx"
    for how in TARGETS.values():
        found = propagate(place, **how)
        assert found.status == "done"
        names = [each.name for each in found.source.graph.nodes]
        assert names == ["n", "n_3", "n_2", "", "n_4"]
        found.write(out)
        assert check_model(out, place).faults == ()


def of_type(kind: int, *, text: str = "y = Relu(c)") -> Any:
    """A network whose numbers are of another type."""
    model = proto(CONV + text, **NUMBERS)
    for each in (*model.graph.input, *model.graph.output):
        each.type.tensor_type.elem_type = kind
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor).reshape(-1).tolist()
        tensor.CopyFrom(helper.make_tensor(tensor.name, kind, tensor.dims, values))
    model.opset_import[0].version, model.ir_version = 22, 10
    return model


def with_input(kind: Any, text: str) -> Any:
    model = proto(CONV + text, **NUMBERS)
    model.graph.input.append(helper.make_value_info("o", kind))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TO.FLOAT, [1, 20, 6, 5]))
    return model


PICTURE = helper.make_tensor_type_proto(TO.FLOAT, [1, 20, 6, 5])
UNRUN = {
    "nothing here runs Conv of float64": of_type(TO.DOUBLE),
    "nothing here runs Conv of bfloat16": of_type(TO.BFLOAT16),
    "RandomNormalLike makes other numbers each time": proto(
        CONV + "r = RandomNormalLike(c)\ny = Add(c, r)", **NUMBERS
    ),
    "OptionalGetElement takes `o`, which is no tensor of numbers": with_input(
        helper.make_optional_type_proto(PICTURE), "g = OptionalGetElement(o)\ny = Add(g, c)"
    ),
    "SequenceAt takes `o`, which is no tensor of numbers": with_input(
        helper.make_sequence_type_proto(PICTURE),
        "i = Constant<value_int=0>()\ng = SequenceAt(o, i)\ny = Add(g, c)",
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", UNRUN)
@pytest.mark.parametrize("target", ["NHWC", "plain"])
def test_what_nobody_runs_is_said_and_written(words: str, target: str, tmp_path: Path) -> None:
    place, out = saved(UNRUN[words], tmp_path), tmp_path / "out.onnx"
    found = propagate(place, **TARGETS[target])
    assert found.verified is not None
    assert words in found.verified.unrun
    assert (found.status, found.verified.faults) == ("open", ())
    found.write(out)
    assert check_model(out, place).faults == ()


@pytest.mark.parametrize("target", TARGETS)
def test_weights_that_are_made_when_it_is_run(target: str, tmp_path: Path) -> None:
    """Padding of blocked weights, and of what is added, has to be 0 for that of results to be."""
    text = "v = Add(w, s)\nb = Exp(t)\nc = Conv<pads=[1,1,1,1]>(x, v, b)\ny = Exp(c)"
    model = proto(text, **NUMBERS, s=[1], t=[20])
    place, out = saved(model, tmp_path), tmp_path / "out.onnx"
    found = propagate(place, **TARGETS[target])
    assert found.verified is not None
    assert (found.status, found.verified.faults) == ("done", ())
    found.write(out)
    assert check_model(out, place).faults == ()


def test_weights_that_a_model_is_read_from_are_not_replaced(tmp_path: Path) -> None:
    """Neither by what comes out of it, nor by what would lie beside that, nor by a link."""
    model = proto(CONV + "y = Relu(c)", **NUMBERS)
    del model.graph.value_info[:]
    place, data = tmp_path / "model.onnx", tmp_path / "out.onnx.data"
    onnx.save(model, place, save_as_external_data=True, location="out.onnx.data", size_threshold=0)
    before = data.read_bytes()
    (tmp_path / "link.onnx").symlink_to(data)
    found = propagate(place, "nhwc")
    assert found.status == "done"
    for name in ("out.onnx.data", "link.onnx", "out.onnx", "model.onnx"):
        with pytest.raises(OccupiedError, match="holds the model that was planned, or weights"):
            found.write(tmp_path / name)
    assert data.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "link.onnx",
        "model.onnx",
        "out.onnx.data",
    ]
    found.write(tmp_path / "other.onnx")
    assert check_model(tmp_path / "other.onnx", place).faults == ()


def test_a_picture_that_is_too_large_is_planned(tmp_path: Path) -> None:
    """Nothing goes through the elements of an axis one by one."""
    model = proto(CONV + "y = Relu(c)", **NUMBERS)
    model.graph.input[0].type.tensor_type.shape.dim[2].Clear()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    shapes = {"x": (1, 3, 10**11, 5)}
    found = propagate(saved(model, tmp_path), "nhwc", shapes=shapes, verify="off")
    assert (found.status, len(found.transforms)) == ("open", 2)
    assert found.plan.cost - 10 < found.plan.bound <= found.plan.cost  # of 2**56


def around_a_body() -> Any:
    """What a graph inside of a node uses is an output, too, and so is an input that it uses."""
    model = proto(CONV + "v = Transpose<perm=[0,2,3,1]>(c)\ny = Relu(v)", **NUMBERS)
    value = helper.make_tensor_value_info("v", TO.FLOAT, [1, 6, 5, 20])
    ends = [helper.make_empty_tensor_value_info(each) for each in "te"]
    bodies = [
        helper.make_graph([helper.make_node("Neg", ["v"], ["t"])], "one", [], ends[:1]),
        helper.make_graph([helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
                           helper.make_node("Mul", ["v", "m"], ["e"])], "two", [], ends[1:]),
    ]  # fmt: skip
    nodes = [
        helper.make_node("ReduceMax", ["v"], ["r"], keepdims=0),
        helper.make_node("Cast", ["r"], ["b"], to=TO.BOOL),
        helper.make_node("If", ["b"], ["i"], then_branch=bodies[0], else_branch=bodies[1]),
    ]
    model.graph.node.extend(nodes)
    model.graph.output.extend([value, helper.make_tensor_value_info("i", TO.FLOAT, [1, 6, 5, 20])])
    return model


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
def test_what_a_graph_inside_uses_may_be_an_output(target: str, tmp_path: Path) -> None:
    model = around_a_body()
    place, out = saved(model, tmp_path), tmp_path / "out.onnx"
    found = propagate(place, **TARGETS[target])
    assert found.verified is not None
    assert (found.status, found.verified.faults) == ("done", ())
    found.write(out)
    assert check_model(out, place).faults == ()
    given = {"x": np.random.default_rng(3).standard_normal((1, 3, 6, 5)).astype("f4")}
    for one, other in zip(run(model, given), run(onnx.load(out), given), strict=True):
        assert np.allclose(one, other, 1e-4, 1e-5)


@pytest.mark.parametrize("asked", [{"inputs": {"x": "NHWC"}}, {"outputs": {"v": "NCHW16c"}}])
def test_what_a_graph_inside_uses_is_as_written(asked: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is used by a graph inside of a node"):
        propagate(saved(around_a_body(), tmp_path), "nhwc", **asked)


SECOND_ORDER = 28
"""The opset since which `SpaceToDepth` has a mode."""

VIEWS = (
    "SpaceToDepth<blocksize=2>(k)",
    "DepthToSpace<blocksize=2>(k)",
    'DepthToSpace<blocksize=2, mode="CRD">(k)',
    "Transpose<perm=[0,1,3,2]>(k)",
    "Flatten(k)",
)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_view_of_what_is_known_is_known(target: str, view: str, tmp_path: Path) -> None:
    """Or the weight that it becomes would be none of the model's."""
    model = proto(f"{CONV}v = {view}\ny = Relu(c)\nz = LogSoftmax(v)", **NUMBERS, k=(1, 8, 4, 6))
    model.graph.output.append(helper.make_tensor_value_info("z", TO.FLOAT, None))
    place, out = saved(model, tmp_path), tmp_path / "out.onnx"
    found = propagate(place, **TARGETS[target])
    assert (found.status, found.source.graph.constants.get("v") is None) == ("done", False)
    found.write(out)
    assert check_model(out, place).faults == ()
    given = {"x": np.random.default_rng(3).standard_normal((1, 3, 6, 5)).astype("f4")}
    for one, other in zip(run(onnx.load(place), given), run(onnx.load(out), given), strict=True):
        assert np.allclose(one, other, 1e-4, 1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
def test_space_to_depth_has_two_orders(target: str, tmp_path: Path) -> None:
    """Since opset 28, of a weight and of what is worked out."""
    from onnx.reference import ReferenceEvaluator

    if onnx.defs.onnx_opset_version() < SECOND_ORDER:
        pytest.skip("this package of onnx has one order")
    spaced = 'SpaceToDepth<blocksize=2, mode="CRD">'
    model = proto(f"{CONV}v = {spaced}(c)\nt = {spaced}(k)\ny = Relu(v)\nz = LogSoftmax(t)",
                  x=[1, 3, 6, 4], w=(20, 3, 1, 1), k=(1, 8, 4, 6))  # fmt: skip
    model.graph.output.append(helper.make_tensor_value_info("z", TO.FLOAT, None))
    model.opset_import[0].version, model.ir_version = SECOND_ORDER, 10
    given = {"x": np.random.default_rng(3).standard_normal((1, 3, 6, 4)).astype("f4")}
    try:
        theirs = run(model, given)
    except Exception as error:  # whatever C++ threw: an onnxruntime that is older
        pytest.skip(str(error))
    found = propagate(saved(model, tmp_path), **TARGETS[target], verify="off")
    found.write(tmp_path / "out.onnx")
    expected: Any = ReferenceEvaluator(model).run(None, given)
    for one, other in zip(expected, theirs, strict=True):
        assert np.allclose(one, other, 1e-4, 1e-5)
    for one, other in zip(expected, run(onnx.load(tmp_path / "out.onnx"), given), strict=True):
        assert np.allclose(one, other, 1e-4, 1e-5)


@pytest.mark.parametrize("number", [-np.inf, np.nan, 0.5])
def test_a_constant_operand_may_be_no_whole_number(number: float, tmp_path: Path) -> None:
    """As masks of attention are; conditions of rules speak of whole ones."""
    model = proto(f"{CONV}d = CastLike(c, k)\ny = Relu(d)", **NUMBERS, k=np.array(number, "f4"))
    assert propagate(saved(model, tmp_path), "nhwc").status == "done"
