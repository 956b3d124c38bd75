"""Texts of other notations with a few characters wrong, made of those that programs printed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import layoutdsl
from layoutdsl import LayoutError


def mangled(text: str, letters: str, others: list[str], random: Random) -> str:
    """Put in, leave out or exchange one to three characters, or go on with another text."""
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(text) + 1)
        match random.randrange(4):
            case 0:
                text = text[:at] + random.choice(letters) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + random.choice(letters) + text[at + 1 :]
            case _:
                other = random.choice(others)
                text = text[:at] + other[random.randrange(len(other) + 1) :]
    return text


def assert_read_or_refused(notation: str, text: str) -> bool:
    """Return whether it was read; then what is printed is read as the same, and printed so."""
    try:
        found = layoutdsl.from_notation(notation, text)
    except LayoutError:
        return False
    printed = layoutdsl.to_notation(found, notation)
    again = layoutdsl.from_notation(notation, printed)
    assert replace(again, name=found.name) == found
    assert layoutdsl.to_notation(again, notation) == printed
    return True
