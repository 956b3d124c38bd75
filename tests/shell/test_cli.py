"""The shell: exit codes, whole messages, standard input, JSON. Verdicts are in `test_cli_prove`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_shell import DEMO, Shell, shell
from processes import running

import layoutdsl

__all__ = ["shell"]

WHERE = """\
`NCHW16c` at shape N=2 C=20 H=3 W=4
(n=1, c=17, h=2, w=3) -> offset 753

  coordinate      value  extent  stride  amount
  n                   1       2     384     384
  c/16        17/16 = 1       2     192     192
  h                   2       3      64     128
  w                   3       4      16      48
  c%16        17%16 = 1      16       1       1
  sum                                       753
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("where", "NCHW16c", "--shape", "2,20,3,4", "--index", "1,17,2,3"),
        ("where", "demo.layout:NCHW16c", "--shape", "2,20,3,4", "--index", "1,17,2,3"),
        ("where", "./demo.layout:NCHW16c", "--shape", "2, 20,3,4", "--index", "1,17,2,3"),
        ("where", "NCHW16c", "--shape", "N=2,C=20,H=3,W=4", "--index", "n=1,c=17,h=2,w=3"),
        ("where", "NCHW16c", "--shape", "w=4,h=3,C=20,N=2", "--index", "w=3, h=2, c=17, n=1"),
        ("where", "-:NCHW16c", "--shape", "2,20,3,4", "--index", "1,17,2,3"),
    ],
)
def test_where(shell: Shell, arguments: tuple[str, ...]) -> None:
    ended = shell(*arguments, stdin=DEMO.encode())
    assert (ended.code, ended.out, ended.err) == (0, WHERE, "")


def test_a_parameter_is_given_by_name_or_in_the_shape(shell: Shell) -> None:
    given = shell("where", "NCHWc<16>", "--shape", "2,20,3,4", "--index", "1,17,2,3", "--json")
    assert json.loads(given.out)["offset"] == 753
    last = shell("where", "NCHWc", "--shape", "2,20,3,4,16", "--index", "1,17,2,3", "--json")
    assert json.loads(last.out)["offset"] == 753


def test_a_path_that_exists_wins(shell: Shell) -> None:
    Path("NCHW4c").write_text("layout Mine(c) = [c]")
    Path("odd:name").write_text("layout Odd(c) = [c]")
    assert shell("where", "NCHW4c", "--shape", "3", "--index", "2").out.startswith("`Mine`")
    assert shell("where", "odd:name", "--shape", "3", "--index", "2").out.startswith("`Odd`")
    assert shell("where", "odd:name:Odd", "--shape", "3", "--index", "2").code == 0


def test_at_says_padding(shell: Shell) -> None:
    ended = shell("at", "NCHW16c", "--shape", "2,20,3,4", "757")
    assert ended.code == 0
    assert ended.out.splitlines()[1] == (
        "offset 757 is padding, filled with 0: c = 21 is not below C = 20"
    )


def test_show(shell: Shell) -> None:
    ended = shell("show", "demo.layout:Swizzled", "--shape", "2,4")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "`Swizzled` at shape H=2: 8 slots, 8 elements\n"
        "\n"
        "offset |   0   1   2   3   4   5   6   7\n"
        "     0 | 0,0 0,1 0,2 0,3 1,1 1,0 1,3 1,2\n"
        "\n"
        "cells: h, w\n"
        "columns: h, w ^ h%4\n"
    )


@pytest.mark.parametrize(
    ("variables", "colours"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, False),
    ],
)
def test_colours(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], colours: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ended = shell("show", "NCHW4c", "--shape", "1,6,2,3")
    assert ("\x1b[" in ended.out) is colours
    assert ("\x1b[" in shell("no-such-verb").err) is colours


