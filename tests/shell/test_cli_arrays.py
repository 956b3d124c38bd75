"""`pack` and `unpack`: `.npy` in and out, whole or not at all, and how it may fail."""

from __future__ import annotations

import io
import os
import pickle
import resource
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np
import pytest
from cli_shell import Ended, Shell, shell
from processes import running

from layoutdsl import library

__all__ = ["shell"]

SHAPE = (2, 20, 3, 4)
TENSOR = np.arange(2 * 20 * 3 * 4, dtype=np.float32).reshape(SHAPE)


def stored(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def litter() -> list[str]:
    return [path.name for path in Path().iterdir() if path.suffix == ".tmp"]


def test_there_and_back(shell: Shell) -> None:
    np.save("in.npy", TENSOR)
    assert shell("pack", "NCHW16c", "in.npy", "out.npy") == Ended(0, "", "", b"")
    packed = np.load("out.npy")
    layout = library("NCHW16c")
    assert packed.shape == layout.physical_shape(SHAPE)
    flat = packed.reshape(-1)
    for index in np.ndindex(*SHAPE):
        assert flat[layout.offset(index, SHAPE)] == TENSOR[index]
    assert shell("unpack", "NCHW16c", "out.npy", "back.npy", "--shape", "2,20,3,4").code == 0
    assert np.array_equal(np.load("back.npy"), TENSOR)
    assert litter() == []


def test_through_pipes(shell: Shell) -> None:
    packed = shell("pack", "NCHW16c", "-", "-", stdin=stored(TENSOR))
    assert (packed.code, packed.err) == (0, "")
    back = shell("unpack", "NCHW16c", "-", "-", "--shape", "2,20,3,4", stdin=packed.raw)
    assert np.array_equal(np.load(io.BytesIO(back.raw)), TENSOR)


def test_a_named_pipe(shell: Shell) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(stored(TENSOR)))
    writer.start()
    assert shell("pack", "NCHW16c", "pipe", "out.npy").code == 0
    writer.join()
    assert np.load("out.npy").shape == (2, 2, 3, 4, 16)


def test_fill(shell: Shell) -> None:
    np.save("in.npy", TENSOR)
    assert shell("pack", "NCHW16c", "in.npy", "out.npy", "--fill", "-1").code == 0
    assert np.sum(np.load("out.npy") == -1) == 768 - TENSOR.size
    assert shell("pack", "NCHW16c", "in.npy", "out.npy", "--fill", "0.5").code == 0
    assert np.sum(np.load("out.npy") == 0.5) == 768 - TENSOR.size


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(TENSOR),
        TENSOR.astype(">f8"),
        TENSOR.astype(bool),
        TENSOR.astype(np.int8),
        TENSOR.astype(np.complex64),
    ],
    ids=lambda array: str(array.dtype),
)
def test_every_plain_type(shell: Shell, array: np.ndarray) -> None:
    np.save("in.npy", array)
    assert shell("pack", "NCHW16c", "in.npy", "out.npy").code == 0
    assert shell("unpack", "NCHW16c", "out.npy", "back.npy", "--shape", "2,20,3,4").code == 0
    back = np.load("back.npy")
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


CUT = stored(TENSOR)[:300]
NO_ARRAY = "is no .npy array that can be read"
INPUTS = [
    ("empty", b"", f"{NO_ARRAY}: it does not start as one"),
    ("text", b"hello", f"{NO_ARRAY}: it does not start as one"),
    ("pickle", pickle.dumps([1]), f"{NO_ARRAY}: it does not start as one"),
    ("header", stored(TENSOR)[:60], f"{NO_ARRAY}: it is cut short"),
    ("cut", CUT, "is cut short: 300 bytes of 2048"),
    ("more", stored(TENSOR) + b"1", "goes on behind its array: 2049 bytes, and not 2048"),
    ("rank", stored(np.zeros(3)), "is of rank 1, and `NCHW16c` takes one of rank 4: n, c, h, w"),
]


