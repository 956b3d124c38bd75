"""Classes of shapes: compiled when they are met, bounded in number, and right in each.

The planner chooses a class for each shape, which changes the speed and no result.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import emit, needs_compiler
from processes import gone

from layoutdsl import CompilerError, commands
from layoutdsl.code.emitting import validated
from layoutdsl.code.loops.moves import Move, NoCode, move_of
from layoutdsl.code.native import background, classes, compilers, libraries
from layoutdsl.code.native.classes import SMALL, class_of, special, special_move
from layoutdsl.code.native.libraries import Emitter
from layoutdsl.code.native.loader import native_module
from layoutdsl.code.native.module import NativeModule
from layoutdsl.code.native.program import EmittedProgram, generate_c
from layoutdsl.code.native.threads import shared

pytestmark = [needs_compiler, pytest.mark.usefixtures("place")]

BLOCKED = "layout Blocked(n, c, w) = [n, c/4, w, c%4]"


@pytest.fixture(autouse=True)
def all_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "MOST", classes.MOST)


def tensor_of(*shape: int) -> np.ndarray:
    return np.arange(int(np.prod(shape)), dtype="u4").reshape(shape)


def right(module: NativeModule, *shape: int) -> bool:
    tensor = tensor_of(*shape)
    want = module_of(BLOCKED).pack(tensor, fill=7)
    packed = module.pack(tensor, fill=7)
    return np.array_equal(packed, want) and np.array_equal(module.unpack(want, shape), tensor)


def made(place: Path) -> int:
    return len(list(place.glob("*.so")))


def test_small_extents_are_numbers() -> None:
    layout = layout_of("layout Some(n, c: 3, w) = [n, w/8, c, w%8] where N <= 70, W >= 2")
    assert class_of(layout, (SMALL, 3, SMALL + 1)) == (("N", SMALL),)
    assert class_of(layout, (SMALL + 1, 3, SMALL)) == (("W", SMALL),)
    one = special(layout, {"N": 5})
    assert [str(each) for each in one.where] == ["W >= 2"]
    assert one.physical_shape((5, 3, 20)) == layout.physical_shape((5, 3, 20)) == (5, 3, 3, 8)
    assert one.offset((4, 2, 19), (5, 3, 20)) == layout.offset((4, 2, 19), (5, 3, 20))
    with pytest.raises(ValueError, match="has 5 elements"):
        one.offset((0, 0, 0), (4, 3, 20))


PITCHED = "layout Rows(a, b, c) = [a, b, c : 32*ceil(C/32)] fill 7"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [(140, 17, 96), (3, 200, 192), (3, 200, 200), (70, 5, 160)])
def test_a_pitch_that_is_filled_is_one_copy(shape: tuple[int, ...]) -> None:
    """Rows without padding between them are no rows; and of that there is a proof."""
    layout = layout_of(PITCHED)
    found, is_filled = class_of(layout, shape), shape[2] != 200
    assert (("C%32", 0) in found) == (shape[2] in (192, 160))
    for verb in ("pack", "unpack"):
        made = emit.make(special_move(move_of(layout, verb), found), 1, 0)
        assert isinstance(made, EmittedProgram)
        assert ("bytes at a time" in made.text) == is_filled
        assert isinstance(validated(made), EmittedProgram)
    tensor = tensor_of(*shape)
    want = module_of(PITCHED).pack(tensor)
    module = native_module(layout, module_of(PITCHED), emit)
    assert np.array_equal(module.pack(tensor), want)
    assert np.array_equal(module.unpack(want, shape), tensor)


@pytest.mark.slow
def test_each_class_is_compiled_once(place: Path) -> None:
    module = native_module(layout_of(BLOCKED), module_of(BLOCKED), emit)
    for _ in range(2):
        assert right(module, 2, 6, 200)
        assert right(module, 2, 6, 300)
        assert made(place) == 2, "one for each verb; 200 and 300 are of one class"
    assert right(module, 3, 6, 200)
    assert made(place) == 4
    again = native_module(layout_of(BLOCKED), module_of(BLOCKED), emit)
    assert right(again, 3, 6, 300)
    assert made(place) == 4, "and is found again"


@pytest.mark.slow
def test_what_was_not_proved_is_not_taken_for_it(place: Path) -> None:
    """A library that was kept without a proof serves none who ask for one."""
    asked = list[str]()

    def check(program: EmittedProgram) -> EmittedProgram:
        asked.append(program.stem)
        return program

    for emitter, count in ((emit, 0), (Emitter(emit.make, check), 2), (emit, 2)):
        module = native_module(layout_of(BLOCKED), module_of(BLOCKED), emitter)
        assert right(module, 2, 6, 100)
        assert len(asked) == count
    assert made(place) == 4


@pytest.mark.slow
def test_more_classes_than_are_compiled(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "MOST", 2)
    module = native_module(layout_of(BLOCKED), module_of(BLOCKED), emit)
    for extent in (1, 2, 3, 4, 5, 70):
        assert right(module, extent, 6, 100)
    assert made(place) == 6, "two classes, and the one of all shapes"


@pytest.mark.slow
@pytest.mark.parametrize("why", ["compiler", "proof"])
def test_a_class_that_cannot_be_made(
    why: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library of all shapes serves."""
    real, failed = libraries.build, list[str]()

    def build(which: compilers.Compiler, sources: tuple[Path], *rest: object) -> None:
        if "n_N" not in sources[0].read_text().partition("_walk(")[2]:
            failed.append(sources[0].name)
            raise CompilerError("it does not like numbers")
        real(which, sources, *rest)  # type: ignore[arg-type]

    def proved(move: Move, width: int, rank: int) -> EmittedProgram | NoCode:
        if move.layouts[0].bind((3, 6, 100)).keys() != {"N", "C", "W"}:
            failed.append("proof")
            return NoCode("not proved")
        return emit(move, width, rank)

    if why == "compiler":
        monkeypatch.setattr(libraries, "build", build)
    module = native_module(
        layout_of(BLOCKED), module_of(BLOCKED), Emitter(proved) if why == "proof" else emit
    )
    assert right(module, 3, 6, 100)
    assert failed
    assert made(place) == 2


