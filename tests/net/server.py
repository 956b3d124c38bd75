"""Runs command lines of one version, each in a process of its own that starts in milliseconds.

`python -P server.py FD` imports the package once, then reads a request for each command line from
the socket FD and forks. The child does what `python -m layoutdsl` does, with everything imported
already, which saves most of the time of a short command.

This file runs under both versions: it imports `layoutdsl` and the standard library alone.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
from contextlib import suppress

LIMIT = 120
"""Seconds until a command line is killed; its exit code is then -14."""

WARM = ("list NCHW", "prove NHWC", "generate NHWC -o -", "pack NHWC --help", "explain L202")
"""Command lines that import most of the package; their output is lost."""


def warm() -> None:
    """Import and use most of the package, so that children need not."""
    for line in WARM:
        call(line.split())
    for name in ("onnx", "scipy.optimize"):
        with suppress(ImportError):
            importlib.import_module(name)
    import numpy as np

    import layoutdsl

    layout = layoutdsl.library("NHWC")
    layoutdsl.compile(layout, "numpy").pack(np.zeros((1, 2, 3, 4), "f4"))


def call(arguments: list[str]) -> int:
    """Run a command line in this process and return its exit code."""
    sys.argv = ["layoutdsl", *arguments]
    try:
        runpy.run_module("layoutdsl", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def enter(request: dict) -> None:
    """Take on the folder, the environment and the standard streams that a request names."""
    os.setsid()
    os.chdir(request["folder"])
    os.umask(0o022)
    os.environ.clear()
    os.environ.update(request["environment"])
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, flags in enumerate((os.O_RDONLY, writing, writing)):
        handle = os.open(request["streams"][number], flags, 0o644)
        os.dup2(handle, number)
        os.close(handle)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT)


def main() -> int:
    link = socket.socket(fileno=int(sys.argv[1]))
    warm()
    gc.collect()
    gc.freeze()  # else each child would copy all pages of what was imported, to count references
    requests = link.makefile("r")
    while line := requests.readline():
        child = os.fork()
        if not child:
            link.close()
            request = json.loads(line)
            enter(request)
            return call(request["arguments"])
        status = os.waitpid(child, 0)[1]
        with suppress(ProcessLookupError):  # solvers and compilers that it left behind
            os.killpg(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(status)
        with suppress(BrokenPipeError):
            link.sendall(f"{code}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
