"""How far data travel: what five journeys enter may become less, and a layout is read once."""

import json
import sys
from pathlib import Path

import journeys
import pytest
from processes import ended
from small_files import compiles

MOST = {
    "prove": (82, 618),
    "pack": (181, 1663),
    "kernel": (96, 748),
    "diff": (78, 610),
    "generate": (115, 1033),
}
"""Files and functions entered; whoever makes them fewer writes the new numbers here."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", journeys.JOURNEYS)
def test_a_journey(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "pack" and not compiles():
        pytest.skip("no C compiler")
    monkeypatch.delenv("LAYOUTDSL_SOLVER", raising=False)  # the figures are those of the program
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(tmp_path))  # nothing is known from before
    done = ended([sys.executable, journeys.__file__, name])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["readings"] == 1
    assert (found["files"], found["functions"]) <= MOST[name]
    assert found["functions"] <= MOST[name][1]
