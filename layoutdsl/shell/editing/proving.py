"""A text proved by another process, which the next change of the text ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress

_running = set[int]()
"""The processes that prove, each the first of its group."""

_COMMAND = ("-m", "layoutdsl", "prove", "-", "--json", "--jobs", "1")


async def proved(text: str) -> str:
    """Return what `layoutdsl prove` prints of a text as JSON.

    Whoever cancels this ends the process, and all that it started.

    Raises:
        OSError: no process can be started.
    """
    pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *_COMMAND,
        stdin=pipe,
        stdout=pipe,
        stderr=nowhere,
        start_new_session=True,
    )
    _running.add(process.pid)
    try:
        out, _ = await process.communicate(text.encode("utf-8", "replace"))
        return out.decode("utf-8", "replace")
    finally:
        if process.returncode is None:
            _end(process.pid)
            await process.wait()
        _running.discard(process.pid)


def end_all() -> None:
    """End every process that proves, at once: nobody waits for them any more."""
    for each in _running:
        _end(each)


def _end(number: int) -> None:
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(number, signal.SIGKILL)
        else:
            os.kill(number, signal.SIGTERM)
