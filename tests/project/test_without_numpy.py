"""Where numpy is not installed and no process starts, as in a browser, verbs say the same."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_shell import timeless
from processes import ended

TEXT = """\
layout Block(n, c, h, w) = [n, c/16, h, w, c%16] fill 0
layout Lanes(n, c, h, w) = [n, c/16, h, w, c%4, c/4%4] fill 0
layout Later(n, c, h, w) = [n, c/16, h, w, c%16] offset 8
layout Wide(n, c, h, w) = [n, c/16 : ceil(C/16) + 1, h, w, c%16]
layout Fixed(h: 64, w: 100) = [w, h]
layout Turned(h: 64, w: 100) = [w, h ^ 1]
layout Large(h: 64, w: 3000) = [w, h]
layout LargeTurned(h: 64, w: 3000) = [w, h ^ 1]
prove Block == ((n*ceil(C/16) + c/16)*H*W + h*W + w)*16 + c%16
prove Block == ((n*(C/16) + c/16)*H*W + h*W + w)*16 + c%16
prove Block == Lanes where C <= 4
prove Block == Lanes
prove Block keeps c%16 contiguous
prove Block keeps c%32 contiguous
prove Block fits int16
prove Lanes aligns c%16 to 64 bytes of f32
"""

ASKED = """\
check some.layout
prove some.layout
where NCHW16c --shape 2,20,3,4 --index 1,17,2,3
at NCHW16c --shape 2,20,3,4 760
show NCHW4c --shape 1,6,2,3
show NCHW4c --shape 1,6,2,3 --as html
banks GmmaKSw128 --thread m=t%8,k=t/8 --of f32
formula NCHW16c
formula NCHW16c --as cuda
formula NCHW16c --as latex
cost NCHW16c
cost Q6_K
prove Q6_K
prove MmaRow
diff NCHW16c onednn:aBcd16b
diff HtpNCHW R4NCHWMemoryLayout
diff NCHW16c NCHW4c
diff some.layout:Block some.layout:Lanes
diff some.layout:Block some.layout:Later
diff some.layout:Block some.layout:Wide
diff some.layout:Fixed some.layout:Turned
identify NHWC
translate NCHW16c --to tvm
translate NCHW16c --to all
translate XlaTile2x2 --to xla
explain L202
list --search swizzle
format some.layout --check
print some.layout
generate NCHW16c
generate some.layout:Lanes
generate NCHW16c --target c
recheck NCHW16c
"""

NEEDS = ["tour", "pack NCHW16c in.npy out.npy", "probe some.py:pack --shape 1,2", "bench"]
"""What moves data or calls functions that do."""

PROGRAM = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout

asked, without = json.loads(sys.stdin.read())
if without:
    class NoNumpy:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "numpy":
                raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    sys.meta_path.insert(0, NoNumpy())
    sys.platform = "emscripten"  # Python's own modules then know that no process can be started
    import threading

    def start(_):
        raise RuntimeError("can't start new thread")

    threading.Thread.start = start

from layoutdsl.shell.shell import run

found = []
for words in asked:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(words)
    found.append([int(code), out.getvalue(), err.getvalue()])
json.dump([found, "numpy" in sys.modules], sys.stdout)
"""


def said(asked: list[list[str]], folder: Path, *, without: bool) -> list[list[Any]]:
    """What each command line gives, all of them in one process."""
    question = folder / "asked.json"
    question.write_text(json.dumps([asked, without]))
    unmeasured = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}
    with question.open() as stdin:
        done = ended([sys.executable, "-c", PROGRAM], cwd=folder, stdin=stdin, env=unmeasured)
    assert done.returncode == 0, done.stderr
    found, has_numpy = json.loads(done.stdout)
    assert not (without and has_numpy)
    return [[code, timeless(out), timeless(err)] for code, out, err in found]


@pytest.mark.slow
def test_verbs_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "some.layout").write_text(TEXT)
    lines = ASKED.splitlines()
    asked = [each.split() for each in lines]
    usual, here = (said(asked, tmp_path, without=each) for each in (False, True))
    for line, one, other in zip(lines, usual, here, strict=True):
        assert other == one, line
        assert one[0] in (0, 1, 3), (line, one)


@pytest.mark.slow
def test_of_large_shapes_only_hints_are_lost(tmp_path: Path) -> None:
    (tmp_path / "some.layout").write_text(TEXT)
    asked = [["diff", "some.layout:Large", "some.layout:LargeTurned"]]
    (usual,), (here,) = (said(asked, tmp_path, without=each) for each in (False, True))
    lines = [each for each in usual[1].splitlines() if not each.startswith("  = hint")]
    assert here == [1, "\n".join([*lines, ""]), ""]
    assert len(lines) < len(usual[1].splitlines())


@pytest.mark.slow
def test_what_needs_numpy_says_so(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text("def pack(tensor):\n    return tensor\n")
    for code, _, error in said([each.split() for each in NEEDS], tmp_path, without=True):
        assert (code, error.splitlines()[-2:]) == (
            2,
            ["error: this needs numpy, which is not installed", "  = help: pip install numpy"],
        )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("recheck NCHW16c --solver cvc5", "cvc5 is asked in a process of its own, and none can be"),
        ("recheck NCHW16c --solver both", "cvc5 is asked in a process of its own, and none can be"),
    ],
)
def test_what_needs_a_process_says_so(line: str, words: str, tmp_path: Path) -> None:
    ((code, out, error),) = said([line.split()], tmp_path, without=True)
    assert (code, out) == (3, "")
    assert words in error
    assert "ask z3" in error
