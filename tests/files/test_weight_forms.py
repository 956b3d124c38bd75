"""Files of weights of any format: names, what cannot be held, and what a hostile header costs."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import pytest
from processes import ended
from weight_headers import SHAPES
from weight_readers import contents_of, write_safetensors

from layoutdsl import UnfitError, inspect_weights, pack_weights, parse, unpack_weights

KEEP = 'tensor "**" = keep'
Given = dict[str, tuple[str, tuple[int, ...], bytes]]

ONE: Given = {"a": ("U8", (1,), b"a")}
UNFIT: dict[str, tuple[Given, str, str]] = {
    "two": ({**ONE, "b": ONE["a"]}, "npy", "npy holds one tensor, and"),
    "zero": ({"a\0": ONE["a"]}, "npz", "`a?.npy` is no name of a member"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_a_format_cannot_hold(tmp_path: Path, case: str) -> None:
    given, target, words = UNFIT[case]
    write_safetensors(tmp_path / "a.safetensors", given)
    with pytest.raises(UnfitError) as failed:
        pack_weights(tmp_path / "a.safetensors", tmp_path / f"b.{target}", parse(KEEP))
    assert words in str(failed.value)
    assert [each.name for each in tmp_path.iterdir()] == ["a.safetensors"]


def test_a_name_that_safetensors_keep_for_themselves(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", __metadata__=np.zeros(1, "u1"))
    with pytest.raises(UnfitError, match="`__metadata__` is no name of a tensor"):
        pack_weights(tmp_path / "a.npz", tmp_path / "b.safetensors", parse(KEEP))


def test_blocks_stay_in_their_format(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama")
    kind = gguf.GGMLQuantizationType.Q4_0
    writer.add_tensor("a", np.zeros((1, 18), np.uint8), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for target in ("safetensors", "npz"):
        with pytest.raises(UnfitError, match=f"`a` is of blocks that {target}"):
            pack_weights(tmp_path / "a.gguf", tmp_path / f"b.{target}", parse(KEEP))


def test_which_format_a_name_has(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "model.SafeTensors", ONE)
    assert inspect_weights(tmp_path / "model.SafeTensors").form == "safetensors"
    np.savez(tmp_path / "x.npy.npz", a=np.zeros(1))
    assert inspect_weights(tmp_path / "x.npy.npz").form == "npz"
    (tmp_path / "model.SafeTensors").rename(tmp_path / "a.dat")
    assert inspect_weights(tmp_path / "a.dat", form="safetensors").form == "safetensors"
    words = r"`[^`]*a\.dat` does not end in \.safetensors, .*; name its format with"
    with pytest.raises(ValueError, match=words):
        inspect_weights(tmp_path / "a.dat")
    with pytest.raises(ValueError, match=r"`pickle` is no format of weights; the formats are safe"):
        inspect_weights(tmp_path / "a.dat", form="pickle")


MANY = ("safetensors", "gguf", "onnx", "npz")
WIDTHS = {
    **{f"{sign}{bits}": bits // 8 for sign in "IU" for bits in (8, 16, 32, 64)},
    "F16": 2,
    "F32": 4,
    "F64": 8,
    "C64": 8,
    "BOOL": 1,
    "BF16": 2,
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0"), 1),
}


@pytest.mark.parametrize("middle", MANY)
@pytest.mark.parametrize("target", MANY)
def test_from_one_format_to_another(tmp_path: Path, middle: str, target: str) -> None:
    """Every type and shape; formats without a word for a type have one of its width."""
    source = tmp_path / "a.safetensors"
    draw, given = Random(7), Given()
    for word, width in WIDTHS.items():
        shape: tuple[int, ...] = draw.choice(SHAPES)
        data = bytes(prod(shape)) if word == "BOOL" else draw.randbytes(prod(shape) * width)
        given[word] = word, shape, data
    write_safetensors(source, given)
    packed, bare = tmp_path / f"b.{middle}", tmp_path / f"c.{middle}"
    other = tmp_path / f"d.{target}"
    pack_weights(source, packed, parse(KEEP), target="numpy")
    assert {name: each[2] for name, each in contents_of(packed).items()} == {
        name: each[2] for name, each in given.items()
    }
    unpack_weights(packed, bare, target="numpy")
    pack_weights(bare, other, parse(KEEP), target="numpy")
    assert {name: each[2] for name, each in contents_of(other).items()} == {
        name: each[2] for name, each in given.items()
    }
    shown = {each.name: each.extents for each in inspect_weights(other).tensors}
    assert shown == {name: shape for name, (_, shape, _) in given.items()}
    again = tmp_path / "e.safetensors"
    unpack_weights(packed, again, target="numpy")
    assert contents_of(again) == given


@pytest.mark.parametrize("target", MANY)
def test_types_without_a_word_are_unsigned(tmp_path: Path, target: str) -> None:
    """Elements narrower than their items, or of no kind: only our account says what they are."""
    given, rules = {}, []
    for kind in ("u4", "i2", "f4", "f8", "u1"):
        items = np.array([0, 1, 1, 0, 1, 0], "i1" if kind == "i2" else "u1").reshape(2, 3)
        given[kind] = items.view("V1") if kind == "f8" else items
        rules.append(f'layout L{kind}(n, k) = [k, n] of {kind}\ntensor "{kind}" = L{kind}')
    source, packed, again = (tmp_path / name for name in ("a.npz", f"b.{target}", "c.npz"))
    np.savez(source, **given)  # type: ignore[arg-type]
    pack_weights(source, packed, parse("\n".join(rules)), target="numpy")
    assert {name: each[1:] for name, each in contents_of(packed).items()} == {
        name: ((3, 2), items.T.tobytes()) for name, items in given.items()
    }
    assert len(inspect_weights(packed).layouts) == len(given)
    unpack_weights(packed, again, target="numpy")
    assert contents_of(again) == contents_of(source)


def _text(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _gguf(tensors: int, keys: int, rest: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + rest


def integer(field: int, value: int) -> bytes:
    """A field of protobuf that is a number."""
    return _varint(field << 3) + _varint(value)


def run(field: int, data: bytes | str) -> bytes:
    """A field of protobuf that is bytes."""
    whole = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(whole)) + whole


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _json(data: bytes) -> bytes:
    return _text(b'{"a":{"dtype":' + data + b"}}")


def _named(count: int, rest: bytes) -> bytes:
    return b"".join(_text(b"%d" % number) + rest for number in range(count))


DEAR: dict[str, tuple[str, Callable[[], bytes]]] = {
    "nodes": ("onnx", lambda: run(7, run(1, b"") * 3_000_001)),
    "texts": (
        "gguf",
        lambda: _gguf(
            0, 1, _text(b"a") + struct.pack("<IIQ", 9, 8, 12_000_000) + bytes(96_000_000)
        ),
    ),
    "numbers": ("safetensors", lambda: _json(b"[" + b"123456789012," * 3_900_000 + b"1]")),
    "tensors": (
        "gguf",
        lambda: _gguf(1 << 18, 0, _named(1 << 18, struct.pack("<IQIQ", 1, 0, 0, 0))),
    ),
    "fields": ("onnx", lambda: run(7, integer(9, 1) * 3_000_001)),
    "initialisers": ("onnx", lambda: run(7, _initialisers(400_000))),
    "lists": ("safetensors", lambda: _json(b"[" + b"[]," * 1_900_000 + b"[]]")),
    "keys": ("gguf", lambda: _gguf(0, 1 << 18, _named(1 << 18, b"\0\0\0\0\1"))),
    "name": ("safetensors", lambda: _json(b'"' + b"x" * 99_000_000 + b'"')),
}
"""The headers of each form that take longest to refuse."""


def _initialisers(count: int) -> bytes:
    return b"".join(
        run(5, integer(2, 2) + integer(1, 1) + run(8, str(number)) + run(9, "1"))
        for number in range(count)
    )


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize("dear", DEAR)
def test_what_a_hostile_header_costs(tmp_path: Path, dear: str) -> None:
    """A hostile header takes a part of a gigabyte, and at most 100 loops of 10 million steps.

    A machine at hand takes up to 29 loops, 17 seconds. Seconds would depend on the machine.
    """
    suffix, whole = DEAR[dear]
    unmeasured = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    place = tmp_path / f"a.{suffix}"
    place.write_bytes(whole())
    code = f"""if True:
        from pathlib import Path
        from time import process_time
        from layoutdsl import UnfitError, inspect_weights
        try:
            inspect_weights("none.{suffix}")
        except OSError:
            pass  # what reads is imported now
        start = process_time()
        try:
            inspect_weights({str(place)!r})
        except UnfitError:
            pass
        read = process_time()
        for _ in range(10**7):
            pass
        loops = (read - start) / (process_time() - read)
        # not `ru_maxrss`, which is never below what the process had that started this one
        most = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
        print(int(most) // 1024, loops)
    """
    done = ended([sys.executable, "-c", code], text=True, env=unmeasured)
    memory, loops = map(float, done.stdout.split())
    assert memory < 450
    assert loops < 100
