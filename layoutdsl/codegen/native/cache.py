"""What was made once, on disk: libraries and texts, each under the hash of all it was made from.

The folder is `$LAYOUTDSL_CACHE`, else `layoutdsl` in `$XDG_CACHE_HOME` or `~/.cache`. A file is
written elsewhere and put into its place in one step, so that processes that write it at once all
end up with a whole one; it ends with its own hash, so that one that was damaged is made again.
Where the folder cannot be used, libraries live in a temporary folder until the process ends.
"""

from __future__ import annotations

import atexit
import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from stat import S_ISREG, S_IWGRP, S_IWOTH

DIGEST = 32
"""Bytes of the hash at the end of a file; loaders of libraries do not look that far."""


def cached(key: str, build: Callable[[Path], None]) -> Path:
    """Return the library of a key; it is built where there is none.

    Args:
        key: everything that the library depends on.
        build: writes the library to a path whose folder exists; its errors are passed on.

    Raises:
        OSError: not even a temporary folder can be written.
    """
    place = _place(key, ".so")
    if _content(place) is not None:
        return place
    made = built_apart(build)
    if not _put(place, made.read_bytes()):
        return made
    made.unlink(missing_ok=True)
    return place


def built_apart(build: Callable[[Path], None]) -> Path:
    """Return a library that is built for this process alone."""
    made = Path(_folder_of(os.getpid())) / f"{secrets.token_hex(16)}.so"
    build(made)
    return made


def kept_text(key: str) -> str | None:
    """Return the text that was kept under a key."""
    content = _content(_place(key, ".text"))
    return None if content is None else content.decode("utf-8")


def keep_text(key: str, text: str) -> None:
    """Keep a text under a key, where the folder can be used."""
    _put(_place(key, ".text"), text.encode("utf-8"))


def folder() -> Path:
    """Return where things are kept."""
    named = os.environ.get("LAYOUTDSL_CACHE")
    if named:
        return Path(named)
    shared = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(shared) if shared else Path.home() / ".cache") / "layoutdsl"
    except RuntimeError:  # nobody knows whose home
        return Path(_folder_of(os.getpid()))


def _place(key: str, ending: str) -> Path:
    return folder() / f"{sha256(key.encode()).hexdigest()}{ending}"


def _content(place: Path) -> bytes | None:
    """What a file holds, if it is whole and only this user, or the system, could have put it."""
    try:
        status = place.stat()
        if not S_ISREG(status.st_mode):
            return None
        if os.name == "posix" and (
            status.st_uid not in (os.getuid(), 0) or status.st_mode & (S_IWGRP | S_IWOTH)
        ):
            return None
        content = place.read_bytes()
    except OSError:
        return None
    content, digest = content[:-DIGEST], content[-DIGEST:]
    return content if sha256(content).digest() == digest else None


def _put(place: Path, content: bytes) -> bool:
    """Write a file, whole or not at all; say whether it was written."""
    beside = place.with_name(f".{place.name[:16]}.{secrets.token_hex(8)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside.write_bytes(content + sha256(content).digest())
        beside.chmod(0o700)
        beside.replace(place)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        return False
    return True


@cache
def _folder_of(process: int) -> str:
    """A folder that goes when this process does; one that forks leaves it to its parent."""
    name = tempfile.mkdtemp(prefix="layoutdsl-")
    atexit.register(_removed, name, process)
    return name


def _removed(name: str, process: int) -> None:
    if os.getpid() == process:
        rmtree(name, ignore_errors=True)
