"""Runs of `pack_file` that are interrupted, killed, and gone on with; and what memory they take."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import running
from small_files import BLOCKED, ROW, Stopped, compiles, left_behind, random_tensor, stopping
from texts import EVERY, layout

from layoutdsl import Layout, OccupiedError, UnreadableError, pack_file, unpack_file
from layoutdsl import compile as compiled
from layoutdsl.files import locks
from layoutdsl.files.pieces import journal, output, runs, tensors
from layoutdsl.files.places import Identity


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def interrupted(after: int, found: Layout = BLOCKED, **more: Any) -> None:
    """Pack until so many pieces are done."""
    with pytest.raises(Stopped):
        pack_file(found, "in.npy", "out.npy", mem=ROW, look=stopping(after), **more)


def resumed(found: Layout = BLOCKED, **more: Any) -> tuple[int, list[str]]:
    """Pack the rest; returns how many pieces were packed, and what was said."""
    looks, told = [0], list[str]()

    def look(_: np.ndarray) -> None:
        looks[0] += 1

    how = {"mem": ROW, **more}
    pack_file(found, "in.npy", "out.npy", look=look, tell=told.append, **how)
    return looks[0], told


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """How long a lock of others is waited for."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(locks, "MOMENT", seconds)
        yield


@pytest.fixture
def tensor() -> np.ndarray:
    made = random_tensor((30, 35))
    np.save("in.npy", made)
    return made


def test_an_interrupted_run_goes_on(tensor: np.ndarray) -> None:
    Path("out.npy").write_text("as it was")
    interrupted(after=10, force=True)
    assert Path("out.npy").read_text() == "as it was"
    assert resumed(jobs=2, mem=2 * ROW, force=True) == (20, ["going on: 10 of 30 pieces are done"])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))
    assert left_behind() == set()


def test_an_interrupted_unpack_goes_on(tensor: np.ndarray) -> None:
    np.save("in.npy", compiled(BLOCKED).pack(tensor))
    looks = [0]

    def look(_: np.ndarray) -> None:
        looks[0] += 1
        if looks[0] == 12:
            raise Stopped

    with pytest.raises(Stopped):
        unpack_file(BLOCKED, "in.npy", "out.npy", (30, 35), mem=ROW, look=look)
    done = unpack_file(BLOCKED, "in.npy", "out.npy", (30, 35), mem=ROW, look=look)
    assert (done.found, looks[0]) == (11, 12 + 30 - 11)
    assert np.array_equal(np.load("out.npy"), tensor)


@pytest.mark.usefixtures("tensor")
def test_a_run_that_was_interrupted_at_once_leaves_nothing() -> None:
    interrupted(after=0)
    assert left_behind() == set()


def said() -> journal.Noted:
    found = journal.read(Path("out.npy.part.json").read_bytes())[0]
    assert found is not None
    return found


def lines() -> list[bytes]:
    return Path("out.npy.part.json").read_bytes().splitlines(keepends=True)


def hashed(*values: Any) -> bytes:
    """A journal whose hashes are right, whatever it says."""
    return journal.written(values, "")[0]


def first() -> Any:
    return json.loads(lines()[0].partition(b" ")[2])


NO_JOURNAL = {
    "cut short": lambda: lines()[0][:50],
    "without an end": lambda: lines()[0][:-1],
    "no text": lambda: b"\xff\x00",
    "a number": lambda: b"7",
    "deep": lambda: b"[" * 100_000,
    "another value": lambda: hashed([1, 2]),
    "very deep": lambda: hashed({"format": "x"}).replace(b'"x"', b"[" * 100_000),
    "the first line is missing": lambda: b"".join(lines()[1:]),
    "one bit": lambda: lines()[0].replace(b"room", b"roon") + b"".join(lines()[1:]),
    "another format": lambda: hashed({**first(), "format": "layoutdsl pieces 1"}),
    "no token": lambda: hashed({k: v for k, v in first().items() if k != "token"}),
    "a room that is none": lambda: hashed({**first(), "room": "large"}),
}


