"""What a page of the cookbook is of, and how what verbs print is put into it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layoutdsl import commands
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.shell.shell import run


@dataclass(frozen=True, slots=True)
class Page:
    """What `pages.toml` says of a page; `said` holds its optional settings.

    Attributes:
        name: of its file, without an ending.
        subject: the layout or record of the library that is drawn and counted.
        declared: the declarations whose text is shown.
        picture: the shape that is drawn.
        real: the shape at which it costs what it costs.
    """

    name: str
    title: str
    family: str
    line: str
    subject: str
    declared: tuple[str, ...]
    picture: tuple[int, ...]
    real: tuple[int, ...]
    said: Mapping[str, Any]

    @property
    def found(self) -> Layout | Record:
        """The layout or record itself."""
        if self.subject in commands.library_record_names():
            return commands.library_record(self.subject)
        return commands.library(self.subject)


def printed(*words: str) -> str:
    """Return what a verb prints, run in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        run(list(words))
    return out.getvalue().rstrip("\n")


def fenced(text: str, kind: str = "text") -> str:
    """Return a text as a block."""
    return f"```{kind}\n{text}\n```" if text else f"```{kind}\n```"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(each) + " |" for each in lines)
