"""Damaged files of weights, each held against the package of its format; what came of it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import weight_files as files

from layoutdsl.files.weights.form import Form
from layoutdsl.files.weights.gguf import Gguf
from layoutdsl.files.weights.npz import Npz
from layoutdsl.files.weights.onnx import Onnx
from layoutdsl.files.weights.onnx_types import BY_NUMBER
from layoutdsl.files.weights.onnx_types import TYPES as ONNX_TYPES
from layoutdsl.files.weights.protobuf import number as field
from layoutdsl.files.weights.protobuf import run
from layoutdsl.files.weights.safetensors import TYPES, Safetensors

SAFETENSORS, NPZ, GGUF, ONNX = Safetensors(), Npz(), Gguf(), Onnx()

WORDS = [
    (b'"U8"', b'"I64"'),
    (b"data_offsets", b"dtype"),
    (b"shape", b"shap\\u0065"),
    (b"[", b"[["),
    (b"[0,", b"[-0,"),
    (b"}", b"},"),
    (b",", b" , "),
    (b"0", b"00"),
    (b"2", b"2.0"),
    (b"1", b"18446744073709551616"),
    (b"f", b"\\ud83d"),
]


STRICTER = ("twice", "more or less than", "2**59", "axes are the most", "no texts", "no JSON")
"""What their package reads and we do not, by words of what we say."""


def judge_safetensors(place: Path, sound: bytes, number: int) -> str:
    """Hold a damaged file against the package; returns what came of it."""
    package, draw = pytest.importorskip("safetensors"), Random(number)
    whole = files.damaged(sound, draw, WORDS, 700)
    found = files.refused(SAFETENSORS, place, whole)
    try:
        theirs = dict(package.deserialize(whole))
    except Exception:
        assert found is not None, whole
        return "refused by both"
    if found is not None:
        assert any(words in found for words in STRICTER), (found, whole)
        return "refused by us"
    assert files.said_of(SAFETENSORS, place) == {
        name: (TYPES[each["dtype"]][0], tuple(each["shape"]), bytes(each["data"]))
        for name, each in theirs.items()
    }
    return "read"


def judge_npz(place: Path, sound: bytes, number: int) -> str:
    """Hold a damaged archive against numpy; returns what came of it."""
    words = [(b"PK\1\2", b"PK\3\4"), (b".npy", b".npz"), (b"<f4", b"<f8"), (b"\0\0", b"\1\0")]
    whole = files.damaged(sound, Random(number), words, len(sound))
    found = files.refused(NPZ, place, whole)
    try:
        with np.load(io.BytesIO(whole)) as archive:
            theirs = {name: archive[name] for name in archive.files if name != "layoutdsl.json"}
            is_whole = archive.zip.testzip() is None
    except Exception as fault:
        fault_of_sums, theirs = "Bad CRC-32" in str(fault), None
    if theirs is None:
        assert found is not None or fault_of_sums, whole
        return "refused by both" if found is not None else "sums differ"
    if found is not None:
        return "refused by us"
    ours = files.said_of(NPZ, place)
    assert not is_whole or {name: each[2] for name, each in ours.items()} == {
        name: each.tobytes() for name, each in theirs.items()
    }
    return "read"


def by_gguf(place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What their reader says: of each tensor type, shape and bytes; of each key the value."""
    reader = pytest.importorskip("gguf").GGUFReader(place)
    tensors = {
        each.name: (each.tensor_type.name, tuple(each.shape.tolist()[::-1]), each.data.tobytes())
        for each in reader.tensors
    }
    keys = {name: field.contents() for name, field in reader.fields.items() if name[:5] != "GGUF."}
    reader.data._mmap.close()
    return tensors, keys


def judge_gguf(place: Path, sound: bytes, number: int) -> str:
    """Hold a damaged file against their reader, where we read it: theirs may never come back."""
    words = [(b"\0\0\0\0", b"\4\0\0\0"), (b"\1", b"\2"), (b"u8", b"i8"), (b"[", b"[2,")]
    whole = files.damaged(sound, Random(number), words, len(sound) - 200)
    found = files.refused(GGUF, place, whole)
    if found is not None:
        return "refused"
    try:
        theirs = {name: each[2] for name, each in by_gguf(place)[0].items()}
    except (UnicodeDecodeError, ValueError):  # of values that we pass over
        return "refused by them"
    assert {name: each[2] for name, each in files.said_of(GGUF, place).items()} == theirs
    return "read"


def by_onnx(place: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """What their package says: of each initialiser with raw items its type, shape and bytes."""
    onnx = pytest.importorskip("onnx")
    names = {value: word for word, value in onnx.TensorProto.DataType.items()}
    return {
        each.name: (names[each.data_type], tuple(each.dims), each.raw_data)
        for each in onnx.load(place).graph.initializer
    }


RAW_MODEL = run(8, run(1, "") + field(2, 21)) + run(
    7,
    b"".join(
        run(5, field(1, n) + field(1, 2) + field(2, kind) + run(8, f"w{n}") + run(9, bytes(8 * n)))
        for n, kind in enumerate((1, 6, 12, 1))
    )
    + run(5, run(1, b"\1\2") + field(2, 1) + run(8, "f") + run(4, bytes(8)))
    + run(5, field(1, 2) + field(2, 7) + run(8, "i") + run(7, b"\1\2"))
    + run(2, "g"),
)
"""Initialisers within the model: raw ones, floats side by side, and numbers of varying width."""


def judge_onnx(place: Path, sound: bytes, number: int) -> str:
    """Hold a damaged model against the package, which does not look at items; what came of it."""
    sound = sound if number % 2 else RAW_MODEL
    words = [(b"onnx", b"../a"), (b"offset", b"length"), (b"data", b"dat\0"), (b"\x2a", b"\x3a")]
    whole = files.damaged(sound, Random(number), words, len(sound))
    found = files.refused(ONNX, place, whole)
    onnx = pytest.importorskip("onnx")
    try:
        theirs = onnx.load_model_from_string(whole).graph.initializer
    except Exception:
        return "refused by them" if found is None else "refused by both"
    if found is not None:
        return "refused by us" if "message" in found else "refused"
    words_of = {value: word for word, value in onnx.TensorProto.DataType.items()}
    with files.opened(ONNX, place) as contents:
        known = {each.name: each for each in contents.entries}
        for each in theirs:
            if each.name in known:
                one = known.pop(each.name)
                assert (one.native, one.shape) == (words_of[each.data_type], tuple(each.dims))
                assert each.data_location == 1 or files.data(one) == items_of(each)
        assert not known
    return "read"


def items_of(tensor: Any) -> bytes:
    """The items of an initialiser, whatever they are written as."""
    width = max(ONNX_TYPES[BY_NUMBER[tensor.data_type]].bits, 8) // 8
    numbers = [*tensor.int32_data, *tensor.int64_data, *tensor.uint64_data]
    coded = b"".join((each % (1 << 64)).to_bytes(8, "little")[:width] for each in numbers)
    floats, doubles = np.array(tensor.float_data, "<f4"), np.array(tensor.double_data, "<f8")
    return tensor.raw_data or floats.tobytes() + doubles.tobytes() + coded


JUDGES: dict[Form, Callable[[Path, bytes, int], str]] = {
    SAFETENSORS: judge_safetensors,
    NPZ: judge_npz,
    GGUF: judge_gguf,
    ONNX: judge_onnx,
}
