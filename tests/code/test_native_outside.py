"""The generated files in somebody else's build: strict warnings, C and C++, no vectors."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from codegen_cases import layout_of, module_of
from native_cases import LAYOUTS

import layoutdsl
from layoutdsl import GeneratedC

CC = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-O2")

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")

PROGRAM = """
#include "blocked.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const int64_t shape[4] = {2, 20, 3, 5}, none[4] = {2, 0, 3, 5};
    const int64_t size = blocked_size(shape), count = 2 * 20 * 3 * 5;
    const float fill = 0.5f;
    if (size < 0 || blocked_size(none) >= 0) return 1;
    float *tensor = (float *)malloc((size_t)count * sizeof *tensor);
    float *buffer = (float *)malloc((size_t)size * sizeof *buffer);
    float *back = (float *)malloc((size_t)count * sizeof *back);
    for (int64_t k = 0; k < count; k++) tensor[k] = (float)k;
    if (blocked_pack_32(tensor, buffer, shape, &fill)) return 2;
    const int64_t units = blocked_unpack_32_units(shape);
    for (int64_t unit = units; unit-- > 0;)
        if (blocked_unpack_32_part(buffer, back, shape, 0, unit, unit + 1)) return 3;
    if (blocked_unpack_32_part(buffer, back, shape, 0, units, units)) return 4;
    for (int64_t k = 0; k < count; k++)
        if (back[k] != tensor[k]) return 5;
    fwrite(buffer, sizeof *buffer, (size_t)size, stdout);
    free(tensor), free(buffer), free(back);
    return 0;
}
"""
TEXT = "layout Blocked(n, c, h, w) = [n, c/16, h, w, c%16]"


def generated(text: str, widths: tuple[int, ...] | None = None) -> GeneratedC:
    """The C of a layout, not read back."""
    return layoutdsl.generate_c(layout_of(text), widths=widths, validate=False, unproved=True)


def run(*command: str, within: Path) -> bytes:
    done = subprocess.run(command, cwd=within, capture_output=True, check=False, timeout=120)
    if b"cc1plus" in done.stderr:
        pytest.skip("there is no C++ compiler")
    assert done.returncode == 0, done.stderr.decode()[:3000]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "plain",
    [(), ("-DLAYOUT_PLAIN",), ("-march=native",), ("-march=native", "-DLAYOUT_PLAIN")],
    ids=["vectors", "no vectors", "this machine", "this machine, no vectors"],
)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_program_that_uses_it(language: str, plain: tuple[str, ...], tmp_path: Path) -> None:
    """The library is C11; who calls it may be C++."""
    cc = str(CC).split()
    places = layoutdsl.generate_c(layout_of(TEXT)).write(tmp_path / "blocked.c")
    assert [each.name for each in places] == ["blocked.c", "blocked.h", "layout-kernels.h"]
    (tmp_path / "main.c").write_text(PROGRAM)
    run(*cc, "-std=c11", *STRICT, *plain, "-c", "blocked.c", within=tmp_path)
    standard = ("-std=c11",) if language == "c" else ("-std=c++17",)
    run(*cc, "-x", language, *standard, *STRICT, "-c", "main.c", within=tmp_path)
    run(*cc, "blocked.o", "main.o", "-o", "main", within=tmp_path)
    tensor = np.arange(600, dtype="f4").reshape(2, 20, 3, 5)
    packed = module_of(TEXT).pack(tensor, fill=0.5)
    assert run("./main", within=tmp_path) == packed.tobytes()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm")
@pytest.mark.parametrize("number", range(0, len(LAYOUTS), 3))
def test_it_needs_nothing_but_memory_moves(number: int, tmp_path: Path) -> None:
    """No allocation, no input or output, nothing that changes; and its functions are all it has."""
    made = generated(LAYOUTS[number])
    made.write(tmp_path / "a.c")
    run(*str(CC).split(), "-std=c11", *STRICT, "-c", "a.c", within=tmp_path)
    rows = [row.split()[-2:] for row in run("nm", "a.o", within=tmp_path).decode().splitlines()]
    assert {name for kind, name in rows if kind == "U"} <= {
        *("memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail")
    }
    assert not [name for kind, name in rows if kind in "bBdDC"]
    offered = {name for kind, name in rows if kind == "T"}
    assert all(f"{name}(" in made.program.header for name in offered)
    assert f"{made.program.stem}_size" in offered


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Q4_0", "Q6_K"])
def test_records_are_as_strict(name: str, tmp_path: Path) -> None:
    """What is around the parts, and these: their header of kernels is there once."""
    made = layoutdsl.generate_record(layoutdsl.library_record(name), "c", validate=False)
    made.write(tmp_path)
    assert (tmp_path / "layout-kernels.h").exists()
    for each in tmp_path.glob("*.c"):
        run(*str(CC).split(), "-std=c11", *STRICT, "-c", each.name, within=tmp_path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_stands_alone_and_may_come_twice(language: str, tmp_path: Path) -> None:
    generated(LAYOUTS[0]).write(tmp_path / "nchw16c.c")
    (tmp_path / "use.c").write_text('#include "nchw16c.h"\n#include "nchw16c.h"\n')
    run(*str(CC).split(), "-x", language, "-fsyntax-only", *STRICT, "use.c", within=tmp_path)


@pytest.mark.slow
def test_runs_of_any_length_past_the_cache(tmp_path: Path) -> None:
    """From how many bytes on is for others to say: compilers then see paths of negative lengths."""
    text = "layout Run(h) = [h/64, h%64]"
    (tmp_path / "a.c").write_text(layoutdsl.generate_c(layout_of(text)).program.text)
    run(*str(CC).split(), "-std=c11", *STRICT, "-DSTREAM_BYTES=1", "-c", "a.c", within=tmp_path)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("number", range(0, len(LAYOUTS), 4))
def test_machines_whose_addresses_have_32_bits(number: int, tmp_path: Path) -> None:
    """Read by the compiler alone: there is no library of C for them here."""
    told = ("-m32", "-mno-sse", "-ffreestanding", "-fsyntax-only", "-I.")
    (tmp_path / "empty.c").write_text("#include <stdint.h>\nint x;\n")
    command = [*str(CC).split(), *told, "empty.c"]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("no such machine")
    (tmp_path / "string.h").write_text(
        "typedef __SIZE_TYPE__ size_t;\nvoid *memcpy(void *, const void *, size_t);\n"
    )
    (tmp_path / "a.c").write_text(generated(LAYOUTS[number]).program.text)
    run(*str(CC).split(), "-std=c11", *STRICT, *told, "a.c", within=tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="no such machine")
@pytest.mark.parametrize(
    ("machine", "level"),
    [("x86-64", "-O0"), ("x86-64-v3", "-O0"), ("x86-64-v4", "-O0"), ("x86-64-v3", "-O2")],
)
def test_no_machine_is_warned_about_wide_vectors(machine: str, level: str, tmp_path: Path) -> None:
    """Vectors of 64 bytes where a machine has no such: its calls are none of anybody's concern."""
    (tmp_path / "a.c").write_text(generated(TEXT, (2,)).program.text)
    options = ("-std=c11", *STRICT[:-1], level, f"-march={machine}")
    run(*str(CC).split(), *options, "-c", "a.c", within=tmp_path)


