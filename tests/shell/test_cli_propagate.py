"""`propagate` in the shell: what it prints, writes and refuses."""

from __future__ import annotations

import json
import re
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cli_shell import Shell, shell

onnx = pytest.importorskip("onnx")
pytest.importorskip("scipy")

from small_models import network, written  # noqa: E402

import layoutdsl  # noqa: E402

__all__ = ["shell"]


@pytest.fixture(autouse=True)
def model(shell: Shell) -> None:  # noqa: ARG001  it goes to the folder
    written(Path())


def test_it_says_what_was_planned_proved_run_and_written(shell: Shell) -> None:
    ended = shell("propagate", "model.onnx", "--prefer", "Conv=NHWC", "-o", "out.onnx")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "model.onnx        9 nodes, 2 of 2 Conv in NHWC"
    assert lines[1].split("  (")[0] == "transforms        4 -> 1, 64.5 kB -> 3.1 kB moved"
    assert lines[2].startswith(
        "minimal           yes: 3072 bytes and 1 transform are a lower bound"
    )
    assert lines[3].startswith("nodes             Transpose 0 -> 1")
    assert lines[4].startswith("in functions      7 transforms more, ")
    assert lines[5] == (
        "left              input `x`: as written -> NHWC, 3.1 kB; the caller gives it so, "
        "Conv `first` (required) takes it otherwise"
    )
    assert re.fullmatch(r"rules {13}(\d+) used, \1 proved for all shapes", lines[6])
    assert re.match(r"verified {10}(\d+) nodes alone, \1 bit for bit, with zero, junk", lines[7])
    assert lines[8] == "wrote             out.onnx"
    assert len(lines) <= 12
    onnx.checker.check_model("out.onnx")


def test_what_was_written_is_confirmed_and_what_was_changed_is_not(shell: Shell) -> None:
    shell("propagate", "model.onnx", "--engine", "blocked16", "-o", "out.onnx", "--verify", "off")
    ended = shell("propagate", "--check", "out.onnx", "--against", "model.onnx")
    assert (ended.code, ended.out.splitlines()[0]) == (0, "out.onnx          confirmed")
    made = onnx.load("out.onnx")
    made.graph.node[0].attribute[0].ints[0] += 1
    Path("out.onnx").write_bytes(made.SerializeToString())
    ended = shell("propagate", "--check", "out.onnx", "--against", "model.onnx")
    assert (ended.code, ended.out.splitlines()[0]) == (1, "out.onnx          failed")
    assert "wrong" in ended.out
    found = json.loads(
        shell("propagate", "--check", "out.onnx", "--against", "model.onnx", "--json").out
    )
    assert found["status"] == "failed"
    assert found["faults"]


