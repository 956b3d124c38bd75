"""What may be written at a place: words of the grammar, and names that mean something there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from layoutdsl.language.meaning.elements import ELEMENT_TYPES, INTEGER_TYPES
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.syntax.grammars import LANGUAGE, word_of
from layoutdsl.language.syntax.statements import beginning_of
from layoutdsl.language.syntax.words import accepted_behind
from layoutdsl.shell.editing.document import Document

What: TypeAlias = Literal[
    "word", "layout", "axis", "extent", "type", "notation", "function", "name"
]

_PART = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_HEAD = re.compile(
    r"\b(layout|table|record)\s+([A-Za-z_]\w*)\s*(?:<([^>\n]*)>)?\s*(?:\(([^)]*)\))?", re.ASCII
)
_SUBJECT = re.compile(r"\s*(?:prove|refute)\s+([A-Za-z_]\w*)", re.ASCII)
_ALIAS = re.compile(
    r"\blayout\s+([A-Za-z_]\w*)\s*(?:<[^>\n]*>)?\s*=\s*([A-Za-z_]\w*)(?!\s*\")", re.ASCII
)
_PICKS = re.compile(r"\n\s*[A-Za-z_]\w*(\([^=\n]*\))(?=[^)\n]*=)", re.ASCII)
_SLOTS = re.compile(r"\btable\b[^\[=]*\[([^\]]*)\]", re.ASCII)
_NAMES = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BEFORE = re.compile(r"([A-Za-z_]\w*|->|==|[=:,\[(])\s*\Z", re.ASCII)
_SPELT = {
    "POLARITY": ("prove", "refute"),
    "BROADCAST": ("broadcast",),
    "_IN": ("in",),
    "_KEEP": ("keep",),
}
_FUNCTIONS = ("ceil", "roundup", "min", "max")
_NAMED_NEXT = ("layout", "table", "record", "tensor", "group", "rule", "op", "prefer", "with")
"""Behind one of these stands a name that is new."""

_WORDS_BEHIND = {"fill": ("any", "zero_point", "inf", "nan"), "as": ("scale_offset", "plain")}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A word that may be written, what it is, and a few words on it."""

    word: str
    what: What
    detail: str = ""


def proposals(current: Document, offset: int) -> tuple[Proposal, ...]:
    """Return what may be written at a place, each once; what stands there already begins it."""
    before = current.text[:offset]
    if "#" in before[before.rfind("\n") + 1 :]:
        return ()
    begun = _PART.search(before)
    before = before[: begun.start()] if begun else before
    statement = before[beginning_of(before, len(before)) :]
    accepted = accepted_behind(statement)
    found = list(_words(accepted))
    if "NAME" in accepted:
        found += _names(current, before, statement)
    return tuple({each.word: each for each in reversed(found)}.values())[::-1]


def _words(accepted: Iterable[str]) -> Iterator[Proposal]:
    for terminal in sorted(accepted):
        word = word_of(LANGUAGE, terminal)
        for each in _SPELT.get(terminal, () if word is None else (word,)):
            if each.isalpha():
                yield Proposal(each, "word")


def _names(current: Document, before: str, statement: str) -> Iterator[Proposal]:
    match = _BEFORE.search(before)
    behind = match[1] if match else ""
    opened = statement.count("[") + statement.count("(") - statement.count("]")
    inside = opened > statement.count(")")
    claim = _SUBJECT.match(statement)
    body = behind == "=" and not inside and claim is None
    if behind in _WORDS_BEHIND:
        yield from (Proposal(each, "word") for each in _WORDS_BEHIND[behind])
    elif behind == "of" and " from " not in statement:
        yield from (Proposal(each, "type") for each in ELEMENT_TYPES)
    elif behind in ("fits", "fit") or (behind == "in" and "computes" in statement):
        yield from (Proposal(each, "type") for each in INTEGER_TYPES)
    elif behind in ("prove", "refute", "inverts", "of", "->") or body:
        yield from _layouts(current)
        if body:
            yield from _notations()
    elif behind not in _NAMED_NEXT:
        yield from _axes(current, statement)
        yield from (Proposal(each, "function") for each in _FUNCTIONS)
        if behind == "==":
            yield from _layouts(current)
            yield from _notations()
        elif inside and claim is None and behind in ("[", ","):
            yield from _layouts(current)
        if statement.lstrip().startswith("op ") and behind == ":":
            yield from _layouts(current)


def _notations() -> Iterator[Proposal]:
    from layoutdsl.commands import notations

    yield from (Proposal(each, "notation", "a layout in another notation") for each in notations())


def _layouts(current: Document) -> Iterator[Proposal]:
    from layoutdsl.commands import library_names, library_record_names

    for kind, name, *_ in _HEAD.findall(current.text):
        yield Proposal(name, "layout", kind)
    for name in (*library_names(), *library_record_names()):
        yield Proposal(name, "layout", "of the library")


def _axes(current: Document, statement: str) -> Iterator[Proposal]:
    """Axes, extents and parameters of the declaration that is written, or that is spoken of."""
    claim = _SUBJECT.match(statement)
    head = _HEAD.match(statement.lstrip())
    if claim is not None:
        yield from _axes_of(current, claim[1])
        with_ = statement.rpartition(" with ")[2] if " with " in statement else ""
        for name in re.findall(r"([A-Za-z_]\w*)\s*=(?!=)", with_, re.ASCII):
            yield Proposal(name, "name")
    elif head is not None:
        yield from _headed(head[3], head[4])
        picks = _PICKS.findall(statement) if head[1] == "record" else []
        yield from _headed("", picks[-1].strip("()") if picks else "")
        slots = _SLOTS.match(statement.lstrip())
        for name in re.findall(r"([A-Za-z_]\w*)\s*:", slots[1] if slots else "", re.ASCII):
            yield Proposal(name, "name", "a coordinate of a slot")


def _axes_of(current: Document, name: str) -> Iterator[Proposal]:
    heads = {each[1]: each for each in _HEAD.findall(current.text)}
    aliases = dict(_ALIAS.findall(current.text))
    for _ in range(len(aliases)):
        name = aliases.get(name, name)
    if name in heads and heads[name][3]:
        yield from _headed(*heads[name][2:])
        return
    layouts: Mapping[str, Layout] = {} if current.good is None else current.good.module.layouts
    layout = layouts.get(name)
    if layout is None:
        from layoutdsl.commands import library, library_names

        layout = library(name) if name in library_names() else None
    for axis in layout.axes if layout is not None else ():
        yield Proposal(axis.name, "axis")
        yield Proposal(axis.name.upper(), "extent")


def _headed(parameters: str | None, axes: str | None) -> Iterator[Proposal]:
    for axis in (axes or "").split(","):
        name, colon, extent = axis.partition(":")
        if found := _NAMES.search(name):
            yield Proposal(found[0], "axis")
            said = _NAMES.search(extent) if colon else None
            if not colon or said:
                yield Proposal(said[0] if said else found[0].upper(), "extent")
    for found in _NAMES.finditer(parameters or ""):
        yield Proposal(found[0], "name", "a parameter")
