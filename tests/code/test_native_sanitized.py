"""Emitted C in a program of its own, under sanitizers of addresses and of undefined behaviour.

`native_program.c` works out by the printed formula where each element lies.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from math import prod
from pathlib import Path

import pytest
from cli_shell import Shell, shell
from codegen_cases import layout_of
from native_cases import LAYOUTS, WIDTHS, fixed_extent
from native_fuzz import WAYS as FUZZED
from native_fuzz import Case, faults
from random_digits import Written
from test_native_meaning import shapes_of

import layoutdsl
from layoutdsl import Layout

__all__ = ["shell"]

CC = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
STRICT = ("-std=c11", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")

HARNESS = Path(__file__).parents[1] / "support" / "native_program.c"

WAYS: dict[str, tuple[str, ...]] = {
    "vectors of 16 bytes": (),
    "what Python calls": ("-march=native",),
    "past the cache": ("-march=native", "-DSTREAM_BYTES=1"),
    "no vectors": ("-DLAYOUT_PLAIN",),
}

PAIRS = (
    ("layout A(n, c, h, w) = [n, c/16, h, w, c%16]", "layout B(n, c, h, w) = [n, h, w, c]"),
    ("layout A(n, c, h, w) = [n, c/8, h, w, c%8]", "layout B(n, c, h, w) = [n, c/32, h, w, c%32]"),
    (
        "layout A(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32]",
        "layout B(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2] fill 31",
    ),
    (
        "layout A(n, c, w) = [n, c/4, w : 60, c%4]",
        "layout B(n, c, w) = [w : 70, n, c/8, c%8] offset 3",
    ),
)
"""Buffers that are turned into one another."""


def program(sources: dict[str, str], moves: Sequence[str], side: Layout, shell: Shell) -> str:
    """The text of `native_program.c` for some kernels.

    Args:
        sources: what it includes, by file.
        moves: a row per kernel: its name, width, and the numbers of its sides, 0 for the tensor.
        side: the layout.
        shell: prints where an element of it lies.
    """
    filled = {
        "NAME": ", ".join(sources),
        "INCLUDE": "".join(f'#include "{name}"\n' for name in sources if name.endswith(".h")),
        "DECLARED": "".join(declared(row.split(", ")[0]) for row in moves),
        "MOVES": "".join(f"    {row_text(row)},\n" for row in moves),
        "RANK": str(side.rank),
        "SHAPES": ", ".join(f"{{{', '.join(map(str, each))}}}" for each in shapes_of(side)),
        "FUNCTIONS": functions_of(side, shell),
        "SIDES": "    {side_size, side_start, side_offset},\n",
    }
    text = HARNESS.read_text()
    for word, value in filled.items():
        text = text.replace(f"@{word}@", value)
    return text


def declared(name: str) -> str:
    arrays = "const void *restrict, void *restrict, const int64_t *, const void *"
    return f"int {name}_part({arrays}, int64_t, int64_t);\nint64_t {name}_units(const int64_t *);\n"


def row_text(row: str) -> str:
    name, *numbers = row.split(", ")
    return f'{{"{name}", {", ".join(numbers)}, {name}_part, {name}_units}}'


def functions_of(layout: Layout, shell: Shell) -> str:
    """How many slots a layout has, which is its first, and where an element is.

    Names in what `formula` prints are those of the layout, so another name keeps them apart from
    the functions that are tested.
    """
    spec = Path("side.layout")
    spec.write_text(str(layout).replace(f"layout {layout.name}(", "layout Side("))
    ended = shell("formula", "side.layout:Side", "--as", "c", "--width", "64")
    assert ended.code == 0, ended.err
    numbers = [number for number, axis in enumerate(layout.axes) if fixed_extent(axis) is None]
    first = {layout.axes[number].extent.name: number for number in reversed(numbers)}
    extents = [f"shape[{first[name]}]" for name in layout.symbols]
    index = [f"index[{number}]" for number in range(layout.rank)]
    (start,) = {layout.size(each) - prod(layout.box(each)) for each in shapes_of(layout)}
    given = ", ".join(extents)
    return f"""#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
{ended.out}
#pragma GCC diagnostic pop
static int64_t side_size(const int64_t *shape)
{{
    (void)shape;
    return Side_size({given});
}}

static int64_t side_start(const int64_t *shape)
{{
    (void)shape;
    return {start};
}}

