"""Tensors that become one, as fields of a record: bit by bit, there and back, damaged, refused."""

from __future__ import annotations

import re
import zipfile
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from groups_drawn import GroupCase, Made, drawn
from weight_files import as_older
from weight_readers import contents_of, tensors_in

import layoutdsl
from layoutdsl import (
    LayoutError,
    RefusedError,
    UnfitError,
    UnprovedError,
    inspect_weights,
    pack_weights,
    unpack_weights,
    verify_weights,
)

DRAWN = 4
pytestmark = pytest.mark.filterwarnings("ignore:.* is moved, and not proved")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def there_and_back(seed: int) -> None:
    """Pack, compare, verify, damage and unpack one drawn case."""
    draw = Random(seed)
    case = drawn(draw)
    form = draw.choice(("safetensors", "npz", "gguf"))
    source, packed, again = Path(f"in.{case.form}"), Path(f"out.{form}"), Path(f"again.{case.form}")
    case.write(source)
    rules = layoutdsl.parse(case.rules)
    least = 17 if any(each.words for each in case.made) else 15  # words may be moved at once
    mem, jobs = draw.choice(((1 << least, 1), (1 << least + 2, 3), (1 << 27, 1)))
    try:
        done = pack_weights(source, packed, rules, target="numpy", mem=mem, jobs=jobs)
    except (RefusedError, UnprovedError):
        return  # a few that are drawn are wrong
    assert (done.moved, done.kept) == (len(case.made), 1), seed
    found = {name: data for name, (_, _, data) in contents_of(packed).items()}
    assert found == case.want(), (seed, case.rules)
    checked = verify_weights(packed, source)
    assert checked.fault is None, (seed, checked.fault)
    assert checked.elements == sum(each.size for m in case.made for each in m.arrays.values())
    assert verify_weights(packed).fault is None, seed
    unpack_weights(packed, again, target="numpy")
    assert contents_of(source) == contents_of(again), seed
    damage(draw, case, packed, source)


def damage(draw: Random, case: GroupCase, packed: Path, source: Path) -> None:
    """Change a bit of what a group became; it is named by what `Record.holders` says of it."""
    made = draw.choice(case.made)
    bit = draw.randrange(8 * len(made.data))
    tensors_in(packed)[made.name].flip(bit)
    fault = verify_weights(packed).fault
    assert fault is not None
    assert fault.name == made.name
    expect(made, bit, verify_weights(packed, source).fault)


