"""``FILE:NAME``, shapes and indices, as they are written on a command line."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from layoutdsl.cli.exits import Exit, Failure, reading, usage

if TYPE_CHECKING:
    from layoutdsl.claims import Module
    from layoutdsl.model import Layout

SHIELD = "\0"
"""Stands before ``-:NAME``, which click would take for an option."""

_NAME = re.compile(r"[A-Za-z_]\w*\s*(<[\s\w,]*>)?", re.ASCII)
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """What ``FILE:NAME`` names: a module, and one of its layouts where a name was given.

    ``place`` is how the user named the module: a path, ``-``, or nothing for the library.
    """

    module: Module
    place: str
    name: str | None

    @property
    def layout(self) -> Layout:
        """The layout that is named, or the only one there is."""
        if self.name is not None:
            from layoutdsl.api import pick

            with usage():
                return pick(self.module, self.name, f"in {self.place or 'the library'}")
        if len(self.module) != 1:
            held = ", ".join(f"`{name}`" for name in self.module) or "no layout at all"
            hint = f"write `{self.place}:NAME`" if self.module else None
            raise Failure(Exit.USAGE, f"{self.place} has {held}; one is needed", hint)
        return next(iter(self.module.values()))

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layout that is named, or all."""
        return tuple(self.module.values()) if self.name is None else (self.layout,)

    def spelled(self, layout: Layout) -> str:
        """Return how a command line names a layout of the module."""
        return f"{self.place}:{layout.name}" if self.place else layout.name


def target(written: str) -> Target:
    """Return what ``FILE:NAME``, ``FILE``, ``-`` or the name of a library layout stands for."""
    written = written.removeprefix(SHIELD)
    if written == "-" or written.startswith("-:"):
        return Target(_standard_input(), "-", written[2:] or None)
    if not Path(written).is_file():
        path, colon, name = written.rpartition(":")
        if colon and _NAME.fullmatch(name):
            return Target(_file(path), path, name)
        if _NAME.fullmatch(written):
            return _library(written)
    return Target(_file(written), written, None)


def _file(path: str) -> Module:
    from layoutdsl.api import load

    with reading(f"`{path}`"):
        return load(path)


def _standard_input() -> Module:
    from layoutdsl.api import read

    with reading("the standard input"):
        return read(sys.stdin.buffer, "<stdin>")


def _library(name: str) -> Target:
    from layoutdsl.api import family_of

    try:
        return Target(family_of(name), "", name)
    except ValueError as error:
        message, mark, hint = str(error).partition("; did you mean")
        all_of_them = "`layoutdsl list` names them all; a file is named by its path"
        raise Failure(Exit.USAGE, message, mark[2:] + hint or all_of_them) from None


def numbers(written: str, option: str) -> tuple[int, ...] | dict[str, int]:
    """Return ``2,20,3,4`` as a tuple, and ``N=2,C=20`` as a mapping."""
    parts = [part for part in written.split(",") if part.strip()]
    pairs = [_NAMED.fullmatch(part) for part in parts]
    if not any(pairs):
        return tuple(_number(part, option) for part in parts)
    values: dict[str, int] = {}
    for part, pair in zip(parts, pairs, strict=True):
        if pair is None:
            raise Failure(Exit.USAGE, f"{option} names some numbers, and not `{part.strip()}`")
        if pair[1] in values:
            raise Failure(Exit.USAGE, f"{option} names `{pair[1]}` twice")
        values[pair[1]] = _number(pair[2], option)
    return values


def _number(part: str, option: str) -> int:
    word = part.strip()
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", word):
        message = f"`{word[:40]}` in {option} is not an integer"
        raise Failure(Exit.USAGE, message, f"write {option} 2,20,3,4")
    return int(word)
