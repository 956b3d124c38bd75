"""Text -> tree of declarations, or diagnostics with their place.

The only module with lark. The text is looked over once before it is parsed: size, nesting and
numbers are capped, so that no text takes long or runs out of stack.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from layoutdsl import resources
from layoutdsl.source import Diagnostic, Label, LayoutError, Source, Span
from layoutdsl.syntax.ast import File
from layoutdsl.syntax.build import Builder

MOST_CHARACTERS = 256 * 1024
MOST_TOKENS = 40_000
MOST_PARENTHESES = 50
MOST_DIGITS = 18
MOST_LETTERS = 100

_TOKEN = re.compile(r"#[^\n]*|[A-Za-z_]\w*|[0-9]\w*|[^\s\w]", re.ASCII)

_SPELLING = {
    "NAME": "a name",
    "INT": "a number",
    "POLARITY": "`prove` or `refute`",
    "COMPARISON": "a comparison",
    "SIGN": "`+` or `-`",
    "FACTOR": "`*`, `/` or `%`",
    "SHIFT": "`<<` or `>>`",
    "XOR": "`^`",
    "AND": "`&`",
    "_IN": "`in`",
    "$END": "the end of the text",
}
_OPERATORS = frozenset({"SIGN", "FACTOR", "SHIFT", "XOR", "AND"})


@cache
def _grammar() -> Lark:
    return Lark(
        resources.grammar("layout"),
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=True,
    )


def parse(source: Source) -> File:
    """Return the declarations of a text.

    Raises:
        LayoutError: the text is not in the language, or is larger than it may be.
    """
    _look_over(source)
    try:
        tree = _grammar().parse(source.text)
    except UnexpectedInput as error:
        raise LayoutError(_explain(source, error)) from None
    return Builder(source).file(tree)


def _look_over(source: Source) -> None:
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
        elif word[0].isdigit() and len(word) > MOST_DIGITS:
            message = f"this number has more than {MOST_DIGITS} digits"
            raise _at(source, match.start(), match.end(), "L103", message)
        elif word[0] not in "#" and len(word) > MOST_LETTERS:
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


def _explain(source: Source, error: UnexpectedInput) -> Diagnostic:
    start = error.pos_in_stream or 0
    if isinstance(error, UnexpectedCharacters) and start < len(source.text):
        return _bad_character(source, start)
    expected: set[str] = set()
    if isinstance(error, UnexpectedToken):
        expected = set(error.accepts or error.expected)
        token = error.token
        if token.type == "$END":
            start, end = len(source.text.rstrip()), len(source.text.rstrip())
            found = "the end of the text"
        else:
            start = token.start_pos or 0
            end = token.end_pos or start + 1
            found = f"`{token}`"
    else:
        end, found = start + 1, "the end of the text"
    message = f"expected {_alternatives(expected)}, found {found}"
    return Diagnostic("L101", message, Label(Span(source, start, end)))


def _alternatives(expected: set[str]) -> str:
    """Write what may stand here; operators are one alternative, and not the likeliest."""
    words = sorted({_spelling(name) for name in expected - _OPERATORS})
    if expected & _OPERATORS:
        words.append("an operator")
    if len(words) > 6:
        return (
            "a declaration to go on" if not words else f"{', '.join(words[:6])} or another clause"
        )
    if not words:
        return "something else"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _spelling(name: str) -> str:
    if name in _SPELLING:
        return _SPELLING[name]
    pattern = _grammar().get_terminal(name).pattern.value.replace("\\", "")
    return f"`{pattern}`"


def _bad_character(source: Source, start: int) -> Diagnostic:
    character = source.text[start]
    name = unicodedata.name(character, f"U+{ord(character):04X}")
    span = Span(source, start, start + 1)
    if character.isascii():
        shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
        return Diagnostic("L101", f"{shown} has no meaning here", Label(span))
    plain = unicodedata.normalize("NFKC", character)
    letter = plain if plain.isascii() and plain.isalnum() else None
    return Diagnostic(
        "L102",
        f"the character {name} is not ASCII",
        Label(span),
        help=f"write `{letter}`" if letter else "names and operators are plain ASCII",
    )
