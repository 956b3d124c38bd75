"""``list``: the layouts, tables and records of the library, all or those that mention something."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.options import JSON
from layoutdsl.shell.output import error, say, say_json, terminal_width

_DECLARED = re.compile(r"^(layout|table|record) +(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a family says about one layout, table or record, as text: nothing is parsed for it.

    Attributes:
        file: of the family.
        kind: ``layout``, ``table`` or ``record``.
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
    ends = [*starts[1:], len(text)][: len(starts)]
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
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--search",
    metavar="WORDS",
    help="Only what has all these words: in its name, family, source, spelling or claims.",
)
@click.option("--long", "is_long", is_flag=True, help="Also print the declarations and sources.")
@JSON
def list_library(name: str | None, search: str | None, is_long: bool, form: str) -> None:
    """List the names of the library's layouts, tables and records, family by family.

    With NAME, --search or --long, each is listed with its declaration and its source. Of a record
    the fields are listed, and with NAME all its parts.

    \b
      layoutdsl list
      layoutdsl list Q4_0
      layoutdsl list --long
      layoutdsl list --search onednn
      layoutdsl list --search "gguf u4"
    """
    from layoutdsl.language.meaning.unplaced import why_unplaced
    from layoutdsl.language.texts import resources

    words = (search or "").split()
    families = [entries(file, text) for file, text in resources.library_families()]
    every = [each for family in families for each in family]
    found = [each for each in every if each.mentions(words) and name in (None, each.name)]
    if name is not None and all(each.name != name for each in every):
        raise _unknown(name, every)
    if form == "json":
        shown = [(each, _json(each)) for each in found]
        kinds = ("layout", "table", "record")
        say_json(
            {f"{kind}s": [values for each, values in shown if each.kind == kind] for kind in kinds}
        )
    elif found and not (is_long or name or words):
        say(_names(families))
    elif found:
        spelled = _spelled if name is None else _in_full
        names = dict.fromkeys(each.family for each in found)
        say("\n\n".join(_family(each, found, spelled) for each in names))
    else:
        error(f"note: nothing in the library mentions `{' '.join(words)}`")
        for reason in filter(None, (why_unplaced(word.upper()) for word in words)):
            error(f"note: {reason}")


def _names(families: Sequence[Sequence[Entry]]) -> str:
    """Return the names of each family, wrapped to the terminal, and how to see more."""
    from textwrap import wrap

    # A pipe has no width; lines of a family of 40 names are still for people.
    width = min(terminal_width(), _NAMES_WIDTH)
    blocks = list[str]()
    for found in families:
        names = " ".join(each.name for each in found)
        lines = wrap(names, width, initial_indent="  ", subsequent_indent="  ")
        blocks += [click.style(found[0].family, bold=True), *lines]
    count = sum(map(len, families))
    more = "`layoutdsl list NAME` shows one with its source, `--search WORDS` some, `--long` all"
    return "\n".join([*blocks, "", f"{count} names; {more}"])


_NAMES_WIDTH = 98


def _unknown(name: str, known: Sequence[Entry]) -> Failure:
    from layoutdsl.language.meaning.unplaced import unknown_name_help

    hint = unknown_name_help(name, [each.name for each in known])
    message = f"there is no layout, table or record `{name}` in the library"
    return Failure(Exit.USAGE, message, hint or "`layoutdsl list` names them all")


def _json(entry: Entry) -> dict[str, Any]:
    from layoutdsl.commands import declared
    from layoutdsl.shell.checking import layout_json, record_json, table_json

    module = declared(entry.file)
    match entry.kind:
        case "layout":
            values = layout_json(module.layouts[entry.name])
        case "table":
            values = table_json(module.tables[entry.name])
        case _:
            values = record_json(module.records[entry.name])
    return {**values, "family": entry.family, "source": entry.remark}


def _family(name: str, found: Sequence[Entry], spelled: Callable[[Entry], str]) -> str:
    lines = [click.style(name, bold=True)]
    for entry in found:
        if entry.family == name:
            lines += [f"  {each}" for each in spelled(entry).splitlines()]
            lines += [click.style(f"      {entry.remark}", dim=True)] if entry.remark else []
    return "\n".join(lines)


def _spelled(entry: Entry) -> str:
    """The declaration with its aliases and notations resolved."""
    from layoutdsl.commands import declared
    from layoutdsl.language.declaration import declaration, record_fields, table_declaration

    module = declared(entry.file)
    match entry.kind:
        case "layout":
            return declaration(module.layouts[entry.name]).removeprefix("layout ")
        case "table":
            return table_declaration(module.tables[entry.name])
    return record_fields(module.records[entry.name])


def _in_full(entry: Entry) -> str:
    """The declaration, of a record with all its parts, one a line."""
    from layoutdsl.commands import declared
    from layoutdsl.language.declaration import record_lines

    if entry.kind != "record":
        return _spelled(entry)
    return record_lines(declared(entry.file).records[entry.name])
