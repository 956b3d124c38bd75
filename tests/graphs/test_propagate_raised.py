"""Models of opsets before 13: what the package onnx makes of them means the same, or is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("scipy")

from onnx import version_converter  # noqa: E402
from onnx_runs import run  # noqa: E402
from small_graphs import proto  # noqa: E402

from layoutdsl import UnfitModelError, propagate  # noqa: E402

RESIZED = (
    *((version, 'Upsample<mode="linear"', "2.0, 3.0") for version in (7, 9)),
    *((10, f'Resize<mode="{mode}"', "2.0, 1.5") for mode in ("nearest", "linear")),
    (10, 'Resize<mode="linear"', "1.5, 0.7"),
)


@pytest.mark.parametrize(("version", "head", "scales"), RESIZED)
def test_resizing_reads_where_it_did(version: int, head: str, scales: str, tmp_path: Path) -> None:
    inside = f", scales=[1.0, 1.0, {scales}]>(c)" if version == 7 else ">(c, u)"
    model = proto("c = Conv(x, w)\ny = Identity(c)", x=[1, 3, 4, 6], w=(5, 3, 1, 1))
    model.graph.node[1].CopyFrom(onnx.parser.parse_node(f"y = {head}{inside}"))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    if version > 7:
        numbers = np.array([1, 1, *map(float, scales.split(","))], "f4")
        model.graph.initializer.append(onnx.numpy_helper.from_array(numbers, "u"))
    model.opset_import[0].version = version
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "nhwc")
    assert found.status == "done"
    found.write(tmp_path / "out.onnx")
    given = {"x": np.random.default_rng(0).standard_normal((1, 3, 4, 6)).astype("f4")}
    (theirs,), (ours,) = run(model, given), run(onnx.load(tmp_path / "out.onnx"), given)
    assert np.allclose(theirs, ours, 1e-4, 1e-5)


def test_a_hardmax_of_several_axes_is_refused(tmp_path: Path) -> None:
    model = proto("y = Hardmax(x)", x=[1, 3, 4, 6])
    model.opset_import[0].version = 12
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="Hardmax takes several axes for one"):
        propagate(tmp_path / "model.onnx", "nhwc")


def test_a_model_whose_inputs_would_have_other_axes_is_refused(tmp_path: Path) -> None:
    """`Scan` has a batch of its own in opset 8 alone, and who raises it takes it from the input."""
    text = """
        <ir_version: 8, opset_import: ["" : 8]>
        g (float[1,2] a, float[1,3,2] x) => (float[1,2] y, float[1,3,2] z) {
            y, z = Scan<num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t,
                float[2] o) { t = Add(s, e) o = Identity(t) }>( , a, x)
        }
    """
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="raised to 13 `a` has other axes"):
        propagate(tmp_path / "model.onnx", "nhwc")


def test_a_smaller_resize_to_the_nearest_is_refused(tmp_path: Path) -> None:
    """onnxruntime rounds up there, and opset 10 says nothing."""
    model = proto("y = Resize(x, u)", x=[1, 3, 4, 6], u=np.array([1, 1, 1.5, 0.7], "f4"))
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    model.opset_import[0].version = 10
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="which element a smaller Resize takes"):
        propagate(tmp_path / "model.onnx", "nhwc")


def text_of(mode: str, scales: str) -> str:
    """A model of opset 10 that resizes in the branches of an `If`; scales `v` are worked out."""
    resized = f'Resize<mode="{mode}">(c, {scales})'
    return f"""
        <ir_version: 8, opset_import: ["" : 10]>
        g (bool b, float[1,3,4,6] x) => (float[n,c,h,w] y)
            <float[5,3,1,1] k, float[4] u = {{1,1,2,1.5}}> {{
            c = Conv(x, k)
            v = Abs(u)
            y = If(b) <then_branch = one () => (float[n,c,h,w] p) {{ p = {resized} }},
                else_branch = other () => (float[n,c,h,w] q) {{ q = {resized} }}>
        }}
    """


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_resizing_inside_of_a_branch_reads_where_it_did(mode: str, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(text_of(mode, "u"))
    numbers = np.random.default_rng(1).standard_normal((5, 3, 1, 1)).astype("f4")
    model.graph.initializer.append(onnx.numpy_helper.from_array(numbers, "k"))
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "nhwc")
    found.write(tmp_path / "out.onnx")
    data = np.random.default_rng(0).standard_normal((1, 3, 4, 6)).astype("f4")
    for chosen in (True, False):
        given = {"b": np.array(chosen), "x": data}
        (theirs,), (ours,) = run(model, given), run(onnx.load(tmp_path / "out.onnx"), given)
        assert np.allclose(theirs, ours, 1e-4, 1e-5)


def test_scales_that_nobody_knows_may_leave_out_elements(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(text_of("nearest", "v"))
    numbers = np.ones((5, 3, 1, 1), "f4")
    model.graph.initializer.append(onnx.numpy_helper.from_array(numbers, "k"))
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="which element a smaller Resize takes"):
        propagate(tmp_path / "model.onnx", "nhwc")


def test_a_model_that_was_raised_to_another_one_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is compared with a run of the model as it was written.

    The package onnx raises it here to a model that doubles what it makes.
    """
    convert = version_converter.convert_version

    def doubled(model: Any, opset: int) -> Any:
        found = convert(model, opset)
        last = found.graph.node[-1]
        last.output[0] = "half"
        found.graph.node.append(onnx.helper.make_node("Add", ["half", "half"], ["y"]))
        return found

    monkeypatch.setattr(version_converter, "convert_version", doubled)
    model = proto("c = Conv(x, w)\ny = Identity(c)", x=[1, 3, 4, 6], w=(5, 3, 1, 1))
    head = 'y = Upsample<mode="linear", scales=[1.0, 1.0, 2.0, 3.0]>(c)'
    model.graph.node[1].CopyFrom(onnx.parser.parse_node(head))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.opset_import[0].version = 7
    del model.graph.value_info[:]
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "nhwc")
    assert found.status == "refuted"
    assert found.verified is not None
    assert "outputs of the whole differ" in found.verified.faults[0]


def added(extent: int, attributes: str) -> str:
    """A model of opset 6 that adds numbers to channels."""
    return f"""
        <ir_version: 8, opset_import: ["" : 6]>
        g (float[1,3,4,6] x, float[{extent}] k) => (float[1,3,4,6] y) {{
            y = Add<broadcast = 1{attributes}>(x, k)
        }}
    """


def test_a_model_that_nothing_runs_as_it_is_written_stays_open(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(added(1, ""))
    onnx.save(model, tmp_path / "model.onnx")
    found = propagate(tmp_path / "model.onnx", "nhwc")
    assert (found.status, found.verified.faults) == ("open", ())  # type: ignore[union-attr]
    (unrun,) = found.verified.unrun  # type: ignore[union-attr]
    assert "nothing here runs the model as it is written, of opset 6" in unrun


def test_operands_that_an_axis_aligns_are_refused(tmp_path: Path) -> None:
    """Who raises them gives the second one an axis too many, which may fit all the same."""
    onnx.save(onnx.parser.parse_model(added(3, ", axis = 1")), tmp_path / "model.onnx")
    with pytest.raises(UnfitModelError, match="which axes two operands have in common"):
        propagate(tmp_path / "model.onnx", "nhwc")