@pytest.mark.parametrize("name", NO_JOURNAL)
def test_what_no_journal_speaks_of_is_not_ours(name: str, tensor: np.ndarray) -> None:
    """It may be anybody's, and is neither used nor written over."""
    interrupted(after=10)
    Path("out.npy.part.json").write_bytes(NO_JOURNAL[name]())
    before = {each: Path(each).read_bytes() for each in left_behind()}
    with pytest.raises(OccupiedError) as refused:
        resumed()
    here = Path.cwd()
    assert str(refused.value) == (
        f"`{here}/out.npy.part.json` is there, and is no journal of layoutdsl, or damaged; remove "
        f"it and `{here}/out.npy.part`, or write to another file"
    )
    assert {each: Path(each).read_bytes() for each in left_behind()} == before
    for each in before:
        Path(each).unlink()
    assert resumed() == (30, [])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


LATER = {
    "the last line is cut short": lambda: b"".join(lines())[:-9],
    "the last line lacks its end": lambda: b"".join(lines())[:-1],
    "more than lines": lambda: b"".join(lines()) + b"\0\xff\n" * 9,
    "a line twice": lambda: b"".join([*lines(), lines()[-1]]),
    "a line of nothing": lambda: b"".join([*lines(), b"\n"]),
    "a line of somebody": lambda: b"".join(lines()) + hashed({"pieces": [[0, "", ""]]}),
    "all is said to be done": lambda: b"".join(lines()).replace(b"[[0,", b"[[9,"),
}


@pytest.mark.parametrize("name", LATER)
def test_a_journal_counts_as_far_as_it_is_sound(name: str, tensor: np.ndarray) -> None:
    interrupted(after=5)
    with pytest.raises(Stopped):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW, look=stopping(after=5))
    assert len(lines()) == 4
    Path("out.npy.part.json").write_bytes(LATER[name]())
    count, told = resumed()
    assert 20 <= count <= 30
    if count < 30:
        assert told == [f"going on: {30 - count} of 30 pieces are done"]
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))
    assert left_behind() == set()


@pytest.mark.parametrize(
    "line",
    [
        {"inode": "none", "mode": 0},
        {"pieces": [[0]]},
        {"pieces": [["0", "", ""]]},
        {"pieces": [[[], "", ""]]},
        {"pieces": 7},
        {"whole": 1},
        {"unheard": "of"},
        {},
    ],
)
@pytest.mark.usefixtures("tensor")
def test_a_line_that_no_run_writes_ends_a_journal(line: dict[str, Any]) -> None:
    interrupted(after=5)
    noted, end, last = journal.read(Path("out.npy.part.json").read_bytes())
    assert noted is not None
    with Path("out.npy.part.json").open("ab") as file:
        file.write(journal.written([line, {"whole": True}], last)[0])
    found = journal.read(Path("out.npy.part.json").read_bytes())
    assert found == (noted, end, last)
    assert not noted.whole


def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing told a file that has changed from what it was."""
    for room in (tensors, runs):
        monkeypatch.setattr(room, "identity", lambda _: Identity(1, 1, 1, 1))


def test_another_input_of_the_same_size_and_time(tensor: np.ndarray) -> None:
    """What was reported: a third of the output was of the old input, and the run had ended well."""
    times = Path("in.npy").stat()
    interrupted(after=10)
    np.save("in.npy", 255 - tensor)
    os.utime("in.npy", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert resumed() == (30, ["starting over: the input has changed"])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(255 - tensor))


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_input_that_has_changed_and_does_not_look_it(
    tensor: np.ndarray, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was packed of it before is packed again where it differs, and only there."""
    unseen(monkeypatch)
    interrupted(after=10)
    changed = tensor.copy()
    changed[[2, 7, 20]] ^= 1
    np.save("in.npy", changed)
    count, told = resumed(jobs=jobs, mem=jobs * ROW)
    assert (count, told) == (
        22,
        [
            "going on: 8 of 30 pieces are done; 2 that no longer agree with input or output are "
            "done again"
        ],
    )
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(changed))


