"""Libraries that are loaded from memory: what was checked is what runs.

A path may name another file by the time it is loaded. On Linux the bytes are put into a file
without a name, which nobody can change any more, and that is loaded; so the folder that they were
kept in may forbid that its files are run. Elsewhere they are copied to a new folder of this user.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from itertools import count

from layoutdsl.code.private import passing_folder

_numbers = count(1)


def loaded(content: bytes) -> ctypes.CDLL:
    """Return a library, loaded from its bytes.

    Raises:
        OSError: it is none for this machine, or there is no room for it.
    """
    if hasattr(os, "memfd_create"):
        with suppress(OSError):  # not allowed, or no `/proc`; a library that is none fails again
            return _from_memory(content)
    with passing_folder() as folder:
        place = folder / "library.so"
        place.write_bytes(content)
        return ctypes.CDLL(str(place))


def _from_memory(content: bytes) -> ctypes.CDLL:
    handle = os.memfd_create("layoutdsl", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with open(handle, "wb", closefd=False) as file:
            file.write(content)
        _seal(handle)
        return ctypes.CDLL(_unheard(handle))
    finally:
        os.close(handle)


def _seal(handle: int) -> None:
    import fcntl

    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(handle, fcntl.F_ADD_SEALS, seals)


def _unheard(handle: int) -> str:
    """A path of a descriptor that no library was loaded by before.

    The loader returns what it has under a path without opening it, and descriptors have the
    numbers of those that were closed. So the path counts, in dots that mean nothing.
    """
    turns = (("/", "/.")[digit == "1"] for digit in f"{next(_numbers):b}")
    return f"/proc/self/fd{''.join(turns)}/{handle}"
