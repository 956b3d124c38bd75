"""``format``: texts in the usual spelling, written back whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click

from layoutdsl.language.texts.source import LayoutError
from layoutdsl.shell.exits import Exit, Failure, reading, writing
from layoutdsl.shell.options import JSON
from layoutdsl.shell.output import error, error_json, faults_json, say, say_json

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
        return _called(self.place)

    @property
    def changes(self) -> bool:
        return self.old != self.new


def _called(place: str) -> str:
    return "<stdin>" if place == "-" else place


@click.command("format", short_help="Write specs in the usual spelling, remarks kept.")
@click.argument("files", metavar="[FILE|FOLDER]...|-", nargs=-1)
@click.option("--check", "checks", is_flag=True, help="Write nothing; end with 1 where it would.")
@click.option("--diff", "differs", is_flag=True, help="Write nothing; print what would change.")
@JSON
def format_files(files: tuple[str, ...], checks: bool, differs: bool, form: str) -> int:
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
    told = _Told(way, differs, form)
    for place in dict.fromkeys(_places(files)):
        try:
            text = _read(place)
            told.take(text)
        except (LayoutError, Failure) as failed:
            told.fail(place, failed)
    told.finish(Exit.REFUTED if checks and told.changed else Exit.OK)
    return told.code


@dataclass(slots=True)
class _Told:
    """What became of each text: said as it is done, or all of it at the end as JSON.

    Attributes:
        code: of the worst that happened.
        texts: what became of each, as plain values.
    """

    way: Way
    differs: bool
    form: str
    code: Exit = Exit.OK
    texts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def changed(self) -> int:
        return sum(each["changes"] for each in self.texts)

    def take(self, text: _Text) -> None:
        """Write the text, print it, or print what would change.

        Raises:
            Failure: it cannot be written.
        """
        new = text.new if text.place == "-" and self.way == "write" else None
        difference = list(_difference(text)) if self.differs else None
        if self.way == "write" and text.place != "-" and text.changes:
            _write(text)
        if self.form != "json":
            self._say(text, difference)
        done = {"text": new, "difference": difference}
        self.texts.append({"name": text.called, "changes": text.changes, **done, **_SOUND})

    def _say(self, text: _Text, difference: list[str] | None) -> None:
        if difference is not None:
            for line in difference:
                say(line)
        elif self.way == "write" and text.place == "-":
            sys.stdout.buffer.write(text.mark + text.new.encode("utf-8"))
        elif text.changes:
            if self.way == "write":
                say(f"wrote {text.place}")
            else:
                error(f"would be written anew: {text.called}")

    def fail(self, place: str, failed: LayoutError | Failure) -> None:
        """Say what is wrong with a text; the others are done all the same."""
        if isinstance(failed, LayoutError):
            self.code, found = max(self.code, Exit.USAGE), faults_json(failed)
        else:
            self.code = max(self.code, failed.code)
            found = error_json(failed.message, failed.hint)
        if self.form != "json":
            error(str(failed))
        nothing = {"changes": False, "text": None, "difference": None}
        self.texts.append({"name": _called(place), **nothing, **found})

    def finish(self, code: Exit) -> None:
        """Sum up; ``code`` is that of texts which would change."""
        changed, count, failed = self.changed, len(self.texts), self.code != Exit.OK
        self.code = max(self.code, code)
        if self.form == "json":
            status = "error" if failed else "different" if code else "ok"
            say_json({"status": status, "changed": changed, "texts": self.texts})
        elif self.way == "show" or count > 1:
            verb = "would change" if self.way == "show" else "changed"
            error(f"{changed} of {count} {'text' if count == 1 else 'texts'} {verb}")


_SOUND: dict[str, Any] = {"status": "ok", "message": None, "help": None, "diagnostics": []}
"""What is said of a text with which nothing is wrong."""


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
    from layoutdsl.commands import formatted, marked_text

    called = "the standard input" if place == "-" else f"`{place}`"
    with reading(called):
        if place == "-":
            mark, old = marked_text(sys.stdin.buffer)
        else:
            with Path(place).open("rb") as file:
                mark, old = marked_text(file)
    return _Text(place, mark, old, formatted(old, _called(place)))


def _write(text: _Text) -> None:
    from layoutdsl.files.ownership import overwriting
    from layoutdsl.files.whole import replacing

    with writing(f"`{text.place}`"), overwriting(True), replacing(text.place) as file:
        file.write(text.mark + text.new.encode("utf-8"))


def _difference(text: _Text) -> Iterator[str]:
    from difflib import unified_diff

    old, new = text.old.splitlines(), text.new.splitlines()
    called = text.called
    return unified_diff(old, new, called, f"{called} (formatted)", lineterm="")
