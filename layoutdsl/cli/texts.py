"""``explain``, ``list`` and ``print``: what there is to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from layoutdsl.cli.exits import Exit, Failure, reading
from layoutdsl.cli.options import JSON
from layoutdsl.cli.output import say, say_json

if TYPE_CHECKING:
    from layoutdsl.claims import Module

_SECTION = re.compile(r"^## +([A-Z]\d+): *(.*)$", re.MULTILINE)


@click.command(short_help="Explain the code of a message.")
@click.argument("code")
@JSON
def explain(code: str, form: str) -> None:
    """Explain the code of a message: what is wrong, and how to mend it.

    \b
      layoutdsl explain L202
    """
    from layoutdsl.scope import did_you_mean

    sections = _sections()
    wanted = code.strip().strip("[]").upper()
    if wanted not in sections:
        hint = did_you_mean(wanted, sections)
        known = f"known are {', '.join(sections)}"
        message = f"there is no message with the code `{code[:40]}`"
        raise Failure(Exit.USAGE, message, hint or known)
    title, text = sections[wanted]
    if form == "json":
        say_json({"code": wanted, "title": title, "text": text})
    else:
        say(f"{wanted}: {title}\n\n{text}")


def _sections() -> dict[str, tuple[str, str]]:
    from layoutdsl import resources

    with reading("grammar/errors.md"):
        text = (resources.folder("grammar") / "errors.md").read_text(encoding="utf-8")
    heads = list(_SECTION.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {
        head[1]: (head[2].strip(), text[head.end() : end].strip())
        for head, end in zip(heads, ends, strict=True)
    }


@click.command("list", short_help="List the layouts of the library.")
@JSON
def list_library(form: str) -> None:
    """List the layouts and tables of the library, each with its source.

    \b
      layoutdsl list
    """
    from layoutdsl.api import library_families
    from layoutdsl.cli.proofs import layout_json, table_json

    families = library_families()
    if form == "json":
        found = [
            {**layout_json(layout), "family": _family(family), "source": _source(family, name)}
            for family in families
            for name, layout in family.items()
        ]
        tables = [
            {**table_json(table), "family": _family(family), "source": _source(family, name)}
            for family in families
            for name, table in family.tables.items()
        ]
        say_json({"layouts": found, "tables": tables})
        return
    say("\n\n".join(map(_family_text, families)))


def _family(family: Module) -> str:
    return family.name.removesuffix(".layout")


def _family_text(family: Module) -> str:
    from layoutdsl.show.declaration import declaration, table_declaration

    lines = [click.style(_family(family), bold=True)]
    spelled = {name: declaration(each).removeprefix("layout ") for name, each in family.items()}
    spelled |= {name: table_declaration(each) for name, each in family.tables.items()}
    for name, written in spelled.items():
        lines.append(f"  {written}")
        source = _source(family, name)
        lines += [click.style(f"      {source}", dim=True)] if source else []
    return "\n".join(lines)


def _source(family: Module, name: str) -> str:
    """The remark right above a declaration says where it was taken from."""
    from layoutdsl import resources

    lines = dict(resources.library_families())[family.name].splitlines()
    declared = re.compile(rf"\s*(layout|table)\s+{name}\b")
    number = next(k for k, line in enumerate(lines) if declared.match(line))
    remark: list[str] = []
    while number and lines[number - 1].startswith("#"):
        number -= 1
        remark.insert(0, lines[number].lstrip("# ").rstrip())
    return " ".join(remark)


@click.command("print", short_help="Print a spec in the usual spelling.")
@click.argument("file", metavar="FILE")
def print_file(file: str) -> None:
    """Print a spec in the usual spelling, one declaration a line; remarks are left out.

    \b
      layoutdsl print demo.layout
    """
    from layoutdsl.cli.targets import target

    module = target(file).module
    for text in (*module.texts.values(), *(claim.text for claim in module.all_claims)):
        say(text)
