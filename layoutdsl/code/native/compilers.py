"""Which C compiler is at hand, and how it is asked: never through a shell, and never for long.

It imports nothing of ours.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Event

from layoutdsl.language.texts.resources import install_command

SECONDS = 60.0
"""After so long a compiler is given up."""

SECONDS_TO_SAY = 10.0
"""After so long without its version too."""

WORDS = 400
"""Characters of a compiler's complaint that are passed on."""


CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
ANOTHER = "set $CC to another compiler"


class CompilerError(RuntimeError):
    """Code cannot be compiled, or not be called.

    Attributes:
        message: what is missing, or what failed and why.
        remedy: how to mend it.
    """

    def __init__(self, message: str, remedy: str = ANOTHER) -> None:
        super().__init__(message, remedy)
        self.message, self.remedy = message, remedy

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class SlowCompilerError(CompilerError):
    """A compiler took too long."""


def expect_reader() -> None:
    """Check that C can be read back.

    Raises:
        CompilerError: it cannot; says where to get what is missing.
    """
    if find_spec("pycparser") is None:
        raise CompilerError(
            "the package `pycparser` is missing, which reads C back", install_command("native")
        )


@dataclass(frozen=True, slots=True)
class Compiler:
    """How a compiler is called.

    Attributes:
        command: the program and what comes before all options.
        identity: tells it from others, its version and the machine it compiles for included.
    """

    command: tuple[str, ...]
    identity: str


def compiler() -> Compiler:
    """Return `$CC`, `cc`, `gcc`, `clang` or the package `ziglang`, the first there is.

    Raises:
        CompilerError: there is none, `$CC` cannot be run, or what there is does not answer.
    """
    found = _asked_once(os.environ.get("CC", ""), os.environ.get("PATH", ""))
    if isinstance(found, Compiler):
        return found
    raise CompilerError(*found)


@lru_cache(maxsize=8)
def _asked_once(named: str, path: str) -> Compiler | tuple[str, str]:
    """The compiler, or what is wrong with it: one that hangs is not waited for again."""
    try:
        return _compiler(named, path)
    except CompilerError as error:
        return error.message, error.remedy


def _compiler(named: str, path: str) -> Compiler:
    if named.strip():
        try:
            command = tuple(shlex.split(named))
        except ValueError as error:
            words = f"$CC is `{named}`, which is no command: {error}"
            raise CompilerError(words, _way_out()) from None
        if not command or shutil.which(command[0], path=path) is None:
            words = f"$CC is `{named}`, and there is no program `{command[0] if command else ''}`"
            raise CompilerError(words, _way_out())
        return _identified(command)
    for program in ("cc", "gcc", "clang"):
        found = shutil.which(program, path=path)
        if found is not None:
            return _identified((found,))
    if find_spec("ziglang") is not None:
        return _identified((sys.executable, "-m", "ziglang", "cc"))
    raise CompilerError(
        "there is no C compiler", f"install one, set $CC, or {install_command('ziglang')}"
    )


def _way_out() -> str:
    return f"set $CC to a C compiler, or unset it and {install_command('ziglang')}"


def _identified(command: tuple[str, ...]) -> Compiler:
    version = _run((*command, "--version"), SECONDS_TO_SAY).splitlines()
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


def data_caches(folder: Path = CACHES) -> list[tuple[int, int]]:
    """Return level and KiB of the caches of a core that hold data, as far as Linux tells.

    Args:
        folder: where it tells.
    """
    found = list[tuple[int, int]]()
    for index in sorted(folder.glob("index*")):
        try:
            if (index / "type").read_text("ascii").strip() != "Instruction":
                size = (index / "size").read_text("ascii").strip().removesuffix("K")
                found.append((int((index / "level").read_text("ascii")), int(size)))
        except (OSError, ValueError):
            continue
    return found


def build(
    which: Compiler, sources: Sequence[Path], library: Path, options: tuple[str, ...]
) -> None:
    """Compile C files into one shared library.

    Raises:
        CompilerError: it failed, or wrote nothing.
        SlowCompilerError: it took too long, or did so before.
    """
    if which in _given_up:
        raise SlowCompilerError(*_given_up[which])
    command = (*which.command, *options, "-shared", "-fPIC", "-o", str(library))
    command = (*command, *map(str, sources))
    try:
        _run(command, SECONDS)
    except SlowCompilerError as error:
        _given_up[which] = error.message, error.remedy
        raise
    if not library.is_file():
        raise CompilerError(f"`{which.command[0]}` wrote no library")


_given_up: dict[Compiler, tuple[str, str]] = {}
"""Compilers that took too long in this process, and what was said of them."""


def _run(command: tuple[str, ...], seconds: float) -> str:
    name = command[0]
    try:
        with subprocess.Popen(  # noqa: S603  (a list, no shell; the program is the user's own)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as running:
            _running.add(running)
            try:
                if _ending.is_set():
                    raise CompilerError(f"`{name}` is not waited for: the process ends")
                said, complaint = running.communicate(timeout=seconds)
            except BaseException:
                _end(running)
                raise
            finally:
                _running.discard(running)
    except subprocess.TimeoutExpired:
        raise SlowCompilerError(f"`{name}` did not answer within {seconds:g} seconds") from None
    except (OSError, ValueError) as error:
        raise CompilerError(f"`{name}` cannot be run: {error}") from None
    if running.returncode:
        words = complaint.decode("utf-8", "replace").strip()[:WORDS]
        raise CompilerError(f"`{name}` failed with {running.returncode}: {words or 'no message'}")
    return said.decode("utf-8", "replace")


_running: set[subprocess.Popen[bytes]] = set()


_ending = Event()


def end_running() -> None:
    """End all programs that run, and those that are begun from now on: the process ends."""
    _ending.set()
    for each in tuple(_running):
        _end(each)


def _end(running: subprocess.Popen[bytes]) -> None:
    """End a program, and those that it started."""
    if os.name == "posix":
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    running.kill()