def expect(made: Made, bit: int, fault: Any) -> None:
    held = next(made.record.holders(bit, dict(made.values)), None)
    if held is None and "fill any" in str(made.record):
        assert fault is None
        return
    assert fault is not None
    if held is None:
        assert (fault.name, fault.slot, fault.what) == (made.name, bit, "padding bit")
        return
    wanted = (made.names[held.field], held.index, bit, "bit")
    assert (fault.name, fault.index, fault.slot, fault.what) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("count", [DRAWN // 2, pytest.param(DRAWN, marks=pytest.mark.slow)])
def test_drawn_groups(count: int) -> None:
    for seed in range(count):
        there_and_back(seed)


@pytest.mark.campaign
def test_more_drawn_groups() -> None:
    for seed in range(1000, 2500):
        there_and_back(seed)


# Blocks of llama.cpp, by its own package.


CENTRES = {"Q4_0": (8, 32), "Q8_0": (0, 32), "Q5_0": (16, 32)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("word", CENTRES)
def test_gguf_reads_its_own_type(word: str) -> None:
    gguf = pytest.importorskip("gguf")
    centre, block = CENTRES[word]
    field = layoutdsl.library_record(word).field("q").element
    low, high = field.values or (0, 0)
    draw = np.random.default_rng(0)
    codes = draw.integers(low, high + 1, (40, 4 * block)).astype(f"{field.kind}1")
    scales = draw.standard_normal((40, 4)).astype("f2")
    norm = draw.standard_normal(7).astype("f4")
    arrays = {"m.0.up.codes": codes, "m.0.up.scales": scales, "m.norm": norm}
    np.savez("in.npz", **arrays)
    rules = (
        f'group "m.{{i}}.{{p}}" = {word}(d = "{{}}.scales", q = "{{}}.codes") as "blk.{{i}}.{{p}}"'
    )
    pack_weights("in.npz", "out.gguf", layoutdsl.parse(rules), target="numpy", mem=1 << 14)
    found = {each.name: each for each in gguf.GGUFReader("out.gguf").tensors}
    assert set(found) == {"blk.0.up", "m.norm"}
    one = found["blk.0.up"]
    assert one.tensor_type.name == word
    assert [*one.shape] == [4 * block, 40]
    numbers = gguf.dequantize(one.data, one.tensor_type)
    wanted = (codes.astype("f4") - centre) * np.repeat(scales.astype("f4"), block, axis=1)
    assert (numbers == wanted).all()
    inspected = {each.name: each for each in inspect_weights("out.gguf").tensors}
    assert (inspected["blk.0.up"].layout, inspected["blk.0.up"].original) == (word, (40, 4 * block))
    unpack_weights("out.gguf", "again.npz", target="numpy")
    with np.load("again.npz") as again:
        assert all((again[name] == each).all() for name, each in arrays.items())


def test_a_record_of_the_text_is_bytes_in_gguf() -> None:
    np.savez("in.npz", **{"a.d": np.ones((2, 1), "f2"), "a.q": np.ones((2, 32), "u1")})
    text = """record Q4_0(r, k) = {
    d(r, b: K/32) = [r, b, 8 : 9]                 of f16
    q(r, k)       = [r, k/32, k%16 : 18, k%32/16] of u4
} where K % 32 == 0
group "a" = Q4_0(d = "{}.d", q = "{}.q") as "{}"
"""
    pack_weights("in.npz", "out.gguf", layoutdsl.parse(text), target="numpy")
    (found,) = inspect_weights("out.gguf").tensors
    assert (found.type, found.extents) == ("I8", (2, 1, 18))
    assert verify_weights("out.gguf", "in.npz").fault is None


# Fields that come in words.

MLX = """layout Rows(r, k) = [r, k/8, k%8] of u4 where K % 8 == 0
layout Turned(b, r) = [b, r] of f16
group "{p}" = Q4_1(
    d = "{}.scales" from words u16 of Turned,
    m = "{}.biases",
    q = "{}.weight" from words u32 of Rows
) as "blk.{p}"
"""
IN_WORDS = (
    ('"l.weight",[40,8]', '"l.weight",[40,16]'),
    (",[40,64]]", ",[40,32]]"),
    (",[40,64]]", ",[64,40]]"),
    (",[40,64]]", ",[40]]"),
    ('"<u4","u32"', '"<u4","u64"'),
    ('"<u4","u32"', '"<u4","u31"'),
    ('"version":3', '"version":2'),
    ("[r, k/8, k%8]", "[r, k/8, k%4]"),
    ("] of u4", "] of u2"),
)


def in_words() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(5)
    return {
        "l.weight": draw.integers(0, 1 << 32, (40, 8), np.uint32),
        "l.scales": draw.standard_normal((2, 40)).astype("f2"),
        "l.biases": draw.standard_normal((40, 2)).astype("f2"),
    }


@pytest.mark.slow
def test_words_become_blocks_of_gguf() -> None:
    """As MLX has them, whose scales and biases are those of Q4_1; the scales turned besides."""
    gguf = pytest.importorskip("gguf")
    arrays = in_words()
    np.savez("in.npz", **arrays)
    pack_weights("in.npz", "out.gguf", layoutdsl.parse(MLX), target="numpy")
    (one,) = gguf.GGUFReader("out.gguf").tensors
    codes = arrays["l.weight"][..., None] >> np.arange(0, 32, 4, dtype="u4") & 15
    scales, biases = (
        np.repeat(arrays[name].astype("f4"), 32, axis=axis)
        for name, axis in (("l.scales", 0), ("l.biases", 1))
    )
    wanted = codes.reshape(40, 64) * scales.T + biases
    assert (gguf.dequantize(one.data, one.tensor_type) == wanted).all()


def test_blocks_of_gpt_oss_become_those_of_gguf() -> None:
    """As `gpt_oss/torch/weights.py` reads them: the even element in the low bits, e8m0 scales."""
    gguf = pytest.importorskip("gguf")
    draw = np.random.default_rng(0)
    blocks = draw.integers(0, 256, (24, 4, 16), np.uint8)
    scales = draw.integers(100, 140, (24, 4), np.uint8)
    np.savez("in.npz", **{"b.mlp1_blocks": blocks, "b.mlp1_scales": scales})
    text = """layout Pairs(r, k) = [r, k/32, k%32] of f4 where K % 32 == 0
layout Scales(r, b) = [r, b] of e8
group "{i}.{p}" = MXFP4(
    e = "{}_scales" from words u8 of Scales, q = "{}_blocks" from words u8 of Pairs
) as "{}"
"""
    pack_weights("in.npz", "out.gguf", layoutdsl.parse(text), target="numpy", mem=1 << 14)
    (one,) = gguf.GGUFReader("out.gguf").tensors
    halves = np.array([0, 1, 2, 3, 4, 6, 8, 12], "f4") / 2
    values = np.concatenate((halves, -halves))
    codes = np.stack((blocks & 15, blocks >> 4), axis=-1).reshape(24, 128)
    wanted = values[codes] * np.repeat(np.exp2(scales.astype("f4") - 127), 32, axis=1)
    assert (gguf.dequantize(one.data, one.tensor_type) == wanted).all()


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("one", "other"), IN_WORDS)
def test_lies_about_words_of_groups(one: str, other: str) -> None:
    np.savez("in.npz", **in_words())
    pack_weights("in.npz", "out.npz", layoutdsl.parse(MLX), target="numpy")
    with zipfile.ZipFile("out.npz") as archive:
        said = as_older(archive.read("layoutdsl.json").decode())
        members = {each: archive.read(each) for each in archive.namelist()}
    assert one in said
    lie = said.replace(one, other)
    for text in set(re.findall(r'"text":"([^"]*)"', lie)) - set(
        re.findall(r'"text":"([^"]*)"', said)
    ):
        (key,) = re.findall(rf'"([0-9a-f]{{64}})":{{"text":"{re.escape(text)}"', lie)
        lie = lie.replace(key, sha256(text.encode()).hexdigest())
    with zipfile.ZipFile("lie.npz", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, lie if name == "layoutdsl.json" else data)
    for tried in (
        lambda: unpack_weights("lie.npz", "again.npz", target="numpy"),
        lambda: verify_weights("lie.npz", "in.npz"),
    ):
        try:
            tried()
        except (UnfitError, RefusedError, UnprovedError):
            continue
        pytest.fail("nothing was refused")
    assert not Path("again.npz").exists()


# What does not fit, all of it told before a byte is written.

GROUP = 'group "m.{i}" = Q4_0(d = "{}.d", q = "{}.q") as "blk.{i}"\n'
OTHERS = {"l.scales": ("f2", (2, 40)), "l.biases": ("f2", (40, 2))}
REFUSED = {
    "a source that is missing": (GROUP, {"m.1.q": ("u1", (2, 32))}, "lacks `m.1.d`"),
    "none at all": (GROUP, {}, "no tensor is called `m.{i}.d` or `m.{i}.q`"),
    "two groups": (
        GROUP + GROUP.replace("blk", "other"),
        {},
        "`m.0.d` is of the group at <text>:1 already",
    ),
    "a rule before": ('tensor "**" = keep\n' + GROUP, {}, "has the rule before (<text>:1)"),
    "another type": (GROUP, {"m.0.d": ("f4", (2, 1))}, "and the field `d` of f16"),
    "another kind": (GROUP, {"m.0.q": ("i1", (2, 32))}, "and the field `q` of u4"),
    "another shape": (GROUP, {"m.0.d": ("f2", (2, 2))}, "`q` is 2 x 32, and 2 x 64 at R=2 K=64"),
    "another rank": (GROUP, {"m.0.d": ("f2", (2,))}, "`d` has 2 axes, and is given 1"),
    "no such shape": (
        GROUP,
        {"m.0.d": ("f2", (2, 1)), "m.0.q": ("u1", (2, 31))},
        "does not fit `Q4_0`",
    ),
    "words of another type": (
        MLX,
        OTHERS | {"l.weight": ("u2", (40, 8))},
        "is of <u2, and words of u32 are integers of 32 bits",
    ),
    "words of another shape": (MLX, OTHERS | {"l.weight": ("u4", (40, 9))}, "does not fit `Q4_1`"),
    "words of another rank": (
        MLX,
        OTHERS | {"l.weight": ("u4", (40,))},
        "has no tensor of which these",
    ),
    "a name that stays": (GROUP, {"blk.0": ("u1", (3,))}, "is the name of another tensor"),
    "one name twice": (
        GROUP + GROUP.replace("m.{i}", "n.{i}"),
        {"n.0.d": ("f2", (2, 1)), "n.0.q": ("u1", (2, 32))},
        "makes `blk.0`, which that at <text>:1 makes too",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_told_first(what: str) -> None:
    text, others, words = REFUSED[what]
    sound = {"m.0.d": ("f2", (2, 1)), "m.0.q": ("u1", (2, 32))}
    held = {"x": ("f4", (2,)), **({} if what == "none at all" else sound), **others}
    np.savez("in.npz", **{name: np.zeros(shape, kind) for name, (kind, shape) in held.items()})
    with pytest.raises(UnfitError) as told:
        pack_weights("in.npz", "out.npz", layoutdsl.parse(text), target="numpy")
    assert words in str(told.value)
    assert [each.name for each in Path().iterdir()] == ["in.npz"]


def test_codes_that_no_field_holds() -> None:
    np.savez("in.npz", **{"m.0.d": np.ones((2, 1), "f2"), "m.0.q": np.full((2, 32), 16, "u1")})
    with pytest.raises(UnfitError, match=r"`m.0.q` holds 16, and u4 is 0\.\.15"):
        pack_weights("in.npz", "out.npz", layoutdsl.parse(GROUP), target="numpy")
    assert not Path("out.npz").exists()


# From one model of ONNX to another: nodes name tensors that have become fields.


def model_of_fields(place: Path) -> dict[str, np.ndarray]:
    """A model of two nodes that name codes and scales, written by the package."""
    onnx = pytest.importorskip("onnx")
    helper, types, draw = onnx.helper, onnx.TensorProto, np.random.default_rng(3)
    arrays = {
        "m.0.q": draw.integers(0, 16, (40, 64)).astype("u1"),
        "m.0.d": draw.standard_normal((40, 2)).astype("f2"),
        "norm": draw.standard_normal(3).astype("f4"),
    }
    held = [onnx.numpy_helper.from_array(each, name) for name, each in arrays.items()]
    nodes = [
        helper.make_node("Cast", ["m.0.q"], ["q"], to=types.FLOAT),
        helper.make_node("Cast", ["m.0.d"], ["d"], to=types.FLOAT),
        helper.make_node("Add", ["norm", "x"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", types.FLOAT, [3])]
    shapes = {"q": [40, 64], "d": [40, 2], "y": [3]}
    outputs = [helper.make_tensor_value_info(n, types.FLOAT, s) for n, s in shapes.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, held)
    opset = helper.make_opsetid("", 18)
    onnx.save_model(helper.make_model(graph, opset_imports=[opset], ir_version=9), place)
    return arrays


def test_fields_of_a_model_become_its_inputs() -> None:
    onnx = pytest.importorskip("onnx")
    arrays = model_of_fields(Path("in.onnx"))
    pack_weights("in.onnx", "out.onnx", layoutdsl.parse(GROUP), target="numpy")
    assert verify_weights("out.onnx", "in.onnx").fault is None
    found = onnx.load("out.onnx")
    onnx.checker.check_model(found, full_check=True)
    assert [each.name for each in found.graph.input] == ["x", "m.0.q", "m.0.d"]
    assert {each.name for each in found.graph.initializer} == {"blk.0", "norm"}
    unpack_weights("out.onnx", "again.onnx", target="numpy")
    one, other = (onnx.load(each) for each in ("in.onnx", "again.onnx"))
    for each in other.graph.initializer:
        assert (onnx.numpy_helper.to_array(each) == arrays[each.name]).all()
    for model in (one, other):
        model.graph.ClearField("initializer")
    assert one == other


def test_a_model_of_fields_runs_when_it_is_given_them() -> None:
    runtime = pytest.importorskip("onnxruntime")
    arrays = model_of_fields(Path("in.onnx"))
    pack_weights("in.onnx", "out.onnx", layoutdsl.parse(GROUP), target="numpy")
    given = {"x": np.ones(3, "f4")}
    fields = {name: arrays[name] for name in ("m.0.q", "m.0.d")}
    sessions = [runtime.InferenceSession(each) for each in ("in.onnx", "out.onnx")]
    one, other = sessions[0].run(None, given), sessions[1].run(None, given | fields)
    assert all((a == b).all() for a, b in zip(one, other, strict=True))


# What a file says of itself, by somebody else.

LIES = (
    ('"m.0.q",[2,32]', '"m.0.q",[2,64]'),
    ('"m.0.q",[2,32]', '"m.0.q",[0,32]'),
    ('"m.0.q",[2,32]', '"m.0.d",[2,32]'),
    ('"u8"', '"f8"'),
    ('"f16"', '"u16"'),
    ('"version":2', '"version":1'),
    ('"version":2', '"version":4'),
    ('"record":', '"recorx":'),
    ('"fields":', '"layout":'),
    (',["m.0.q",[2,32],"u8","|u1"]', ""),
    ("of f16", "of i16"),
    ("R*", "R+"),
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("one", "other"), LIES)
def test_lies_about_groups(one: str, other: str) -> None:
    arrays = {"m.0.d": np.ones((2, 1), "f2"), "m.0.q": np.ones((2, 32), "u1")}
    np.savez("in.npz", **arrays)
    pack_weights("in.npz", "out.npz", layoutdsl.parse(GROUP), target="numpy")
    with np.load("out.npz") as found:
        members = {name: found[name] for name in found.files if not name.startswith("layoutdsl")}
    with zipfile.ZipFile("out.npz") as archive:
        said = as_older(archive.read("layoutdsl.json").decode())
    changed = said.replace(one, other)
    np.savez("lie.npz", **members)
    with zipfile.ZipFile("lie.npz", "a") as archive:
        archive.writestr("layoutdsl.json", changed)
    try:
        unpack_weights("lie.npz", "again.npz", target="numpy")
    except UnfitError:
        assert not Path("again.npz").exists()
        return
    with np.load("again.npz") as again:
        assert all(again[name].tobytes() == each.tobytes() for name, each in arrays.items())
    assert other == '"f8"' or changed == said


# Names.


def names_of(pattern: str) -> Any:
    """The names of the only field of a group."""
    holes = "".join(f".{hole}" for hole in ("{i}", "{p}") if hole in pattern)
    text = "record One(r) = { d(r) = [r] of u8 }\n"
    module = layoutdsl.parse(f'{text}group "g{holes}" = One(d = "{pattern}") as "g{holes}"')
    return module.rules[0].sources[0]


@pytest.mark.slow
def test_names_are_read_as_by_regular_expressions() -> None:
    draw = Random(0)
    read = 0
    for _ in range(600):
        pieces = draw.choices(("a", "b", ".", "{i}", "{p}"), k=draw.randint(1, 6))
        try:
            names = names_of("".join(pieces))
        except LayoutError:  # holes without anything between them, or not all of them
            continue
        read += 1
        meant, seen = "", set[str]()
        for each in pieces:
            hole = each.strip("{}") if each[0] == "{" else ""
            meant += (
                f"(?P={hole})"
                if hole in seen
                else f"(?P<{hole}>[^.]+)"
                if hole
                else re.escape(each)
            )
            seen |= {hole} - {""}
        name = "".join(draw.choices("ab.", k=draw.randint(0, 6)))
        for each in (name, names.written({"i": "ab", "p": "b"})):
            found = re.fullmatch(meant, each)
            assert names.read(each) == (None if found is None else found.groupdict())
    assert read > 50
