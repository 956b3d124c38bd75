"""Files of safetensors: packed files as their package reads them, and headers that lie."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from weight_headers import SHAPES, refused

from layoutdsl import UnfitError, inspect_weights, pack_weights, parse, unpack_weights

TYPES = {
    **{
        f"{word}{bits}": (f"{word[0].upper()}{bits}", f"{word[0]}{bits}", bits)
        for word in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
    **{f"float{bits}": (f"F{bits}", f"f{bits}", bits) for bits in (16, 32, 64)},
    "bool": ("BOOL", "bool", 8),
    "bfloat16": ("BF16", "bf16", 16),
    "complex64": ("C64", "c64", 64),
    "float8_e4m3fn": ("F8_E4M3", "f8e4m3", 8),
    "float8_e5m2": ("F8_E5M2", "f8e5m2", 8),
    "float8_e8m0fnu": ("F8_E8M0", "e8", 8),
    "float8_e4m3fnuz": ("F8_E4M3FNUZ", "f8", 8),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", "f8", 8),
    "float4_e2m1fn_x2": ("F4", None, 8),
}
"""Each type of the package: the format's word, our element type, and the bits of an item.

Two items of `F4` share a byte, so it has no element type, and its tensors can only be kept.
"""


def by_their_package(place: Path, seed: int) -> list[str]:
    """Write a file of tensors of every type; returns the types in the order of `t0`, `t1`, ..."""
    package = pytest.importorskip("safetensors")
    draw, given, held = Random(seed), dict[str, Any](), []
    words = [*TYPES, "uint8"]
    for number, word in enumerate(words):
        shape = draw.choice([*SHAPES[1:], (2, 8)])
        data = draw.randbytes(int(np.prod(shape)) * TYPES[word][2] // 8)
        held.append(np.frombuffer(bytearray(data) or bytearray(1), np.uint8))
        name = f"t{number}" if number else '\u00e4 " \\ \n'
        at, size = held[-1].ctypes.data, len(data)
        given[name] = package.TensorSpec(dtype=word, shape=shape, data_ptr=at, data_len=size)
    scalar = np.frombuffer(draw.randbytes(4), np.uint8)
    given["scalar"] = package.TensorSpec(
        dtype="float32", shape=(), data_ptr=scalar.ctypes.data, data_len=4
    )
    place.write_bytes(package.serialize(given, {"format": "pt"}))
    return words


@pytest.mark.parametrize("seed", range(8))
def test_files_of_their_package_there_and_back(tmp_path: Path, seed: int) -> None:
    """Their package reads every tensor of what we pack, and unpacking restores the whole file."""
    package = pytest.importorskip("safetensors")
    source, packed, again = (tmp_path / f"{name}.safetensors" for name in ("a", "b", "c"))
    by_their_package(source, seed)
    theirs = package.deserialize(source.read_bytes())
    assert {
        each.name: (each.type, each.extents, each.bytes) for each in inspect_weights(source).tensors
    } == {name: (each["dtype"], tuple(each["shape"]), len(each["data"])) for name, each in theirs}
    assert {each["dtype"] for _, each in theirs} == {word for word, _, _ in TYPES.values()}
    pack_weights(source, packed, parse('tensor "**" = keep'), target="numpy")
    assert dict(package.deserialize(packed.read_bytes())) == dict(theirs)
    with package.safe_open(packed, framework="np") as file:
        said = file.metadata()
    assert said["format"] == "pt"
    assert json.loads(said["layoutdsl"])["form"] == "safetensors"
    unpack_weights(packed, again, target="numpy")
    assert again.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("word", TYPES)
def test_items_are_elements_of_their_type(tmp_path: Path, word: str) -> None:
    """A layout of the element type fits, and one of another type of that width does not.

    The language has one `f8` for every other type of eight bits, so packed ones are written as U8.
    """
    package = pytest.importorskip("safetensors")
    theirs, kind, bits = TYPES[word]
    source, packed = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    items = np.frombuffer(Random(1).randbytes(6 * bits // 8) + bytes(8), np.uint8)
    given = package.TensorSpec(
        dtype=word, shape=(2, 3), data_ptr=items.ctypes.data, data_len=6 * bits // 8
    )
    source.write_bytes(package.serialize({"a": given}))

    def pack(kind: str) -> None:
        rules = parse(f'layout Turned(n, k) = [k, n] of {kind}\ntensor "a" = Turned')
        pack_weights(source, packed, rules, target="numpy")

    others = ("u8", "i8", "bool", "f8e4m3", "u16", "i16", "bf16", "u32", "f32", "u64", "f64")
    for other in others[4 if kind == "f8" else 0 :]:  # an `f8` is any element of eight bits
        if other != kind:
            with pytest.raises(UnfitError):
                pack(other)
            assert not packed.exists()
    if kind is None:
        return
    pack(kind)
    ((_, found),) = package.deserialize(packed.read_bytes())
    assert (found["dtype"], found["shape"]) == ("U8" if kind == "f8" else theirs, [3, 2])
    want = items[: 6 * bits // 8].reshape(2, 3, -1).transpose(1, 0, 2)
    assert bytes(found["data"]) == want.tobytes()


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
    found = refused(tmp_path / "a.safetensors", whole)
    assert found is not None
    assert words in found
    assert "; fetch it again, or write it anew" in found or lie == "type"