@pytest.mark.parametrize(("name", "data", "message"), INPUTS, ids=[each[0] for each in INPUTS])
def test_an_input_that_is_wrong(shell: Shell, name: str, data: bytes, message: str) -> None:
    Path("out.npy").write_bytes(b"old")
    Path(f"{name}.npy").write_bytes(data)
    ended = shell("pack", "NCHW16c", f"{name}.npy", "out.npy", "--force")
    assert (ended.code, ended.out, ended.err) == (4, "", f"error: `{name}.npy` {message}\n")
    assert Path("out.npy").read_bytes() == b"old"
    assert litter() == []


@pytest.mark.parametrize(("name", "data", "_"), INPUTS, ids=[each[0] for each in INPUTS])
def test_a_standard_input_that_is_wrong(shell: Shell, name: str, data: bytes, _: str) -> None:
    ended = shell("pack", "NCHW16c", "-", "-", stdin=data)
    assert (ended.code, ended.raw, name) == (4, b"", name)
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1


def test_objects_are_never_unpickled(shell: Shell) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, ("exploded",)

    array = np.array([[[[Bomb()]]]], dtype=object)
    np.save("in.npy", array, allow_pickle=True)
    for source in ("in.npy", "-"):
        ended = shell("pack", "NCHW16c", source, "out.npy", stdin=Path("in.npy").read_bytes())
        assert ended.code == 4
        assert "holds Python objects, which are no plain bytes" in ended.err
    assert not Path("exploded").exists()
    assert not Path("out.npy").exists()