USAGE = [
    (("where",), "missing argument `FILE:NAME`", "see `layoutdsl where --help`"),
    (("wher",), "no such command `wher`", "did you mean `where`?"),
    (("where", "X", "--bogus"), "no such option `--bogus`", "see `layoutdsl where --help`"),
    (
        ("where", "NCHW16", "--shape", "1", "--index", "1"),
        "there is no layout `NCHW16` in the library",
        "did you mean `NCHW16c`?",
    ),
    (
        ("where", "Zzzz", "--shape", "1", "--index", "1"),
        "there is no layout `Zzzz` in the library",
        "`layoutdsl list` names them all; a file is named by its path",
    ),
    (
        ("where", "demo.layout:Cruton", "--shape", "1", "--index", "1"),
        "there is no layout `Cruton` in `demo.layout`",
        "did you mean `Crouton`?",
    ),
    (
        ("where", "demo.layout", "--shape", "1", "--index", "1"),
        "`demo.layout` has `NCHW16c`, `Crouton`, `Gaps`, `Swizzled`, `Manual`; one is needed",
        "write `demo.layout:NAME`",
    ),
    (
        ("where", "NCHW16c", "--shape", "2,20,x,4", "--index", "1"),
        "`x` in --shape is not an integer",
        "write one number for each of N, C, H, W",
    ),
    (
        ("where", "NCHW16c", "--shape", "2,20,3,4", "--index", "1 17 2 3"),
        "the numbers of --index are separated by commas",
        "write --index 1,17,2,3",
    ),
    (
        ("where", "NCHW16c", "--shape", f"2,{10**40},3,4", "--index", "0,0,0,0"),
        f"`{10**39}` in --shape is too large",
        "a number has 40 digits at most",
    ),
    (
        ("prove", ""),
        "a name is missing: of a file, or of a layout of the library",
        None,
    ),
    (
        ("prove", ":NCHW16c"),
        "a file is missing before `:NCHW16c`",
        "write `NCHW16c` for a layout of the library",
    ),
    (("prove", ":"), "a file is missing before `:`", None),
    (
        ("prove", "demo.layout:"),
        "a name is missing after `demo.layout:`",
        "write `demo.layout:NAME`",
    ),
    (
        ("where", "NCHWc", "--shape", "1,1,1,1,0", "--index", "0,0,0,0"),
        "parameter `k` of layout `NCHWc` is 0, must be >= 1",
        None,
    ),
    (
        ("where", "NCHW16c", "--shape", "N=2,20", "--index", "1"),
        "--shape names some numbers, and not `20`",
        None,
    ),
    (
        ("where", "NCHW16c", "--shape", "N=2,N=3", "--index", "1"),
        "--shape names `N` twice",
        None,
    ),
    (
        ("where", "NCHW16c", "--shape", "2,20,3", "--index", "1"),
        "layout `NCHW16c` has extents (N, C, H, W); 3 were given",
        None,
    ),
    (
        ("where", "NCHW16c", "--shape", "2,20,3,4", "--index", "1,27,2,3"),
        "index c=27 is outside 0..19",
        None,
    ),
    (
        ("where", "NCHW16c", "--shape", "2,0,3,4", "--index", "1,27,2,3"),
        "extent `C` of layout `NCHW16c` is 0, must be >= 1",
        None,
    ),
    (
        ("at", "NCHW16c", "--shape", "2,20,3,4", "9999"),
        "slot 9999 is outside the buffer of 768 elements",
        None,
    ),
    (
        ("at", "NCHW16c", "--shape", "2,20,3,4", "x"),
        "invalid value for `OFFSET`: `x` is not a valid integer",
        "see `layoutdsl at --help`",
    ),
    (
        ("generate", "demo.layout"),
        "`demo.layout` has 5 layouts",
        "name one, as `demo.layout:NAME`, or give a directory: -o modules/",
    ),
    (("generate", "NCHW16c", "--check"), "--check compares with a file", "name it: -o PATH"),
    (
        ("pack", "NCHW16c", "in.npy", "out.npy", "--fill", "x"),
        "`x` in --fill is not a number",
        None,
    ),
]


@pytest.mark.parametrize(("arguments", "message", "hint"), USAGE)
def test_a_wrong_command_line(
    shell: Shell, arguments: tuple[str, ...], message: str, hint: str | None
) -> None:
    ended = shell(*arguments)
    helped = f"\n  = help: {hint}" if hint else ""
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {message}{helped}\n")


FAULT = """\
error[L203]: the layout `A` is declared twice
 --> wrong.layout:2:8
  |
1 | layout A(n) = [n]
  |        - first here
2 | layout A(c) = [c]
  |        ^
"""
WRONG = "layout A(n) = [n]\nlayout A(c) = [c]"


@pytest.mark.parametrize("verb", ["check", "prove", "formula", "generate", "print"])
def test_a_fault_in_a_text(shell: Shell, verb: str) -> None:
    Path("wrong.layout").write_text(WRONG)
    ended = shell(verb, "wrong.layout")
    assert (ended.code, ended.out, ended.err) == (2, "", FAULT)


def test_a_fault_as_json(shell: Shell) -> None:
    ended = shell("check", "-", "--json", stdin=WRONG.encode())
    found = json.loads(ended.out)
    assert (ended.code, ended.err) == (2, "")
    assert found["status"] == "error"
    assert found["layouts"] == []
    (diagnostic,) = found["diagnostics"]
    assert diagnostic == {
        "severity": "error",
        "code": "L203",
        "message": "the layout `A` is declared twice",
        "places": [
            {"source": "<stdin>", "line": 2, "column": 8, "length": 1, "words": ""},
            {"source": "<stdin>", "line": 1, "column": 8, "length": 1, "words": "first here"},
        ],
        "help": None,
        "mend": None,
    }


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "not-there.layout",
            None,
            "`not-there.layout` cannot be read: no such file or directory\n"
            "  = help: the folder has `demo.layout`",
        ),
        ("latin.layout", b"# caf\xe9", "`latin.layout` is not UTF-8: byte 0xe9 at 5"),
    ],
)
def test_a_spec_that_cannot_be_read(
    shell: Shell, name: str, data: bytes | None, message: str
) -> None:
    if data is not None:
        Path(name).write_bytes(data)
    for target in (name, f"{name}:A"):
        ended = shell("check", target)
        assert (ended.code, ended.out, ended.err) == (4, "", f"error: {message}\n")


