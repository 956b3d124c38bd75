"""What each verb prints with `--json`, whole: one golden file for a verb."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from shlex import split

import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

SPEC = """\
layout Blocked<k>(n, c) = [n, c/k, c%k] of u4 fill any where k > 1
layout Overlap(n) = [min(n, 2) : N] offset 1
layout Upper(i: N, j: N) = [i + j*(j + 1)/2 : N*(N + 1)/2] where i <= j
layout Chunks(h, w) = [h/2, w/2; h%2, w%2] of bf16 fill zero_point
layout Fixed(n: 4, m: 6) = [n, m]
layout One(n: 1) = [n]
layout Alone() = [0]
layout Marlin(k, n) = [k/8, n, k%2, k%8/2]
layout Inverse(k, n) = [k/8, n, k%4, k%8/4]
layout Offset(n, c) = [n, c] offset 2
layout Pitched(n, c) = [n : 2*C, c]
layout Plain(n, c) = [n, c]
layout Turned(n, c) = [c, n]
layout Least(i: N, j: N) = [min(i*(i + 1)/2 + j, N*(N + 1)/2 - 1) : N*(N + 1)/2] where j <= i
table Slots(c)[s: C] = (c = s)
layout Line(c) = [c]
prove Slots inverts Line
prove Plain == Pitched where N == 1
refute Plain == Offset
"""

TABLE = "layout Never(n) = [n] where N > 3\ntable Even(c)[s: 2*C] = (c = s/2) where C%2 == 0\n"
RECORD = """\
record Block(r, k) = {
    scale(r, b: K/4)   = [r, b, 0 : 5] of u8
    q(r, k) bits 0..3  = [r, k/4, 2 + k%4 : 10] of u6
    q(r, k) bits 4..5  = [r, k/4, 12 + k%4 : 20]
} where K % 4 == 0
record Shared(r, k) = {
    scale(r, b: K/4) = [r, b, 0 : 3] of u8
    q(r, k)          = [r, k/4, 1 + k%4 : 6] of u4
} where K % 4 == 0
"""
WRONG = "layout A(n) = [n,, n]\nlayuot B(n) = [m]\n"

PYTHON = """\
def packed(tensor):
    return tensor.transpose(1, 0).ravel()

def short(tensor):
    return tensor.ravel()[:3]

def same(tensor):
    return tensor.ravel()

def unlucky(tensor):
    raise KeyError("luck")

def lanes(tensor):
    return tensor.reshape(2, 2, 4).transpose(0, 2, 1).ravel()
