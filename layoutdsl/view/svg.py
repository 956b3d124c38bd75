"""A picture as one SVG: the buffer, the tensor below or beside it, and what the marks mean.

It is a text of ours, joined by hand: nothing in it is a script, nothing is loaded, and every word
that comes from a layout is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape as escaped

from layoutdsl.view.cells import Cell, Drawn, Entry, Line, Panel
from layoutdsl.view.grounds import ground_of

CHARACTER, HIGH, EDGE = 7, 22, 12
"""Of a letter, a cell and the margin, in pixels."""

BESIDE = 700
"""Pixels that tables of elements may take side by side."""

OPENING = "<svg "
SIGNED = "<!-- Drawn by layoutdsl. -->"
"""What a picture of ours starts with, and has in its head."""

_STYLE = """\
#{id} text{{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#000}}\
#{id} .w{{fill:#1b1b1b}}#{id} .f{{fill:#5a5a5a}}#{id} .t{{font-weight:bold;font-size:13px}}\
#{id} rect{{stroke:#8a8a8a;stroke-width:.5}}#{id} .k{{stroke:#c8102e;stroke-width:2.5;fill:none}}\
#{id} .o{{stroke:#1b1b1b;stroke-width:1.5}}#{id} .s{{fill:#a80f26}}#{id} text.x{{fill:#fff}}\
#{id} .b{{fill:#d0d0d0}}#{id} .h{{fill:#f4f4f4;stroke:none}}\
#{id} .l{{stroke:#8f8f8f;stroke-width:1.5}}\
@media(prefers-color-scheme:dark){{#{id} .w{{fill:#eee}}#{id} .f{{fill:#b5b5b5}}\
#{id} .o{{stroke:#eee}}#{id} .h{{fill:#1d2025}}#{id} .l{{stroke:#4a515c}}\
#{id} .b{{fill:#2a2e35}}}}"""


def svg(drawn: Drawn) -> str:
    """Return the picture; the same picture is the same text."""
    sheet = _Sheet(drawn.wheel, drawn.unit)
    title = drawn.title.replace("`", "")
    top = sheet.words(EDGE, EDGE + 10, title, "w t")
    top = sheet.words(EDGE, top + 6, drawn.counts, "f")
    left_end, left_bottom = sheet.buffer(drawn, top + 14)
    beside = left_end + 36
    right_bottom = sheet.tensors(drawn, beside, top + 14)
    bottom = sheet.notes(drawn, max(left_bottom, right_bottom) + 20)
    body = "\n".join(sheet.parts)
    name = "p" + sha256(body.encode()).hexdigest()[:10]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" role="img" '
            f'width="{sheet.right + EDGE}" height="{bottom}" '
            f'viewBox="0 0 {sheet.right + EDGE} {bottom}" '
            f'aria-labelledby="{name}t {name}d">',
            SIGNED,
            f'<title id="{name}t">{escape(title)}</title>',
            f'<desc id="{name}d">{escape(_told(drawn))}</desc>',
            f"<style>{_STYLE.format(id=name)}</style>",
            f'<defs><pattern id="{name}h" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="6" height="6" class="h"/>'
            '<path d="M0 0V6" class="l"/></pattern>'
            "</defs>",
            body.replace("#hatch", f"#{name}h"),
            "</svg>",
            "",
        ]
    )


def _told(drawn: Drawn) -> str:
    return " ".join([f"{drawn.counts}.", *drawn.legend, drawn.folded]).strip()


_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: str) -> str:
    """Return a text as XML has it; characters that it has not become U+FFFD."""
    return escaped(_NO_XML.sub("\ufffd", text))


