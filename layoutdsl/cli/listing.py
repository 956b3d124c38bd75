"""``list``: the layouts and tables of the library, all of them or those that mention something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from layoutdsl.cli.options import JSON
from layoutdsl.cli.output import error, say, say_json

_DECLARED = re.compile(r"^(layout|table) +(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a family says about one layout or table, as text: nothing is parsed for it.

    Attributes:
        file: of the family.
        kind: ``layout`` or ``table``.
        remark: the lines above the declaration, which name its source.
        text: the remark, the declaration, and the claims up to the next one.
    """

    file: str
    kind: str
    name: str
    remark: str
    text: str

    @property
    def family(self) -> str:
        """The name of the file without its ending."""
        return self.file.removesuffix(".layout")

    def mentions(self, words: Sequence[str]) -> bool:
        """Say whether every word stands somewhere, in either case."""
        text = f"{self.family} {self.text}".casefold()
        return all(word.casefold() in text for word in words)


def entries(file: str, text: str) -> tuple[Entry, ...]:
    """Return the entries of a family in the order in which they stand."""
    found = list(_DECLARED.finditer(text))
    remarks = [_remark(text[: each.start()]) for each in found]
    starts = [each.start() - len(remark) for each, remark in zip(found, remarks, strict=True)]
    ends = [*starts[1:], len(text)]
    return tuple(
        Entry(file, each[1], each[2], _one_line(remark), text[start:end])
        for each, remark, start, end in zip(found, remarks, starts, ends, strict=True)
    )


def _remark(before: str) -> str:
    """The lines of remarks at the end of a text."""
    lines = before.splitlines(keepends=True)
    number = len(lines)
    while number and lines[number - 1].startswith("#"):
        number -= 1
    return "".join(lines[number:])


def _one_line(remark: str) -> str:
    return " ".join(line.lstrip("# ").rstrip() for line in remark.splitlines())


@click.command("list", short_help="List the layouts of the library.")
@click.option(
    "--search",
    metavar="WORDS",
    help="Only what has all these words: in its name, family, source, spelling or claims.",
)
@JSON
def list_library(search: str | None, form: str) -> None:
    """List the layouts and tables of the library, each with its source.

    \b
      layoutdsl list
      layoutdsl list --search onednn
      layoutdsl list --search "gguf u4"
    """
    from layoutdsl.texts import resources

    words = (search or "").split()
    families = [entries(file, text) for file, text in resources.library_families()]
    found = [each for family in families for each in family if each.mentions(words)]
    if form == "json":
        shown = [(each, _json(each)) for each in found]
        layouts = [values for each, values in shown if each.kind == "layout"]
        tables = [values for each, values in shown if each.kind == "table"]
        say_json({"layouts": layouts, "tables": tables})
    elif found:
        names = dict.fromkeys(each.family for each in found)
        say("\n\n".join(_family(name, found) for name in names))
    else:
        error(f"note: nothing in the library mentions `{' '.join(words)}`")


def _json(entry: Entry) -> dict[str, Any]:
    from layoutdsl.api import declared
    from layoutdsl.cli.proofs import layout_json, table_json

    module = declared(entry.file)
    if entry.kind == "layout":
        values = layout_json(module[entry.name])
    else:
        values = table_json(module.tables[entry.name])
    return {**values, "family": entry.family, "source": entry.remark}


def _family(name: str, found: Sequence[Entry]) -> str:
    lines = [click.style(name, bold=True)]
    for entry in found:
        if entry.family == name:
            lines.append(f"  {_spelled(entry)}")
            lines += [click.style(f"      {entry.remark}", dim=True)] if entry.remark else []
    return "\n".join(lines)


def _spelled(entry: Entry) -> str:
    """The declaration with its aliases and notations resolved."""
    from layoutdsl.api import declared
    from layoutdsl.show.declaration import declaration, table_declaration

    module = declared(entry.file)
    if entry.kind == "layout":
        return declaration(module[entry.name]).removeprefix("layout ")
    return table_declaration(module.tables[entry.name])
