"""The one rule of blanks: whether one stands between two words, and how good a line end would be.

Products are written without blanks and sums with them, a colon behind a name clings to it, and
brackets cling to what they are about, as in everything that `printer` prints. In a condition
`%` outside of brackets has blanks, as in `where C % 16 == 0`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lark import Token, Tree

from layoutdsl.language.syntax.words import END, Word

_OPENED = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE", "LESSTHAN": "MORETHAN"}
_CLOSED = frozenset(_OPENED.values())
_BEFORE_SIGN = frozenset({"NAME", "INT", "TEXT", "RPAR", "RSQB"})
"""Behind one of these a sign stands between two operands."""

_CLINGS = frozenset(
    {"COMMA", "SEMICOLON", "OPTIONAL", "MANY", "RPAR", "RSQB", "MORETHAN", "FACTOR"}
)
_HOLDS = frozenset({"LPAR", "LSQB", "LESSTHAN", "FACTOR", "DOT"})
_RANGE, _MEMBER = "..", "."

# How bad it is to end a line before a word, the least first; what is not here is no place for it.
_ENDS = {"WITH": 1, "WHERE": 2, "OF": 3, "FILL": 3, "OFFSET": 3, "FROM": 3, "AS": 3, "BITS": 3}
_BODY, _ARROW, _COMMA, _SUM = 2, 5, 5, 6
_INSIDE = 2
"""How much worse it is for every bracket that is open."""

_LATER = 3
"""How much worse it is at most for a summand that is not the second: the first stands alone."""

_WITH_NAMES = frozenset(
    {"axis", "slot", "taken", "one_axis", "many_axes", "other_axes", "setting", "reads"}
)
"""Branches of the tree that say what a name is, behind a colon."""

_WITHOUT_BODY = frozenset({"POLARITY", "RULE", "OP"})
"""Of what begins with one of these, `=` stands in its clauses alone."""

_BETWEEN = frozenset({"SIGN", "SHIFT", "AND", "XOR", "OR"})


@dataclass(frozen=True, slots=True)
class Gap:
    """What stands between a word and the one before it.

    Attributes:
        blank: whether it is a blank; else nothing.
        cost: of a line end in its place; ``None`` where there may be none.
    """

    blank: bool
    cost: int | None


def clinging(tree: Tree[Token]) -> frozenset[int]:
    """Return where something starts before which a colon clings to the name before that."""
    found = set[int]()
    for each in tree.iter_subtrees():
        children = [child for child in each.children if child is not None]
        first = children[0] if children else None
        named = isinstance(first, Token) and first.type == "NAME"
        if each.data in _WITH_NAMES or (each.data == "digit" and named):
            found |= {_start(child) for child in children}
    return frozenset(found)


def _start(child: Tree[Token] | Token) -> int:
    return (child.start_pos or 0) if isinstance(child, Token) else child.meta.start_pos


def gaps(words: Sequence[Word], clings: frozenset[int]) -> tuple[Gap, ...]:
    """Return what stands before each word of a declaration; before the first nothing.

    Args:
        words: of one declaration.
        clings: what `clinging` returns of its tree.
    """
    found, depth, summands = [Gap(False, None)], _depth(0, words[0]), 0
    bodied, asked = words[0].kind in _WITHOUT_BODY, False
    for number in range(1, len(words)):
        before, word = words[number - 1], words[number]
        inside = depth - (word.kind in _CLOSED)
        remainder = asked and depth == 0 and "%" in (word.text, before.text)
        blank = remainder or _blank(words, number, clings)
        signs = _signs(words, number)
        cost = _cost(before, word, inside, bodied, signs) if blank else None
        if cost is not None and signs and inside == 0:
            cost, summands = cost + min(summands, _LATER), summands + 1
        bodied = bodied or (depth == 0 and before.kind == "EQUAL")
        asked = word.kind == "WHERE" or (asked and word.kind not in _ENDS and word.kind != "RBRACE")
        depth = _depth(depth, word)
        found.append(Gap(blank, cost))
    return tuple(found)


def _depth(depth: int, word: Word) -> int:
    return depth + (word.kind in _OPENED) - (word.kind in _CLOSED)


def _signs(words: Sequence[Word], number: int) -> bool:
    """Whether a word is an operator between two operands that has blanks around it."""
    word = words[number]
    return word.kind in _BETWEEN and (word.kind != "SIGN" or words[number - 1].kind in _BEFORE_SIGN)


def _blank(words: Sequence[Word], number: int, clings: frozenset[int]) -> bool:
    before, word = words[number - 1], words[number]
    if word.kind == "COLON" or before.text in (_RANGE, _MEMBER):
        return word.kind == "COLON" and not _is_before(words, number, clings)
    if word.text in (_RANGE, _MEMBER) and before.kind != "COMMA":
        return False
    if word.kind in _CLINGS or before.kind in _HOLDS or word.kind == "LESSTHAN":
        return False
    if before.kind == "SIGN" and not _signs(words, number - 1):
        return False
    return word.kind not in ("LPAR", "LSQB") or not _is_about(words, number)


def _is_before(words: Sequence[Word], number: int, clings: frozenset[int]) -> bool:
    return number + 1 < len(words) and words[number + 1].start in clings


def _is_about(words: Sequence[Word], number: int) -> bool:
    """Whether an opened bracket belongs to the word before it: axes, arguments, slots."""
    before = words[number - 1]
    if before.kind == "TEXT":  # a rule of tensors
        return True
    return before.kind in ("NAME", "QUALIFIED", "MORETHAN", "OPTIONAL", "RPAR")


def _cost(before: Word, word: Word, depth: int, bodied: bool, signs: bool) -> int | None:
    if word.kind in ("LBRACE", "RBRACE", END):
        return None
    if depth == 0 and before.kind == "EQUAL" and not bodied:
        return _BODY
    if depth == 0 and word.kind in _ENDS:
        return _ENDS[word.kind]
    if word.text == "->":
        return _ARROW
    if before.kind in ("COMMA", "SEMICOLON"):
        return _COMMA + _INSIDE * depth
    if signs:
        return _SUM + _INSIDE * depth
    if word.kind == "TEXT" and before.kind == "NAME":
        return _BODY
    return None