ENGINE = """\
layout Vec8(o) = [o/8, o%8]
layout Nchw8(n, c, h, w) = [n, c/8, h, w, c%8]
rule com.acme::Twice(x[..]) -> [..]
op Conv(x: Nchw8, b?: Vec8) -> Nchw8
prefer Conv = Nchw8
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--engine", "nhwc"), "2 of 2 Conv in NHWC"),
        (("--engine", "engine.layout"), "2 of 2 Conv in Nchw8"),
        (("--engine", "engine.layout", "--prefer", "Conv=NHWC"), "2 of 2 Conv in NHWC"),
        (("--prefer", "Conv=NCHWc<4>"), "2 of 2 Conv in NCHWc"),
        (("--prefer", "Conv=onednn:aBcd8b"), "2 of 2 Conv in"),
        (("--prefer", "Conv=engine.layout:Nchw8"), "2 of 2 Conv in Nchw8"),
        (("--prefer", "Conv=NCHW16c,NHWC", "--choose"), "Conv in"),
        (("--prefer", "Conv=NHWC", "--input", "x=NHWC"), "yes: nothing is moved"),
        (("--prefer", "Conv=NCHW", "--emit", "plain"), "yes: nothing is moved"),
    ],
)
def test_layouts_are_named_in_many_ways(shell: Shell, words: tuple[str, ...], says: str) -> None:
    Path("engine.layout").write_text(ENGINE, encoding="utf-8")
    ended = shell("propagate", "model.onnx", *words, "--verify", "off")
    assert (ended.code, ended.err) == (0, "")
    assert says in ended.out
    assert "verified          off: nothing was run" in ended.out


def foreign() -> None:
    """Between the convolutions stands an operator that no runtime here has."""
    model = network()
    between = next(each for each in model.graph.node if each.name == "between")
    between.op_type, between.domain = "Upscale", "com.acme"
    model.opset_import.append(onnx.helper.make_opsetid("com.acme", 1))
    shape = onnx.helper.make_tensor_value_info("s", onnx.TensorProto.FLOAT, [2, 20, 8, 8])
    model.graph.value_info.append(shape)
    Path("acme.onnx").write_bytes(model.SerializeToString())


def test_an_operator_of_ones_own_is_a_line_of_text(shell: Shell) -> None:
    """Nothing here runs it: that is said, everything else is tried, and the model is written."""
    foreign()
    preferred = "prefer Conv = NHWC\n"
    Path("without.layout").write_text(preferred, encoding="utf-8")
    Path("with.layout").write_text(
        f"rule com.acme::Upscale(x[..]) -> [..]\n{preferred}", encoding="utf-8"
    )
    ended = shell("propagate", "acme.onnx", "--engine", "without.layout", "-o", "out.onnx")
    assert (ended.code, "as written        1 node" in ended.out) == (3, True)
    assert "transforms        4 -> 3" in ended.out
    ended = shell("propagate", "acme.onnx", "--engine", "with.layout", "-o", "out.onnx")
    assert (ended.code, "as written        1 node" in ended.out) == (3, False)
    assert "transforms        4 -> 1" in ended.out
    assert "not run           nothing here runs com.acme::Upscale" in ended.out
    assert shell("propagate", "--check", "out.onnx", "--against", "acme.onnx").code == 0


REFUSED: list[tuple[tuple[str, ...], int, str]] = [
    ((), 2, "no model is named"),
    (("model.onnx",), 2, "the model gets no preference and no engine"),
    (("none.onnx", "--engine", "nhwc"), 4, "`none.onnx` cannot be read: no such file"),
    (("demo.layout", "--engine", "nhwc"), 4, "is no model of ONNX"),
    (("empty.onnx", "--engine", "nhwc"), 4, "is no model of ONNX"),
    ((".", "--engine", "nhwc"), 4, "`.` is no plain file"),
    (("invalid.onnx", "--engine", "nhwc"), 4, "is no valid model"),
    (("cyclic.onnx", "--engine", "nhwc"), 4, "is no valid model"),
    (("newer.onnx", "--engine", "nhwc"), 4, "is of opset 999"),
    (("outside.onnx", "--engine", "nhwc"), 4, "`outside.onnx`"),
    (("tall.onnx", "--engine", "nhwc"), 2, "the shape of input `x` is open: ?,3,?,8"),
    (("model.onnx", "--engine", "nhwx"), 2, "there is no engine `nhwx`"),
    (("model.onnx", "--engine", "none.layout"), 4, "`none.layout` cannot be read"),
    (("model.onnx", "--engine", "wrong.layout"), 2, "no rule says what `Con` is"),
    (("model.onnx", "--engine", "latin.layout"), 4, "is not UTF-8"),
    (("model.onnx", "--prefer", "Con=NHWC"), 2, "did you mean `Conv`"),
    (("model.onnx", "--prefer", "Conv=NHWX"), 2, "did you mean `NHWC`"),
    (("model.onnx", "--prefer", "Conv"), 2, "`Conv` is no --prefer"),
    (("model.onnx", "--prefer", "Conv="), 2, "is no --prefer"),
    (("model.onnx", "--prefer", "Conv=Vec16"), 2, "no layout `Vec16`"),
    (("model.onnx", "--prefer", "Conv=onednn:abcdz"), 2, "the letters of `abcdz`"),
    (("model.onnx", "--prefer", "Conv=none.layout:X"), 4, "cannot be read"),
    (("model.onnx", "--engine", "nhwc", "--shape", "x=1,a"), 2, "is no shape"),
    (("model.onnx", "--engine", "nhwc", "--shape", "z=1,3"), 2, "has no input `z`"),
    (("model.onnx", "--engine", "nhwc", "--shape", "x=1,3,8,9"), 2, "cannot have the shape"),
    (("model.onnx", "--engine", "nhwc", "--shape", "x=2,3,8,0"), 2, "cannot have the shape"),
    (("model.onnx", "--engine", "nhwc", "--shape", f"x={2**63},3,8,8"), 2, "cannot have the shape"),
    (("model.onnx", "--engine", "nhwc", "--input", "z=NHWC"), 2, "`z`"),
    (("model.onnx", "--engine", "nhwc", "--output", "y=NHWC"), 2, "NHWC"),
    (("model.onnx", "--engine", "nhwc", "--output", "y"), 2, "`y` is no --output"),
    (("model.onnx", "--engine", "nhwc", "--emit", "tflite"), 2, "--emit"),
    (("model.onnx", "--engine", "nhwc", "--explain", "zz"), 2, "has no value `zz`"),
    (("model.onnx", "--engine", "nhwc", "-o", "model.onnx"), 4, "is the input itself"),
    (("model.onnx", "--engine", "nhwc", "--report", "model.onnx"), 4, "is the input itself"),
    (
        ("model.onnx", "--engine", "nhwc", "-o", "out.onnx", "--report", "./out.onnx"),
        2,
        "`./out.onnx` is to hold two things",
    ),
    (("model.onnx", "--engine", "nhwc", "-o", "-"), 2, "standard output"),
    (("model.onnx", "--engine", "nhwc", "-o", "no/such/out.onnx"), 4, "no/such/out.onnx"),
    (("model.onnx", "--engine", "nhwc", "-o", "out.onnx", "--report", "no/x.html"), 4, "no/x.html"),
    (("model.onnx", "--engine", "nhwc", "-o", "."), 4, "`.` cannot be written"),
    (("--check", "model.onnx"), 2, "--check compares two models"),
    (("--check", "model.onnx", "--against", "model.onnx"), 4, "does not say how it was planned"),
    (("--check", "none.onnx", "--against", "model.onnx"), 4, "cannot be read"),
    (("model.onnx", "--against", "model.onnx"), 2, "--against is for --check"),
]  # fmt: skip


@pytest.fixture
def faulty(model: None) -> None:  # noqa: ARG001  in the same folder
    """Files that are no models, and texts that are no engines."""
    Path("empty.onnx").write_bytes(b"")
    Path("wrong.layout").write_text("prefer Con = NHWC\n", encoding="utf-8")
    Path("latin.layout").write_bytes(b"# \xe9\n")
    made = {name: network() for name in ("invalid", "cyclic", "newer", "outside")}
    made["invalid"].graph.node[0].op_type = "Convolve"
    made["cyclic"].graph.node[0].input[0] = "d"
    made["newer"].opset_import[0].version = 999
    tensor = max(made["outside"].graph.initializer, key=lambda each: len(each.raw_data))
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "missing.data"
    for name, each in made.items():
        Path(f"{name}.onnx").write_bytes(each.SerializeToString())
    made = network(batch="n")
    made.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "h"
    Path("tall.onnx").write_bytes(made.SerializeToString())


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(("words", "code", "says"), REFUSED)
def test_what_cannot_be_is_told_in_a_sentence_and_nothing_is_written(
    shell: Shell, words: tuple[str, ...], code: int, says: str
) -> None:
    before = {place: place.read_bytes() for place in Path().iterdir() if place.is_file()}
    more = () if "-o" in words or "--check" in words else ("-o", "out.onnx", "--report", "out.html")
    ended = shell("propagate", *words, *(more if "--report" not in words else ()))
    assert ended.code == code, ended.err
    assert says in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert {place: place.read_bytes() for place in Path().iterdir() if place.is_file()} == before


def test_an_open_batch_stays_open(shell: Shell) -> None:
    written(Path(), "open.onnx", batch="n")
    told = shell("propagate", "open.onnx", "--engine", "nhwc", "-o", "out.onnx")
    assert told.code == 0
    assert told.out.splitlines()[1] == (
        "batch             `n` is left open; plan and bytes are of batch 2, "
        "1.5 kB moved for each one more; run at 1, 5 too"
    )
    told = shell("propagate", "--check", "out.onnx", "--against", "open.onnx")
    assert (told.code, "open: it is the same at 2 and 5; bytes are of 2" in told.out) == (0, True)
    told = shell("propagate", "open.onnx", "--engine", "nhwc", "--explain", "--verify", "off")
    assert told.out.startswith("batch             `n` is left open; plan and bytes are of batch 2")
    told = shell("propagate", "open.onnx", "--engine", "nhwc", "--emit", "plan", "--json")
    batch = json.loads(told.out)["batch"]
    reason = "a plan in JSON has numbers for all extents"
    assert batch == {"open": False, "name": "n", "planned": 1, "reason": reason}


def test_an_open_shape_is_given(shell: Shell) -> None:
    written(Path(), "open.onnx", batch="n")
    words = ("--engine", "nhwc", "--shape", "x=5,3,8,8", "-o", "out.onnx")
    assert shell("propagate", "open.onnx", *words).code == 0
    assert shell("propagate", "--check", "out.onnx", "--against", "open.onnx").code == 0


@pytest.mark.parametrize("package", ["onnx", "scipy"])
def test_without_the_packages_it_says_how_to_get_them(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    ended = shell("propagate", "model.onnx", "--engine", "nhwc")
    assert ended.code == 2
    assert ended.err.splitlines() == [
        f"error: the package {package} is not installed",
        f"  = help: install it: pip install -e '{Path(layoutdsl.__file__).parents[1]}[onnx]'",
    ]


ODD = "a\nb\x1b[31m\u202e`"


def test_a_name_of_a_model_stays_in_its_line_and_does_nothing(shell: Shell) -> None:
    made = network()
    for node in made.graph.node:
        node.name = f"{node.name}{ODD}"
        node.input[:] = [ODD if each == "x" else each for each in node.input]
    made.graph.input[0].name = ODD
    made.graph.node[1].domain, made.graph.node[1].op_type = "com\nacme", "Up"
    made.opset_import.add(domain="com\nacme", version=1)
    named = onnx.helper.make_tensor_value_info("r", onnx.TensorProto.FLOAT, [2, 20, 8, 8])
    made.graph.value_info.append(named)
    Path("odd.onnx").write_bytes(made.SerializeToString())
    words = ("propagate", "odd.onnx", "--engine", "nhwc")
    asked = ("--explain",), ("--explain", ODD), ("--explain", "zz"), ("--shape", "z=1,3,8,8")
    for more in ((), *asked):
        ended = shell(*words, *more)
        for line in (*ended.out.split("\n"), *ended.err.split("\n")):
            assert line.isprintable()
    assert "its inputs are `a?b?[31m?``" in ended.err


def test_a_name_that_has_no_end_is_cut(shell: Shell) -> None:
    made = network()
    long = made.graph.node[0].name = made.graph.node[0].input[0] = "x" * 9999
    made.graph.input[0].name = long
    Path("long.onnx").write_bytes(made.SerializeToString())
    for more in ((), ("--explain",), ("--explain", long)):
        ended = shell("propagate", "long.onnx", "--engine", "nhwc", "--verify", "off", *more)
        assert max(map(len, ended.out.splitlines())) < 999


def test_a_transform_and_a_value_are_explained(shell: Shell) -> None:
    words = ("propagate", "model.onnx", "--prefer", "Conv=NHWC", "--verify", "off", "--explain")
    ended = shell(*words)
    assert ended.out.startswith("input `x`: as written -> NHWC, 3.1 kB; ")
    lines = shell(*words, "d").out.splitlines()
    assert lines[0] == "`d` is float32 of shape (2, 20, 8, 8)"
    assert lines[1] == "Add `residue` makes it NHWC"
    assert "  it could make it as written" in lines


def test_a_refill_is_told(shell: Shell) -> None:
    """The logarithm of a padding of 0 is infinite, and no weight makes that nothing."""
    written(Path(), "log.onnx", between="Log")
    ended = shell("propagate", "log.onnx", "--engine", "blocked16")
    assert ended.code == 3  # minus infinity makes NaN of all outputs, which show nothing
    assert "padding filled anew" in ended.out
    assert "1 refill" in ended.out


def test_a_plan_is_json_with_weights(shell: Shell) -> None:
    words = ("--engine", "blocked16", "--emit", "plan", "-o", "plan.json", "--verify", "off")
    assert shell("propagate", "model.onnx", *words).code == 0
    assert json.loads(Path("plan.json").read_text(encoding="utf-8"))["format"] == "layoutdsl plan"
    assert Path("plan.json.npz").is_file()


def test_json_has_all_that_is_printed(shell: Shell) -> None:
    ended = shell("propagate", "model.onnx", "--engine", "blocked16", "--json")
    found = json.loads(ended.out)
    assert found["status"] == "done"
    assert found["minimal"] is True
    assert found["alone"] == {"count": 3, "bytes": 79872}
    assert found["planned"] == {"count": 0, "bytes": 0}
    assert found["rules"]["undecided"] == []
    assert found["verified"]["faults"] == []
    assert found["padding"]["lanes"] == ["0", "0.5"]


def test_what_is_found_wrong_is_not_written(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run of a model adds one more to its outputs, so that no two runs agree."""
    import onnx.reference

    run, drift = onnx.reference.ReferenceEvaluator.run, count()

    def drifting(*given: Any, **named: Any) -> list[Any]:
        more = next(drift)
        return [each + more for each in run(*given, **named)]

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(onnx.reference.ReferenceEvaluator, "run", drifting)
    words = ("--engine", "nhwc", "-o", "out.onnx", "--report", "out.html")
    ended = shell("propagate", "model.onnx", *words)
    assert ended.code == 1
    assert "differs" in ended.out
    assert not Path("out.onnx").exists()
    assert not Path("out.html").exists()


def test_help_loads_no_package_of_models(shell: Shell) -> None:
    loaded = set(sys.modules)
    assert shell("propagate", "--help").code == 0
    assert not {"onnx", "scipy", "onnxruntime"} & (set(sys.modules) - loaded)
