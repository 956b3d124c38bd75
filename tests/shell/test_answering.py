"""What a page may ask: answers are the shell's, and nothing but its own text is read or written."""

from __future__ import annotations

import json
import os
import random
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from cli_shell import Shell, shell, timeless
from processes import ended

from layoutdsl import notations
from layoutdsl.shell import answering
from layoutdsl.shell.answering import FLAGS, MOST_TEXT, VALUES, answer
from layoutdsl.shell.shell import _VERBS

__all__ = ["shell"]

TEXT = """\
layout Block(n, c) = [n, c/16, c%16] fill 0
layout Flat(n, c) = [n, c]
prove Block == Flat where C == 16
prove Block fits int8
"""

ASKED = [
    ["check", "{file}"],
    ["check", "{file}", "--format", "json"],
    ["check", "{file}", "--format=sarif"],
    ["prove", "{file}"],
    ["prove", "{file}:Flat", "--verbose", "--where", "N <= 8"],
    ["where", "{file}:Block", "--shape", "2,20", "--index", "1,17", "--json"],
    ["at", "{file}:Block", "--shape", "2,20", "40"],
    ["show", "{file}:Block", "--shape=2,20"],
    ["show", "{file}:Block", "--shape", "2,20", "--as", "svg", "--colour", "c"],
    ["formula", "{file}:Block", "--as", "c"],
    ["cost", "{file}:Block"],
    ["diff", "{file}:Block", "{file}:Flat"],
    ["diff", "{file}:Flat", "einops:n c -> n c"],
    ["diff", "{file}:Flat", "NoSuchLayout"],
    ["translate", "{file}:Block", "--to", "onednn"],
    ["banks", "{file}:Block", "--shape", "8,16", "--thread", "n = t/16, c = t%16", "--of", "f32"],
    ["explain", "L202"],
    ["explain", "no such code"],
    ["list", "--search", "swizzle"],
    ["generate", "{file}:Block"],
    ["generate", "{file}:Block", "--target", "c"],
    ["where", "{file}:Block", "--shape", "2,20", "--index"],
    ["prove", "{file}:Nothing"],
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arguments", ASKED, ids=" ".join)
def test_an_answer_is_the_shells(arguments: list[str], shell: Shell) -> None:
    Path("mine.layout").write_text(TEXT)
    told = shell(*(each.replace("{file}", "mine.layout") for each in arguments))
    found = answer({"arguments": arguments, "text": TEXT, "name": "mine.layout"})
    assert found["exit"] == told.code
    assert timeless(found["output"]) == timeless(told.out)
    assert timeless(found["errors"]) == timeless(told.err)
    assert told.code != 70


def test_a_fault_is_told_where_it_is() -> None:
    found = answer({"arguments": ["prove", "{file}"], "text": "layout L(n) = [n,, n]"})
    assert (found["exit"], found["output"]) == (2, "")
    assert " --> page.layout:1:" in found["errors"]


@pytest.mark.parametrize("verb", FLAGS)
def test_what_may_be_given_is_what_the_verb_knows(verb: str) -> None:
    """An option that took a value here and none there would hand on a path as an operand."""
    file, _, name = _VERBS[verb].partition(".")
    command = getattr(import_module(f"layoutdsl.shell.{file}"), name)
    known = {
        option: each.is_flag or each.count
        for each in command.params
        if isinstance(each, click.Option)
        for option in each.opts
    }
    assert {each: known[each] for each in FLAGS[verb]} == dict.fromkeys(FLAGS[verb], True)
    values = VALUES.get(verb, ())
    assert {each: known[each] for each in values} == dict.fromkeys(values, False)
    paths = {"-o", "--output", "--into", "--write", "--check", "--jobs", "-j", "--progress"}
    assert not paths & {*FLAGS[verb], *values}


HOSTILE = [
    [],
    [""],
    ["pack", "NCHW16c", "in.npy", "out.npy"],
    ["view"],
    ["probe", "mine.py:pack"],
    ["prove", "PLACE/secret.layout"],
    ["prove", "../secret.layout"],
    ["prove", "secret.layout"],
    ["prove", "./NCHW16c"],
    ["prove", "-"],
    ["prove", "-:Block"],
    ["prove", "--", "{file}"],
    ["prove", "{file}/../../secret.layout"],
    ["prove", "{file}:../secret.layout"],
    ["prove", "{file}:Block:PLACE/secret.layout"],
    ["prove", "x{file}"],
    ["prove", "{file}", "--write"],
    ["prove", "{file}", "--write", "--into", "PLACE"],
    ["prove", "{file}", "--as", "html", "-o", "PLACE/page.html"],
    ["prove", "{file}", "--as", "html", "-oPLACE/page.html"],
    ["prove", "{file}", "--as", "html", "--output=PLACE/page.html"],
    ["prove", "{file}", "-vo", "PLACE/page.html"],
    ["prove", "{file}", "--jobs", "9"],
    ["show", "{file}:Block", "--shape", "2,3", "--as", "svg", "-o", "PLACE/a.svg"],
    ["generate", "{file}:Block", "-o", "PLACE/block.py"],
    ["generate", "{file}:Block", "--check"],
    ["identify", "PLACE/secret.py:pack", "--shape", "1,2"],
    ["identify", "PLACE/secret.py:pack"],
    ["identify", "os:getcwd", "--shape", "1,2"],
    ["diff", "{file}:Block", "PLACE/secret.layout:S"],
    ["translate", "PLACE/secret.layout", "--to", "onednn"],
    ["where", "\0:Block"],
    ["check", "nothing:PLACE/secret.layout"],
    ["check", "\ud800"],
    ["check", "x" * 10_001],
    ["check", *["{file}"] * 50],
    ["check", 7],
    "check {file}",
    None,
    {"check": 1},
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=lambda each: ascii(each)[:60])
def test_what_is_not_for_pages_is_refused(
    arguments: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(answering, "run", lambda _: pytest.fail("it is run"))
    (tmp_path / "secret.layout").write_text("layout S(n) = [n]")
    (tmp_path / "secret.py").write_text("raise SystemExit")
    if isinstance(arguments, list):
        arguments = [
            each.replace("PLACE", str(tmp_path)) if isinstance(each, str) else each
            for each in arguments
        ]
    found = answer({"arguments": arguments, "text": TEXT})
    assert (found["exit"], found["output"]) == (2, "")
    assert found["errors"].startswith("error: ")
    assert found["errors"].encode()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["secret.layout", "secret.py"]


@pytest.mark.parametrize(
    "request_",
    [
        *(None, 1, [], "check"),
        {},
        {"arguments": ["check", "{file}"], "text": None},
        {"arguments": ["check", "{file}"], "text": "\ud800"},
        {"arguments": ["check", "{file}"], "text": "x" * (MOST_TEXT + 1)},
        {"arguments": ["check", "{file}"], "text": TEXT, "path": "/etc/passwd"},
        *(
            {"arguments": ["check", "{file}"], "text": TEXT, "name": name}
            for name in (
                "../a.layout",
                "/a.layout",
                "",
                ".layout",
                "-a.layout",
                "a\n.layout",
                "a:b",
                7,
            )
        ),
    ],
    ids=lambda each: ascii(each)[:70],
)
def test_a_request_that_is_none(request_: object) -> None:
    found = answer(request_)
    assert (found["exit"], found["output"]) == (2, "")
    assert found["errors"].startswith("error: ")


def test_names_that_look_like_notations_read_nothing(tmp_path: Path) -> None:
    """Were its text a path, it would be read."""
    (tmp_path / "secret.layout").write_text("layout S(n) = [n]")
    for notation in notations():
        for way in (f"{tmp_path}/secret.layout", "../secret.layout", "/../secret.layout:S"):
            found = answer({"arguments": ["check", f"{notation}:{way}"], "text": ""})
            assert found["exit"] == 2
            assert "Secret" not in found["output"]


def test_any_words_are_answered() -> None:
    draw = random.Random(5)
    pieces = [
        "{file}",
        ":",
        "Block",
        "/",
        "..",
        "-",
        "--",
        "o",
        "=",
        "@",
        "NCHW",
        "\n",
        "é",
        "--as",
    ]
    before = Path.cwd(), sys.stdin, sys.stdout, sys.stderr, dict(os.environ)
    for _ in range(300):
        words = ["".join(draw.choices(pieces, k=draw.randint(0, 3))) for _ in range(2)]
        found = answer({"arguments": [draw.choice([*FLAGS]), *words], "text": TEXT})
        assert found["exit"] in (0, 1, 2, 3), (words, found)
    assert (Path.cwd(), sys.stdin, sys.stdout, sys.stderr, dict(os.environ)) == before


@pytest.mark.slow
def test_a_process_answers_line_by_line() -> None:
    asked = [{"arguments": ["check", "{file}"], "text": text} for text in (TEXT, "layout", TEXT)]
    lines = "".join(json.dumps(each) + "\n" for each in asked)
    command = [sys.executable, "-m", "layoutdsl.shell.answering"]
    done = ended(
        ["sh", "-c", 'printf "%s" "$1" | "$2" -m "$3"', "sh", lines, command[0], command[2]]
    )
    found = [json.loads(each) for each in done.stdout.splitlines()]
    assert found == [answer(each) for each in asked]