def test_a_header_that_claims_too_much(shell: Shell) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 9999, 9, 9), }"
    data = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
    Path("in.npy").write_bytes(data + b"1234")
    ended = shell("pack", "NCHW16c", "in.npy", "out.npy")
    assert ended.code == 4
    assert "`in.npy` is cut short: 90 bytes of 323967596760410" in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("pack", "NCHW16c", "not.npy", "o.npy"),
            "`not.npy` cannot be read: no such file or directory\n"
            "  = help: the folder has `in.npy`",
        ),
        (("pack", "NCHW16c", "/", "o.npy"), "`/` cannot be read: is a directory"),
        (
            ("pack", "NCHW16c", "in.npy", "no/such/o.npy"),
            "`no/such/o.npy` cannot be written: no such file or directory",
        ),
        (("pack", "NCHW16c", "in.npy", "/"), "`/` cannot be written: is a directory"),
        (
            ("unpack", "NCHW16c", "in.npy", "o.npy", "--shape", "2,20,3,4"),
            "`in.npy` does not fit: `src` has shape (2, 20, 3, 4), not (2, 2, 3, 4, 16)",
        ),
    ],
)
def test_what_does_not_fit(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    np.save("in.npy", TENSOR)
    ended = shell(*arguments)
    assert (ended.code, ended.out, ended.err) == (4, "", f"error: {message}\n")
    assert litter() == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_device_is_written_and_not_replaced(shell: Shell) -> None:
    np.save("in.npy", TENSOR)
    assert shell("pack", "NCHW16c", "in.npy", "/dev/null").code == 0
    ended = shell("pack", "NCHW16c", "in.npy", "/dev/full")
    assert ended.err == "error: `/dev/full` cannot be written: no space left on device\n"
    assert Path("/dev/null").is_char_device()


def test_a_failed_write_leaves_the_old_file(shell: Shell) -> None:
    """The system allows files of 1,000 bytes, and the output has 3,200."""
    np.save("in.npy", TENSOR)
    Path("out.npy").write_bytes(b"old")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
    try:
        ended = shell("pack", "NCHW16c", "in.npy", "out.npy", "--force")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert ended.code == 4
    assert ended.err == "error: `out.npy` cannot be written: file too large\n"
    assert Path("out.npy").read_bytes() == b"old"
    assert litter() == []


WAYS = [
    "pack demo.layout:NCHW16c in.npy {}",
    "pack demo.layout:NCHW16c in.npy {} --mem 4K",
    "pack demo.layout:NCHW16c in.npy {} --raw f32 --shape 2,20,3,4",
    "unpack demo.layout:NCHW16c in.npy {} --shape 2,20,3,4",
    "unpack demo.layout:NCHW16c in.npy {} --shape 2,20,3,4 --jobs 2",
    "convert demo.layout:NCHW16c NHWC in.npy {} --shape 2,20,3,4",
    "convert NHWC demo.layout:NCHW16c in.npy {} --shape 2,20,3,4",
]


@pytest.mark.parametrize("line", WAYS)
def test_nothing_is_put_in_the_place_of_what_it_is_made_from(shell: Shell, line: str) -> None:
    np.save("in.npy", TENSOR)
    Path("folder").mkdir()
    Path("soft.npy").symlink_to("in.npy")
    Path("hard.npy").hardlink_to("in.npy")
    Path("folder/soft").symlink_to("../demo.layout")
    before = {name: Path(name).read_bytes() for name in ("in.npy", "demo.layout")}
    inputs = ("in.npy", "./in.npy", "folder/../in.npy", "soft.npy", "hard.npy")
    for names, word in ((inputs, "input"), (("demo.layout", "folder/soft"), "spec")):
        for name in names:
            ended = shell(*line.format(name).split())
            assert ended == Ended(
                4,
                "",
                f"error: `{name}` is the {word} itself, and is not replaced\n"
                "  = help: write to another file, and move it there afterwards\n",
                b"",
            )
    assert {name: Path(name).read_bytes() for name in before} == before
    there = {"demo.layout", "folder", "hard.npy", "in.npy", "soft.npy"}
    assert {each.name for each in Path().iterdir()} == there


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pack NCHW16c - in.npy < in.npy", "`in.npy` is the input itself"),
        ("pack NCHW16c in.npy - >> in.npy", "the standard output is the input itself"),
        ("pack NCHW16c - - < in.npy >> in.npy", "the standard output is the input itself"),
        ("pack - in.npy demo.layout < demo.layout", "`demo.layout` is the spec itself"),
        ("unpack NCHW16c in.npy /dev/stdout --shape 2,20,3,4 >> in.npy", "is the input itself"),
    ],
)
@pytest.mark.usefixtures("shell")
def test_streams_may_be_the_input_too(line: str, words: str) -> None:
    np.save("in.npy", TENSOR)
    Path("demo.layout").write_text("layout A(n, c, h, w) = [n, h, w, c]")
    before = {each.name: each.read_bytes() for each in Path().iterdir()}
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {shlex.quote(sys.executable)} -m layoutdsl {line}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4, done.stderr
    assert words in done.stderr
    assert {each.name: each.read_bytes() for each in Path().iterdir()} == before


@pytest.mark.slow
def test_the_standard_output_under_another_name(shell: Shell) -> None:
    np.save("in.npy", TENSOR)
    assert shell("pack", "NCHW16c", "in.npy", "want.npy").code == 0
    start = f"{shlex.quote(sys.executable)} -m layoutdsl pack NCHW16c in.npy /dev/stdout"
    for line in (f"{start} | cat > out.npy", f"{start} > out.npy"):
        subprocess.run(["/bin/sh", "-c", line], check=True)
        assert Path("out.npy").read_bytes() == Path("want.npy").read_bytes()


