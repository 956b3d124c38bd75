"""What is legal and hardly meant is said by every verb, once, and stops none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_shell import Shell, shell

__all__ = ["shell"]

TEXT = """\
layout Slip(n, c) = [n, c/8, c%16]
layout Right(n, c) = [n, c]
layout Idle<k>(n, c) = [n, c]
"""
OVERLAP = """\
warning[L212]: the digits of axis `c` overlap between 8 and 16
 --> my.layout:1:25
  |
1 | layout Slip(n, c) = [n, c/8, c%16]
  |                         ^^^ steps by 8
  |                              ---- covers 16
  = help: write `c%8` or `c/16`
"""
IDLE = """\
warning[L213]: the parameter `k` is not used
 --> my.layout:3:13
  |
3 | layout Idle<k>(n, c) = [n, c]
  |             ^
  = help: remove it
"""

VERBS = [
    # a command line, its exit code, and what it says on the way
    ("check my.layout", 0, f"{OVERLAP}\n{IDLE}"),
    ("prove my.layout", 3, f"{OVERLAP}\n{IDLE}"),
    ("prove my.layout:Slip", 3, OVERLAP),
    ("prove my.layout:Right", 0, ""),
    ("prove my.layout:Idle", 0, IDLE),
    ("prove my.layout:Idle<4>", 0, IDLE),
    ("prove my.layout:Idle --json", 0, IDLE),
    ("formula my.layout:Idle<4>", 0, IDLE),
    ("where my.layout:Slip --shape 1,20 --index 0,17", 0, OVERLAP),
    ("show my.layout:Slip --shape 1,4", 0, OVERLAP),
    ("diff my.layout:Slip my.layout:Slip", 0, OVERLAP),
    ("generate my.layout:Right -o .", 0, ""),
    ("print my.layout", 0, f"{OVERLAP}\n{IDLE}"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("line", "code", "said"), VERBS, ids=[each[0] for each in VERBS])
def test_warnings_are_said_once(shell: Shell, line: str, code: int, said: str) -> None:
    Path("my.layout").write_text(TEXT)
    ended = shell(*line.split())
    assert (ended.code, ended.err) == (code, said)
    assert ended.out


def test_generated_code_of_what_is_idle(shell: Shell) -> None:
    Path("my.layout").write_text(TEXT)
    ended = shell("generate", "my.layout:Idle<4>", "-o", ".")
    assert ended.code == 0
    assert ended.err.startswith(IDLE)


def test_check_says_them_as_json_instead(shell: Shell) -> None:
    Path("my.layout").write_text(TEXT)
    ended = shell("check", "my.layout", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert found["status"] == "ok"
    assert [(each["severity"], each["code"]) for each in found["diagnostics"]] == [
        ("warning", "L212"),
        ("warning", "L213"),
    ]


def test_colours_tell_warnings_from_errors(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    Path("my.layout").write_text(TEXT)
    assert shell("check", "my.layout").err.startswith("\x1b[33m\x1b[1mwarning[L212]\x1b[0m: ")
