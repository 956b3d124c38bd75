"""Five commands read each layout once."""

import json
import sys
from pathlib import Path

import journeys
import pytest
from processes import ended
from small_files import compiles


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", journeys.JOURNEYS)
def test_a_layout_is_read_once(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "pack" and not compiles():
        pytest.skip("no C compiler")
    monkeypatch.delenv("LAYOUTDSL_SOLVER", raising=False)
    monkeypatch.setenv("LAYOUTDSL_CACHE", str(tmp_path))  # nothing is known from before
    done = ended([sys.executable, journeys.__file__, name])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["readings"] == 1
