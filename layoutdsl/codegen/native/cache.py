"""Compiled libraries on disk, each under the hash of all it was made from.

The folder is `$LAYOUTDSL_CACHE`, else `layoutdsl` in `$XDG_CACHE_HOME` or `~/.cache`. A library is
built elsewhere and put into its place in one step, so that processes that write it at once all end
up with a whole one. Where the folder cannot be used, libraries live in a temporary folder until the
process ends.
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
from shutil import copyfile, rmtree
from stat import S_ISREG, S_IWGRP, S_IWOTH


def cached(key: str, build: Callable[[Path], None]) -> Path:
    """Return the library of a key; it is built where there is none.

    Args:
        key: everything that the library depends on.
        build: writes the library to a path whose folder exists; its errors are passed on.
    """
    name = f"{sha256(key.encode()).hexdigest()}.so"
    place = folder() / name
    if _usable(place):
        return place
    made = built_apart(build)
    beside = place.with_name(f".{name[:16]}.{secrets.token_hex(8)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        copyfile(made, beside)
        beside.chmod(0o700)
        beside.replace(place)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        return made
    made.unlink(missing_ok=True)
    return place


def built_apart(build: Callable[[Path], None]) -> Path:
    """Return a library that is built for this process alone."""
    made = Path(_folder_of_this_process()) / f"{secrets.token_hex(16)}.so"
    build(made)
    return made


def folder() -> Path:
    """Return where libraries are kept."""
    named = os.environ.get("LAYOUTDSL_CACHE")
    if named:
        return Path(named)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path(os.path.expanduser("~")) / ".cache") / "layoutdsl"  # noqa: PTH111  (a home that is not known stays `~`)


def _usable(place: Path) -> bool:
    """Whether a library is there that only this user, or the system, could have put there."""
    try:
        status = place.stat()
    except OSError:
        return False
    if not S_ISREG(status.st_mode) or status.st_size == 0:
        return False
    return os.name != "posix" or (
        status.st_uid in (os.getuid(), 0) and not status.st_mode & (S_IWGRP | S_IWOTH)
    )


@cache
def _folder_of_this_process() -> str:
    name = tempfile.mkdtemp(prefix="layoutdsl-")
    atexit.register(rmtree, name, ignore_errors=True)
    return name
