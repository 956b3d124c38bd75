"""The way out of a fault: what is known to be written by mistake, and small repairs.

Proposals come from a table, from the words that have a place, from brackets, and from one sign more
or less. Each is tried on the text before it is told: what does not parse further is no help.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain

from layoutdsl.language.syntax.grammars import Fault, parsed, word_of
from layoutdsl.language.syntax.mistakes import Advice, Edit, mistakes, plain

MOST_CHARACTERS = 1024
"""Of a text that edits are tried on; trying them on a longer one takes too long."""

# One of these may be missing, likeliest first. No operator: which of them was meant is not known.
_INSERTED = (
    *(",", ")", "]", "(", "[", "=", ":", ">", "<", "->"),
    *("to", "of", "in", "bytes", "bits", "contiguous", "words", "layout", "where"),
)
_OF_OTHER_SHAPE = ("<wide", "<narrow", "<font")
_EXCHANGED = frozenset(",;:=.)]}")
_LEFT_OUT = _EXCHANGED | frozenset("'`\"\\<>")
_OPERAND = re.compile(r"(\w+|\))\s*\Z")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LAST_WORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*\Z", re.ASCII)
_CLAUSES = ("offset", "where", "fill")
_OPENED = {")": "(", "]": "[", "}": "{"}
_CLOSED = {opened: closed for closed, opened in _OPENED.items()}
_BRACKETS = re.compile(r'#[^\n]*|"[^"\n]*"|[()\[\]{}]')


def advice(name: str, text: str, fault: Fault) -> Advice | None:
    """Return the way out of a fault, where one is known.

    Args:
        name: of the grammar.
        text: one statement, or a text of a notation.
        fault: the first place where it leaves the grammar.
    """
    if len(text) > MOST_CHARACTERS:
        return None
    proposals = chain(
        (replace(each, whole=True) for each in _brackets(text, fault)),
        mistakes(name, text, fault),
        _misspelt(name, text, fault),
        _misspelt_clause(text, fault),
        _characters(text, fault),
        _repairs(name, text, fault),
        _loose_brackets(text, fault),
        _without_operator(name, text, fault),
        _unbalanced(text),
    )
    return next((each for each in proposals if _leads_on(name, text, each)), None)


def _leads_on(name: str, text: str, proposed: Advice) -> bool:
    """Whether the text parses on behind an edit, or to its end where the edit has to mend it."""
    if proposed.edit is None:
        return True
    mended = proposed.edit.applied(text)
    found = parsed(name, mended)
    if not isinstance(found, Fault):
        return True
    left = len(text[proposed.edit.end :].lstrip())
    return not proposed.whole and len(mended) - found.start < left


def _misspelt(name: str, text: str, fault: Fault) -> Iterator[Advice]:
    """Propose the word of the grammar that a word at the fault resembles."""
    match = _WORD.match(text, fault.start)
    if match is None:
        return
    known = [word for word in _words(name, fault) if word.isalpha()]
    lower = match[0].lower()
    for close in [lower] if lower in known else get_close_matches(lower, known, 1, 0.75):
        edit = Edit(fault.start, match.end(), close)
        yield Advice(fault.start, match.end(), None, f"did you mean `{close}`?", edit)


def _misspelt_clause(text: str, fault: Fault) -> Iterator[Advice]:
    """Propose a clause for a word before the fault: in a record it was taken for the next field."""
    match = _LAST_WORD.search(text[: fault.start])
    if match is None or "LPAR" not in fault.expected:
        return
    for close in get_close_matches(match[1].lower(), _CLAUSES, 1, 0.75):
        edit = Edit(match.start(1), match.end(1), close)
        yield Advice(match.start(1), match.end(1), None, f"did you mean `{close}`?", edit)


def _words(name: str, fault: Fault) -> list[str]:
    """The words and signs that have a place at a fault, those of several spellings included."""
    found = [word for each in sorted(fault.expected) if (word := word_of(name, each)) is not None]
    return [*found, "prove", "refute"] if "POLARITY" in fault.expected else found


def _characters(text: str, fault: Fault) -> Iterator[Advice]:
    """Propose the ASCII for characters that are none."""
    end, instead = fault.start, ""
    while end < len(text) and (plainly := in_ascii(text[end])) is not None:
        end, instead = end + 1, instead + plainly
    if end > fault.start:
        shown = f"write `{instead.strip()}`" if instead.strip() else "write a blank"
        edit = Edit(fault.start, end, instead)
        yield Advice(fault.start, end, None, shown if instead else "remove it", edit)


def in_ascii(character: str) -> str | None:
    """Return the ASCII that another character stands for; ``None`` where that is not known."""
    if character.isascii():
        return None
    if (known := plain(character)) is not None:
        return known
    if unicodedata.category(character) == "Zs":
        return " "
    if unicodedata.category(character) == "Cf":
        return ""
    if unicodedata.decomposition(character).partition(">")[0] in _OF_OTHER_SHAPE:
        compatible = unicodedata.normalize("NFKC", character)
        return compatible if compatible.isascii() else None
    return None


def _brackets(text: str, fault: Fault) -> Iterator[Advice]:
    """Propose to close what is open, or to open or leave out what is closed."""
    opened = _open_at(text, fault.start)
    sign = text[fault.start : fault.start + 1]
    if sign in _OPENED and not opened:
        words = f"remove it, or open it with `{_OPENED[sign]}`"
        edit = Edit(fault.start, fault.start + 1, "")
        yield Advice(fault.start, fault.start + 1, f"`{sign}` closes nothing", words, edit)
    for count in range(1, len(opened) + 1):
        yield _closed(text, fault, opened, count)
    if sign in _OPENED and opened and text[opened[-1]] != _OPENED[sign]:
        place = opened[-1]
        closed = _CLOSED[text[place]]
        edit = Edit(fault.start, fault.start + 1, closed)
        says = f"`{text[place]}` is closed by `{sign}`"
        others = ((place, place + 1, "opened here"),)
        yield Advice(fault.start, fault.start + 1, says, f"write `{closed}`", edit, others=others)


def _loose_brackets(text: str, fault: Fault) -> Iterator[Advice]:
    """Propose the same where other faults follow, of brackets that have no other half at all."""
    opened, loose = _unmatched(text, len(text))
    for each in _brackets(text, fault):
        if each.start in opened or each.start in loose:
            yield each


def _open_at(text: str, place: int) -> list[int]:
    """The brackets that are open at a place."""
    return _unmatched(text, place)[0]


def _unmatched(text: str, place: int) -> tuple[list[int], list[int]]:
    """The brackets before a place that are not closed, and those that close nothing."""
    opened: list[int] = []
    loose: list[int] = []
    for match in _BRACKETS.finditer(text, 0, place):
        if match[0] in _CLOSED:
            opened.append(match.start())
        elif match[0] in _OPENED and opened and text[opened[-1]] == _OPENED[match[0]]:
            opened.pop()
        elif match[0] in _OPENED:
            loose.append(match.start())
    return opened, loose


def _unbalanced(text: str) -> Iterator[Advice]:
    """Tell of a bracket without its other half, where it is not known how to mend it."""
    opened, loose = _unmatched(text, len(text))
    for place in opened[-1:]:
        words = f"close it with `{_CLOSED[text[place]]}`"
        yield Advice(place, place + 1, f"`{text[place]}` is not closed", words)
    for place in loose[:1]:
        words = f"remove it, or open it with `{_OPENED[text[place]]}`"
        yield Advice(place, place + 1, f"`{text[place]}` closes nothing", words)


def _closed(text: str, fault: Fault, opened: list[int], count: int) -> Advice:
    """Propose to close the last ``count`` brackets before a fault; the place is the last one."""
    *outer, last = opened[-count:]
    closed = "".join(_CLOSED[text[place]] for place in reversed(opened[-count:]))
    behind = len(text[: fault.start].rstrip())
    comma = text[:behind].endswith(",")
    until = f"before `{text[fault.start : fault.end]}`" if fault.end > fault.start else "at the end"
    where = " in place of the comma" if comma else f", at the latest {until}"
    others = tuple((place, place + 1, "nor is this") for place in outer)
    edit = Edit(behind - comma, behind, closed)
    return Advice(
        last,
        last + 1,
        f"`{text[last]}` is not closed",
        f"write `{closed}`{where}",
        edit,
        others=others,
    )


def _repairs(name: str, text: str, fault: Fault) -> Iterator[Advice]:
    """Propose one sign or word more, another, or one less, where all is right with it."""
    start, end = fault.start, fault.end
    found = text[start:end]
    words = [word for word in _INSERTED if word in _words(name, fault)]
    for word in words:
        space = " " if word.isalpha() else ""
        way_out = f"write `{word}` {'before it' if found else 'at the end'}"
        says = f"`{word}` is missing {f'before `{found}`' if found else 'at the end'}"
        edit = Edit(start, start, f"{space}{word} ")
        yield Advice(start, end, says, way_out, edit, whole=True)
    for word in words if found in _EXCHANGED else ():
        edit = Edit(start, end, f" {word} " if word.isalpha() else word)
        yield Advice(start, end, None, f"write `{word}`", edit, whole=True)
    glued = text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()
    if (found in _LEFT_OUT or not fault.known) and not glued:
        yield Advice(start, end, None, "remove it", Edit(start, end, ""), whole=True)


def _without_operator(name: str, text: str, fault: Fault) -> Iterator[Advice]:
    """Tell of two operands side by side; what stood between them is not known."""
    found = text[fault.start : fault.end]
    before = _OPERAND.search(text[: fault.start])
    if before is not None:
        edit = Edit(fault.start, fault.start, "+ ")
        says = f"an operator is missing before `{found}`"
        words = f"write what stands between `{before[1]}` and `{found}`"
        tried = Advice(fault.start, fault.end, says, words, edit, whole=True)
        if _leads_on(name, text, tried):
            yield replace(tried, edit=None)
