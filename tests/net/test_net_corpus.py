"""Files that version 78e259d wrote are read, verified, checked, imported and compiled today."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import layoutdsl

from .corpus import Entry, entries, tensors
from .inputs import ARRAYS, counted
from .running import CORPUS, INPUTS, Version

ENTRIES = entries()

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

LAYOUTS = {
    "nchw16c": ("NCHW16c", (2, 20, 3, 4)),
    "crouton": ("R4CroutonLayout", (1, 9, 9, 33)),
    "swizzled": ("demo.layout:Swizzled", (5, 4)),
    "upper": ("my.layout:Upper", (5, 5)),
    "offset": ("kept.layout:Offset", (6, 5)),
}
"""Of a generated module its layout, and a shape."""


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_old_files_are_read_and_verified(entry: Entry, working: Version, tmp_path: Path) -> None:
    if entry.case.missing:
        pytest.skip(entry.case.missing)
    ran = working.run(entry.case)
    failed = [f"{s.line}: {s.code}\n{s.err.decode()}" for s in ran.stages if s.code]
    assert not failed
    shutil.copytree(entry.folder, tmp_path, dirs_exist_ok=True)
    for name, state in ran.files.items():
        if state is not None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(state[1])
    for made, original in entry.same:
        there = tmp_path / original
        expected = tensors(there if there.exists() else INPUTS / original)
        found = tensors(tmp_path / made)
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape), name
            assert found[name].tobytes() == array.tobytes(), name


def layout_of(name: str) -> Any:
    if ":" not in name:
        return layoutdsl.library(name)
    file, _, inner = name.partition(":")
    return layoutdsl.load(INPUTS / file)[inner]


def elements(layout: Any, tensor: np.ndarray) -> Iterator[tuple[int, Any]]:
    """Yield each element of the layout's domain behind its offset by the plain meaning."""
    for index in itertools.product(*map(range, tensor.shape)):
        try:
            offset = layout.offset(index, tensor.shape)
        except (ValueError, layoutdsl.LayoutError):
            continue  # `where` leaves this index out
        yield offset, tensor[index]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(CORPUS / "modules"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = {each.stem for each in (CORPUS / "modules").iterdir()}
    yield CORPUS / "modules"
    for name in [each for each in sys.modules if each.partition(".")[0] in names]:
        del sys.modules[name]


def imported(name: str) -> ModuleType:
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("name", LAYOUTS)
def test_old_module_means_what_its_layout_means(name: str) -> None:
    module, (spec, shape) = imported(name), LAYOUTS[name]
    layout, tensor = layout_of(spec), counted(shape, "u2", 9973) + 1
    packed = module.pack(tensor)
    places = dict(elements(layout, tensor))
    assert places
    assert {offset: packed.flat[offset] for offset in places} == places
    unpacked = module.unpack(packed, shape)
    again = dict(elements(layout, unpacked))
    assert again == places


@pytest.mark.usefixtures("modules")
def test_old_module_of_words_and_records() -> None:
    awq = imported("awq")
    nibbles = ARRAYS["nibbles.npy"]
    words = awq.pack_words(nibbles)
    assert words.tobytes() == np.load(CORPUS / "arrays" / "awq.npy").tobytes()
    assert (awq.unpack_words(words, nibbles.shape) == nibbles).all()
    record = imported("q4_0")
    fields = {"d": ARRAYS["fields_d.npy"], "q": ARRAYS["fields_q.npy"]}
    packed = record.pack(**fields)
    assert packed.tobytes() == (CORPUS / "records" / "q4_0.bin").read_bytes()
    found = record.unpack(packed, (2, 64))
    for number, name in enumerate(fields):
        assert (found[number] == fields[name]).all()


@pytest.mark.usefixtures("modules")
def test_old_module_of_copies() -> None:
    scales, nibbles = imported("scales"), ARRAYS["nibbles.npy"]
    packed = scales.pack(nibbles)
    assert packed.tobytes() == np.load(CORPUS / "arrays" / "copies.npy").tobytes()
    assert (scales.unpack(packed, nibbles.shape) == nibbles).all()


def compiled(source: Path, made: Path) -> ctypes.CDLL:
    if COMPILER is None:
        pytest.skip("there is no C compiler on PATH")
    line = [COMPILER, "-std=c11", "-O1", "-fPIC", "-shared", "-DLAYOUT_PLAIN", "-o", str(made)]
    subprocess.run([*line, str(source)], check=True, cwd=source.parent)
    return ctypes.CDLL(str(made))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["swizzled", "nchw16c", "crouton", "part"])
def test_old_c_means_what_its_layout_means(name: str, tmp_path: Path) -> None:
    spec, shape = LAYOUTS[{"part": "nchw16c"}.get(name, name)]
    library = compiled(CORPUS / "c" / f"{name}.c", tmp_path / f"{name}.so")
    stem = {"part": "nchw16c", "crouton": "r4croutonlayout"}.get(name, name)
    extents = (ctypes.c_int64 * len(shape))(*shape)
    size = getattr(library, f"{stem}_size")
    size.restype = ctypes.c_int64
    layout, tensor = layout_of(spec), counted(shape, "u2", 9973) + 1
    packed, back = np.full(size(extents), 7, "u2"), np.zeros_like(tensor)
    fill = np.array(3, "u2")

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    pack, unpack = (getattr(library, f"{stem}_{verb}_16") for verb in ("pack", "unpack"))
    assert pack(pointer(tensor), pointer(packed), extents, pointer(fill)) == 0
    places = dict(elements(layout, tensor))
    padding = set(range(packed.size)) - places.keys()
    assert {offset: packed[offset] for offset in places} == places
    assert all(packed[offset] == 3 for offset in padding)
    assert unpack(pointer(packed), pointer(back), extents) == 0
    assert (back == tensor).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["awq", "q4_0"])
def test_old_c_of_words_and_records_compiles(name: str, tmp_path: Path) -> None:
    if COMPILER is None:
        pytest.skip("there is no C compiler on PATH")
    sources = sorted((CORPUS / "c" / name).glob("*.c"))
    line = [COMPILER, "-std=c11", "-O0", "-fPIC", "-shared", "-o", str(tmp_path / "all.so")]
    subprocess.run([*line, *map(str, sources)], check=True)


@pytest.mark.parametrize("name", ["nhwc.onnx", "plain.onnx", "blocked.onnx"])
def test_old_model_computes_what_the_original_does(name: str) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="models are run by onnxruntime")
    given = {"x": counted((2, 3, 8, 8), "f4") / np.float32(97)}

    def run(place: Path) -> np.ndarray:
        session = runtime.InferenceSession(str(place), providers=["CPUExecutionProvider"])
        (found,) = session.run(None, given)
        return found

    original = run(INPUTS / "net.onnx")
    assert np.allclose(run(CORPUS / "models" / name), original, rtol=1e-4, atol=1e-4)
