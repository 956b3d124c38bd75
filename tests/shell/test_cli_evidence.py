"""`prove --write` and `recheck`, as a shell sees them: words, JSON and exit codes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from cli_shell import Ended, Shell, shell

__all__ = ["shell"]

SPEC = """\
layout Blocked(c) = [c/4, c%4]
layout Other(c) = [c]
prove Blocked == [c/4, c%4]
refute Blocked == Other
"""


@pytest.fixture
def certified(shell: Shell) -> Shell:
    Path("my.layout").write_text(SPEC)
    ended = shell("prove", "my.layout", "--write", "--into", "mine")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("wrote 2 certificates to mine\n")
    return shell


def rechecked(shell: Shell, *options: str) -> Ended:
    ended = shell("recheck", "my.layout", "--dir", "mine", *options)
    assert ended.err == ""
    return Ended(ended.code, re.sub(r"\d+\.\d s", "0.0 s", ended.out), ended.err, ended.raw)


def test_confirmed(certified: Shell) -> None:
    ended = rechecked(certified)
    assert re.fullmatch(
        r"3 confirmed: 4 claims, \d+ questions, asked of z3  \(0\.0 s\)\n", ended.out
    )
    assert ended.code == 0
    assert rechecked(certified, "-v").out.count("confirmed  ") == 3


def test_files(certified: Shell) -> None:
    names = sorted(each.name for each in Path("mine").iterdir())
    assert names == [
        f"{name}{end}" for name in ("Blocked", "Other", "lemmas") for end in (".json", ".smt2")
    ]
    assert certified("recheck", "my.layout:Other", "--dir", "mine").code == 0


def test_stale(certified: Shell) -> None:
    Path("my.layout").write_text(SPEC.replace("[c]", "[c : C + 1]"))
    ended = rechecked(certified)
    assert ended.code == 1
    assert (
        "stale[P101]: prove Other\n"
        "  the layout is `layout Other(c) = [c : C + 1]` now, it was `layout Other(c) = [c]`\n"
        "  = help: prove it again: `layoutdsl prove --write`\n"
    ) in ended.out
    assert "1 confirmed, 2 stale: 4 claims" in ended.out


def test_missing(certified: Shell) -> None:
    Path("mine/Other.json").unlink()
    ended = rechecked(certified)
    assert ended.code == 1
    assert ended.out.startswith(
        "missing[P102]: Other.json\n"
        "  there is no such file: nothing was proved here\n"
        "  = help: prove it: `layoutdsl prove --write`\n"
    )


def test_left_over(certified: Shell) -> None:
    Path("my.layout").write_text("layout Blocked(c) = [c/4, c%4]\n")
    ended = rechecked(certified)
    assert ended.code == 1
    assert "left over[P103]: Other.json\n  the source has no layout" in ended.out
    assert "left over[P103]: refute Blocked == Other\n" in ended.out
    again = certified("prove", "my.layout", "--write", "--into", "mine")
    assert again.out.endswith("wrote 1 certificate to mine, 2 files removed\n")
    assert rechecked(certified).code == 0


def test_broken(certified: Shell) -> None:
    Path("mine/Other.smt2").write_text("(check-sat)")
    ended = rechecked(certified)
    assert ended.code == 1
    assert ended.out.startswith("broken[P104]: Other.smt2\n")


def test_json(certified: Shell) -> None:
    Path("mine/Other.smt2").write_text("(check-sat)")
    found = json.loads(rechecked(certified, "--json").out)
    assert (found["status"], found["solvers"]) == ("failed", ["z3"])
    lemmas, blocked, other = found["certificates"]
    assert (lemmas["name"], lemmas["status"], lemmas["problems"]) == ("lemmas", "confirmed", [])
    assert (blocked["name"], blocked["claims"]) == ("Blocked", 3)
    assert blocked["questions"] > 5
    assert other["problems"] == [
        {
            "code": "P104",
            "kind": "broken",
            "place": "Other.smt2",
            "message": "it does not hold the questions on which the proofs rest",
            "help": "believe nothing of it, and prove it again",
        }
    ]


def test_a_table(shell: Shell) -> None:
    Path("my.layout").write_text("table T(c)[s: C] = (c = s)\nlayout L(c) = [c]\nprove T inverts L")
    ended = shell("prove", "my.layout", "--write", "--into", "mine")
    assert ended.out.endswith("wrote 2 certificates to mine\n")
    assert rechecked(shell, "-v").out.count("confirmed  ") == 3
    for name in ("T", "L"):
        assert shell("recheck", f"my.layout:{name}", "--dir", "mine").code == 0
    Path("my.layout").write_text("table T(c)[s: C] = (c = s + 0)\nlayout L(c) = [c]")
    ended = rechecked(shell)
    assert ended.code == 1
    assert "stale[P101]: prove T\n  the table is `table T(c)[s: C] = (c = s + 0)` now" in ended.out
    assert "left over[P103]: prove T inverts L\n" in ended.out


def test_what_did_not_come_out_is_not_written(shell: Shell) -> None:
    Path("my.layout").write_text(
        "layout Bad(c) = [c/4, c%4 : 3]\nlayout Good(c) = [c]\nprove Good == [c]"
    )
    ended = shell("prove", "my.layout", "--write", "--into", "mine")
    assert ended.code == 1
    assert not Path("mine/Bad.json").exists()
    ended = rechecked(shell)
    assert ended.code == 1
    assert "missing[P102]: Bad.json" in ended.out


def test_written_json(shell: Shell) -> None:
    Path("my.layout").write_text("layout Flat(c) = [c]")
    found = json.loads(shell("prove", "my.layout", "--write", "--into", "mine", "--json").out)
    assert (found["written"], found["removed"]) == (["Flat.json", "Flat.smt2"], [])


MISUSED = [
    (("prove", "demo.layout", "--write"), "certificates of a file need a folder of their own"),
    (("prove", "demo.layout", "--into", "x"), "--into says where --write writes"),
    (
        ("prove", "--write", "--where", "C < 9", "demo.layout"),
        "--write writes what the text claims",
    ),
    (("prove", "demo.layout", "NCHW16c", "--write", "--into", "x"), "certificates of a file have"),
    (("recheck", "demo.layout"), "the folder of the certificates of this file is unknown"),
    (("recheck", "demo.layout", "NCHW", "--dir", "x"), "certificates of a file have a folder"),
    (("recheck", "NCHW99c"), "there is no layout `NCHW99c` in the library"),
    (("recheck", "--solver", "vampire"), "invalid value for `--solver`"),
]


@pytest.mark.parametrize(("arguments", "said"), MISUSED)
def test_misused(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    ended = shell(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {said}")


def test_where_nothing_can_be_written(shell: Shell) -> None:
    Path("taken").write_text("")
    ended = shell("prove", "NCHW", "--write", "--into", "taken/here")
    assert ended.code == 4
    assert ended.err.startswith("error: `taken/here` cannot be written: ")


def test_only_certificates_are_replaced_or_removed(certified: Shell) -> None:
    Path("theirs").mkdir()
    old = Path("theirs/old.json")
    old.write_text(next(Path("mine").rglob("*.json")).read_text())
    Path("mine/link").symlink_to("../theirs")
    os.mkfifo("mine/pipe.json")
    written = ("prove", "my.layout", "--write", "--into", "mine")
    assert certified(*written).code == 0
    assert old.exists()
    one = next(each for each in Path("mine").rglob("*.smt2") if each.is_file())
    one.write_text("precious")
    ended = certified(*written)
    assert (ended.code, ended.err) == (
        4,
        f"error: `{one}` is no certificate of layoutdsl, and is not replaced\n"
        "  = help: choose another folder, or remove this one\n",
    )
    assert one.read_text() == "precious"


def test_without_cvc5(certified: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "cvc5" else found(name)
    )
    ended = certified("recheck", "my.layout", "--dir", "mine", "--solver", "both")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == ("error: cvc5 is not installed\n  = help: pip install cvc5\n")


def test_proofs_of_cvc5_are_replaced_by_the_checker(certified: Shell) -> None:
    ended = certified("recheck", "my.layout", "--solver", "cvc5", "--proofs")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: no such option `--proofs`\n"
        "  = help: write `--checker coq`: a checker that is proved, and asks no solver\n"
    )


def test_several_targets(shell: Shell) -> None:
    ended = shell("prove", "demo.layout:NCHW16c", "NHWC", "NCHW")
    assert ended.code == 0
    assert "proved     NCHW16c for all shapes" in ended.out
    assert "proved     NHWC for all shapes" in ended.out


def test_help_names_the_codes(shell: Shell) -> None:
    out = shell("recheck", "--help").out
    assert "layoutdsl explain P101" in out
    assert shell("explain", "P105").code == shell("explain", "P107").code == 0
