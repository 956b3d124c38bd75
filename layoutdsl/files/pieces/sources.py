"""Files that a plan reads: by what they are known again on another machine, and later on.

Size and time tell most changes. Some bytes are looked at besides, from the beginning, the end and
between: they tell another file that was given the same time, as a copy that keeps times is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any

from layoutdsl.files.pieces.runs import Given

ENDS = 64 << 10
"""Bytes of the beginning and of the end that are looked at."""

BLOCKS, BLOCK = 62, 4096
"""How many blocks between are, and their bytes."""

MOST = 1 << 62
_SAMPLE = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was when it was planned for.

    Attributes:
        path: where it lies.
        size: its bytes.
        modified: when it was last written, in nanoseconds.
        sample: a checksum of some of its bytes.
    """

    path: str
    size: int
    modified: int
    sample: str

    def is_still(self, given: Given) -> bool:
        """Return whether an open file is what it was, as far as size, time and samples tell."""
        before = given.before
        if (before.size, before.modified) != (self.size, self.modified):
            return False
        return sampled(given.handle, before.size) == self.sample


def source_of(given: Given) -> Source:
    """Return by what an open file is known again."""
    before = given.before
    sample = sampled(given.handle, before.size)
    return Source(str(given.place.absolute()), before.size, before.modified, sample)


def sampled(handle: int, size: int) -> str:
    """Return a checksum of some bytes of a file: of all of them, where it is small."""
    found = blake2b(size.to_bytes(8, "little"), digest_size=16)
    if size <= 2 * ENDS + BLOCKS * BLOCK:
        found.update(_bytes(handle, 0, size))
        return found.hexdigest()
    found.update(_bytes(handle, 0, ENDS))
    step = (size - 2 * ENDS - BLOCK) // (BLOCKS - 1)
    for number in range(BLOCKS):
        found.update(_bytes(handle, ENDS + number * step, BLOCK))
    found.update(_bytes(handle, size - ENDS, ENDS))
    return found.hexdigest()


def _bytes(handle: int, place: int, count: int) -> bytes:
    return os.pread(handle, count, place)


def is_source(value: Any) -> bool:
    """Return whether a value of JSON says a file."""
    if type(value) is not dict or value.keys() != {each.name for each in fields(Source)}:
        return False
    path, sample = value["path"], value["sample"]
    texts = type(path) is str and path.startswith("/") and "\0" not in path and type(sample) is str
    numbers = is_whole_number(value["size"]) and is_whole_number(value["modified"])
    return texts and numbers and _SAMPLE.fullmatch(sample) is not None


def is_whole_number(value: Any) -> bool:
    """Return whether it is a number of bytes, or of anything."""
    return type(value) is int and 0 <= value <= MOST
