"""What may follow on a command line, for shells that complete: verbs, options, names and files.

A shell calls the program at every press of a key, so names are read off the texts by a regular
expression, and nothing is parsed. `layoutdsl completion` prints what a profile has to hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

VARIABLE = "_LAYOUTDSL_COMPLETE"
"""Which shell asks; `LINE` is then what stands before the cursor."""
LINE = "_LAYOUTDSL_LINE"

_NAMED = re.compile(r"^[ \t]*(?:layout|table|record)[ \t]+([A-Za-z_]\w*)", re.MULTILINE | re.ASCII)
_CODE = re.compile(r"^## +([A-Z]\d+):", re.MULTILINE)
_PLAIN = re.compile(r"([^\w@%+=:,./-])", re.ASCII)
_MOST = 1_000_000
"""Bytes of a file that are looked through for names."""

BASH = """\
_layoutdsl_completion() {
    local IFS=$'\\n'
    COMPREPLY=($(_LAYOUTDSL_COMPLETE=bash _LAYOUTDSL_LINE="${COMP_LINE:0:$COMP_POINT}" \\
        "$1" "$COMP_WORDBREAKS" 2>/dev/null))
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/:] ]] && compopt -o nospace
    return 0
}
complete -F _layoutdsl_completion layoutdsl
"""
ZSH = """\
#compdef layoutdsl
_layoutdsl_completion() {
    local -a found
    found=("${(@f)$(_LAYOUTDSL_COMPLETE=zsh _LAYOUTDSL_LINE="${(j: :)words[1,CURRENT]}" \\
        layoutdsl 2>/dev/null)}")
    compadd -S '' -- ${(M)found:#*[/:]}
    compadd -- ${found:#*[/:]}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -D; }
compdef _layoutdsl_completion layoutdsl
"""
FISH = """\
function __layoutdsl_completion
    set -lx _LAYOUTDSL_COMPLETE fish
    set -lx _LAYOUTDSL_LINE (commandline --cut-at-cursor --current-process | string collect)
    layoutdsl 2>/dev/null
end
complete --command layoutdsl --no-files --arguments '(__layoutdsl_completion)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@click.command(short_help="Print what lets a shell complete layoutdsl.")
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def completion(shell: str) -> None:
    """Print what lets a shell complete verbs, options, files, and names of layouts.

    \b
      layoutdsl completion bash
      bash:  echo 'eval "$(layoutdsl completion bash)"' >> ~/.bashrc
      zsh:   echo 'eval "$(layoutdsl completion zsh)"' >> ~/.zshrc
      fish:  layoutdsl completion fish > ~/.config/fish/completions/layoutdsl.fish
    """
    click.echo(SCRIPTS[shell], nl=False)


def complete(program: click.Group, shell: str, given: Sequence[str]) -> None:
    """Print what may stand in the place of the last word, a line each.

    Args:
        program: the group of verbs.
        shell: which one asks.
        given: of bash, the signs at which it begins a new word; it has the rest already.
    """
    line = os.environ.get(LINE, "")
    words = split_arg_string(line)
    last = words.pop() if words and not line[-1:].isspace() else ""
    if len(words) > 1 and words[1] in program.commands:
        for each in program.commands[words[1]].params:
            if isinstance(each.type, click.types.StringParamType):
                each.shell_complete = partial(_taken, each)  # type: ignore[method-assign]
    engine = ShellComplete(program, {}, "layoutdsl", VARIABLE)
    for item in engine.get_completions(words[1:], last):
        found = str(item.value)
        if item.type == "plain" and found.startswith(last):
            click.echo(_for_bash(found, last, given) if shell == "bash" else found)


def _taken(parameter: click.Parameter, _: click.Context, last: str) -> list[CompletionItem[str]]:
    """What a parameter takes, by how its help calls it; of what is not known, files."""
    name = (parameter.metavar or parameter.name or "").strip("[].").upper()
    return [CompletionItem(each) for each in TAKES.get(name, _files)(last)]


def _for_bash(found: str, last: str, given: Sequence[str]) -> str:
    """Return what bash puts in the place of the part of the word that it looks at."""
    breaks = given[0] if given else ""
    kept = max((last.rfind(each) for each in breaks if each in ":="), default=-1) + 1
    return _PLAIN.sub(r"\\\1", found[kept:])


# What parameters take.


def _targets(last: str) -> Iterator[str]:
    """Names of layouts, files with them, the layouts in one, and notations."""
    from layoutdsl.commands import notations

    place, colon, _ = last.rpartition(":")
    if colon and Path(place).is_file():
        yield from (f"{place}:{name}" for name in _names(_head(Path(place))))
        return
    yield from _specs(last)
    yield from _library(last)
    yield from _begun((f"{name}:" for name in notations()), last)


def _library(last: str) -> Iterator[str]:
    from layoutdsl.language.texts import resources

    return _begun((n for _, text in resources.library_families() for n in _names(text)), last)


def _specs(last: str) -> Iterator[str]:
    return (each for each in _files(last) if each.endswith(("/", ".layout")))


def _folders(last: str) -> Iterator[str]:
    return (each for each in _files(last) if each.endswith("/"))


def _notations(last: str) -> Iterator[str]:
    from layoutdsl.commands import notations

    return _begun(("layout", *notations()), last)


def _types(last: str) -> Iterator[str]:
    from layoutdsl.language.meaning.elements import ELEMENT_TYPES

    return _begun(ELEMENT_TYPES, last)


def _codes(last: str) -> Iterator[str]:
    from layoutdsl.language.texts import resources

    page = (resources.folder("grammar") / "errors.md").read_text(encoding="utf-8")
    return _begun(_CODE.findall(page), last)


def _begun(names: Iterable[str], last: str) -> Iterator[str]:
    return (name for name in names if name.startswith(last))


def _names(text: str) -> list[str]:
    return _NAMED.findall(text)


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def _files(last: str) -> Iterator[str]:
    folder, _, begun = last.rpartition("/")
    before = f"{folder}/" if "/" in last else ""
    try:
        found = sorted(os.scandir(before or "."), key=lambda each: each.name)
    except OSError:
        return
    for each in found:
        hidden = each.name.startswith(".") and not begun.startswith(".")
        if each.name.startswith(begun) and each.name.isprintable() and not hidden:
            yield f"{before}{each.name}{'/' if each.is_dir() else ''}"


TAKES = {
    **dict.fromkeys(("FILE:NAME", "FILE[:NAME", "A", "B", "LAYOUT"), _targets),
    "CODE": _codes,
    "DIR": _folders,
    "NAME": _library,
    "NOTATION": _notations,
    "FILE": _files,
    "TYPE": _types,
}
"""What stands for a parameter in the help of its verb, and what it takes."""
