"""What happens to files between two runs: to the input, the output, and what lies beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from shutil import rmtree

from .works import Work

SOURCE, TARGET = Path("in"), Path("out")
PART, JOURNAL = Path("out.part"), Path("out.part.json")
PRECIOUS = Path("precious")
CONTENT = b"nobody may touch this"


def flip(place: Path, draw: Random) -> None:
    """Change some bytes of a file where they are, and none of its times."""
    if not _is_its_own(place) or not place.stat().st_size:
        return
    times = place.stat()
    with place.open("r+b") as file:
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(_first(place), times.st_size)
            file.seek(at)
            old = file.read(1)
            file.seek(at)
            file.write(bytes([old[0] ^ 1 << draw.randrange(8)]))
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


def zeros(place: Path, draw: Random) -> None:
    if not _is_its_own(place) or not place.stat().st_size:
        return
    at = draw.randrange(_first(place), place.stat().st_size)
    with place.open("r+b") as file:
        file.seek(at)
        file.write(bytes(draw.randint(1, place.stat().st_size - at)))


def _is_its_own(place: Path) -> bool:
    """Whether writing to it changes no other file."""
    return place.is_file() and not place.is_symlink() and place.stat().st_nlink == 1


def _first(place: Path) -> int:
    """Headers of inputs are the business of other tests."""
    return 128 if place == SOURCE and place.read_bytes().startswith(b"\x93NUMPY") else 0


def cut(place: Path, draw: Random) -> None:
    if _is_its_own(place):
        os.truncate(place, draw.randint(0, place.stat().st_size))


def longer(place: Path, draw: Random) -> None:
    if _is_its_own(place):
        with place.open("ab") as file:
            file.write(draw.randbytes(draw.choice((1, 32, 100))))


def removed(place: Path, _: Random) -> None:
    if place.is_dir() and not place.is_symlink():
        rmtree(place)
    else:
        place.unlink(missing_ok=True)


def foreign(place: Path, draw: Random) -> None:
    """Something of somebody else in its place."""
    removed(place, draw)
    match draw.choice(("file", "empty", "link", "hard link", "pipe", "folder")):
        case "file":
            place.write_bytes(CONTENT)
        case "empty":
            place.touch()
        case "link":
            place.symlink_to(PRECIOUS)
        case "hard link":
            place.hardlink_to(PRECIOUS)
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()


def other(work: Work, draw: Random) -> None:
    """Another input of the same size: in place, or put there; with the same time, or later."""
    times = SOURCE.stat()
    content = work.content(draw.randrange(2**32))
    if draw.random() < 0.5:
        SOURCE.write_bytes(content)
    else:
        Path("new").write_bytes(content)
        Path("new").replace(SOURCE)
    if draw.random() < 0.7:
        os.utime(SOURCE, ns=(times.st_atime_ns, times.st_mtime_ns))


PRIVATE: tuple[Callable[[Path, Random], None], ...] = (
    *(flip,) * 5,
    zeros,
    cut,
    longer,
    removed,
    foreign,
)


def meddle(work: Work, draw: Random) -> set[str]:
    """Do something; returns to what: ``input``, ``part``, ``journal``, ``output``."""
    kinds = ("nothing", "nothing", "input", "input", "input", "part", "part", "journal", "output")
    match draw.choice(kinds):
        case "input":
            if draw.random() < 0.6:
                other(work, draw)
            else:
                draw.choice((flip, flip, zeros))(SOURCE, draw)
            return {"input"}
        case "part":
            draw.choice(PRIVATE)(PART, draw)
            return {"part"}
        case "journal":
            draw.choice(PRIVATE)(JOURNAL, draw)
            return {"journal"}
        case "output":
            draw.choice((removed, longer))(TARGET, draw)
            if draw.random() < 0.5:
                removed(TARGET, draw)
                TARGET.write_bytes(b"as it was")
            return {"output"}
    return set()
