"""Which layout the tensors of a file get, by their names.

A pattern stands for names: ``*`` for anything without a dot, ``**`` for anything at all, other
signs for themselves. The names are those of a file, which anybody may have written, so they are
gone through once, whatever the pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.storage import StorageName

DEEP = "**"
WITHIN = "*"


class Pattern:
    """A pattern, ready to be held against names.

    >>> Pattern("model.*.norm.weight").fits("model.3.norm.weight")
    True
    >>> Pattern("*.weight").fits("model.3.norm.weight"), Pattern("**.weight").fits("a.b.weight")
    (False, True)
    """

    def __init__(self, text: str) -> None:
        words = _words(text)
        self._all = len(words)
        self._signs: dict[str, int] = {}
        self._within = self._deep = 0
        for place, word in enumerate(words):
            if word == DEEP:
                self._deep |= 1 << place
            elif word == WITHIN:
                self._within |= 1 << place
            else:
                self._signs[word] = self._signs.get(word, 0) | 1 << place
        head, tail = text.partition(WITHIN)[0], text.rpartition(WITHIN)[2]
        self._head, self._tail = head, tail

    def fits(self, name: str) -> bool:
        """Return whether the pattern stands for a name."""
        if not (name.startswith(self._head) and name.endswith(self._tail)):
            return False
        at = self._past(1)  # a bit for each place of the pattern that may come next
        for sign in name:
            stays = self._deep if sign == "." else self._deep | self._within
            at = self._past((at & self._signs.get(sign, 0)) << 1 | at & stays)
        return bool(at >> self._all & 1)

    def _past(self, at: int) -> int:
        """Places, and those that are reached from them by a star that stands for nothing."""
        stars = self._deep | self._within
        while more := (at & stars) << 1 & ~at:
            at |= more
        return at


def _words(text: str) -> list[str]:
    """Stars, and single signs."""
    found, place = list[str](), 0
    while place < len(text):
        word = DEEP if text.startswith(DEEP, place) else text[place]
        found.append(word)
        place += len(word)
    return found


@dataclass(frozen=True, slots=True)
class FromWords:
    """What is stored is packed already: words of this type, by a layout of the same axes."""

    word: StorageName
    layout: Layout


@dataclass(frozen=True)
class Rule:
    """``tensor "pattern" = layout``.

    Attributes:
        pattern: of the names of tensors.
        layout: that they get; `None` where they are kept as they are.
        stored: how they are packed already, where they are.
        text: the rule as the language writes it.
        place: where it stands, to be named: ``rules.layout:3``.
    """

    pattern: str
    layout: Layout | None
    stored: FromWords | None
    text: str
    place: str = field(compare=False)

    @cached_property
    def _ready(self) -> Pattern:
        return Pattern(self.pattern)

    @property
    def named(self) -> tuple[Layout, ...]:
        """The layouts that it names: what tensors get, and what they have."""
        stored = () if self.stored is None else (self.stored.layout,)
        return stored if self.layout is None else (self.layout, *stored)

    def fits(self, name: str) -> bool:
        """Return whether the rule is for tensors of that name."""
        return self._ready.fits(name)