@pytest.mark.slow
def test_numpy_serves_until_a_class_is_there(place: Path) -> None:
    """Who asks for what there is does not wait for a compiler."""
    layout = layout_of("layout Soon(n, c) = [c/4, n, c%4]")
    module = commands.compile(layout)
    assert isinstance(module, NativeModule)
    tensor = tensor_of(70, 6)
    want = commands.compile(layout, "numpy").pack(tensor)
    assert np.array_equal(module.pack(tensor), want)
    assert not module._packs, "it is asked again"
    background.finish()
    assert made(place) == 1
    assert np.array_equal(module.pack(tensor), want)
    assert len(module._packs) == 1, "compiled code serves from now on"


@pytest.mark.slow
def test_a_large_move_waits(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "LARGE", 1000)
    layout = layout_of("layout Now(n, c) = [c/4, n, c%4]")
    commands.compile(layout).pack(tensor_of(70, 6))
    assert made(place) == 1


LEAVES = """
import os, sys, time
import numpy as np
import layoutdsl
layout = layoutdsl.parse("layout Left(n, c) = [c/4, n, c%4]")["Left"]
layoutdsl.compile(layout).pack(np.zeros((70, 6), "u4"))
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    if os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1]):
        sys.exit()
    time.sleep(0.02)
sys.exit("no compiler was started")
"""


