"""Compilers that are missing, fail or hang; caches that are read-only, full, damaged or shared."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import needs_compiler
from processes import gone, running

from layoutdsl import api
from layoutdsl.codegen.native import cache, compilers, loader
from layoutdsl.codegen.native.compilers import CompilerError
from layoutdsl.codegen.native.module import NativeModule

pytestmark = needs_compiler

TEXT = "layout Cached(n, c) = [c/4, n, c%4]"
TENSOR = np.arange(30, dtype="u2").reshape(5, 6)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fresh() -> NativeModule:
    return loader.native_module(layout_of(TEXT), module_of(TEXT))


def works(module: api.Compiled) -> bool:
    return np.array_equal(module.pack(TENSOR), module_of(TEXT).pack(TENSOR))


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_is_compiled_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert works(fresh())
    (library,) = place.iterdir()
    assert library.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(loader, "build", lambda *_: pytest.fail("compiled again"))
    assert works(fresh())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda whole: whole[:0],
    "cut in half": lambda whole: whole[: len(whole) // 2],
    "one bit turned": lambda whole: whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:],
    "something else": lambda whole: bytes(len(whole)),
}


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


def test_a_library_for_another_machine(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is whole, and cannot be loaded."""
    assert works(fresh())
    (library,) = place.iterdir()
    elsewhere = place.with_name("elsewhere")
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(elsewhere))
    real = cache.keep
    monkeypatch.setattr(loader, "keep", lambda *given: real(*given[:2], b"\x7fELF of another"))
    assert works(fresh())
    (kept,) = elsewhere.iterdir()
    assert (kept.name, kept.read_bytes()[:4]) == (library.name, b"\x7fELF")
    assert kept.stat().st_size < 100
    monkeypatch.setattr(loader, "keep", real)
    assert works(fresh())
    assert kept.stat().st_size > 1000, "it is made again, and kept"
    monkeypatch.setattr(loader, "build", lambda *_: pytest.fail("compiled again"))
    assert works(fresh())


def test_a_library_that_others_may_write_is_not_trusted(place: Path) -> None:
    assert works(fresh())
    (library,) = place.iterdir()
    library.chmod(0o777)
    assert works(fresh())
    assert library.stat().st_mode & 0o022 == 0


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
    cache.keep_text("key", "text")
    assert cache.kept_text("key") is None


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("name", ["/proc/cache", "/dev/null", "/dev/full/cache"])
def test_a_cache_where_no_folder_can_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOUTDSL_CACHE", name)
    assert works(fresh())


def test_a_cache_that_is_a_file(place: Path) -> None:
    place.write_text("in the way")
    assert works(fresh())
    assert place.read_text() == "in the way"


