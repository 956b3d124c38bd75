"""The report as the body of a page of HTML: figures, transforms with their reasons, the graph.

Names of a model become escaped text and nothing else. There is no script, and nothing is loaded.
The style sheet belongs to `showing`, which puts this body into a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from layoutdsl.graphs.telling.drawing import Drawing
from layoutdsl.graphs.telling.figures import Amount, Figures
from layoutdsl.graphs.telling.report import WIDTH, count, minimal, size

_HEADS = ("value", "kind", "layout it has", "layout it gets", "bytes moved", "made by", "read by")
_GAPS = ("node", "operator", "reason", "bytes moved there")


def report(name: str, lines: Iterable[str], figures: Figures, drawing: Drawing) -> str:
    """Return the body of the page.

    Args:
        name: of the model.
        lines: what the shell says.
        figures: of the plan.
        drawing: of its graph.
    """
    left = [
        (
            each.value,
            each.kind,
            each.source,
            each.target,
            size(each.bytes),
            each.maker,
            each.readers,
        )
        for each in sorted(figures.left, key=lambda each: -each.bytes)
    ]
    gaps = [(each.name, each.operator, each.reason, size(each.bytes)) for each in figures.gaps]
    return "\n".join(
        [
            *_verdict(name, figures),
            _rows(name, lines),
            "<h2>Transforms that remain</h2>",
            _table("left", _HEADS, left, "No transform remains."),
            "<h2>Nodes that keep the layout of the model</h2>",
            _table("gaps", _GAPS, gaps, "Every node follows a rule."),
            "<h2>The graph</h2>",
            _legend(drawing),
            f'<div class="graph">{drawing.svg}</div>',
        ]
    )


def _verdict(name: str, figures: Figures) -> Iterator[str]:
    """The card at the top: how much is moved, and whether less is possible."""
    least = figures.minimal
    tone, sign = ("good", "\u2713") if least else ("doubt", "?")
    own = figures.written.transforms
    words = "No plan moves less: this is proved." if least else f"Minimal: {minimal(figures)}."
    yield f'<section class="card verdict {tone}">'
    yield f'<h1><span class="sign" aria-hidden="true">{sign}</span>{escape(name)}: '
    yield f"{_amount(own)}, instead of {_amount(figures.alone)}</h1>"
    yield f"<p>{escape(words)}</p></section>"


def _amount(amount: Amount) -> str:
    return f"{size(amount.bytes)} moved in {count(amount.count, 'transform')}"


def _rows(name: str, lines: Iterable[str]) -> str:
    """The lines of the shell, the word at the start of each as a term."""
    rows = "".join(
        f"<dt>{escape(head)}</dt><dd>{escape(words)}</dd>" for head, words in _cut(lines, name)
    )
    return f'<dl class="row">{rows}</dl>'


def _cut(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    for line in lines:
        if line.startswith(f"{name} "):
            yield name, line[len(name) :].strip()
        elif line[WIDTH - 1 : WIDTH] == " ":
            yield line[:WIDTH].strip(), line[WIDTH:].strip()
        else:
            yield "", line


def _table(called: str, heads: Sequence[str], rows: Sequence[Sequence[str]], empty: str) -> str:
    if not rows:
        return f'<p id="{called}">{escape(empty)}</p>'
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" id="{called}">{table}</div>'


def _legend(drawing: Drawing) -> str:
    swatches = [
        f'<span class="swatch" style="background:{colour}"></span>{escape(name)}'
        for name, colour in drawing.colours.items()
    ]
    swatches.append('<span class="swatch moved"></span>moved to another layout')
    keys = " ".join(f"<span>{each}</span>" for each in swatches)
    words = (
        "Each box is a node, coloured by the layout of its result. An edge shows shape and bytes."
    )
    return f'<p class="keys">{keys}</p><p class="faint">{words}</p>'
