"""`diff`, `translate`, `identify` and `probe` in the shell: whole texts, exit codes, JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

EINOPS = "einops:n (co ci) h w -> n co h w ci, ci=16"

DIFF = [
    (("tvm:NCHW16c", "onednn:aBcd16b"), 0, """\
equal  `tvm:NCHW16c` and `onednn:aBcd16b`, for all shapes  (TIME)
  = axes: n = a, c = b, h = c, w = d, by position
"""),
    (("HtpNCHW", "R4NCHWMemoryLayout"), 1, """\
different  `HtpNCHW` and `R4NCHWMemoryLayout`  (TIME)
  at shape B=1 H=2 W=2 D=1
    (b=0, h=0, w=1, d=0) -> offset 1 in `HtpNCHW`, 2 in `R4NCHWMemoryLayout`
  equal where H == 1; or where W == 1; they differ at every other shape that was tried
  = hint: axes are exchanged: equal with --axes h=w,w=h, proved for all shapes
  = hint: the coordinates `h` and `w` changed places
  = replay: layoutdsl where HtpNCHW --shape 1,2,2,1 --index 0,0,1,0
  = replay: layoutdsl where R4NCHWMemoryLayout --shape 1,2,2,1 --index 0,0,1,0
  = axes: b, h, w, d, by name
"""),
    (("HtpNCHW", "R4NCHWMemoryLayout", "--axes", "h=w,w=h"), 0, """\
equal  `HtpNCHW` and `R4NCHWMemoryLayout`, for all shapes  (TIME)
  = axes: b, h = w, w = h, d, as given
"""),
    (("NCHW16c", EINOPS), 0, f"""\
equal where C%16 == 0  `NCHW16c` and `{EINOPS}`  (TIME)
  at other shapes, only one of them is defined
  = note: padding holds 0 in `NCHW16c`, padding holds no particular value in `{EINOPS}`
  = axes: n, c, h, w, by name
"""),
    (("NCHW16c", "NHWC"), 1, """\
equal where C == 16; or where C%16 == 0, H == 1, W == 1  `NCHW16c` and `NHWC`  (TIME)
  they differ at every other shape that was tried
  at shape N=1 C=1 H=1 W=1
    buffers of 16 and 1 elements
  = axes: n, c, h, w, by name
"""),
    (("lanes.layout:Marlin", "lanes.layout:Inverse"), 1, """\
different  `lanes.layout:Marlin` and `lanes.layout:Inverse`  (TIME)
  at shape K=2 N=1
    (k=1, n=0) -> offset 4 in `lanes.layout:Marlin`, 2 in `lanes.layout:Inverse`
  equal where K == 1; they differ at every other shape that was tried
  = hint: an interleave is inverted: each 8 elements along `k` lie as [0, 2, 4, 6, 1, 3, 5, 7] \
in `lanes.layout:Marlin`, [0, 4, 1, 5, 2, 6, 3, 7] in `lanes.layout:Inverse`, its inverse, proved \
where 8 divides the extent
  = replay: layoutdsl where lanes.layout:Marlin --shape 2,1 --index 1,0
  = replay: layoutdsl where lanes.layout:Inverse --shape 2,1 --index 1,0
  = axes: k, n, by name
"""),
    (("NCHW", "demo.layout:Swizzled"), 1, """\
