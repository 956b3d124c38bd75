"""Remarks as GitHub's runners read them: a line each, which is shown beside the text.

Source: GitHub, "Workflow commands for GitHub Actions", and `toolkit/packages/core/src/command.ts`.
"""

from __future__ import annotations

from layoutdsl.shell.remarks import Remark, file_of

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def annotation(remark: Remark) -> str:
    """Return the line that shows a remark beside its text, or on the page where it has no text."""
    properties = {**_place(remark), "title": remark.rule}
    said = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in properties.items())
    message = remark.message if remark.help is None else f"{remark.message}\nhelp: {remark.help}"
    return f"::{remark.level} {said}::{_escaped(message, _DATA)}"


def _place(remark: Remark) -> dict[str, str]:
    if not remark.places:
        return {}
    span = remark.places[0].span
    name = file_of(span.source.name)
    if name is None:
        return {}
    (line, column), (last, end) = span.source.place(span.start), span.source.place(span.end)
    found = {"file": name, "line": str(line), "endLine": str(last)}
    if line != last:  # then columns are refused
        return found
    return {**found, "col": str(column), "endColumn": str(end)}


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(each, each) for each in text)
