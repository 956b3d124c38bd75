"""Tests come out the same however they are started, and by whom: a sample of them, in other ways.

A campaign, as each way runs some minutes: `pytest -m campaign -k started -s`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from processes import SECONDS, running

HERE = Path(__file__).parents[1]
SAMPLE = (
    "test_cli.py",
    "test_cli_code.py",
    "test_cli_large.py",
    "test_cli_prove.py",
    "test_cli_replays.py",
    "test_cli_streams.py",
    "test_cli_tables.py",
    "test_examples.py",
    "test_jobs.py",
    "test_native_building.py",
    "test_pieces_files.py",
    "test_pieces_resumed.py",
    "test_show.py",
    "test_startup.py",
)

PLUGIN = """\
import os, random, time

if os.environ.get("SLOW_CLOCK"):
    real = time.perf_counter
    time.perf_counter = lambda: 1000 * real()


def pytest_collection_modifyitems(items):
    if os.environ.get("SHUFFLED"):
        random.Random(os.environ["SHUFFLED"]).shuffle(items)
"""

# Each with variables that are set, or taken away where they are empty.
WAYS: dict[str, dict[str, str]] = {
    "as they are": {},
    "colours": {"FORCE_COLOR": "1", "COLUMNS": "20", "LINES": "3", "TERM": "xterm-256color"},
    "no colours": {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "400"},
    "no home": {"HOME": "", "XDG_CACHE_HOME": "", "USER": "", "LOGNAME": ""},
    "no folder for what is kept": {"LAYOUTDSL_TEST_CACHE": "/proc/none/here"},
    "plain letters": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""},
    "another day": {"TZ": "Pacific/Apia", "PYTHONHASHSEED": "11", "LAYOUTDSL_DEBUG": "1"},
    "shuffled": {"SHUFFLED": "7"},
    "a slow clock": {"SLOW_CLOCK": "1"},
}
STARTS = {
    "interrupts ignored": ("sh", "-c", 'trap "" INT HUP; exec "$@"', "sh"),
    "nobody": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
}


def command(*options: str) -> list[str]:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider"]
    return [*words, *options, *(str(HERE / name) for name in SAMPLE)]


def environment(folder: Path, changed: dict[str, str]) -> dict[str, str]:
    (folder / "plugin.py").write_text(PLUGIN)
    kept = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    kept["LAYOUTDSL_CACHE"] = str(folder / "of the user")
    found = {**os.environ, "LAYOUTDSL_TEST_CACHE": "", **kept, **changed}
    return {name: value for name, value in found.items() if value}


def passes(words: list[str], folder: Path, changed: dict[str, str]) -> None:
    with running(words, cwd="/", env=environment(folder, changed)) as process:
        assert process.wait(timeout=12 * SECONDS) == 0
    assert not (folder / "of the user").exists()


@pytest.mark.campaign
@pytest.mark.parametrize("way", WAYS)
def test_started_otherwise(way: str, tmp_path: Path) -> None:
    passes(command(), tmp_path, WAYS[way])


@pytest.mark.campaign
@pytest.mark.parametrize("start", STARTS)
def test_started_by_another(start: str) -> None:
    if start == "nobody":
        if os.geteuid() != 0:
            pytest.skip("only root can start tests as somebody else")
        for each in Path(sys.executable).resolve().parents:
            if each.stat().st_mode & 0o5 != 0o5:
                pytest.skip(f"others cannot read {each}")
    with TemporaryDirectory() as folder:  # others may look into it, as they may not into ours
        Path(folder).chmod(0o755)
        passes([*STARTS[start], *command()], Path(folder), {"HOME": ""})
