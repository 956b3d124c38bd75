"""Members of an open zip archive that are stored as they are, and where each of them lies.

The directory is read by `zipfile`, through a file that never hands out more than `MOST` bytes at
once; what stands before each member is compared with it here.

Source: PKWARE, APPNOTE.TXT 6.3.10, section 4.3.7.
"""

from __future__ import annotations

import errno
import os
import struct
import zipfile
from dataclasses import dataclass

from layoutdsl.files.npy import UnreadableError
from layoutdsl.files.weights.bounds import (
    AGAIN,
    MOST_HEADER,
    exactly,
    refuse_overlap,
    shown,
    unreadable,
)

MOST = 8 << 20
"""Bytes of a directory: a hundred thousand members, and as many kilobytes of memory."""

_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_UTF8 = 0x800
_PLAIN = _UTF8 | 0x8 | 0x6
"""What a member may say of itself: its name, where its checksum stands, how it was deflated."""


@dataclass(frozen=True, slots=True)
class Member:
    """A stored member: its name, the byte where it starts, how many it has, and their CRC-32."""

    name: str
    data: int
    size: int
    checksum: int


def members(handle: int) -> tuple[Member, ...]:
    """Return the members of an open archive, in the order of its directory.

    Raises:
        UnreadableError: it is no archive, or one is deflated, or lies where it cannot be.
        OSError: it cannot be read.
    """
    size = os.fstat(handle).st_size
    try:
        with zipfile.ZipFile(_File(handle, size)) as archive:
            listed = [(archive.start_dir, each) for each in archive.infolist()]
    except UnreadableError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OverflowError):
        raise unreadable("npz", "it is no zip archive") from None
    found = [_member(handle, each, directory) for directory, each in listed]
    seen = set[str]()
    for each in found:
        if each.name in seen:
            raise unreadable("npz", f"two members are called {shown(each.name)}")
        seen.add(each.name)
    refuse_overlap("npz", [(each.name, each.data, each.data + each.size) for each in found])
    return tuple(found)


def _member(handle: int, info: zipfile.ZipInfo, directory: int) -> Member:
    """Where a member lies that the directory names, if it is stored there as it is."""
    name = info.filename
    if info.flag_bits & ~_PLAIN:
        words = f"holds {shown(name)} encrypted, or as a patch of something else"
        raise UnreadableError(f"{words}; write it with numpy.savez")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        words = f"holds {shown(name)} deflated, and members are read where they lie"
        raise UnreadableError(f"{words}; write it with numpy.savez, not savez_compressed")
    lies = f"{shown(name)} does not lie where the directory of the archive says"
    if not 0 <= info.header_offset <= directory - _LOCAL.size:
        raise unreadable("npz", lies)
    local = _LOCAL.unpack(exactly(handle, info.header_offset, _LOCAL.size))
    flags, called, extra = local[2], local[-2], local[-1]
    data = info.header_offset + _LOCAL.size + called + extra
    if local[0] != b"PK\3\4" or data + info.file_size > directory:
        raise unreadable("npz", lies)
    said = exactly(handle, info.header_offset + _LOCAL.size, called)
    if said.decode("utf-8" if flags & _UTF8 else "cp437", "replace") != info.orig_filename:
        raise unreadable("npz", f"the member {shown(name)} has another name where it lies")
    if info.filename == "layoutdsl.json" and info.file_size > MOST_HEADER:
        raise unreadable("npz", f"{shown(name)} has more than {MOST_HEADER} bytes")
    return Member(name, data, info.file_size, info.CRC)


class _File:
    """An open file as `zipfile` wants it, which is never read in large pieces."""

    def __init__(self, handle: int, size: int) -> None:
        self._handle, self._size, self._place = handle, size, 0

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        found = place + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        if found < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._place = found
        return found

    def tell(self) -> int:
        return self._place

    def read(self, count: int = -1) -> bytes:
        left = max(self._size - self._place, 0)
        wanted = left if count < 0 else min(count, left)
        if wanted > MOST:
            words = f"its directory has {wanted} bytes, and {MOST} are the most"
            raise unreadable("npz", words, f"{AGAIN}, with fewer tensors")
        found = exactly(self._handle, self._place, wanted)
        self._place += wanted
        return found
