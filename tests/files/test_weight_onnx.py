"""Models of ONNX, as their package writes and reads them, in one file and in several, and lies."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import weight_files as files
from weight_judges import by_onnx

from layoutdsl.files.weights import onnx as ours
from layoutdsl.files.weights import onnx_numbers, protobuf
from layoutdsl.files.weights.form import Wanted
from layoutdsl.files.weights.onnx import Onnx
from layoutdsl.files.weights.onnx_types import TYPES
from layoutdsl.files.weights.protobuf import number, run, varint

ONNX = Onnx()


def initialiser(name: str, word: str, shape: tuple[int, ...], draw: Random) -> Any:
    onnx = pytest.importorskip("onnx")
    found = onnx.TensorProto(name=name, data_type=TYPES[word].number, dims=shape)
    found.raw_data = draw.randbytes(-(-int(np.prod(shape)) * TYPES[word].bits // 8))
    return found


def model_of(tensors: list[Any], nodes: list[Any] | None = None) -> Any:
    onnx = pytest.importorskip("onnx")
    out = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph(nodes or [], "g", [], [out], initializer=tensors)
    found = onnx.helper.make_model(graph, producer_name="t")
    onnx.helper.set_model_props(found, {"author": "me"})
    return found


def every_type(seed: int) -> list[Any]:
    """An initialiser of every type, of any shape; all but the first 20 of more than a kilobyte."""
    draw = Random(seed)
    return [
        initialiser(f"t{n}.\u00e4", word, draw.choice(files.SHAPES) if n < 20 else (33, 128), draw)
        for n, word in enumerate([*TYPES, *TYPES])
    ]


def test_types_of_onnx() -> None:
    onnx = pytest.importorskip("onnx")
    theirs = dict(onnx.TensorProto.DataType.items())
    assert {word: found.number for word, found in TYPES.items()} == {
        word: value for word, value in theirs.items() if word not in ("UNDEFINED", "STRING")
    }


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_models_of_onnx_are_read_and_kept(tmp_path: Path, seed: int, outside: bool) -> None:
    onnx = pytest.importorskip("onnx")
    place, again, model = tmp_path / "a.onnx", tmp_path / "b.onnx", model_of(every_type(seed))
    model.graph.initializer[3].doc_string = "said"
    where = {"save_as_external_data": True, "location": "a.bin", "size_threshold": 40 * seed}
    onnx.save_model(model, place, **(where if outside else {}))
    theirs = by_onnx(place)
    with files.opened(ONNX, place) as contents:
        entries = contents.entries
        assert {e.name: (e.native, e.shape, files.data(e)) for e in entries} == theirs
        assert {e.type for e in entries} == {each.kind for each in TYPES.values()}
        assert len(contents.files) == outside
        items = [files.data(each) for each in entries]
        files.write(again, ONNX.arrange(contents, files.kept(entries), files.SAID), items)
    assert by_onnx(again) == theirs
    found = onnx.load(again, load_external_data=False)
    props = {each.key: each.value for each in found.metadata_props}
    assert props == {"author": "me", "layoutdsl": files.SAID}
    assert found.graph.initializer[3].doc_string == "said"
    for each in found.graph.initializer:
        is_small = len(theirs[each.name][2]) < 40 * seed or not outside
        assert each.data_location == 1 or (is_small and each.ByteSize() < ours.INSIDE)
        assert each.data_location == 0 or each.external_data[0].value == "b.onnx.data"
    found.graph.ClearField("initializer")
    del found.metadata_props[1:]
    for each in (model, found):
        each.graph.ClearField("initializer")
    assert found == model
    with files.opened(ONNX, again) as contents:
        assert contents.said == files.SAID


@pytest.mark.parametrize("seed", range(4))
def test_models_of_ours_are_read_by_onnx(tmp_path: Path, seed: int) -> None:
    """From nothing, as of a file of another form."""
    onnx, place = pytest.importorskip("onnx"), tmp_path / "a.onnx"
    wanted, items = files.drawn(seed, files.KINDS)
    wanted.append(files.wanted("large", "f32", (1 << 15,)))
    items.append(Random(seed).randbytes(1 << 17))
    arranged = ONNX.arrange(None, wanted, files.SAID)
    assert not arranged.starts[-1] % 4096
    files.write(place, arranged, items)
    onnx.checker.check_model(place)
    found = by_onnx(place)
    assert list(found) == [each.name for each in wanted]
    for each, data in zip(wanted, items, strict=True):
        word, shape, bits = found[each.name]
        assert (TYPES[word].kind, shape, bits) == (each.type, each.shape, data)


def test_items_that_are_not_raw(tmp_path: Path) -> None:
    """Numbers are read, whatever they lie as; texts stay in the model as they are."""
    onnx = pytest.importorskip("onnx")
    make, types = onnx.helper.make_tensor, onnx.TensorProto
    place, again = tmp_path / "a.onnx", tmp_path / "b.onnx"
    tensors = [
        make("f", types.FLOAT, (2, 2), [1.0, 2.0, 3.0, 4.0]),
        make("d", types.DOUBLE, (2,), [1.0, 2.0]),
        make("i", types.INT64, (3,), [1, -2, 3]),
        make("h", types.FLOAT16, (2,), [1.0, 2.0]),
        make("s", types.STRING, (1,), ["text"]),
    ]
    onnx.save_model(model_of(tensors), place)
    with files.opened(ONNX, place) as contents:
        entries = contents.entries
        kinds = {"f": "f4", "d": "f8", "i": "i8", "h": "f2"}
        assert {e.name: np.frombuffer(files.data(e), kinds[e.name]).tolist() for e in entries} == {
            "f": [1, 2, 3, 4],
            "d": [1, 2],
            "i": [1, -2, 3],
            "h": [1, 2],
        }
        packed = [Wanted("f", "f32", None, (4, 1), 16), *files.kept(entries[1:])]
        items = [files.data(each) for each in entries]
        files.write(again, ONNX.arrange(contents, packed, ""), items)
    found = {each.name: each for each in onnx.load(again).graph.initializer}
    arrays = {name: onnx.numpy_helper.to_array(each).tolist() for name, each in found.items()}
    assert arrays == {
        "f": [[1], [2], [3], [4]],
        "d": [1, 2],
        "i": [1, -2, 3],
        "h": [1, 2],
        "s": ["text"] if isinstance(arrays["s"][0], str) else [b"text"],
    }


def in_numbers(word: str, count: int, draw: Random) -> tuple[bytes, Any]:
    """An initialiser whose items are numbers, in some runs; and what the package reads."""
    onnx = pytest.importorskip("onnx")
    found = TYPES[word]
    least, field = max(found.bits, 8), onnx.helper.tensor_dtype_to_field(found.number)
    elements = max(count, 1) * (8 // found.bits if found.bits < 8 else 1)
    tensor = onnx.TensorProto(name=word, data_type=found.number, dims=[elements])
    if field in ("float_data", "double_data"):
        values = [draw.uniform(-9, 9) for _ in range(elements * (2 if "COMPLEX" in word else 1))]
        coded = [struct.pack("<f" if field == "float_data" else "<d", each) for each in values]
    else:
        low = -(1 << least - 1) if word.startswith("INT") else 0
        values = [draw.choice((0, 1, low, low + (1 << least) - 1, draw.randrange(1 << least) + low))
                  for _ in range(max(count, 1))]  # fmt: skip
        if word == "BOOL":
            values = [each & 1 for each in values]
        coded = [varint(each % (1 << 64)) for each in values]
    getattr(tensor, field).extend(values)
    numbers = {"float_data": 4, "int32_data": 5, "int64_data": 7, "double_data": 10}.get(field, 11)
    cut = draw.randint(0, len(coded))
    runs = [b"".join(coded[:cut]), b"".join(coded[cut:])]
    parts = [number(1, elements), number(2, found.number), run(8, word)]
    return run(5, b"".join(parts + [run(numbers, each) for each in runs])), tensor


@pytest.mark.parametrize("seed", range(2))
def test_numbers_of_every_type_are_those_of_the_package(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    onnx, draw = pytest.importorskip("onnx"), Random(seed)
    monkeypatch.setattr(onnx_numbers, "_WINDOW", draw.choice((1, 7, 1 << 20)))
    wanted, whole = {}, b""
    for word, kind in TYPES.items():
        if kind.bits == 6:
            continue
        field, tensor = in_numbers(word, draw.choice((0, 1, 5, 300)), draw)
        whole += field
        array = onnx.numpy_helper.to_array(tensor)
        wanted[word] = array.tobytes()
        if kind.bits < 8:
            wanted[word] = bytes(each & 255 for each in tensor.int32_data)
    place = tmp_path / "a.onnx"
    place.write_bytes(run(7, whole))
    onnx.load(place)
    with files.opened(ONNX, place) as contents:
        assert {each.name: files.data(each) for each in contents.entries} == wanted


def test_numbers_that_are_none_of_their_type_stay(tmp_path: Path) -> None:
    """Of another field than the type has, of six bits, or in more runs than anybody writes."""
    place, again = tmp_path / "a.onnx", tmp_path / "b.onnx"
    odd = [
        number(1, 1) + number(2, 7) + run(8, "a") + run(5, b"\1"),
        number(1, 1) + number(2, 27) + run(8, "b") + run(5, b"\1"),
        number(1, 300) + number(2, 3) + run(8, "c") + run(5, b"\1") * 300,
        number(1, 1) + number(2, 3) + run(8, "d") + number(5, 1),
    ]
    place.write_bytes(run(7, b"".join(run(5, each) for each in odd)))
    with files.opened(ONNX, place) as contents:
        assert contents.entries == ()
        files.write(again, ONNX.arrange(contents, [], ""), [])
    assert again.read_bytes() == place.read_bytes()


def test_shapes_are_inferred_from_what_is_kept(tmp_path: Path) -> None:
    """Of a tensor in another file, ONNX would not read the shape that `Reshape` is given."""
    onnx = pytest.importorskip("onnx")
    place, again, helper = tmp_path / "a.onnx", tmp_path / "b.onnx", onnx.helper
    shape = onnx.numpy_helper.from_array(np.array([4, 256], np.int64), "shape")
    weight = onnx.numpy_helper.from_array(np.zeros(1024, np.float32), "w")
    node = helper.make_node("Reshape", ["w", "shape"], ["y"])
    onnx.save_model(model_of([shape, weight], [node]), place)
    with files.opened(ONNX, place) as contents:
        items = [files.data(each) for each in contents.entries]
        arranged = ONNX.arrange(contents, files.kept(contents.entries), "")
        files.write(again, arranged, items)
    inferred = onnx.shape_inference.infer_shapes(onnx.load(again, load_external_data=False))
    dims = inferred.graph.output[0].type.tensor_type.shape.dim
    assert [each.dim_value for each in dims] == [4, 256]


def test_what_is_small_and_not_kept_is_what_was_written(tmp_path: Path) -> None:
    """It has the word that it had, and may have other bytes under the same name."""
    pytest.importorskip("onnx")
    place, again = tmp_path / "a.onnx", tmp_path / "b.onnx"
    place.write_bytes(inside(number(1, 4), number(2, 2), run(8, "w"), run(9, "1234")))
    with files.opened(ONNX, place) as contents:
        wanted = [Wanted("w", "u8", "UINT8", (4,), 4)]
        files.write(again, ONNX.arrange(contents, wanted, ""), [b"4321"])
    assert by_onnx(again) == {"w": ("UINT8", (4,), b"4321")}


def outside(**said: str) -> bytes:
    """A model of one initialiser of four bytes in another file."""
    parts = [number(1, 4), number(2, 2), run(8, "w"), number(14, 1)]
    parts += [run(13, run(1, key) + run(2, value)) for key, value in said.items()]
    return run(7, run(5, b"".join(parts)))


def inside(*parts: bytes) -> bytes:
    return run(7, run(5, b"".join(parts)))


def hidden(*way: int) -> bytes:
    """A model with a tensor in another file, somewhere within."""
    found = run(8, "v") + run(13, run(1, "location") + run(2, "w")) + number(14, 1)
    for each in way:
        found = run(each, found)
    return found


PLACE = "which is no place below its folder; put them beside it, and name them so"
LIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it has no graph"),
    "text": (b"GGUF and more", "it is no message of protobuf"),
    "group": (varint(7 << 3 | 3), "it is no message of protobuf"),
    "zero": (run(0, b""), "it is no message of protobuf"),
    "short": (b"\x3a\x7f", "a part of it is longer than what it is in"),
    "within": (b"\x3a\xff", "a number in it does not end, or has more"),
    "wide": (b"\xff" * 11, "a number in it does not end, or has more"),
    "graphs": (run(7, b"") * 2, "it has not one graph"),
    "number": (number(7, 1), "it has not one graph"),
    "fields": (run(7, number(9, 1) * 20_001), "it has more than 20000 fields"),
    "dims": (inside(run(1, b"\1" * 10_000), number(2, 2)), "of rank 33, and 32 axes are the m"),
    "below": (inside(number(1, 2**64 - 1), number(2, 2)), "`` has an extent below 0"),
    "huge": (inside(number(1, 2**60), number(2, 2)), "with a shape of more than 2**59 elements"),
    "size": (inside(number(1, 4), number(2, 2), run(9, b"123")), "has 3 bytes of items, and its s"),
    "few": (inside(number(1, 4), number(2, 2), run(5, b"1")), "has 1 bytes of items, and its sh"),
    "many": (inside(number(1, 1), number(2, 7), run(7, b"12")), "has more bytes of items, and it"),
    "long": (inside(number(1, 1), number(2, 7), run(7, b"\xff" * 10 + b"\1")), "more than 64 bits"),
    "high": (inside(number(1, 1), number(2, 7), run(7, b"\xff" * 9 + b"\2")), "more than 64 bits"),
    "open": (inside(number(1, 1), number(2, 7), run(7, b"1\xff")), "a number in it does not end"),
    "name": (inside(run(8, b"\xff"), number(2, 2)), "a name in it is no UTF-8"),
    "twice": (run(7, run(5, number(2, 2) + run(9, "1")) * 2), "two initialisers are called ``"),
    "type": (inside(number(2, 99), number(14, 1)), "has the initialiser `` of the type 99, and FL"),
    "both": (
        inside(number(2, 2), run(9, "1"), number(14, 1)),
        "items of `` lie in it and in another file",
    ),
    "said": (run(14, run(1, "layoutdsl")) * 2 + run(7, b""), "it says `layoutdsl` twice"),
    "nowhere": (outside(), PLACE),
    "root": (outside(location="/etc/passwd"), PLACE),
    "out": (outside(location="in/../../w"), PLACE),
    "zero in": (outside(location="w\0"), PLACE),
    "folder": (
        outside(location="in"),
        "has items of `w` in `in`, which is no plain file; copy both",
    ),
    "gone": (
        outside(location="v"),
        "has items of `w` in `v`, which is not there; copy both files into",
    ),
    "link": (
        outside(location="link"),
        "has items of `w` in `link`, which is a link, or lies behind one",
    ),
    "behind": (outside(location="there/w"), "which is a link, or lies behind one; copy both files"),
    "pipe": (
        outside(location="pipe"),
        "has items of `w` in `pipe`, which is no plain file; copy both",
    ),
    "end": (
        outside(location="w", offset="2"),
        "has items of `w` in `w`, which is cut short: 5 bytes, and it says 6; fetch it again",
    ),
    "offset": (outside(location="w", offset="-1"), "the offset of `w` is `-1`, which is no place"),
    "digits": (outside(location="w", offset="9" * 30), "the offset of `w` is `9999999999999999999"),
    "length": (outside(location="w", length="3"), "`w` has 3 bytes, and its shape and type say 4"),
    "subgraph": (
        hidden(5, 6, 5, 1, 7),
        "has the tensor `v` in another file, which is no initialiser of its main graph; put",
    ),
    "constant": (hidden(5, 5, 1, 7), "which is no initialiser of its main graph; put it into"),
    "function": (hidden(5, 5, 7, 25) + run(7, b""), "is no initialiser of its main graph"),
    "sparse": (hidden(1, 15, 7), "which is no initialiser of its main graph; put it into the"),
    "deep": (hidden(*(6, 5, 1) * 101, 7), "has more than 100 messages inside each other"),
}


@pytest.mark.parametrize("lie", LIES)
def test_models_that_lie(tmp_path: Path, lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf, "MOST_FIELDS", 20_000)
    (tmp_path / "in").mkdir()
    (tmp_path / "w").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("w")
    (tmp_path / "there").symlink_to(".")
    os.mkfifo(tmp_path / "pipe")
    whole, words = LIES[lie]
    found = files.refused(ONNX, tmp_path / "a.onnx", whole)
    assert found is not None
    assert words in found
    assert "; " in found or lie == "type"


@pytest.mark.parametrize("location", ["w", "./w", "in/w", "in/./w"])
def test_files_below_the_folder(tmp_path: Path, location: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / location).write_bytes(b"12345")
    place = tmp_path / "a.onnx"
    place.write_bytes(outside(location=location, offset="1", length="4", checksum="x"))
    assert files.said_of(ONNX, place) == {"w": ("u8", (4,), b"2345")}


def test_a_model_in_too_many_files(tmp_path: Path) -> None:
    """And none of them stays open."""
    tensors = []
    for name in map(str, range(300)):
        (tmp_path / name).write_bytes(b"")
        where = run(13, run(1, "location") + run(2, name))
        tensors.append(run(5, number(1, 0) + number(2, 2) + run(8, name) + where + number(14, 1)))
    whole = run(7, b"".join(tensors))
    assert files.refused(ONNX, tmp_path / "a.onnx", whole) == (
        "has items in more than 256 files; save it with all tensors in one file"
    )


def test_what_a_model_says_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import layoutdsl.files.weights.onnx_tensors as tensors

    monkeypatch.setattr(tensors, "MOST_HEADER", 1000)
    assert files.refused(ONNX, tmp_path / "a.onnx", run(7, run(2, bytes(2000)))) == (
        "has 2003 bytes besides initialisers, and 1000 are the most; "
        "make its large constants initialisers"
    )


def test_unusual_spellings_of_a_tensor(tmp_path: Path) -> None:
    """Dimensions side by side or not, fields twice: the last one holds, as in protobuf."""
    onnx, place = pytest.importorskip("onnx"), tmp_path / "a.onnx"
    parts = [run(1, b"\2"), number(1, 3), run(8, "v"), run(8, "w"), number(2, 1), number(2, 2)]
    place.write_bytes(inside(*parts, run(9, "12"), run(9, "123456"), run(77, "?")))
    assert files.said_of(ONNX, place) == {"w": ("u8", (2, 3), b"123456")}
    assert by_onnx(place) == {"w": ("UINT8", (2, 3), b"123456")}
    assert len(onnx.load(place).graph.initializer) == 1
