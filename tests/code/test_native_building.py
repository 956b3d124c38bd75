"""Compilers that are missing, fail or hang; caches that are read-only, full, damaged or shared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import emit, needs_compiler
from processes import gone, running

import layoutdsl
from layoutdsl import CompilerError, commands
from layoutdsl.code.native import background, cache, compilers, libraries, loader
from layoutdsl.code.native.module import NativeModule

pytestmark = needs_compiler

TEXT = "layout Cached(n, c) = [c/4, n, c%4]"
TENSOR = np.arange(30, dtype="u2").reshape(5, 6)


@pytest.fixture(autouse=True)
def quiet() -> None:
    """No compiler is called any more that another test did not wait for."""
    background.finish()


def fresh() -> NativeModule:
    return loader.native_module(layout_of(TEXT), module_of(TEXT), emit)


def works(module: commands.Compiled) -> bool:
    return np.array_equal(module.pack(TENSOR), module_of(TEXT).pack(TENSOR))


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


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


@pytest.mark.sampled(2, slow=1)
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


@pytest.mark.sampled(3, slow=2)
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
from test_native_building import fresh, works
from codegen_cases import layout_of
import layoutdsl
assert works(fresh())
shared = layoutdsl.compile(layout_of("layout Shared(n, c) = [c/4, n, c%4]"))
assert shared.physical_shape((2, 5)) == (2, 2, 4)
"""


