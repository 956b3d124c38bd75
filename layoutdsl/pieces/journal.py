"""What is known of a run that was interrupted: whose output it is, and which pieces are done.

The journal lies beside the unfinished output. It is replaced whole, after the pieces that it names
are on the disk, and carries the hash of its own text: a run trusts it only where it is intact and
speaks of the very same work.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

FORMAT = "layoutdsl pieces 1"


@dataclass(frozen=True, slots=True)
class Journal:
    """Work, and how far it has come.

    Attributes:
        work: plain values that tell one work from another.
        room: the bytes that a piece may take: it decides which pieces there are.
        done: numbers of pieces.
    """

    work: dict[str, Any]
    room: int
    done: frozenset[int]

    def write(self, place: Path) -> None:
        """Put the journal there, whole or not at all."""
        said = {
            "format": FORMAT,
            "work": self.work,
            "room": self.room,
            "done": [list(each) for each in ranges(self.done)],
        }
        text = json.dumps({**said, "hash": _hash(said)}, indent=1)
        temporary = place.with_name(f"{place.name}.tmp")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123  a descriptor
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)


def read(place: Path) -> Journal | None:
    """Return the journal that lies there; ``None`` where it is damaged.

    Raises:
        OSError: it cannot be read.
    """
    try:
        said = json.loads(place.read_bytes())
        found = said.pop("hash")
        if said["format"] != FORMAT or found != _hash(said):
            return None
        done = frozenset(n for first, past in said["done"] for n in range(first, past))
        return Journal(said["work"], said["room"], done)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _hash(said: dict[str, Any]) -> str:
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of numbers, each as its first and the one after its last."""
    first = past = -1
    for number in sorted(numbers):
        if number != past:
            if past > first:
                yield first, past
            first = number
        past = number + 1
    if past > first:
        yield first, past
