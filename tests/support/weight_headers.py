"""What `inspect_weights` says of a file of weights that is damaged, or lies about itself."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from layoutdsl import UnfitError, inspect_weights

SHAPES = ((), (0,), (1,), (7,), (3, 5), (4, 0, 2), (2, 3, 4), (1, 1, 1, 9), (2, 1, 3, 2, 2))
"""Shapes of tensors: without axes, without elements, and of up to five axes."""

_OPEN = Path("/proc/self/fd")


def refusal(place: Path, form: str | None = None) -> str | None:
    """Why a file is refused, without its name; nothing where it is read.

    A refusal is one line that a terminal can show, and leaves no file open.
    """
    before = _open_files(place.parent)
    try:
        names = [each.name for each in inspect_weights(place, form=form).tensors]
        assert len(set(names)) == len(names)
        fact = None
    except UnfitError as unfit:
        (problem,) = unfit.problems
        fact = problem.message.removeprefix(f"`{place}` ")
        assert fact != problem.message
    assert _open_files(place.parent) == before, "a file was left open"
    assert fact is None or (fact.isprintable() and len(fact) < 420), fact
    return fact


def refused(place: Path, whole: bytes) -> str | None:
    """Why a file of these bytes is refused."""
    place.write_bytes(whole)
    return refusal(place)


def _open_files(folder: Path) -> list[str]:
    """The files of a folder, and those without a name, that this process has open.

    A compiler in the background may open and close others meanwhile.
    """
    found = list[str]()
    for each in _OPEN.iterdir() if _OPEN.is_dir() else ():
        with suppress(OSError):  # it is closed by now
            found.append(str(each.readlink()))
    unnamed = f"{tempfile.gettempdir()}/#"
    return sorted(each for each in found if each.startswith((str(folder.resolve()), unnamed)))