@pytest.mark.slow
def test_two_processes_at_once(place: Path) -> None:
    program = RACE.format(
        tests=[str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
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


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", COMPILERS)
def test_a_compiler_that_fails(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, words = COMPILERS[name]
    monkeypatch.setenv("CC", f"'{script(tmp_path / name, VERSION + text)}' -g")
    monkeypatch.setattr(compilers, "SECONDS", 0.3 if name == "hangs" else 60)
    module, out = fresh(), np.full((2, 5, 4), 9, "u2")
    for _ in range(2):
        with pytest.raises(CompilerError, match=words) as said:
            module.pack(TENSOR, out)
        assert said.value.remedy.startswith("set $CC to another compiler")
        with pytest.raises(CompilerError, match=words):
            module.unpack(out, TENSOR.shape)
    assert np.all(out == 9), "nothing was written"
    one, other = (
        layout_of(f"layout {word}{list(COMPILERS).index(name)}(n, c) = [c/4, n, c%4]")
        for word in ("Quiet", "Asked")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works(commands.compile(one)), "numpy serves where native was not asked for"
    asked = commands.compile(other, "native")
    with pytest.raises(CompilerError, match=words):
        works(asked)
    assert works(commands.compile(other, "auto")), "what was asked once is not asked of others"
    assert not list(place.glob("*.so"))


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


@pytest.mark.slow
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


def no_cffi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_cffi_backend", None)


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    found = compilers.find_spec
    monkeypatch.setattr(
        compilers, "find_spec", lambda name: None if name == package else found(name)
    )


def no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pycparser")


def no_such_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O3")


def no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "'")


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    without(monkeypatch, "ziglang")


CHECKOUT = Path(layoutdsl.__file__).parents[1]
NATIVE = f"pip install -e '{CHECKOUT}[native]'"
ZIG = f"pip install -e '{CHECKOUT}[ziglang]'"
MISSING: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str, str]] = {
    "cffi": (no_cffi, "the package `cffi` is missing", NATIVE),
    "pycparser": (
        no_reader,
        "the package `pycparser` is missing, which reads C back",
        NATIVE,
    ),
    "what $CC names": (
        no_such_compiler,
        "$CC is `no-such-compiler -O3`, and there is no program `no-such-compiler`",
        f"set $CC to a C compiler, or unset it and {ZIG}",
    ),
    "a command": (
        no_command,
        "$CC is `'`, which is no command: No closing quotation",
        f"set $CC to a C compiler, or unset it and {ZIG}",
    ),
    "all": (no_compiler, "there is no C compiler", f"install one, set $CC, or {ZIG}"),
}


@pytest.mark.slow
@pytest.mark.sampled(6, slow=5)
@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for native gets it, or is told what to do; `auto` takes what there is."""
    number = list(MISSING).index(name)
    one, other, domain = map(
        layout_of,
        (
            f"layout Missing{number}(n, c) = [c/4, n, c%4]",
            f"layout Lacking{number}(n, c) = [c, n]",
            f"layout Upper{number}(i, j) = [i, j] where i <= j",
        ),
    )
    remove, message, remedy = MISSING[name]
    remove(monkeypatch)
    words = f"{message}; {remedy}"
    assert loader.why_not() == words
    for _ in range(2):
        for layout in (one, domain):
            with pytest.raises(layoutdsl.CompilerError) as said:
                commands.compile(layout, "native")
            assert str(said.value) == words
            assert (said.value.message, said.value.remedy) == (message, remedy)
    with pytest.raises(layoutdsl.CompilerError, match=re.escape(message)):
        commands.convert(one, other, compiled="native")
    with pytest.raises(layoutdsl.CompilerError, match=re.escape(message)):
        fresh()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for target in ("auto", "numpy"):
            module = commands.compile(one, target)
            assert works(module)
            assert not isinstance(module, NativeModule)
        packed = commands.compile(one, "numpy").pack(TENSOR)
        assert np.array_equal(commands.convert(one, other)(packed, TENSOR.shape), TENSOR.T)


@pytest.mark.slow
def test_c_is_not_handed_out_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    no_reader(monkeypatch)
    layout = layout_of("layout Unread(n, c) = [c, n]")
    with pytest.raises(layoutdsl.CompilerError, match="`pycparser` is missing"):
        commands.generate_c(layout)
    assert "no proof" in commands.generate_c(layout, validate=False).program.text


@pytest.mark.parametrize("name", MISSING)
def test_files_are_not_packed_by_what_is_missing(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    MISSING[name][0](monkeypatch)
    layout = layout_of(f"layout Filed{list(MISSING).index(name)}(n, c) = [c, n]")
    np.save(tmp_path / "in.npy", TENSOR)
    with pytest.raises(layoutdsl.CompilerError):
        commands.pack_file(layout, tmp_path / "in.npy", tmp_path / "out.npy", target="native")
    assert [each.name for each in tmp_path.iterdir()] == ["in.npy"]


@pytest.mark.slow
def test_numpy_serves_by_design(place: Path) -> None:
    """What C does not take is no failure of the compiler, and not warned of."""
    layout = layout_of("layout Designed(n, c) = [c/4, n, c%4]")
    module, plain = commands.compile(layout, "native"), commands.compile(layout, "numpy")
    for tensor in (TENSOR[:, ::2], TENSOR.T, TENSOR[:0], TENSOR.astype("c16"), TENSOR > 3):
        assert np.array_equal(module.pack(tensor), plain.pack(tensor))
    assert len(list(place.glob("*.so"))) > 0


@pytest.mark.slow
def test_a_cache_that_others_may_write_is_told_of_once(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)
    layouts = [layout_of(f"layout Open{number}(n, c) = [c/4, n, c%4]") for number in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works(commands.compile(layouts[0]))
    words = f"nothing is kept of what is compiled: `{place}` may be written by others"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert works(commands.compile(layouts[1], "native"))
        assert works(commands.compile(layouts[2], "native"))
    assert [(each.filename, str(each.message)) for each in said] == [(__file__, words)]
    assert not list(place.iterdir())


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


@pytest.mark.sampled(2, slow=1)
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


def test_compile_takes_what_is_at_hand() -> None:
    layout = layout_of("layout AtHand(n, c) = [c, n]")
    module = commands.compile(layout)
    assert isinstance(module, NativeModule)
    assert commands.compile(layout) is module
    assert not isinstance(commands.compile(layout, "numpy"), NativeModule)
    assert module.offset((1, 2), (3, 4)) == 7
    assert module.physical_shape((3, 4)) == (4, 3)
    with pytest.raises(ValueError, match="there is no target `fpga`"):
        commands.compile(layout, "fpga")  # type: ignore[arg-type]