def test_nobody_knows_whose_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unknown(*_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("LAYOUTDSL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.chdir(tmp_path)
    assert works(fresh())
    assert not list(tmp_path.iterdir())


def test_no_room_anywhere(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    place.write_text("in the way")
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    module = fresh()
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert works(module)
    assert works(module)


RACE = """
import sys
sys.path.insert(0, {tests!r})
from test_native_building import fresh, works
from codegen_cases import layout_of
from layoutdsl import api
assert works(fresh())
shared = api.compile(layout_of("layout Shared(n, c) = [c/4, n, c%4]"))
assert shared.physical_shape((2, 5)) == (2, 2, 4)
"""


def test_two_processes_at_once(place: Path) -> None:
    program = RACE.format(tests=str(Path(__file__).parent))
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


VERSION = 'case " $* " in *" --version "*) echo test; exit 0;; esac\n'
JUNK = 'while [ "$1" != -o ]; do shift; done; echo junk > "$2"'
COMPILERS = {
    "fails": ("echo broken >&2; exit 3", "failed with 3: broken"),
    "fails without a word": ("exit 1", "failed with 1: no message"),
    "is killed": ("kill -9 $$", "failed with -9"),
    "writes nothing": ("exit 0", "wrote no library"),
    "writes junk": (JUNK, "cannot be used"),
    "hangs": ("sleep 60; exit 0", "did not answer within"),
}


@pytest.mark.parametrize("name", COMPILERS)
def test_a_compiler_that_fails(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, words = COMPILERS[name]
    monkeypatch.setenv("CC", f"'{script(tmp_path / name, VERSION + text)}' -g")
    monkeypatch.setattr(compilers, "SECONDS", 0.3 if name == "hangs" else 60)
    module = fresh()
    with pytest.warns(RuntimeWarning, match=words) as said:
        assert works(module)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works(module), "said once"
        quiet = layout_of(f"layout Quiet{list(COMPILERS).index(name)}(n, c) = [c/4, n, c%4]")
        assert works(api.compile(quiet)), "and not where native was not asked for"
    assert not list(place.glob("*.so"))
    asked = layout_of(f"layout Asked{list(COMPILERS).index(name)}(n, c) = [c/4, n, c%4]")
    with pytest.warns(RuntimeWarning, match=words):
        assert works(api.compile(asked, "native"))


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
        with pytest.warns(RuntimeWarning, match=r"within 1\.5 seconds"):
            assert works(fresh())
    (number,) = started.read_text().split()
    assert gone(int(number))


def test_a_compiler_that_never_says_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    monkeypatch.setenv("CC", script(tmp_path / "mute", f"echo >> '{asked}'; sleep 300"))
    monkeypatch.setattr(compilers, "SECONDS_TO_SAY", 1.5)
    for _ in range(3):
        assert "did not answer within 1.5 seconds" in str(loader.why_not())
    assert asked.read_text() == "\n"


def test_a_compiler_that_warns_and_takes_arguments(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = " ".join(compilers.compiler().command)  # type: ignore[union-attr]
    text = f'echo "warning: hm" >&2; [ "$1" = "-DONE=1 2" ] || exit 9; exec {real} "$@"'
    monkeypatch.setenv("CC", f"'{script(tmp_path / 'a warning', text)}' -DONE='1 2'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works(fresh())
    assert len(list(place.glob("*.so"))) == 1


def test_a_compiler_that_knows_no_options_of_this_machine(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = " ".join(compilers.compiler().command)  # type: ignore[union-attr]
    text = f'case " $* " in *march*) exit 1;; esac; exec {real} "$@"'
    monkeypatch.setenv("CC", script(tmp_path / "modest", text))
    assert works(fresh())
    assert len(list(place.glob("*.so"))) == 1


@pytest.mark.parametrize("target", ["native", "auto"])
def test_without_cffi(target: Literal["native", "auto"], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_cffi_backend", None)
    layout = layout_of(f"layout Without_{target}(n, c) = [c/4, n, c%4]")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        module = api.compile(layout, target)
        assert works(module)
        assert api.compile(layout, target) is module
    assert not isinstance(module, NativeModule)
    words = "numpy serves in place of compiled code: the package `cffi` is missing"
    assert [str(each.message)[: len(words)] for each in said] == [words] * (target == "native")


def test_a_compiler_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of("layout Missing(n, c) = [c, n]")
    monkeypatch.setenv("CC", "no-such-compiler -O3")
    assert "no-such-compiler" in str(loader.why_not())
    with pytest.raises(CompilerError, match="no program `no-such-compiler`"):
        fresh()
    with pytest.warns(RuntimeWarning, match="numpy serves in place of compiled code"):
        module = api.compile(layout, "native")
    assert not isinstance(module, NativeModule)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not isinstance(api.compile(layout, "auto"), NativeModule)
    monkeypatch.setenv("CC", "'")
    assert "no command" in str(loader.why_not())
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(compilers, "find_spec", lambda _: None)
    assert "there is no C compiler" in str(loader.why_not())


def test_compile_takes_what_is_at_hand() -> None:
    layout = layout_of("layout AtHand(n, c) = [c, n]")
    module = api.compile(layout)
    assert isinstance(module, NativeModule)
    assert api.compile(layout) is module
    assert not isinstance(api.compile(layout, "numpy"), NativeModule)
    assert module.offset((1, 2), (3, 4)) == 7
    assert module.physical_shape((3, 4)) == (4, 3)
    with pytest.raises(ValueError, match="there is no target `fpga`"):
        api.compile(layout, "fpga")  # type: ignore[arg-type]