@pytest.mark.slow
def test_a_process_that_ends_waits_for_no_compiler(tmp_path: Path) -> None:
    """The compiler is ended, and no folder is left."""
    started, scratch = tmp_path / "started", tmp_path / "scratch"
    scratch.mkdir()
    slow = tmp_path / "slow"
    version = 'case " $* " in *" --version "*) echo test; exit 0;; esac'
    told = f"echo $$ > '{started}.'; mv '{started}.' '{started}'"
    slow.write_text(f"#!/bin/sh\n{version}\n{told}\nexec sleep 300\n")
    slow.chmod(0o755)
    environment = {**os.environ, "CC": str(slow), "TMPDIR": str(scratch)}
    before = time.monotonic()
    command = [sys.executable, "-c", LEAVES, str(started)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert time.monotonic() - before < 90
    assert not list(scratch.iterdir())
    assert gone(int(started.read_text()))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_what_was_left_by_a_fork_is_begun_again() -> None:
    libs = libraries.Libraries(
        "blocked", {"pack": Move(None, layout_of(BLOCKED))}, emit, lambda _: None, waits=False
    )
    key = ("pack", 4, class_of(layout_of(BLOCKED), (2, 6, 100)))
    libs._known[key] = libraries._Pending(os.getpid() + 1)
    assert libs.of("pack", 4, (2, 6, 100), 0) is None
    background.finish()
    assert libs.of("pack", 4, (2, 6, 100), 0) is not None


@pytest.mark.slow
def test_c_for_some_shapes() -> None:
    layout = layout_of(BLOCKED)
    text = commands.generate_c(layout, where="C == 6, W <= 64", widths=(4,)).program.text
    assert "Only shapes where C == 6, W <= 64." in text
    assert "n_C" not in text
    for where in ("C == 6, C == 7", "C == 0", "C < 0"):
        with pytest.raises(commands.RefusedError, match="is refuted"):
            commands.generate_c(layout, where=where)
    with pytest.raises(ValueError, match="more than a range"):
        commands.generate_c(layout, where="C == 6\nprove Blocked")
    with pytest.raises(commands.LayoutError):
        commands.generate_c(layout, where="Q == 6")


def test_special_programs_are_those_of_the_general_layout() -> None:
    """A program for a class is made from a layout that says nothing else."""
    layout = layout_of(BLOCKED)
    one = generate_c(special(layout, {"C": 6}), source="", certificate=None, widths=(1,))
    assert isinstance(one, EmittedProgram)
    assert one.name == layout.name
    assert class_of(layout, (200, 200, 200)) == classes.GENERAL


@pytest.mark.slow
def test_a_kernel_that_is_wrong_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said; and nothing is kept."""
    monkeypatch.delenv("CC", raising=False)  # kernels with vectors
    real = libraries.build

    def build(which: compilers.Compiler, sources: tuple[Path], *rest: object) -> None:
        (source,) = sources
        text = source.read_text()
        spoilt = text.replace("zipped(e, k % 2,", "zipped(e, 0,").replace(
            "e, 0, k % 2,", "e, 0, 0,"
        )
        assert spoilt != text
        source.write_text(spoilt)
        real(which, sources, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(libraries, "build", build)
    module = native_module(layout_of(BLOCKED), module_of(BLOCKED), emit)
    for _ in range(2):
        with pytest.raises(CompilerError, match=r"the kernel `.*` is wrong: moves of .* bytes"):
            module.pack(tensor_of(100, 100, 100))
    assert not list(place.glob("*.so"))
    layout = layout_of("layout Wrongly(n, c) = [c, n]")
    tensor = tensor_of(100, 90)
    assert np.array_equal(commands.compile(layout).pack(tensor), tensor.T)
    background.finish()
    assert np.array_equal(commands.compile(layout).pack(tensor), tensor.T)
    assert not list(place.glob("*.so"))


def test_work_that_fails_is_told_and_the_next_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else whoever waits for it would wait for ever."""
    told, done = list[type[BaseException]](), list[int]()
    monkeypatch.setattr(background, "excepthook", lambda fault: told.append(fault.exc_type))
    assert background.later(lambda: 1 // 0)
    assert background.later(lambda: done.append(1))
    background.finish()
    assert (told, done) == ([ZeroDivisionError], [1])


def test_work_that_fails_where_errors_cannot_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default hook raises where ``sys.stderr`` is closed."""
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    done = list[int]()
    assert background.later(lambda: 1 // 0)
    assert background.later(lambda: done.append(1))
    worker = background._worker._thread
    background.finish()
    assert done == [1]
    assert background._worker._thread is worker
    assert worker is not None
    assert worker.is_alive()


def test_threads_are_kept_and_all_work() -> None:
    """Parts wait for each other, so that they end only when there are as many threads."""
    count = 4
    before = threading.active_count()
    together, names = threading.Barrier(count), set[int]()

    def part(number: int) -> int:
        names.add(threading.get_ident())
        together.wait(30)
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
        begun.wait(30)
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        ended.set()
        return 0

    with pytest.raises(KeyboardInterrupt):
        shared(part, range(2), 2)
    assert ended.is_set()