@pytest.mark.parametrize("verb", ["prove", "diff"])
def test_a_file_of_weights_is_no_spec(shell: Shell, verb: str) -> None:
    Path("a.gguf").write_bytes(b"GGUF\xff")
    ended = shell(verb, *["a.gguf"] * (1 + (verb == "diff")))
    assert ended.code == 4
    assert ended.err.startswith(
        "error: `a.gguf` is not UTF-8: byte 0xff at 4\n  = help: tensors lie"
    )


def test_a_directory_is_no_spec(shell: Shell) -> None:
    Path("adir").mkdir()
    Path("NCHW16c").mkdir()
    for written, name in (("/", "/"), ("adir", "adir"), ("adir:A", "adir")):
        ended = shell("check", written)
        assert (ended.code, ended.err) == (4, f"error: `{name}` cannot be read: is a directory\n")
    assert shell("check", "NCHW16c").code == 0


def test_a_misspelt_file_is_proposed(shell: Shell) -> None:
    for written in ("dem.layout", "./dem.layout:NCHW16c"):
        ended = shell("check", written)
        name = written.removesuffix(":NCHW16c")
        assert (ended.code, ended.err) == (
            4,
            f"error: `{name}` cannot be read: no such file or directory\n"
            "  = help: did you mean `demo.layout`?\n",
        )


def test_a_pipe_may_be_named_like_a_layout(shell: Shell) -> None:
    os.mkfifo("pf")
    writer = threading.Thread(target=lambda: Path("pf").write_text(DEMO))
    writer.start()
    assert shell("check", "pf").code == 0
    writer.join()


JSON_FAILURES = [
    (("where", "none.layout:A", "--shape", "1", "--index", "0"), 4),
    (("where", "NCHW16c", "--shape", "1", "--index", "0"), 2),
    (("where", "NCHW16c"), 2),
    (("at", "NCHW16c", "--shape", "1,1,1,1", "99"), 2),
    (("at", "wrong.layout", "--shape", "1", "0"), 2),
    (("explain", "L999"), 2),
    (("prove", "wrong.layout"), 2),
    (("prove", "demo.layout", "--where", "N <"), 2),
    (("prove", "none.layout"), 4),
    (("formula", "wrong.layout"), 2),
    (("formula", "demo.layout"), 2),
    (("check", "none.layout"), 4),
    (("list", "more"), 2),
]


@pytest.mark.parametrize(("arguments", "code"), JSON_FAILURES)
def test_a_failure_as_json(shell: Shell, arguments: tuple[str, ...], code: int) -> None:
    Path("wrong.layout").write_text(WRONG)
    plain, ended = shell(*arguments), shell(*arguments, "--json")
    assert (plain.code, plain.out) == (code, "")
    assert (ended.code, ended.err) == (code, "")
    found = json.loads(ended.out)
    assert list(found) == ["status", "message", "help", "diagnostics"]
    assert found["status"] == "error"
    assert found["message"] in plain.err
    assert bool(found["diagnostics"]) == plain.err.startswith("error[")


def test_standard_input_that_is_not_utf_8(shell: Shell) -> None:
    ended = shell("check", "-", stdin=b"\xff")
    assert (ended.code, ended.err) == (
        4,
        "error: the standard input is not UTF-8: byte 0xff at 0\n",
    )


def test_a_byte_order_mark_is_no_fault(shell: Shell) -> None:
    Path("bom.layout").write_bytes(b"\xef\xbb\xbflayout A(n) = [n]")
    assert shell("check", "bom.layout").code == 0


CHECKED = """\
NCHW16c   (n, c, h, w) = [n, c/16, h, w, c%16]
Crouton   (b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32] fill 3 of u4
Gaps      (n, h, w) = [(n, h) : 70, w : 6] offset 3
Swizzled  (h, w: 4) = [h, w ^ h%4]
Manual    (n, c, h, w) = [n, c/8, h, w, c%8]
5 layouts, 1 claim: well formed
"""


def test_check(shell: Shell) -> None:
    ended = shell("check", "demo.layout")
    assert (ended.code, ended.out, ended.err) == (0, CHECKED, "")
    assert shell("check", "-", stdin=b"").out == "0 layouts, 0 claims: well formed\n"


