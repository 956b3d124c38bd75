"""Command lines do what their records say; `python -m tests.net rewrite` writes these anew."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from . import old_version
from .old_version import COMMIT, MissingError, install
from .records import FOLDER, difference, read, record
from .running import Case, Version, cases

CASES = cases()

UNRECORDED = {
    "lsp --stdio": "a server that ends with its editor; tests/shell/test_lsp.py drives it",
    "view --no-browser": "a server that ends with Ctrl-C; tests/shell/test_viewing.py drives it",
    "probe --array torch": "needs torch, and what is recorded needs nothing",
    "probe --array jax": "needs jax, and what is recorded needs nothing",
    "bench --peers jax": "tests/commands/test_bench_peers.py runs peers, other people's packages",
}
"""Options, or values of them, that no command line records, with the reason."""


@pytest.mark.slow
@pytest.mark.ci(220)
@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_command_line_does_as_recorded(case: Case, working: Version) -> None:
    if case.missing:
        pytest.skip(case.missing)
    found = record(working.run(case))
    changed = difference(case, read(case.command).get(case.name, ""), found, (COMMIT, "now"))
    assert not changed, f"a changed record is to be reviewed; see tests/net/README.md\n{changed}"


def test_each_case_has_a_record_and_each_record_a_case() -> None:
    recorded = {(place.stem, name) for place in FOLDER.glob("*.txt") for name in read(place.stem)}
    assert recorded == {(case.command, case.name) for case in CASES}


def options(help_text: str) -> dict[str, list[str]]:
    """Return the options that a help text lists, by any of its names, with their choices."""
    found = {}
    for line in re.findall(r"^  (-[^ ].*(?:\n {10,}\S.*)*)", help_text, re.MULTILINE):
        names = re.match(r"(-[\w-]+(?:, -[\w-]+)*)(?: \[(\w+(?:\|\w+)+)\])?", line)
        assert names, line
        found[names[1]] = names[2].split("|") if names[2] else []
    return found


@pytest.mark.slow
def test_each_command_option_and_choice_is_recorded(working: Version) -> None:
    """A new option, or a new value of one, needs a command line that uses it."""

    def shell(line: str) -> str:
        (stage,) = working.run(Case("", "", line)).stages
        return stage.out.decode()

    lacking = set()
    commands = re.findall(r"^  (\w+)  ", shell("--help").split("Commands:")[1], re.MULTILINE)
    for command in commands:
        lines = [case.run for case in CASES if case.command == command]
        if not lines:
            lacking.add(command)
        for names, choices in options(shell(f"{command} --help")).items():
            if "--help" in names:
                continue
            for choice in choices or [""]:
                words = "|".join(re.escape(name) for name in names.split(", "))
                used = rf"(^| )({words})[ =]{choice}( |$)" if choice else rf"(^| )({words})( |=|$)"
                if not any(re.search(used, line) for line in lines):
                    lacking.add(f"{command} {names.split(', ')[-1]} {choice}".strip())
    assert lacking - UNRECORDED.keys() == set()


def test_old_version_is_installed_beside_ours() -> None:
    try:
        python = install()
    except MissingError as missing:
        pytest.skip(str(missing))
    program = python.with_name("layoutdsl")
    found = subprocess.run([program, "explain", "L202"], capture_output=True, text=True, check=True)
    assert "L202" in found.stdout
    asked = [python, "-P", "-c", "import layoutdsl; print(layoutdsl.__file__)"]
    place = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert place.startswith(str(python.parents[2]))


def test_copy_without_history_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_version, "ROOT", tmp_path)
    with pytest.raises(MissingError, match=r"does not reach commit|install git"):
        install(tmp_path / "old")
