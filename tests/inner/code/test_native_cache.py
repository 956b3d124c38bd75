"""What is kept on disk, in folders that others may write, and while they do.

Code from the cache is run, so the cache is trusted, and attacks on it need its inner steps.
"""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import emit, needs_compiler
from processes import gone, running

from layoutdsl import Compiled, CompilerError
from layoutdsl.code.native import cache, compilers, images, libraries, loader
from layoutdsl.code.native.again import again_text
from layoutdsl.code.native.cache import Kind, keep, keep_text, kept, kept_text
from layoutdsl.code.native.calls import function
from layoutdsl.code.native.compilers import compiler
from layoutdsl.code.native.module import NativeModule

pytestmark = pytest.mark.skipif(
    os.open not in os.supports_dir_fd, reason="nothing is kept where folders have no descriptors"
)

STRANGER = 54_321


def only_file(place: Path) -> Path:
    (found,) = place.iterdir()
    return found


def test_what_is_kept_is_for_this_user_alone(place: Path) -> None:
    keep_text("key", "text")
    assert kept_text("key") == "text"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(place).stat().st_mode) == 0o600
    assert cache.refusal() is None


def test_folders_above_are_made_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAYOUTDSL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    keep_text("key", "text")
    assert kept_text("key") == "text"
    for folder in ("home", "home/cache", "home/cache/layoutdsl"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700


def exchange(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def test_two_texts_exchanged(place: Path) -> None:
    keep_text("one", "text of one")
    first = only_file(place)
    keep_text("other", "text of the other")
    (second,) = set(place.iterdir()) - {first}
    exchange(first, second)
    assert kept_text("one") is None
    assert kept_text("other") is None
    exchange(first, second)
    assert (kept_text("one"), kept_text("other")) == ("text of one", "text of the other")


def test_what_is_kept_as_one_kind_is_none_of_another(place: Path) -> None:
    keep_text("key", "text")
    only_file(place).rename(place / cache._name(Kind.LIBRARY, "key"))
    assert kept(Kind.LIBRARY, "key") is None


def test_a_key_and_a_content_cannot_share_a_boundary(place: Path) -> None:
    keep_text("key", "1 text")
    only_file(place).rename(place / cache._name(Kind.TEXT, "key1"))
    assert kept_text("key1") is None


@pytest.mark.slow
@needs_compiler
def test_two_libraries_exchanged(place: Path) -> None:
    """Each is whole and of this user, and would do for the other: the same types and shapes."""
    texts = ("layout Turn(n, c) = [c, n]", "layout Turn(n, c) = [n, c/2, c%2]")
    tensor = np.arange(12, dtype="u2").reshape(3, 4)
    want = [module_of(text).pack(tensor) for text in texts]

    def packed() -> Iterator[np.ndarray]:
        for text in texts:
            yield loader.native_module(layout_of(text), module_of(text), emit).pack(tensor)

    assert all(map(np.array_equal, packed(), want))
    first, second = place.iterdir()
    before = first.read_bytes(), second.read_bytes()
    exchange(first, second)
    assert all(map(np.array_equal, packed(), want))
    assert [each.read_bytes()[:64] for each in (first, second)] == [each[:64] for each in before]
    assert (first.stat().st_size, second.stat().st_size) == tuple(map(len, before)), "made again"


def as_link(file: Path) -> None:
    file.rename(file.parent.with_name("elsewhere"))
    file.symlink_to(file.parent.with_name("elsewhere"))


def as_second_name(file: Path) -> None:
    file.parent.with_name("elsewhere").hardlink_to(file)


def as_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def as_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def as_damaged(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:2] + bytes([content[2] ^ 1]) + content[3:])


FILES: dict[str, Callable[[Path], None]] = {
    "a link": as_link,
    "a second name": as_second_name,
    "a pipe": as_pipe,
    "a folder": as_folder,
    "damaged": as_damaged,
    "shorter than a hash": lambda file: os.truncate(file, 10),
    "empty": lambda file: os.truncate(file, 0),
    "writable by the group": lambda file: file.chmod(0o620),
    "writable by others": lambda file: file.chmod(0o602),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_trusted(name: str, place: Path) -> None:
    keep_text("key", "text")
    FILES[name](only_file(place))
    assert kept_text("key") is None
    keep_text("key", "again")
    assert kept_text("key") == (None if name == "a folder" else "again")
    assert len(list(place.iterdir())) == 1, "and nothing half-written"
    if name == "a link":
        assert place.with_name("elsewhere").read_bytes().startswith(b"text"), "it is not followed"


def as_linked_folder(place: Path) -> None:
    place.rename(place.with_name("elsewhere"))
    place.symlink_to(place.with_name("elsewhere"), target_is_directory=True)


FOLDERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a link": (as_linked_folder, "is a link"),
    "writable by the group": (lambda place: place.chmod(0o770), "may be written by others"),
    "writable by others": (lambda place: place.chmod(0o702), "may be written by others"),
    "as /tmp is": (lambda place: place.chmod(0o1777), "may be written by others"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_is_not_trusted(name: str, place: Path) -> None:
    keep_text("key", "text")
    change, words = FOLDERS[name]
    change(place)
    before = sorted(place.iterdir())
    assert kept_text("key") is None
    keep_text("other", "text")
    assert kept_text("other") is None
    assert sorted(place.iterdir()) == before, "nor is anything put there"
    assert cache.refusal() == f"`{place}` {words}"


def test_a_folder_below_one_that_all_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one in `/tmp` is."""
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(tmp_path / "mine"))
    keep_text("key", "text")
    assert kept_text("key") == "text"


def test_somebody_else_s_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_text("key", "text")
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    if place.stat().st_uid == 0:
        assert kept_text("key") == "text", "the system's is taken"
        os.chown(place, STRANGER + 1, -1)
    assert kept_text("key") is None
    assert cache.refusal() == f"`{place}` belongs to another user"


def test_somebody_else_s_file(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_text("key", "text")
    number, real = only_file(place).stat().st_ino, os.fstat

    def foreign(handle: int) -> os.stat_result:
        found = real(handle)
        if found.st_ino != number:
            return found
        values = list(found)
        values[stat.ST_UID] = STRANGER
        return os.stat_result(values)

    monkeypatch.setattr(os, "fstat", foreign)
    assert kept_text("key") is None
    assert cache.refusal() is None
    keep_text("key", "again")
    assert kept_text("key") == "again"


def test_whatever_the_umask(place: Path) -> None:
    for number, mask in enumerate((0o000, 0o077, 0o277)):
        before = os.umask(mask)
        try:
            keep_text(f"key {number}", "text")
        finally:
            os.umask(before)
        assert kept_text(f"key {number}") == "text"
    assert {stat.S_IMODE(each.stat().st_mode) for each in place.iterdir()} == {0o600}


def test_a_key_that_is_no_unicode(place: Path) -> None:
    """`$CC` may be any bytes."""
    keep_text("\udcff", "one")
    keep_text("ÿ", "other")
    assert (kept_text("\udcff"), kept_text("ÿ")) == ("one", "other")
    assert len(list(place.iterdir())) == 2


def test_no_temporary_folder_that_others_may_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from layoutdsl.code.private import UntrustedError, passing_folder

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with passing_folder() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()
    tmp_path.chmod(0o777)
    with pytest.raises(UntrustedError, match="all may remove what is another's"), passing_folder():
        pass


# Libraries that say which one they are: 1 is what was made, 66 is what somebody else put there.

GOOD, BAD, KEY = 1, 66, "some key"


def _library(folder: Path, answer: int, mark: str) -> bytes:
    which = compiler()
    assert which is not None
    source, made = folder / f"{answer}.c", folder / f"{answer}.so"
    source.write_text(
        "#include <stdint.h>\n#include <string.h>\n"
        f"int who_job_{mark}(const void *s, void *d, const long long *j) {{ return {answer}; }}\n"
        "long long who_units(const long long *shape) { return 1; }\n" + "\n".join(again_text(mark))
    )
    options = ["-w", "-shared", "-fPIC", "-o", str(made), str(source)]
    subprocess.run([*which.command, *options], check=True)
    return made.read_bytes()


def answer(library: bytes, mark: str) -> int:
    from _cffi_backend import FFI

    null = FFI().NULL
    found: int = function(images.loaded(library), "who", mark).job(null, null, null)
    return found


@pytest.mark.slow
@needs_compiler
def test_a_library_is_loaded_from_where_nobody_can_change_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths: list[str] = []
    real = ctypes.CDLL

    def recorded(path: str) -> ctypes.CDLL:
        paths.append(path)
        return real(path)

    libraries = [_library(tmp_path, number, "m") for number in range(1, 8)]
    monkeypatch.setattr(ctypes, "CDLL", recorded)
    assert [answer(each, "m") for each in libraries * 2] == [*range(1, 8)] * 2
    assert len(set(paths)) == 14, "the loader gives what it has for a path that it knows"
    if hasattr(os, "memfd_create"):
        assert all(path.startswith("/proc/self/fd") for path in paths)
        monkeypatch.delattr(os, "memfd_create")
    paths.clear()
    assert [answer(each, "m") for each in libraries] == [*range(1, 8)]
    assert not [path for path in paths if Path(path).parent.exists()], "the copies are gone"


@needs_compiler
def test_another_library_has_no_such_function(tmp_path: Path) -> None:
    library = _library(tmp_path, 2, "m")
    with pytest.raises(OSError, match="who_job_n"):
        answer(library, "n")


@needs_compiler
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="/proc is Linux's")
def test_no_descriptor_is_left_open(tmp_path: Path, place: Path) -> None:
    library = _library(tmp_path, GOOD, "m")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(5):
        answer(library, "m")
        keep(Kind.LIBRARY, KEY, library)
        kept(Kind.LIBRARY, KEY)
        place.chmod(0o777)
        kept(Kind.LIBRARY, KEY)
        place.chmod(0o700)
    with pytest.raises(OSError, match=r"."):
        images.loaded(b"junk")
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


class Attacker:
    """Somebody who may write where they should not, and has a file with all the right hashes.

    Only who may write a file, and where, tells theirs from ours: they are told from ours by that
    alone, so that whoever looks twice is caught in between.
    """

    def __init__(self, place: Path, good: bytes, bad: bytes) -> None:
        self.place, self.file = place, place / cache._name(Kind.LIBRARY, KEY)
        self.good = good + cache._digest(Kind.LIBRARY, KEY, good)
        self.bad = bad + cache._digest(Kind.LIBRARY, KEY, bad)
        self.room = place.with_name("theirs")
        self.room.mkdir()
        self.other = self.room / "cache"
        self.other.mkdir()
        (self.other / self.file.name).write_bytes(self.bad)
        (self.other / self.file.name).chmod(0o600)
        self.other.chmod(0o777)
        self.steps = 0

    def theirs(self, mode: int) -> Path:
        made = self.room / "made"
        made.unlink(missing_ok=True)
        made.write_bytes(self.bad)
        made.chmod(mode)
        return made

    def writable(self) -> None:
        self.theirs(0o666).replace(self.file)

    def written_over(self) -> None:
        """A file of theirs that holds ours, and then no longer."""
        made = self.theirs(0o666)
        with made.open("r+b") as file:
            file.write(self.good)
            file.flush()
            made.replace(self.file)
            file.seek(0)
            file.write(self.bad)

    def linked(self) -> None:
        self.theirs(0o600).replace(self.room / "kept")
        link = self.room / "link"
        link.symlink_to(self.room / "kept")
        link.replace(self.file)

    def named_twice(self) -> None:
        self.theirs(0o600)
        self.file.unlink(missing_ok=True)
        self.file.hardlink_to(self.room / "made")

    def ours(self) -> None:
        made = self.room / "good"
        made.write_bytes(self.good)
        made.chmod(0o600)
        made.replace(self.file)

    def folder(self) -> None:
        self.place.rename(self.room / "aside")
        self.other.rename(self.place)
        self.place.rename(self.other)

    def linked_folder(self) -> None:
        self.place.rename(self.room / "aside")
        self.place.symlink_to(self.other)
        self.place.unlink()

    def back(self) -> None:
        """Their folder is away; whoever keeps things has made a new one meanwhile, or not."""
        if (self.room / "aside").exists():
            rmtree(self.place, ignore_errors=True)
            (self.room / "aside").rename(self.place)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        done = threading.Event()
        steps = [self.writable, self.ours, self.written_over, self.ours, self.linked, self.ours]
        steps += [self.folder, self.back, self.named_twice, self.ours]
        steps += [self.linked_folder, self.back]

        def work() -> None:
            for step in cycle(steps):
                if done.is_set():
                    return
                with suppress(OSError):  # somebody was quicker
                    step()
                    self.steps += 1

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _never_loads_theirs(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    which = compiler()
    assert which is not None
    key = "\n".join([KEY, which.identity, *libraries.OPTIONS])
    monkeypatch.setattr(f"{__name__}.KEY", key)
    mark = cache.mark(key)
    good, bad = (_library(tmp_path, number, mark) for number in (GOOD, BAD))
    assert answer(bad, mark) == BAD, "it would be noticed"
    made: list[int] = []

    keep(Kind.LIBRARY, key, good)
    from _cffi_backend import FFI

    null, started, loads = FFI().NULL, time.monotonic(), 0
    attacker = Attacker(place, good, bad)
    with attacker.at_work():
        while loads < tries or (attacker.steps < tries / 2 and loads < 50 * tries):
            opened = libraries.from_cache("who", key)
            if opened is None:
                made.append(1)
                keep(Kind.LIBRARY, key, good)
            else:
                assert opened.job(null, null, null) == GOOD
            loads += 1
    words = f"{loads} loaded, {len(made)} of them made again, {attacker.steps} exchanges"
    print(f"{words}, {time.monotonic() - started:.1f} s")
    assert attacker.steps >= tries / 2, "it was tried"
    assert 0 < len(made) < loads, "files were refused, and others taken"


@needs_compiler
def test_a_file_exchanged_while_it_is_loaded(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _never_loads_theirs(place, tmp_path, monkeypatch, 300)


@needs_compiler
@pytest.mark.campaign
def test_a_file_exchanged_while_it_is_loaded_3000_times(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _never_loads_theirs(place, tmp_path, monkeypatch, 3000)


# Libraries that are kept, and what comes in their way.

TEXT = "layout Cached(n, c) = [c/4, n, c%4]"
TENSOR = np.arange(30, dtype="u2").reshape(5, 6)


def fresh() -> NativeModule:
    """A module that looks for its library anew."""
    return loader.native_module(layout_of(TEXT), module_of(TEXT), emit)


def works(module: Compiled) -> bool:
    return np.array_equal(module.pack(TENSOR), module_of(TEXT).pack(TENSOR))


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


VERSION = 'case " $* " in *" --version "*) echo test; exit 0;; esac\n'


def test_is_compiled_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert works(fresh())
    (library,) = place.iterdir()
    assert library.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(libraries, "build", lambda *_: pytest.fail("compiled again"))
    assert works(fresh())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda whole: whole[:0],
    "cut in half": lambda whole: whole[: len(whole) // 2],
    "one bit turned": lambda whole: whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:],
    "something else": lambda whole: bytes(len(whole)),
}


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_library_is_made_again(name: str, place: Path) -> None:
    assert works(fresh())
    (library,) = place.iterdir()
    whole = library.read_bytes()
    library.unlink()  # what is loaded stays as it is
    library.write_bytes(DAMAGE[name](whole))
    library.chmod(0o700)
    assert works(fresh())
    assert library.read_bytes()[:64] == whole[:64], "and is kept again"


@pytest.mark.slow
def test_a_library_for_another_machine(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is whole, and cannot be loaded."""
    assert works(fresh())
    (library,) = place.iterdir()
    elsewhere = place.with_name("elsewhere")
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(elsewhere))
    real = cache.keep
    monkeypatch.setattr(libraries, "keep", lambda *given: real(*given[:2], b"\x7fELF of another"))
    assert works(fresh())
    (kept,) = elsewhere.iterdir()
    assert (kept.name, kept.read_bytes()[:4]) == (library.name, b"\x7fELF")
    assert kept.stat().st_size < 100
    monkeypatch.setattr(libraries, "keep", real)
    assert works(fresh())
    assert kept.stat().st_size > 1000, "it is made again, and kept"
    monkeypatch.setattr(libraries, "build", lambda *_: pytest.fail("compiled again"))
    assert works(fresh())


@pytest.mark.slow
def test_a_library_that_others_may_write_is_not_trusted(place: Path) -> None:
    assert works(fresh())
    (library,) = place.iterdir()
    library.chmod(0o777)
    assert works(fresh())
    assert library.stat().st_mode & 0o022 == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fault", [OSError(28, "No space left"), PermissionError(13, "denied")])
def test_a_full_or_read_only_cache(
    place: Path, monkeypatch: pytest.MonkeyPatch, fault: OSError
) -> None:
    place.mkdir(0o700)

    def refuse(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(os, "rename", refuse)
    assert works(fresh())
    assert not list(place.iterdir()), "nothing is left half-written"
    keep_text("key", "text")
    assert kept_text("key") is None


@pytest.mark.sampled(3)
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("name", ["/proc/cache", "/dev/null", "/dev/full/cache"])
def test_a_cache_where_no_folder_can_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUTDSL_CACHE", name)
    assert works(fresh())


def test_a_cache_that_is_a_file(place: Path) -> None:
    place.write_text("in the way")
    assert works(fresh())
    assert place.read_text() == "in the way"


@pytest.mark.slow
def test_nobody_knows_whose_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unknown(*_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("LAYOUTDSL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.chdir(tmp_path)
    assert works(fresh())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_no_room_anywhere(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    place.write_text("in the way")
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    module = fresh()
    for _ in range(2):
        with pytest.raises(CompilerError, match="No space left on device"):
            works(module)
    monkeypatch.undo()
    assert works(fresh()), "and it is no fault of the compiler"


RACE = """
import sys
sys.path[:0] = {tests!r}
from test_native_cache import fresh, works
from codegen_cases import layout_of
import layoutdsl
assert works(fresh())
shared = layoutdsl.compile(layout_of("layout Shared(n, c) = [c/4, n, c%4]"))
assert shared.physical_shape((2, 5)) == (2, 2, 4)
"""


@pytest.mark.slow
def test_two_processes_at_once(place: Path) -> None:
    program = RACE.format(
        tests=[str(Path(__file__).parent), str(Path(__file__).parents[2] / "support")]
    )
    command = [sys.executable, "-c", program]
    with (
        running(command, stderr=subprocess.PIPE) as one,
        running(command, stderr=subprocess.PIPE) as other,
    ):
        for each in (one, other):
            _, words = each.communicate(timeout=120)
            assert each.returncode == 0, words.decode()
    assert {each.suffix for each in place.iterdir()} == {".so", ".text"}, "and nothing half-written"
    assert len(list(place.glob("*.so"))) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_a_compiler_that_hangs_is_not_waited_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does anything that it started go on."""
    started = tmp_path / "started"
    text = f"{VERSION}sleep 300 & echo $! >> '{started}'; wait"
    monkeypatch.setenv("CC", script(tmp_path / "slow", text))
    monkeypatch.setattr(compilers, "SECONDS", 1.5)
    for _ in range(2):
        with pytest.raises(CompilerError, match=r"within 1\.5 seconds"):
            works(fresh())
    (number,) = started.read_text().split()
    assert gone(int(number))


@pytest.mark.slow
def test_a_compiler_that_never_says_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    monkeypatch.setenv("CC", script(tmp_path / "mute", f"echo >> '{asked}'; sleep 300"))
    monkeypatch.setattr(compilers, "SECONDS_TO_SAY", 1.5)
    for _ in range(3):
        assert "did not answer within 1.5 seconds" in str(loader.why_not())
    assert asked.read_text() == "\n"


def test_caches_are_those_that_hold_data(tmp_path: Path) -> None:
    told = [("1", "Data", "48K"), ("1", "Instruction", "64K"), ("3", "Unified", "491520K")]
    told += [("2", "Unified", "much"), ("2", "Unified", "2048K")]
    for number, each in enumerate(told):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, word in zip(("level", "type", "size"), each, strict=True):
            (folder / name).write_text(f"{word}\n")
    (tmp_path / "index9").mkdir()  # of which nothing is said
    assert compilers.data_caches(tmp_path) == [(1, 48), (3, 491520), (2, 2048)]
    assert compilers.data_caches(tmp_path / "nowhere") == []


@pytest.mark.sampled(2)
@needs_compiler
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("caches", "told"), [([], 8 << 20), ([(2, 2048), (3, 491520)], 30 << 20)])
def test_outputs_stay_in_a_large_cache(
    caches: list[tuple[int, int]], told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "data_caches", lambda: caches)
    given, build = list[str](), compilers.build

    def watched(which: Any, sources: Any, library: Any, options: tuple[str, ...]) -> None:
        given.extend(options)
        build(which, sources, library, options)

    monkeypatch.setattr(libraries, "build", watched)
    assert works(fresh())
    assert f"-DSTREAM_BYTES={told}LL" in given
