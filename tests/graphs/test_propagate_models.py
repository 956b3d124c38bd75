"""Real graphs: how many transforms are left, and that no plan leaves less."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import SMALL, light

from layoutdsl import load_engine, propagate

onnx = pytest.importorskip("onnx", exc_type=ImportError)
pytest.importorskip("scipy", exc_type=ImportError)

LEFT = {
    # model: transforms and bytes with channels last, and in blocks of 16
    "light_densenet121": ((1, 1_204_224), (1, 8_000)),
    "light_inception_v2": ((1, 1_204_224), (0, 0)),
    "light_shufflenet": ((17, 11_477_760), (33, 18_182_528)),
    "light_squeezenet": ((1, 1_204_224), (1, 8_000)),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def placed(folder: Path, name: str) -> Path:
    place = folder / f"{name}.onnx"
    if not place.exists():
        onnx.save(light(name), place)
    return place


LARGER = ("light_densenet121", "light_inception_v2")


@pytest.mark.ci(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] * (each in LARGER)) for each in SMALL]
)
def test_what_is_left_to_move(folder: Path, name: str) -> None:
    for engine, expected in zip(("nhwc", "blocked16"), LEFT[name], strict=True):
        found = propagate(placed(folder, name), engine, verify="off")
        assert (found.figures.planned.count, found.figures.planned.bytes) == expected
        assert found.figures.minimal
        assert found.status == "done"


@pytest.mark.slow
def test_an_image_that_is_given_with_channels_last(folder: Path) -> None:
    place = placed(folder, "light_shufflenet")
    found = propagate(place, "nhwc", inputs={"gpu_0/data_0": "NHWC"}, verify="off")
    assert found.figures.planned.count == 16


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("engine", ["nhwc", "blocked16"])
def test_models_run_as_they_did(folder: Path, name: str, engine: str) -> None:
    found = propagate(placed(folder, name), engine)
    assert found.status == "done"
    assert found.verified is not None
    assert found.verified.worst <= 1e-6
    assert found.verified.sensitivity > found.verified.outputs


OCR = {
    # the models of rapidocr_onnxruntime 1.4: shape, and what is left as above
    "ch_PP-OCRv4_det_infer": ((1, 3, 640, 640), (1, 9_830_400), (11, 31_923_392)),
    "ch_ppocr_mobile_v2.0_cls_infer": ((1, 3, 48, 192), (1, 221_184), (10, 368_960)),
    "ch_PP-OCRv4_rec_infer": ((1, 3, 48, 320), (9, 675_840), (11, 423_680)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OCR)
def test_what_is_left_to_move_in_models_of_a_package(name: str) -> None:
    package = find_spec("rapidocr_onnxruntime")
    if package is None or package.origin is None:
        pytest.skip("the package rapidocr_onnxruntime is not installed")
    place = Path(package.origin).parent / f"models/{name}.onnx"
    shape, *expected = OCR[name]
    for engine, left in zip(("nhwc", "blocked16"), expected, strict=True):
        found = propagate(place, engine, shapes={"x": shape}, verify="off")
        assert (found.figures.planned.count, found.figures.planned.bytes) == left
        assert found.figures.minimal


# An operator that nobody has heard of, by one line of text.

UPSCALE = """
rule com.acme::Upscale(x[n, c, s..: window]) -> [n, c, s..]
prefer Conv = NHWC
"""


def with_upscale() -> Any:
    """Conv, an operator of somebody's own, Conv; what comes out of it says its shape."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    drawn = np.random.default_rng(1)
    weights = [
        onnx.numpy_helper.from_array(drawn.standard_normal(shape).astype(np.float32), name)
        for name, shape in (("v", (20, 3, 3, 3)), ("w", (6, 20, 1, 1)))
    ]
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Upscale", ["a"], ["b"], domain="com.acme", factor=2),
        helper.make_node("Conv", ["b", "w"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, kind, shape)
        for name, shape in (("x", [1, 3, 4, 5]), ("y", [1, 6, 8, 10]), ("b", [1, 20, 8, 10]))
    ]
    graph = helper.make_graph(nodes, "upscaled", ends[:1], ends[1:2], weights, value_info=ends[2:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def test_a_new_operator_is_a_line_of_text(tmp_path: Path) -> None:
    place = tmp_path / "upscaled.onnx"
    onnx.save(with_upscale(), place)
    alone = propagate(place, prefer={"Conv": "NHWC"}, verify="off")
    assert alone.figures.planned.count == 4
    assert [(gap.operator, gap.bytes > 0) for gap in alone.figures.gaps] == [
        ("com.acme::Upscale", True)
    ]
    known = propagate(place, load_engine(UPSCALE), verify="off")
    assert known.figures.planned.count == 2
    assert not known.figures.gaps
    made = [(each.domain, each.op_type) for each in known.model.graph.node]
    assert [name for _, name in made if "Upscale" in name] == ["com.acme_Upscale_NHWC"]