different  `NCHW` and `demo.layout:Swizzled`: they have 4 and 2 axes  (TIME)
"""),
]  # fmt: skip

LANES = """\
layout Marlin(k, n) = [k/8, n, k%2, k%8/2]
layout Inverse(k, n) = [k/8, n, k%4, k%8/4]
"""


@pytest.fixture
def files(shell: Shell) -> Shell:
    Path("lanes.layout").write_text(LANES)
    Path("mine.py").write_text(MINE)
    Path("broken.py").write_text("print('hello')\nraise SystemExit('not today')\n")
    return shell


@pytest.mark.parametrize(("arguments", "code", "text"), DIFF)
def test_diff(files: Shell, arguments: tuple[str, ...], code: int, text: str) -> None:
    ended = files("diff", *arguments)
    assert re.sub(r"\((\d+ questions?, )?[\d.]+ m?s\)", "(TIME)", ended.out) == text
    assert (ended.code, ended.err) == (code, "")


def test_diff_json(files: Shell) -> None:
    found = json.loads(files("diff", "HtpNCHW", "R4NCHWMemoryLayout", "--json").out)
    assert (found["status"], found["same"]) == ("different", False)
    assert found["mismatch"] == {
        "shape": {"B": 1, "H": 2, "W": 2, "D": 1},
        "index": {"b": 0, "h": 0, "w": 1, "d": 0},
        "offsets": [1, 2],
        "sizes": [4, 4],
    }
    assert [each["kind"] for each in found["hints"]] == ["axes", "coordinates"]
    assert found["hints"][0]["axes"] == "h=w,w=h"
    assert [each["where"] for each in found["agreements"]] == [["H == 1"], ["W == 1"]]
    assert found["axes"]["how"] == "name"
    equal = json.loads(files("diff", "NCHW", "tvm:NCHW", "--json").out)
    assert (equal["status"], equal["same"]) == ("equal", True)
    assert equal["certificate"]
    assert equal.keys() == found.keys()


@pytest.mark.slow
def test_undecided_is_no_pass(files: Shell) -> None:
    """The two are equal, as `i*i` and `i%2` are both odd or both even; no rule knows that."""
    Path("squares.layout").write_text(
        "layout One(i, j: 2) = [i*i/4%1000003, j]\n"
        "layout Two(i, j: 2) = [(i*i - i%2)/4%1000003, j]\n"
    )
    both = ("squares.layout:One", "squares.layout:Two")
    ended = files("diff", *both)
    assert ended.code == 3
    reason = "no proof was found: the two sides have different normal forms"
    assert ended.out.splitlines()[1] == f"  {reason}"
    found = json.loads(files("diff", *both, "--json").out)
    assert (found["status"], found["reason"]) == ("undecided", reason)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("diff", "NCHW"), "missing argument `B`"),
        (("diff", "NCHW", "NCWH"), "there is no layout `NCWH` in the library"),
        (("diff", "NCHW", "NHWC", "--axes", "n=q"),
         "the second layout has no axis `q`; it has n, c, h, w"),
        (("translate", "NCHW"), "missing option `--to`"),
        (("translate", "NCHW", "--to", "tmv"),
         "there is no notation `tmv`"),
        (("identify",), "missing argument `A`"),
        (("probe", "mine.py", "--against", "NCHW", "--shape", "1,2,3,4"),
         "`mine.py` names no function of a module"),
        (("probe", "mine.py:pakc", "--against", "NCHW", "--shape", "1,2,3,4"),
         "`mine.py` has no `pakc`"),
        (("probe", "mine.py:NUMBER", "--against", "NCHW", "--shape", "1,2,3,4"),
         "`mine.py:NUMBER` is a int, and no function"),
        (("probe", "mine.py:pack", "--against", "NCHW16c", "--shape", "1,2"),
         "layout `NCHW16c` has extents (N, C, H, W); 2 were given"),
        (("probe", "mine.py:pack", "--against", "NCHW16c", "--shape", "1,2,3,4", "--dtype", "U1"),
         "`U1` is no type of integers or floats"),
    ],
)  # fmt: skip
def test_misuse(files: Shell, arguments: tuple[str, ...], message: str) -> None:
    ended = files(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert f"error: {message}" in ended.err.splitlines()


def test_nothing_is_imported_for_a_shape_that_does_not_fit(files: Shell) -> None:
    ended = files("probe", "mine.py:pack", "--against", "NCHW16c", "--shape", "0,1,1,1")
    assert ended.code == 2
    assert "imported" not in ended.err


def test_translate(files: Shell) -> None:
    assert files("translate", "onednn:aBcd16b", "--to", "tvm").out == "ABCD16b\n"
    ours = files("translate", "onednn:aBcd16b", "--to", "layout").out
    assert ours == "layout onednn_aBcd16b(a, b, c, d) = [a, b/16, c, d, b%16]\n"
    Path("again.layout").write_text(ours)
    assert files("diff", "again.layout", "onednn:aBcd16b").code == 0
    noted = "xla:f32[300,500]{0,1:T(8,128)S(1)}"
    assert files("translate", noted, "--to", "xla").out == noted.partition(":")[2] + "\n"
    refused = files("translate", "R4CroutonLayout", "--to", "onednn")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        "error: `R4CroutonLayout` cannot be written in onednn: its padding holds 31\n"
    )


def test_translate_to_all(files: Shell) -> None:
    ended = files("translate", "NCHW16c", "--to", "all")
    assert ended.code == 0
    words = {line.split()[0]: line for line in ended.out.splitlines() if line[0] != " "}
    assert words["onednn"] == "onednn       nChw16c"
    assert words["tvm"] == "tvm          NCHW16c"
    assert words["mace"] == "mace         - it is none of the documented images"
    width = max(map(len, words))
    for name, line in words.items():
        assert re.match(rf"{name} {{{width - len(name) + 2}}}\S", line)
    found = json.loads(files("translate", "NCHW16c", "--to", "all", "--json").out)
    assert [each["notation"] for each in found["translations"]] == list(words)
    for each in found["translations"]:
        assert (each["text"] is None) is (each["reason"] is not None)
        assert each["proved"] is (each["text"] is not None)


def test_names_that_speak_against_their_places_are_told(files: Shell) -> None:
    ended = files("diff", "NCHW", "R4FlatMemoryLayout")
    assert ended.out.endswith(
        "  = axes: n = b, c = h, h = w, w = d, by position, though both have `h`, `w`\n"
    )


@pytest.mark.slow
def test_identify(files: Shell) -> None:
    Path("same.layout").write_text("layout Mine(a, b, c, d) = [a, b, c/8, d/8, b%1; c%8, d%8]")
    ended = files("identify", "onednn:acdb")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "`onednn:acdb` is"
    assert re.fullmatch("  equal {8}`NHWC` +for all shapes", lines[1])
    assert any(re.fullmatch("  equal where  `NCHW16c` +B == 16", line) for line in lines)
    Path("odd.layout").write_text("layout Odd(a) = [a%7, a/7%11, a/77%13, a/1001]")
    none = files("identify", "odd.layout")
    assert none.code == 1
    assert "  equal" not in none.out
    found = json.loads(files("identify", "lanes.layout:Marlin", "--json").out)
    assert found["layout"] == "Marlin"
    assert not any(each["everywhere"] for each in found["matches"])


MINE = """\
import numpy as np

