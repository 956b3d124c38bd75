"""A text as its words, in order, with the remarks between them: what a tree does not keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from layoutdsl.language.syntax.grammars import LANGUAGE, grammar

_REMARK = re.compile(r"#[^\n]*")


@dataclass(frozen=True, slots=True)
class Remark:
    """What stands behind ``#``, up to the end of its line.

    Attributes:
        text: with the sign, without blanks at its end.
        trails: whether a word stands before it in its line.
        apart: whether an empty line stands before it.
    """

    text: str
    trails: bool
    apart: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A word, sign, number or quoted text, and what stands before it.

    Attributes:
        kind: lark's name for what it is in its place.
        text: as written.
        start: the position of its first character.
        remarks: between the word before and this one.
        breaks: whether a line ends behind what stands before it, remark or word.
        apart: whether an empty line does.
    """

    kind: str
    text: str
    start: int
    remarks: tuple[Remark, ...]
    breaks: bool
    apart: bool


END = "$END"
"""The kind of the last word, which is empty and carries the remarks at the end."""


def words_of(text: str) -> tuple[tuple[Word, ...], Tree[Token]]:
    """Return the words of a text that is in the language, the empty one at its end, and its tree.

    What a sign is depends on its place, so it is the parser that is asked for the next one.
    """
    parser = grammar(LANGUAGE).parse_interactive(text)
    found, behind = list[Word](), 0
    for token in parser.iter_parse():
        start, end = token.start_pos or 0, token.end_pos or 0
        found.append(_word(token.type, str(token), start, text[behind:start], not found))
        behind = end
    found.append(_word(END, "", len(text), text[behind:], not found))
    tree = parser.feed_eof()  # type: ignore[no-untyped-call]
    assert isinstance(tree, Tree)
    return tuple(found), tree


def _word(kind: str, text: str, start: int, gap: str, first: bool) -> Word:
    remarks, behind = list[Remark](), 0
    for match in _REMARK.finditer(gap):
        blank = gap[behind : match.start()]
        trails = not first and not remarks and "\n" not in blank
        remarks.append(Remark(match[0].rstrip(), trails, blank.count("\n") > 1))
        behind = match.end()
    left = gap[behind:]
    return Word(kind, text, start, tuple(remarks), "\n" in left, left.count("\n") > 1)


def declarations(tree: Tree[Token]) -> Iterator[tuple[int, int, Tree[Token]]]:
    """Yield where each declaration starts and ends, and its tree."""
    for each in tree.children:
        if isinstance(each, Tree):
            yield each.meta.start_pos, each.meta.end_pos, each


def accepted_behind(text: str) -> frozenset[str]:
    """Return lark's names for what may stand behind the beginning of a text."""
    parser = grammar(LANGUAGE).parse_interactive(text)
    try:
        for _ in parser.iter_parse():
            pass
        return frozenset(parser.accepts())  # type: ignore[no-untyped-call]
    except UnexpectedInput:
        return frozenset()
