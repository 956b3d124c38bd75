"""Text -> tree of declarations, or diagnostics with their place.

The text is looked over once before it is parsed: size, nesting and numbers are capped, so that no
text takes long or runs out of stack.
"""

from __future__ import annotations

import re

from layoutdsl.language.syntax.ast import File
from layoutdsl.language.syntax.build import FileBuilder
from layoutdsl.language.syntax.statements import statements
from layoutdsl.language.texts.source import Diagnostic, Label, LayoutError, Source, Span

MOST_CHARACTERS = 256 * 1024
MOST_TOKENS = 40_000
MOST_PARENTHESES = 50
MOST_DIGITS = 18
MOST_OF_A_REAL = 40
"""Characters of a number with a point: 17 digits and an exponent tell all floats apart."""
MOST_LETTERS = 100

_TOKEN = re.compile(r'#[^\n]*|"[^"]*"|[A-Za-z_]\w*|[0-9]+\.[0-9]\w*|[0-9]\w*|[^\s\w]', re.ASCII)


def parse(source: Source) -> File:
    """Return the declarations of a text.

    Raises:
        LayoutError: the text is not in the language, or is larger than it may be.
    """
    look_over(source)
    return FileBuilder(source).file(statements(source))


def look_over(source: Source) -> None:
    """Refuse a text that is larger than it may be.

    Raises:
        LayoutError: it has too many characters, words or parentheses, or one that is too long.
    """
    text = source.text
    if len(text) > MOST_CHARACTERS:
        raise _too_much(
            source, 0, f"the text has {len(text)} characters, at most {MOST_CHARACTERS}"
        )
    depth = 0
    for count, match in enumerate(_TOKEN.finditer(text)):
        word = match.group()
        if count >= MOST_TOKENS:
            raise _too_much(source, match.start(), f"the text has more than {MOST_TOKENS} words")
        if word in "([":
            depth += 1
            if depth > MOST_PARENTHESES:
                raise _too_deep(source, match.start())
        elif word in ")]":
            depth -= 1
        elif "." in word and word[0].isdigit():
            if len(word) > MOST_OF_A_REAL:
                message = f"this number has more than {MOST_OF_A_REAL} characters"
                raise _at(source, match.start(), match.end(), "L103", message)
        elif word[0].isdigit() and len(word) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise _at(source, match.start(), match.end(), "L103", message)
        elif word[0] not in '#"' and len(word) > MOST_LETTERS:
            message = f"this name has more than {MOST_LETTERS} letters"
            raise _at(source, match.start(), match.end(), "L103", message)


def _at(
    source: Source, start: int, end: int, code: str, message: str, hint: str | None = None
) -> LayoutError:
    return LayoutError(Diagnostic(code, message, Label(Span(source, start, end)), help=hint))


def _too_much(source: Source, start: int, message: str) -> LayoutError:
    return _at(source, start, start + 1, "L103", message, "split the text into several files")


def _too_deep(source: Source, start: int) -> LayoutError:
    message = f"parentheses are nested more than {MOST_PARENTHESES} deep"
    return _at(source, start, start + 1, "L104", message)
