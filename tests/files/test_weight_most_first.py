"""Files of GGUF with the most significant byte first: as gguf-py has them, moved, and refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from weight_readers import contents_of, tensors_in
from weights_drawn import Case, Tensor, drawn, least, rules_of

import layoutdsl
from layoutdsl import UnfitError, inspect_weights, pack_weights, unpack_weights, verify_weights

KNOWN = ("f16", "f32", "f64", "bf16", "i8", "i16", "i32", "i64")
"""Element types that GGUF has words for."""

FORMS = ("gguf", "gguf", "safetensors", "npz", "onnx")


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def turned(data: bytes, width: int) -> bytes:
    return np.frombuffer(data, f"u{width}").byteswap().tobytes()


def write(case: Case, place: Path) -> None:
    """Put a file there whose numbers have their most significant byte first, by their package.

    It has no word for some types, and from 1 to 4 axes: our key `layoutdsl.entries` says the rest.
    """
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(place, "llama", endianess=gguf.GGUFEndian.BIG)
    entries = {}
    for each in case.tensors:
        shape = each.shape or (1,)
        word = each.type.upper() if each.type in KNOWN else f"I{8 * each.width}"
        if each.type not in KNOWN or shape != each.shape:
            entries[each.name] = {"type": each.type, "shape": each.shape}
        data = np.frombuffer(turned(each.data, each.width), np.uint8)
        kind, rows = gguf.GGMLQuantizationType[word], (*shape[:-1], shape[-1] * each.width)
        writer.add_tensor(each.name, data.reshape(rows), raw_dtype=kind)
    writer.add_string("layoutdsl.entries", json.dumps(entries))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def least_first(place: Path) -> dict[str, bytes]:
    """The bytes of each tensor, the least significant of each item first."""
    found = {name: (word, data) for name, (word, _, data) in contents_of(place).items()}
    if inspect_weights(place).order == "<":
        return {name: data for name, (_, data) in found.items()}
    return {
        name: data if word == "Q4_0" else turned(data, int(re.sub(r"\D", "", word)) // 8)
        for name, (word, data) in found.items()
    }


def there_and_back(seed: int, target: str) -> None:
    """Pack, verify and unpack what is drawn, in little memory; change one bit, and find it."""
    draw = Random(seed)
    case = drawn(draw, ("gguf",))
    source, packed, again = Path("in.gguf"), Path(f"out.{target}"), Path("again.gguf")
    write(case, source)
    how: dict[str, Any] = {"mem": 3 * least(case, source), "target": "numpy"}
    pack_weights(source, packed, rules_of(case), **how)
    assert least_first(packed) == case.want()
    assert inspect_weights(packed).order == (">" if target == "gguf" else "<")
    assert verify_weights(packed, source).fault is None
    assert verify_weights(packed).fault is None
    unpack_weights(packed, again, **how)
    one, other = (contents_of(each) for each in (source, again))
    assert [each[:2] for each in one.values()] == [each[:2] for each in other.values()]
    assert least_first(again) == least_first(source)
    assert (one == other) or target != "gguf"
    changed(draw, source, packed)


def changed(draw: Random, source: Path, packed: Path) -> None:
    """Change one bit of what is read, of some tensor, which has to be named."""
    found = {name: each for name, each in tensors_in(source).items() if each.size}
    if not found:
        return
    name = draw.choice(sorted(found))
    found[name].flip(draw.randrange(8 * found[name].size))
    fault = verify_weights(packed, source).fault
    assert fault is not None
    assert fault.name == name


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(10))
def test_there_and_back(seed: int) -> None:
    there_and_back(seed, FORMS[seed % len(FORMS)])


@pytest.mark.campaign
def test_there_and_back_many_times() -> None:
    for seed in range(100, 500):
        there_and_back(seed, FORMS[seed % len(FORMS)])
        for each in Path().iterdir():
            each.unlink()


def by_gguf(place: Path, order: str, tensors: dict[str, np.ndarray[Any, Any]]) -> None:
    """Write a file by their package."""
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(place, "llama", endianess=getattr(gguf.GGUFEndian, order))
    writer.add_array("tokens", [f"t\u00e4{n}" * (n % 7) for n in range(1000)])
    writer.add_array("numbers", [1, 2, 3])
    writer.add_custom_alignment(64)
    writer.add_uint16("small", 7)
    writer.add_float64("half", 0.5)
    for name, each in tensors.items():
        writer.add_tensor(name, each.copy())
    blocks = np.arange(2 * 18, dtype=np.uint8).reshape(2, 18)
    writer.add_tensor("blocks", blocks, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


RULES = """\
layout Tiles(n, k) = [n/4, k/8, n%4, k%8] fill 3
layout Planes(n, k) = [bit, n, k/8, k%8] of f16
tensor "half" = Tiles
tensor "planes" = Planes
tensor "whole"(n, k) = [k, n]
tensor "words" = AwqWeights from words u32 of GptqWeights
"""


@pytest.mark.slow
def test_files_of_gguf() -> None:
    random = np.random.default_rng(0)
    tensors: dict[str, np.ndarray[Any, Any]] = {
        "half": random.standard_normal((6, 13)).astype(np.float16),
        "planes": random.standard_normal((3, 16)).astype(np.float16),
        "whole": random.integers(-(2**62), 2**62, (4, 5)),
        "words": random.integers(-(2**31), 2**31, (2, 32)).astype(np.int32),
        "other": random.standard_normal((7,)).astype(np.float32),
    }
    rules = layoutdsl.parse(RULES)
    for order in ("LITTLE", "BIG"):
        by_gguf(Path(f"{order}.gguf"), order, tensors)
        pack_weights(f"{order}.gguf", f"{order}.packed.gguf", rules)
    big, little = (Path(f"{order}.packed.gguf") for order in ("BIG", "LITTLE"))
    assert least_first(big) == least_first(little)
    gguf = pytest.importorskip("gguf")
    readers = [gguf.GGUFReader(each) for each in (big, little)]
    one, other = ({each.name: each for each in reader.tensors} for reader in readers)
    for name in set(tensors) - {"planes"}:
        assert np.array_equal(one[name].data, other[name].data)
        assert one[name].data.dtype.isnative != other[name].data.dtype.isnative
    mine = [reader.fields["tokens"].contents() for reader in readers]
    assert mine[0] == mine[1] == [f"t\u00e4{n}" * (n % 7) for n in range(1000)]
    layout = rules["Tiles"]
    assert [int(n) for n in one["half"].data.reshape(-1).view(">u2")[:3]] == [
        int(tensors["half"].view(np.uint16)[0, n]) for n in range(3)
    ]
    assert one["half"].data.size == layout.size((6, 13))
    assert one["half"].data.reshape(-1)[layout.offset((5, 7), (6, 13))] == tensors["half"][5, 7]
    assert (one["half"].data == 3).sum() >= layout.size((6, 13)) - 6 * 13
    assert verify_weights(big, "BIG.gguf").fault is None
    for place in (big, little):
        for reader in readers:
            reader.data._mmap.close()
        unpack_weights(place, f"again.{place.name}")
    assert Path(f"again.{big.name}").read_bytes() == Path("BIG.gguf").read_bytes()
    with pytest.raises(UnfitError, match="`blocks` is of blocks"):
        unpack_weights(big, "blocks.safetensors")


def test_records_are_not_made_there() -> None:
    case = Case(
        "gguf",
        (
            Tensor("a.scales", "", "f16", (2, 1), bytes(4)),
            Tensor("a.qweight", "", "u8", (2, 32), bytes(range(8)) * 8),
        ),
        "",
    )
    write(case, Path("in.gguf"))
    rules = layoutdsl.parse('group "{n}" = Q4_0(d = "{}.scales", q = "{}.qweight") as "{n}.weight"')
    with pytest.raises(UnfitError, match="least significant byte first") as unfit:
        pack_weights("in.gguf", "out.gguf", rules)
    assert "gguf-convert-endian" in str(unfit.value)
    assert not Path("out.gguf").exists()
    pack_weights("in.gguf", "out.safetensors", rules)
    assert verify_weights("out.safetensors", "in.gguf").fault is None
    unpack_weights("out.safetensors", "again.gguf")
    assert least_first(Path("again.gguf")) == least_first(Path("in.gguf"))


def test_what_is_no_element_of_a_layout_of_bits_is_named() -> None:
    rules = layoutdsl.parse('layout L(n, k) = [n, bit, k] of i4\ntensor "x" = L')
    tensor = (np.arange(16, dtype=np.int8) - 8).reshape(2, 8)
    np.savez("in.npz", x=tensor)
    pack_weights("in.npz", "out.npz", rules)
    assert verify_weights("out.npz", "in.npz").fault is None
    tensor[1, 1] = 17
    np.savez("in.npz", x=tensor)
    fault = verify_weights("out.npz", "in.npz").fault
    assert str(fault) == "`x` holds 0x11 at (1, 1), which is no i4"