NUMBER = 3
print("imported")

def pack(x):
    print("called")
    n, c, h, w = x.shape
    wide = np.pad(x, ((0, 0), (0, -c % 16), (0, 0), (0, 0)))
    return wide.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2)

def swapped(x):
    return pack(x.transpose(0, 1, 3, 2))

def unlucky(x):
    raise KeyError("luck")

class Packing:
    pack = staticmethod(pack)
"""


@pytest.mark.parametrize("name", ["mine.py:pack", "./mine.py:Packing.pack", "mine:pack"])
def test_probe(files: Shell, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    monkeypatch.delitem(__import__("sys").modules, "mine", raising=False)
    ended = files("probe", name, "--against", "NCHW16c", "--shape", "1,20,3,4")
    assert ended.code == 0
    assert ended.out == (
        f"same  `{name}` does what `NCHW16c` says, at shape N=1 C=20 H=3 W=4  (6 calls)\n"
        "  = note: slots that no element reaches hold 0\n"
    )
    assert set(ended.err.split()) == {"imported", "called"}


def test_probe_says_what_is_wrong(files: Shell) -> None:
    arguments = ("--against", "onednn:nChw16c", "--shape", "1,20,3,4")
    ended = files("probe", "mine.py:swapped", *arguments)
    assert ended.code == 1
    assert (
        ended.out
        == """\
different  `mine.py:swapped` does not do what `onednn:nChw16c` says, at shape N=1 C=20 H=3 W=4  \
(6 calls)
  element (n=0, c=0, h=0, w=1) goes to offset 48, and not to offset 16, where there is element \
(n=0, c=0, h=1, w=0)
  so do 199 others of 240 elements
  = hint: axes are exchanged: the function takes w for h, h for w
  = note: slots that no element reaches hold 0
"""
    )
    found = json.loads(files("probe", "mine.py:swapped", *arguments, "--json").out)
    assert (found["status"], found["wrong"], found["calls"]) == ("different", 200, 6)
    assert found["faults"][0]["offsets"] == [16, 48]
    assert found["hints"][0]["kind"] == "axes"


def test_an_error_of_the_function_is_its_own(files: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("probe", "mine.py:unlucky", "--against", "NCHW16c", "--shape", "1,20,3,4")
    ended = files(*arguments)
    assert ended.code == 1
    assert "  it raises KeyError: 'luck' (" in ended.out
    assert "Traceback" not in ended.err
    monkeypatch.setenv("LAYOUTDSL_DEBUG", "1")
    assert "Traceback" in files(*arguments).err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken.py:pack", "`broken.py` cannot be imported: SystemExit: not today"),
        ("gone.py:pack", "`gone.py` cannot be read: there is no such file"),
        ("no.such.package:pack",
         "`no.such.package` cannot be imported: ModuleNotFoundError: No module named 'no'"),
    ],
)  # fmt: skip
def test_a_module_that_cannot_be_imported(files: Shell, name: str, message: str) -> None:
    ended = files("probe", name, "--against", "NCHW16c", "--shape", "1,20,3,4")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.splitlines()[-1] == f"error: {message}"


def test_help_says_that_code_is_run(files: Shell) -> None:
    assert "THE FUNCTION IS RUN" in files("probe", "--help").out
    assert "exit code" in files("diff", "--help").out
