"""Units in any order and in any thread: each writes what no other writes, all write everything."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from math import prod

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import LAYOUTS, WIDTHS, modules, needs_compiler

from layoutdsl.code.native import calls, classes, libraries, threads
from layoutdsl.code.native.calls import _memory, ready
from layoutdsl.code.native.threads import shared
from layoutdsl.language.integers.expr import Constant

pytestmark = needs_compiler

FILL = 3
POISONS = 250, 251
WAITS = 30

SHAPES = {
    2: ((3, 5), (37, 150), (64, 260), (70, 400), (530, 280), (280, 530)),
    3: ((2, 40, 9), (1, 30, 100), (3, 130, 300)),
    4: ((1, 5, 7, 9), (1, 70, 40, 50), (2, 33, 17, 18), (1, 20, 64, 64), (1, 64, 8, 64)),
}


def written(module, verb, read, result, shape, dtype):  # type: ignore[no-untyped-def]
    """What each unit alone leaves in a poisoned buffer, and which elements it has written."""
    called = module.libraries.of(verb, dtype.itemsize, shape, 0)
    fill = np.array(FILL, dtype).tobytes()
    prepared = ready(called, shape, (read.shape, result), dtype, fill)
    job = prepared.job
    units = job[3]
    for unit in range(units):
        job[2], job[3] = unit, unit + 1
        left = []
        for poison in POISONS:
            buffer = np.full(result, poison, dtype)
            assert prepared.called(_memory(read), _memory(buffer, True), job) == 0
            left.append(buffer)
        changed = (left[0] != POISONS[0]) | (left[1] != POISONS[1])
        yield left[0], changed


@pytest.mark.slow
@pytest.mark.sampled(20)
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_every_unit_writes_what_no_other_does(number: int) -> None:
    units_are_apart(number, (16, 64)[number % 2])


@pytest.mark.campaign
@pytest.mark.parametrize("vector", [16, 64])
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_every_unit_of_every_vector(number: int, vector: int) -> None:
    units_are_apart(number, vector)


def units_are_apart(number: int, vector: int) -> None:
    layout, plain = layout_of(LAYOUTS[number]), module_of(LAYOUTS[number])
    module = modules(LAYOUTS[number], vector)
    dtype = np.dtype(WIDTHS[(number + vector // 64) % 4])
    shapes = [shape for shape in _shapes(layout) if _takes(plain, shape)]
    assert len(shapes) >= 3
    for shape in shapes:
        tensor = (np.arange(prod(shape)) % 200).astype(dtype).reshape(shape)
        packed = plain.pack(tensor, np.full(plain.physical_shape(shape), FILL, dtype), FILL)
        for verb, read, want in (("pack", tensor, packed), ("unpack", packed, tensor)):
            times = np.zeros(want.shape, "i4")
            whole = np.full(want.shape, 0, dtype)
            for left, changed in written(module, verb, read, want.shape, shape, dtype):
                times += changed
                whole[changed] = left[changed]
            before = _led(layout) if verb == "pack" else 0
            assert (times.reshape(-1)[before:] == 1).all(), (verb, shape)
            assert np.array_equal(whole.reshape(-1)[before:], want.reshape(-1)[before:])


def _shapes(layout):  # type: ignore[no-untyped-def]
    for given in SHAPES[layout.rank]:
        extents = zip(layout.axes, given, strict=True)
        yield tuple(a.extent.value if isinstance(a.extent, Constant) else e for a, e in extents)


def _takes(module, shape):  # type: ignore[no-untyped-def]
    """Not where an axis is longer than its digits tell apart."""
    try:
        module.physical_shape(shape)
    except ValueError:
        return False
    return True


def _led(layout):  # type: ignore[no-untyped-def]
    """Slots before the first of the layout, which C leaves alone."""
    return layout.start.value if isinstance(layout.start, Constant) else 0


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("layout NHWC(n, c, h, w) = [n, h, w, c]", (1, 256, 64, 64)),
        ("layout NHWC(n, c, h, w) = [n, h, w, c]", (1, 64, 128, 128)),
        ("layout NCHW(n, h, w, c) = [n, c, h, w]", (1, 64, 64, 256)),
        ("layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]", (1, 16, 128, 128)),
        ("layout NHWC3(n, c: 3, h, w) = [n, h, w, c]", (1, 3, 256, 256)),
        ("layout Same(n, c) = [n, c]", (1, 1 << 19)),
        ("layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32]", (1, 64, 64, 64)),
    ],
)
def test_one_image_is_enough_for_many_threads(
    text: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a library that is made for one image."""
    monkeypatch.setattr(libraries, "MOST", classes.MOST)
    module, tensor = modules(text), np.zeros(shape, "f4")
    module._packs.clear()
    module._unpacks.clear()
    module.unpack(module.pack(tensor), shape)
    for store in (module._packs, module._unpacks):
        (prepared,) = store.values()
        assert prepared.job[3] >= 8


def test_few_bytes_are_moved_in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    module = modules(LAYOUTS[0])
    asked: list[int] = []

    def told(work, parts, count):  # type: ignore[no-untyped-def]
        asked.append(count)
        return shared(work, parts, count)

    monkeypatch.setattr(calls, "shared", told)
    monkeypatch.setattr(calls, "SHARE_BYTES", 1 << 17)
    small, large = np.ones((1, 32, 8, 8), "f4"), np.ones((1, 64, 64, 64), "f4")
    for tensor in (small, large):
        found = module.pack(tensor, threads=2)
        assert np.array_equal(found, module_of(LAYOUTS[0]).pack(tensor))
    assert asked == [2]


def test_threads_are_kept_and_all_work() -> None:
    """Parts wait for each other, so that they end only when there are as many threads."""
    count = 4
    before = threading.active_count()
    together, names = threading.Barrier(count), set[int]()

    def part(number: int) -> int:
        names.add(threading.get_ident())
        together.wait(WAITS)
        return number

    for _ in range(3):
        names.clear()
        assert shared(part, range(count), count) == count - 1
        assert len(names) == count
        assert threading.get_ident() in names
    assert threading.active_count() <= before + count - 1


def test_a_part_that_fails_is_said_after_all_have_ended() -> None:
    ended = threading.Event()
    begun = threading.Barrier(2)
    caller = threading.get_ident()

    def part(_: int) -> int:
        begun.wait(WAITS)
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        ended.set()
        return 0

    with pytest.raises(KeyboardInterrupt):
        shared(part, range(2), 2)
    assert ended.is_set()


def test_no_thread_to_be_had_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_):  # type: ignore[no-untyped-def]
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads._pool, "submit", refused)
    assert shared(lambda number: number, range(5), 3) == 4


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="no fork")
def test_a_process_that_was_forked_has_threads_of_its_own() -> None:
    script = (
        "import os, sys, threading\n"
        "from layoutdsl.code.native.threads import shared\n"
        "def both():\n"
        "    together = threading.Barrier(2)\n"
        "    return shared(lambda k: together.wait(30) * 0 + k, [1, 2], 2)\n"
        "assert both() == 2\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    assert both() == 2\n"
        "    sys.exit(7)\n"
        "_, status = os.waitpid(child, 0)\n"
        "assert os.waitstatus_to_exitcode(status) == 7\n"
        "assert both() == 2\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
