"""Files of safetensors, as their package writes and reads them, and headers that lie."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import weight_files as files

from layoutdsl.files.weights.form import Wanted
from layoutdsl.files.weights.safetensors import TYPES, Safetensors

SAFETENSORS = Safetensors()


@pytest.mark.parametrize("seed", range(8))
def test_safetensors_are_opened_by_their_package(tmp_path: Path, seed: int) -> None:
    package, place = pytest.importorskip("safetensors"), tmp_path / "a.safetensors"
    wanted, items = files.drawn(seed, files.KINDS)
    wanted.append(Wanted("nibbles", None, "F4", (2, 8), 8))
    items.append(b"01234567")
    files.write(place, SAFETENSORS.arrange(None, wanted, files.SAID), items)
    found = dict(package.deserialize(place.read_bytes()))
    assert found.keys() == {each.name for each in wanted}
    for each, data in zip(wanted, items, strict=True):
        tensor = found[each.name]
        assert (tuple(tensor["shape"]), bytes(tensor["data"])) == (each.shape, data)
        assert TYPES[tensor["dtype"]][0] == each.type
    with package.safe_open(place, framework="np") as file:
        assert file.metadata() == {"layoutdsl": files.SAID}
    with files.opened(SAFETENSORS, place) as contents:
        assert (contents.said, contents.rest) == (files.SAID, {})


THEIRS = {
    **{
        f"{word}{bits}": f"{word[0].upper()}{bits}"
        for word in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
    "bool": "BOOL",
    "bfloat16": "BF16",
    "complex64": "C64",
    "float4_e2m1fn_x2": "F4",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e8m0fnu": "F8_E8M0",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
}


@pytest.mark.parametrize("seed", range(8))
def test_safetensors_of_their_package_are_read(tmp_path: Path, seed: int) -> None:
    package, place = pytest.importorskip("safetensors"), tmp_path / "a.safetensors"
    draw, given, held = Random(seed), dict[str, Any](), []
    for number, word in enumerate([*THEIRS, "uint8"]):
        shape = draw.choice([*files.SHAPES[1:], (2, 8)])
        data = draw.randbytes(int(np.prod(shape)) * max(TYPES[THEIRS[word]][1], 8) // 8)
        held.append(np.frombuffer(bytearray(data) or bytearray(1), np.uint8))
        name = f"t{number}" if number else '\u00e4 " \\ \n'
        at, size = held[-1].ctypes.data, len(data)
        given[name] = package.TensorSpec(dtype=word, shape=shape, data_ptr=at, data_len=size)
    place.write_bytes(package.serialize(given, {"format": "pt"}))
    found = files.said_of(SAFETENSORS, place)
    assert found == {
        name: (TYPES[each["dtype"]][0], tuple(each["shape"]), bytes(each["data"]))
        for name, each in package.deserialize(place.read_bytes())
    }
    with files.opened(SAFETENSORS, place) as contents:
        assert {each.name: each.native for each in contents.entries} == {
            name: each.dtype for name, each in given.items()
        }
        assert (contents.said, contents.rest) == (None, {"format": "pt"})
        same = [
            Wanted(each.name, each.type, each.native, each.shape, len(files.data(each)))
            for each in contents.entries
        ]
        again = tmp_path / "again.safetensors"
        items = [files.data(each) for each in contents.entries]
        files.write(again, SAFETENSORS.arrange(contents, same, ""), items)
    assert again.read_bytes() == place.read_bytes()


def header(found: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = found if isinstance(found, bytes) else json.dumps(found).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def tensor(*shape: int, dtype: str = "U8", at: tuple[int, int] = (0, 4)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(at)}


LIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it has 0 bytes, and no length of a header"),
    "long": (header(b"", length=2**40), "its header has 1099511627776 bytes, and 100000000 are"),
    "short": (header(b"{}", length=90), "is cut short: 10 bytes, and it says 98"),
    "words": (header(b"[]"), "its header does not start with `{`"),
    "deep": (header(b'{"a":' + b"[" * 100_000), "its header is no JSON"),
    "many": (header(b'{"a":[' + b"," * 5_000_000), "its header has more than 4000000 values"),
    "half": (header(b'{"\\ud800":1}'), "its header is no JSON"),
    "digits": (header(b'{"a":' + b"9" * 5000 + b"}"), "its header is no JSON"),
    "float": (header({"a": {**tensor(4), "shape": [4.0]}}), "its header holds the number `4.0`"),
    "nan": (header({"a": float("nan")}), "its header holds the number `NaN`"),
    "twice": (header(b'{"a":1,"b":2,"a":3}'), "its header says `a` twice"),
    "missing": (header({"a": {"dtype": "U8"}}), "of the tensor `a` more or less than"),
    "truth": (header({"a": {**tensor(4), "shape": [True]}}), "that are no numbers"),
    "negative": (header({"a": tensor(-4)}), "its header holds the number `-4`"),
    "type": (header({"a": tensor(4, dtype="I4")}), "has the tensor `a` of type `I4`, and BOOL, F4"),
    "size": (
        header({"a": tensor(5)}, b"1234"),
        "tensor `a` 4 bytes, and its shape and type have 5",
    ),
    "half a byte": (
        header({"a": tensor(7, dtype="F4")}, b"1234"),
        "tensor `a` 4 bytes, and its shape and type have 3.5",
    ),
    "huge": (header({"a": tensor(2**40, 2**40)}), "with a shape of more than 2**59 elements"),
    "rank": (header({"a": tensor(*(1,) * 40)}), "of rank 40, and 32 axes are the most"),
    "gap": (header({"a": tensor(4, at=(1, 5))}, b"12345"), "tensor `a` lies 1 bytes behind"),
    "over": (
        header({"a": tensor(4), "b": tensor(4, at=(2, 6))}, b"123456"),
        "tensor `b` lies over another",
    ),
    "end": (header({"a": tensor(4)}, b"123"), "is cut short: 3 bytes of items of 4"),
    "more": (header({"a": tensor(4)}, b"12345"), "goes on behind its tensors, by 1 bytes"),
    "said": (header({"__metadata__": {"a": 1}}), "its `__metadata__` are no texts"),
    "surrogate": (header(b'{"__metadata__":{"a":"\\udfff"}}'), "its `__metadata__` are no texts"),
    "ways": (header({"\x1b[2J\n" + "x" * 200: {}}), "tensor `?[2J?xxxxx"),
}


@pytest.mark.parametrize("lie", LIES)
def test_headers_of_safetensors_that_lie(tmp_path: Path, lie: str) -> None:
    whole, words = LIES[lie]
    found = files.refused(SAFETENSORS, tmp_path / "a.safetensors", whole)
    assert found is not None
    assert words in found
    assert "; fetch it again, or write it anew" in found or lie == "type"
