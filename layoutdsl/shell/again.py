"""Words that name on another command line what this one named, looked up before they are said.

What came from the standard input or a pipe cannot be read again, and has no such words.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.texts.source import LayoutError
from layoutdsl.shell.exits import Failure
from layoutdsl.shell.targets import Target, parted, target

Names: TypeAlias = Sequence[str | None]
"""What something may be called where it was found; ``None`` stands for the only one there is."""

Subject: TypeAlias = Layout | Table | Record

_QUOTED = re.compile(r'(\w+) "(.*)"', re.DOTALL)
_PASSING = ("/dev/", "/proc/")
"""Folders whose files are of one run only: pipes, and what stands for the standard input."""


def named_again(chosen: Target, names: Names) -> Iterator[tuple[str, Subject]]:
    """The words that name something, as a command line would have it, with what they name."""
    for name in dict.fromkeys(names):
        for word in _words(chosen, name):
            found = _looked_up(word, chosen)
            if found is not None:
                yield word, found


def _words(chosen: Target, name: str | None) -> Iterator[str]:
    """How a command line may name a layout of what it named before, or one of the library."""
    if chosen.notation is not None:
        yield chosen.place
    elif chosen.place:
        word = chosen.place if name is None else f"{chosen.place}:{name}"
        yield from (word, f"./{word}")  # the other for what looks like an option, or a notation
    if name is not None:
        quoted = _QUOTED.fullmatch(name)
        yield name if quoted is None else f"{quoted[1]}:{quoted[2]}"


def _looked_up(word: str, chosen: Target) -> Subject | None:
    """What a word of a command line stands for; a text that was read is not read again."""
    if word.startswith("-") or not word.isprintable():
        return None
    try:
        place, name = parted(word)
        if place is not None and not _lasts(place):
            return None
        if place is not None and chosen.place and Path(place) == Path(chosen.place):
            return replace(chosen, name=name).subject
        return target(word).subject
    except (Failure, LayoutError):
        return None


def _lasts(place: str) -> bool:
    """Whether a file can be read again, in another run."""
    path = Path(place)
    return path.is_file() and not str(path.absolute()).startswith(_PASSING)


def listed(numbers: Sequence[int]) -> str:
    """Return numbers as options take them."""
    return ",".join(map(str, numbers))


def command_line(*words: str) -> str:
    """Return a command line as a shell reads it."""
    return shlex.join(["layoutdsl", *words])
