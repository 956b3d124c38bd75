"""Records of any size, packed from their fields and unpacked into them, in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layoutdsl.shell.exits import Exit, Failure
from layoutdsl.shell.interrupts import watched
from layoutdsl.shell.large import Large, failing
from layoutdsl.shell.progress import Progress
from layoutdsl.shell.telling import notes, say_words

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget, RecordDone
    from layoutdsl.language.meaning.record import Record


def pack_rows(
    record: Record,
    source: str | Mapping[str, str],
    destination: str,
    asked: Large,
    shape: Mapping[str, int] | None,
    compiled: CompileTarget,
    verbose: int,
) -> None:
    """Pack fields into one buffer of bytes, some rows at a time.

    Args:
        record: what is packed.
        source: an archive of its fields, or the file of each.
        destination: of the bytes.
        asked: how much memory, and so on.
        shape: of the record, if that was said.
        compiled: what moves.
        verbose: whether to say what was done.
    """
    from layoutdsl.commands import pack_record_file
    from layoutdsl.shell.record_files import is_raw

    named = [source] if isinstance(source, str) else [*source.values()]
    _refuse_streams((*named, destination))
    progress = Progress("pack", asked.way)
    raw = is_raw(destination, asked.raw)
    with failing(record.name, named, destination, asked), watched(progress), notes():
        given = _given(asked, compiled, progress)
        done = pack_record_file(record, source, destination, shape=shape, raw=raw, **given)
    say_words(f"packed {_fields(done)} -> {done.buffer} in {_pieces(done.pieces)}", verbose)


def unpack_rows(
    record: Record,
    files: tuple[str, str],
    asked: Large,
    shape: Mapping[str, int],
    compiled: CompileTarget,
    verbose: int,
) -> None:
    """Unpack a buffer of bytes into an archive of fields, some rows at a time."""
    from layoutdsl.commands import unpack_record_file
    from layoutdsl.shell.record_files import is_raw

    source, destination = files
    _refuse_streams(files)
    progress = Progress("unpack", asked.way)
    raw = is_raw(source, asked.raw)
    with failing(record.name, [source], destination, asked), watched(progress), notes():
        given = _given(asked, compiled, progress)
        done = unpack_record_file(record, source, destination, shape, raw=raw, **given)
    say_words(f"unpacked {done.buffer} -> {_fields(done)} in {_pieces(done.pieces)}", verbose)


def _given(asked: Large, compiled: CompileTarget, progress: Progress) -> dict[str, Any]:
    from layoutdsl.commands import MEM

    return {
        "mem": MEM if asked.mem is None else asked.mem,
        "jobs": asked.jobs or 1,
        "target": compiled,
        "unproved": asked.unproved,
        "progress": progress,
        "tell": lambda words: progress.above(f"note: {words}"),
    }


def _fields(done: RecordDone) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in done.fields.items())


def _pieces(count: int) -> str:
    return "1 piece" if count == 1 else f"{count} pieces"


def _refuse_streams(files: tuple[str, ...]) -> None:
    """Fail where one of the files cannot be processed in pieces."""
    for name in files:
        if name == "-":
            hint = "name a file, or leave out --mem and --jobs"
            raise Failure(Exit.USAGE, "a standard stream cannot be processed in pieces", hint)
        if Path(name).exists() and not Path(name).is_file():
            message = f"`{name}` is no plain file, and cannot be processed in pieces"
            raise Failure(Exit.INPUT, message, "leave out --mem and --jobs")
