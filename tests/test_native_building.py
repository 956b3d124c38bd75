"""Compilers that are missing, fail or hang; caches that are read-only, full, damaged or shared."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import needs_compiler

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


def works(module: NativeModule) -> bool:
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


def test_a_damaged_library_is_made_again(place: Path) -> None:
    assert works(fresh())
    (library,) = place.iterdir()
    library.unlink()
    library.write_bytes(b"no library")
    library.chmod(0o700)
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
    def refuse(*_: object) -> None:
        raise fault

    monkeypatch.setattr(cache, "copyfile", refuse)
    assert works(fresh())
    assert not place.exists() or not list(place.iterdir())


def test_a_cache_that_is_a_file(place: Path) -> None:
    place.write_text("in the way")
    assert works(fresh())


RACE = """
import sys
sys.path.insert(0, {tests!r})
from test_native_building import fresh, works
assert all(works(fresh()) for _ in range(3))
"""


def test_two_processes_at_once(place: Path) -> None:
    program = RACE.format(tests=str(Path(__file__).parent))
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    for each in running:
        _, words = each.communicate(timeout=120)
        assert each.returncode == 0, words.decode()
    assert len(list(place.iterdir())) == 1


COMPILERS = {
    "fails": ("echo broken >&2; exit 3", "failed with 3: broken"),
    "writes nothing": ("exit 0", "wrote no library"),
    "hangs": ("exec sleep 60", "did not answer within"),
}


@pytest.mark.parametrize("name", COMPILERS)
def test_a_compiler_that_fails(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, words = COMPILERS[name]
    version = 'case "$1" in --version) echo test; exit 0;; esac\n'
    monkeypatch.setenv("CC", script(tmp_path / name.replace(" ", "-"), version + text))
    monkeypatch.setattr(compilers, "SECONDS", 0.3)
    module = fresh()
    with pytest.warns(RuntimeWarning, match=words):
        assert works(module)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works(module), "said once"
    assert not place.exists()


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