def test_an_unfinished_output_that_has_changed(tensor: np.ndarray) -> None:
    """Its head as well, which is of no piece."""
    interrupted(after=10)
    with Path("out.npy.part").open("r+b") as file:
        for at in (3, 130, 128 + 48 * 9 + 47):  # the header, the first piece and the tenth
            file.seek(at)
            old = file.read(1)
            file.seek(at)
            file.write(bytes([old[0] ^ 128]))
    count, told = resumed()
    assert count == 22
    assert told[0].startswith("going on: 8 of 30 pieces are done; 2 that no longer agree with")
    np.save("whole.npy", compiled(BLOCKED).pack(tensor))
    assert Path("out.npy").read_bytes() == Path("whole.npy").read_bytes()


def test_an_unpacked_piece_is_looked_at_too(
    tensor: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layout whose buffer starts late, and whose boxes are of short runs."""
    unseen(monkeypatch)
    late = layout("layout Late(n, c) = [c, n] offset 5")
    packed = compiled(late).pack(tensor)
    np.save("in.npy", packed)
    how = {"mem": 400, "target": "numpy"}  # a column is a piece
    with pytest.raises(Stopped):
        unpack_file(late, "in.npy", "out.npy", (30, 35), look=stopping(after=9), **how)  # type: ignore[arg-type]
    packed = packed.copy()
    packed[5 + 31] ^= 1  # of the second column
    np.save("in.npy", packed)
    with Path("out.npy.part").open("r+b") as file:
        file.seek(128 + 35 * 29 + 5)  # of the sixth
        file.write(bytes([255 - packed[5 + 5 * 30 + 29]]))
    told: list[str] = []
    unpack_file(late, "in.npy", "out.npy", (30, 35), tell=told.append, **how)  # type: ignore[arg-type]
    assert "; 2 that no longer agree with input or output are done again" in told[0]
    assert np.array_equal(np.load("out.npy"), compiled(late).unpack(packed, (30, 35)))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_input_that_changes_while_it_is_read(tensor: np.ndarray, jobs: int) -> None:
    """Its size and its time are what they were."""
    Path("out.npy").write_text("as it was")
    times = Path("in.npy").stat()

    def look(_: np.ndarray) -> None:
        with Path("in.npy").open("r+b") as file:
            file.seek(200)
            file.write(b"else")
        os.utime("in.npy", ns=(times.st_atime_ns, times.st_mtime_ns))

    how: dict[str, Any] = {"mem": jobs * ROW, "jobs": jobs, "look": look, "force": True}
    with pytest.raises(UnreadableError, match="it has changed while it was read"):
        pack_file(BLOCKED, "in.npy", "out.npy", **how)
    assert Path("out.npy").read_text() == "as it was"
    assert left_behind() == set()
    assert tensor.shape == (30, 35)


def test_an_input_that_is_exchanged_while_it_is_read(tensor: np.ndarray) -> None:
    """All jobs have opened the same file; so it is whole, and yet it is refused."""

    def look(_: np.ndarray) -> None:
        new = f"new{threading.get_ident()}.npy"
        np.save(new, 255 - tensor)
        Path(new).replace("in.npy")

    with pytest.raises(UnreadableError, match="it has changed while it was read"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=2 * ROW, jobs=2, look=look)
    assert left_behind() == set()


def test_a_changed_input_starts_over(tensor: np.ndarray) -> None:
    interrupted(after=10)
    np.save("in.npy", 255 - tensor)
    os.utime("in.npy", ns=(7, 7))
    assert resumed() == (30, ["starting over: the input has changed"])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(255 - tensor))


def test_another_layout_starts_over(tensor: np.ndarray) -> None:
    interrupted(after=10)
    other = layout("layout Blocked(n, c) = [n, c/8, c%8]")
    assert resumed(other)[1] == ["starting over: the layout is another one"]
    assert np.array_equal(np.load("out.npy"), compiled(other).pack(tensor))


def test_another_fill_starts_over(tensor: np.ndarray) -> None:
    interrupted(after=10)
    assert resumed(fill=3)[1] == ["starting over: the fill is another one"]
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor, fill=3))


@pytest.mark.usefixtures("tensor")
def test_less_memory_starts_over() -> None:
    interrupted(after=5)
    told = resumed(mem=ROW - 20)[1]
    assert told == ["starting over: the memory is too small for its pieces"]


def test_what_lies_in_the_place_of_the_unfinished_output_is_not_ours(tensor: np.ndarray) -> None:
    """Neither by its name, nor by its size, nor by the number of its file, nor by its token."""
    interrupted(after=10)
    part, kept = Path("out.npy.part"), Path("out.npy.part").read_bytes()
    inode = part.stat().st_ino
    Path("kept").hardlink_to(part)  # so that no other file gets its number

    def other(content: bytes) -> None:
        part.unlink()
        part.write_bytes(content)

    def same(content: bytes) -> None:
        part.unlink(missing_ok=True)
        Path("copy").write_bytes(kept)
        Path("kept").rename(part)
        Path("copy").rename("kept")
        part.write_bytes(content)
        assert part.stat().st_ino == inode

    for put, content, words in (
        (other, b"mine", "is not what"),
        (other, kept, "is not what"),
        (same, b"mine", "is not what"),
        (same, b"x" * len(kept), "is not what"),
        (same, kept[:100], "is not what"),
    ):
        put(content)
        with pytest.raises(OccupiedError, match=words) as refused:
            resumed()
        assert str(refused.value).endswith("; remove it, or write to another file")
        assert part.read_bytes() == content
        if put is same:
            part.rename("kept")
    part.unlink(missing_ok=True)
    assert resumed() == (30, [])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


def test_without_the_unfinished_output_the_journal_counts_for_nothing(tensor: np.ndarray) -> None:
    interrupted(after=10)
    Path("out.npy.part").unlink()
    assert resumed() == (30, [])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


def test_a_program_that_was_started_meanwhile_keeps_no_output(
    tensor: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forked(output.Output):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            copies.append(os.dup(self._log))  # what a child has until it is another program

    copies = list[int]()
    monkeypatch.setattr(runs, "Output", Forked)
    interrupted(after=10)
    assert resumed() == (20, ["going on: 10 of 30 pieces are done"])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))
    assert len(copies) == 2
    for each in copies:
        os.close(each)


# What others have put where our files go.


def _link(place: Path) -> None:
    Path("precious").write_text("mine")
    place.symlink_to("precious")


def _hard_link(place: Path) -> None:
    Path("precious").write_text("mine")
    place.hardlink_to("precious")


def _of_nobody(place: Path) -> None:
    place.touch()
    os.chown(place, 65534, 65534)


IN_THE_WAY: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file": (lambda place: place.write_text("mine") and None, "is there, and"),
    "a link": (_link, "is no plain file"),
    "a link to nothing": (lambda place: place.symlink_to("nowhere"), "is no plain file"),
    "a second name": (_hard_link, "has another name as well"),
    "a pipe": (os.mkfifo, "is no plain file"),
    "a folder": (Path.mkdir, "is no plain file"),
    "a file of another user": (_of_nobody, "is of another user"),
}


@pytest.mark.parametrize("when", ["before", "between"])
@pytest.mark.parametrize("name", ["out.npy.part", "out.npy.part.json"])
@pytest.mark.parametrize("what", IN_THE_WAY)
def test_what_is_in_the_way_stays(what: str, name: str, when: str, tensor: np.ndarray) -> None:
    put, words = IN_THE_WAY[what]
    if what == "a file of another user" and os.geteuid() != 0:
        pytest.skip("only root can give files to others")
    if when == "between":
        interrupted(after=10)
        Path(name).unlink()
    put(Path(name))
    before = {each.name: each.lstat() for each in Path().iterdir()}
    if when == "before" and name == "out.npy.part":
        words = "is there, and no run of layoutdsl has left it"
    with pytest.raises(OccupiedError, match=words) as refused:
        resumed()
    assert f"{name}` is there, and " in str(refused.value)
    assert "remove it" in str(refused.value)
    after = {each.name: each.lstat() for each in Path().iterdir()}
    assert after.keys() == before.keys()
    for each in (*left_behind(), "in.npy"):
        assert os.path.samestat(after[each], before[each])
        assert after[each].st_mtime_ns == before[each].st_mtime_ns
    if Path("precious").exists():
        assert Path("precious").read_text() == "mine"
    assert tensor.shape == (30, 35)


@pytest.mark.usefixtures("tensor")
def test_files_under_way_are_for_nobody_else() -> None:
    modes: set[int] = set()

    def look(_: np.ndarray) -> None:
        for name in ("out.npy.part", "out.npy.part.json"):
            modes.add(Path(name).stat().st_mode & 0o777)

    Path("in.npy").chmod(0o664)
    old = os.umask(0o002)
    try:
        pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW, look=look)
    finally:
        os.umask(old)
    assert modes == {0o600}
    assert Path("out.npy").stat().st_mode & 0o777 == 0o664


@pytest.mark.usefixtures("tensor")
def test_an_output_that_is_no_file_is_refused_at_once() -> None:
    os.mkfifo("pipe")
    Path("folder").mkdir()
    with pytest.raises(OccupiedError, match="`pipe` is no plain file; write to another file"):
        pack_file(BLOCKED, "in.npy", "pipe", mem=ROW)
    with pytest.raises(IsADirectoryError):
        pack_file(BLOCKED, "in.npy", "folder", mem=ROW)
    with pytest.raises(
        UnreadableError, match="is no plain file, and cannot be processed in pieces"
    ):
        pack_file(BLOCKED, "pipe", "out.npy", mem=ROW)
    assert left_behind() == {"pipe", "folder"}


@pytest.mark.usefixtures("tensor")
def test_what_comes_in_the_way_meanwhile_stays() -> None:
    def mine(_: np.ndarray) -> None:
        Path("out.npy.part").unlink(missing_ok=True)
        Path("out.npy.part").write_text("mine")

    with pytest.raises(OccupiedError, match="is not what this run has written; start again"):
        pack_file(BLOCKED, "in.npy", "out.npy", mem=ROW, look=mine)
    assert Path("out.npy.part").read_text() == "mine"
    assert not Path("out.npy").exists()


KILLED = """
    import sys, time
    from layoutdsl.files.pieces import work
    from layoutdsl.commands import pack_file, parse
    work.PAUSE = 0.02
    found = parse(sys.argv[1])["Blocked"]
    pack_file(found, "in.npy", "out.npy", mem=800, jobs=2, look=lambda _: time.sleep(0.02))
"""


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on(tensor: np.ndarray) -> None:
    """SIGKILL leaves no time for anything; it is sent at several moments."""
    text = "layout Blocked(n, c) = [n, c/16, c%16]"
    script = textwrap.dedent(KILLED)
    counts = []
    for least in (1, 8, 16):
        with running([sys.executable, "-c", script, text]) as process:
            place = Path("out.npy.part.json")
            until = time.monotonic() + 120
            while time.monotonic() < until and process.poll() is None:
                if place.exists() and place.read_bytes() and len(said().pieces) >= least:
                    break
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        assert not Path("out.npy").exists()
        counts.append(len(said().pieces))
    assert counts == sorted(counts)
    count, told = resumed(mem=2 * ROW, jobs=2)
    assert count <= 30 - counts[-1]
    assert told == [f"going on: {counts[-1]} of 30 pieces are done"]
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))
    assert left_behind() == set()


HOLDING = "import time; print(flush=True); input(); time.sleep(0.2)"


@pytest.mark.usefixtures("tensor")
def test_a_lock_that_a_killed_run_left_for_a_moment_is_waited_for() -> None:
    """A program that it was starting has all that it had open, until it runs."""
    interrupted(after=10)
    handle = os.open("out.npy.part.json", os.O_RDWR)
    locks.lock_alone(handle)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with running([sys.executable, "-c", HOLDING], pass_fds=[handle], **pipes) as process:
        os.close(handle)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        with patience(0), pytest.raises(OccupiedError, match="another run is writing"):
            resumed()
        process.stdin.write(b"\n")
        process.stdin.flush()
        with patience(60):
            assert resumed() == (20, ["going on: 10 of 30 pieces are done"])


MEASURED = """
    import sys, threading, time
    from layoutdsl.commands import pack_file, unpack_file, library
    from layoutdsl.code.native import libraries
    from layoutdsl.files.pieces import runs
    libraries.MOST = 0  # one library for all pieces, so that nothing is compiled while it measures
    found = library(sys.argv[1])
    shape, small = eval(sys.argv[2], {}), eval(sys.argv[3], {})
    mem, jobs, target, runs.USUAL = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6], 1 << 30
    def both(source, extents, mem, jobs):
        how = {"mem": mem, "jobs": jobs, "target": target, "raw": "u1"}
        pack_file(found, source, "out.bin", shape=extents, **how)
        return unpack_file(found, "out.bin", "back.bin", extents, **how).pieces
    def resident():
        with open("/proc/self/status") as file:
            return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    def watch():
        while True:
            most[0] = max(most[0], resident())
            time.sleep(0.001)
    both("small.bin", small, 4_000, 1)
    before = resident()
    most = [before]
    threading.Thread(target=watch, daemon=True).start()
    pieces = both("in.bin", shape, mem, jobs)
    print(most[0] - before, pieces)
