"""Every public function takes the name of a library layout, record or table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutdsl

NAME, LAYOUT = "NCHW16c", layoutdsl.library("NCHW16c")
SHAPE = (2, 20, 3, 4)
TENSOR = np.arange(480, dtype="f4").reshape(SHAPE)
BUFFER = layoutdsl.pack(LAYOUT, TENSOR)
RECORD, TABLE = "Q4_0", "MaceHeightMajorPublished"
FIELDS = {"d": np.ones((1, 2), "f2"), "q": np.zeros((1, 64), "u1")}


def into_file(layout: Any) -> bytes:
    np.save("in.npy", TENSOR)
    layoutdsl.pack_file(layout, "in.npy", "out.npy", force=True)
    layoutdsl.unpack_file(layout, "out.npy", "back.npy", SHAPE, force=True)
    assert np.array_equal(np.load("back.npy"), TENSOR)
    return Path("out.npy").read_bytes()


OF_LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "banks": lambda each: (
        layoutdsl.banks(each, SHAPE, thread="n = 0, c = t%16, h = 0, w = 0", of="f32").banks.ways
    ),
    "compile": lambda each: layoutdsl.compile(each, "numpy"),
    "convert": lambda each: layoutdsl.convert(each, "NHWC", compiled="numpy"),
    "convert to": lambda each: layoutdsl.convert("NHWC", each, compiled="numpy"),
    "cost": lambda each: layoutdsl.cost(each, SHAPE),
    "diff": lambda each: layoutdsl.diff(each, "NHWC").status,
    "diff to": lambda each: layoutdsl.diff("NHWC", each).status,
    "differing_copies": lambda each: layoutdsl.differing_copies(each, BUFFER, SHAPE),
    "formula": lambda each: str(layoutdsl.formula(each).offset),
    "generate": lambda each: layoutdsl.generate(each, validate=False).text,
    "generate_c": lambda each: layoutdsl.generate_c(each, validate=False).program.text,
    "identify": lambda each: next(layoutdsl.identify(each)).name,
    "pack": lambda each: layoutdsl.pack(each, TENSOR).tolist(),
    "pack_file and unpack_file": into_file,
    "pieces_of": lambda each: layoutdsl.pieces_of(each, SHAPE, 10_000),
    "probe": lambda each: layoutdsl.probe(lambda x: x, each, SHAPE).same,
    "prove": lambda each: layoutdsl.prove(each).status,
    "show": lambda each: layoutdsl.show(each, SHAPE).svg(),
    "Tensor": lambda each: layoutdsl.Tensor(each, SHAPE, BUFFER)[1, 17, 2, 3],
    "Tensor.pack": lambda each: layoutdsl.Tensor.pack(each, TENSOR).buffer.tolist(),
    "to_notation": lambda each: layoutdsl.to_notation(each, "onednn"),
    "translate": lambda each: layoutdsl.translate(each, "onednn"),
    "unpack": lambda each: layoutdsl.unpack(each, BUFFER, SHAPE).tolist(),
}
OF_RECORDS: dict[str, Callable[[Any], Any]] = {
    "compile": lambda each: layoutdsl.compile(each, "numpy").pack(**FIELDS).tolist(),
    "convert": lambda each: type(layoutdsl.convert(each, each, compiled="numpy")),
    "cost": lambda each: layoutdsl.cost(each, (1, 64)).at,
    "generate_record": lambda each: layoutdsl.generate_record(each, validate=False).files,
    "prove": lambda each: layoutdsl.prove(each).status,
    "show": lambda each: layoutdsl.show(each, (1, 64)).svg(),
}
OF_TABLES: dict[str, Callable[[Any], Any]] = {
    "prove": lambda each: layoutdsl.prove(each).status,
    "show": lambda each: layoutdsl.show(each, (1, 2, 3, 4)).svg(),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", OF_LAYOUTS)
def test_a_layout_by_name(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert OF_LAYOUTS[verb](NAME) == OF_LAYOUTS[verb](LAYOUT)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", OF_RECORDS)
def test_a_record_by_name(verb: str) -> None:
    assert OF_RECORDS[verb](RECORD) == OF_RECORDS[verb](layoutdsl.library_record(RECORD))


@pytest.mark.parametrize("verb", OF_TABLES)
def test_a_table_by_name(verb: str) -> None:
    assert OF_TABLES[verb](TABLE) == OF_TABLES[verb](layoutdsl.library_module()[TABLE])


def test_parameters_follow_the_name() -> None:
    assert layoutdsl.pack("NCHWc<8>", TENSOR).shape == (2, 3, 3, 4, 8)
    with pytest.raises(layoutdsl.LayoutError, match="takes 1 parameter, not 2"):
        layoutdsl.pack("NCHWc<8, 2>", TENSOR)


NOT_THERE = "and the library has no"
WRONG: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: layoutdsl.compile("NCHW16"),
        f"`layout` is `NCHW16`, {NOT_THERE} layout or record of that name; did you mean `NCHW16c`?",
    ),
    (
        lambda: layoutdsl.convert("NHWC", "NCHW16"),
        f"`target` is `NCHW16`, {NOT_THERE} layout or record of that name; did you mean `NCHW16c`?",
    ),
    (
        lambda: layoutdsl.prove("layout A(n) = [n]"),
        f"`subject` is `layout A(n) = [n]`, {NOT_THERE} layout, record or table of that name; "
        "`layoutdsl.load` reads a file, `layoutdsl.parse` the text of one",
    ),
    (
        lambda: layoutdsl.diff(RECORD, NAME),
        "`one` is `Q4_0`, the name of a record, and has to be a layout",
    ),
    (
        lambda: layoutdsl.generate_record(NAME),
        "`record` is `NCHW16c`, the name of a layout, and has to be a record",
    ),
    (
        lambda: layoutdsl.pack(RECORD, TENSOR),
        "`layout` is the record `Q4_0`, and has to be a layout; `layoutdsl.compile` returns a "
        "module that takes its fields",
    ),
    (
        lambda: layoutdsl.library(TABLE),
        f"there is no layout `{TABLE}` in the library; `{TABLE}` is a table: "
        f'`layoutdsl.library_module()["{TABLE}"]` returns it',
    ),
    (
        lambda: layoutdsl.library(RECORD),
        "there is no layout `Q4_0` in the library; `Q4_0` is a record: `layoutdsl.library_record` "
        "returns it",
    ),
]


@pytest.mark.parametrize(("call", "said"), WRONG, ids=[said.split(";")[0] for _, said in WRONG])
def test_a_wrong_name_says_what_to_write(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the message is compared
        call()
    assert str(caught.value) == said


def test_a_module_holds_layouts_tables_and_records() -> None:
    module = layoutdsl.parse(
        "record Rows<k>(n) = { a(n, b: k) = [n, b] of u8 }\n"
        "table Slots(c)[i: C] = (c = i)\n"
        "layout Tile(n) = [n]\n"
    )
    assert list(module) == ["Tile", "Slots", "Rows"]
    assert len(module) == 3
    assert module["Tile"] is module.layouts["Tile"]
    assert module["Slots"] is module.tables["Slots"]
    assert module["Rows"] is module.records["Rows"]
    assert module["Rows<4>"] == module.records["Rows"].with_parameters(k=4)
    assert "Rows<4>" in module
    assert "Rows<4, 5>" not in module
    with pytest.raises(KeyError, match=r"record `Rows` has <k>, and not `Rows<4, 5>`"):
        module["Rows<4, 5>"]
    with pytest.raises(KeyError, match="no layout, table or record `Tlie`; did you mean `Tile`"):
        module["Tlie"]


def test_a_file_is_named_in_the_message(tmp_path: Path) -> None:
    place = tmp_path / "mine.layout"
    place.write_text("record MyBlock(n) = { a(n) = [n] of u8 }\n")
    module = layoutdsl.load(place)
    assert module["MyBlock"].field_shapes((3,)) == {"a": (3,)}
    with pytest.raises(KeyError, match=r"mine\.layout` has no layout, table or record `Other`"):
        module["Other"]


def test_the_library_as_one_module() -> None:
    module = layoutdsl.library_module()
    assert set(layoutdsl.library_names()) <= set(module)
    assert set(layoutdsl.library_record_names()) <= set(module)
    assert TABLE in module
