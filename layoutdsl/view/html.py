"""Pages of HTML: pictures with the buffer beside the tensor, cards with verdicts.

A page is one file that loads nothing. Its only script is `picture.js`, which the page's policy
names by its hash. Every word that comes from a layout is escaped, and is text to the script. Cells
are table cells, so that a screen reader finds rows and columns; the rows are split into parts, of
which a browser lays out only those in view.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape as escaped
from itertools import groupby
from pathlib import Path
from typing import Literal, TypeAlias

from layoutdsl.view.cells import Bits, Cell, Colour, Drawn, Entry, Line, Panel, Tensor
from layoutdsl.view.grounds import EIGHT, dark_ground_of, ground_of

PART = 64
"""Rows of a part that is laid out when it comes into view.

The first part always is laid out. Its width is the width of all parts, so that a frame can be
filled while it is hidden.
"""

HIGH = 24

OPENING = "<!doctype html>"
SIGNED = "<!-- Drawn by layoutdsl. -->"
"""How a page of layoutdsl starts, and what its head contains."""

STYLE_SHEET = Path(__file__).with_name("page.css")
"""The style sheet of every page; the web server of `layoutdsl view` serves this file."""

Tone: TypeAlias = Literal["good", "bad", "doubt"]
"""How a card looks: the classes of the style sheet."""

SIGNS: dict[Tone, str] = {"good": "\u2713", "bad": "\u2717", "doubt": "?"}

_CODE = re.compile("`([^`]*)`")


@cache
def _beside(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8").strip()


def escape(text: str) -> str:
    """Return a text as a page has it; halves of characters, which no file holds, are replaced."""
    return escaped(text.encode("utf-8", "replace").decode())


def prose(text: str) -> str:
    """Return a sentence, escaped, with its backquoted names as code.

    >>> prose("`A` is < `B`")
    '<code>A</code> is &lt; <code>B</code>'
    """
    return _CODE.sub(r"<code>\1</code>", escape(text))


def page(title: str, *parts: str, live: bool = True) -> str:
    """Return a page of its own.

    Args:
        title: of the page, not yet escaped.
        parts: of its body: what `card`, `picture` and `prose` return.
        live: whether the page has pictures, which need the script.
    """
    script = f"\n{_beside('picture.js')}\n" if live else ""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    if live:
        digest = b64encode(sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    return "\n".join(
        [
            OPENING,
            SIGNED,
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title.replace('`', ''))}</title>",
            _style(),
            '</head><body class="page"><main class="report">',
            *parts,
            "</main>",
            *([f"<script>{script}</script>"] if live else []),
            "</body></html>",
            "",
        ]
    )


def fragment(*pictures: Drawn) -> str:
    """Return pictures for a page that has others: with their look, and what runs in them."""
    drawn = map(picture, pictures)
    return "\n".join([_style(), *drawn, f"<script>\n{_beside('picture.js')}\n</script>"])


def _style() -> str:
    return f"<style>\n{_beside('page.css')}\n{_beside('picture.css')}\n</style>"


def banner(tone: Tone, title: str, *parts: str) -> str:
    """Return the card at the top of a page: the answer in one line.

    Args:
        tone: its colour and sign.
        title: the answer, not yet escaped.
        parts: what follows it, escaped.
    """
    head = f"<h1>{_sign(tone)}{prose(title)}</h1>"
    return "\n".join([f'<section class="card verdict {tone}">{head}', *parts, "</section>"])


def card(tone: Tone, outcome: str, claim: str, *parts: str, took: str = "") -> str:
    """Return the card of one claim.

    Args:
        tone: its colour and sign.
        outcome: the verdict in a word or two, not yet escaped.
        claim: as the language writes it, not yet escaped.
        parts: what follows, escaped.
        took: how long it took, in words.
    """
    words = f'<span class="outcome">{escape(outcome)}</span> <code>{escape(claim)}</code>'
    words += f' <span class="took">{escape(took)}</span>' if took else ""
    head = f"<h3>{_sign(tone)}{words}</h3>"
    return "\n".join([f'<section class="card {tone}">{head}', *parts, "</section>"])


def _sign(tone: Tone) -> str:
    return f'<span class="sign" aria-hidden="true">{SIGNS[tone]}</span>'


def heading(words: str) -> str:
    """Return a heading of a section, escaped."""
    return f"<h2>{prose(words)}</h2>"


def paragraph(words: str, kind: str = "") -> str:
    """Return a paragraph, escaped; ``kind`` is a class of the style sheet."""
    return f'<p class="{kind}">{prose(words)}</p>' if kind else f"<p>{prose(words)}</p>"


def block(words: str) -> str:
    """Return lines as a terminal would show them, escaped; nothing for none."""
    return f"<pre>{escape(words)}</pre>" if words else ""


def facts(sentences: Iterable[str]) -> str:
    """Return a list of what was proved, escaped; nothing for none."""
    sign = f'<span class="sign" aria-hidden="true">{SIGNS["good"]}</span>'
    items = "".join(f"<li>{sign}{prose(each)}</li>" for each in sentences)
    return f'<ul class="facts">{items}</ul>' if items else ""


def picture(drawn: Drawn, tag: str = "p") -> str:
    """Return a picture for a page that has the style sheet and the script.

    Args:
        drawn: the picture.
        tag: of its title: ``h1`` where it is the title of the page.
    """
    reasons = list(dict.fromkeys(c.reason for line in drawn.lines for c in line.cells if c.reason))
    fields = [[each.name, each.axes, each.base] for each in drawn.tensors]
    data = {"unit": drawn.unit, "fill": drawn.fill, "fields": fields, "reasons": reasons}
    wide = max((len(c.label) for line in drawn.lines for c in line.cells), default=1)
    buffer, tensor = _SIDES[drawn.unit]
    order = {"offset": "in order of the offset", "byte": "byte by byte", "cycle": "cycle by cycle"}
    return "\n".join(
        [
            f'<div class="ldp" data-all="{escape(json.dumps(data))}">',
            f'<{tag} class="head">{prose(drawn.title)}</{tag}>',
            f'<p class="counts">{prose(drawn.counts)}</p>',
            '<div class="bar"><p class="say" role="status" aria-live="polite">Point at a cell, or '
            "tap it, to see where the same element is on the other side. Arrow keys move; Enter "
            "changes sides.</p>",
            '<span class="play"><button type="button" data-side="buffer">&#9654; '
            f'{order[drawn.unit]}</button> <button type="button" data-side="tensor">&#9654; '
            f"{'thread by thread' if drawn.unit == 'cycle' else 'in order of the tensor'}"
            "</button></span></div>",
            '<p class="bits"></p>' if drawn.unit == "byte" else "",
            f'<div class="sides {drawn.unit}">',
            f'<div><p class="name">{buffer}</p>',
            f'<div class="buffer" style="--w:{max(3, wide)}ch" role="group" aria-label="buffer">',
            *_buffer(drawn, reasons),
            f'</div></div><div><p class="name">{tensor}</p>',
            '<div class="tensor" role="group" aria-label="tensor">',
            *(_tensor(each, drawn.wheel) for each in drawn.tensors),
            "</div></div>",
            _legend(drawn),
            "</div></div>",
        ]
    )


_SIDES = {
    "offset": ("Buffer: one cell for each slot", "Tensor: one cell for each element"),
    "byte": ("Buffer: one cell for each byte", "Fields: one cell for each element"),
    "cycle": ("Banks: one row for each cycle", "Threads: the first byte of each"),
}

_SWATCHES = (
    ("Hatched", "p"),
    ("Grey", "b"),
    ("Red frame", "k"),
    ("Dashed frame", "w"),
    ("Red", "s"),
)
"""How a sentence of the legend begins, and the look of the cells that it explains."""


def _legend(drawn: Drawn) -> str:
    sentences = "".join(f"<li>{_swatch(each)}{prose(each)}</li>" for each in drawn.legend)
    folded = f"<li>{prose(drawn.folded)}</li>" if drawn.folded else ""
    keys = "".join(_key(each, drawn.wheel) for each in drawn.colours)
    colours = f'<ul class="colours">{keys}</ul>' if keys else ""
    words = f'<p class="name">Legend</p><ul>{sentences}{folded}</ul>'
    return f'<aside class="key">{words}{colours}</aside>'


def _swatch(sentence: str) -> str:
    look = next((look for word, look in _SWATCHES if sentence.startswith(word)), None)
    return f'<i class="{look}"></i>' if look else ""


def _key(colour: Colour, wheel: int) -> str:
    return f"<li {_ground(colour.ground, wheel)}>{escape(colour.words)}</li>"


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
            f'<div class="part" style="contain-intrinsic-height:auto {high}px">'
            f"<table><colgroup>{widths}</colgroup>{head}\n{rows}</table></div>"
        )


def _row(line: Line, wheel: int, reasons: dict[str, int], heads: int) -> str:
    gap = ""
    if line.left_out:
        rows = "1 row" if line.left_out == 1 else f"{line.left_out} rows"
        gap = f'<tr><th class="gap" colspan="{heads + 1 + len(line.cells)}">... {rows} left out\n'
    if line.opens == 2:  # room between chunks: a row of its own, as labels keep their height
        gap += f'<tr><th class="space" colspan="{heads + 1 + len(line.cells)}">\n'
    opens = ' class="o"' if line.opens else ""
    head = "".join(f"<th>{escape(each)}" for each in (str(line.number), *line.head))
    return f"{gap}<tr{opens}>{head}" + "".join(_cell(each, wheel, reasons) for each in line.cells)


def _cell(cell: Cell, wheel: int, reasons: dict[str, int]) -> str:
    look = {"element": "", "padding": "p", "shared": "s", "before": "b"}[cell.kind]
    classes = " ".join(
        x for x in (look, "o" * cell.opens, "k" * cell.marked, "w" * cell.wrong) if x
    )
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
    if wheel <= len(EIGHT):
        return f"data-g={ground % len(EIGHT)}"
    both = f"{ground_of(ground, wheel)},{dark_ground_of(ground, wheel)}"
    return f'style="background:light-dark({both})"'


def _quoted(name: str, value: str) -> str:
    return f'{name}="{value}"' if " " in value or not value else f"{name}={value}"


def _tensor(tensor: Tensor, wheel: int) -> str:
    labels = (len(e.label) for p in tensor.panels for row in p.rows for e in row if e is not None)
    name = f'<p class="field">{escape(tensor.name)}</p>' if tensor.name else ""
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
