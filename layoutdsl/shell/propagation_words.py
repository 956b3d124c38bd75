"""What `propagate` is asked, from words to layouts and extents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.targets import target

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Layout

_NAME = re.compile(r"\s*[A-Za-z_]\w*\s*(<[\s\w,]*>)?\s*", re.ASCII)


def pairs(given: tuple[str, ...], option: str, example: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before and behind the sign of equality of each."""
    for each in given:
        name, mark, words = each.rpartition("=") if option == "--shape" else each.partition("=")
        if not mark or not name.strip() or not words.strip():
            raise Failure(Exit.USAGE, f"`{each}` is no {option}", f"write {option} {example}")
        yield name.strip(), words.strip()


def extents(name: str, words: str) -> tuple[int, ...]:
    """Return the shape of an input."""
    try:
        return tuple(int(each) for each in words.replace("x", ",").split(","))
    except ValueError:
        hint = f"write --shape {name}=1,3,224,224"
        raise Failure(Exit.USAGE, f"`{words}` is no shape", hint) from None


def layouts(words: str) -> Iterator[str | Layout]:
    """Yield layouts between commas; a text of another notation may have commas of its own."""
    each = re.split(r",(?![^<]*>)", words)
    yield from map(layout, each if all(map(_is_plain, each)) else [words])


def _is_plain(word: str) -> bool:
    return bool(_NAME.fullmatch(word.rpartition(":")[2]))


def layout(word: str) -> str | Layout:
    """Return a layout: by a name of the engine's text or of the library, or said in full."""
    return word.strip() if _NAME.fullmatch(word) else target(word.strip()).layout
