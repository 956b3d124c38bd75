"""Where the library declares a name: its file, and the place in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from layoutdsl.language.texts import resources
from layoutdsl.shell.editing.positions import Lines


@dataclass(frozen=True, slots=True)
class Shelved:
    """A place in a file of the library; ``range`` are its lines, and the name from start to end."""

    uri: str
    range: tuple[Lines, int, int]


def place_in_library(name: str) -> Shelved | None:
    """Return where the library declares a layout, table or record; ``None`` where it does not."""
    declared = re.compile(rf"^(?:layout|table|record) ({re.escape(name)})\b", re.MULTILINE)
    for file, text in resources.library_families():
        if (found := declared.search(text)) is not None:
            place = resources.folder("language/library") / file
            return Shelved(place.absolute().as_uri(), (Lines(text), *found.span(1)))
    return None
