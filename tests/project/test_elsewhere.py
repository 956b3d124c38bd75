"""What other systems lack: without locks of files all loads, and only who needs them is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from processes import ended

WITHOUT = """
import pathlib, sys
sys.modules["fcntl"] = None  # as where there is no such module
for place in sorted(pathlib.Path({house!r}).rglob("*.py")):
    text = place.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
    words = {{name for line in lines for name in line.split()}}
    if {{"termios", "resource", "pwd", "grp"}} & words:
        print(place)
import layoutdsl.files.pieces.output, layoutdsl.files.pieces.shared, layoutdsl.files.pieces.share
import layoutdsl.shell.large, layoutdsl.shell.sharding
from layoutdsl.files.locks import lock_alone, unlock
try:
    lock_alone(1)
except OSError as told:
    print(type(told).__name__)
unlock(1)
"""


@pytest.mark.slow
def test_nothing_of_one_system_is_imported_at_the_top() -> None:
    import layoutdsl

    house = str(Path(layoutdsl.__file__).parent)
    done = ended([sys.executable, "-c", WITHOUT.format(house=house)])
    assert (done.returncode, done.stdout.decode()) == (0, "OSError\n"), done.stderr.decode()
