"""What others call a layout: texts of other notations, and layouts of the library that are it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pages import Page, table

from layoutdsl import commands
from layoutdsl.language.declaration import declaration
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.view.compare.difference import Equal, EqualWhere, diff


def elsewhere(page: Page) -> str:
    """Texts of other notations, and layouts of the library that are the same."""
    found = page.found
    if isinstance(found, Record):
        return _same_records(page, found)
    rows = [row for name in commands.notations() if (row := _written(found, name, ""))]
    shape = page.said.get("fixed")
    if shape:
        fixed = _fixed(found, shape)
        at = " at " + " ".join(
            f"{a.name.upper()}={e}" for a, e in zip(found.axes, shape, strict=True)
        )
        for name in ("cute", "triton", "numpy"):
            if not any(row[0] == name for row in rows) and (row := _written(fixed, name, at)):
                rows.append(row)
    blocks = [table(("notation", "text"), rows)] if rows else []
    same = [_agreement(found, each) for each in page.said.get("same", ())]
    blocks += ["\n".join(same)] if same else []
    cannot = [_reason(found, each) for each in page.said.get("cannot", ())]
    blocks += ["\n".join(cannot)] if cannot else []
    return "\n\n".join(blocks)


def _written(found: Layout, notation: str, at: str) -> tuple[str, str] | None:
    told = commands.translate(found, notation)
    if told.text is None or not told.proved:
        return None
    only = ", ".join(map(str, told.where))
    shown = "`" + told.text.replace("|", "\\|") + "`"
    return notation + at, shown + (f" where {only}" if only else "")


def _fixed(found: Layout, shape: Sequence[int]) -> Layout:
    """The layout at one shape, its extents as numbers."""
    text = re.sub(r" where .*", "", declaration(found), flags=re.DOTALL)
    for axis, extent in zip(found.axes, shape, strict=True):
        head, _, body = text.partition(") =")
        head = re.sub(rf"\b{axis.name}\b(?!:)(?=[,)]|$)", f"{axis.name}: {extent}", head)
        text = head + ") =" + re.sub(rf"\b{axis.name.upper()}\b", str(extent), body)
    return commands.parse(text)[found.name]


def _agreement(found: Layout, name: str) -> str:
    """A line that says where a layout of the library is the same one, as `diff` proves it."""
    called, _, axes = name.partition(" ")
    match diff(found, commands.library(called), axes or None):
        case Equal():
            shapes = "for all shapes of both"
        case EqualWhere(agreements=agreements):
            shapes = "where " + ", ".join(map(str, agreements[0].conditions))
        case other:
            raise ValueError(f"{found.name} and {name}: {other}")
    return f"- equal to `{called}` of the library{f' with `{axes}`' if axes else ''}, {shapes}"


def _reason(found: Layout, notation: str) -> str:
    told = commands.translate(found, notation)
    if told.reason is None:
        raise ValueError(f"{found.name} can be said in {notation}: {told.text}")
    return f"- cannot be written in `{notation}`: {told.reason}"


def _same_records(page: Page, found: Record) -> str:
    """The other records of the library that put every field where this one does."""
    fields = [(each.name, each.extents) for each in found.fields]
    names = [
        name
        for name in commands.library_record_names()
        if name != page.subject
        and [(each.name, each.extents) for each in commands.library_record(name).fields] == fields
        and commands.prove(commands.parse(f"prove {page.subject} == {name}")).status == "proved"
    ]
    lines = [
        f"- equal to `{each}` of the library, for all shapes: every bit has the same address"
        for each in names
    ]
    return "\n".join(lines) or "No other record of the library puts its fields where this one does."
