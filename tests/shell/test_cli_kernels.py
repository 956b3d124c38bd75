"""`formula --as c`, `opencl`, `cuda`, `triton` and `mlir` in the shell."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from shutil import which

import pytest
from cli_shell import Shell, shell

from layoutdsl import parse

__all__ = ["shell"]

RANGE = ("--where", "N <= 64, C <= 4096, H <= 64, W <= 64")

HEAD = """\
/* NCHW4c(n, c, h, w): where an element lies, in elements.

   Proved where N <= 64, C <= 4096, H <= 64, W <= 64: every value on the way is of type
   unsigned int, and none is negative that is divided.
   To be called within that range only, with extents of at least 1, an index of the shape, a
   slot of the buffer.
   Proof of the integers: HASH
   Proof of the layout:   HASH */
__host__ __device__ __forceinline__ unsigned int NCHW4c_offset(unsigned int n, unsigned int c, \
unsigned int h, unsigned int w, unsigned int N, unsigned int C, unsigned int H, unsigned int W)
{
    return (((n*((C - 1)/4 + 1) + c/4)*H + h)*W + w)*4 + c%4;
}

"""


def test_functions_for_kernels(shell: Shell) -> None:
    ended = shell("formula", "NCHW4c", "--as", "cuda", *RANGE)
    assert (ended.code, ended.err) == (0, "")
    assert re.sub("[0-9a-f]{64}", "HASH", ended.out).startswith(HEAD)
    again = shell("formula", "NCHW4c", "--as", "cuda", *RANGE, "--width", "32")
    assert again.out == ended.out


LINES = {
    ("c", "32"): "static inline int32_t NCHW4c_size(int32_t N, int32_t C, int32_t H, int32_t W)",
    ("c", "64"): "static inline int64_t NCHW4c_size(int64_t N, int64_t C, int64_t H, int64_t W)",
    ("opencl", "32"): "static inline uint NCHW4c_size(uint N, uint C, uint H, uint W)",
    ("opencl", "64"): "    return (((n*((C - 1)/4 + 1) + c/4)*H + h)*W + w)*4 + c%4;",
    ("triton", "32"): "    return (((n*((C - 1)//4 + 1) + c//4)*H + h)*W + w)*4 + c%4",
    ("triton", "64"): "    C = tl.cast(C, tl.int64)",
    ("mlir", "32"): "func.func @NCHW4c_size(%N: i32, %C: i32, %H: i32, %W: i32) -> i32 {",
    ("mlir", "64"): (
        "#NCHW4c_offset = affine_map<(d0, d1, d2, d3)[s0, s1, s2, s3] -> ((((d0 * (s1 ceildiv 4) "
        "+ d1 floordiv 4) * s2 + d2) * s3 + d3) * 4 + d1 mod 4)>"
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("language", "width"), LINES)
def test_every_language_has_its_own_words(shell: Shell, language: str, width: str) -> None:
    ended = shell("formula", "NCHW4c", "--as", language, *RANGE, "--width", width)
    assert (ended.code, ended.err) == (0, "")
    assert LINES[language, width] in ended.out.splitlines()


def test_without_a_range_the_text_says_how_far_it_goes(shell: Shell) -> None:
    ended = shell("formula", "NCHW4c", "--as", "c")
    assert ended.code == 0
    range_ = "N <= 32768, C <= 32768, H <= 32768, W <= 32768"
    assert f"   Proved where {range_}: " in ended.out
    assert ended.err == (
        "note: 64 bits, as 32 were not proved to be enough: the range gives `N` no largest value\n"
        f"note: proved where {range_}; --where gives another range\n"
    )


def test_32_bits_that_are_not_enough_are_refuted(shell: Shell) -> None:
    ended = shell("formula", "NCHW4c", "--as", "c", "--width", "32", "--where", "N <= 4")
    assert (ended.code, ended.out) == (1, "")
    said = ended.err.splitlines()
    assert said[0] == "refuted: an offset of `NCHW4c` does not fit int32"
    assert said[-2:] == [
        "error: 32 bits are too narrow for the index functions of `NCHW4c`",
        '  = help: narrow the range of shapes, as --where "C <= 4096", or leave --width out',
    ]
    replay = next(line for line in said if "replay" in line).partition("layoutdsl ")[2]
    offset = json.loads(shell(*replay.split(), "--json").out)["offset"]
    assert offset > 2**31 - 1


def test_64_bits_that_are_not_enough_are_refuted(shell: Shell) -> None:
    huge = "N <= 99999, C <= 9999999, H <= 9999999, W <= 9999999"
    ended = shell("formula", "NCHW4c", "--as", "opencl", "--where", huge)
    assert (ended.code, ended.out) == (1, "")
    assert "error: 64 bits are too narrow for the index functions of `NCHW4c`\n" in ended.err


def test_what_is_not_decided_is_not_written(shell: Shell) -> None:
    Path("odd.layout").write_text("layout Odd(c) = [c - min(c, 3) + min(c, 3) : C]\n")
    ended = shell("formula", "odd.layout", "--as", "c", "--unproved")
    assert (ended.code, ended.out) == (3, "")
    assert "`min(c, 3)` is outside what proofs can say" in ended.err
    said = "error: 64 bits are not proved to be enough for the index functions of `Odd`"
    assert ended.err.splitlines()[-2] == said


def test_a_refuted_layout_has_no_functions(shell: Shell) -> None:
    Path("bad.layout").write_text("layout Bad(n, c) = [n, c%4] where C < 99")
    ended = shell("formula", "bad.layout", "--as", "mlir")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith("error: `Bad` is refuted, so no code is generated\n")
    assert shell("formula", "bad.layout").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--where", "N <= 4"), "--where is for functions, and python has integers of any size"),
        (
            ("--as", "latex", "--width", "32"),
            "--width is for functions, and latex has integers of any size",
        ),
        (("--as", "c", "--where", " "), "--where is empty"),
        (
            ("--as", "c", "--where", "N < 1"),
            "no shape was found at which `NCHW4c` holds an element",
        ),
    ],
)
def test_what_is_asked_wrongly(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    ended = shell("formula", "NCHW4c", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[0] == f"error: {message}"


def test_a_range_with_a_fault_in_it(shell: Shell) -> None:
    ended = shell("formula", "NCHW4c", "--as", "c", "--where", "Q <= 4")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error[L")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("language", ["c", "opencl", "cuda", "triton", "mlir"])
def test_functions_as_json(shell: Shell, language: str) -> None:
    found = json.loads(shell("formula", "NCHW4c", "--as", language, *RANGE, "--json").out)
    text = shell("formula", "NCHW4c", "--as", language, *RANGE).out
    assert found["text"] == text
    assert found["where"] == ["N <= 64", "C <= 4096", "H <= 64", "W <= 64"]
    assert found["integers"] == ("uint32" if language in ("opencl", "cuda") else "int32")
    assert found["certificate"] in text
    if language != "mlir":
        assert found["offset"] in text
        assert found["inverse"]["index"]["c"] == "_v1*4 + _v4"
        assert (
            found["padded_extents"]["c"]
            == f"4*((C - 1){'//' if language == 'triton' else '/'}4 + 1)"
        )


WORDS = """\
layout Plain(int, offset, holds, half, class) = [int, holds/16, offset, holds%16, half, class]
layout Xor(int, holds: 4) = [int, holds ^ int%4]
layout int64_t(int, int64_t, int_, min, tl) = [int, int64_t, int_, min, tl]
layout Upper(signed, uint4, kernel) = [signed, uint4/2, kernel, uint4%2] offset 3
"""
LAYOUTS = parse(WORDS)


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.skipif(which("cc") is None or which("c++") is None, reason="no C compiler")
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("language", ["c", "opencl", "cuda"])
def test_names_that_mean_something_else(shell: Shell, name: str, language: str) -> None:
    Path("words.layout").write_text(WORDS)
    ended = shell("formula", f"words.layout:{name}", "--as", language)
    assert ended.code == 0
    reserved = {
        "opencl": "#include <stdbool.h>\ntypedef unsigned int uint;\ntypedef unsigned long ulong;\n"
        "typedef int uint4;\n#define kernel (\n#define half (\n",
        "cuda": "#define __host__\n#define __device__\n#define __forceinline__ inline\n"
        "#define uint4 (\n",
        "c": "",
    }
    suffix, compiler = (".cpp", "c++") if language == "cuda" else (".c", "cc")
    Path(f"sheet{suffix}").write_text(reserved[language] + ended.out)
    command = [compiler, "-c", "-Werror", f"sheet{suffix}", "-o", "sheet.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
