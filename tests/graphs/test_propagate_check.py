"""What was planned, checked again without a planner; and whatever is changed is noticed."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import ended

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")

from small_graphs import proto  # noqa: E402
from small_models import written  # noqa: E402

import layoutdsl  # noqa: E402
from layoutdsl import UnfitModelError, check_model, load_engine, parse, propagate  # noqa: E402

KEY = "layoutdsl.certificate"
"""The entry of a model's metadata that says how it was planned."""

PLANS: dict[str, dict[str, Any]] = {
    "NHWC": {"prefer": {"Conv": "NHWC"}},
    "NCHW16c": {"engine": "blocked16"},
    "NCHW8c": {"prefer": {"Conv": "NCHWc<8>"}, "inputs": {"x": "NHWC"}},
    "plain": {"prefer": {"Conv": "NCHW"}, "emit": "plain"},
}


@pytest.fixture(scope="module", params=PLANS)
def planned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and what became of it."""
    folder = tmp_path_factory.mktemp(request.param)
    model = written(folder)
    found = propagate(model, verify="off", **PLANS[request.param])
    found.write(folder / "out.onnx")
    return folder


@pytest.mark.sampled(2)
def test_what_was_written_holds(planned: Path) -> None:
    found = check_model(planned / "out.onnx", planned / "model.onnx")
    assert found.faults == ()
    assert found.holds
    assert found.bound == found.cost


def test_another_model_is_not_what_was_planned(planned: Path) -> None:
    other = written(planned, "other.onnx", between="Tanh")
    assert not check_model(planned / "out.onnx", other).holds


def bit(model: Any) -> None:
    """Of the largest weight."""
    tensor = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    data = bytearray(tensor.raw_data)
    data[len(data) // 2] ^= 1
    tensor.raw_data = bytes(data)


def shape(model: Any) -> None:
    tensor = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    tensor.dims.append(1)


def fewer(model: Any) -> None:
    del model.graph.initializer[0]


def twice(model: Any) -> None:
    model.graph.initializer.append(model.graph.initializer[0])


def more(model: Any) -> None:
    tensor = onnx.numpy_helper.from_array(np.zeros(300, "f4"), "more")
    model.graph.initializer.append(tensor)


def attribute(model: Any) -> None:
    owner = next(each for each in model.graph.node if "Conv" in each.op_type)
    pads = next(each for each in owner.attribute if each.name == "pads")
    pads.ints[0] += 1


def operator(model: Any) -> None:
    next(each for each in model.graph.node if each.op_type == "Relu").op_type = "Abs"


def operand(model: Any) -> None:
    owner = next(each for each in model.graph.node if each.op_type == "Add")
    owner.input[0], owner.input[1] = owner.input[1], owner.input[0]


def order(model: Any) -> None:
    model.graph.node.insert(0, model.graph.node.pop())


def body(model: Any) -> None:
    """Of a function; of a model that has none, the newest operators that it may use."""
    if not model.functions:
        model.opset_import[0].version += 1
        return
    last = model.functions[0].node[-1]
    last.op_type = "Identity" if last.op_type != "Identity" else "Neg"


def layout(model: Any) -> None:
    model.graph.node[0].metadata_props[0].value = "[d3, d2, d1, d0]"


def lane(model: Any) -> None:
    """What padding is said to hold; of a model that has none, some is said to."""
    said = [each for node in model.graph.node for each in node.metadata_props]
    entry = next((each for each in said if each.key == "layoutdsl.lane"), said[0])
    entry.key, entry.value = "layoutdsl.lane", "7"


def output(model: Any) -> None:
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value += 1


def given(model: Any) -> None:
    """An input that is a weight, too: the caller could give another one."""
    tensor = max(model.graph.initializer, key=lambda each: len(each.raw_data))
    model.graph.input.append(
        onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "change",
    [
        bit,
        shape,
        fewer,
        twice,
        more,
        attribute,
        operator,
        operand,
        order,
        body,
        layout,
        lane,
        output,
        given,
    ],
)
def test_a_model_that_was_changed_is_refused(
    planned: Path, change: Callable[[Any], None], tmp_path: Path
) -> None:
    model = onnx.load(planned / "out.onnx")
    change(model)
    place = tmp_path / "changed.onnx"
    place.write_bytes(model.SerializeToString())
    try:
        found = check_model(place, planned / "model.onnx")
    except UnfitModelError:
        return
    assert found.faults


def dearer(said: dict[str, Any]) -> None:
    said["cost"] += 1


def cheaper(said: dict[str, Any]) -> None:
    said["cost"] = 0 if said["cost"] else -1


def rows(said: dict[str, Any]) -> None:
    said["rows"] += 1


def scale(said: dict[str, Any]) -> None:
    said["scale"] = 0


def dual(said: dict[str, Any]) -> None:
    """An inequality with a number above 0."""
    said["dual"][str(said["rows"] - 1)] = 1


def bound(said: dict[str, Any]) -> None:
    """More than the plan costs."""
    said["dual"]["0"] = said["dual"].get("0", 0) + 1


def chosen(said: dict[str, Any]) -> None:
    said["chosen"][0] = 99


def another(said: dict[str, Any]) -> None:
    """A way to run a node that is there, and was not taken."""
    said["chosen"][1] = 1 - said["chosen"][1]


def rules(said: dict[str, Any]) -> None:
    said["rules"] = "0" * 64


def engine(said: dict[str, Any]) -> None:
    said["engine"] = "prefer Relu = NHWC"


def nonsense(said: dict[str, Any]) -> None:
    said["engine"] = "prefer Nothing = Nowhere"


def key(said: dict[str, Any]) -> None:
    del said["rules"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "change",
    [dearer, cheaper, rows, scale, dual, bound, chosen, another, rules, engine, nonsense, key],
)
def test_a_certificate_that_was_changed_is_refused(
    planned: Path, change: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    model = onnx.load(planned / "out.onnx")
    entry = next(each for each in model.metadata_props if each.key == KEY)
    said = json.loads(entry.value)
    change(said)
    entry.value = json.dumps(said, sort_keys=True)
    place = tmp_path / "changed.onnx"
    place.write_bytes(model.SerializeToString())
    assert check_model(place, planned / "model.onnx").faults


def test_a_file_is_what_the_package_would_write(tmp_path: Path) -> None:
    found = propagate(written(tmp_path), "blocked16", verify="off")
    found.write(tmp_path / "out.onnx")
    assert onnx.load(tmp_path / "out.onnx") == found.model


def drawn_digits(chance: random.Random, axes: str) -> str:
    """Coordinates of a layout: some axes in blocks, all of it in any order."""
    found = list[str]()
    for axis in axes:
        block = chance.choice((1, 2, 3, 8))
        found += [axis] if block == 1 else [f"{axis}/{block}", f"{axis}%{block}"]
    chance.shuffle(found)
    return ", ".join(found)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(6))
def test_weights_lie_as_their_layouts_say(seed: int, tmp_path: Path) -> None:
    """Packed by the layout alone, a weight has the bytes that stand in the model."""
    chance, place = random.Random(seed), tmp_path / "model.onnx"
    text = f"""
        layout W(o, i, h, w) = [{drawn_digits(chance, "oihw")}] fill 0
        layout V(o) = [{drawn_digits(chance, "o")}] fill 0
    """
    layouts = parse(text)
    text += "op Conv(x: NCHW, w: W, b: V) -> NCHW16c\nprefer Conv = NCHW16c"
    weights = {"w": (chance.randint(2, 33), 5, 3, 2)}
    onnx.save(proto("y = Conv(x, w, b)", x=[1, 5, 6, 7], **weights, b=weights["w"][:1]), place)
    found = propagate(place, load_engine(text), verify="off")
    found.write(tmp_path / "out.onnx")
    checked = check_model(tmp_path / "out.onnx", place)
    assert (checked.faults, checked.weights) == ((), 2)
    before, after = (
        {each.name[:1]: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
        for model in (onnx.load(place), found.model)
    )
    for name, layout in (("w", layouts["W"]), ("b", layouts["V"])):
        expected = layoutdsl.compile(layout, target="numpy").pack(before[name])
        assert np.array_equal(after[name].reshape(-1), expected.reshape(-1))


def test_a_model_that_says_nothing_of_a_plan_is_refused(tmp_path: Path) -> None:
    model = written(tmp_path)
    with pytest.raises(UnfitModelError, match="does not say how it was planned"):
        check_model(model, model)


@pytest.mark.slow
@pytest.mark.parametrize("planned", ["NCHW16c"], indirect=True)
def test_it_is_checked_without_a_solver(planned: Path) -> None:
    code = (
        "import sys\nfrom layoutdsl import check_model\n"
        f"found = check_model({str(planned / 'out.onnx')!r}, {str(planned / 'model.onnx')!r})\n"
        "print(found.holds, *sorted({each.split('.')[0] for each in sys.modules}))"
    )
    words = ended([sys.executable, "-c", code], text=True).stdout.split()
    assert words[0] == "True"
    assert not {"scipy", "onnxruntime"} & set(words)


def planned_json(folder: Path) -> Path:
    """A plan in JSON, and its weights beside it."""
    found = propagate(written(folder), "blocked16", emit="plan", verify="off")
    found.write(folder / "plan.json")
    return folder / "plan.json"


def said_lane(said: dict[str, Any]) -> None:
    next(each for each in said["tensors"].values() if "lane" in each)["lane"] = "7"


def said_layout(said: dict[str, Any]) -> None:
    next(iter(said["tensors"].values()))["layout"] = "[d3, d2, d1, d0]"


def said_dtype(said: dict[str, Any]) -> None:
    next(iter(said["tensors"].values()))["dtype"] = "float16"


def said_opset(said: dict[str, Any]) -> None:
    said["opset"] = float(said["opset"])


def said_version(said: dict[str, Any]) -> None:
    said["version"] = True


def said_operator(said: dict[str, Any]) -> None:
    next(each for each in said["work"] if each.get("operator") == "Relu")["operator"] = "Abs"


def said_attribute(said: dict[str, Any]) -> None:
    owner = next(each for each in said["work"] if "Conv" in each.get("function", ""))
    conv = next(each for each in owner["body"] if each["operator"] == "Conv")
    conv["attributes"]["pads"][0] += 1


def said_order(said: dict[str, Any]) -> None:
    said["work"].insert(0, said["work"].pop())


def said_fewer(said: dict[str, Any]) -> None:
    del said["work"][-1]


def said_more(said: dict[str, Any]) -> None:
    said["more"] = []


def said_weights(said: dict[str, Any]) -> None:
    """Two weights exchanged."""
    one, two = list(said["weights"])[:2]
    said["weights"][one], said["weights"][two] = said["weights"][two], said["weights"][one]


def said_inputs(said: dict[str, Any]) -> None:
    said["inputs"] = {}


def said_kind(said: dict[str, Any]) -> None:
    """The certificate of a model."""
    warrant = json.loads(said["said"][KEY])
    said["said"][KEY] = json.dumps({**warrant, "kind": "functions"}, sort_keys=True)


def said_cost(said: dict[str, Any]) -> None:
    warrant = json.loads(said["said"][KEY])
    said["said"][KEY] = json.dumps({**warrant, "cost": warrant["cost"] + 1}, sort_keys=True)


def said_beside(said: dict[str, Any]) -> None:
    said["said"]["note"] = "checked"


SAID = [
    *(said_lane, said_layout, said_dtype, said_opset, said_version, said_operator, said_order),
    *(said_attribute, said_fewer, said_more, said_weights, said_inputs, said_kind, said_cost),
    said_beside,
]


@pytest.mark.slow
def test_a_plan_is_checked_and_whatever_is_changed_is_refused(tmp_path: Path) -> None:
    place = planned_json(tmp_path)
    found = check_model(place, tmp_path / "model.onnx")
    assert found.faults == ()
    assert (found.weights, found.bound) == (5, found.cost)
    text = place.read_text(encoding="utf-8")
    sound = json.loads(text)
    place.write_text(json.dumps(sound, sort_keys=True), encoding="utf-8")
    assert check_model(place, tmp_path / "model.onnx").holds  # the order of keys says nothing
    for change in SAID:
        said = json.loads(text)
        change(said)
        place.write_text(json.dumps(said), encoding="utf-8")
        assert check_model(place, tmp_path / "model.onnx").faults, change.__name__


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"format": "layoutdsl plan"}',
        '{"format": "layoutdsl plan", "said": {"layoutdsl.certificate": 1}}',
        '{"format": "layoutdsl plan", "format": "layoutdsl plan"}',
        '{"format": NaN}',
        '{"a":' * 100_000,
    ],
)
def test_what_is_no_plan_gets_a_sentence(text: str, tmp_path: Path) -> None:
    place = planned_json(tmp_path)
    place.write_text(text, encoding="utf-8")
    with pytest.raises(UnfitModelError):
        check_model(place, tmp_path / "model.onnx")


@pytest.mark.slow
def test_weights_of_a_plan_that_were_changed_are_refused(tmp_path: Path) -> None:
    place = planned_json(tmp_path)
    archive, model = tmp_path / "plan.json.npz", tmp_path / "model.onnx"
    sound = archive.read_bytes()
    with np.load(archive) as found:
        arrays = {name: found[name] for name in found.files}
    largest = max(arrays, key=lambda each: arrays[each].size)
    changed = {
        "a bit": {**arrays, largest: arrays[largest].view("u1") ^ 1},
        "a type": {**arrays, largest: arrays[largest].astype("f8")},
        "a shape": {**arrays, largest: arrays[largest].reshape(-1)},
        "an order": dict(reversed(arrays.items())),
        "one less": {name: each for name, each in arrays.items() if name != largest},
        "one more": {**arrays, "more": np.zeros(3)},
    }
    for name, each in changed.items():
        np.savez(archive, **each)
        assert check_model(place, model).faults, name
    np.savez(archive, **arrays)
    assert check_model(place, model).holds
    np.savez_compressed(archive, **arrays)
    assert check_model(place, model).faults
    chance = random.Random(5)
    for _ in range(20):  # anywhere among the items, and in what stands around them
        wrong = bytearray(sound)
        wrong[chance.randrange(len(wrong))] ^= 1 << chance.randrange(8)
        archive.write_bytes(bytes(wrong))
        assert check_model(place, model).faults or _reads_the_same(archive, arrays)
        archive.write_bytes(sound)
    archive.write_bytes(sound[:-40])
    assert check_model(place, model).faults
    archive.unlink()
    with pytest.raises(FileNotFoundError):
        check_model(place, model)


def _reads_the_same(archive: Path, arrays: dict[str, Any]) -> bool:
    """Whether numpy reads the same arrays: dates and permissions of members say nothing."""
    with np.load(archive) as found:
        same = [np.array_equal(found[name], arrays[name]) for name in found.files]
    return len(same) == len(arrays) and all(same)
