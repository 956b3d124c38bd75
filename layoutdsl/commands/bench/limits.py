"""As many cores as threads: the process is bound to them, and packages are told before they load.

A package that starts threads of its own would otherwise be measured with more of the machine than
the others.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from layoutdsl.code.native.compilers import data_caches

_COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TVM_NUM_THREADS",
)
_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def bound(threads: int) -> Iterator[None]:
    """Keep this process, and what it loads, to as many cores as threads."""
    told = {name: str(threads) for name in _COUNTS}
    if threads == 1:
        told["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()
    before = {name: os.environ.get(name) for name in told}
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    os.environ.update(told)
    if allowed is not None:
        os.sched_setaffinity(0, sorted(allowed)[:threads])
    try:
        yield
    finally:
        if allowed is not None:
            os.sched_setaffinity(0, allowed)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def machine() -> str:
    """Return what this runs on, in one line."""
    caches = (f"L{level} {size}K" for level, size in data_caches())
    words = [_processor(), f"{os.cpu_count()} cores", *caches, platform.system()]
    return ", ".join([*words, f"Python {platform.python_version()}"])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def memory() -> int | None:
    """Return the bytes of memory of this machine, where they are known."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