"""

TEXTS = {
    "check": ("check demo.layout", "check table.layout", "check record.layout", "check -"),
    "prove": (
        "prove my.layout:Overlap my.layout:Plain my.layout:Slots",
        "prove my.layout:Upper --where 'N <= 64'",
        "prove my.layout:Line --write --into mine",
        "prove my.layout:Slots --where ''",
        "prove record.layout:Shared",
    ),
    "recheck": (
        "recheck my.layout:Line --dir mine",
        "recheck my.layout:Plain --dir mine",
    ),
    "cost": (
        "cost NCHW16c --shape 1,20,3,4 --of f32",
        "cost my.layout:Pitched my.layout:Offset --shape 2,3",
        "cost my.layout:Fixed my.layout:One --shape ''",
        "cost my.layout:Chunks --shape 3,3 --of u4",
        "cost NCHW16c --where 'C >= 64'",
        "cost record.layout:Block --shape 1,8",
        "cost record.layout:Block NCHW",
    ),
    "formula": (
        "formula NCHW16c",
        "formula demo.layout:Gaps --as latex",
        "formula demo.layout:Swizzled --as sympy",
        "formula my.layout:Upper",
        "formula my.layout:Overlap",
        "formula NCHW4c --as c --where 'N <= 8, C <= 9, H <= 9, W <= 9'",
        "formula NCHW4c --as triton",
        "formula my.layout:Chunks --as mlir --width 64",
        "formula NCHW16c --as cuda --width 32",
    ),
    "where": (
        "where NCHW16c --shape 2,20,3,4 --index 1,17,2,3",
        "where demo.layout:Crouton --shape 1,3,5,30 --index 0,2,4,29",
        "where my.layout:Chunks --shape 3,3 --index 2,2",
        "where my.layout:Blocked<4> --shape 1,3 --index 0,2",
        "where my.layout:Fixed --index 1,2",
        "where my.layout:Offset --shape 2,3 --index n=1,c=2",
        "where my.layout:Offset --shape 2,3 --index n=1,c=3",
        "where record.layout:Block --shape 1,8 --index q:0,6",
        "where record.layout:Block --shape 1,8 --index q:0,8",
    ),
    "at": (
        "at NCHW16c --shape 2,20,3,4 757",
        "at NCHW16c --shape 2,20,3,4 753",
        "at demo.layout:Gaps --shape 2,3,4 2",
        "at demo.layout:Crouton --shape 1,3,5,30 77",
        "at my.layout:Chunks --shape 3,3 7",
        "at my.layout:Overlap --shape 4 3",
        "at my.layout:Upper --shape 3,3 3",
        "at my.layout:Fixed 7",
        "at my.layout:Slots --shape 6 5",
        "at MaceArgumentTable --shape 6 7",
        "at record.layout:Block --shape 1,8 --byte 2",
        "at record.layout:Block --shape 1,8 --byte 9",
        "at record.layout:Shared --shape 1,4 --byte 0",
        "at my.layout:Fixed 24",
        "at my.layout:Alone 0",
    ),
    "diff": (
        "diff tvm:NCHW16c onednn:aBcd16b",
        "diff HtpNCHW R4NCHWMemoryLayout",
        "diff NCHW16c 'einops:n (co ci) h w -> n co h w ci, ci=16'",
        "diff NCHW16c NHWC",
        "diff my.layout:Marlin my.layout:Inverse",
        "diff NCHW demo.layout:Swizzled",
        "diff my.layout:Plain my.layout:Offset",
        "diff my.layout:Plain my.layout:Pitched",
        "diff my.layout:Upper my.layout:Plain",
        "diff demo.layout:Crouton R4CroutonLayout",
    ),
    "translate": (
        "translate NCHW16c --to all",
        "translate my.layout:Offset --to tvm",
        "translate 'xla:f32[3,5]{0,1:T(8,128)}' --to layout",
    ),
    "identify": (
        "identify onednn:aBcd8b",
        "identify my.layout:Marlin",
    ),
    "probe": (
        "probe mine.py:packed --against my.layout:Plain --shape 2,3",
        "probe mine.py:short --against my.layout:Blocked<4> --shape 2,3",
        "probe mine.py:same --against my.layout:Fixed",
        "probe mine.py:unlucky --against my.layout:Fixed",
        "probe mine.py:lanes --against my.layout:Line --shape 16",
        "probe mine.py:gone --against my.layout:Fixed",
        "probe mine.py:packed --shape N=2,C=3",
        "probe mine.py:unlucky --shape 2,3",
    ),
    "banks": (
        "banks GmmaKSw128 --thread 'm = t, k = 0' --threads 2 --bytes 16",
        "banks NCHW --shape 1,1,2,32 --of f32 --thread 'n = 0, c = 0, h = t, w = 0' --threads 2",
        "banks NCHW --shape 1,1,2,32 --of f32 --thread 'n = 0, c = 0, h = t, w = 0'",
    ),
    "format": (
        "format --check --diff spelt.layout demo.layout",
        "format spelt.layout none.layout",
        "format spelt.layout",
        "format --check my.layout spelt.layout",
        "format -",
        "format",
    ),
    "explain": ("explain L202", "explain nothing"),
    "list": (
        "list --search MaceArgumentTable",
        "list --search R4CroutonLayout",
        "list --search zebra",
    ),
}


@pytest.fixture
def files(shell: Shell) -> Shell:
    texts = {"my.layout": SPEC, "table.layout": TABLE, "record.layout": RECORD, "mine.py": PYTHON}
    texts["spelt.layout"] = "layout A(c)=[c]# a\n"
    for name, text in texts.items():
        Path(name).write_text(text)
    return shell


FEW = ("XlaTile8x128", "LapackPackedUpper", "NCHWc", "XlaRowMajor")


def of_few(out: str) -> str:
    """What is said of a few layouts: a layout that the library gains changes no golden file."""
    found = json.loads(out)
    for kind in ("matches", "undecided", "different"):
        found[kind] = [each for each in found[kind] if each["name"].partition("<")[0] in FEW]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.sampled(9)
@pytest.mark.parametrize("verb", TEXTS)
def test_whole_texts(verb: str, files: Shell, golden: Callable[[str, str], None]) -> None:
    if verb == "recheck":
        files("prove", "my.layout:Line", "--write", "--into", "mine")
    blocks = []  # with nothing in them of how long a proof took, or which it was
    for line in TEXTS[verb]:
        ended = files(*split(line), "--json", stdin=WRONG.encode())
        out = of_few(ended.out) if verb == "identify" else ended.out
        out = re.sub(r'"(seconds|queries|questions)": [0-9.e-]+', r'"\1": 0', out)
        out = re.sub(r"\b\d+ questions?\b", "0 questions", out)
        out = re.sub(r"\b(\d+ ms|\d+\.\d s)(?=\))", "0 ms", out)
        out = re.sub(r'"[0-9a-f]{64}"', '"HASH"', out).replace(str(Path.cwd()), "FOLDER")
        blocks.append(f"$ layoutdsl {line} --json\n{out}exit code {ended.code}\n")
    golden(f"json/{verb}.txt", "\n".join(blocks))
