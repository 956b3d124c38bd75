"""Texts, places in them, and what we say about a place.

A `Diagnostic` owns everything that its rendering needs, so a message can be printed, compared or
sent as JSON long after the parser is gone. This module imports nothing of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

WINDOW = 100
"""Characters of a source line that are shown; a longer line is cut around the place."""


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    return text.split("\n")


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name under which the user knows it."""

    name: str
    text: str

    def __repr__(self) -> str:
        return f"<Source {self.name[:WINDOW]}: {len(self.text)} characters>"

    def place(self, position: int) -> tuple[int, int]:
        """Return the line and column, both counted from 1, of a character position."""
        line = self.text.count("\n", 0, position) + 1
        return line, position - self.text.rfind("\n", 0, position)

    def line(self, number: int) -> str:
        """Return line ``number``, counted from 1, without its line end."""
        lines = _lines(self.text)
        return lines[number - 1].rstrip("\r") if number <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open run of characters ``start`` to ``end`` of a source."""

    source: Source
    start: int
    end: int

    def __repr__(self) -> str:
        line, column = self.source.place(self.start)
        return f"<Span {self.source.name[:WINDOW]}:{line}:{column} {self.text[:WINDOW]!r}>"

    @property
    def text(self) -> str:
        """The characters of the span."""
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of ``other``."""
        return Span(self.source, self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Label:
    """A place with a few words."""

    span: Span
    words: str = ""


@dataclass(frozen=True, slots=True)
class Mend:
    """``text`` in place of what stands at ``span``."""

    span: Span
    text: str

    @property
    def mended(self) -> str:
        """The whole text with the mend made."""
        whole = self.span.source.text
        return whole[: self.span.start] + self.text + whole[self.span.end :]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault: what, where, and how to mend it.

    ``code`` is stable; ``layoutdsl explain CODE`` tells more. ``help`` proposes a mend, and is
    left out when there is none that is surely right; ``mend`` is the same for an editor, where the
    help comes to one change of the text.
    """

    code: str
    message: str
    primary: Label
    others: tuple[Label, ...] = ()
    help: str | None = None
    severity: Literal["error", "warning"] = "error"
    mend: Mend | None = None

    def __str__(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        return f"<Diagnostic {self.code}: {self.message[: 2 * WINDOW]}>"

    def as_json(self) -> dict[str, object]:
        """Return the diagnostic as plain values, places counted from 1."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "places": [_label_json(label) for label in (self.primary, *self.others)],
            "help": self.help,
            "mend": self.mend and {**_place(self.mend.span), "text": self.mend.text},
        }


class LayoutError(Exception):
    """The user's text is wrong; carries every diagnostic, in source order.

    Those of several texts are in the order in which the texts are met.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...] | Diagnostic) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else diagnostics
        spans = [each.primary.span for each in found]
        met = [span.source.name for span in spans]
        places = [(met.index(span.source.name), span.start) for span in spans]
        order = sorted(range(len(found)), key=places.__getitem__)
        self.diagnostics = tuple(found[each] for each in order)
        super().__init__(self.diagnostics)

    def __repr__(self) -> str:
        more = f" and {len(self.diagnostics) - 1} more" if len(self.diagnostics) > 1 else ""
        return f"<LayoutError {self.diagnostics[0]!r}{more}>"

    def __str__(self) -> str:
        return "\n\n".join(render(diagnostic) for diagnostic in self.diagnostics)


def _label_json(label: Label) -> dict[str, object]:
    return {"source": label.span.source.name, **_place(label.span), "words": label.words}


def _place(span: Span) -> dict[str, object]:
    line, column = span.source.place(span.start)
    return {"line": line, "column": column, "length": span.end - span.start}


def render(diagnostic: Diagnostic) -> str:
    """Return the message as a terminal shows it: head, place, source lines with marks, help."""
    source = diagnostic.primary.span.source
    line, column = source.place(diagnostic.primary.span.start)
    lines = _by_line(diagnostic)
    width = len(str(max(lines)))
    rows = [
        f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}",
        f"{' ' * width}--> {_printable(source.name)}:{line}:{column}",
        f"{' ' * width} |",
    ]
    for number in sorted(lines):
        rows += _snippet(source.line(number), number, lines[number], width)
    if diagnostic.help is not None:
        rows.append(f"{' ' * width} = help: {diagnostic.help}")
    return "\n".join(rows)


def _by_line(diagnostic: Diagnostic) -> dict[int, list[tuple[int, int, str, str]]]:
    """Group the marks by line: column, length, mark and words of each."""
    lines: dict[int, list[tuple[int, int, str, str]]] = {}
    for mark, label in [("^", diagnostic.primary), *(("-", other) for other in diagnostic.others)]:
        number, column = label.span.source.place(label.span.start)
        room = len(label.span.source.line(number)) - column + 1
        length = max(1, min(label.span.end - label.span.start, room))
        lines.setdefault(number, []).append((column, length, mark, label.words))
    return lines


def _snippet(
    text: str, number: int, marks: list[tuple[int, int, str, str]], width: int
) -> list[str]:
    first = min(column for column, _, _, _ in marks)
    cut = max(0, first - WINDOW // 2) if len(text) > WINDOW else 0
    shown = _printable(text[cut : cut + WINDOW])
    before = "..." if cut else ""
    after = "..." if cut + WINDOW < len(text) else ""
    rows = [f"{number:>{width}} | {before}{shown}{after}"]
    for column, length, mark, words in marks:
        indent = len(before) + column - 1 - cut
        if indent > WINDOW:
            continue
        run = mark * min(length, WINDOW - indent + len(before) + 1)
        rows.append(f"{' ' * width} | {' ' * indent}{run} {words}".rstrip())
    return rows


def _printable(text: str) -> str:
    """Replace what would move the cursor or hide, one character for one."""
    return "".join(
        each if each.isprintable() else " " if each == "\t" else "\ufffd" for each in text
    )
