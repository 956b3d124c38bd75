"""What a notebook displays of layouts, records, verdicts, reports and differences.

A layout has no shape, so there is no grid of it: its declaration, its formula and its coordinates
are shown. A verdict that is a refutation is drawn at the shape that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from layoutdsl.commands.illustrations import counterexamples
from layoutdsl.language.declaration import boxes, declaration, fields, formulas, record_lines
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.proof.prover.verdict import Checked, Finding, Proved, Refuted, Undecided
from layoutdsl.proof.proving import Report
from layoutdsl.view.html import fragment, table

MOST_DRAWN = 4
"""Refuted claims of a report that are drawn; of the others words say what is wrong."""


def html_of(value: object) -> str:
    """Return what a notebook shows of a value."""
    match value:
        case Layout():
            return _layout(value)
        case Record():
            return _record(value)
        case Checked():
            return _checked(value, drawn=True)
        case Report():
            return _report(value)
    return f"<pre>{escape(str(value))}</pre>"


def _layout(layout: Layout) -> str:
    said = "\n".join([declaration(layout), *formulas(layout)])
    return f"<pre>{escape(said)}</pre>{table(('coordinate', 'extent', ''), boxes(layout))}"


def _record(record: Record) -> str:
    heads = ("field", "type", "extents", "parts")
    return f"<pre>{escape(record_lines(record))}</pre>{table(heads, fields(record))}"


def _report(report: Report) -> str:
    drawn = 0
    parts = []
    for each in report.checked:
        wrong = not each.passed and each.status == "refuted"
        parts.append(_checked(each, drawn=wrong and drawn < MOST_DRAWN))
        drawn += wrong
    return "".join(parts)


def _checked(checked: Checked, *, drawn: bool) -> str:
    asked = "" if checked.passed or checked.status == "undecided" else ", and claimed otherwise"
    words = [f"{checked.status}{asked}: {checked.claim.text}"]
    words += [line for each in checked.findings for line in _finding(each)]
    said = "\n".join(words)
    pictures = counterexamples(checked) if drawn and checked.status == "refuted" else ()
    return f"<pre>{escape(said)}</pre>{fragment(*pictures) if pictures else ''}"


def _finding(finding: Finding) -> Iterator[str]:
    match finding:
        case Proved(conditions=conditions):
            yield from (f"  where {each}" for each in conditions)
        case Undecided(name, reason):
            yield f"  {name}: {reason}"
        case Refuted(_, example):
            sentence, *lines = example.lines
            yield from (f"  {sentence}", *lines)
