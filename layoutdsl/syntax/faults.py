"""A text and its grammar -> lark's tree, or the first place where the text leaves the grammar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.lexer import PatternRE, PatternStr, TerminalDef

from layoutdsl.texts import resources

LANGUAGE = "layout"
"""The grammar of the language itself; all others are of notations."""


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


@cache
def grammar(name: str) -> Lark:
    """Return the parser of ``grammar/NAME.lark``."""
    return Lark(
        resources.grammar(name),
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=True,
        edit_terminals=_whole_word if name == LANGUAGE else None,
    )


def _whole_word(terminal: TerminalDef) -> None:
    """A word of the language ends where a name would end, so that `fillany` is not `fill any`."""
    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value.isalpha():
        terminal.pattern = PatternRE(rf"{terminal.pattern.value}(?![A-Za-z0-9_])")
        terminal.priority = 1


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
