"""Places of a text as editors count them: lines from 0, and units of an encoding within a line.

Editors count UTF-16 where nothing else was agreed: a character beyond the first 65,536 is two.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
Position: TypeAlias = tuple[int, int]
"""A line and a unit within it, both from 0."""

_LINE_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """The lines of a text, to go from characters to places and back.

    >>> Lines("# \\N{GRINNING FACE} a").position(4)
    (0, 5)

    Args:
        text: any.
        encoding: in whose units places are counted.
    """

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self._text, self._encoding = text, encoding
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def position(self, offset: int) -> Position:
        """Return the place of a character; of one behind the text, its end."""
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self._text[self._starts[line] : offset])

    def offset(self, position: Position) -> int:
        """Return the character at a place; at one behind the line, the end of the line."""
        line, unit = position
        if line >= len(self._starts):
            return len(self._text)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)
        end -= len(self._text[start:end]) - len(self._text[start:end].rstrip("\r\n"))
        counted = 0
        for place in range(start, end):
            if counted >= unit:
                return place
            counted += self._units(self._text[place])
        return end

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(each > "\uffff" for each in text)


class Moved:
    """From the characters of a text to those of one that was written out of it.

    What both begin with and what both end with has moved as a whole; of what lies between nothing
    is known.
    """

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = len(old), len(new)
        most = min(self._old, self._new)
        begin = 0
        while begin < most and old[begin] == new[begin]:
            begin += 1
        end = 0
        while end < most - begin and old[-1 - end] == new[-1 - end]:
            end += 1
        self._begin, self._end = begin, end

    def onward(self, offset: int) -> int | None:
        """Return where a character of the old text is in the new one."""
        return self._across(offset, self._old, self._new)

    def back(self, offset: int) -> int | None:
        """Return where a character of the new text was in the old one."""
        return self._across(offset, self._new, self._old)

    def _across(self, offset: int, here: int, there: int) -> int | None:
        if offset <= self._begin:
            return offset
        return offset + there - here if here - offset <= self._end else None
