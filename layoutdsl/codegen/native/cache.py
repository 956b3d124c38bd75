"""Compiled libraries on disk, each under the hash of all it was made from.

The folder is `$LAYOUTDSL_CACHE`, else `layoutdsl` in `$XDG_CACHE_HOME` or `~/.cache`. A library is
built beside its place and put there in one step, so that processes that write it at once all end up
with a whole one. Where the folder cannot be used, libraries live in a temporary folder until the
process ends.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path


def cached(key: str, build: Callable[[Path], None]) -> Path:
    """Return the library of a key; it is built where there is none.

    Args:
        key: everything that the library depends on.
        build: writes the library to a path whose folder exists; its errors are passed on, except
            those of a disk that is full or read-only, which are met by a temporary folder.
    """
    name = f"{sha256(key.encode()).hexdigest()}.so"
    place = folder() / name
    try:
        if place.is_file() and place.stat().st_size > 0 and _trusted(place):
            return place
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _probe(place.parent)
    except OSError:
        return _built(_temporary() / name, build)
    try:
        return _built(place, build)
    except OSError:
        return _built(_temporary() / name, build)


def folder() -> Path:
    """Return where libraries are kept."""
    named = os.environ.get("LAYOUTDSL_CACHE")
    if named:
        return Path(named)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path(os.path.expanduser("~")) / ".cache") / "layoutdsl"  # noqa: PTH111  (a home that is not known stays `~`)


def _trusted(place: Path) -> bool:
    """Whether nobody but this user, or the system, could have put the library there."""
    if os.name != "posix":
        return True
    status = place.stat()
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o022


def _probe(directory: Path) -> None:
    """Fail where no file can be written."""
    handle, name = tempfile.mkstemp(dir=directory)
    os.close(handle)
    Path(name).unlink()


def _built(place: Path, build: Callable[[Path], None]) -> Path:
    if place.is_file() and place.parent == _temporary():
        return place
    beside = place.with_name(f".{place.stem[:16]}.{secrets.token_hex(8)}.so")
    try:
        build(beside)
        beside.chmod(0o700)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
    return place


@cache
def _folder_of_this_process() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="layoutdsl-", ignore_cleanup_errors=True)


def _temporary() -> Path:
    return Path(_folder_of_this_process().name)