@pytest.mark.parametrize("verb", ["pack", "unpack", "convert"])
def test_an_input_that_changes_while_it_is_read(
    shell: Shell, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size and its time are what they were; only the system knows."""
    np.save("in.npy", TENSOR)
    shell("pack", "NHWC", "in.npy", "packed.npy")
    Path("out.npy").write_bytes(b"old")
    source, lines = {
        "pack": ("in.npy", ["NHWC", "in.npy", "out.npy"]),
        "unpack": ("packed.npy", ["NHWC", "packed.npy", "out.npy", "--shape", "2,20,3,4"]),
        "convert": (
            "packed.npy",
            ["NHWC", "NCHW", "packed.npy", "out.npy", "--shape", "2,20,3,4"],
        ),
    }[verb]

    def meddling(path: object, *given: Any, **named: Any) -> int:
        """Change the source when the temporary file of the output is created."""
        if str(path).endswith(".tmp"):
            meddled.append(path)
            times = Path(source).stat()
            with Path(source).open("r+b") as file:
                file.seek(-4, os.SEEK_END)
                file.write(b"else")
            os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
        return real(path, *given, **named)

    meddled: list[object] = []
    real: Callable[..., int] = os.open
    monkeypatch.setattr(os, "open", meddling)
    ended = shell(verb, *lines, "--force")
    assert len(meddled) == 1
    assert (ended.code, ended.err) == (
        4,
        f"error: `{source}` has changed while it was read\n"
        "  = help: start again when nobody writes it\n",
    )
    assert Path("out.npy").read_bytes() == b"old"
    assert litter() == []


@pytest.mark.slow
@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.usefixtures("shell")
def test_a_stream_that_is_a_file_and_changes(changed: bool) -> None:
    """The pipe of the output is full before the whole of it is written: then the input changes."""
    np.save("in.npy", np.zeros((2, 64, 64, 64)))
    line = [sys.executable, "-m", "layoutdsl", "pack", "NCHW16c", "-", "-"]
    with (
        Path("in.npy").open("rb") as file,
        running(line, stdin=file, stdout=PIPE, stderr=PIPE, bufsize=0) as process,
    ):
        assert process.stdout is not None
        begun = process.stdout.read(6)
        if changed:
            with Path("in.npy").open("r+b") as other:
                other.write(b"?")
        rest, said = process.communicate(timeout=100)
    assert begun == b"\x93NUMPY"
    if changed:
        assert process.returncode == 4
        assert said.startswith(b"error: the standard input has changed while it was read\n")
    else:
        assert (process.returncode, said) == (0, b"")
        assert np.load(io.BytesIO(begun + rest)).shape == (2, 4, 64, 64, 16)


def test_links_and_permissions_are_kept(shell: Shell) -> None:
    np.save("in.npy", TENSOR)
    Path("real.npy").write_bytes(b"old")
    Path("real.npy").chmod(0o640)
    Path("link.npy").symlink_to("real.npy")
    assert shell("pack", "NCHW16c", "in.npy", "link.npy", "--force").code == 0
    assert Path("link.npy").is_symlink()
    assert np.load("real.npy").shape == (2, 2, 3, 4, 16)
    assert Path("real.npy").stat().st_mode & 0o777 == 0o640


def test_a_refuted_layout_moves_nothing(shell: Shell) -> None:
    Path("bad.layout").write_text("layout Bad(n, c) = [n, c%4] where C < 99")
    np.save("in.npy", np.zeros((2, 9)))
    ended = shell("pack", "bad.layout", "in.npy", "out.npy")
    assert ended.code == 1
    assert ended.err.startswith("refuted: `Bad` is not injective\n  at shape N=1 C=5\n")
    assert ended.err.endswith("error: `Bad` is refuted, so no code is generated\n")
    assert not Path("out.npy").exists()


TYPES = [
    ("u8", "uint8", None),
    ("i16", ">i2", None),
    ("f16", "float16", None),
    ("bf16", "uint16", None),
    ("f8", "uint8", None),
    ("u4", "uint8", None),
    ("i1", "int8", None),
    ("u8", "float32", "holds float32, and `A` is of u8: convert it to uint8"),
    ("u8", "int8", "holds int8, and `A` is of u8: convert it to uint8"),
    ("f64", "float32", "holds float32, and `A` is of f64: convert it to float64"),
    (
        "bf16",
        "float16",
        "holds float16, and `A` is of bf16: save the bits of its elements as uint16",
    ),
    ("u4", "uint16", "holds uint16, and `A` is of u4: convert it to uint8"),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("element", "dtype", "message"), TYPES)
def test_items_are_of_the_element_type(
    shell: Shell, element: str, dtype: str, message: str | None
) -> None:
    Path("a.layout").write_text(f"layout A(c) = [c/4, c%4] of {element}")
    np.save("in.npy", np.zeros(7, dtype))
    np.save("buffer.npy", np.zeros((2, 4), dtype))
    for arguments in (
        ("pack", "a.layout", "in.npy", "out.npy"),
        ("unpack", "a.layout", "buffer.npy", "out.npy", "--shape", "7"),
    ):
        ended = shell(*arguments)
        said = f"error: `{arguments[2]}` {message}\n" if message else ""
        assert (ended.code, ended.err) == (4 if message else 0, said)


@pytest.mark.parametrize(
    ("element", "values", "message"),
    [
        ("u4", [0, 15], None),
        ("i4", [-8, 7], None),
        ("u4", [3, 200], "holds 200, and u4 is 0..15"),
        ("i4", [-9, 7], "holds -9, and i4 is -8..7"),
        ("u1", [0, 2], "holds 2, and u1 is 0..1"),
    ],
)
def test_values_fit_the_bits_of_the_element_type(
    shell: Shell, element: str, values: list[int], message: str | None
) -> None:
    Path("a.layout").write_text(f"layout A(c) = [c] of {element}")
    np.save("in.npy", np.array(values, "uint8" if element[0] == "u" else "int8"))
    ended = shell("pack", "a.layout", "in.npy", "out.npy")
    assert (ended.code, ended.err) == (4, f"error: `in.npy` {message}\n") if message else (0, "")
    ended = shell("unpack", "a.layout", "in.npy", "out.npy", "--shape", "2")
    assert ended.code == (4 if message else 0)
    assert ("the range of the elements" in ended.err) is (message is not None)


def test_a_fill_that_does_not_fit(shell: Shell) -> None:
    Path("a.layout").write_text("layout A(c) = [c/4, c%4] of u4 layout B(c) = [c/4, c%4]")
    np.save("in.npy", np.zeros(7, np.uint8))
    for name, fill, message in (
        ("A", "16", "--fill is 16, and u4 is 0..15"),
        ("B", "300", "--fill is 300, which uint8 cannot hold"),
    ):
        ended = shell("pack", f"a.layout:{name}", "in.npy", "out.npy", "--fill", fill)
        assert (ended.code, ended.err) == (2, f"error: {message}\n")


@pytest.mark.parametrize("shape", ["0,20,3,4", "2,0,3,4", "n=2,C=20,h=0,W=4", "0,0,0,0"])
def test_an_empty_tensor(shell: Shell, shape: str) -> None:
    extents = [int(each.split("=")[-1]) for each in shape.split(",")]
    np.save("in.npy", np.zeros(extents))
    assert shell("pack", "NCHW16c", "in.npy", "out.npy").code == 0
    assert shell("unpack", "NCHW16c", "out.npy", "back.npy", "--shape", shape).code == 0
    assert np.load("back.npy").shape == tuple(extents)


def test_what_was_done_is_said_to_those_who_ask(shell: Shell) -> None:
    np.save("in.npy", TENSOR)
    ended = shell("pack", "NCHW16c", "in.npy", "out.npy", "-v")
    assert ended.err == "packed (2, 20, 3, 4) float32 -> (2, 2, 3, 4, 16)\n"
    ended = shell("unpack", "NCHW16c", "out.npy", "back.npy", "--shape", "2,20,3,4", "-v")
    assert ended.err == "unpacked (2, 2, 3, 4, 16) float32 -> (2, 20, 3, 4)\n"


@pytest.mark.parametrize("shape", ["(2,)()", "f(2)", "[2", "2+x"])
def test_a_malformed_header(shell: Shell, shape: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    Path("in.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"12345678"
    )
    ended = shell("pack", "NCHW16c", "in.npy", "out.npy")
    assert (ended.code, ended.err) == (4, f"error: `in.npy` {NO_ARRAY}: its header is damaged\n")
