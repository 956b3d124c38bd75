"""Replay lines, run as a shell would: what they print has to hold the offsets that were said."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

REPLAY = re.compile(r"^ *= replay: (.*)$", re.MULTILINE)
OFFSET = re.compile(r"-> offset (\d+)|, (\d+) in `(?!\[)")
"""Where an element lies, in the layout of a claim, and in another that has a name."""
BIT = re.compile(r"^ +bit \d+ of .*?-> (bit \d+)|, (bit \d+) in `", re.MULTILINE)
"""Where a bit of an element of a record lies."""
HELD = re.compile(r"\) holds (\(.*\))$|-> (\(.*?\)|padding) in `", re.MULTILINE)
"""What a slot holds."""


def blocks(text: str) -> Iterator[str]:
    """Each message: a line at the margin, and those below it that are not."""
    for each in re.split(r"^(?=\S)", text, flags=re.MULTILINE):
        if each:
            yield each


def replayed(run: Callable[..., Any], text: str, *, all_of_it: bool = True) -> int:
    """Run every replay line of a text, and return how many there were.

    Args:
        run: takes the words of a command line.
        text: what was printed.
        all_of_it: whether each offset of a message is to be shown, or at least one.
    """
    count = 0
    for block in blocks(text):
        lines = REPLAY.findall(block)
        count += len(lines)
        shown = "".join(_shown(run, line) for line in lines)
        offsets = [first or second for first, second in OFFSET.findall(block)]
        bits = [first or second for first, second in BIT.findall(block)]
        held = [first or second for first, second in HELD.findall(block)]
        wanted = [*(f"-> offset {each}\n" for each in offsets), *(f"-> {each}\n" for each in held)]
        wanted += [f"-> {each}," for each in bits]
        found = [each in shown for each in wanted]
        assert not lines or all(found) or (any(found) and not all_of_it), block
    return count


def _shown(run: Callable[..., Any], line: str) -> str:
    program, *words = shlex.split(line)
    assert program == "layoutdsl"
    ended = run(*words)
    assert ended.code == 0, f"{line}\n{ended.err}"
    # What is doubtful of a layout is said of it wherever it is used.
    assert not ended.err or ended.err.startswith("warning["), f"{line}\n{ended.err}"
    return str(ended.out)
