"""Checksums of pieces: that what was read and written is still what lies there.

Hashing every byte would take longer than packing it. So rows of 8192 words of 64 bits are first
multiplied by a key of as many random words and summed up, and only the sums are hashed: at a third
of the time, and no less sure against accidents.

Two sums make up for what a product modulo 2**64 loses at its top: one of the words, one of their
upper halves. Take a row that has changed. If upper halves have, then the second sum changes by
``sum(key[i] * d[i])`` with each ``|d[i]| < 2**32``; if only lower halves have, so does the first.
Let 2**t be the highest power of two that divides every ``d[i]``, so that t <= 31. Over random keys
that sum is evenly spread over the multiples of 2**t, so it is 0 modulo 2**64 once in 2**(64 - t):
less than once in 8 thousand million, whatever the change, and for most changes not in 2**64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b, shake_256

import numpy as np

from layoutdsl.files.npy import Array

WORDS = 8192
"""Words of a row, and of the key."""

ROWS = 4
"""Rows at a time: their upper halves are a copy."""

HALF = np.uint64(32)
SIZE = 16


@dataclass(frozen=True, slots=True)
class Sums:
    """Of one piece: what was read for it, and what was written."""

    read: str
    written: str


Sum = Callable[[Array], str]
"""From a contiguous array to its checksum."""


def summing(token: str) -> Sum:
    """Return how arrays are summed up; arrays of other bytes, or lengths, give another text.

    Args:
        token: random; the key is spelled out from it.
    """
    key = np.frombuffer(shake_256(token.encode()).digest(8 * WORDS), np.uint64)

    def said(array: Array) -> str:
        memory = array.reshape(-1).view(np.uint8)
        whole = memory.size - memory.size % (8 * WORDS)
        found = blake2b(memory.size.to_bytes(8, "little"), digest_size=SIZE)
        rows = memory[:whole].view(np.uint64).reshape(-1, WORDS)
        upper = np.empty((min(ROWS, len(rows)), WORDS), np.uint64)
        for first in range(0, len(rows), ROWS):
            some = rows[first : first + ROWS]
            halves = np.right_shift(some, HALF, out=upper[: len(some)])
            for words in (some, halves):
                found.update(np.einsum("ij,j->i", words, key).tobytes())
        found.update(memory[whole:].data)
        return found.hexdigest()

    return said


def unsummed(_: Array) -> str:
    """Return nothing: for one piece, which no later run could go on with."""
    return ""
