"""Compilers that are missing, fail or hang; caches that are read-only, full, damaged or shared."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import needs_compiler

import layoutdsl
from layoutdsl import Compiled, CompilerError

pytestmark = needs_compiler

TEXT = "layout Cached(n, c) = [c/4, n, c%4]"
TENSOR = np.arange(30, dtype="u2").reshape(5, 6)


def native(name: str) -> Compiled:
    """The module of a layout that no other test compiles; its first call makes a library."""
    return layoutdsl.compile(layout_of(TEXT.replace("Cached", name)), "native")


def works(module: Compiled) -> bool:
    return np.array_equal(module.pack(TENSOR), module_of(TEXT).pack(TENSOR))


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


VERSION = 'case " $* " in *" --version "*) echo test; exit 0;; esac\n'
JUNK = 'while [ "$1" != -o ]; do shift; done; echo junk > "$2"'
COMPILERS = {
    "fails": ("echo broken >&2; exit 3", "failed with 3: broken"),
    "fails without a word": ("exit 1", "failed with 1: no message"),
    "is killed": ("kill -9 $$", "failed with -9"),
    "writes nothing": ("exit 0", "wrote no library"),
    "writes junk": (JUNK, "cannot be used"),
}


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", COMPILERS)
def test_a_compiler_that_fails(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, words = COMPILERS[name]
    monkeypatch.setenv("CC", f"'{script(tmp_path / name, VERSION + text)}' -g")
    module, out = native(f"Broken{list(COMPILERS).index(name)}"), np.full((2, 5, 4), 9, "u2")
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
        assert works(layoutdsl.compile(one)), "numpy serves where native was not asked for"
    asked = layoutdsl.compile(other, "native")
    with pytest.raises(CompilerError, match=words):
        works(asked)
    assert works(layoutdsl.compile(other, "auto")), "what was asked once is not asked of others"
    assert not list(place.glob("*.so"))


@pytest.mark.slow
def test_a_compiler_that_warns_and_takes_arguments(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.environ["CC"]  # as `place` has set it
    text = f'echo "warning: hm" >&2; [ "$1" = "-DONE=1 2" ] || exit 9; exec {real} "$@"'
    monkeypatch.setenv("CC", f"'{script(tmp_path / 'a warning', text)}' -DONE='1 2'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works(native("Warned"))
    assert len(list(place.glob("*.so"))) == 1


@pytest.mark.slow
def test_a_compiler_that_knows_no_options_of_this_machine(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.environ["CC"]  # as `place` has set it
    text = f'case " $* " in *march*) exit 1;; esac; exec {real} "$@"'
    monkeypatch.setenv("CC", script(tmp_path / "modest", text))
    assert works(native("Modest"))
    assert len(list(place.glob("*.so"))) == 1


def no_cffi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_cffi_backend", None)


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)


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
@pytest.mark.sampled(6)
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
    for _ in range(2):
        for layout in (one, domain):
            with pytest.raises(layoutdsl.CompilerError) as said:
                layoutdsl.compile(layout, "native")
            assert str(said.value) == words
            assert (said.value.message, said.value.remedy) == (message, remedy)
    with pytest.raises(layoutdsl.CompilerError, match=re.escape(message)):
        layoutdsl.convert(one, other, compiled="native")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for target in ("auto", "numpy"):
            module = layoutdsl.compile(one, target)
            assert works(module)
            assert not hasattr(module, "target")
        packed = layoutdsl.compile(one, "numpy").pack(TENSOR)
        assert np.array_equal(layoutdsl.convert(one, other)(packed, TENSOR.shape), TENSOR.T)


@pytest.mark.slow
def test_c_is_not_handed_out_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    no_reader(monkeypatch)
    layout = layout_of("layout Unread(n, c) = [c, n]")
    with pytest.raises(layoutdsl.CompilerError, match="`pycparser` is missing"):
        layoutdsl.generate_c(layout)
    assert "no proof" in layoutdsl.generate_c(layout, validate=False).program.text


@pytest.mark.parametrize("name", MISSING)
def test_files_are_not_packed_by_what_is_missing(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    MISSING[name][0](monkeypatch)
    layout = layout_of(f"layout Filed{list(MISSING).index(name)}(n, c) = [c, n]")
    np.save(tmp_path / "in.npy", TENSOR)
    with pytest.raises(layoutdsl.CompilerError):
        layoutdsl.pack_file(layout, tmp_path / "in.npy", tmp_path / "out.npy", target="native")
    assert [each.name for each in tmp_path.iterdir()] == ["in.npy"]


@pytest.mark.slow
def test_numpy_serves_by_design(place: Path) -> None:
    """What C does not take is no failure of the compiler, and not warned of."""
    layout = layout_of("layout Designed(n, c) = [c/4, n, c%4]")
    module, plain = layoutdsl.compile(layout, "native"), layoutdsl.compile(layout, "numpy")
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
        assert works(layoutdsl.compile(layouts[0]))
    words = f"nothing is kept of what is compiled: `{place}` may be written by others"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert works(layoutdsl.compile(layouts[1], "native"))
        assert works(layoutdsl.compile(layouts[2], "native"))
    assert [(each.filename, str(each.message)) for each in said] == [(__file__, words)]
    assert not list(place.iterdir())


def test_compile_takes_what_is_at_hand() -> None:
    layout = layout_of("layout AtHand(n, c) = [c, n]")
    module: Any = layoutdsl.compile(layout)
    assert module.target == "native"
    assert layoutdsl.compile(layout) is module
    assert not hasattr(layoutdsl.compile(layout, "numpy"), "target")
    assert module.offset((1, 2), (3, 4)) == 7
    assert module.physical_shape((3, 4)) == (4, 3)
    with pytest.raises(ValueError, match="there is no target `fpga`"):
        layoutdsl.compile(layout, "fpga")  # type: ignore[arg-type]