static int64_t side_offset(const int64_t *shape, const int64_t *index)
{{
    (void)shape;
    return Side_offset({", ".join([*index, *extents])});
}}
"""


def built(
    directory: Path, sources: dict[str, str], main: str, options: Sequence[str]
) -> Path | None:
    """The program, or ``None`` where the compiler has no sanitizers."""
    for name, text in {**sources, "main.c": main}.items():
        (directory / name).write_text(text)
    files = [name for name in (*sources, "main.c") if name.endswith(".c")]
    command = [*str(CC).split(), *STRICT, *SANITIZED, *options, "-o", "program", *files]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode and "sanitize" in done.stderr and "error:" not in done.stderr:
        return None
    assert done.returncode == 0, done.stderr[:3000]
    return directory / "program"


def ran(made: Path | None, *plant: str) -> subprocess.CompletedProcess[str]:
    if made is None:
        pytest.skip("the compiler has no sanitizers")
    return subprocess.run([made, *plant], capture_output=True, text=True, timeout=300, check=False)


def assert_well(made: Path | None, moves: int) -> None:
    done = ran(made)
    assert done.returncode == 0, done.stdout + done.stderr[:3000]
    assert done.stdout.startswith(f"{moves} moves of "), done.stdout


def packing(
    number: int, way: str, widths: Sequence[str], shell: Shell, directory: Path
) -> Path | None:
    """Pack and unpack of one layout."""
    text, options = LAYOUTS[number], WAYS[way]
    layout, sizes = layout_of(text), tuple(int(width[1:]) for width in widths)
    made = layoutdsl.generate_c(layout, widths=sizes, validate=False, unproved=True).program
    moves = [
        f"{made.stem}_{verb}_{8 * size}, {size}, {ends}"
        for size in sizes
        for verb, ends in (("pack", "0, 1"), ("unpack", "1, 0"))
    ]
    sources = {f"{made.stem}.c": made.text, f"{made.stem}.h": made.header}
    return built(directory, sources, program(sources, moves, layout, shell), options)


EVERY = [(number, way) for number in range(len(LAYOUTS)) for way in WAYS]
SOME = [(number, way) for number, way in EVERY if list(WAYS)[number % len(WAYS)] == way]
OF_EACH_KIND = (0, 2, 11, 19)
"""Tiles, a comb, runs, and element by element."""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "way"), SOME)
def test_pack_and_unpack(number: int, way: str, shell: Shell, tmp_path: Path) -> None:
    widths = WIDTHS if number in OF_EACH_KIND else (WIDTHS[number % 2], WIDTHS[2 + number % 2])
    assert_well(packing(number, way, widths, shell, tmp_path), 2 * len(widths))


@pytest.mark.campaign
@pytest.mark.parametrize(("number", "way"), EVERY)
def test_pack_and_unpack_at_every_width(
    number: int, way: str, shell: Shell, tmp_path: Path
) -> None:
    assert_well(packing(number, way, WIDTHS, shell, tmp_path), 2 * len(WIDTHS))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_conversions_at_every_width(number: int) -> None:
    layouts = tuple(map(Written, PAIRS[number]))
    shapes = tuple(shapes_of(layouts[0].layout))
    cases = [Case(layouts, "convert", int(width[1:]), shapes) for width in WIDTHS]
    way = list(FUZZED.values())[number % len(FUZZED)]
    assert not [f"{kind}: {case}" for case, kind in faults(cases, way.sanitized.apart)]


PLANTS = {
    "read": "heap-buffer-overflow",
    "write": "heap-buffer-overflow",
    "value": "fault 2 at shape number 0",
    "padding": "fault 3 at shape number 0",
}


@pytest.mark.slow
def test_no_planted_fault_goes_unseen(shell: Shell, tmp_path: Path) -> None:
    """A kernel that reads or writes one byte too many, overflows, or puts an element wrongly."""
    made = packing(0, "vectors of 16 bytes", ("u1", "u4"), shell, tmp_path)
    for plant, words in PLANTS.items():
        done = ran(made, plant)
        assert done.returncode != 0, plant
        assert words in done.stdout + done.stderr, plant
    assert " WRITE of size" in ran(made, "write").stderr.replace("\n", " ")
    assert " READ of size" in ran(made, "read").stderr.replace("\n", " ")


@pytest.mark.slow
def test_the_same_text_every_time() -> None:
    layout = layout_of(LAYOUTS[7])
    first, second = (layoutdsl.generate_c(layout, validate=False).program for _ in range(2))
    assert first == second
    quoted = f"{LAYOUTS[7]}  # */ int x; /* \\??/"
    hostile = layoutdsl.generate_c(layout, source=quoted, validate=False).program.text
    head = hostile[: hostile.index("\n\n")]
    assert head.count("*/") == 1
