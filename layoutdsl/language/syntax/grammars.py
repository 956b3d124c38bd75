"""A text and its grammar -> lark's tree, or the first place where the text leaves the grammar.

The parser of a grammar comes from a table that is kept: to work it out takes ten times as long.

`grammar/tables/NAME.json` holds what lark makes of `grammar/NAME.lark`, beside that text and lark's
version. Where either is another now, or the file is missing or damaged, the grammar is read, which
is as right and slower. The tables are written by

    LAYOUTDSL_REWRITE_GOLDEN=1 pytest tests/inner/language/test_grammars.py
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.lexer import PatternRE, PatternStr, TerminalDef

from layoutdsl.language.texts import resources

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


@cache
def grammar(name: str) -> Lark:
    """Return the parser of ``grammar/NAME.lark``."""
    text = resources.grammar(name)
    return kept(name, text) or read(name, text)


def kept(name: str, text: str) -> Lark | None:
    """Return the parser whose table is kept; ``None`` where none is of this text and this lark."""
    try:
        found = json.loads(resources.table(name), object_pairs_hook=_numbered)
    except (OSError, ValueError):
        return None
    match found:
        case {"lark": lark.__version__, "grammar": made_of} if made_of == text:
            return Lark.load(found)
        case _:
            return None


def _numbered(pairs: list[tuple[str, Any]]) -> dict[str | int, Any]:
    """Lark numbers states and words, and in JSON a number that is a key is a text."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}


def read(name: str, text: str) -> Lark:
    """Return the parser of a grammar's text."""
    return Lark(
        text,
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
