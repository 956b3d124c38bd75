"""What was made once, on disk: libraries and texts, each under the hash of all it was made from.

The folder is `$LAYOUTDSL_CACHE`, else `layoutdsl` in `$XDG_CACHE_HOME` or `~/.cache`. Only what
this user, or the system, alone could have written is taken from it, and is handed on as it was
read. A file is written elsewhere and put into its place in one step, so that processes that write
it at once all end up with a whole one. It ends with the hash of its key and its content, so that
one that was damaged, or made for another key, is made again.
"""

from __future__ import annotations

from enum import Enum
from hashlib import sha256

from layoutdsl.code.private import (
    UntrustedError,
    make_private,
    private_folder,
    read_private,
    write_private,
)
from layoutdsl.files.ownership import cache_folder as folder

DIGEST = 32
"""Bytes of the hash at the end of a file."""


class Kind(Enum):
    """What is kept; the value ends the name of its file."""

    LIBRARY = ".so"
    TEXT = ".text"


def kept(kind: Kind, key: str) -> bytes | None:
    """Return what was kept under a key; ``None`` where there is nothing that can be trusted.

    Args:
        kind: what it is.
        key: everything that it depends on.
    """
    try:
        with private_folder(folder()) as place:
            found = read_private(place, _name(kind, key))
    except OSError:
        return None
    if found is None:
        return None
    content, digest = found[:-DIGEST], found[-DIGEST:]
    return content if digest == _digest(kind, key, content) else None


def keep(kind: Kind, key: str, content: bytes) -> None:
    """Keep something under a key, where the folder can be used."""
    try:
        make_private(folder())
        with private_folder(folder()) as place:
            write_private(place, _name(kind, key), content + _digest(kind, key, content))
    except OSError:
        pass


def kept_text(key: str) -> str | None:
    """Return the text that was kept under a key."""
    content = kept(Kind.TEXT, key)
    return None if content is None else content.decode("utf-8")


def keep_text(key: str, text: str) -> None:
    """Keep a text under a key, where the folder can be used."""
    keep(Kind.TEXT, key, text.encode("utf-8"))


def refusal() -> str | None:
    """Return why nothing is kept, where others may write to the folder; ``None`` elsewhere."""
    try:
        with private_folder(folder()):
            return None
    except UntrustedError as reason:
        return str(reason)
    except OSError:
        return None


def mark(key: str) -> str:
    """Return a word that stands for a key."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _name(kind: Kind, key: str) -> str:
    return f"{mark(key)}{kind.value}"


def _digest(kind: Kind, key: str, content: bytes) -> bytes:
    """The hash of all of it; the name alone would not say which content belongs to which key."""
    asked = key.encode("utf-8", "surrogatepass")
    head = f"layoutdsl {kind.value} {len(asked)}\n".encode()
    return sha256(head + asked + content).digest()
