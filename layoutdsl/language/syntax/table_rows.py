"""Parts of a record below each other, as a table is read: `=` and what follows in columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from layoutdsl.language.syntax.lines import INDENT, lines_of, one_line
from layoutdsl.language.syntax.spacing import Gap
from layoutdsl.language.syntax.words import Word

TABLE_WIDTH = 112
"""Characters of a row: columns are worth a few more than a line has."""

_CLAUSES = frozenset({"OF", "FILL", "OFFSET", "WHERE"})


@dataclass(frozen=True, slots=True)
class Row:
    """The words of one part, and what stands before each."""

    words: Sequence[Word]
    between: Sequence[Gap]


@dataclass(frozen=True, slots=True)
class _Cells:
    """What stands before `=`, from there to the clauses, and these."""

    head: str
    body: str
    clauses: str


def aligned(rows: Sequence[Row]) -> list[list[str]]:
    """Return the lines of each row.

    A row with remarks in it, or too wide by itself, is written as declarations are. Where columns
    make a row too wide, those who make them so stand by themselves.
    """
    cells = {number: found for number, row in enumerate(rows) if (found := _cells(row)) is not None}
    while cells and _width(cells.values()) > TABLE_WIDTH:
        del cells[
            min(cells, key=lambda out: _width([cells[each] for each in cells if each != out]))
        ]
    columns = _columns(cells.values())
    return [
        [_line(cells[number], *columns)]
        if number in cells
        else lines_of(row.words, row.between, INDENT)
        for number, row in enumerate(rows)
    ]


def _columns(cells: Collection[_Cells]) -> tuple[int, int]:
    heads = max((len(each.head) for each in cells), default=0)
    return heads, max((len(each.body) for each in cells), default=0)


def _width(cells: Collection[_Cells]) -> int:
    """The longest row that cells make together."""
    columns = _columns(cells)
    return max((len(_line(each, *columns)) for each in cells), default=0)


def _cells(row: Row) -> _Cells | None:
    words, between = row.words, row.between
    if any(each.remarks for each in words[1:]):
        return None
    if "\n" in (whole := one_line(words, between)) or len(INDENT + whole) > TABLE_WIDTH:
        return None
    equals = next(i for i, each in enumerate(words) if each.kind == "EQUAL")
    ends = [i for i, each in enumerate(words) if i > equals and each.kind in _CLAUSES]
    end = ends[0] if ends else len(words)
    return _Cells(
        one_line(words[:equals], between[:equals]),
        one_line(words[equals:end], between[equals:end]),
        one_line(words[end:], between[end:]) if ends else "",
    )


def _line(cells: _Cells, head: int, body: int) -> str:
    return f"{INDENT}{cells.head:<{head}} {cells.body:<{body}} {cells.clauses}".rstrip()
