"""Archives of numpy and single arrays: numpy judges what we pack and unpack, and what we refuse."""

from __future__ import annotations

import zipfile
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from weight_headers import SHAPES, refusal, refused
from weight_readers import write_safetensors

from layoutdsl import UnfitError, inspect_weights, pack_weights, parse, unpack_weights

KEEP = 'tensor "**" = keep'
ITEMS: tuple[Any, ...] = (
    "?",
    "i1",
    "u2",
    "<i4",
    "<u8",
    "<f2",
    "<f4",
    "<f8",
    "<c8",
    "V1",
    "V2",
    ">f4",
    "<c16",
    "V3",
)
OTHERS: tuple[Any, ...] = ("<M8[ns]", "<U3", "S5", [("a", "<i4"), ("b", ">f8")])


def arrays(seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """An array of every type of items, in either order, of any shape."""
    draw, found = Random(seed), dict[str, np.ndarray[Any, Any]]()
    for number, dtype in enumerate(np.dtype(each) for each in (*ITEMS, *OTHERS)):
        shape = draw.choice(SHAPES)
        data = draw.randbytes(prod(shape) * dtype.itemsize)
        if dtype.kind == "U":
            data = bytes(len(data))
        one = np.frombuffer(data, dtype).reshape(shape)
        found[f"t/{number}.\u00e4"] = np.asfortranarray(one) if draw.random() < 0.3 else one
    return found


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    is_alike = (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
    return is_alike and one.tobytes() == other.tobytes()


@pytest.mark.parametrize("seed", range(8))
def test_archives_of_numpy_are_read_and_kept(tmp_path: Path, seed: int) -> None:
    """Items, types, and the order of axes, there and back."""
    place, packed, again = (tmp_path / f"{name}.npz" for name in "abc")
    given = arrays(seed)
    np.savez(place, **given)  # type: ignore[arg-type]
    shown = {each.name: (each.extents, each.bytes) for each in inspect_weights(place).tensors}
    assert shown == {name: (array.shape, array.nbytes) for name, array in given.items()}
    pack_weights(place, packed, parse(KEEP), target="numpy")
    unpack_weights(packed, again, target="numpy")
    with np.load(place) as source, np.load(packed) as kept, np.load(again) as back:
        assert set(kept.files) == {*given, "layoutdsl.json"}
        assert b'"form":"npz"' in kept["layoutdsl.json"]
        assert back.files == source.files
        for name in given:
            assert same(kept[name], source[name])
            assert same(back[name], source[name])


@pytest.mark.parametrize("seed", range(8))
def test_one_array(tmp_path: Path, seed: int) -> None:
    """Three of every kind of array, each in a file of its own, which is kept to the bit."""
    for number, array in [*enumerate(arrays(seed).values())][seed % 3 :: 3]:
        place, packed, again = (tmp_path / f"{number}{name}.npy" for name in "abc")
        np.save(place, array)
        (entry,) = inspect_weights(place).tensors
        assert (entry.name, entry.extents, entry.bytes) == ("array", array.shape, array.nbytes)
        pack_weights(place, packed, parse(KEEP), target="numpy")
        assert packed.read_bytes() == place.read_bytes()
        assert inspect_weights(packed).packed
        unpack_weights(packed, again, target="numpy")
        assert again.read_bytes() == place.read_bytes()


KINDS = {
    "?": "bool",
    "i1": "i8",
    "u1": "u8",
    "<i2": "i16",
    "<u2": "u16",
    "<i4": "i32",
    "<u4": "u32",
    "<i8": "i64",
    "<u8": "u64",
    "<c8": "c64",
    "<f2": "f16",
    "<f4": "f32",
    "<f8": "f64",
    "V1": "f8",
    "V2": "bf16",
}
"""The element type of each type of numpy; numpy saves types of ml_dtypes as plain bytes."""


@pytest.mark.parametrize("dtype", KINDS)
def test_items_are_elements_of_their_type(tmp_path: Path, dtype: str) -> None:
    """A layout of the element type fits, whatever the order of axes; those of others do not."""
    place, packed = tmp_path / "a.npz", tmp_path / "b.npz"
    width = np.dtype(dtype).itemsize
    items = np.frombuffer(bytes(range(6 * width)), f"V{width}").reshape(2, 3)
    if dtype == "?":
        items = np.frombuffer(b"\1\0\0\1\1\0", "V1").reshape(2, 3)
    np.savez(place, a=np.asfortranarray(items.view(dtype)))

    def pack(kind: str) -> None:
        rules = parse(f'layout Turned(n, k) = [k, n] of {kind}\ntensor "a" = Turned')
        pack_weights(place, packed, rules, target="numpy")

    wrong = {"?": "u8", "i1": "u8", "u1": "i8", "V1": "u8", "V2": "u16"}.get(dtype, "u8")
    for other in (wrong, "f32" if width != 4 else "f64", "bf16" if dtype != "V2" else "f16"):
        with pytest.raises(UnfitError, match="does not fit"):
            pack(other)
        assert not packed.exists()
    pack(KINDS[dtype])
    with np.load(packed) as archive:
        assert archive["a"].dtype == np.dtype(dtype)
        assert archive["a"].flags.c_contiguous
        assert archive["a"].tobytes() == items.T.tobytes()


WORDS = {
    **{f"{sign}{bits}": f"{sign.lower()}{bits // 8}" for sign in "IU" for bits in (8, 16, 32, 64)},
    "F16": "f2",
    "F32": "f4",
    "F64": "f8",
    "C64": "c8",
    "BOOL": "?",
    "BF16": "V2",
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0"), "V1"),
}
"""The type of numpy for each of safetensors."""


@pytest.mark.parametrize("seed", range(4))
def test_archives_of_ours_are_read_by_numpy(tmp_path: Path, seed: int) -> None:
    place, packed = tmp_path / "a.safetensors", tmp_path / "a.npz"
    draw = Random(seed)
    given = dict[str, tuple[str, tuple[int, ...], bytes]]()
    for word, dtype in WORDS.items():
        shape: tuple[int, ...] = draw.choice(SHAPES)
        given[f"{word}.w"] = word, shape, draw.randbytes(prod(shape) * np.dtype(dtype).itemsize)
    write_safetensors(place, given)
    pack_weights(place, packed, parse(KEEP), target="numpy")
    with np.load(packed) as archive:
        assert archive.files[:-1] == list(given)
        for name, (word, shape, data) in given.items():
            found = archive[name]
            assert (found.dtype, found.shape) == (np.dtype(WORDS[word]), shape)
            assert found.tobytes() == data


def test_archives_that_are_no_such(tmp_path: Path) -> None:
    place = tmp_path / "a.npz"
    np.savez_compressed(place, w=np.zeros(100))
    assert refusal(place) == (
        "holds `w.npy` deflated, and members are read where they lie; "
        "write it with numpy.savez, not savez_compressed"
    )
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("readme", "text")
    assert refusal(place) == ("holds `readme`, which is no .npy array; take it out of the archive")
    np.savez(place, o=np.array([{}]), allow_pickle=True)
    assert refusal(place) == "holds `o`, which holds Python objects, which are no plain bytes"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("a.npy", "")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", "")
    found = refusal(place)
    assert found is not None
    assert "two members are called `a.npy`" in found
    assert refused(place, b"") == (
        "is no npz file that can be read: it is no zip archive; fetch it again, or write it anew"
    )


def test_members_that_are_not_just_stored(tmp_path: Path) -> None:
    place = tmp_path / "a.npz"
    np.savez(place, w=np.frombuffer(b"abc", "u1"))
    sound = place.read_bytes()
    directory = sound.index(b"PK\1\2")
    for flags in (1, 0x20, 0x40, 0x2000):
        whole = bytearray(sound)
        whole[directory + 8 : directory + 10] = flags.to_bytes(2, "little")
        assert refused(place, bytes(whole)) == (
            "holds `w.npy` encrypted, or as a patch of something else; write it with numpy.savez"
        )
    found = refused(place, sound.replace(b"w.npy", b"v.npy", 1))
    assert found is not None
    assert "the member `w.npy` has another name where it lies" in found


def test_what_lies_beside_items_alone(tmp_path: Path) -> None:
    """Bare items are packed, and `a.raw.json` says what they were; a bad one is refused."""
    source, place, back = tmp_path / "a.npy", tmp_path / "a.raw", tmp_path / "b.npy"
    items = np.frombuffer(Random(1).randbytes(6), "u1").reshape(2, 3)
    np.save(source, items)
    rules = parse('tensor "array"(n, k) = [k, n]')
    pack_weights(source, place, rules, target="numpy")
    assert place.read_bytes() == items.T.tobytes()
    unpack_weights(place, back, target="numpy")
    assert back.read_bytes() == source.read_bytes()
    beside = tmp_path / "a.raw.json"
    beside.unlink()
    beside.mkdir()
    found = refusal(place)
    assert found is not None
    assert "is described by `a.raw.json` beside it, which is no plain file; put the right" in found
    beside.rmdir()
    beside.write_bytes(b"\xff")
    assert refusal(place) == (
        "is described by `a.raw.json` beside it, which is no UTF-8; put the right one there, "
        "or move it away"
    )
