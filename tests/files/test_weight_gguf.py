"""Files of GGUF, as gguf-py writes and reads them, and headers that lie."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
import weight_files as files
from weight_judges import by_gguf

from layoutdsl.files.weights.bounds import item_bits
from layoutdsl.files.weights.form import Wanted
from layoutdsl.files.weights.gguf import Gguf
from layoutdsl.files.weights.gguf_types import TYPES as GGUF_TYPES

GGUF = Gguf()


def test_types_of_gguf() -> None:
    gguf = pytest.importorskip("gguf")
    theirs = {
        each.name: (each.value, *gguf.GGML_QUANT_SIZES[each]) for each in gguf.GGMLQuantizationType
    }
    assert {
        word: (found.number, found.elements, found.size) for word, found in GGUF_TYPES.items()
    } == theirs


@pytest.mark.parametrize("seed", range(8))
def test_files_of_ours_are_read_by_gguf(tmp_path: Path, seed: int) -> None:
    place = tmp_path / "a.gguf"
    wanted, items = files.drawn(seed, files.KINDS)
    wanted += [Wanted("blocks", None, "Q4_0", (2, 64), 72), files.wanted("more", "f32", (2,) * 6)]
    items += [bytes(72), Random(seed).randbytes(256)]
    files.write(place, GGUF.arrange(None, wanted, files.SAID), items)
    tensors, keys = by_gguf(place)
    assert list(tensors) == [each.name for each in wanted]
    assert keys["layoutdsl"] == files.SAID
    for each, data in zip(wanted, items, strict=True):
        word, shape, found = tensors[each.name]
        assert found == data
        assert shape == (each.shape if 0 < len(each.shape) < 5 else shape)
        assert GGUF_TYPES[word].kind in (each.type, f"i{item_bits(each.type)}")
    assert tensors["more"][1] == (8, 2, 2, 2)
    ours = files.said_of(GGUF, place)
    assert ours == {
        each.name: (each.type, each.shape, data) for each, data in zip(wanted, items, strict=True)
    }


def gguf_file(place: Path, seed: int, alignment: int = 32) -> None:
    """A file that their writer makes: every type, and keys of every type."""
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
    for word, found in GGUF_TYPES.items():
        rows = draw.choice([(2,), (1, 3), (2, 2, 2)])
        data = np.frombuffer(draw.randbytes(int(np.prod(rows)) * found.size * 3), np.uint8)
        shape = (*rows, found.size * 3)
        writer.add_tensor(word, data.reshape(shape), raw_dtype=gguf.GGMLQuantizationType[word])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("alignment", [32, 8, 4096])
def test_files_of_gguf_are_read_and_kept(tmp_path: Path, alignment: int) -> None:
    place, again = tmp_path / "a.gguf", tmp_path / "b.gguf"
    gguf_file(place, alignment, alignment)
    tensors, keys = by_gguf(place)
    with files.opened(GGUF, place) as contents:
        entries = contents.entries
        assert {e.name: (e.native, e.shape, files.data(e)) for e in entries} == tensors
        assert [e.type for e in entries] == [each.kind for each in GGUF_TYPES.values()]
        items = [files.data(each) for each in entries]
        files.write(again, GGUF.arrange(contents, files.kept(entries), ""), items)
        assert again.read_bytes() == place.read_bytes()
        files.write(again, GGUF.arrange(contents, files.kept(entries), files.SAID), items)
    assert by_gguf(again) == (tensors, {**keys, "layoutdsl": files.SAID})
    with files.opened(GGUF, again) as contents:
        assert contents.said == files.SAID
        assert contents.rest.count == len(keys)


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
    found = files.refused(GGUF, tmp_path / "a.gguf", whole)
    assert found is not None
    assert words in found
    assert "; fetch it again, or write it anew" in found or lie == "type"


def test_a_long_header_of_gguf_is_no_file_cut_short(tmp_path: Path) -> None:
    place = tmp_path / "a.gguf"
    with place.open("wb") as file:
        file.write(gguf_head(0, 1, rest=text("a") + struct.pack("<IIQ", 9, 0, 2**28)))
        file.truncate(2**29)
    found = files.refusal(GGUF, place)
    assert found == (
        "says more than 100000000 bytes besides its items; fetch it again, or write it anew"
    )
