"""The parser of each grammar, from a table that is kept: to work it out takes ten times as long.

`grammar/tables/NAME.json` holds what lark makes of `grammar/NAME.lark`, beside that text and lark's
version. Where either is another now, or the file is missing or damaged, the grammar is read, which
is as right and slower. The tables are written by

    LAYOUTDSL_REWRITE_GOLDEN=1 pytest tests/test_grammars.py
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import lark
from lark import Lark
from lark.lexer import PatternRE, PatternStr, TerminalDef

from layoutdsl.texts import resources

LANGUAGE = "layout"
"""The grammar of the language itself; all others are of notations."""


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
