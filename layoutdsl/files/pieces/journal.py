"""What is known of a run: whose unfinished output it is, and which pieces are in it.

A journal is lines of JSON, each behind a hash of itself and of the line before. Lines are only ever
added, so a run that is killed leaves what it had; a last line that is not whole counts for nothing,
and neither does what follows a damaged one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from layoutdsl.files.pieces.sums import Sums

FORMAT = "layoutdsl pieces 2"
SIZE = 16


@dataclass(frozen=True, slots=True)
class Begun:
    """The first line of a run.

    Attributes:
        token: random; lies at the end of the unfinished output as well.
        work: plain values that tell one work from another.
        size: bytes of the output.
        room: the bytes that a piece may take: it decides which pieces there are.
    """

    token: str
    work: Mapping[str, Any]
    size: int
    room: int

    def line(self) -> dict[str, Any]:
        """Return it as it stands in a journal."""
        said = {"token": self.token, "work": self.work, "size": self.size, "room": self.room}
        return {"format": FORMAT, **said}


@dataclass(slots=True)
class Noted:
    """What a journal says of the last run that began.

    Attributes:
        begun: how it began.
        inode: of its unfinished output, once there is one.
        mode: the permissions that the output is to get.
        pieces: those that it has finished, by their numbers.
        whole: whether every piece was.
    """

    begun: Begun
    inode: int | None = None
    mode: int = 0o600
    pieces: dict[int, Sums] = field(default_factory=dict)
    whole: bool = False


def part_line(inode: int, mode: int) -> dict[str, Any]:
    """Return the line that says which file the unfinished output is."""
    return {"inode": inode, "mode": mode}


def pieces_line(pieces: Mapping[int, Sums]) -> dict[str, Any]:
    """Return the line that says which pieces were finished."""
    return {"pieces": [[number, each.read, each.written] for number, each in pieces.items()]}


WHOLE: dict[str, Any] = {"whole": True}
"""The line that says that every piece was finished."""


def written(lines: Iterable[dict[str, Any]], before: str) -> tuple[bytes, str]:
    """Return the bytes of some lines, and the hash of the last.

    Args:
        lines: what they say.
        before: the hash of the line before them; nothing before the first.
    """
    data = b""
    for each in lines:
        text = json.dumps(each, separators=(",", ":"))
        before = _hash(before, text)
        data += f"{before} {text}\n".encode()
    return data, before


def read(data: bytes) -> tuple[Noted | None, int, str]:
    """Return what a journal says, how many bytes of it are sound, and the hash of the last line.

    It says nothing where it does not begin as a journal does.
    """
    noted: Noted | None = None
    sound, last = 0, ""
    for line in data.splitlines(keepends=True):
        said = _said(line, last)
        taken = None if said is None else _taken(noted, said)
        if taken is None:
            break
        noted, sound, last = taken, sound + len(line), line.split(b" ")[0].decode()
    return noted, sound, last


def _said(line: bytes, before: str) -> dict[str, Any] | None:
    """What a line says; nothing where it is not the one that follows."""
    found, _, text = line.partition(b" ")
    try:
        if found.decode() != _hash(before, text.decode().removesuffix("\n")):
            return None
        said = json.loads(text) if text.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _taken(noted: Noted | None, said: dict[str, Any]) -> Noted | None:
    """What is known after a line; nothing where no run writes such a line."""
    match said:
        case {"format": str(named), "token": str(), "work": dict(), "size": int(), "room": int()}:
            of = [said[name] for name in ("token", "work", "size", "room")]
            return Noted(Begun(*of)) if named == FORMAT else None
        case {"inode": int(inode), "mode": int(mode)} if noted is not None:
            noted.inode, noted.mode = inode, mode
        case {"pieces": list(pieces)} if noted is not None and all(map(_is_piece, pieces)):
            noted.pieces |= {number: Sums(*sums) for number, *sums in pieces}
        case {"whole": True} if noted is not None:
            noted.whole = True
        case _:
            return None
    return noted


def _is_piece(said: Any) -> bool:
    match said:
        case [int(), str(), str()]:
            return True
    return False


def _hash(before: str, text: str) -> str:
    return blake2b(f"{before} {text}".encode(), digest_size=SIZE).hexdigest()
