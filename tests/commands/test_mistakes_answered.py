"""Mistakes of a first hour, each with the answer: what is wrong, where, and what to write.

Three tables: the language, the command line and Python. `test_mistakes` has the slips of syntax in
full; this file has those that new users made, through the public interface.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_shell import Shell, shell

import layoutdsl
from layoutdsl import LayoutError

__all__ = ["shell"]

A = "layout A(n, c) = "
LANGUAGE: dict[str, tuple[str, str, str]] = {
    # source: (place, message, help)
    f"{A}[n, c/16, c%16": ("1:18", "`[` is not closed", "write `]`, at the latest at the end"),
    "layout A(n c) = [n, c]": ("1:12", "`,` is missing before `c`", "write `,` before it"),
    "Layout A(n, c) = [n, c]": (
        "1:1",
        "expected the end of the text or a statement, found `Layout`",
        "did you mean `layout`?",
    ),
    "def layout A(n, c) = [n, c]": (
        "1:1",
        "`def` is not a keyword of the language",
        "write `layout`",
    ),
    f"{A}(n, c)": ("1:18", "coordinates are listed in brackets", "write `[n, c]`"),
    "layout A[n, c] = [n, c]": ("1:9", "axes are listed in parentheses", "write `(n, c)`"),
    "layout A(N, C) = [N, C]": ("1:10", "the axis `N` is not in lower case", "write `n`"),
    f"{A}[n, c];": ("1:24", "statements are not terminated by `;`", "remove it"),
    "layout A(n, c) -> [n, c]": ("1:16", "the body of a layout follows `=`", "write `=`"),
    "layout A(n, c): [n, c]": ("1:15", "the body of a layout follows `=`", "write `=`"),
    f"{A}[n, c] // comment": ("1:25", "a comment begins with `#`", "write `#`"),
    f"{A}[n, x]": (
        "1:22",
        "`x` is neither an axis nor an extent here",
        "the names in scope are `n`, `c`, `N`, `C`",
    ),
    f"{A}[n, c/B, c%B]": (
        "1:24",
        "`B` is neither an axis nor an extent here",
        "declare it as a parameter, `layout NAME<B>(...)`, or write a number",
    ),
    f"{A}[n, c/n]": (
        "1:24",
        "a divisor may not depend on an index",
        "write a number, the extent `N`, or a parameter of the layout, as in `layout NAME<k>(...)`",
    ),
    f"{A}[n, c << n]": (
        "1:27",
        "the width of a shift may not depend on an index",
        "write a number, the extent `N`, or a parameter of the layout, as in `layout NAME<k>(...)`",
    ),
    f"{A}[n, c/16]": (
        "1:22",
        "the digits of axis `c` leave a gap between 1 and 16",
        "add the remainder as a coordinate, as in `c/16, c%16`",
    ),
    f"{A}[n, c/16, c%8]": (
        "1:22",
        "the digits of axis `c` leave a gap between 8 and 16",
        "write `c%16`, or cut again with `c%16/8`",
    ),
    f"{A}[n, c/64, c/4%4, c%4]": (
        "1:22",
        "the digits of axis `c` leave a gap between 16 and 64",
        "write `c/4%16`",
    ),
    f"{A}n*C + c": (
        "1:18",
        "a layout lists its coordinates in brackets, and the offset follows from them",
        "write the coordinates, as in `[n, c]`, or `[n*C + c]` to keep the formula",
    ),
    f"{A}[n][c/16][c%16]": (
        "1:20",
        "all coordinates are listed in one pair of brackets",
        "write `,` in place of `][`, as in `[n, c/16, c%16]`",
    ),
    f"{A}[n, c/16.0, c%16]": ("1:24", "a number has no fraction", "write a whole number"),
    f"{A}[n, mod(c, 16)]": ("1:22", "there is no function `mod`", "write `c%16`"),
    f"{A}[n, floor(c/16), c%16]": ("1:22", "there is no function `floor`", "write `c/16`"),
    f"{A}NCHW16c(n, c, 0, 0)": (
        "1:25",
        "a layout is applied to an index in brackets",
        "write `[n, c, 0, 0]`",
    ),
    f"{A}[NCHW16c(n, c, 0, 0)]": (
        "1:19",
        "there is no function `NCHW16c`",
        "a layout is applied in brackets: write `NCHW16c[...]`",
    ),
    f"{A}[n, c] of uint8": ("1:28", "there is no element type `uint8`", "write `u8`"),
    f"{A}[n, c] of fp8": (
        "1:28",
        "there is no element type `fp8`",
        "write `f8e4m3` or `f8e5m2`, or `f8` for either",
    ),
    f"{A}[n, c] fill=0": ("1:25", "`fill` is followed directly by its value", "write `fill 0`"),
    f"{A}[n, c] where C % 16 = 0": ("1:38", "a comparison is written `==`", "write `==`"),
    f"{A}[n, c]\nprove B == n*C + c": (
        "2:7",
        "there is no layout `B`",
        "the layouts declared here are `A`; `layoutdsl list` shows the library",
    ),
    "layout Tile(n, c) = [n, c]\nprove Tlie == n*C + c": (
        "2:7",
        "there is no layout `Tlie`",
        "did you mean `Tile`?",
    ),
    f"{A}[n, c]\nprove A fits uint33": (
        "2:14",
        "there is no integer type `uint33`",
        "did you mean `uint32`?",
    ),
    f'{A}einops "n (a b) -> n a b"': (
        "1:31",
        "the sizes of `a` and `b` are both open",
        "add `, b=16`",
    ),
    f'{A}cutlass "(8,8):(8,1)"': (
        "1:18",
        "there is no notation `cutlass`",
        'write `cute`, as in `cute "((4,8),(2,2)):((32,1),(16,8))"`',
    ),
    f'{A}aBcd16b "onednn"': (
        "1:18",
        "there is no notation `aBcd16b`",
        "the two are exchanged: `onednn` is the notation, `aBcd16b` its text",
    ),
    "tile.layout": (
        "1:1",
        "expected the end of the text or a statement, found `tile`",
        "`layoutdsl.load('tile.layout')` reads a file; `parse` takes its text",
    ),
}


@pytest.mark.parametrize("source", LANGUAGE)
def test_the_language(source: str) -> None:
    place, message, hint = LANGUAGE[source]
    with pytest.raises(LayoutError) as caught:
        layoutdsl.parse(source)
    lines = str(caught.value).splitlines()
    assert lines[0].partition("]: ")[2] == message
    assert lines[1] == f" --> <text>:{place}"
    assert lines[-1] == f"  = help: {hint}"


def test_a_condition_on_an_index_is_not_taken_in_silence(shell: Shell) -> None:
    Path("a.layout").write_text(f"{A}[n, c/16, c%16] where c % 16 == 0\n")
    for command in ("check", "prove"):
        told = shell(command, "a.layout").err
        assert "warning[L219]: `where` keeps only some elements along the axis `c`" in told
        assert "help: write `C % 16 == 0`; for these elements alone, write `c%16 in 0..0`" in told


SHELL: dict[str, tuple[int, str, str]] = {
    # command line: (exit code, message, help)
    "prove nosuch.layout": (
        4,
        "`nosuch.layout` cannot be read: no such file or directory",
        "the folder has `demo.layout`, `rules.layout`, `tile.layout`",
    ),
    "prove tiel.layout": (
        4,
        "`tiel.layout` cannot be read: no such file or directory",
        "did you mean `tile.layout`?",
    ),
    "prove nodir/tile.layout": (
        4,
        "`nodir/tile.layout` cannot be read: no such file or directory",
        "there is no folder `nodir`",
    ),
    "pack tile.layout:Tlie in.npy out.npy": (
        2,
        "there is no layout `Tlie` in `tile.layout`",
        "did you mean `Tile`?",
    ),
    "pack tile.layout inn.npy out.npy": (
        4,
        "`inn.npy` cannot be read: no such file or directory",
        "did you mean `in.npy`?",
    ),
    "pack tile.layout in.npy in.npy": (
        4,
        "`in.npy` is the input itself, and is not replaced",
        "write to another file, and move it there afterwards",
    ),
    "pack tile.layout in.npy out.npy --mem 10Q": (
        2,
        "`10Q` in --mem is no amount of memory",
        "write a number of bytes: 65536, 64K, 256M or 1.5G",
    ),
    "show tile.layout --shape 4x33": (
        2,
        "the numbers of --shape are separated by commas",
        "write --shape 4,33",
    ),
    "unpack tile.layout in.npy out.npy": (
        2,
        "--shape is missing",
        "give it one number for each of N, C",
    ),
    "proev tile.layout": (
        2,
        "no such command `proev`",
        "did you mean one of `probe`, `prove`?",
    ),
    "compile tile.layout": (2, "no such command `compile`", "write `layoutdsl generate`"),
    "infer tile.layout": (2, "no such command `infer`", "write `layoutdsl probe`"),
    "formula tile.layout -o x.cuh": (
        2,
        "no such option `-o`",
        "the formula goes to the standard output: `layoutdsl formula ... > FILE`",
    ),
    "prove tile.layout --solver cvc5": (
        2,
        "no such option `--solver`",
        "`layoutdsl recheck --solver cvc5` asks another solver",
    ),
    "generate tile.layout --target cuda": (
        2,
        "invalid value for `--target`: `cuda` is not one of `numpy`, `c`",
        "`layoutdsl formula FILE --as cuda` prints index functions for it",
    ),
    "diff tile.layout cutlass:(8,8):(8,1)": (
        4,
        "there is no file `cutlass:(8,8):(8,1)`, and no notation `cutlass`",
        "write `cute`, as in `cute:((4,8),(2,2)):((32,1),(16,8))`",
    ),
    "diff tile.layout onedn:aBcd16b": (
        4,
        "there is no file `onedn`, and no notation `onedn`",
        "did you mean `onednn`?",
    ),
    "translate tile.layout --to dnnl": (
        2,
        "there is no notation `dnnl`",
        "write `onednn`",
    ),
    "show NCHW16C": (
        2,
        "there is no layout `NCHW16C` in the library",
        "did you mean `NCHW16c`?",
    ),
    "inspect model.pt": (
        2,
        "`model.pt` is a PyTorch checkpoint, which is not read",
        'convert it: `safetensors.torch.save_file(torch.load(PATH), "model.safetensors")`',
    ),
    "plan model.safetensors.index.json --unpack -o plan.json --out out.safetensors": (
        2,
        "`model.safetensors.index.json` is the index of a sharded checkpoint, which is not read",
        "`pack`, `unpack`, `verify` and `inspect` take it as FILE; `plan` takes each .safetensors "
        "file that it lists, with a rules file for its own tensors",
    ),
    "pack model.npz --rules tile.layout -o out.npz": (
        2,
        "`tile.layout` has no rules for tensors",
        'write `tensor "**.weight"(n, k) = [k/64, n, k%64]`',
    ),
    "explain 202": (2, "there is no message with the code `202`", "did you mean `L202`?"),
}


@pytest.mark.parametrize("line", SHELL)
def test_the_command_line(line: str, shell: Shell) -> None:
    Path("tile.layout").write_text("layout Tile(n, c) = [n, c/16, c%16] of u8\n")
    Path("rules.layout").write_text('layout L(n, c) = [n, c/16, c%16]\ntensor "**" = L\n')
    np.save("in.npy", np.zeros((4, 33), "u1"))
    np.savez("model.npz", w=np.zeros((4, 33), "u1"))
    code, message, hint = SHELL[line]
    ended = shell(*line.split(" "))
    assert (ended.code, ended.out) == (code, "")
    assert ended.err == f"error: {message}\n  = help: {hint}\n"


def test_a_code_is_explained_without_markdown(shell: Shell) -> None:
    told = shell("explain", "L202").out
    assert "```" not in told
    assert "Wrong:\n\n    layout Demo(n, c, h, w) = [n, c/16, h, w, c%8]\n" in told
    assert "Right:\n\n    layout Demo(n, c, h, w) = [n, c/16, h, w, c%16]\n" in told
    assert "| --- |" not in shell("explain", "L101").out


U8, U4, BF16 = (layoutdsl.parse(f"{A}[n, c/16, c%16] of {of}")["A"] for of in ("u8", "u4", "bf16"))
TENSOR = np.zeros((4, 33), "u1")


def read_only() -> np.ndarray:
    array = np.zeros((4, 3, 16), "u1")
    array.flags.writeable = False
    return array


def packed(layout: layoutdsl.Layout, *arguments: object, **options: object) -> Callable[[], object]:
    def call() -> object:
        return layoutdsl.compile(layout, "numpy").pack(*arguments, **options)

    return call


PYTHON: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "rank": (
        packed(U8, np.zeros((4, 3, 3), "u1")),
        ValueError,
        "the shape has 3 extents, and 2 are needed",
    ),
    "list": (
        packed(U8, [[1, 2], [3, 4]]),
        TypeError,
        "`src` is a list, not a numpy array: give `np.array(src, dtype=...)`",
    ),
    "objects": (
        packed(U8, np.zeros((4, 33), object)),
        TypeError,
        "`src` has dtype object, whose items have no fixed number of bytes: "
        "convert it with `astype`",
    ),
    "dtype": (
        packed(U8, np.zeros((4, 33), "i8")),
        TypeError,
        "the array has to be of dtype uint8, not int64: convert it with `astype`",
    ),
    "float32 for bf16": (
        packed(BF16, np.zeros((4, 33), "f4")),
        TypeError,
        "the array has to be of dtype uint16, not float32: "
        "give bf16 and f8 as arrays of ml_dtypes, or as their bits in uint16",
    ),
    "20 for u4": (
        packed(U4, np.full((4, 33), 20, "u1")),
        ValueError,
        "20 is outside 0 to 15, the range of the elements",
    ),
    "read-only": (
        packed(U8, TENSOR, out=read_only()),
        ValueError,
        "`out` is read-only: give a writeable array, or leave it out",
    ),
    "fill": (packed(U8, TENSOR, fill=300), ValueError, "`fill` is 300, which uint8 cannot hold"),
    "notation": (
        lambda: layoutdsl.to_notation(U8, "dnnl"),
        ValueError,
        "there is no notation `dnnl`; write `onednn`",
    ),
    "library": (
        lambda: layoutdsl.library("NCHW32c"),
        ValueError,
        "there is no layout `NCHW32c` in the library; did you mean `NCHWc`?",
    ),
    "no rules": (
        lambda: layoutdsl.pack_weights("in.npz", "out.npz", layoutdsl.parse(f"{A}[n, c]")),
        ValueError,
        "`rules` has no rule for tensors; write one, such as "
        '`tensor "**.weight"(n, k) = [k/64, n, k%64]`',
    ),
    "pickle": (
        lambda: layoutdsl.inspect_weights("model.pkl"),
        ValueError,
        "`model.pkl` is a pickle, which is not read; "
        "save the tensors with `numpy.savez` or as .safetensors",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", PYTHON)
def test_python(case: str) -> None:
    call, kind, message = PYTHON[case]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_arguments_are_exchanged() -> None:
    with pytest.raises(LayoutError, match="`onednn` is the notation, `aBcd16b` its text"):
        layoutdsl.from_notation("aBcd16b", "onednn")


def test_a_refuted_layout_shows_its_counterexample() -> None:
    lost = layoutdsl.parse("layout Lost(n, c) = [n, c%4]\nprove Lost")
    report = layoutdsl.prove(lost)
    assert not report
    assert "at shape N=1 C=5\n    (n=0, c=0) -> offset 0\n    (n=0, c=4) -> offset 0" in str(report)


def test_compiled_modules_name_the_layout() -> None:
    pytest.importorskip("cffi")
    try:
        module = layoutdsl.compile(U8, "native")
    except layoutdsl.CompilerError:
        pytest.skip("there is no C compiler")
    with pytest.raises(ValueError, match=r"`src` has shape \(4, 3, 3\), and `A` takes a tensor of"):
        module.pack(np.zeros((4, 3, 3), "u1"))
    missing = r"`shape` is missing: a buffer does not say the extents \(N, C\)"
    with pytest.raises(TypeError, match=missing):
        module.unpack(np.zeros((4, 3, 16), "u1"))
