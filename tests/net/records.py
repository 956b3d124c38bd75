"""Records: what command lines did, as text that a person can compare.

A file of `records/` holds the records of one command. Everything a program printed is indented, so
a line `## NAME` always begins a record.
"""

from __future__ import annotations

import difflib
import io
import re
import shlex
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

from .running import Case, Ran, Stage

FOLDER = Path(__file__).parent / "records"

MOST_LINES, HEAD, MOST_WIDTH = 130, 12, 240
"""Longer texts are recorded by their first lines and their hash; so are longer lines."""

HEAD_LINE = "# Command lines of commands/{}.toml, recorded by `python -m tests.net rewrite`."

# What differs from run to run, or from machine to machine, and what stands for it.
_UNSTABLE = (
    (r"(?<![\w.])\d+(\.\d+)?(?:e-\d+)? (?:µs|us|ms|s|min|h)\b", "# s"),
    (r'("(?:\w*seconds|mtime|mtime_ns|time|inode|device|modified)": )-?[\d.e+-]+', r"\1#"),
    (r"\b\d+(\.\d+)? (?:[kMGT]?B|bytes)/s\b", "# B/s"),
    (r"layoutdsl \d+\.\d+\.\d+\w*", "layoutdsl VERSION"),
    (r'("(?:\w*[vV]ersion|layoutdsl)": )"0\.\d+\.\d+\w*"', r'\1"VERSION"'),
    # The order of sums differs between processors.
    (r"\d+ bit for bit", "# bit for bit"),
    (r"(differ by|another input: by) [\d.]+(e[+-]?\d+)?", r"\1 #"),
    (r"127\.0\.0\.1:\d+\S*", "127.0.0.1:PORT"),
)


# What is left of measurements: which lines there are, and their words.
_MEASURED = (
    (r".* cores, L1 .*", "MACHINE"),
    (r"(?m)^ *(- )?beside .*\n", ""),
    (r'("noisy": )(true|false)', r"\1#"),
    (r'("move": )"[^"]*"', r"\1#"),
    (r"[^\s|\",:]*\d[^\s|\",]*", "#"),
    (r"(?<=\S)  +", "  "),
)


# Plans, and what is left of a run, hold hashes of paths and times, also in names of files.
_PLANNED = ((r"\b([0-9a-f]{64}|[0-9a-f]{32})\b", "HASH"),)


def record(ran: Ran, *, whole: bool = False) -> str:
    """Write what a case did.

    Args:
        ran: the case, after it ran.
        whole: write long texts in full, for a comparison that is not kept.
    """
    writer = _Writer(ran, whole)
    lines = [f"## {ran.case.name}", ""]
    for stage in ran.before:
        code = f"  # exit code {stage.code}" if stage.code else ""
        lines.append(f"$ layoutdsl {stage.line}{code}")
    for stage in ran.stages:
        lines += writer.stage(stage)
    for name, state in ran.files.items():
        lines += writer.file(name, state)
    return "\n".join(line.rstrip() for line in lines) + "\n\n"


class _Writer:
    def __init__(self, ran: Ran, whole: bool) -> None:
        self.whole, self.structure = whole, ran.case.structure
        self.planned = ran.case.command in ("plan", "run")
        self.before = "".join(f"{key}={shlex.quote(value)} " for key, value in ran.case.env)
        # Longest first: one folder may lie inside another.
        self.roots = sorted(ran.roots.items(), key=lambda each: -len(each[0]))

    def stage(self, stage: Stage) -> list[str]:
        lines = [
            f"$ {self.before}layoutdsl {stage.line}{' |' * stage.piped}",
            f"exit code {stage.code}",
        ]
        for name, data in (("stdout", stage.out), ("stderr", stage.err)):
            if data and stage.piped and name == "stdout":
                lines.append(f"{name}: {_summary(data)}")
            elif data:
                lines += self.content(name, data)
        return lines

    def file(self, name: str, state: tuple[int, bytes] | None) -> list[str]:
        if state is None:
            return [f"{self.stable(name)}: removed"]
        mode, data = state
        name = self.stable(name)
        title = name if mode == 0o644 else f"{name} (mode {mode:o})"
        return self.content(title, data)

    def content(self, name: str, data: bytes) -> list[str]:
        try:
            text = data.decode() if b"\0" not in data else None
        except UnicodeDecodeError:
            text = None
        if text is None:
            return [f"{name}: {_summary(data)}"]
        lines = self.stable(text).splitlines()
        if self.whole or len(lines) <= MOST_LINES:
            return [f"{name}:", *("    " + self.cut(each) for each in lines)]
        digest = sha256("\n".join(lines).encode()).hexdigest()[:16]
        head = ["    " + self.cut(each) for each in lines[:HEAD]]
        return [f"{name}: {len(lines)} lines, sha256 {digest}", *head, "    ..."]

    def stable(self, text: str) -> str:
        for root, word in self.roots:
            text = text.replace(root, word)
        for pattern, word in _UNSTABLE:
            text = re.sub(pattern, word, text)
        for pattern, word in (*(_MEASURED * self.structure), *(_PLANNED * self.planned)):
            text = re.sub(pattern, word, text)
        return text

    def cut(self, line: str) -> str:
        if self.whole or len(line) <= MOST_WIDTH:
            return line
        digest = sha256(line.encode()).hexdigest()[:16]
        return f"{line[:MOST_WIDTH]}... ({len(line)} characters, sha256 {digest})"


# The account of packed weights holds a random token, and checksums that it goes into.
_DRAWN = re.compile(rb"(token|check)(\W{1,8})([0-9a-f]{64}|[0-9a-f]{32})")


def _summary(data: bytes) -> str:
    words = f"{len(data)} bytes, sha256 {_digest(data)}"
    if data.startswith(b"\x93NUMPY"):
        try:
            array = np.load(io.BytesIO(data))
        except (ValueError, EOFError):
            return words
        return f"{words}, {array.dtype} {array.shape}"
    return words


def _digest(data: bytes) -> str:
    if data.startswith(b"PK\3\4"):  # of an archive the members: it has a checksum of each
        try:
            with ZipFile(io.BytesIO(data)) as archive:
                names = archive.namelist()
                data = b"".join(name.encode() + b"\0" + archive.read(name) for name in names)
        except (BadZipFile, ValueError, OSError):
            pass
    return sha256(_DRAWN.sub(rb"\1\2", data)).hexdigest()[:16]


def read(command: str) -> dict[str, str]:
    """Return the records of a command by the names of its cases."""
    place = FOLDER / f"{command}.txt"
    if not place.exists():
        return {}
    parts = re.split(r"^(?=## )", place.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.split("\n", 1)[0].removeprefix("## "): part for part in parts[1:]}


def write(command: str, found: dict[str, str]) -> None:
    """Replace the records of a command, in the order of its table."""
    head = HEAD_LINE.format(command) + "\n\n"
    (FOLDER / f"{command}.txt").write_text(head + "".join(found.values()), encoding="utf-8")


def difference(case: Case, before: str, after: str, names: tuple[str, str]) -> str:
    """Return the changed lines between two records with the lines around them; empty if none."""
    if before == after:
        return ""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, "", "", 4, "")
    return f"---- {case.key}: layoutdsl {case.run}\n" + "\n".join(list(lines)[2:]) + "\n"
