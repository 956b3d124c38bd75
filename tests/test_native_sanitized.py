"""The generated .c and .h in a program of their own, under sanitizers of addresses and overflow.

The program works out by the printed formula where each element lies; buffers have exactly the bytes
that they need, at every alignment in turn.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from codegen_cases import layout_of
from native_cases import LAYOUTS
from test_native_meaning import shapes_of

from layoutdsl.codegen.native.compilers import vector_bytes
from layoutdsl.codegen.native.program import generate_c
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.formula import offset_expr, size_expr

CC = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
PLAIN = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")

PROGRAM = """
#include "@STEM@.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t offset(const int64_t *shape, const int64_t *index)
{
    @OFFSET@
}

static const int64_t shapes[][@RANK@] = {@SHAPES@};

static int one(const int64_t *shape, size_t shift)
{
    const size_t width = @WIDTH@;
    int64_t count = 1, size = @STEM@_size(shape), index[@RANK@];
    if (size < 0) return 0;
    for (int k = 0; k < @RANK@; k++) count *= shape[k];
    char *a = malloc(count * width + shift), *b = malloc(size * width + shift);
    char *c = malloc(count * width + shift), *d = calloc(size, 1);
    char *tensor = a + shift, *buffer = b + shift, *back = c + shift;
    unsigned char fill[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    for (size_t k = 0; k < count * width; k++) tensor[k] = (char)(k * 2654435761u % 251);
    memset(buffer, 9, size * width);
    if (@STEM@_pack_@BITS@(tensor, buffer, shape, fill)) return 1;
    for (int64_t number = 0; number < count; number++) {
        int64_t rest = number;
        for (int k = @RANK@ - 1; k >= 0; k--) index[k] = rest % shape[k], rest /= shape[k];
        int64_t slot = offset(shape, index);
        if (memcmp(buffer + slot * width, tensor + number * width, width)) return 2;
        d[slot] = 1;
    }
    for (int64_t slot = 0; slot < size; slot++)
        if (!d[slot] && memcmp(buffer + slot * width, fill, width)) return 3;
    for (int64_t slot = 0; slot < size; slot++)
        if (!d[slot]) memset(buffer + slot * width, 77, width);
    int64_t units = @STEM@_unpack_@BITS@_units(shape), half = units / 2;
    if (@STEM@_unpack_@BITS@_part(buffer, back, shape, 0, half, units)) return 4;
    if (@STEM@_unpack_@BITS@_part(buffer, back, shape, 0, 0, half)) return 4;
    if (memcmp(tensor, back, count * width)) return 5;
    free(a), free(b), free(c), free(d);
    return 0;
}

int main(void)
{
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        int found = one(shapes[k], k % 5);
        if (found) {
            printf("fault %d at shape number %d\\n", found, (int)k);
            return 1;
        }
    }
    puts("well");
    return 0;
}
"""


def compiled(directory: Path, sources: list[Path], options: tuple[str, ...]) -> Path | None:
    """The program, or ``None`` where the compiler has no such options."""
    program = directory / "program"
    command = [*str(CC).split(), *PLAIN, *options, "-o", str(program), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode and "sanitize" in done.stderr and "error:" not in done.stderr:
        return None
    assert done.returncode == 0, done.stderr[:2000]
    return program


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
@pytest.mark.parametrize("number", [0, 2, 5, 7, 11, 19])
def test_a_program_of_its_own(number: int, tmp_path: Path) -> None:
    run_alone(number, tmp_path)


@pytest.mark.campaign
@pytest.mark.skipif(CC is None, reason="there is no C compiler")
@pytest.mark.parametrize("number", range(len(LAYOUTS)))
def test_every_program_of_its_own(number: int, tmp_path: Path) -> None:
    run_alone(number, tmp_path)


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
@pytest.mark.parametrize("number", [5, 7, 9])
def test_a_program_for_this_machine(number: int, tmp_path: Path) -> None:
    """With the vectors and the masks that it has."""
    run_alone(number, tmp_path, vector_bytes(), "-march=native")


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
@pytest.mark.parametrize("number", [7, 9])
def test_a_program_without_vectors(number: int, tmp_path: Path) -> None:
    run_alone(number, tmp_path, 64, "-DNO_VECTORS")


def run_alone(number: int, tmp_path: Path, vector: int = 16, *more: str) -> None:
    text, width = LAYOUTS[number], (1, 2, 4, 8)[number % 4]
    layout = layout_of(text)
    program = generate_c(layout, source=text, certificate=None, widths=(width,), vector=vector)
    words = Spelling(layout)
    names = [f"const int64_t i_{axis.name} = index[{k}];" for k, axis in enumerate(layout.axes)]
    where = offset_expr(layout)
    lines = [*words.unpacked([where, size_expr(layout)]), *names]
    lines += [f"(void)i_{axis.name};" for axis in layout.axes] + ["(void)shape;"]
    lines += [f"(void){line.split()[2]};" for line in words.unpacked([size_expr(layout)])]
    lines.append(f"return {words.text(where)};")
    shapes = [f"{{{', '.join(map(str, shape))}}}" for shape in shapes_of(layout)]
    filled = {
        "STEM": program.stem,
        "OFFSET": "\n    ".join(lines),
        "RANK": str(layout.rank),
        "SHAPES": ", ".join(shapes),
        "WIDTH": str(width),
        "BITS": str(8 * width),
    }
    body = PROGRAM
    for word, value in filled.items():
        body = body.replace(f"@{word}@", value)
    (tmp_path / f"{program.stem}.c").write_text(program.text)
    (tmp_path / f"{program.stem}.h").write_text(program.header)
    (tmp_path / "main.c").write_text(body)
    sources = [tmp_path / f"{program.stem}.c", tmp_path / "main.c"]
    made = compiled(tmp_path, sources, (*SANITIZED, *more, "-Wno-sign-compare"))
    if made is None:
        pytest.skip("the compiler has no sanitizers")
    done = subprocess.run([made], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == ("well\n", 0), done.stdout + done.stderr[:2000]


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_the_header_is_c_and_cplusplus(tmp_path: Path) -> None:
    layout = layout_of(LAYOUTS[0])
    program = generate_c(layout, source=LAYOUTS[0], certificate=None)
    (tmp_path / "nchw16c.h").write_text(program.header)
    (tmp_path / "use.c").write_text('#include "nchw16c.h"\n#include "nchw16c.h"\n')
    for language in ("c", "c++"):
        command = [*str(CC).split(), "-x", language, "-fsyntax-only", "-Wall", "-Werror", "use.c"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        if language == "c++" and "cc1plus" in done.stderr:
            pytest.skip("there is no C++ compiler")
        assert done.returncode == 0, done.stderr


def test_the_same_text_every_time() -> None:
    layout = layout_of(LAYOUTS[7])
    first, second = (generate_c(layout, source="x", certificate=None) for _ in range(2))
    assert first == second
    hostile = generate_c(layout, source="*/ int x; /* \\\n??/", certificate=None).text
    head = hostile.split("\n#include")[0].split("/* Outputs")[0]
    assert head.count("*/") == 1