LARGE = (
    ("layout Four(a: 65536, b: 65536, d) = [d, b, a]", 1 << 32),
    ("layout Three(a: 65536, b: 65536, c: 4, d) = [a, b, c, d]", 1 << 34),
    ("layout Nine(a: 65536, b: 65536, d) = [b/8, a/8, d, a%8, b%8]", 1 << 32),
)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "slots"), LARGE, ids=[text.split("(")[0] for text, _ in LARGE])
def test_numbers_beyond_32_bits_are_64_bits_wide(text: str, slots: int, tmp_path: Path) -> None:
    """Sizes and counts of work where the extents are plain numbers, which C takes for `int`."""
    layout = layout_of(text)
    program = generated(text, (1, 4)).program
    (tmp_path / "a.c").write_text(program.text)
    options = ("-std=c11", *STRICT, "-Woverflow", "-march=native")
    run(*str(CC).split(), *options, "-shared", "-fPIC", "a.c", "-o", "a.so", within=tmp_path)
    library = ctypes.CDLL(str(tmp_path / "a.so"))
    fixed = [65536, 65536, 4][: layout.rank - 1]
    shape = (ctypes.c_int64 * layout.rank)(*fixed, 5)
    for name in (f"{program.stem}_size", *(f"{each}_units" for each in program.functions)):
        called = library[name]
        called.restype = ctypes.c_int64
        found = called(shape)
        assert found == 5 * slots if name.endswith("_size") else 1 <= found <= 5 * slots, name
