"""``explain`` and ``print``: what there is to read."""

from __future__ import annotations

import re

import click

from layoutdsl.shell.exits import Exit, Failure, reading
from layoutdsl.shell.options import JSON
from layoutdsl.shell.output import say, say_json

_SECTION = re.compile(r"^## +([A-Z]\d+): *(.*)$", re.MULTILINE)


@click.command(short_help="Explain the code of a message.")
@click.argument("code")
@JSON
def explain(code: str, form: str) -> None:
    """Explain the code of a message: what is wrong, and how to mend it.

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
        say(f"{wanted}: {title}\n\n{text}")


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
