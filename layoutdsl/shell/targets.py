"""``FILE:NAME``, as it is written on a command line."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from layoutdsl.language.texts.faults import UnknownNameError
from layoutdsl.shell.exits import Exit, Failure, reading, usage
from layoutdsl.shell.output import error

if TYPE_CHECKING:
    from layoutdsl.language.meaning.claims import AnyClaim
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.module import Module
    from layoutdsl.language.meaning.record import Record
    from layoutdsl.language.meaning.table import Table
    from layoutdsl.language.texts.source import Diagnostic

SHIELD = "\0"
"""Stands before ``-:NAME``, which click would take for an option."""

TOLD = "layoutdsl.shell.told"
"""Under which a run keeps the warnings that it has printed."""

_NAME = re.compile(r"[A-Za-z_]\w*\s*(<[\s\w,]*>)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Target:
    """What ``FILE:NAME`` names: a module, and one of its layouts where a name was given.

    ``place`` is how the user named the module: a path, ``-``, or nothing for the library.
    ``notes`` are what a text in another notation says beyond its layout, ``notation`` its name.
    ``range`` narrows the shapes of the layout or record, ``unproved`` allows an undecided one.
    """

    module: Module
    place: str
    name: str | None
    notation: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    range: str | None = None
    unproved: bool = False

    @property
    def called(self) -> str:
        """The module, as messages call it."""
        if self.place == "-":
            return "the standard input"
        return f"`{self.place}`" if self.place else "the library"

    @property
    def layout(self) -> Layout:
        """The layout that is named, or the only one there is."""
        if self.name is not None:
            from layoutdsl.commands import pick

            wanted = _bare(self.name)
            if wanted in self.module.tables and wanted not in self.module.layouts:
                message = f"`{wanted}` is a table, and a layout is needed"
                instead = (
                    "`prove`, `at` and `show --as` take tables; "
                    "ask the rest of the layout that it inverts"
                )
                raise Failure(Exit.USAGE, message, instead)
            if wanted in self.module.records and wanted not in self.module.layouts:
                raise _record_given(wanted)
            with usage():
                return self._narrowed(pick(self.module.layouts, self.name, f"in {self.called}"))
        if self.record is not None:
            raise _record_given(self.record.name)
        if len(self.module.layouts) != 1:
            names = self.module.layouts or self.module.records
            held = ", ".join(f"`{name}`" for name in names) or "no layout at all"
            hint = f"write `{self.place}:NAME`" if names else None
            raise Failure(Exit.USAGE, f"{self.called} has {held}; one is needed", hint)
        return self._narrowed(next(iter(self.module.layouts.values())))

    def _narrowed(self, layout: Layout) -> Layout:
        if self.range is None:
            return layout
        from layoutdsl.proof.claims import range_of

        with usage():
            return replace(layout, where=(*layout.where, *range_of(layout, self.range)))

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layout that is named, or all."""
        if self.name is not None:
            return (self.layout,)
        return tuple(map(self._narrowed, self.module.layouts.values()))

    @property
    def subject(self) -> Layout | Table | Record:
        """The layout, table or record that is named; what a layout is called comes first."""
        from layoutdsl.commands import pick_table

        named = self.name is not None and _bare(self.name) not in self.module.layouts
        with usage():
            found = pick_table(self.module.tables, self.name or "") if named else None
        return found or self.record or self.layout

    @property
    def record(self) -> Record | None:
        """The record that is named, or the only one of a text without layouts; else `None`."""
        from layoutdsl.commands import pick_record

        records = self.module.records
        if self.name is None:
            only = len(records) == 1 and not self.module.layouts
            found = next(iter(records.values())) if only else None
        elif _bare(self.name) in self.module.layouts:
            return None
        else:
            with usage():
                found = pick_record(records, self.name)
        if found is None or self.range is None:
            return found
        from layoutdsl.proof.claims import range_of

        with usage():
            return replace(found, where=(*found.where, *range_of(found.frame, self.range)))

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is legal in the text and hardly meant, of all of it or of what is named."""
        found = self.module.warnings
        about = found if self.name is None else [_bare(self.name)]
        return tuple(said for each in about for said in found.get(each, ()))


def _record_given(name: str) -> Failure:
    message = f"`{name}` is a record, and a layout is needed"
    verbs = "`prove`, `pack`, `unpack`, `convert`, `generate`, `where`, `at` and `cost`"
    return Failure(Exit.USAGE, message, f"{verbs} take records")


def source_of(chosen: Target, layout: Layout) -> str | None:
    """Return the text as it was written, if it names no other layout: else it says too little."""
    from layoutdsl.language.syntax.parser import parse
    from layoutdsl.language.syntax.walk import is_alone
    from layoutdsl.language.texts.source import Source

    text = chosen.module.texts.get(layout.name)
    if text is None or "[" not in text:
        return None
    (declaration,) = parse(Source(chosen.place, text)).declarations
    return text if is_alone(declaration) else None


def _bare(name: str) -> str:
    return name.partition("<")[0].strip()


def target(written: str, range_: str | None = None, unproved: bool = False) -> Target:
    """Return what `named` returns, and print the warnings about it.

    Args:
        written: on the command line.
        range_: what ``--where`` says.
        unproved: whether ``--unproved`` is given.
    """
    found = replace(named(written), range=range_, unproved=unproved)
    if range_ is not None and not range_.strip():
        raise Failure(Exit.USAGE, "--where is empty", 'write a range: --where "C <= 4096, N == 1"')
    warn(found)
    return found


def warn(chosen: Target) -> None:
    """Print the warnings about what is named; each once, however often the text is read."""
    context = click.get_current_context(silent=True)
    told = context.meta.setdefault(TOLD, set()) if context is not None else set()
    new = [each for each in chosen.warnings if each not in told]
    told.update(new)
    if new:
        error("\n\n".join(map(str, new)))


def named(written: str) -> Target:
    """Return what ``FILE:NAME``, ``FILE``, ``-``, a library name or ``onednn:TAG`` stands for."""
    written = written.removeprefix(SHIELD)
    if written == "-" or written.startswith("-:"):
        return Target(_standard_input(), "-", written[2:] or None)
    if not written:
        raise Failure(Exit.USAGE, "a name is missing: of a file, or of a layout of the library")
    place, name = parted(written)
    word, colon, foreign = written.partition(":")
    if place is not None:
        if colon and _NAME.fullmatch(word) and not os.path.lexists(place):
            raise _no_notation(place, word)
        return Target(_file(place), place, name)
    return _foreign(word, foreign) if colon else _library(written)


def parted(written: str) -> tuple[str | None, str | None]:
    """Return the file that a word names, and the layout in it, where a name was given.

    There is no file where it names a layout of the library, or one in another notation.
    """
    if not _readable(written):
        word, colon, _ = written.partition(":")
        if colon and _is_notation(word):
            return None, None
        path, colon, name = written.rpartition(":")
        if colon and not path:
            hint = f"write `{name}` for a layout of the library" if name else None
            raise Failure(Exit.USAGE, f"a file is missing before `{written}`", hint)
        if colon and not name and _readable(path):
            raise Failure(
                Exit.USAGE, f"a name is missing after `{written}`", f"write `{path}:NAME`"
            )
        if colon and _NAME.fullmatch(name):
            return path, name
        if _NAME.fullmatch(written) and not _is_folder(written):
            return None, written
    return written, None


def targets_of(
    written: tuple[str, ...], read: Callable[[str], Target] = target
) -> tuple[Target, ...]:
    """Return what several words stand for; without any, every family of the library.

    Args:
        written: on the command line.
        read: `target`, or `named` where warnings are said elsewhere.

    Raises:
        LayoutError: with the faults of all of them.
        Failure: there are no words, and a text may wait on the standard input.
    """
    if written:
        return every(written, read)
    _refuse_unread_input()
    from layoutdsl.commands import library_families

    return tuple(Target(family, "", None) for family in library_families())


def _refuse_unread_input() -> None:
    """Fail where the standard input is a pipe or a file: ``cat x.layout | layoutdsl prove``.

    The library would be proved instead, and the exit code 0 would pass for that of the text. The
    input is not read to find out, as a pipe may stay open and never send anything. A terminal,
    `/dev/null` and a closed input, as jobs and services have them, hold no text.
    """
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # closed, or no file
        return
    if not stat.S_ISCHR(mode):
        verb = click.get_current_context().info_name
        message = "no layout or file is named, and the standard input is a pipe or a file"
        command = f"layoutdsl {verb}"
        hint = f"`{command} -` reads it; `{command} < /dev/null` takes the library"
        raise Failure(Exit.USAGE, message, hint)


def every(written: tuple[str, ...], read: Callable[[str], Target]) -> tuple[Target, ...]:
    """Return what several words stand for.

    Raises:
        LayoutError: with the faults of all of them.
    """
    from layoutdsl.language.texts.source import LayoutError

    found: list[Target] = []
    faults: list[Diagnostic] = []
    for each in written:
        try:
            found.append(read(each))
        except LayoutError as wrong:
            faults += wrong.diagnostics
    if faults:
        raise LayoutError(tuple(faults))
    return tuple(found)


def claims_in(chosen: Target) -> tuple[AnyClaim, ...]:
    """Return what there is to prove: of all of a text, or of what is named."""
    from layoutdsl.commands import claims_about, claims_of

    if chosen.name is None:
        return claims_of(chosen.module)
    return claims_about(chosen.module, chosen.subject)


def refuse_silent(chosen: Target) -> None:
    """Fail where a text says nothing: what was never asked must not pass for proved."""
    if not claims_in(chosen):
        message = f"{chosen.called} has no layout and no claim, so there is nothing to prove"
        raise Failure(Exit.USAGE, message, "write `layout NCHW(n, c, h, w) = [n, c, h, w]`")


def _is_notation(word: str) -> bool:
    from layoutdsl.commands import notations

    return word in notations()


def _foreign(notation: str, written: str) -> Target:
    from layoutdsl.commands import reading_of
    from layoutdsl.language.declaration import declaration
    from layoutdsl.language.meaning.module import Module

    found = reading_of(notation, written)
    layout = found.layout
    module = Module(notation, {layout.name: layout}, (), {layout.name: declaration(layout)})
    return Target(module, f"{notation}:{written}", None, notation, found.notes)


def _no_notation(place: str, word: str) -> Failure:
    """Return the failure for ``cutlass:TEXT``, which is read as a file unless it is a notation."""
    from layoutdsl.commands.translation import notation_help

    message = f"there is no file `{place}`, and no notation `{word}`"
    return Failure(Exit.INPUT, message, notation_help(word, "{}:{}"))


def _readable(path: str) -> bool:
    """Whether a path names something that can be read: a file, a pipe, a device."""
    with reading(f"`{path}`"):
        return Path(path).exists() and not Path(path).is_dir()


def _is_folder(name: str) -> bool:
    """Whether a name is that of a folder, and of no layout of the library."""
    from layoutdsl.commands import library_names

    return Path(name).is_dir() and _bare(name) not in library_names()


def _file(path: str) -> Module:
    from layoutdsl.commands import load

    with reading(f"`{path}`"):
        return load(path)


def _standard_input() -> Module:
    from layoutdsl.commands import read

    with reading("the standard input"):
        return read(sys.stdin.buffer, "<stdin>")


def _library(name: str) -> Target:
    from layoutdsl.commands import family_of

    try:
        return Target(family_of(name), "", name)
    except UnknownNameError as unknown:
        all_of_them = "`layoutdsl list` names them all; a file is named by its path"
        raise Failure(Exit.USAGE, unknown.message, unknown.hint or all_of_them) from None
