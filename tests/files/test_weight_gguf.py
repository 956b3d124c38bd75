"""Files of GGUF: packed ones as gguf-py reads them, those of gguf-py, and headers that lie."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import pytest
from weight_headers import SHAPES, refusal, refused
from weight_judges import by_gguf
from weight_readers import contents_of, write_safetensors

from layoutdsl import UnfitError, inspect_weights, pack_weights, parse, unpack_weights

KEEP = 'tensor "**" = keep'
WORDS = {
    **{f"{sign}{bits}": f"I{bits}" for sign in "IU" for bits in (8, 16, 32, 64)},
    **{each: each for each in ("F16", "F32", "F64", "BF16")},
    **dict.fromkeys(("BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0"), "I8"),
    "C64": "I64",
}
"""The type of GGUF for each of safetensors: where it has none, integers of that width."""


def width(word: str) -> int:
    return {"8": 1, "16": 2, "32": 4, "64": 8}[WORDS[word].strip("BFI")]


@pytest.mark.parametrize("seed", range(8))
def test_files_of_ours_are_read_by_gguf(tmp_path: Path, seed: int) -> None:
    """Every type and drawn shapes; GGUF has from 1 to 4 axes, so others are said beside."""
    source, place, back = tmp_path / "a.safetensors", tmp_path / "a.gguf", tmp_path / "b"
    draw = Random(seed)
    shapes: dict[str, tuple[int, ...]] = {word: draw.choice(SHAPES) for word in WORDS}
    given: dict[str, tuple[str, tuple[int, ...], bytes]] = {
        f"{word}.w": (word, shape, draw.randbytes(prod(shape) * width(word)))
        for word, shape in shapes.items()
    }
    given["more"] = ("F32", (2,) * 6, draw.randbytes(256))
    write_safetensors(source, given)
    pack_weights(source, place, parse(KEEP), target="numpy")
    tensors, keys = by_gguf(place)
    assert list(tensors) == list(given)
    assert json.loads(keys["layoutdsl"])["form"] == "safetensors"
    for name, (kind, shape, data) in given.items():
        word, found_shape, found = tensors[name]
        assert (word, found) == (WORDS[kind], data)
        if 0 < len(shape) < 5:
            assert found_shape == shape
    assert tensors["more"][1] == (8, 2, 2, 2)
    shown = {each.name: (each.extents, each.bytes) for each in inspect_weights(place).tensors}
    assert shown == {name: (shape, len(data)) for name, (_, shape, data) in given.items()}
    unpack_weights(place, back.with_suffix(".safetensors"), target="numpy")
    assert contents_of(back.with_suffix(".safetensors")) == given


def gguf_file(place: Path, seed: int, alignment: int = 32) -> None:
    """A file that their writer makes: every type that it has, and keys of every type."""
    gguf, draw = pytest.importorskip("gguf"), Random(seed)
    writer = gguf.GGUFWriter(place, "llama")
    if alignment != 32:
        writer.add_custom_alignment(alignment)
    writer.add_array("tokens", [f"t\u00e4{n}" * (n % 7) for n in range(1000)])
    writer.add_array("numbers", [1, 2, 3])
    for word in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        getattr(writer, f"add_{word}")(word, 7)
    for word in ("float32", "float64"):
        getattr(writer, f"add_{word}")(word, 0.5)
    writer.add_bool("bool", True)
    for kind in gguf.GGMLQuantizationType:
        rows, (_, size) = draw.choice([(2,), (1, 3), (2, 2, 2)]), gguf.GGML_QUANT_SIZES[kind]
        data = np.frombuffer(draw.randbytes(prod(rows) * size * 3), np.uint8)
        writer.add_tensor(kind.name, data.reshape(*rows, size * 3), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("alignment", [32, 8, 4096])
def test_files_of_gguf_are_read_and_kept(tmp_path: Path, alignment: int) -> None:
    place, packed, again = (tmp_path / f"{name}.gguf" for name in "abc")
    gguf_file(place, alignment, alignment)
    tensors, keys = by_gguf(place)
    found = inspect_weights(place)
    assert {e.name: (e.type, e.extents, e.bytes) for e in found.tensors} == {
        name: (kind, shape, len(data)) for name, (kind, shape, data) in tensors.items()
    }
    assert not found.packed
    pack_weights(place, packed, parse(KEEP), target="numpy")
    found_tensors, found_keys = by_gguf(packed)
    assert json.loads(found_keys.pop("layoutdsl"))["form"] == "gguf"
    assert (found_tensors, found_keys) == (tensors, keys)
    unpack_weights(packed, again, target="numpy")
    assert again.read_bytes() == place.read_bytes()


ELEMENTS = ("f16", "f32", "f64", "bf16", "i8", "i16", "i32", "i64")
OTHERS = {"f16": "bf16", "f32": "i32", "f64": "i64", "bf16": "f16"} | {
    f"i{bits}": f"f{bits}" for bits in (8, 16, 32, 64)
}


@pytest.mark.parametrize("kind", ELEMENTS)
def test_items_are_elements_of_their_type(tmp_path: Path, kind: str) -> None:
    """A layout of the element type fits; another one of the same width does not."""
    word = kind.upper()
    items = np.frombuffer(Random(1).randbytes(6 * width(word)), f"V{width(word)}").reshape(2, 3)
    bare, packed = tmp_path / "bare.gguf", tmp_path / "packed.gguf"
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(bare, "llama")
    data = np.frombuffer(items.tobytes(), np.uint8).reshape(2, -1)
    writer.add_tensor("a", data, raw_dtype=gguf.GGMLQuantizationType[word])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(UnfitError, match="does not fit"):
        pack_weights(bare, packed, parse(turned(OTHERS[kind])), target="numpy")
    pack_weights(bare, packed, parse(turned(kind)), target="numpy")
    assert by_gguf(packed)[0] == {"a": (word, (3, 2), items.T.tobytes())}


def turned(kind: str) -> str:
    return f'layout Turned(n, k) = [k, n] of {kind}\ntensor "a" = Turned'


def gguf_head(tensors: int = 0, keys: int = 0, version: int = 3, rest: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + rest


def text(words: str | bytes) -> bytes:
    data = words.encode() if isinstance(words, str) else words
    return struct.pack("<Q", len(data)) + data


def info(name: str, dims: Sequence[int], kind: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


def gguf_tensors(*infos: bytes, data: bytes = b"") -> bytes:
    head = gguf_head(len(infos), rest=b"".join(infos))
    return head + bytes(-len(head) % 32) + data


GGUF_LIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "it does not start as one"),
    "version": (gguf_head(version=1), "it is of version 1, and 2 and 3 are known"),
    "order": (gguf_head(version=9 << 24), "it is of version 9, and 2 and 3 are known"),
    "neither": (gguf_head(version=3 << 8), "it is of version 768, and 2 and 3 are known"),
    "other counts": (gguf_head(1, version=3 << 24), "claims 72057594037927936 tensors and 0 keys"),
    "tensors": (gguf_head(2**60), "it claims 1152921504606846976 tensors and 0 keys, and 262144 a"),
    "short": (gguf_head(1), "is cut short: 24 bytes, and it says 32"),
    "name": (
        gguf_head(1, rest=b"\xff" * 8),
        "is cut short: 32 bytes, and it says 18446744",
    ),
    "array": (
        gguf_head(0, 1, rest=text("a") + struct.pack("<IIQ", 9, 0, 2**60)),
        "is cut short: 49 bytes, and it says 1152921504606847025",
    ),
    "texts": (
        gguf_head(0, 1, rest=text("a") + struct.pack("<IIQ", 9, 8, 2**60)),
        "is cut short: 49 bytes, and it says",
    ),
    "arrays": (
        gguf_head(0, 1, rest=text("a") + struct.pack("<IIQ", 9, 9, 1)),
        "its value of `a` is of no known type (9)",
    ),
    "value": (
        gguf_head(0, 1, rest=text("a") + struct.pack("<I", 13)),
        "its value of `a` is of no known type (13)",
    ),
    "key": (gguf_head(0, 1, rest=text(b"\xff")), "the name of a key is no UTF-8"),
    "tensor": (gguf_head(1, 0, rest=text(b"\xff")), "the name of a tensor is no UTF-8"),
    "keys": (gguf_head(0, 2, rest=2 * (text("a") + b"\0\0\0\0\1")), "it says `a` twice"),
    "alignment": (
        gguf_head(0, 1, rest=text("general.alignment") + struct.pack("<II", 4, 33)),
        "its `general.alignment` is no power of two up to 65536",
    ),
    "wide": (
        gguf_head(0, 1, rest=text("general.alignment") + struct.pack("<II", 4, 2**31)),
        "its `general.alignment` is no power of two up to 65536",
    ),
    "ours": (
        gguf_head(0, 1, rest=text("layoutdsl") + struct.pack("<II", 4, 33)),
        "what it says under `layoutdsl` is no text",
    ),
    "ours no text": (
        gguf_head(0, 1, rest=text("layoutdsl") + struct.pack("<I", 8) + text(b"\xff")),
        "what it says under `layoutdsl` is no UTF-8",
    ),
    "entries": (
        gguf_head(0, 1, rest=text("layoutdsl.entries") + struct.pack("<I", 8) + text('{"a":{}}')),
        "`layoutdsl.entries` names no type and shape",
    ),
    "no such entry": (
        gguf_head(
            0,
            1,
            rest=text("layoutdsl.entries")
            + struct.pack("<I", 8)
            + text('{"a":{"type":"u8","shape":[]}}'),
        ),
        "`layoutdsl.entries` says of `a` what does not fit",
    ),
    "rank": (gguf_tensors(info("a", (1,) * 5)), "`a` is of rank 5, and 4 axes are the most"),
    "type": (gguf_tensors(info("a", (1,), 4)), "has the tensor `a` of the type 4, which this ver"),
    "huge": (gguf_tensors(info("a", (2**40, 2**40))), "with a shape of more than 2**59 elements"),
    "rows": (
        gguf_tensors(info("a", (33,), 2)),
        "the rows of `a` are no whole blocks of 32 of",
    ),
    "offset": (
        gguf_tensors(info("a", (1,), 0, 4), data=bytes(8)),
        "`a` does not lie at a multiple",
    ),
    "end": (gguf_tensors(info("a", (1,), 0, 32), data=bytes(32)), "is cut short: 96 bytes, and it"),
    "over": (
        gguf_tensors(info("a", (9,)), info("b", (1,), 0, 32), data=bytes(64)),
        "`b` lies over another",
    ),
    "twice": (gguf_tensors(info("a", (0,)), info("a", (0,))), "two tensors are called `a`"),
}


@pytest.mark.parametrize("lie", GGUF_LIES)
def test_headers_of_gguf_that_lie(tmp_path: Path, lie: str) -> None:
    whole, words = GGUF_LIES[lie]
    found = refused(tmp_path / "a.gguf", whole)
    assert found is not None
    assert words in found
    assert "; fetch it again, or write it anew" in found or lie == "type"


def test_a_long_header_of_gguf_is_no_file_cut_short(tmp_path: Path) -> None:
    place = tmp_path / "a.gguf"
    with place.open("wb") as file:
        file.write(gguf_head(0, 1, rest=text("a") + struct.pack("<IIQ", 9, 0, 2**28)))
        file.truncate(2**29)
    found = refusal(place)
    assert found == (
        "says more than 100000000 bytes besides its items; fetch it again, or write it anew"
    )
