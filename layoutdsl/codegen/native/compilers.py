"""Which C compiler is at hand, and how it is asked: never through a shell, and never for long.

It imports nothing of ours.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

SECONDS = 60.0
"""After so long a compiler is given up."""

WORDS = 400
"""Characters of a compiler's complaint that are passed on."""


class CompilerError(RuntimeError):
    """There is no compiler, or it failed; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """How a compiler is called.

    Attributes:
        command: the program and what comes before all options.
        identity: tells it from others, its version and the machine it compiles for included.
    """

    command: tuple[str, ...]
    identity: str


def compiler() -> Compiler | None:
    """Return `$CC`, `cc`, `gcc`, `clang` or the package `ziglang`, the first there is.

    Raises:
        CompilerError: `$CC` is set to what cannot be run.
    """
    return _compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=8)
def _compiler(named: str, path: str) -> Compiler | None:
    if named.strip():
        try:
            command = tuple(shlex.split(named))
        except ValueError as error:
            raise CompilerError(f"$CC is `{named}`, which is no command: {error}") from None
        if shutil.which(command[0], path=path) is None:
            raise CompilerError(f"$CC is `{named}`, and there is no program `{command[0]}`")
        return _identified(command)
    for program in ("cc", "gcc", "clang"):
        found = shutil.which(program, path=path)
        if found is not None:
            return _identified((found,))
    if find_spec("ziglang") is not None:
        return _identified((sys.executable, "-m", "ziglang", "cc"))
    return None


def _identified(command: tuple[str, ...]) -> Compiler:
    version = _run((*command, "--version"), 10.0).splitlines()
    return Compiler(command, "\n".join([*command, *version[:1], _machine()]))


@lru_cache(maxsize=1)
def _machine() -> str:
    """What `-march=native` depends on."""
    words = [sys.platform, platform.machine(), platform.processor()]
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith(("flags", "Features", "model name")):
                words.append(line)
            if not line:
                break
    except OSError:
        pass
    return "\n".join(words)


def vector_bytes() -> int:
    """Return the bytes of the widest vectors that this machine shuffles at full speed.

    64 where it picks any bytes of two vectors at once.
    """
    words = _machine().split()
    return 64 if "avx512vbmi" in words else 32 if "avx2" in words else 16


def build(which: Compiler, source: Path, library: Path, options: tuple[str, ...]) -> None:
    """Compile a C file into a shared library.

    Raises:
        CompilerError: it failed, took too long, or wrote nothing.
    """
    command = (*which.command, *options, "-shared", "-fPIC", "-o", str(library), str(source))
    _run(command, SECONDS)
    if not library.is_file():
        raise CompilerError(f"`{which.command[0]}` wrote no library")


def _run(command: tuple[str, ...], seconds: float) -> str:
    name = " ".join(command[:1])
    try:
        done = subprocess.run(  # noqa: S603  (a list, no shell; the program is the user's own)
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CompilerError(f"`{name}` did not answer within {seconds:g} seconds") from None
    except (OSError, ValueError) as error:
        raise CompilerError(f"`{name}` cannot be run: {error}") from None
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip()[:WORDS]
        raise CompilerError(f"`{name}` failed with {done.returncode}: {words or 'no message'}")
    return done.stdout.decode("utf-8", "replace")
