"""A text of the language -> lark's tree, or the faults of every statement.

A statement that is wrong does not hide the faults of others: the next one begins with the next line
that begins with one of its words. Such a word may also be a name, so two pieces that are right
together are one statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token, Tree

from layoutdsl.language.syntax.grammars import LANGUAGE, Fault, parsed
from layoutdsl.language.syntax.reading import explained
from layoutdsl.language.texts.source import Diagnostic, LayoutError, Source, Span

MOST_FAULTS = 20
"""Faults of one text that are explained before we give up on it."""

MOST_CHARACTERS = 4096
"""Of statements that are explained: to look for the way out of one takes longer than to read it."""

_BEGINNING = re.compile(
    r"^[ \t]*(?:layout|table|record|tensor|group|rule|op|prefer|prove|refute)(?!\w)", re.MULTILINE
)


def statements(source: Source) -> Tree[Token]:
    """Return the tree of a whole text.

    Raises:
        LayoutError: with the first fault of each statement that has one.
    """
    found = parsed(LANGUAGE, source.text)
    if not isinstance(found, Fault):
        return found
    said: list[Diagnostic] = []
    characters = 0
    for statement, fault in _faulty(source):
        said.append(explained(LANGUAGE, statement, fault))
        characters += len(statement.text)
        if len(said) >= MOST_FAULTS or characters > MOST_CHARACTERS:
            break
    whole = Span(source, 0, len(source.text))
    raise LayoutError(tuple(said) or explained(LANGUAGE, whole, found))


def beginning_of(text: str, place: int) -> int:
    """Return where the statement starts that a place of a text is in, as far as its lines tell."""
    starts = [match.start() for match in _BEGINNING.finditer(text, 0, place)]
    return starts[-1] if starts else 0


def _faulty(source: Source) -> Iterator[tuple[Span, Fault]]:
    """Yield the statements that are wrong, each with its first fault."""
    text = source.text
    starts = [match.start() for match in _BEGINNING.finditer(text)]
    cuts = [0, *(each for each in starts if each), len(text)]
    first = 0
    while first < len(cuts) - 1:
        start, end = cuts[first], cuts[first + 1]
        first += 1
        found = parsed(LANGUAGE, text[start:end])
        if not isinstance(found, Fault):
            continue
        longer = cuts[min(first + 1, len(cuts) - 1)]
        if longer > end and not isinstance(parsed(LANGUAGE, text[start:longer]), Fault):
            first += 1
            continue
        yield Span(source, start, end), found
