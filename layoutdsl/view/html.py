"""A picture as HTML: the buffer and the tensor side by side, each pointing at the other.

A page is one file that loads nothing. What runs in it is `picture.js` alone, which its policy names
by its hash; every word that comes from a layout is escaped, and is text to the script. Cells are
those of tables, so that whoever listens to a page finds rows and columns; they are drawn in parts,
of which a browser lays out those in view.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape as escaped
from itertools import groupby
from pathlib import Path

from layoutdsl.view.cells import Bits, Cell, Drawn, Entry, Line, Panel, Tensor
from layoutdsl.view.grounds import ground_of

PART = 64
"""Rows of a part that is laid out when it comes into view.

The first always is, and says how wide all are: a frame may be filled where nobody sees it.
"""

HIGH = 24

OPENING = "<!doctype html>"
SIGNED = "<!-- Drawn by layoutdsl. -->"
"""What a page of ours starts with, and has in its head."""


@cache
def _beside(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8").strip()


def escape(text: str) -> str:
    """Return a text as a page has it; halves of characters, which no file holds, are replaced."""
    return escaped(text.encode("utf-8", "replace").decode())


def page(title: str, body: str) -> str:
    """Return a page of its own around pictures and words.

    Args:
        title: of the page, not yet escaped.
        body: what `fragment` and its like return.
    """
    script = b64encode(sha256(f"\n{_beside('picture.js')}\n".encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'"
    return "\n".join(
        [
            OPENING,
            SIGNED,
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escape(title)}</title>",
            "<style>:root{color-scheme:light dark}body{margin:1.2em;font-family:system-ui,"
            "sans-serif}h1{font-size:1.2em}h2{font-size:1.05em;margin:1.6em 0 .3em}"
            "pre{overflow-x:auto}</style>",
            "</head><body>",
            body,
            "</body></html>",
            "",
        ]
    )


def section(heading: str, words: str) -> str:
    """Return a heading and words as they would stand in a terminal, escaped."""
    return f"<h2>{escape(heading)}</h2>\n<pre>{escape(words)}</pre>"


def report(title: str, parts: Iterable[tuple[str, str, Sequence[Drawn]]]) -> str:
    """Return a page of several parts, each a heading, words and pictures.

    Args:
        title: of the page.
        parts: not yet escaped.
    """
    bodies = ("\n".join([section(h, words), *map(_picture, drawn)]) for h, words, drawn in parts)
    return page(title, _with_look(f"<h1>{escape(title)}</h1>", *bodies))


def fragment(*pictures: Drawn) -> str:
    """Return pictures for a page that has others: with their look, and what runs in them."""
    return _with_look(*map(_picture, pictures))


def _with_look(*bodies: str) -> str:
    body = "\n".join(bodies)
    return "\n".join(
        [
            f"<style>\n{_beside('picture.css')}\n</style>",
            body,
            f"<script>\n{_beside('picture.js')}\n</script>",
        ]
    )


def _picture(drawn: Drawn) -> str:
    reasons = list(dict.fromkeys(c.reason for line in drawn.lines for c in line.cells if c.reason))
    fields = [[each.name, each.axes, each.base] for each in drawn.tensors]
    data = {"unit": drawn.unit, "fill": drawn.fill, "fields": fields, "reasons": reasons}
    wide = max((len(c.label) for line in drawn.lines for c in line.cells), default=1)
    order = {"offset": "in order of the offset", "byte": "byte by byte", "cycle": "cycle by cycle"}
    return "\n".join(
        [
            f'<div class="ldp" data-all="{escape(json.dumps(data))}">',
            f'<p class="head"><b>{escape(drawn.title)}</b><br>{escape(drawn.counts)}</p>',
            '<p class="say" role="status" aria-live="polite">Point at a cell, or walk with the '
            "arrow keys; Enter goes to the other side.</p>",
            '<p class="bits"></p>' if drawn.unit == "byte" else "",
            '<p class="play"><button type="button" data-side="buffer">&#9654; '
            f'{order[drawn.unit]}</button> <button type="button" data-side="tensor">&#9654; '
            f"{'thread by thread' if drawn.unit == 'cycle' else 'in order of the tensor'}"
            "</button></p>",
            '<div class="sides">',
            f'<div class="buffer" style="--w:{max(3, wide)}ch" role="group" aria-label="buffer">',
            *_buffer(drawn, reasons),
            '</div><div class="tensor" role="group" aria-label="tensor">',
            *(_tensor(each, drawn.wheel) for each in drawn.tensors),
            "</div></div>",
            _legend(drawn),
            "</div>",
        ]
    )


def _legend(drawn: Drawn) -> str:
    keys = "".join(
        f'<span style="background:{ground_of(each.ground, drawn.wheel)}">{escape(each.words)}'
        "</span> "
        for each in drawn.colours
    )
    sentences = "<br>".join(escape(each) for each in (*drawn.legend, drawn.folded) if each)
    return f'<p class="key">{keys}</p><p class="note">{sentences}</p>'


def _buffer(drawn: Drawn, reasons: Sequence[str]) -> Iterator[str]:
    place = {reason: k for k, reason in enumerate(reasons)}
    heads = "".join(f"<th>{escape(each)}" for each in (drawn.unit, *drawn.heads))
    columns = [[str(line.number), *line.head] for line in drawn.lines]
    named = zip((drawn.unit, *drawn.heads), *columns, strict=True)
    widths = "".join(f'<col style="width:{max(map(len, each)) + 1}ch">' for each in named)
    for number, part in groupby(enumerate(drawn.lines), key=lambda each: each[0] // PART):
        lines = [line for _, line in part]
        names = "".join(f"<th>{escape(each)}" for each in drawn.columns)
        head = f"<tr>{heads}{names}" if number == 0 else ""
        rows = "\n".join(_row(line, drawn.wheel, place, len(drawn.heads)) for line in lines)
        high = (len(lines) + 1) * HIGH
        yield (
            f'<div class="part" style="contain-intrinsic-size:auto {high}px">'
            f"<table><colgroup>{widths}</colgroup>{head}\n{rows}</table></div>"
        )


def _row(line: Line, wheel: int, reasons: dict[str, int], heads: int) -> str:
    gap = ""
    if line.left_out:
        rows = "1 row" if line.left_out == 1 else f"{line.left_out} rows"
        gap = f'<tr><th class="gap" colspan="{heads + 1 + len(line.cells)}">... {rows} left out\n'
    opens = ("", ' class="o"', ' class="oo"')[line.opens]
    head = "".join(f"<th>{escape(each)}" for each in (str(line.number), *line.head))
    return f"{gap}<tr{opens}>{head}" + "".join(_cell(each, wheel, reasons) for each in line.cells)


def _cell(cell: Cell, wheel: int, reasons: dict[str, int]) -> str:
    look = {"element": "", "padding": "p", "shared": "s", "before": "b"}[cell.kind]
    classes = " ".join(x for x in (look, "o" * cell.opens, "k" * cell.marked) if x)
    said = [f"<td data-n={cell.number}"]
    if cell.holds:
        said.append(_quoted("data-k", " ".join(map(str, cell.holds))))
    if cell.reason:
        said.append(f"data-w={reasons[cell.reason]}")
    if cell.bits:
        said.append(_quoted("data-b", " ".join(map(_bits, cell.bits))))
    if classes:
        said.append(_quoted("class", classes))
    if cell.kind == "element":
        said.append(_ground(cell.ground, wheel))
    return f"{' '.join(said)}>{escape(cell.label)}"


def _bits(bits: Bits) -> str:
    held = "" if bits.key is None else bits.key
    return f"{bits.low}:{bits.high}:{held}:{bits.first}"


def _ground(ground: int, wheel: int) -> str:
    if wheel <= 8:
        return f"data-g={ground % 8}"
    return f'style="background:{ground_of(ground, wheel)}"'


def _quoted(name: str, value: str) -> str:
    return f'{name}="{value}"' if " " in value or not value else f"{name}={value}"


def _tensor(tensor: Tensor, wheel: int) -> str:
    labels = (len(e.label) for p in tensor.panels for row in p.rows for e in row if e is not None)
    name = f"<h3>{escape(tensor.name)}</h3>" if tensor.name else ""
    style = f"--w:{max(3, max(labels, default=1))}ch"
    tables = "\n".join(_table(each, wheel) for each in tensor.panels)
    return f'{name}<div class="tables" style="{style}">{tables}</div>'


def _table(panel: Panel, wheel: int) -> str:
    title = f"<caption>{escape(panel.title)}</caption>" if panel.title else ""
    across, columns = panel.across
    down, indices = panel.down
    head = "".join(f"<th{_after_gap(columns, k)}>{at}" for k, at in enumerate(columns))
    corner = escape(f"{down}\\{across}" if down else across)
    rows = "\n".join(
        f"<tr{_after_gap(indices, k)}><th>{at if down else ''}"
        + "".join(_entry(each, wheel) for each in row)
        for k, (at, row) in enumerate(zip(indices, panel.rows, strict=True))
    )
    return f"<table>{title}<tr><th>{corner}{head}\n{rows}</table>"


def _after_gap(indices: Sequence[int], k: int) -> str:
    return " class=cut" if k and indices[k] != indices[k - 1] + 1 else ""


def _entry(entry: Entry | None, wheel: int) -> str:
    if entry is None:
        return "<td class=b>"
    numbers = _quoted("data-n", " ".join(map(str, entry.numbers)))
    marked = " class=k" * entry.marked
    return (
        f"<td data-k={entry.key} {numbers}{marked} {_ground(entry.ground, wheel)}>"
        f"{escape(entry.label)}"
    )


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a plain table of words, escaped."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
