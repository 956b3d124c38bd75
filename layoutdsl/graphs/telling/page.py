"""The report as one page of HTML: figures, each transform with its reason, and the graph.

Nothing of a model gets into the page but as escaped text. There is no script, nothing is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from layoutdsl.graphs.telling.drawing import MOVED, Drawing
from layoutdsl.graphs.telling.figures import Figures
from layoutdsl.graphs.telling.report import size

_STYLE = f"""
body {{ font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #222; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
pre, td, text {{ font-family: ui-monospace, monospace; font-size: 12px; }}
table {{ border-collapse: collapse; }}
td, th {{ border-bottom: 1px solid #ccc; padding: 2px 10px; text-align: left; }}
td.bytes {{ text-align: right; }}
.graph {{ overflow: auto; border: 1px solid #ccc; max-height: 80vh; }}
.swatch {{ display: inline-block; width: 1em; height: 1em; border-radius: 3px; }}
path {{ fill: none; stroke: #888; }}
path.moved {{ stroke: {MOVED}; stroke-width: 3; }}
rect {{ stroke: #666; }}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(name: str, lines: Iterable[str], figures: Figures, drawing: Drawing) -> str:
    """Return the page.

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
    heads = ("value", "kind", "has", "gets", "moved", "made by", "taken by")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{escape(name)}: layouts</title><style>{_STYLE}</style></head><body>",
            f"<h1>{escape(name)}</h1>",
            f"<pre>{escape(chr(10).join(lines))}</pre>",
            "<h2>Transforms that are left</h2>",
            _table("left", heads, left),
            "<h2>Nodes as written, as no rule fits</h2>",
            _table("gaps", ("node", "operator", "reason", "moved there"), gaps),
            "<h2>The graph</h2>",
            _legend(drawing),
            f'<div class="graph">{drawing.svg}</div>',
            "</body></html>",
            "",
        ]
    )


def _table(called: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return f'<p id="{called}">none</p>'
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f'<table id="{called}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _legend(drawing: Drawing) -> str:
    swatches = [
        f'<span class="swatch" style="background:{colour}"></span> {escape(name)}'
        for name, colour in drawing.colours.items()
    ]
    swatches.append(f'<span class="swatch" style="background:{MOVED}"></span> moved')
    return f"<p>{' &nbsp; '.join(swatches)}</p>"