"""

SLACK = 3 << 20
"""What threads take besides."""


def grown(
    name: str, shape: tuple[int, ...], small: tuple[int, ...], mem: int, jobs: int, target: str
) -> tuple[int, int]:
    """Bytes by which the process grew, those of files that are mapped included; and the pieces."""
    if target == "native" and not compiles():
        pytest.skip("no C compiler")
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc on this system")
    for place, extents in (("in.bin", shape), ("small.bin", small)):
        with Path(place).open("wb") as file:
            file.truncate(prod(extents))
    script = textwrap.dedent(MEASURED)
    given = [name, repr(shape), repr(small), str(mem), str(jobs), target]
    ran = subprocess.run(
        [sys.executable, "-c", script, *given], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    for place in ("in.bin", "out.bin", "back.bin"):
        Path(place).unlink()
    growth, pieces = map(int, ran.stdout.split())
    return growth, pieces


BIG = (4, 24, 512, 1024), (2, 32, 8, 8)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize(("mem", "jobs"), [(4 << 20, 1), (8 << 20, 3)])
def test_memory_is_bounded(mem: int, jobs: int, target: str) -> None:
    """A tensor of 50 MB, and its buffer of 67, grow the process by the memory that was given."""
    growth, pieces = grown("NCHW16c", *BIG, mem, jobs, target)
    assert pieces > 10
    assert mem // 2 < growth <= mem + SLACK


@pytest.mark.slow
def test_memory_is_bounded_where_pieces_are_scattered() -> None:
    """Each piece is short runs from all over the file."""
    growth, pieces = grown("HWIO", (512, 512, 32, 6), (8, 8, 4, 4), 8 << 20, 2, "native")
    assert pieces > 10
    assert growth <= (8 << 20) + SLACK


@pytest.mark.slow
def test_the_measure_of_memory_can_fail() -> None:
    growth, pieces = grown("NCHW16c", *BIG, 1 << 30, 1, "native")
    assert pieces == 1
    assert growth > 100 << 20


@pytest.mark.campaign
def test_more_elements_than_32_bits_count() -> None:
    """A sparse tensor of 2**32 + 2**20 bytes, with a few elements that are looked for."""
    found = EVERY["R4CroutonLayout"]
    shape = (4097, 32, 32, 1024)
    marks = {(0, 0, 0, 0): 7, (2048, 3, 31, 1023): 9, (4096, 31, 31, 1023): 11, (4096, 0, 5, 6): 13}
    with Path("in.bin").open("wb") as file:
        file.truncate(prod(shape))
        for index, value in marks.items():
            file.seek(int(np.ravel_multi_index(index, shape)))
            file.write(bytes([value]))
    done = pack_file(found, "in.bin", "out.bin", mem=1 << 28, jobs=2, raw="u1", shape=shape)
    assert done.pieces > 100
    with Path("out.bin").open("rb") as file:
        for index, value in marks.items():
            file.seek(found.offset(index, shape))
            assert file.read(1) == bytes([value])
    unpack_file(found, "out.bin", "back.bin", shape, mem=1 << 28, jobs=2, raw="u1")
    assert subprocess.run(["cmp", "in.bin", "back.bin"], check=False).returncode == 0
