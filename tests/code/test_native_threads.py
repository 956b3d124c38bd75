"""Units in any order and in any thread: each writes what no other writes, all write everything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from c_library import CLibrary
from codegen_cases import layout_of, module_of
from native_cases import LAYOUTS, WIDTHS, fixed_extent, needs_compiler

from layoutdsl import Layout

pytestmark = needs_compiler

Array = np.ndarray[Any, Any]
FILL = 3
POISONS = 250, 251

SHAPES = {
    2: ((3, 5), (37, 150), (64, 260), (70, 400), (530, 280), (280, 530)),
    3: ((2, 40, 9), (1, 30, 100), (3, 130, 300)),
    4: ((1, 5, 7, 9), (1, 70, 40, 50), (2, 33, 17, 18), (1, 20, 64, 64), (1, 64, 8, 64)),
}


def written(
    library: CLibrary, verb: str, read: Array, result: tuple[int, ...], shape: tuple[int, ...]
) -> Iterator[tuple[Array, Array]]:
    """What each unit alone leaves in a poisoned buffer, and which elements it has written."""
    for unit in range(library.units(verb, read.dtype, shape)):
        left = []
        for poison in POISONS:
            buffer = np.full(result, poison, read.dtype)
            library.part(verb, read, buffer, shape, range(unit, unit + 1), FILL)
            left.append(buffer)
        changed = (left[0] != POISONS[0]) | (left[1] != POISONS[1])
        yield left[0], changed


@pytest.mark.slow
@pytest.mark.sampled(20)
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_every_unit_writes_what_no_other_does(number: int, tmp_path: Path) -> None:
    units_are_apart(number, (16, 64)[number % 2], tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("vector", [16, 64])
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_every_unit_of_every_vector(number: int, vector: int, tmp_path: Path) -> None:
    units_are_apart(number, vector, tmp_path)


def units_are_apart(number: int, vector: int, folder: Path) -> None:
    layout, plain = layout_of(LAYOUTS[number]), module_of(LAYOUTS[number])
    dtype = np.dtype(WIDTHS[(number + vector // 64) % 4])
    options = ("-march=native", f"-DLAYOUT_VECTOR={vector}")
    library = CLibrary(layout, folder, *options, widths=(dtype.itemsize,))
    shapes = [shape for shape in _shapes(layout) if _takes(plain, shape)]
    assert len(shapes) >= 3
    for shape in shapes:
        tensor = (np.arange(prod(shape)) % 200).astype(dtype).reshape(shape)
        packed = plain.pack(tensor, np.full(plain.physical_shape(shape), FILL, dtype), FILL)
        for verb, read, want in (("pack", tensor, packed), ("unpack", packed, tensor)):
            times = np.zeros(want.shape, "i4")
            whole = np.full(want.shape, 0, dtype)
            for left, changed in written(library, verb, read, want.shape, shape):
                times += changed
                whole[changed] = left[changed]
            led = layout.size(shape) - prod(layout.box(shape))
            before = led if verb == "pack" else 0
            assert (times.reshape(-1)[before:] == 1).all(), (verb, shape)
            assert np.array_equal(whole.reshape(-1)[before:], want.reshape(-1)[before:])


def _shapes(layout: Layout) -> Iterator[tuple[int, ...]]:
    for given in SHAPES[layout.rank]:
        extents = zip(layout.axes, given, strict=True)
        yield tuple(e if (fixed := fixed_extent(a)) is None else fixed for a, e in extents)


def _takes(module: ModuleType, shape: tuple[int, ...]) -> bool:
    """Not where an axis is longer than its digits tell apart."""
    try:
        module.physical_shape(shape)
    except ValueError:
        return False
    return True


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
    text: str, shape: tuple[int, ...], tmp_path: Path
) -> None:
    """In C that is made for one image."""
    layout = layout_of(text)
    values = layout.bind(shape).items()
    where = ", ".join(f"{name} == {value}" for name, value in values if value <= 256)
    library = CLibrary(layout, tmp_path, widths=(4,), where=where)
    for verb in ("pack", "unpack"):
        assert library.units(verb, "f4", shape) >= 8


PROGRAM = """
import threading
import layoutdsl, numpy

module = layoutdsl.compile(layoutdsl.parse("layout L(n, c, h) = [n, c/16, h, c%16]")["L"], "native")
small, large = numpy.ones((1, 32, 64), "f4"), numpy.arange(1 << 23, dtype="f4").reshape(1, 64, -1)
want = numpy.ascontiguousarray(large.reshape(1, 4, 16, -1).transpose(0, 1, 3, 2))


def ours():
    return len([each for each in threading.enumerate() if each.name.startswith("layoutdsl")])


def right():
    return numpy.array_equal(module.pack(large, threads=3), want)


module.pack(small), module.pack(large)
before = ours()
"""


def ran(script: str) -> None:
    """Run a program that compiles a module, and packs by it."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM + script]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.slow
def test_few_bytes_are_moved_in_this_thread_and_threads_are_kept() -> None:
    ran(
        "module.pack(small, threads=3)\n"
        "assert ours() == before\n"
        "assert right()\n"
        "assert before < ours() <= before + 2\n"
        "assert all(right() for _ in range(5))\n"
        "assert ours() <= before + 2\n"
    )


@pytest.mark.slow
def test_no_thread_to_be_had_is_no_failure() -> None:
    ran(
        "def refused(_):\n"
        "    raise RuntimeError('no new thread can be started')\n"
        "threading.Thread.start = refused\n"
        "assert right()\n"
        "assert ours() == before\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="no fork")
def test_a_process_that_was_forked_has_threads_of_its_own() -> None:
    ran(
        "import os, sys\n"
        "assert right()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    assert ours() == 0\n"
        "    assert right() and ours() > 0\n"
        "    os._exit(7)\n"
        "_, status = os.waitpid(child, 0)\n"
        "assert os.waitstatus_to_exitcode(status) == 7\n"
        "assert right()\n"
    )
