"""`pack_file` and `unpack_file`: against the whole and the meaning, in bounded memory, resumed."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_files import BLOCKED, ROW, compiles, left_behind, random_tensor
from texts import EVERY, layout

from layoutdsl import Layout, OccupiedError, TooLittleError, UnreadableError, pack_file, unpack_file
from layoutdsl import compile as compiled

CROUTON = layout("layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32] fill 31")


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# A layout, a shape, an item, and a fill.
CASES: list[tuple[str, tuple[int, ...], str, int | None]] = [
    ("NCHW16c", (3, 35, 5, 7), "f4", None),
    ("NCHW16c", (3, 35, 5, 7), "f8", 3),
    ("OIhw4i16o4i", (33, 20, 3, 3), "i1", None),
    ("R4Crouton2x2Layout", (2, 17, 9, 40), "u1", None),
    ("R4Crouton2x2Layout", (2, 17, 9, 40), "u2", 9),
    ("HtpConvWeights", (3, 1, 50, 40), "u1", None),
    ("MaceChannelMajor", (2, 3, 5, 9), "f2", None),
    ("MaceConvolutionFilter", (9, 3, 2, 5), "f2", None),
    ("FractalZFp16", (20, 40, 2, 3), "f2", None),
    ("XlaTile8x128x2", (20, 300), "u2", None),
    ("MarlinWeights", (48, 192), "u1", None),
    ("GgufQ4_K", (5, 768), "u1", None),
    ("AiterScales", (1100, 9), "u1", None),
    ("TrtHWC8", (2, 19, 2, 3), "f2", None),
    ("Swizzle128", (5_000,), "u1", None),
    ("CublasCol4_4R2_8C", (20, 70), "i1", None),
    ("HWIO", (30, 20, 3, 3), "c16", None),
    ("HWIO", (30, 20, 3, 3), "u1", None),
    ("Late", (50, 70), "u1", None),
    ("ZeroPoint", (700,), "u1", 5),
    ("PaddedTuple", (50, 7), "u1", None),
    ("NHWC", (2, 30, 7, 9), ">i4", None),
]
TARGETS = ["numpy", "native"]


def check_meaning(found: Layout, tensor: np.ndarray, packed: np.ndarray, fill: int | None) -> None:
    """Every element at its offset, and the fill everywhere else."""
    values, names = found.bind(tensor.shape), [axis.name for axis in found.axes]
    left = np.ones(packed.size, bool)
    flat = packed.reshape(-1)
    for index in np.ndindex(*tensor.shape):
        slot = found.offset_at({**values, **dict(zip(names, index, strict=True))})
        assert flat[slot] == tensor[index]
        assert left[slot]
        left[slot] = False
    number = getattr(found.fill, "value", 0)
    assert (flat[left] == (number if fill is None else fill)).all()


@pytest.mark.slow
@pytest.mark.sampled(54)
@pytest.mark.parametrize(
    ("jobs", "target"),
    [
        (1, "native"),
        (3, "numpy"),
        pytest.param(1, "numpy", marks=pytest.mark.campaign),
        pytest.param(3, "native", marks=pytest.mark.campaign),
    ],
)
@pytest.mark.parametrize(("name", "shape", "dtype", "fill"), CASES)
def test_pieces_make_the_whole(
    name: str, shape: tuple[int, ...], dtype: str, fill: int | None, jobs: int, target: Any
) -> None:
    if target == "native" and not compiles():
        pytest.skip("no C compiler")
    found = EVERY[name]
    tensor = random_tensor(shape, dtype)
    if found.element is not None and not found.element.fills_item:
        tensor = tensor % (1 << found.element.bits)
    np.save("in.npy", tensor)
    given = {} if fill is None else {"fill": fill}
    np.save("whole.npy", compiled(found, "numpy").pack(tensor, **given))
    how: dict[str, Any] = {"jobs": jobs, "target": target}
    with pytest.raises(TooLittleError) as few:
        pack_file(found, "in.npy", "out.npy", mem=1, fill=fill, **how)
    how["mem"] = few.value.needed * 5 // 4
    done = pack_file(found, "in.npy", "out.npy", fill=fill, **how)
    assert done.pieces > 3
    assert Path("out.npy").read_bytes() == Path("whole.npy").read_bytes()
    if np.dtype(dtype).kind in "iu" and jobs == 1 and target == "native":
        check_meaning(found, tensor, np.load("out.npy"), fill)
    again = unpack_file(found, "out.npy", "back.npy", shape, **how)
    assert again.pieces > 3
    assert Path("back.npy").read_bytes() == Path("in.npy").read_bytes()
    assert left_behind() == {"whole.npy"}


def test_the_check_by_the_meaning_can_fail() -> None:
    tensor = random_tensor((3, 35))
    packed = compiled(BLOCKED, "numpy").pack(tensor).copy()
    check_meaning(BLOCKED, tensor, packed, None)
    packed[0, 2, 5] = 1
    with pytest.raises(AssertionError):
        check_meaning(BLOCKED, tensor, packed, None)


@pytest.mark.slow
def test_fortran_order_is_read() -> None:
    tensor = random_tensor((3, 35, 9, 11))
    np.save("in.npy", np.asfortranarray(tensor))
    assert pack_file(CROUTON, "in.npy", "out.npy", mem=9_000).pieces > 1
    assert np.array_equal(np.load("out.npy"), compiled(CROUTON).pack(tensor))


def test_a_buffer_in_fortran_order_is_refused() -> None:
    np.save("in.npy", np.asfortranarray(compiled(BLOCKED).pack(random_tensor((4, 40)))))
    with pytest.raises(UnreadableError, match="in Fortran order, so its slots do not lie in"):
        unpack_file(BLOCKED, "in.npy", "out.npy", (4, 40), mem=300)


def test_files_without_a_header() -> None:
    tensor = random_tensor((30, 35), "f4")
    tensor.tofile("in.bin")
    pack_file(BLOCKED, "in.bin", "out.bin", mem=999, raw="f4", shape=(30, 35))
    assert Path("out.bin").read_bytes() == compiled(BLOCKED).pack(tensor).tobytes()
    unpack_file(BLOCKED, "out.bin", "back.bin", (30, 35), mem=999, raw="f4")
    assert Path("back.bin").read_bytes() == Path("in.bin").read_bytes()


@pytest.mark.parametrize("shape", [(0, 35), (30, 0)])
def test_empty_tensors(shape: tuple[int, int]) -> None:
    np.save("in.npy", np.zeros(shape, "u1"))
    pack_file(BLOCKED, "in.npy", "out.npy", mem=999)
    np.save("whole.npy", compiled(BLOCKED).pack(np.zeros(shape, "u1")))
    assert Path("out.npy").read_bytes() == Path("whole.npy").read_bytes()
    unpack_file(BLOCKED, "out.npy", "back.npy", shape, mem=999)
    assert Path("back.npy").read_bytes() == Path("in.npy").read_bytes()


def test_no_file_is_replaced_by_its_own_pack() -> None:
    np.save("in.npy", random_tensor((30, 35)))
    Path("soft.npy").symlink_to("in.npy")
    Path("hard.npy").hardlink_to("in.npy")
    before = Path("in.npy").read_bytes()
    for name in ("in.npy", "./in.npy", "soft.npy", "hard.npy"):
        with pytest.raises(OccupiedError, match="is the input itself, and is not replaced; write"):
            pack_file(BLOCKED, "in.npy", name, mem=ROW)
        with pytest.raises(OccupiedError, match="is the input itself, and is not replaced"):
            unpack_file(BLOCKED, name, "in.npy", (30, 1), mem=ROW)
        raw = {"raw": "u1", "shape": (1178,)}
        with pytest.raises(OccupiedError, match="is the input itself, and is not replaced"):
            pack_file(layout("layout A(n) = [n]"), "in.npy", name, mem=ROW, **raw)
    assert Path("in.npy").read_bytes() == before
    assert left_behind() == {"soft.npy", "hard.npy"}


# What cannot be done, and what is said of it.


@pytest.mark.slow
def test_too_little_memory_says_what_is_needed() -> None:
    np.save("in.npy", random_tensor((2, 17, 9, 40)))
    with pytest.raises(TooLittleError) as refused:
        pack_file(CROUTON, "in.npy", "out.npy", mem=2_000, jobs=2)
    least = 4352 if compiles() else 6400  # numpy copies a piece on the way
    assert str(refused.value) == (
        f"2000 bytes are too few for 2 jobs: the smallest piece of `Crouton` takes {least}, as "
        "`h%8` has the same extent whatever `H` is"
    )
    assert left_behind() == set()
    assert not Path("out.npy").exists()
    pack_file(CROUTON, "in.npy", "out.npy", mem=refused.value.needed, jobs=2)


@pytest.mark.slow
def test_a_layout_that_cannot_be_taken_apart_is_one_piece() -> None:
    triangle = EVERY["LapackPackedUpper"]
    tensor = random_tensor((40, 40))
    np.save("in.npy", tensor)
    with pytest.raises(TooLittleError, match="as it holds elements only where i <= j"):
        pack_file(triangle, "in.npy", "out.npy", mem=1_000)
    assert pack_file(triangle, "in.npy", "out.npy", mem=10**6).pieces == 1
    assert np.array_equal(np.load("out.npy"), compiled(triangle).pack(tensor))


@pytest.mark.slow
def test_one_piece_is_said_to_be_one() -> None:
    """It is said where other layouts would have pieces: of more than 8 MiB."""
    np.save("in.npy", np.zeros((3000, 3000), "u1"))
    told: list[str] = []
    triangle = EVERY["LapackPackedUpper"]
    pack_file(triangle, "in.npy", "out.npy", mem=10**9, tell=told.append)
    assert told == ["`LapackPackedUpper` is one piece: it holds elements only where i <= j"]


BAD_INPUTS = [
    (b"", "it is no .npy array that can be read: "),
    (b"\x93NUMPY\x01\x00\x76\x00{'descr': ", "it is no .npy array that can be read: "),
    (b"no array at all, but long enough", "it is no .npy array that can be read: "),
]


@pytest.mark.parametrize(("content", "words"), BAD_INPUTS)
def test_what_is_no_array_is_refused(content: bytes, words: str) -> None:
    Path("in.npy").write_bytes(content)
    with pytest.raises(UnreadableError) as refused:
        pack_file(BLOCKED, "in.npy", "out.npy", mem=999)
    assert str(refused.value).startswith(words)
    assert left_behind() == set()


def test_python_objects_are_refused() -> None:
    np.save("in.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    with pytest.raises(UnreadableError, match="it holds Python objects"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=999)


def test_an_input_that_is_cut_short_is_refused() -> None:
    np.save("in.npy", random_tensor((30, 35)))
    os.truncate("in.npy", 1_000)
    with pytest.raises(UnreadableError, match="it is cut short: 1000 bytes of 1178"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=999)


@pytest.mark.parametrize(("width", "mem"), [(3, 999), (90, 40_000)])
def test_an_input_that_is_cut_short_meanwhile_is_refused(width: int, mem: int) -> None:
    """Pieces of less than 4096 bytes in a row are read through a map, and longer ones are not."""
    found = EVERY["HWIO"]
    np.save("in.npy", random_tensor((30, 20, width, 3)))

    def look(_: np.ndarray) -> None:
        os.truncate("in.npy", 1_000)

    with pytest.raises(UnreadableError, match="it was cut short while it was read"):
        pack_file(found, "in.npy", "out.npy", mem=mem, look=look)
    assert left_behind() == set()
    assert not Path("out.npy").exists()


def test_an_input_that_is_written_meanwhile_is_refused() -> None:
    np.save("in.npy", random_tensor((30, 35)))

    def look(_: np.ndarray) -> None:
        os.utime("in.npy", ns=(5, 5))

    with pytest.raises(UnreadableError, match="it has changed while it was read"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=999, look=look)
    assert left_behind() == set()


def test_a_fill_that_does_not_fit_leaves_nothing() -> None:
    np.save("in.npy", random_tensor((30, 35)))
    with pytest.raises(ValueError, match="`fill` is 256, which uint8 cannot hold"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=999, fill=256)
    assert left_behind() == set()


@pytest.mark.slow
def test_a_zero_point_has_to_be_given() -> None:
    np.save("in.npy", random_tensor((70,)))
    with pytest.raises((ValueError, TypeError), match="fill"):
        pack_file(EVERY["ZeroPoint"], "in.npy", "out.npy", mem=400)
    assert left_behind() == set()


def test_what_the_disk_has_no_room_for_is_refused_at_once() -> None:
    """The input is all holes, and larger than any disk that a test runs on."""
    size = 1 << 42
    with Path("in.bin").open("wb") as file:
        try:
            file.truncate(size)
        except OSError:
            pytest.skip("no sparse files of this size")
    with pytest.raises(OSError, match=r"bytes are free|it needs") as refused:
        pack_file(BLOCKED, "in.bin", "out.bin", mem=10**6, raw="u1", shape=(1 << 20, 1 << 22))
    assert refused.value.errno == errno.ENOSPC
    assert left_behind() == set()


def test_a_disk_that_fills_up_while_space_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    np.save("in.npy", random_tensor((30, 35)))
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left") as refused:
        pack_file(BLOCKED, "in.npy", "out.npy", mem=999)
    assert refused.value.filename == "out.npy"
    assert left_behind() == set()


def test_a_disk_that_fills_up_later_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = random_tensor((30, 35))
    np.save("in.npy", tensor)
    write, calls = os.pwrite, [0]

    def fills(handle: int, data: bytes | memoryview, offset: int) -> int:
        is_items = isinstance(data, memoryview)  # and not the journal
        calls[0] += is_items
        if is_items and calls[0] > 8:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data, offset)

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", fills)
        with pytest.raises(OSError, match="No space left") as refused:
            pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW)
    assert refused.value.filename == "out.npy"
    assert left_behind() == {"out.npy.part", "out.npy.part.json"}
    assert not Path("out.npy").exists()
    done = pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW)
    assert done.found == 8
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))
    assert left_behind() == set()


def test_somebody_elses_file_is_not_touched() -> None:
    np.save("in.npy", random_tensor((30, 35)))
    Path("out.npy.part").write_text("mine")
    with pytest.raises(OccupiedError, match="no run of layoutdsl has left it; remove it"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW)
    assert Path("out.npy.part").read_text() == "mine"


def test_the_input_may_not_be_the_unfinished_output() -> None:
    np.save("out.npy.part", random_tensor((30, 35)))
    Path("out.npy.part.npy").rename("out.npy.part")
    for name in ("out.npy.part", "out.npy.part.json"):
        with pytest.raises(OccupiedError, match=f"/{name}` is the input itself, and is not repl"):
            pack_file(BLOCKED, name, "out.npy", mem=ROW)
        assert np.load(name).shape == (30, 35)
        Path(name).rename("out.npy.part.json")


@pytest.mark.slow
def test_two_runs_do_not_write_one_file() -> None:
    np.save("in.npy", random_tensor((30, 35)))
    refused: list[OccupiedError] = []

    def look(_: np.ndarray) -> None:
        if not refused:  # each waits a second for the other run
            with pytest.raises(OccupiedError) as error:
                pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW)
            refused.append(error.value)

    done = pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW, look=look)
    assert (len(refused), done.pieces) == (1, 30)
    assert "another run is writing" in str(refused[0])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only() -> None:
    np.save("in.npy", random_tensor((30, 35)))
    Path("there").mkdir(mode=0o500)
    with pytest.raises(PermissionError) as refused:
        pack_file(BLOCKED, "in.npy", "there/out.npy", mem=ROW)
    assert Path(refused.value.filename) == Path("there/out.npy.part").absolute()


def test_permissions_of_the_old_file_stay() -> None:
    np.save("in.npy", random_tensor((30, 35)))
    Path("out.npy").touch()
    Path("out.npy").chmod(0o640)
    pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW)
    assert Path("out.npy").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(("mem", "jobs"), [(0, 1), (1, 0), (1, 257)])
def test_limits_are_checked(mem: int, jobs: int) -> None:
    with pytest.raises(ValueError, match=r"`mem` is|`jobs` is"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=mem, jobs=jobs)
