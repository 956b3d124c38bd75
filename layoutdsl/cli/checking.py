"""``check``: is the text in order? What there is in it, said in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from layoutdsl.cli.exits import Exit
from layoutdsl.cli.options import JSON
from layoutdsl.cli.output import faults_json, say, say_json
from layoutdsl.cli.targets import Target, named, warn
from layoutdsl.texts.source import LayoutError

if TYPE_CHECKING:
    from layoutdsl.meaning.claims import Module
    from layoutdsl.meaning.model import Layout
    from layoutdsl.meaning.record import Record
    from layoutdsl.meaning.table import Table


@click.command(short_help="Check that a spec is well formed.")
@click.argument("file", metavar="FILE")
@JSON
def check(file: str, form: str) -> int:
    """Check that a spec is well formed; prove nothing.

    All faults are reported at once, each with its place and a way to mend it.

    \b
      layoutdsl check demo.layout
      layoutdsl check - < demo.layout
    """
    try:
        chosen = named(file)
    except LayoutError as failure:
        if form != "json":
            raise
        say_json(
            {
                **faults_json(failure),
                "layouts": [],
                "tables": [],
                "records": [],
                "rules": [],
                "claims": [],
            }
        )
        return Exit.USAGE
    if form == "json":
        say_json(_module_json(chosen))
    else:
        warn(chosen)
        say(_well_formed(chosen.module))
    return Exit.OK


def _module_json(chosen: Target) -> dict[str, Any]:
    module = chosen.module
    return {
        "status": "ok",
        "diagnostics": [each.as_json() for each in chosen.warnings],
        "layouts": [layout_json(each) for each in module.values()],
        "tables": [table_json(each) for each in module.tables.values()],
        "records": [record_json(each) for each in module.records.values()],
        "rules": [rule.text for rule in module.rules],
        "operators": list(module.operators),
        "claims": [claim.text for claim in module.all_claims],
    }


def layout_json(layout: Layout) -> dict[str, Any]:
    """Return what a layout is, and not only its name."""
    from layoutdsl.showing.declaration import declaration, fill_text, interface_text

    return {
        "name": layout.name,
        "text": declaration(layout),
        "axes": layout.axes,
        "coordinates": layout.coordinates,
        "chunk_rank": layout.chunk_rank,
        "fill": fill_text(layout.fill),
        "element": layout.element,
        "offset": layout.start,
        "where": layout.where,
        "domain": layout.domain,
        "parameters": layout.parameters,
        "copies": layout.copies,
        "interface": interface_text(layout.interface).removeprefix(" as ") or "plain",
    }


def table_json(table: Table) -> dict[str, Any]:
    """Return what a table is, and not only its name."""
    from layoutdsl.showing.declaration import table_declaration

    return {
        "name": table.name,
        "text": table_declaration(table),
        "axes": table.axes,
        "slots": table.slots,
        "index": dict(zip((axis.name for axis in table.axes), table.index, strict=True)),
        "where": table.where,
        "parameters": table.parameters,
    }


def record_json(record: Record) -> dict[str, Any]:
    """Return what a record is, and not only its name."""
    from layoutdsl.showing.declaration import fill_text, part_text, record_declaration

    fields = [
        {
            "name": each.name,
            "element": each.element,
            "extents": each.extents,
            "parts": [part_text(part) for part in each.parts],
        }
        for each in record.fields
    ]
    return {
        "name": record.name,
        "text": record_declaration(record),
        "axes": record.axes,
        "fields": fields,
        "fill": fill_text(record.fill),
        "where": record.where,
        "parameters": record.parameters,
    }


def _well_formed(module: Module) -> str:
    from layoutdsl.showing.declaration import axes_text, body, decoded_text, slots_text

    rows = [(layout.name, f"{axes_text(layout)} = {body(layout)}") for layout in module.values()]
    for table in module.tables.values():
        written = f"{axes_text(table)}{slots_text(table)} = {decoded_text(table)}"
        rows.append((table.name, written))
    rows += [row for each in module.records.values() for row in _record_rows(each)]
    rows += [(head, rest) for head, _, rest in (each.text.partition(" ") for each in module.rules)]
    for said in module.operators:
        word, _, rest = said.partition(" ")
        rows.append((word, rest))
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"{name:<{width}}  {written}" for name, written in rows]
    claims = len(module.all_claims)
    alone = not (module.records or module.rules or module.operators)
    counts = [_count(len(module), "layout")] if module or alone else []
    counts += [_count(len(module.tables), "table")] if module.tables else []
    counts += [_count(len(module.records), "record")] if module.records else []
    counts += [_count(len(module.rules), "rule")] if module.rules else []
    counts += [_count(len(module.operators), "statement")] if module.operators else []
    return "\n".join([*lines, f"{', '.join([*counts, _count(claims, 'claim')])}: well formed"])


def _record_rows(record: Record) -> list[tuple[str, str]]:
    """A row for each part, between that of the name and that of the end."""
    from layoutdsl.showing.declaration import record_lines

    head, *parts, end = record_lines(record).splitlines()
    opened = head.removeprefix(f"record {record.name}")
    return [(record.name, opened), *(("", each) for each in parts), ("", end)]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
