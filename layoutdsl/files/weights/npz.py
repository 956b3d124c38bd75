"""Archives of numpy, `.npz`: members that are stored as they are, read in place.

An archive is written with checksums that are worked out once all items are in. Deflated members
are refused: their items lie nowhere, and would have to be unpacked to the disk beforehand.

Source: numpy.savez; PKWARE, APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 to 4.3.16, 4.5.3.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from struct import pack

from layoutdsl.files.npy import UnreadableError, header, read_header_within
from layoutdsl.files.weights.archive import Member, members
from layoutdsl.files.weights.arrays import entry, head_as, type_as, written_as
from layoutdsl.files.weights.bounds import AGAIN, exactly, refuse_wanted, shown
from layoutdsl.files.weights.form import Arranged, Contents, Wanted

SAID = "layoutdsl.json"
"""The member that holds what is said of the tensors."""

_END = ".npy"
_FULL16, _FULL32 = 2**16 - 1, 2**32 - 1
_NEWER = 45  # the version of archives of any size
_UTF8 = 0x800
_NEW_YEAR = 0x21  # 1980-01-01, the first day that an archive can name
_CHUNK = 1 << 20


class Npz:
    """The format of `numpy.savez`."""

    name = "npz"
    suffixes: tuple[str, ...] = (".npz",)

    def read(self, place: Path, handle: int) -> Contents:
        """Return what an open archive says; items are not looked at.

        Raises:
            UnreadableError: it is no such archive, or says what cannot be.
            OSError: it cannot be read.
        """
        found, said, headers = [], None, {}
        held = members(handle)
        for member in held:
            if member.name == SAID:
                said = _text(exactly(handle, member.data, member.size))
                continue
            name = member.name.removesuffix(_END)
            if name == member.name:
                words = f"holds {shown(name)}, which is no .npy array"
                raise UnreadableError(f"{words}; take it out of the archive")
            try:
                headers[name] = read_header_within(handle, member.data, member.size)
            except UnreadableError as unfit:
                raise UnreadableError(f"holds {shown(name)}, which {unfit.fact}") from None
            found.append(entry(name, (place, handle), headers[name]))
        look = partial(_refuse_changed, handle, held)
        return Contents(self.name, tuple(found), said, headers, look=look)

    def arrange(self, given: Contents | None, wanted: Sequence[Wanted], said: str) -> Arranged:
        """Return how an archive of these tensors looks.

        Raises:
            ValueError: one has no type in numpy, or a name that no member can have.
        """
        refuse_wanted(wanted)
        place, parts = 0, list[_Part]()
        types = [written_as(each, given, self.name) for each in wanted]
        for each, (dtype, fortran) in zip(wanted, types, strict=True):
            head = header(dtype, each.shape, fortran=fortran)
            parts.append(_part(each.name + _END, place, head, each.size))
            place = parts[-1].past
        starts = tuple(part.past - each.size for part, each in zip(parts, wanted, strict=True))
        heads = tuple(map(head_as, wanted, types, starts))
        if said:
            parts.append(_part(SAID, place, said.encode("utf-8"), 0))
            place = parts[-1].past
        fixed, sums = [(part.place, part.local + part.head) for part in parts], list[int]()
        directory = place
        for part in parts:
            sums.append(place + 16)
            fixed.append((place, part.central))
            place += len(part.central)
        end = _end(len(parts), directory, place)

        def finish(read: Callable[[int, int], bytes]) -> Iterator[tuple[int, bytes]]:
            for part, at in zip(parts, sums, strict=True):
                checksum = _checksum(read, part.past - part.size, part.past)
                yield part.place + 14, checksum
                yield at, checksum

        fixed.append((place, end))
        size = place + len(end)
        return Arranged(size, tuple(fixed), starts, heads, finish=lambda r: tuple(finish(r)))

    def type_of(self, kind: str) -> str:
        """Return the element type that items of a type are read as."""
        return type_as(kind)


@dataclass(frozen=True, slots=True)
class _Part:
    """A member to be written.

    Attributes:
        place: where it begins.
        local: what stands before it.
        head: the first bytes of it.
        size: all of its bytes.
        central: what the directory says of it.
    """

    place: int
    local: bytes
    head: bytes
    size: int
    central: bytes

    @property
    def past(self) -> int:
        """The byte behind it."""
        return self.place + len(self.local) + self.size


def _part(name: str, place: int, head: bytes, items: int) -> _Part:
    called = name.encode("utf-8")
    if len(called) > _FULL16 or "\0" in name:
        words = f"{shown(name)} is no name of a member of an archive"
        raise ValueError(f"{words}; a name has at most {_FULL16} bytes, and none is zero")
    size, flag = len(head) + items, 0 if name.isascii() else _UTF8
    common = pack("<HHHHHI", _NEWER, flag, 0, 0, _NEW_YEAR, 0)
    wide = pack("<HHQQ", 1, 16, size, size)
    local = b"PK\3\4" + common + pack("<IIHH", _FULL32, _FULL32, len(called), len(wide))
    large = b"".join(pack("<Q", each) for each in (size, size, place) if each >= _FULL32)
    extra = pack("<HH", 1, len(large)) + large if large else b""
    sizes = pack("<IIHH", min(size, _FULL32), min(size, _FULL32), len(called), len(extra))
    rest = pack("<HHHII", 0, 0, 0, 0o600 << 16, min(place, _FULL32))
    central = b"PK\1\2" + pack("<H", 3 << 8 | _NEWER) + common + sizes + rest + called + extra
    return _Part(place, local + called + wide, head, size, central)


def _end(count: int, directory: int, place: int) -> bytes:
    """What an archive ends with, in the wide form too, which all of them may have."""
    size = place - directory
    versions = pack("<HHII", _NEWER, _NEWER, 0, 0)
    wide = b"PK\6\6" + pack("<Q", 44) + versions + pack("<QQQQ", count, count, size, directory)
    where = b"PK\6\7" + pack("<IQI", 0, place, 1)
    few, short = min(count, _FULL16), (min(size, _FULL32), min(directory, _FULL32))
    return wide + where + b"PK\5\6" + pack("<HHHHIIH", 0, 0, few, few, *short, 0)


def _refuse_changed(handle: int, held: Sequence[Member]) -> None:
    """Fail where a member has another checksum than the archive says.

    Raises:
        UnreadableError: names it.
    """
    for each in held:
        found = _checksum(partial(exactly, handle), each.data, each.data + each.size)
        if int.from_bytes(found, "little") != each.checksum:
            words = f"holds {shown(each.name)}, which has changed since it was written"
            raise UnreadableError(f"{words}: its checksum is another; {AGAIN}")


def _checksum(read: Callable[[int, int], bytes], start: int, past: int) -> bytes:
    found = 0
    for place in range(start, past, _CHUNK):
        found = zlib.crc32(read(place, min(_CHUNK, past - place)), found)
    return found.to_bytes(4, "little")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        words = f"holds {shown(SAID)}, which is no UTF-8"
        raise UnreadableError(f"{words}; take it out of the archive") from None
