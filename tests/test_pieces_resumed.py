"""Runs of `pack_file` that are interrupted, killed, and gone on with; and what memory they take."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_files import BLOCKED, ROW, compiles, left_behind, random_tensor
from texts import EVERY, layout

from layoutdsl.api import compile as compiled
from layoutdsl.api import pack_file, unpack_file
from layoutdsl.model import Layout


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Stopped(KeyboardInterrupt):
    """Somebody pressed a key."""


def interrupted(after: int, found: Layout = BLOCKED, **more: Any) -> None:
    """Pack until so many pieces are done."""
    looks = [0]

    def look(_: np.ndarray) -> None:
        looks[0] += 1
        if looks[0] > after:
            raise Stopped

    with pytest.raises(Stopped):
        pack_file(found, "in.npy", "out.npy", mem=ROW, look=look, **more)


def resumed(found: Layout = BLOCKED, **more: Any) -> tuple[int, list[str]]:
    """Pack the rest; returns how many pieces were packed, and what was said."""
    looks, told = [0], list[str]()

    def look(_: np.ndarray) -> None:
        looks[0] += 1

    how = {"mem": ROW, **more}
    pack_file(found, "in.npy", "out.npy", look=look, tell=told.append, **how)
    return looks[0], told


@pytest.fixture
def tensor() -> np.ndarray:
    made = random_tensor((30, 35))
    np.save("in.npy", made)
    return made


def test_an_interrupted_run_goes_on(tensor: np.ndarray) -> None:
    Path("out.npy").write_text("as it was")
    interrupted(after=10)
    assert Path("out.npy").read_text() == "as it was"
    assert resumed(jobs=2, mem=2 * ROW) == (20, ["going on: 10 of 30 pieces are done"])
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


def journal() -> Any:
    return json.loads(Path("out.npy.part.json").read_text())


def _claim_all_done(said: Any) -> str:
    return json.dumps({**said, "done": [[0, 30]]})


DAMAGE = {
    "cut short": lambda said: json.dumps(said)[:50],
    "empty": lambda _: "",
    "no text": lambda _: "\xff\x00",
    "another value": lambda _: "[1, 2]",
    "a number": lambda _: "7",
    "deep": lambda _: "[" * 100_000,
    "no hash": lambda said: json.dumps({k: v for k, v in said.items() if k != "hash"}),
    "all is said to be done": _claim_all_done,
    "another format": lambda said: json.dumps({**said, "format": "x"}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_journal_starts_over(name: str, tensor: np.ndarray) -> None:
    interrupted(after=10)
    Path("out.npy.part.json").write_text(DAMAGE[name](journal()), encoding="latin-1")
    count, told = resumed()
    assert count == 30
    assert told == [f"starting over: `{Path('out.npy.part.json').resolve()}` is damaged"]
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


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


@pytest.mark.usefixtures("tensor")
def test_an_unfinished_output_of_another_size_starts_over() -> None:
    interrupted(after=10)
    os.truncate("out.npy.part", 100)
    assert resumed() == (30, ["starting over: the output is another one"])


def test_without_the_unfinished_output_the_journal_counts_for_nothing(tensor: np.ndarray) -> None:
    interrupted(after=10)
    Path("out.npy.part").unlink()
    assert resumed() == (30, [])
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))


KILLED = """
    import sys, time
    from layoutdsl.pieces import work
    from layoutdsl.api import pack_file, parse
    work.PAUSE = 0.02
    found = parse(sys.argv[1])["Blocked"]
    pack_file(found, "in.npy", "out.npy", mem=678, jobs=2, look=lambda _: time.sleep(0.02))
"""


def test_a_run_that_is_killed_goes_on(tensor: np.ndarray) -> None:
    """SIGKILL leaves no time for anything; it is sent at several moments."""
    text = "layout Blocked(n, c) = [n, c/16, c%16]"
    script = textwrap.dedent(KILLED)
    counts = []
    for least in (1, 8, 16):
        process = subprocess.Popen([sys.executable, "-c", script, text])
        place = Path("out.npy.part.json")
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            done = sum(b - a for a, b in journal()["done"]) if place.exists() else 0
            if done >= least:
                break
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not Path("out.npy").exists()
        counts.append(sum(b - a for a, b in journal()["done"]))
    assert counts == sorted(counts)
    count, told = resumed(mem=678, jobs=2)
    assert count <= 30 - counts[-1]
    assert told == [f"going on: {counts[-1]} of 30 pieces are done"]
    assert np.array_equal(np.load("out.npy"), compiled(BLOCKED).pack(tensor))
    assert left_behind() == set()


MEASURED = """
    import sys, threading, time
    from layoutdsl.api import pack_file, unpack_file, library
    from layoutdsl.pieces import tensors
    found = library(sys.argv[1])
    shape, small = eval(sys.argv[2], {}), eval(sys.argv[3], {})
    mem, jobs, target, tensors.USUAL = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6], 1 << 30
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


@pytest.mark.parametrize("target", ["numpy", "native"])
@pytest.mark.parametrize(("mem", "jobs"), [(4 << 20, 1), (8 << 20, 3)])
def test_memory_is_bounded(mem: int, jobs: int, target: str) -> None:
    """A tensor of 50 MB, and its buffer of 67, grow the process by the memory that was given."""
    growth, pieces = grown("NCHW16c", *BIG, mem, jobs, target)
    assert pieces > 10
    assert mem // 2 < growth <= mem + SLACK


def test_memory_is_bounded_where_pieces_are_scattered() -> None:
    """Each piece is short runs from all over the file."""
    growth, pieces = grown("HWIO", (512, 512, 32, 6), (8, 8, 4, 4), 8 << 20, 2, "native")
    assert pieces > 10
    assert growth <= (8 << 20) + SLACK


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