def test_check_as_json(shell: Shell) -> None:
    found = json.loads(shell("check", "demo.layout", "--json").out)
    assert found["claims"] == ["prove Manual == NCHW16c where C <= 8, H == 1, W == 1"]
    assert found["layouts"][1] == {
        "name": "Crouton",
        "text": DEMO.splitlines()[1].replace("of u4 fill 3", "fill 3 of u4"),
        "axes": [{"name": axis, "extent": axis.upper()} for axis in "bhwd"],
        "coordinates": [
            {"value": "b", "extent": "B"},
            {"value": "h/8", "extent": "ceil(H/8)"},
            {"value": "w/8", "extent": "ceil(W/8)"},
            {"value": "d/32", "extent": "ceil(D/32)"},
            {"value": "h%8", "extent": "8"},
            {"value": "w%8", "extent": "8"},
            {"value": "d%32", "extent": "32"},
        ],
        "chunk_rank": 4,
        "fill": "3",
        "element": "u4",
        "offset": "0",
        "where": [],
        "domain": [],
        "parameters": [],
        "copies": [],
        "interface": "plain",
    }


def test_print_gives_the_text_back(shell: Shell) -> None:
    printed = shell("print", "demo.layout").out
    assert shell("print", "-", stdin=printed.encode()).out == printed
    assert printed.splitlines()[0] == DEMO.splitlines()[0]


def test_places_as_json(shell: Shell) -> None:
    where = json.loads(
        shell(
            "where", "demo.layout:Crouton", "--shape", "1,3,5,30", "--index", "0,2,4,29", "--json"
        ).out
    )
    assert where["offset"] == 669
    assert where["chunk"] == {"number": 0, "place": 669}
    assert where["address"] == {"element": "u4", "byte": 334, "bit": 4}
    at = json.loads(shell("at", "demo.layout:Gaps", "--shape", "2,3,4", "2", "--json").out)
    assert (at["holds"], at["index"], at["coordinates"]) == ("before", None, [])
    at = json.loads(shell("at", "NCHW16c", "--shape", "2,20,3,4", "757", "--json").out)
    assert (at["holds"], at["reasons"]) == ("padding", ["c = 21 is not below C = 20"])
    at = json.loads(shell("at", "NCHW16c", "--shape", "2,20,3,4", "753", "--json").out)
    assert (at["holds"], at["index"]) == ("element", {"n": 1, "c": 17, "h": 2, "w": 3})


@pytest.mark.slow
def test_list(shell: Shell) -> None:
    listed = shell("list", "--long").out
    for name in layoutdsl.library_names():
        assert f"  {name}(" in listed or f"  {name}<" in listed
    found = json.loads(shell("list", "--json").out)["layouts"]
    assert [each["name"] for each in found] == list(layoutdsl.library_names())
    assert all(each["source"] for each in found)


def test_help_teaches(shell: Shell) -> None:
    main = shell("--help")
    assert main.code == 0
    assert "Exit codes:" in main.out
    assert shell().out == main.out
    names = re.findall(r"^  (\w+)  ", main.out.partition("Commands:")[2], re.MULTILINE)
    assert len(names) > 25
    for name in names:
        ended = shell(name, "--help")
        assert ended.code == 0
        assert f"    layoutdsl {name}" in ended.out, name


def test_a_bug_of_ours(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(layoutdsl.Layout, "bind", broken)
    arguments = ("at", "NCHW16c", "--shape", "1", "1")
    message = (
        f"error: this is a bug of layoutdsl {layoutdsl.__version__}, not of yours: "
        "RuntimeError: first line\n  = help: please report it with this command line; "
        "LAYOUTDSL_DEBUG=1 shows where it happened\n"
    )
    ended = shell(*arguments)
    assert (ended.code, ended.out, ended.err) == (70, "", message)
    monkeypatch.setenv("LAYOUTDSL_DEBUG", "1")
    ended = shell(*arguments)
    assert ended.code == 70
    assert ended.err.startswith("Traceback")
    assert ended.err.endswith(message)


def test_interrupted(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(layoutdsl.Layout, "bind", interrupted)
    ended = shell("at", "NCHW16c", "--shape", "1", "1")
    assert (ended.code, ended.out, ended.err) == (130, "", "\ninterrupted\n")


@pytest.mark.slow
def test_a_broken_pipe_is_quiet() -> None:
    words = ["show", "NCHW4c", "--shape", "4,64,64,64", "--rows", "512"]
    command = [sys.executable, "-m", "layoutdsl", *words]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait()) == (b"", 128 + signal.SIGPIPE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "layoutdsl", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr == "error: the standard output cannot be written: no space left on device\n"
