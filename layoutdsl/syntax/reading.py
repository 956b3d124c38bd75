"""A text and its grammar -> lark's tree, or the diagnostic that says where the text leaves it.

The texts of other notations stand in quotes inside ours, so a place is always one of the whole
source.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from layoutdsl import resources
from layoutdsl.source import Diagnostic, Label, LayoutError, Span

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
    "$END": "the end of the text",
    "TEXT": "a text in quotes",
    "_IN": "`in`",
}
_OPERATORS = frozenset({"SIGN", "FACTOR", "SHIFT", "XOR", "AND"})


@cache
def grammar(name: str) -> Lark:
    """Return the parser of ``grammar/NAME.lark``."""
    return Lark(
        resources.grammar(name),
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=True,
    )


def tree(
    name: str, text: Span, code: str = "L101", spelling: Mapping[str, str] | None = None
) -> Tree[Token]:
    """Return the tree of a text.

    Args:
        name: of the grammar.
        text: what to read; places in the tree count from its start.
        code: of the diagnostic, where the text is not in the grammar.
        spelling: what messages call the terminals of the grammar.

    Raises:
        LayoutError: the text is not in the grammar.
    """
    try:
        return grammar(name).parse(text.text)
    except UnexpectedInput as error:
        reader = _Reader(name, text, code, {**_SPELLING, **(spelling or {})})
        raise LayoutError(reader.explain(error)) from None


class _Reader:
    """Says what is wrong with one text of one grammar."""

    def __init__(self, grammar: str, text: Span, code: str, spelling: Mapping[str, str]) -> None:
        self._grammar = grammar
        self._text = text
        self._code = code
        self._spelling = spelling

    def _span(self, start: int, end: int) -> Span:
        return Span(self._text.source, self._text.start + start, self._text.start + end)

    def explain(self, error: UnexpectedInput) -> Diagnostic:
        """Return what is wrong, and where."""
        text = self._text.text
        start = error.pos_in_stream or 0
        if isinstance(error, UnexpectedCharacters) and start < len(text):
            return self._bad_character(text[start], self._span(start, start + 1))
        expected: set[str] = set()
        end, found = start + 1, "the end of the text"
        if isinstance(error, UnexpectedToken):
            expected = set(error.accepts or error.expected)
            token = error.token
            if token.type == "$END":
                start = end = len(text.rstrip())
            else:
                start = token.start_pos or 0
                end, found = token.end_pos or start + 1, f"`{token}`"
        message = f"expected {self._alternatives(expected)}, found {found}"
        return Diagnostic(self._code, message, Label(self._span(start, end)))

    def _alternatives(self, expected: set[str]) -> str:
        """Write what may stand here; operators are one alternative, and not the likeliest."""
        words = sorted({self._spelled(name) for name in expected - _OPERATORS})
        if expected & _OPERATORS:
            words.append("an operator")
        if len(words) > 6:
            return f"{', '.join(words[:6])} or another clause"
        if not words:
            return "something else"
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    def _spelled(self, name: str) -> str:
        if name in self._spelling:
            return self._spelling[name]
        pattern = grammar(self._grammar).get_terminal(name).pattern.value.replace("\\", "")
        return f"`{pattern}`"

    def _bad_character(self, character: str, span: Span) -> Diagnostic:
        name = unicodedata.name(character, f"U+{ord(character):04X}")
        if character.isascii():
            shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
            return Diagnostic(self._code, f"{shown} has no meaning here", Label(span))
        plain = unicodedata.normalize("NFKC", character)
        letter = plain if plain.isascii() and plain.isalnum() else None
        return Diagnostic(
            "L102",
            f"the character {name} is not ASCII",
            Label(span),
            help=f"write `{letter}`" if letter else "names and operators are plain ASCII",
        )
