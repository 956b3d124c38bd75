"""``format``: texts in the usual spelling, written back whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import click

from layoutdsl.cli.exits import Exit, Failure, reading, writing
from layoutdsl.cli.output import error, say
from layoutdsl.texts.source import LayoutError

Way: TypeAlias = Literal["write", "show"]
"""What becomes of another spelling: the file is written, or only told of."""

_ENDING = ".layout"


@dataclass(frozen=True, slots=True)
class _Text:
    """A file, or ``-``, as it is and as it is spelt usually; ``mark`` are the bytes before it."""

    place: str
    mark: bytes
    old: str
    new: str

    @property
    def called(self) -> str:
        return "<stdin>" if self.place == "-" else self.place

    @property
    def changes(self) -> bool:
        return self.old != self.new


@click.command("format", short_help="Write specs in the usual spelling, remarks kept.")
@click.argument("files", metavar="[FILE|FOLDER]...|-", nargs=-1)
@click.option("--check", "checks", is_flag=True, help="Write nothing; end with 1 where it would.")
@click.option("--diff", "differs", is_flag=True, help="Write nothing; print what would change.")
def format_files(files: tuple[str, ...], checks: bool, differs: bool) -> int:
    """Write specs in the usual spelling. No word is changed, and remarks stay where they are.

    Blanks follow one rule, a declaration is a line, and one longer than 100 characters is broken at
    its clauses. A record over several lines stays so, its parts in columns. Empty lines stay, never
    two together. Of a folder every `.layout` file below it is taken; - is the standard input, which
    is printed.

    \b
      layoutdsl format demo.layout
      layoutdsl format --check --diff kernels/
      layoutdsl format - < demo.layout
    """
    if not files:
        raise Failure(Exit.USAGE, "there is nothing to format", "name files, folders, or -")
    way: Way = "show" if checks or differs else "write"
    changed, code, count = 0, Exit.OK, 0
    for place in dict.fromkeys(_places(files)):
        count += 1
        try:
            text = _read(place)
            _tell(text, way, differs)
        except LayoutError as faulty:
            error(str(faulty))
            code = max(code, Exit.USAGE)
        except Failure as failed:
            error(str(failed))
            code = max(code, failed.code)
        else:
            changed += text.changes
    _sum_up(changed, count, way)
    return max(code, Exit.REFUTED) if checks and changed else code


def _places(files: tuple[str, ...]) -> Iterator[str]:
    """The files that are named, and those in folders that are."""
    for each in files:
        if each == "-" or not Path(each).is_dir():
            yield each
            continue
        with reading(f"`{each}`"):
            found = sorted(
                str(Path(folder, name))
                for folder, _, names in os.walk(each, onerror=_raise)
                for name in names
                if name.endswith(_ENDING)
            )
        if not found:
            message = f"`{each}` has no file that ends in {_ENDING}"
            raise Failure(Exit.USAGE, message, "name files, or another folder")
        yield from found


def _raise(failure: OSError) -> None:
    raise failure


def _read(place: str) -> _Text:
    from layoutdsl.api import formatted, marked_text

    called = "the standard input" if place == "-" else f"`{place}`"
    with reading(called):
        if place == "-":
            mark, old = marked_text(sys.stdin.buffer)
        else:
            with Path(place).open("rb") as file:
                mark, old = marked_text(file)
    return _Text(place, mark, old, formatted(old, "<stdin>" if place == "-" else place))


def _tell(text: _Text, way: Way, differs: bool) -> None:
    """Write the text, print it, or print what would change."""
    if differs:
        _print_difference(text)
    elif way == "show":
        if text.changes:
            error(f"would be written anew: {text.called}")
    elif text.place == "-":
        sys.stdout.buffer.write(text.mark + text.new.encode("utf-8"))
    elif text.changes:
        from layoutdsl.files.whole import replacing

        with writing(f"`{text.place}`"), replacing(text.place) as file:
            file.write(text.mark + text.new.encode("utf-8"))
        say(f"wrote {text.place}")


def _print_difference(text: _Text) -> None:
    from difflib import unified_diff

    old, new = text.old.splitlines(), text.new.splitlines()
    for line in unified_diff(old, new, text.called, f"{text.called} (formatted)", lineterm=""):
        say(line)


def _sum_up(changed: int, count: int, way: Way) -> None:
    if way == "show" or count > 1:
        verb = "would change" if way == "show" else "changed"
        error(f"{changed} of {count} {'text' if count == 1 else 'texts'} {verb}")
