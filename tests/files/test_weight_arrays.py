"""Archives of numpy, single arrays, and items alone, as files of weights."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import weight_files as files

from layoutdsl.files.weights import archive
from layoutdsl.files.weights.form import Wanted
from layoutdsl.files.weights.npy import Npy
from layoutdsl.files.weights.npz import Npz
from layoutdsl.files.weights.raw import Raw

NPZ, NPY = Npz(), Npy()
ITEMS = ("?", "i1", "u2", "<i4", "<u8", "<f2", "<f4", "<f8", "<c8", "V1", "V2", ">f4", "<c16", "V3")
OTHERS = ("<M8[ns]", "<U3", "S5", [("a", "<i4"), ("b", ">f8")])


def arrays(seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """An array of every type of items, in either order, of any shape."""
    draw, found = Random(seed), dict[str, np.ndarray[Any, Any]]()
    for number, dtype in enumerate(map(np.dtype, (*ITEMS, *OTHERS))):
        shape = draw.choice(files.SHAPES)
        data = draw.randbytes(int(np.prod(shape)) * dtype.itemsize)
        if dtype.kind == "U":
            data = bytes(len(data))
        one = np.frombuffer(data, dtype).reshape(shape)
        found[f"t/{number}.\u00e4"] = np.asfortranarray(one) if draw.random() < 0.3 else one
    return found


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    is_alike = (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
    return is_alike and one.tobytes() == other.tobytes()


def elements(data: bytes, entry: Any) -> bytes:
    """The items of an entry, most major axis first."""
    items = np.frombuffer(data, entry.stored.dtype)
    if entry.stored.fortran:
        items = items.reshape(entry.shape[::-1]).transpose()
    return items.tobytes()


@pytest.mark.parametrize("seed", range(8))
def test_archives_of_numpy_are_read_and_kept(tmp_path: Path, seed: int) -> None:
    place, again, given = tmp_path / "a.npz", tmp_path / "b.npz", arrays(seed)
    np.savez(place, **given)  # type: ignore[arg-type]
    with files.opened(NPZ, place) as contents:
        assert [each.name for each in contents.entries] == list(given)
        for entry, array in zip(contents.entries, given.values(), strict=True):
            assert entry.shape == array.shape
            assert (entry.type is None) == (
                array.dtype.str not in ITEMS_OF or bool(array.dtype.names)
            )
            assert entry.type is None or entry.type == ITEMS_OF[array.dtype.str]
            order = "F" if entry.type is None and np.isfortran(array) else "C"
            assert elements(files.data(entry), entry) == array.tobytes(order)
        items = [files.data(each) for each in contents.entries]
        files.write(again, NPZ.arrange(contents, files.kept(contents.entries), files.SAID), items)
    with np.load(again) as archive:
        assert archive["layoutdsl.json"] == files.SAID.encode()
        for name, array in given.items():
            assert same(archive[name], np.load(place)[name])
            assert archive[name].dtype == array.dtype
    with files.opened(NPZ, again) as contents:
        assert contents.said == files.SAID


ITEMS_OF = {
    "|b1": "bool",
    "|i1": "i8",
    "<u2": "u16",
    "<i4": "i32",
    "<u8": "u64",
    "<c8": "c64",
    "<f2": "f16",
    "<f4": "f32",
    "<f8": "f64",
    "|V1": "f8",
    "|V2": "bf16",
}


@pytest.mark.parametrize("seed", range(4))
def test_archives_of_ours_are_read_by_numpy(tmp_path: Path, seed: int) -> None:
    place = tmp_path / "a.npz"
    wanted, items = files.drawn(seed, files.KINDS)
    files.write(place, NPZ.arrange(None, wanted, ""), items)
    with np.load(place) as archive:
        assert archive.files == [each.name for each in wanted]
        for each, data in zip(wanted, items, strict=True):
            assert archive[each.name].tobytes() == data
            assert archive[each.name].shape == each.shape
            known = ITEMS_OF.get(archive[each.name].dtype.str)
            assert known in (None, each.type, "f8")


def test_archives_beyond_4_gib(tmp_path: Path) -> None:
    """Places and sizes of more than 32 bits, in a file full of holes."""
    import zipfile

    place, sizes = tmp_path / "a.npz", (5 << 30, 10, (4 << 30) - 100, 7)
    wanted = [files.wanted(f"t{n}", "u8", (size,)) for n, size in enumerate(sizes)]
    arranged = NPZ.arrange(None, wanted, files.SAID)
    with place.open("wb") as file:
        file.truncate(arranged.size)
        for start, each in arranged.fixed:
            file.seek(start)
            file.write(each)
    with zipfile.ZipFile(place) as archive:
        assert [each.file_size - 128 for each in archive.infolist()[:-1]] == list(sizes)
        assert archive.infolist()[3].header_offset > 2**33
    with files.opened(NPZ, place) as contents:
        assert contents.said == files.SAID
        assert [each.shape for each in contents.entries] == [(size,) for size in sizes]
        assert [each.stored.data for each in contents.entries] == list(arranged.starts)


def test_archives_that_are_no_such(tmp_path: Path) -> None:
    import zipfile

    place = tmp_path / "a.npz"
    np.savez_compressed(place, w=np.zeros(100))
    assert files.refusal(NPZ, place) == (
        "holds `w.npy` deflated, and members are read where they lie; "
        "write it with numpy.savez, not savez_compressed"
    )
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("readme", "text")
    assert (
        files.refusal(NPZ, place)
        == "holds `readme`, which is no .npy array; take it out of the archive"
    )
    np.savez(place, o=np.array([{}]), allow_pickle=True)
    assert (
        files.refusal(NPZ, place)
        == "holds `o`, which holds Python objects, which are no plain bytes"
    )
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("a.npy", "")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", "")
    found = files.refusal(NPZ, place)
    assert found is not None
    assert "two members are called `a.npy`" in found
    assert files.refused(NPZ, place, b"") == (
        "is no npz file that can be read: it is no zip archive; fetch it again, or write it anew"
    )


def test_members_that_are_not_just_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.npz"
    files.write(place, NPZ.arrange(None, [files.wanted("w", "u8", (3,))], files.SAID), [b"abc"])
    sound = place.read_bytes()
    directory = sound.index(b"PK\1\2")
    for flags in (1, 0x20, 0x40, 0x2000):
        whole = bytearray(sound)
        whole[directory + 8 : directory + 10] = flags.to_bytes(2, "little")
        assert files.refused(NPZ, place, bytes(whole)) == (
            "holds `w.npy` encrypted, or as a patch of something else; write it with numpy.savez"
        )
    moved = sound.replace(b"w.npy", b"v.npy", 1)
    found = files.refused(NPZ, place, moved)
    assert found is not None
    assert "the member `w.npy` has another name where it lies" in found
    monkeypatch.setattr(archive, "MOST_HEADER", 10)
    found = files.refused(NPZ, place, sound)
    assert found is not None
    assert "`layoutdsl.json` has more than 10 bytes" in found
    monkeypatch.setattr(archive, "MOST", 100)
    found = files.refused(NPZ, place, sound)
    assert found is not None
    assert "bytes, and 100 are the most; fetch it again, or write it anew, with fewer" in found


def test_the_order_of_axes_is_of_what_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "a.npz"
    np.savez(place, w=np.asfortranarray(np.ones((2, 3), np.float32)), v=np.array(["a"]))
    with files.opened(NPZ, place) as contents:
        w, v = contents.entries
        (kept,) = files.kept([w])
        assert NPZ.arrange(contents, [kept], "").fixed[0][1].count(b"'fortran_order': True")
        packed = Wanted("w", "f32", None, (2, 3), 24)
        assert NPZ.arrange(contents, [packed], "").fixed[0][1].count(b"'fortran_order': False")
        with pytest.raises(ValueError, match=r"^`w` has its last axis most major, and nothing"):
            NPZ.arrange(contents, [Wanted("w", "f32", "<f4", (2, 3), 24)], "")
        text = NPZ.arrange(contents, [Wanted("v", None, v.native, (1,), 4)], "")
        assert text.fixed[0][1].count(b"'descr': '<U1'")


@pytest.mark.parametrize("seed", range(4))
def test_one_array(tmp_path: Path, seed: int) -> None:
    for number, array in enumerate(arrays(seed).values()):
        place, again = tmp_path / f"{number}.npy", tmp_path / f"{number}.again.npy"
        np.save(place, array)
        with files.opened(NPY, place) as contents:
            (entry,) = contents.entries
            assert (entry.name, entry.shape, contents.said) == ("array", array.shape, None)
            files.write(
                again, NPY.arrange(contents, files.kept([entry]), files.SAID), [files.data(entry)]
            )
        assert again.read_bytes() == place.read_bytes()
        with files.opened(NPY, again) as contents:
            assert contents.said == files.SAID


@pytest.mark.parametrize("kind", files.KINDS)
def test_items_alone(tmp_path: Path, kind: str) -> None:
    place, one = tmp_path / "a.raw", files.wanted("array", kind, (2, 3))
    data = Random(1).randbytes(one.size)
    files.write(place, Raw().arrange(None, [one], files.SAID), [data])
    assert place.read_bytes() == data
    assert files.said_of(Raw(), place) == {"array": ("u8", (one.size,), data)}
    assert files.said_of(Raw(kind, (2, 3)), place) == {"array": (kind, (2, 3), data)}
    assert files.refusal(Raw(kind, (2, 4)), place) == (
        f"has {one.size} bytes, and 2 x 4 of {kind} are {one.size // 6 * 8}; "
        "say its type and shape otherwise"
    )
    beside = place.with_name("a.raw.json")
    beside.unlink()
    beside.mkdir()
    found = files.refusal(Raw(), place)
    assert found is not None
    assert "is described by `a.raw.json` beside it, which is no plain file; put the right" in found
    beside.rmdir()
    beside.write_bytes(b"\xff")
    assert files.refusal(Raw(), place) == (
        "is described by `a.raw.json` beside it, which is no UTF-8; put the right one there, "
        "or move it away"
    )
