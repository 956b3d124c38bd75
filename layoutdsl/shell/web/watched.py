"""The file that a page shows: what it holds, and whether that has changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 1 << 20
"""Of a file; a larger one is no text of layouts."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a file holds, or why that cannot be said.

    Attributes:
        version: another one whenever the file is another.
        text: what it holds; `None` where there is a reason.
        reason: why it cannot be shown.
    """

    version: str
    text: str | None = None
    reason: str = ""


def version_of(path: Path) -> str:
    """Return what tells one state of a file from another: it is empty where there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ""
    return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"


def held(path: Path) -> Held:
    """Return what a file holds."""
    version, name = version_of(path), path.name or str(path)
    if version and not path.is_file():  # a pipe would make us wait
        return Held(version, reason=f"`{name}` is no file")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as failure:
        words = failure.strerror or type(failure).__name__
        reason = f"`{name}` cannot be read: {words[:1].lower()}{words[1:]}"
        return Held(version, reason=reason)
    if len(content) > MOST_BYTES:
        return Held(version, reason=f"`{name}` has more than {MOST_BYTES} bytes")
    try:
        return Held(version, text=content.decode("utf-8-sig"))
    except UnicodeDecodeError as failure:
        byte = content[failure.start]
        reason = f"`{name}` is not UTF-8: byte 0x{byte:02x} at {failure.start}"
        return Held(version, reason=reason)
