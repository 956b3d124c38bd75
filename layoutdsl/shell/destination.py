"""Where a result may go: over nothing that it is made from, and over no file of somebody else.

A generated module gets a name to import it by. Only regular files are looked at; a pipe or a device
takes what it is given.
"""

from __future__ import annotations

import ast
import keyword
import sys
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from layoutdsl.files.places import is_same_file, replaceable, status
from layoutdsl.language.integers.parsing import PARSING
from layoutdsl.shell.exits import Exit, Failure, writing
from layoutdsl.shell.streams import handle_of


def refuse_inputs(output: str, source: str | Iterable[str], *specs: str) -> None:
    """Fail where a result would take the place of what it is made from, or of a foreign file.

    Args:
        output: a path that was asked for; ``-`` may be such a file too.
        source: likewise, of the array; or of several.
        specs: the paths of layouts; files need not be there.
    """
    goes = handle_of(sys.stdout) if output == "-" else output
    sources = [source] if isinstance(source, str) else source
    inputs = [*((each, "input") for each in sources), *((each, "spec") for each in specs)]
    for name, word in inputs:
        if is_same_file(goes, handle_of(sys.stdin) if name == "-" else name):
            shown = "the standard output" if output == "-" else f"`{output}`"
            message = f"{shown} is the {word} itself, and is not replaced"
            hint = "write to another file, and move it there afterwards"
            raise Failure(Exit.INPUT, message, hint)
    if output != "-":
        refuse_occupied(output)


def refuse_occupied(output: str | Path) -> None:
    """Fail, before the work, where a file cannot be replaced or was not written by layoutdsl."""
    with writing(f"`{output}`"):
        found = status(output)
        if found is None or S_ISREG(found.st_mode) or S_ISDIR(found.st_mode):
            replaceable(output)


def refuse(place: Path, text: str, spec: str) -> None:
    """Fail where writing ``text`` to ``place`` would lose a file, or hide a module from it.

    Args:
        place: a path that was asked for.
        text: the generated module.
        spec: the path of the file that it was made from; a file need not be there.
    """
    if place.exists() and not place.is_file():
        return
    _refuse_name(place, text)
    hint = f"choose another file: -o {place.stem}.py"
    refuse_foreign(place, spec, hint)


def refuse_foreign(place: Path, spec: str, hint: str) -> None:
    """Fail where there is the spec, or a file that layoutdsl did not write.

    Args:
        place: a path that was asked for; a file need not be there.
        spec: likewise, of the file that the text is made from.
        hint: how to go on where the two are one.
    """
    if is_same_file(place, spec):
        raise Failure(Exit.INPUT, f"`{place}` is the spec itself, and is not replaced", hint)
    refuse_occupied(place)


def _refuse_name(place: Path, text: str) -> None:
    if place.suffix != ".py":
        return
    hint = "choose another file: -o other_name.py"
    if keyword.iskeyword(place.stem):
        message = f"`{place}` cannot be imported: `{place.stem}` is a word of Python"
        raise Failure(Exit.INPUT, message, hint)
    if place.stem in _imported(text):
        message = f"`{place}` would hide the module `{place.stem}`, which the code imports"
        raise Failure(Exit.INPUT, message, hint)


def _imported(text: str) -> set[str]:
    """The top-level modules that a text imports."""
    names: set[str] = set()
    with PARSING:
        tree = ast.parse(text)
    for node in tree.body:
        match node:
            case ast.Import(names=aliases):
                names |= {each.name.split(".")[0] for each in aliases}
            case ast.ImportFrom(module=str(module)):
                names.add(module.split(".")[0])
    return names
