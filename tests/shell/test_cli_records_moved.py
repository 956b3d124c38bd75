"""`pack`, `unpack` and `convert` of records: archives and bytes in and out, whole or not at all."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell
from record_texts import SHAPE, archive, fields, spec

import layoutdsl

__all__ = ["archive", "fields", "shell", "spec"]

# What is moved.


def meant(name: str, shape: tuple[int, ...], fields: dict[str, np.ndarray]) -> bytes:
    """The bytes of a buffer, bit by bit from the meaning."""
    record = layoutdsl.load("my.layout").records[name]
    values = record.bind(shape)
    buffer = bytearray(record.size_bits_at(values) // 8)
    stored = {key: each.view(f"u{each.itemsize}") for key, each in fields.items()}
    for _, held, address in record.every_bit(values):
        bit = int(stored[held.field][held.index]) >> held.bit & 1
        buffer[address // 8] |= bit << address % 8
    return bytes(buffer)


@pytest.mark.slow
def test_there_and_back(archive: Shell, fields: dict[str, np.ndarray]) -> None:
    ended = archive("pack", "my.layout:Block", "in.npz", "out.npy", "-v")
    said = "packed d (2, 3) float16, q (2, 96) uint8 -> 108 bytes (2, 3, 18)\n"
    assert (ended.code, ended.out, ended.err) == (0, "", said)
    packed = np.load("out.npy")
    assert (packed.dtype, packed.shape) == (np.uint8, (2, 3, 18))
    assert packed.tobytes() == meant("Block", SHAPE, fields)
    ended = archive("unpack", "my.layout:Block", "out.npy", "back.npz", "--shape", "2,96", "-v")
    said = "unpacked 108 bytes (2, 3, 18) -> d (2, 3) float16, q (2, 96) uint8\n"
    assert (ended.code, ended.out, ended.err) == (0, "", said)
    with np.load("back.npz") as back:
        assert sorted(back.files) == ["d", "q"]
        for name, each in fields.items():
            assert back[name].dtype == each.dtype
            assert np.array_equal(back[name], each)
    assert not [each for each in Path().iterdir() if each.suffix == ".tmp"]


@pytest.mark.slow
def test_bytes_without_a_header(archive: Shell, fields: dict[str, np.ndarray]) -> None:
    wanted = meant("Block", SHAPE, fields)
    assert archive("pack", "my.layout:Block", "in.npz", "out.bin").code == 0
    assert archive("pack", "my.layout:Block", "in.npz", "out", "--raw", "u8").code == 0
    assert Path("out.bin").read_bytes() == Path("out").read_bytes() == wanted
    for source, *raw in (("out.bin",), ("out", "--raw", "u8")):
        ended = archive("unpack", "my.layout:Block", source, "b.npz", "--shape", "2,96", *raw)
        assert ended.code == 0
        with np.load("b.npz") as back:
            assert np.array_equal(back["q"], fields["q"])


def test_a_file_for_each_field(archive: Shell, fields: dict[str, np.ndarray]) -> None:
    for name, each in fields.items():
        np.save(f"{name}.npy", each)
    named = ("--field", "q=q.npy", "--field", "d=d.npy")
    assert archive("pack", "my.layout:Block", "out.bin", *named, "--shape", "2,96").code == 0
    assert Path("out.bin").read_bytes() == meant("Block", SHAPE, fields)


def test_through_pipes(archive: Shell, fields: dict[str, np.ndarray]) -> None:
    given = Path("in.npz").read_bytes()
    packed = archive("pack", "my.layout:Block", "-", "-", stdin=given)
    assert np.load(io.BytesIO(packed.raw)).tobytes() == meant("Block", SHAPE, fields)
    raw = archive("pack", "my.layout:Block", "-", "-", "--raw", "u8", stdin=given)
    assert raw.raw == meant("Block", SHAPE, fields)
    for more, stdin in ((), packed.raw), (("--raw", "u8"), raw.raw):
        back = archive("unpack", "my.layout:Block", "-", "-", "--shape", "2,96", *more, stdin=stdin)
        with np.load(io.BytesIO(back.raw)) as found:
            assert np.array_equal(found["q"], fields["q"])


@pytest.mark.slow
def test_regions_are_flat(spec: Shell) -> None:
    y = np.arange(8, dtype="u1").reshape(2, 4)
    uv = np.arange(4, dtype="u1").reshape(1, 2, 2) + 100
    np.savez_compressed("in.npz", y=y, uv=uv)
    assert spec("pack", "my.layout:Planes", "in.npz", "out.npy").code == 0
    assert np.load("out.npy").tolist() == [*range(8), *range(100, 104)]


@pytest.mark.slow
def test_convert(archive: Shell, fields: dict[str, np.ndarray]) -> None:
    assert archive("pack", "my.layout:Block", "in.npz", "in.bin").code == 0
    pair = ("my.layout:Block", "my.layout:Turned")
    ended = archive("convert", *pair, "in.bin", "out.bin", "--shape", "2,96", "-v")
    assert (ended.code, ended.err) == (0, "converted (108,) uint8 -> (3, 2, 18)\n")
    assert Path("out.bin").read_bytes() == meant("Turned", SHAPE, fields)


def test_a_record_that_is_refuted_moves_nothing(archive: Shell) -> None:
    ended = archive("pack", "wrong.layout:Shared", "in.npz", "out.npy")
    assert (ended.code, ended.out) == (1, "")
    assert "error: `Shared` is refuted, so no code is generated\n" in ended.err
    assert not Path("out.npy").exists()


# What does not fit.

D, Q = np.zeros((2, 3), "f2"), np.zeros(SHAPE, "u1")
ARCHIVES: dict[str, tuple[dict[str, np.ndarray], str]] = {
    "a field is missing": (
        {"d": D, "x": D},
        "`in.npz` holds no `q`, a field of `Block`; it has `d`, `x`",
    ),
    "a value is too large": ({"d": D, "q": Q + 16}, "`q`: 16 is outside 0 to 15, "),
    "a type is another": ({"d": D.astype("f4"), "q": Q}, "float16"),
    "shapes do not agree": ({"d": D[:, :2], "q": Q}, "`q` has the shape (2, 96)"),
    "an extent does not fit": ({"d": D, "q": Q[:, :95]}, "`q` has the shape (2, 95)"),
    "a rank is another": ({"d": D, "q": Q[0]}, "`q` has 1 dimensions, and takes 2"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_fields_that_do_not_fit(spec: Shell, name: str) -> None:
    arrays, words = ARCHIVES[name]
    Path("out.npy").write_bytes(b"old")
    np.savez("in.npz", **arrays)
    ended = spec("pack", "my.layout:Block", "in.npz", "out.npy", "--force")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith("error: `in.npz` ")
    assert words in ended.err
    assert ended.err.count("\n") == 1
    assert Path("out.npy").read_bytes() == b"old"


def encrypted(data: bytes) -> bytes:
    """An archive that says that its members are encrypted."""
    place = data.index(b"PK\x01\x02") + 8
    return data[:place] + b"\x01" + data[place + 1 :]


def zipped(members: list[tuple[str, bytes]], kind: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def stored(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


BOTH = [("d.npy", stored(D)), ("q.npy", stored(Q))]
HINT = "\n  = help: name the file of each field: --field NAME=FILE.npy\n"
DAMAGED = {
    "empty": (b"", f"`in.npz` is no .npz archive that can be read: file is not a zip file{HINT}"),
    "npy": (
        stored(D),
        f"`in.npz` is no .npz archive that can be read: file is not a zip file{HINT}",
    ),
    "cut": (zipped(BOTH)[:-9], "`in.npz` is no .npz archive that can be read: "),
    "encrypted": (encrypted(zipped(BOTH)), "`d` of `in.npz` is encrypted\n"),
    "lzma": (zipped(BOTH, zipfile.ZIP_LZMA), "`d` of `in.npz` is packed in a way that numpy "),
    "member": (zipped([("d.npy", stored(D)[:99]), BOTH[1]]), "`d` of `in.npz` is no .npy array"),
    "objects": (
        zipped([("d.npy", stored(np.array([[{}]]))), BOTH[1]]),
        "`d` of `in.npz` holds Python objects, which are no plain bytes\n",
    ),
    "claims": (
        zipped([("d.npy", stored(D).replace(b"(2, 3), ", b"(2, 3000000000), ")), BOTH[1]]),
        "`d` of `in.npz` is ",
    ),
    "sum": (
        zipped(BOTH).replace(stored(D), stored(D)[:-1] + b"\1", 1),
        "`in.npz` is no .npz archive that can be read: bad CRC-32 for file `d.npy`",
    ),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", DAMAGED)
def test_archives_that_are_damaged(spec: Shell, name: str) -> None:
    data, words = DAMAGED[name]
    Path("in.npz").write_bytes(data)
    for source in ("in.npz", "-"):
        ended = spec("pack", "my.layout:Block", source, "out.npy", stdin=data)
        assert (ended.code, ended.out) == (4, "")
        if source != "-":
            assert ended.err.startswith(f"error: {words.partition(HINT)[0]}")
        assert "Traceback" not in ended.err
    assert not Path("out.npy").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_field_that_is_there_twice(spec: Shell) -> None:
    Path("in.npz").write_bytes(zipped([*BOTH, BOTH[0]]))
    ended = spec("pack", "my.layout:Block", "in.npz", "out.npy")
    assert (ended.code, ended.err) == (4, "error: `in.npz` holds `d` twice\n")


def test_what_is_no_field_is_not_read(archive: Shell) -> None:
    Path("in.npz").write_bytes(zipped([*BOTH, ("notes.txt", b"hello"), ("x.npy", b"no array")]))
    ended = archive("pack", "my.layout:Block", "in.npz", "out.npy")
    assert ended.code == 0
    assert ended.err == (
        "note: `in.npz` also holds `notes.txt`, which is no field of `Block`\n"
        "note: `in.npz` also holds `x`, which is no field of `Block`\n"
    )


def test_buffers_that_do_not_fit(spec: Shell) -> None:
    Path("in.bin").write_bytes(b"\0" * 35)
    np.save("in.npy", np.zeros(36, "i2"))
    ended = spec("unpack", "my.layout:Block", "in.bin", "out.npz", "--shape", "1,64")
    words = "error: `in.bin` holds 35 bytes, and `Block` at R=1 K=64 36\n"
    assert (ended.code, ended.err) == (4, words)
    ended = spec("unpack", "my.layout:Block", "in.npy", "out.npz", "--shape", "1,64")
    assert ended.code == 4
    assert ended.err.startswith("error: `in.npy` does not fit: ")
    ended = spec("unpack", "my.layout:Block", "gone.bin", "out.npz", "--shape", "1,64")
    words = "error: `gone.bin` cannot be read: no such file or directory\n"
    assert ended.err == f"{words}  = help: the folder has `in.bin`\n"
    assert not Path("out.npz").exists()


def test_an_output_that_is_an_input(archive: Shell) -> None:
    os.link("in.npz", "same")
    ended = archive("pack", "my.layout:Block", "in.npz", "same")
    assert ended.code == 4
    assert ended.err.startswith("error: `same` is the input itself, and is not replaced\n")
    np.save("d.npy", D)
    np.save("q.npy", Q)
    files = ("--field", "d=d.npy", "--field", "q=q.npy")
    ended = archive("pack", "my.layout:Block", "q.npy", *files)
    assert ended.err.startswith("error: `q.npy` is the input itself, and is not replaced\n")
