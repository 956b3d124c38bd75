"""A text in the usual spelling with its remarks: the same words in the same order, other blanks.

One declaration a line, broken where it is longer than a line may be; a record over several lines
stays so, its parts below each other. Empty lines stay, never two together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from layoutdsl.language.syntax.lines import INDENT, WIDTH, add_remarks, lines_of, one_line
from layoutdsl.language.syntax.parser import look_over, parse
from layoutdsl.language.syntax.spacing import Gap, clinging, gaps
from layoutdsl.language.syntax.words import Word, declarations, words_of
from layoutdsl.language.texts.source import Source

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
    """One part of a record in three pieces: the head before `=`, the body, and the clauses."""

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


def formatted(source: Source) -> str:
    """Return a text in the usual spelling; line ends are those of its first line.

    Raises:
        LayoutError: the text is not in the language.
    """
    parse(source)
    words, tree = words_of(source.text)
    clings = clinging(tree)
    found, place = list[str](), 0
    for start, end, declared in declarations(tree):
        first = place
        while words[place].start < end:
            place += 1
        run = words[first:place]
        assert run[0].start == start, "declarations follow each other"
        _introduce(found, run[0])
        between = gaps(run, clings)
        found += _record(run, between) if declared.data == "record" else lines_of(run, between)
    _introduce(found, words[place], ends=True)
    text = _line_end(source.text).join([*found, ""]) if found else ""
    _hold(source, text, words)
    return text


def _hold(source: Source, text: str, words: Sequence[Word]) -> None:
    """See to it that no word and no remark was lost or changed, whatever happened here."""
    look_over(Source(source.name, text))
    again, _ = words_of(text)
    assert _said(again) == _said(words), "formatting keeps every word"


def _said(words: Sequence[Word]) -> list[tuple[str, ...]]:
    return [(each.kind, each.text, *(remark.text for remark in each.remarks)) for each in words]


def _line_end(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _introduce(lines: list[str], word: Word, ends: bool = False) -> None:
    """Add what stands before a declaration: remarks, and empty lines where there were some."""
    for remark in word.remarks:
        if remark.apart and lines:
            lines.append("")
        add_remarks(lines, [remark], "")
    if word.apart and lines and not ends:
        lines.append("")


def _record(words: Sequence[Word], between: Sequence[Gap]) -> list[str]:
    """The lines of a record: one, or one for each part."""
    opened = next(i for i, each in enumerate(words) if each.kind == "LBRACE")
    closed = next(i for i, each in enumerate(words) if each.kind == "RBRACE")
    inside = words[opened + 1 : closed + 1]
    whole = one_line(words, between)
    spread = words[opened + 1].breaks or any(each.remarks for each in inside)
    if not (spread or len(whole) > WIDTH):
        return lines_of(words, between)
    found = lines_of(words[: opened + 1], between[: opened + 1])
    starts = [*_parts(words, opened + 1, closed), closed]
    rows = [Row(words[first:end], between[first:end]) for first, end in pairwise(starts)]
    for number, (row, lines) in enumerate(zip(rows, aligned(rows), strict=True)):
        first = row.words[0]
        _part_introduced(found, first, apart=number > 0)
        found += lines
    add_remarks(found, words[closed].remarks, INDENT)
    tail = [Gap(False, None), *between[closed + 1 :]]
    return found + lines_of(words[closed:], tail)


def _part_introduced(lines: list[str], word: Word, apart: bool) -> None:
    for remark in word.remarks:
        if remark.apart and apart:
            lines.append("")
        add_remarks(lines, [remark], INDENT)
        apart = True
    if word.apart and apart:
        lines.append("")


def _parts(words: Sequence[Word], first: int, end: int) -> list[int]:
    """Where parts start: at a name with a bracket, behind which come `=` or bits.

    A name in a clause may have a bracket behind it too, as `ceil(` has, but then neither of these.
    """
    found, depth = list[int](), 0
    for number in range(first, end):
        kind = words[number].kind
        if depth == 0 and kind == "NAME" and words[number + 1].kind == "LPAR":
            behind = _closing(words, number + 1) + 1
            if words[behind].kind in ("EQUAL", "BITS"):
                found.append(number)
        depth += (kind in ("LPAR", "LSQB")) - (kind in ("RPAR", "RSQB"))
    return found


def _closing(words: Sequence[Word], opened: int) -> int:
    depth, place = 0, opened
    while True:
        depth += (words[place].kind == "LPAR") - (words[place].kind == "RPAR")
        if depth == 0:
            return place
        place += 1
