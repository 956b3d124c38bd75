"""z3 as a process of its own, spoken to in SMT-LIB text.

The budget of a question is deterministic work (z3's `rlimit`); a wall around the whole run kills a
solver that does not stop. A solver that dies, hangs or complains makes its questions *unknown*,
never answered.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import selectors
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from layoutdsl.prove.checker import PREAMBLE

WORK = 4_000_000
"""z3 resource units for one question; the largest that the library needs is far below."""

WALL = 20.0
"""Seconds without any answer after which the solver is taken for hanging."""

HINT_WALL = 2.0
"""The same, for a question whose answer is only a hint."""

MOST_OUTPUT = 1 << 22
"""Bytes of answers after which the solver is taken for running wild."""

Answer: TypeAlias = Literal["sat", "unsat", "unknown"]
_ANSWERS: Mapping[str, Answer] = {"sat": "sat", "unsat": "unsat", "unknown": "unknown"}


class NoSolver(Exception):  # noqa: N818  what the user can mend, told as such
    """z3's program is not installed."""


_VALUE = re.compile(r"\(([^\s()]+)\s+(?:(\d+)|\(-\s+(\d+)\))\)")


@dataclass(frozen=True, slots=True)
class Answers:
    """One answer for each question; ``reason`` says why some are unknown."""

    answers: tuple[Answer, ...]
    reason: str = ""


@cache
def program() -> str:
    """Return the path of z3: the one that came with its Python package, else the one on PATH.

    Raises:
        NoSolver: there is none.
    """
    try:
        files = importlib.metadata.files("z3-solver") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("z3", "z3.exe"):
            path = str(file.locate())
            if os.access(path, os.X_OK):
                return path
    found = shutil.which("z3")
    if found is None:
        raise NoSolver("the program z3 is not installed: pip install z3-solver")
    return found


def ask(questions: Sequence[str], *, work: int = WORK, wall: float = WALL) -> Answers:
    """Return z3's answer to each question, in order."""
    if not questions:
        return Answers(())
    return _converse(script(questions, work), len(questions), work, wall)


def model(
    question: str, names: Sequence[str], *, work: int = WORK // 4, wall: float = HINT_WALL
) -> dict[str, int] | None:
    """Return numbers for ``names`` that make a question satisfiable.

    What comes back is a hint: it has to be replayed. ``None`` where z3 finds nothing in its budget.
    """
    text = (
        f"(set-option :rlimit {work})\n{question}"
        f"(check-sat)\n(get-value ({' '.join(names)}))\n(exit)\n"
    )
    output, _ = _run(text, wall)
    if not output.lstrip().startswith("sat"):
        return None
    found = {
        name: int(positive) if positive else -int(negative)
        for name, positive, negative in _VALUE.findall(output)
    }
    return found if found.keys() >= set(names) else None


def script(questions: Sequence[str], work: int = WORK) -> str:
    """Return the questions as one SMT-LIB script, each in a scope of its own."""
    scopes = (f"(push 1)\n{each}(check-sat)\n(pop 1)\n" for each in questions)
    return f"(set-option :rlimit {work})\n{PREAMBLE}{''.join(scopes)}(exit)\n"


def _converse(text: str, count: int, work: int, wall: float) -> Answers:
    """Answers are told apart by their order only, so one line that is none spoils all of them."""
    output, reason = _run(text, wall)
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    strange = next((line for line in lines if line not in _ANSWERS), "")
    if strange or len(lines) > count:
        nothing: list[Answer] = ["unknown"] * count
        return Answers(tuple(nothing), reason or f"z3 complains: {(strange or lines[-1])[:200]}")
    given = [_ANSWERS[line] for line in lines]
    if len(given) < count:
        reason = reason or "z3 ended early"
        given += ["unknown"] * (count - len(given))
    elif "unknown" in given:
        reason = f"z3 gave up after {work} units of work"
    return Answers(tuple(given), reason)


def _run(text: str, wall: float) -> tuple[str, str]:
    """Return what z3 prints, and why it was stopped or never ran."""
    try:
        process = subprocess.Popen(  # noqa: S603  the program is z3; the text goes to its input
            [program(), "-smt2", "-in"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except NoSolver as missing:
        return "", str(missing)
    except OSError as failure:
        return "", f"z3 does not run: {failure.strerror}"
    with process:
        try:
            output, reason = _exchange(process, text.encode(), wall)
        finally:
            process.kill()
    return output.decode(errors="replace"), reason


def _exchange(process: subprocess.Popen[bytes], text: bytes, wall: float) -> tuple[bytes, str]:
    """Write and read at once, so that neither side waits for a full pipe."""
    assert process.stdin is not None
    assert process.stdout is not None
    os.set_blocking(process.stdin.fileno(), False)
    output = bytearray()
    limit = time.monotonic() + wall
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdin, selectors.EVENT_WRITE)
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            events = selector.select(max(0.0, limit - time.monotonic()))
            if not events:
                return bytes(output), f"z3 gave no answer for {wall:g} seconds, and was stopped"
            for key, _ in events:
                if key.fileobj is process.stdin:
                    text = _write(process, selector, text)
                    continue
                piece = os.read(process.stdout.fileno(), 65536)
                if not piece:
                    return bytes(output), ""
                output += piece
                if len(output) > MOST_OUTPUT:
                    return bytes(output), "z3 prints without end, and was stopped"
                limit = time.monotonic() + wall


def _write(
    process: subprocess.Popen[bytes], selector: selectors.BaseSelector, text: bytes
) -> bytes:
    assert process.stdin is not None
    try:
        written = os.write(process.stdin.fileno(), text[:65536])
    except BlockingIOError:
        return text
    except BrokenPipeError:
        written = len(text)
    if written == len(text):
        selector.unregister(process.stdin)
        process.stdin.close()
    return text[written:]
