"""``pack``, ``unpack`` and ``convert`` of records: fields into one buffer of bytes, and back."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.language.meaning.counterexample import named_text
from layoutdsl.shell.destination import refuse_inputs
from layoutdsl.shell.exits import Exit, Failure, usage
from layoutdsl.shell.output import error
from layoutdsl.shell.shapes import shape_of
from layoutdsl.shell.targets import Target
from layoutdsl.shell.telling import notes, say_done, say_words

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget
    from layoutdsl.language.meaning.record import Record
    from layoutdsl.shell.large import Large
    from layoutdsl.shell.npy import Given

_BYTES = "the buffer of a record is of bytes already"
_SAYS = "a record says itself what bits hold that no field does"
_CODES = "its fields are packed as they are"
_FIELDS = "fields go by their names"
_WHY = {
    "--word": _BYTES,
    "--bytes": _BYTES,
    "--fill": _SAYS,
    "--axes": _FIELDS,
    "--progress": "progress is told with --mem",
    "--scale": _CODES,
    "--zero-point": _CODES,
    "--check": "a record holds each bit once",
}
"""Why options of layouts are none of records."""


def refuse_options(record: Record, given: Mapping[str, object]) -> None:
    """Fail where options were given that records do not take; ``None`` and ``plain`` are none."""
    for option, value in given.items():
        if value not in (None, "plain"):
            message = f"{option} is for layouts, and `{record.name}` is a record"
            raise Failure(Exit.USAGE, message, f"leave it out: {_WHY[option]}")


def refuse_told(asked: Large) -> dict[str, str | None]:
    """Return the option of progress where a record is packed at once, which tells of none."""
    return {"--progress": None if asked.way == "auto" or asked.in_pieces else asked.way}


def refuse_fields(name: str, fields: tuple[str, ...]) -> None:
    """Fail where fields were named of a layout, which has none."""
    if fields:
        message = f"--field is for records, and `{name}` is a layout"
        raise Failure(Exit.USAGE, message, f"write `layoutdsl pack {name} IN.npy OUT.npy`")


def files_of(source: str, destination: str | None, fields: tuple[str, ...]) -> tuple[str, str]:
    """Return input and output; where fields have files of their own, there is but an output."""
    if fields and destination is None:
        return "", source
    if destination is None:
        raise click.UsageError("Missing argument 'OUT.npy'.", click.get_current_context())
    if fields:
        message = f"`{source}` and --field both name the source"
        raise Failure(Exit.USAGE, message, "leave one out: --field q=q.npy, or an .npz archive")
    return source, destination


def pack_record(
    chosen: Target,
    record: Record,
    files: tuple[str, str],
    fields: tuple[str, ...],
    shape: str | None,
    compiled: CompileTarget,
    asked: Large,
    verbose: int,
) -> None:
    """Pack fields into one buffer of bytes."""
    from layoutdsl.shell import npy, record_files
    from layoutdsl.shell.record_pieces import pack_rows

    (source, destination), raw = files, asked.raw
    _refuse_open(record)
    _refuse_raw(record, raw)
    named = _named_fields(record, fields)
    refuse_inputs(destination, named.values() if named else source, chosen.place)
    extents = None if shape is None else _bound(record, shape)
    if asked.in_pieces:
        _ready(chosen, record, compiled)
        pack_rows(record, named or source, destination, asked, extents, compiled, verbose)
        return
    given, tensors = _tensors(record, source, named)
    module = _ready(chosen, record, compiled)
    with notes(), npy.fitting(f"`{source}`" if source else "what --field names"):
        packed = module.pack(shape=extents, **tensors)
    record_files.write_buffer(destination, packed, raw, given)
    _say_done("packed", tensors, packed.shape, verbose)


def unpack_record(
    chosen: Target,
    record: Record,
    files: tuple[str, str],
    shape: str | None,
    compiled: CompileTarget,
    asked: Large,
    verbose: int,
) -> None:
    """Unpack a buffer of bytes into an archive of fields."""
    from layoutdsl.shell import npy, record_files
    from layoutdsl.shell.record_pieces import unpack_rows

    (source, destination), raw = files, asked.raw
    _refuse_open(record)
    _refuse_raw(record, raw)
    refuse_inputs(destination, source, chosen.place)
    extents = _bound(record, shape)
    if asked.in_pieces:
        _ready(chosen, record, compiled)
        unpack_rows(record, files, asked, extents, compiled, verbose)
        return
    given = record_files.read_buffer(source, raw)
    module = _ready(chosen, record, compiled)
    _refuse_size(record, given, extents)
    with notes(), npy.fitting(given.shown):
        found = module.unpack(given.array, extents)._asdict()
    record_files.write_archive(destination, found, [given])
    _say_done("unpacked", found, given.array.shape, verbose)


def convert_records(
    pair: tuple[Target, Target],
    records: tuple[Record, Record],
    files: tuple[str, str],
    shape: str | None,
    compiled: CompileTarget,
    trust: str,
    verbose: int,
) -> None:
    """Convert a buffer of one record into that of another, field by field."""
    from layoutdsl.commands import convert
    from layoutdsl.shell import npy, record_files
    from layoutdsl.shell.verdicts import refusing

    source, destination = files
    for each in records:
        _refuse_open(each)
    refuse_inputs(destination, source, *(each.place for each in pair))
    extents = _bound(records[0], shape)
    given = record_files.read_buffer(source, None)
    anyway = "`--unvalidated` converts all the same"
    with usage(), refusing(*pair, hint=anyway), notes():
        unproved = any(each.unproved for each in pair)
        conversion = convert(
            *records, compiled=compiled, validate=trust == "plain", unproved=unproved
        )
    _refuse_size(records[0], given, extents)
    with notes(), npy.fitting(given.shown):
        converted = conversion(given.array, extents)
    record_files.write_buffer(destination, converted, None, [given])
    say_done("converted", given.array, converted, verbose)


def _refuse_open(record: Record) -> None:
    """Fail where a parameter has no number."""
    if record.parameters:
        hint = f"give it values: `{record.name}<{', '.join('8' for _ in record.parameters)}>`"
        raise Failure(Exit.USAGE, f"`{record.name}` has open parameters", hint)


def _bound(record: Record, shape: str | None) -> dict[str, int]:
    with usage():
        return record.bind(shape_of(record.frame, shape))


def _refuse_raw(record: Record, raw: str | None) -> None:
    if raw not in (None, "u8"):
        message = f"`{record.name}` is a record, and its buffer holds bytes, not {raw}"
        raise Failure(Exit.USAGE, message, "write --raw u8, or end the name of the file in .bin")


def _refuse_size(record: Record, given: Given, extents: Mapping[str, int]) -> None:
    """Fail where there are more or fewer bytes than the record has; shapes are the module's."""
    needed = -(-record.size_bits(extents) // 8)
    if given.array.dtype.itemsize == 1 and given.array.size != needed:
        at = f" at {named_text(tuple(extents.items()))}" if extents else ""
        message = f"{given.shown} holds {given.array.size} bytes, and `{record.name}`{at} {needed}"
        raise Failure(Exit.INPUT, message)


def _named_fields(record: Record, fields: tuple[str, ...]) -> dict[str, str]:
    """The file of each field, as ``--field NAME=FILE`` says."""
    found: dict[str, str] = {}
    names = [each.name for each in record.fields]
    for each in fields:
        name, equals, file = each.partition("=")
        if not equals or not file:
            message = f"`{each}` in --field names no file"
            raise Failure(Exit.USAGE, message, f"write --field {name or names[0]}=FILE.npy")
        with usage():
            record.field(name)
        if name in found:
            raise Failure(Exit.USAGE, f"--field names `{name}` twice")
        found[name] = file
    missing = [name for name in names if name not in found] if fields else []
    if missing:
        hint = f"write --field {missing[0]}=FILE.npy"
        raise Failure(Exit.USAGE, f"the field `{missing[0]}` of `{record.name}` is missing", hint)
    return found


def _tensors(
    record: Record, source: str, named: Mapping[str, str]
) -> tuple[list[Given], dict[str, Any]]:
    """The array of each field, and what they were read from."""
    from layoutdsl.shell import npy, record_files

    if named:
        files = {name: npy.read(file) for name, file in named.items()}
        return list(files.values()), {name: each.array for name, each in files.items()}
    names = [each.name for each in record.fields]
    given, arrays, others = record_files.read_archive(source, names)
    for name in names:
        if name not in arrays:
            held = ", ".join(f"`{each}`" for each in (*arrays, *others)) or "nothing"
            message = f"{given.shown} holds no `{name}`, a field of `{record.name}`; it has {held}"
            raise Failure(Exit.INPUT, message)
    for name in others:
        error(f"note: {given.shown} also holds `{name}`, which is no field of `{record.name}`")
    return [given], {name: arrays[name] for name in names}


def _ready(chosen: Target, record: Record, compiled: CompileTarget) -> Any:
    """The compiled record; one that is refuted moves no data."""
    from layoutdsl.commands import compile as ready
    from layoutdsl.shell.verdicts import refusing

    with usage(), refusing(chosen), notes():
        return ready(record, compiled, unproved=chosen.unproved)


def _say_done(word: str, tensors: Mapping[str, Any], shape: tuple[int, ...], verbose: int) -> None:
    fields = ", ".join(f"{name} {each.shape} {each.dtype.name}" for name, each in tensors.items())
    buffer = f"{prod(shape)} bytes {shape}"
    done = f"{fields} -> {buffer}" if word == "packed" else f"{buffer} -> {fields}"
    say_words(f"{word} {done}", verbose)
