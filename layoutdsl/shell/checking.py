"""``check``: is the text in order? What there is in it, said in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from layoutdsl.language.texts.source import LayoutError
from layoutdsl.shell.exits import Exit
from layoutdsl.shell.options import Form, forms, quiet
from layoutdsl.shell.output import faults_json, say_json, say_passed
from layoutdsl.shell.targets import Target, every, named, warn

if TYPE_CHECKING:
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.module import Module
    from layoutdsl.language.meaning.record import Record
    from layoutdsl.language.meaning.table import Table


@click.command(short_help="Check that a spec is well formed.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@quiet
@forms
def check(files: tuple[str, ...], form: Form) -> int:
    """Check that specs are well formed; prove nothing.

    All faults are reported at once, each with its place and a way to mend it.

    \b
      layoutdsl check demo.layout
      layoutdsl check - < demo.layout
      layoutdsl check kernels/*.layout --format github
    """
    try:
        chosen = every(files, named)
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
    match form:
        case "json":
            say_json(_modules_json(chosen))
        case "sarif" | "github":
            from layoutdsl.shell.reporting import Reporting

            counted = f"{_count(len(chosen), 'file')}: well formed"
            Reporting(form, chosen).finish(Exit.OK, counted)
        case "text":
            for each in chosen:
                warn(each)
                if len(chosen) > 1:
                    say_passed(f"{each.place}:")
                say_passed(_well_formed(each.module))
    return Exit.OK


def _modules_json(chosen: tuple[Target, ...]) -> dict[str, Any]:
    """What several specs hold, one after the other."""
    modules = [each.module for each in chosen]
    return {
        "status": "ok",
        "diagnostics": [said.as_json() for each in chosen for said in each.warnings],
        "layouts": [layout_json(each) for held in modules for each in held.layouts.values()],
        "tables": [table_json(each) for held in modules for each in held.tables.values()],
        "records": [record_json(each) for held in modules for each in held.records.values()],
        "rules": [rule.text for held in modules for rule in held.rules],
        "operators": [said for held in modules for said in held.operators],
        "claims": [claim.text for held in modules for claim in held.all_claims],
    }


def layout_json(layout: Layout) -> dict[str, Any]:
    """Return what a layout is, and not only its name."""
    from layoutdsl.language.declaration import declaration
    from layoutdsl.language.meaning.elements import fill_text
    from layoutdsl.language.meaning.interface import interface_text

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
    from layoutdsl.language.declaration import table_declaration

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
    from layoutdsl.language.declaration import part_text, record_declaration
    from layoutdsl.language.meaning.elements import fill_text

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
    from layoutdsl.language.declaration import declaration, table_declaration

    written = [
        *map(declaration, module.layouts.values()),
        *map(table_declaration, module.tables.values()),
    ]
    rows = [_row(each) for each in written]
    rows += [row for each in module.records.values() for row in _record_rows(each)]
    rows += [(head, rest) for head, _, rest in (each.text.partition(" ") for each in module.rules)]
    for said in module.operators:
        word, _, rest = said.partition(" ")
        rows.append((word, rest))
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"{name:<{width}}  {written}" for name, written in rows]
    claims = len(module.all_claims)
    alone = not (module.records or module.rules or module.operators)
    counts = [_count(len(module.layouts), "layout")] if module.layouts or alone else []
    counts += [_count(len(module.tables), "table")] if module.tables else []
    counts += [_count(len(module.records), "record")] if module.records else []
    counts += [_count(len(module.rules), "rule")] if module.rules else []
    counts += [_count(len(module.operators), "statement")] if module.operators else []
    return "\n".join([*lines, f"{', '.join([*counts, _count(claims, 'claim')])}: well formed"])


def _row(declared: str) -> tuple[str, str]:
    """The name of a layout or table with its parameters, and all that follows."""
    _, _, rest = declared.partition(" ")
    name, parenthesis, rest = rest.partition("(")
    return name, parenthesis + rest


def _record_rows(record: Record) -> list[tuple[str, str]]:
    """A row for each part, between that of the name and that of the end."""
    from layoutdsl.language.declaration import record_lines

    head, *parts, end = record_lines(record).splitlines()
    opened = head.removeprefix(f"record {record.name}")
    return [(record.name, opened), *(("", each) for each in parts), ("", end)]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
