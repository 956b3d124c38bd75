"""A text and its grammar -> lark's tree, or the diagnostic that says where the text leaves it.

The texts of other notations stand in quotes inside ours, so a place is always one of the whole
source.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lark import Token, Tree

from layoutdsl.language.syntax.grammars import Fault, grammar, parsed, word_of
from layoutdsl.language.texts.source import Diagnostic, Label, LayoutError, Mend, Span

if TYPE_CHECKING:
    from layoutdsl.language.syntax.mistakes import Advice

_SPELLING = {
    "NAME": "a name",
    "APPLIED": "a name",
    "INT": "a number",
    "POLARITY": "`prove` or `refute`",
    "COMPARISON": "a comparison",
    "SIGN": "`+` or `-`",
    "FACTOR": "`*`, `/` or `%`",
    "SHIFT": "`<<` or `>>`",
    "OR": "`|`",
    "XOR": "`^`",
    "AND": "`&`",
    "$END": "the end of the text",
    "TEXT": "a text in quotes",
    "QUALIFIED": "an operator of another domain",
    "OPTIONAL": "`?`",
    "MANY": "`*`",
    "_IN": "`in`",
    "_KEEP": "`keep`",
}
_OPERATORS = frozenset({"SIGN", "FACTOR", "SHIFT", "OR", "XOR", "AND"})
_BEGINNINGS = frozenset(
    {"LAYOUT", "TABLE", "RECORD", "TENSOR", "GROUP", "RULE", "OP", "PREFER", "POLARITY"}
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
    found = parsed(name, text.text)
    if isinstance(found, Fault):
        raise LayoutError(explained(name, text, found, code, spelling))
    return found


def explained(
    name: str,
    text: Span,
    fault: Fault,
    code: str = "L101",
    spelling: Mapping[str, str] | None = None,
) -> Diagnostic:
    """Return what is wrong with a text, and the way out where one is known.

    Args:
        name: of the grammar.
        text: one statement, or a text of a notation.
        fault: the first place where it leaves the grammar.
        code: of the diagnostic.
        spelling: what messages call the terminals of the grammar.
    """
    from layoutdsl.language.syntax.advice import advice  # a text that is right waits for none of it

    written = text.text
    character = written[fault.start : fault.start + 1]
    if fault.known or not character:
        plainly = _unexpected(name, written, fault, {**_SPELLING, **(spelling or {})})
    elif character.isascii():
        shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
        plainly = f"{shown} has no meaning here"
    else:
        code = "L102"
        called = unicodedata.name(character, f"U+{ord(character):04X}")
        plainly = f"the character {called} is not ASCII"
    found = advice(name, written, fault)
    if found is None:
        hint = "names and operators are plain ASCII" if code == "L102" else None
        return Diagnostic(code, plainly, Label(_part(text, fault.start, fault.end)), help=hint)
    return _advised(text, Diagnostic(code, found.says or plainly, Label(text)), found)


def _advised(text: Span, said: Diagnostic, found: Advice) -> Diagnostic:
    edit = found.edit
    return replace(
        said,
        primary=Label(_part(text, found.start, found.end)),
        others=tuple(Label(_part(text, start, end), words) for start, end, words in found.others),
        help=found.help,
        mend=None if edit is None else Mend(_part(text, edit.start, edit.end), edit.text),
    )


def _part(text: Span, start: int, end: int) -> Span:
    return Span(text.source, text.start + start, text.start + end)


def _unexpected(name: str, text: str, fault: Fault, spelling: Mapping[str, str]) -> str:
    """Write what may stand at a fault; operators are one alternative, and not the likeliest."""
    found = text[fault.start : fault.end]
    shown = f"`{found}`" if found else "the end of the text"
    beginning = _BEGINNINGS if fault.expected >= _BEGINNINGS else frozenset()
    each_named = fault.expected - _OPERATORS - beginning
    words = sorted({_spelled(name, each, spelling) for each in each_named})
    if beginning:
        words.append("a statement")
    if fault.expected & _OPERATORS:
        words.append("an operator")
    if len(words) > 6:
        alternatives = f"{', '.join(words[:6])} or another clause"
    elif len(words) > 1:
        alternatives = f"{', '.join(words[:-1])} or {words[-1]}"
    else:
        alternatives = words[0] if words else "something else"
    return f"expected {alternatives}, found {shown}"


def _spelled(name: str, terminal: str, spelling: Mapping[str, str]) -> str:
    if terminal in spelling:
        return spelling[terminal]
    return f"`{word_of(name, terminal) or _pattern(name, terminal)}`"


def _pattern(name: str, terminal: str) -> str:
    return str(grammar(name).get_terminal(terminal).pattern.value).replace("\\", "")