class _Sheet:
    """Parts of the text, and how far they reach to the right."""

    def __init__(self, wheel: int, unit: str) -> None:
        self.wheel, self.unit = wheel, unit
        self.parts: list[str] = []
        self.right = 0

    def words(self, x: int, y: int, text: str, kind: str) -> int:
        """Write a line; return where the next one goes."""
        self.parts.append(f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>')
        self.right = max(self.right, x + len(text) * (8 if "t" in kind.split() else 7))
        return y + 14

    def ended(self, x: int, y: int, text: str) -> None:
        """Write a word that ends at a place."""
        self.parts.append(
            f'<text x="{x}" y="{y}" class="f" text-anchor="end">{escape(text)}</text>'
        )

    def box(self, x: int, y: int, width: int, kind: str, ground: int) -> None:
        look = {
            "padding": ' style="fill:url(#hatch)"',
            "shared": ' class="s"',
            "before": ' class="b"',
        }
        fill = look.get(kind) or f' style="fill:{ground_of(ground, self.wheel)}"'
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{HIGH}"{fill}/>')

    def label(self, x: int, y: int, width: int, text: str, kind: str) -> None:
        if text:
            white = ' class="x"' if kind == "shared" else ""
            self.parts.append(
                f'<text x="{x + width // 2}" y="{y + 15}" text-anchor="middle"{white}>'
                f"{escape(text)}</text>"
            )

    def line(self, x1: int, y1: int, x2: int, y2: int) -> None:
        self.parts.append(f'<path class="o" d="M{x1} {y1}L{x2} {y2}"/>')

    def frame(self, x: int, y: int, width: int) -> None:
        self.parts.append(
            f'<rect class="k" x="{x + 1}" y="{y + 1}" width="{width - 2}" height="{HIGH - 2}"/>'
        )

    # The buffer.

    def buffer(self, drawn: Drawn, top: int) -> tuple[int, int]:
        """Draw the rows; return where they end to the right and below."""
        heads = [drawn.unit, *drawn.heads]
        columns = [[str(line.number), *line.head] for line in drawn.lines]
        widths = [max(map(len, each)) for each in zip(heads, *columns, strict=True)]
        ends, at = [], EDGE
        for width in widths:
            at += width * CHARACTER + 8
            ends.append(at - 4)
        wide = cell_width(cell for line in drawn.lines for cell in line.cells)
        for end, name in zip(ends, heads, strict=True):
            self.ended(end, top + 10, name)
        for k, name in enumerate(drawn.columns):
            self.ended(at + (k + 1) * wide - 4, top + 10, name)
        y = top + 18
        for line, words in zip(drawn.lines, columns, strict=True):
            y += self._gap(line, at, y)
            for end, word in zip(ends, words, strict=True):
                self.ended(end, y + 15, word)
            for k, cell in enumerate(line.cells):
                self._cell(cell, at + k * wide, y, wide)
            if line.opens:
                self.line(at, y - 1, at + len(line.cells) * wide, y - 1)
            y += HIGH
        longest = max((len(line.cells) for line in drawn.lines), default=0)
        self.right = max(self.right, at + longest * wide)
        return at + longest * wide, y

    def _gap(self, line: Line, x: int, y: int) -> int:
        if not line.left_out:
            return (0, 2, 8)[line.opens]
        rows = "1 row" if line.left_out == 1 else f"{line.left_out} rows"
        self.words(x, y + 14, f"... {rows} left out", "f")
        return HIGH

    def _cell(self, cell: Cell, x: int, y: int, wide: int) -> None:
        self.box(x, y, wide, cell.kind, cell.ground)
        self.label(x, y, wide, cell.label, cell.kind)
        if cell.opens:
            self.line(x, y, x, y + HIGH)
        if cell.marked:
            self.frame(x, y, wide)

    # The tensors.

    def tensors(self, drawn: Drawn, left: int, top: int) -> int:
        """Draw tables of elements beside each other; return where they end below."""
        y = top
        for tensor in drawn.tensors:
            if tensor.name:
                y = self.words(left, y + 10, tensor.name, "w t") + 2
            y = self._tables(tensor.panels, left, y)
        return y

    def _tables(self, panels: Sequence[Panel], left: int, y: int) -> int:
        wide = entry_width(each for panel in panels for row in panel.rows for each in row)
        x, below = left, y
        for panel in panels:
            head = max(len(f"{panel.down[0]}={at}") if panel.down[0] else 0 for at in panel.down[1])
            width = head * CHARACTER + 6 + len(panel.across[1]) * wide
            width = max(width, len(panel.title) * CHARACTER) + 18
            if x > left and x + width > left + BESIDE:
                x, y = left, below + 10
            below = max(below, self._table(panel, x, y, head * CHARACTER + 6, wide))
            x += width
            self.right = max(self.right, x)
        return below + 8

    def _table(self, panel: Panel, x: int, y: int, head: int, wide: int) -> int:
        if panel.title:
            y = self.words(x, y + 10, panel.title, "w") - 4
        name, columns = panel.across
        if name:
            self.words(x + head, y + 10, _run(name, columns), "f")
            y += 14
        for at, row in zip(panel.down[1], panel.rows, strict=True):
            if panel.down[0]:
                self.ended(x + head - 4, y + 15, f"{panel.down[0]}={at}")
            for k, entry in enumerate(row):
                self._entry(entry, x + head + k * wide, y, wide)
            y += HIGH
        return y

    def _entry(self, entry: Entry | None, x: int, y: int, wide: int) -> None:
        if entry is None:
            self.box(x, y, wide, "before", 0)
            return
        self.box(x, y, wide, "element", entry.ground)
        self.label(x, y, wide, entry.label, "element")
        if entry.marked:
            self.frame(x, y, wide)

    # What stands below.

    def notes(self, drawn: Drawn, y: int) -> int:
        """Write what the marks mean; return where the picture ends."""
        x = EDGE
        for colour in drawn.colours:
            width = len(colour.words) * CHARACTER + 14
            if x + width > max(self.right, 500):
                x, y = EDGE, y + HIGH + 4
            self.box(x, y, width, "element", colour.ground)
            self.label(x, y, width, colour.words, "element")
            x += width + 6
        y += HIGH + 16
        for sentence in (*drawn.legend, drawn.folded):
            if sentence:
                y = self.words(EDGE, y, sentence, "f") + 2
        return y + 4


def _run(name: str, columns: tuple[int, ...]) -> str:
    if len(columns) == 1:
        return f"{name}={columns[0]}"
    whole = columns[-1] - columns[0] < len(columns)  # they grow, and none stands twice
    return f"{name}={columns[0]}..{columns[-1]}" + ("" if whole else ", some left out")


def cell_width(cells: Iterator[Cell]) -> int:
    """Return the pixels that the longest label needs."""
    return max(26, max((len(each.label) for each in cells), default=1) * CHARACTER + 8)


def entry_width(entries: Iterator[Entry | None]) -> int:
    """Return the pixels that the longest label needs."""
    longest = max((len(each.label) for each in entries if each is not None), default=1)
    return max(26, longest * CHARACTER + 8)
