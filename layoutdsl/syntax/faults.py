"""A text and its grammar -> lark's tree, or the first place where the text leaves the grammar."""

from __future__ import annotations

from dataclasses import dataclass

from lark import Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr

from layoutdsl.syntax.grammars import grammar


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a text leaves its grammar.

    Attributes:
        start: of the word or sign that has no place; at the end of the text, behind what is there.
        end: behind it.
        expected: the terminals that have a place here; none where a character begins no word.
        known: whether the character begins a word of the grammar at all.
    """

    start: int
    end: int
    expected: frozenset[str]
    known: bool = True


def parsed(name: str, text: str) -> Tree[Token] | Fault:
    """Return the tree of a text, or the first place where it leaves its grammar."""
    try:
        return grammar(name).parse(text)
    except UnexpectedToken as error:
        expected = frozenset(error.accepts or error.expected)
        if error.token.type == "$END":
            end = len(text.rstrip())
            return Fault(end, end, expected)
        start = error.token.start_pos or 0
        return Fault(start, error.token.end_pos or start + 1, expected)
    except UnexpectedInput as error:
        start = error.pos_in_stream or 0
        return Fault(
            start, start + 1, frozenset(getattr(error, "allowed", None) or ()), known=False
        )


def word_of(name: str, terminal: str) -> str | None:
    """Return the word or sign that a terminal always is; ``None`` where it may be several."""
    if terminal == "$END":
        return None
    pattern = grammar(name).get_terminal(terminal).pattern
    value = pattern.value.removesuffix("(?![A-Za-z0-9_])")
    return value if isinstance(pattern, PatternStr) or value.isalpha() else None
