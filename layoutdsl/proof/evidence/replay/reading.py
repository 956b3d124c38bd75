"""SMT-LIB and proofs as nested lists of words. What is read may have been written by anyone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from layoutdsl.proof.evidence.replay.terms import Refused, Sort, Term, Terms

Words: TypeAlias = "str | list[Words]"
Argument: TypeAlias = "Term | tuple[Argument, ...]"
"""What a step is given: a term, or a list of them."""

DEEPEST_TEXT = 120
MOST_WORDS = 4_000_000

_TOKEN = re.compile(r"[()]|[^\s();]+|;[^\n]*")
_NUMERAL = re.compile(r"-?[0-9]{1,1200}")
_RATIONAL = re.compile(r"(-?[0-9]{1,1200})/([0-9]{1,1200})")


def read(text: str) -> list[Words]:
    """Return what a text says, one list of words for each pair of brackets.

    Raises:
        Refused: brackets do not match, or it is too long or too deep.
    """
    found: list[Words] = []
    open_lists = [found]
    for number, word in enumerate(_TOKEN.findall(text)):
        if number > MOST_WORDS:
            raise Refused("the text is too long to follow")
        if word == "(":
            if len(open_lists) > DEEPEST_TEXT:
                raise Refused("the text is too deep to follow")
            inner: list[Words] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif word == ")":
            open_lists.pop()
            if not open_lists:
                raise Refused("a bracket is closed that was not opened")
        elif word[0] != ";":
            open_lists[-1].append(word)
    if len(open_lists) > 1:
        raise Refused("a bracket is not closed")
    return found


def sort_of(words: Words) -> Sort:
    """Return the sort that a word names.

    Raises:
        Refused: it names none.
    """
    for each in Sort:
        if words == each.value:
            return each
    raise Refused("there are no such sorts here")


def signature(words: Words) -> tuple[tuple[Sort, ...], Sort]:
    """Return the sorts of arguments and value that `Int` or `(-> Int Int Int)` says.

    Raises:
        Refused: it says neither.
    """
    if isinstance(words, list) and len(words) > 2 and words[0] == "->":
        *arguments, result = map(sort_of, words[1:])
        return tuple(arguments), result
    return (), sort_of(words)


def argument_of(words: Words, terms: Terms, names: Mapping[str, Argument]) -> Argument:
    """Return the term, or the list of terms, that words say.

    Args:
        words: as read.
        terms: makes them.
        names: what stands for terms: definitions.

    Raises:
        Refused: they say none.
    """
    if isinstance(words, str):
        return _atom(words, terms, names)
    if not words or not isinstance(words[0], str):
        raise Refused("what is applied is no name")
    if words[0] == "@list":
        return tuple(argument_of(each, terms, names) for each in words[1:])
    if words[0] in names or len(words) == 1:
        raise Refused(f"`{words[0][:80]}` is not applied to anything here")
    return terms.make(words[0], *(term_of(each, terms, names) for each in words[1:]))


def term_of(words: Words, terms: Terms, names: Mapping[str, Argument]) -> Term:
    """Return the term that words say.

    Raises:
        Refused: they say none, or a list of them.
    """
    found = argument_of(words, terms, names)
    if isinstance(found, Term):
        return found
    raise Refused("a list stands where a term should")


def _atom(word: str, terms: Terms, names: Mapping[str, Argument]) -> Argument:
    found = names.get(word)
    if found is None:
        found = terms.words.get(word)
    if found is None and word == "@list.nil":
        return ()
    if found is None:
        found = terms.words[word] = _word(word, terms)
    return found


def _word(word: str, terms: Terms) -> Term:
    """The number or the unknown that a word is."""
    if _NUMERAL.fullmatch(word):
        return terms.integer(int(word))
    rational = _RATIONAL.fullmatch(word)
    if rational is not None:
        if int(rational[2]) == 0:
            raise Refused("a number is divided by 0")
        return terms.literal(Fraction(int(rational[1]), int(rational[2])), Sort.REAL)
    return terms.make(word)
