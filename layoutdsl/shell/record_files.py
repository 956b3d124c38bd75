"""Files of records: fields in `.npz` archives, and buffers of bytes, with a header or without.

An archive is read member by member, each by the one reader of `.npy`: nothing is unpickled, and no
memory is taken for what a member claims and does not hold. What is written is whole, or not there.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from layoutdsl.files import npy
from layoutdsl.files.places import widest_mode
from layoutdsl.shell.exits import Exit, Failure, reading, writing
from layoutdsl.shell.npy import Given, file_identity
from layoutdsl.shell.npy import read as read_npy
from layoutdsl.shell.streams import handle_of

RAW = ".bin"
"""How the name of a file ends that holds bytes without a header."""

ENDING = ".npy"
MOST_MEMBERS = 4096
ENCRYPTED = 1
PRIVATE = 0o600
_DAMAGED = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
"""What `zipfile` raises where an archive is not as it should be; and zlib, its own."""


def is_raw(name: str, raw: str | None = None) -> bool:
    """Return whether a file holds bytes without a header."""
    return raw is not None or name.endswith(RAW)


OF_FIELDS = "name the file of each field: --field NAME=FILE.npy"


def read_archive(
    name: str, wanted: Sequence[str] | None, hint: str = OF_FIELDS
) -> tuple[Given, dict[str, Any], list[str]]:
    """Return an archive that was read, those of its arrays that are wanted, and the other names.

    Args:
        name: of a `.npz` file; ``-`` is the standard input.
        wanted: the names of arrays; `None` for all of them.
        hint: what to do about an archive that cannot be read.
    """
    shown = "the standard input" if name == "-" else f"`{name}`"
    with reading(shown):
        if name == "-":
            handle = handle_of(sys.stdin)
            given = Given(shown, handle, None, file_identity(handle))
            found = _arrays(shown, io.BytesIO(sys.stdin.buffer.read()), wanted, hint)
        else:
            with open(name, "rb") as file:  # noqa: PTH123  the name as it was written
                given = Given(shown, name, None, file_identity(file.fileno()))
                whole = file if given.before is not None else io.BytesIO(file.read())
                found = _arrays(shown, whole, wanted, hint)
    return given, *found


def _arrays(
    shown: str, file: BinaryIO, wanted: Sequence[str] | None, hint: str
) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    with _damaged(shown, hint), ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise _unfit(shown, f"has {len(members)} members, and {MOST_MEMBERS} are the most")
        names = [each.filename.removesuffix(ENDING) for each in members]
        for name, member in zip(names, members, strict=True):
            if wanted is not None and name not in wanted:
                continue
            if name in found:
                raise _unfit(shown, f"holds `{name}` twice")
            found[name] = _array(shown, name, archive, member)
    return found, [each for each in names if each not in found]


def _array(shown: str, name: str, archive: ZipFile, member: ZipInfo) -> Any:
    if member.flag_bits & ENCRYPTED:
        raise _unfit(f"`{name}` of {shown}", "is encrypted")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise _unfit(f"`{name}` of {shown}", "is packed in a way that numpy does not know")
    try:
        with archive.open(member) as items:
            return npy.read_stream(items)  # type: ignore[arg-type]
    except npy.UnreadableError as unfit:
        raise _unfit(f"`{name}` of {shown}", unfit.fact) from None


@contextmanager
def _damaged(shown: str, hint: str) -> Iterator[None]:
    """Whatever is wrong with an archive, it is the file that is at fault."""
    try:
        yield
    except (*_DAMAGED, zlib.error) as fault:
        words = " ".join(str(fault).replace("'", "`").split())[:80] or type(fault).__name__
        why = words[:1].lower() + words[1:]
        message = f"{shown} is no .npz archive that can be read: {why}"
        raise Failure(Exit.INPUT, message, hint) from None


def _unfit(shown: str, fact: str) -> Failure:
    return Failure(Exit.INPUT, f"{shown} {fact}")


def write_archive(name: str, arrays: Mapping[str, Any], given: Iterable[Given]) -> None:
    """Write arrays to an archive by their names, as numpy has it, without compressing them."""

    def write(file: BinaryIO) -> None:
        with ZipFile(file, "w", ZIP_STORED) as archive:
            for field, array in arrays.items():
                member = ZipInfo(f"{field}{ENDING}")
                member.external_attr = PRIVATE << 16
                with archive.open(member, "w", force_zip64=True) as items:
                    npy.write(items, array)  # type: ignore[arg-type]

    _write(name, write, given)


def read_buffer(name: str, raw: str | None) -> Given:
    """Return the bytes of a record: of a file without a header, or the array of a `.npy` file."""
    if not is_raw(name, raw):
        return read_npy(name)
    shown = "the standard input" if name == "-" else f"`{name}`"
    with reading(shown):
        if name == "-":
            handle = handle_of(sys.stdin)
            before = file_identity(handle)
            return Given(shown, handle, np.frombuffer(sys.stdin.buffer.read(), np.uint8), before)
        with open(name, "rb") as file:  # noqa: PTH123  the name as it was written
            before = file_identity(file.fileno())
            size = os.fstat(file.fileno()).st_size
            if before is None or not size:
                return Given(shown, name, np.frombuffer(file.read(), np.uint8), before)
            header = npy.Header(np.dtype(np.uint8), (size,), fortran=False, data=0)
            return Given(shown, name, npy.mapped(file.fileno(), header), before)


def write_buffer(name: str, buffer: Any, raw: str | None, given: Iterable[Given]) -> None:
    """Write the bytes of a record, without a header where the name or ``raw`` says so."""

    def write(file: BinaryIO) -> None:
        if is_raw(name, raw):
            file.write(np.ascontiguousarray(buffer).reshape(-1).data)
        else:
            npy.write(file, buffer)

    _write(name, write, given)


def _write(name: str, write: Any, given: Iterable[Given]) -> None:
    """Write a file whole or not at all, and not where what it is made from has changed."""
    from layoutdsl.files.whole import replacing

    if name == "-":
        sys.stdout.flush()
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        for each in given:
            each.refuse_changed()
        return
    given = list(given)
    widest = widest_mode(each.place for each in given)
    with writing(f"`{name}`"), replacing(name, widest) as file:
        write(file)
        for each in given:
            each.refuse_changed()
