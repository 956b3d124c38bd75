"""A solver as a process of its own: a text goes in, what it prints comes back, a wall stops it.

It imports nothing of ours.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Sequence

MOST_OUTPUT = 1 << 22
"""Bytes of answers after which a solver is taken for running wild."""


def converse(
    name: str, command: Sequence[str], text: str, wall: float, most: int = MOST_OUTPUT
) -> tuple[str, str]:
    """Return what a program prints about a text, and why it was stopped or never ran.

    Args:
        name: of the program, for the reason.
        command: the program and its arguments.
        text: goes to its standard input.
        wall: seconds without any output after which it is killed.
        most: bytes of output after which it is killed.
    """
    try:
        process = subprocess.Popen(  # noqa: S603  a solver; the text goes to its input
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as failure:
        return "", f"{name} does not run: {failure.strerror}"
    with process:
        try:
            output, reason = _exchange(process, text.encode(), wall, most)
        finally:
            process.kill()
    return output.decode(errors="replace"), f"{name} {reason}" if reason else ""


def _exchange(
    process: subprocess.Popen[bytes], text: bytes, wall: float, most: int
) -> tuple[bytes, str]:
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
                return bytes(output), f"gave no answer for {wall:g} seconds, and was stopped"
            for key, _ in events:
                if key.fileobj is process.stdin:
                    text = _write(process, selector, text)
                    continue
                piece = os.read(process.stdout.fileno(), 65536)
                if not piece:
                    return bytes(output), ""
                output += piece
                if len(output) > most:
                    return bytes(output), "prints without end, and was stopped"
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
