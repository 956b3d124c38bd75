"""``explain`` and ``print``: what there is to read."""

from __future__ import annotations

import re

import click

from layoutdsl.shell.exits import Exit, Failure, reading
from layoutdsl.shell.options import JSON
from layoutdsl.shell.output import say, say_json

_SECTION = re.compile(r"^## +([A-Z]\d+): *(.*)$", re.MULTILINE)


_BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST_COLUMNS = 96


@click.command(short_help="Explain the code of a message.")
@click.argument("code")
@JSON
def explain(code: str, form: str) -> None:
    """Explain the code of a message, such as L202 in `error[L202]`: the rule, an example that
    breaks it, and the corrected example.

    \b
      layoutdsl explain L202
    """
    from layoutdsl.language.texts.faults import did_you_mean

    known = sections()
    wanted = code.strip().strip("[]").upper()
    if wanted not in known:
        hint = did_you_mean(wanted, known)
        all_of_them = f"known are {', '.join(known)}"
        message = f"there is no message with the code `{code[:40]}`"
        raise Failure(Exit.USAGE, message, hint or all_of_them)
    title, text = known[wanted]
    if form == "json":
        say_json({"code": wanted, "title": title, "text": text})
    else:
        say(f"{wanted}: {title}\n\n{_for_terminal(text)}")


def _for_terminal(text: str) -> str:
    """Return a section of Markdown as plain text: indented examples, tables in columns."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size().columns, MOST_COLUMNS)
    shown: list[str] = []
    for paragraph in _BLOCK.sub(lambda block: textwrap.indent(block[1], "    "), text).split(
        "\n\n"
    ):
        if paragraph.startswith("|"):
            shown.append(_columns(paragraph, width))
        elif paragraph.startswith("    "):
            shown.append(paragraph.rstrip())
        else:
            words = " ".join(paragraph.split())
            fill = textwrap.fill(words, width, break_long_words=False, break_on_hyphens=False)
            shown.append(fill)
    return "\n\n".join(shown)


def _columns(table: str, width: int) -> str:
    rows = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()]
    first = max(len(row[0]) for row in rows)
    rows[1] = ["-" * first, "-" * len(rows[0][1])]
    beside, below = f"    {{:<{first}}}  {{}}", "    {}\n        {}"
    lines = [beside.format(*row) for row in rows]
    return "\n".join(
        line if len(line) <= width else below.format(*row)
        for line, row in zip(lines, rows, strict=True)
    )


def sections() -> dict[str, tuple[str, str]]:
    """Return the title and the text of each code, as the page of errors has them."""
    from layoutdsl.language.texts import resources

    with reading("grammar/errors.md"):
        text = (resources.folder("grammar") / "errors.md").read_text(encoding="utf-8")
    heads = list(_SECTION.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {
        head[1]: (head[2].strip(), text[head.end() : end].strip())
        for head, end in zip(heads, ends, strict=True)
    }


@click.command("print", short_help="Print a spec in the usual spelling.")
@click.argument("file", metavar="FILE")
def print_file(file: str) -> None:
    """Print a spec in the usual spelling, one declaration a line; remarks are left out.

    \b
      layoutdsl print demo.layout
    """
    from layoutdsl.shell.targets import target

    module = target(file).module
    rules, claims = ((each.text for each in kind) for kind in (module.rules, module.all_claims))
    for text in (*module.texts.values(), *rules, *module.operators, *claims):
        say(text)
