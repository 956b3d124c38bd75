"""`.npy` files in and out: read without a copy where possible, written whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from stat import S_ISREG
from typing import Any

from layoutdsl.files import npy
from layoutdsl.files.places import Identity, identity, widest_mode
from layoutdsl.language.texts.faults import VerdictError
from layoutdsl.shell.exits import Exit, Failure, reading, writing
from layoutdsl.shell.streams import handle_of


@dataclass(frozen=True, slots=True)
class Given:
    """An array that was given: a map of its file, or what a stream held.

    Attributes:
        shown: what it came from, in words.
        place: the name of the file, or the handle of a stream.
        before: the identity of the file when it was opened; nothing where it is a pipe.
    """

    shown: str
    place: str | int
    array: Any
    before: Identity | None

    def refuse_changed(self) -> None:
        """Fail where the file has been written since: nobody knows which bytes were taken."""
        if self.before is None:
            return
        with reading(self.shown):
            if identity(self.place) != self.before:
                message = f"{self.shown} has changed while it was read"
                raise Failure(Exit.INPUT, message, "start again when nobody writes it")


def read(name: str) -> Given:
    """Return the array of a file, mapped and not copied; ``-`` is the standard input."""
    shown = "the standard input" if name == "-" else f"`{name}`"
    with reading(shown):
        try:
            if name == "-":
                handle = handle_of(sys.stdin)
                before = file_identity(handle)
                return Given(shown, handle, npy.read_stream(sys.stdin.buffer), before)
            with open(name, "rb") as file:  # noqa: PTH123  the name as it was written
                before = file_identity(file.fileno())
                if before is None:
                    return Given(shown, name, npy.read_stream(file), None)
                found = npy.read_header(file.fileno())
                return Given(shown, name, npy.mapped(file.fileno(), found), before)
        except npy.UnreadableError as unfit:
            raise Failure(Exit.INPUT, f"{shown} {unfit.fact}") from None


def file_identity(handle: int) -> Identity | None:
    """Return the identity of an open file; nothing where it is a pipe, or is closed."""
    is_file = handle >= 0 and S_ISREG(os.fstat(handle).st_mode)
    return identity(handle) if is_file else None


@contextmanager
def fitting(shown: str) -> Iterator[None]:
    """What the generated module refuses, it refuses because of the array."""
    try:
        yield
    except VerdictError:
        raise  # the shell shows the verdict
    except (ValueError, TypeError) as error:
        raise Failure(Exit.INPUT, f"{shown} does not fit: {error}") from None


def write(name: str, array: Any, given: Given, told: Callable[[int], None] | None = None) -> None:
    """Write an array to a file, whole or not at all; ``-`` is the standard output.

    Args:
        name: of the file.
        array: what was made.
        given: what it was made from, and may still be a view of.
        told: how many bytes have been written.
    """
    from layoutdsl.files.whole import replacing

    if name == "-":
        sys.stdout.flush()
        npy.write(sys.stdout.buffer, array, told)
        sys.stdout.buffer.flush()
        given.refuse_changed()
        return
    with writing(f"`{name}`"), replacing(name, widest_mode([given.place])) as file:
        npy.write(file, array, told)
        given.refuse_changed()
