"""Words to lines: as few as there can be, ended where it hurts least; remarks end a line.

What comes out depends on the words and remarks alone, and not on the lines that they came in, so
that it comes out the same the next time.
"""

from __future__ import annotations

from collections.abc import Sequence

from layoutdsl.language.syntax.spacing import Gap
from layoutdsl.language.syntax.words import Remark, Word

WIDTH = 100
"""Characters of a line, where there is a place to end it."""

INDENT = "    "

_A_LINE = 10
"""What a line more costs, in the terms of `spacing`."""

_A_CHARACTER = 1000
"""What a character beyond the width costs."""


def one_line(words: Sequence[Word], between: Sequence[Gap]) -> str:
    """Return the words of a line; remarks before the first of them are not looked at."""
    parts = [words[0].text]
    for word, gap in zip(words[1:], between[1:], strict=True):
        parts += [" " * gap.blank, word.text]
    return "".join(parts)


def lines_of(words: Sequence[Word], between: Sequence[Gap], margin: str = "") -> list[str]:
    """Return the lines of a run of words; remarks before the first are not looked at.

    Args:
        words: of a declaration, or of a part of one; not empty.
        between: what stands before each of them.
        margin: of the first line; those behind it have an indent more.
    """
    found, first = list[str](), 0
    for number in range(1, len(words) + 1):
        remarks = words[number].remarks if number < len(words) else ()
        if number < len(words) and not remarks:
            continue
        run = slice(first, number)
        found += _filled(words[run], between[run], margin, margin + INDENT * bool(found))
        add_remarks(found, remarks, margin + INDENT)
        first = number
    return found


def add_remarks(lines: list[str], remarks: Sequence[Remark], margin: str) -> None:
    """Add remarks behind the last line, or below it, as they were written."""
    for remark in remarks:
        if remark.trails:
            lines[-1] += f"  {remark.text}"
        else:
            lines.append(f"{margin}{remark.text}")


def _filled(words: Sequence[Word], between: Sequence[Gap], margin: str, start: str) -> list[str]:
    """The lines of words without remarks, the cheapest of all ways to end them."""
    pieces, costs = _pieces(words, between)
    count = len(pieces)
    best: list[tuple[int, int]] = [(0, count)] * (count + 1)  # of the rest: its cost, where it ends
    for first in range(count - 1, -1, -1):
        width = len(start if first == 0 else margin + INDENT)
        choices = list[tuple[int, int]]()
        for end in range(first + 1, count + 1):
            width += len(pieces[end - 1]) + (end - 1 > first)
            over = max(0, width - WIDTH)
            cost = best[end][0] + _A_CHARACTER * over
            choices.append((cost + (0 if end == count else _A_LINE + costs[end]), -end))
            if over:
                break
        cost, end = min(choices)
        best[first] = cost, -end
    found, first = list[str](), 0
    while first < count:
        end = best[first][1]
        found.append((margin + INDENT if first else start) + " ".join(pieces[first:end]))
        first = end
    return found


def _pieces(words: Sequence[Word], between: Sequence[Gap]) -> tuple[list[str], list[int]]:
    """Runs of words that stay together, and what a line end before each costs."""
    pieces, costs, first = list[str](), [0], 0
    for number in range(1, len(words) + 1):
        cost = between[number].cost if number < len(words) else 0
        if cost is None:
            continue
        pieces.append(one_line(words[first:number], between[first:number]))
        costs.append(cost)
        first = number
    return pieces, costs
