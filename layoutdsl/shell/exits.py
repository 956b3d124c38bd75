"""How a verb ends: the exit codes, and the one exception that carries a message to the shell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from itertools import islice
from pathlib import Path

from layoutdsl.files.places import OccupiedError
from layoutdsl.language.texts.faults import UnknownNameError, UnsearchedError, VerdictError


class Exit(IntEnum):
    """The exit codes; stable, and listed by ``layoutdsl --help``."""

    OK = 0
    REFUTED = 1
    USAGE = 2
    UNDECIDED = 3
    INPUT = 4
    BUG = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class Failure(Exception):  # noqa: N818  how a verb fails, not an error of ours
    """Ends a verb with a message: what, and how to mend it."""

    def __init__(self, code: Exit, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        hint = "" if self.hint is None else f"\n  = help: {self.hint}"
        return f"error: {self.message}{hint}"


@contextmanager
def usage() -> Iterator[None]:
    """What does not fit a layout was asked wrongly: a `ValueError` inside is the user's."""
    try:
        yield
    except UnknownNameError as unknown:
        raise Failure(Exit.USAGE, unknown.message, unknown.hint) from None
    except UnsearchedError as left:
        raise Failure(Exit.UNDECIDED, str(left)) from None
    except VerdictError:
        raise  # the shell shows the verdict
    except ValueError as error:
        raise Failure(Exit.USAGE, str(error)) from None


MOST_FILES = 2000
"""Files of a folder that are looked at for a name like a missing one."""
MOST_LISTED = 6

WEIGHTS = (".safetensors", ".gguf", ".onnx", ".npz", ".npy")
"""How names of files end in which tensors lie, and no text."""

OF_WEIGHTS = (
    "tensors lie in it, and no text: `layoutdsl inspect FILE` shows them, "
    "and `layoutdsl verify PACKED --against FILE` compares two files"
)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say which input cannot be read, and why."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        message = f"{name} is not UTF-8: byte 0x{byte:02x} at {error.start}"
        weights = name.strip("`").endswith(WEIGHTS)
        raise Failure(Exit.INPUT, message, OF_WEIGHTS if weights else None) from None
    except FileNotFoundError as error:
        hint = _files_like(Path(name.strip("`")))
        raise Failure(Exit.INPUT, f"{name} cannot be read: {reason(error)}", hint) from None
    except OSError as error:
        raise Failure(Exit.INPUT, f"{name} cannot be read: {reason(error)}") from None


def _files_like(path: Path) -> str | None:
    """Return the help line for a missing file: a file with a similar name, or those of its kind.

    Only stems are compared: all `.layout` files would be similar to each other otherwise.
    """
    from layoutdsl.language.texts.faults import did_you_mean

    if not path.parent.is_dir():
        return f"there is no folder `{path.parent}`"
    try:
        found = islice(path.parent.iterdir(), MOST_FILES)
        stems = {each.stem for each in found if each.suffix == path.suffix and each.is_file()}
    except OSError:
        return None
    hint = did_you_mean(path.stem, stems)
    if hint is not None:
        close = path.with_name(hint.split("`")[1] + path.suffix)
        return f"did you mean `{close}`?"
    if path.suffix and 0 < len(stems) <= MOST_LISTED:
        names = ", ".join(f"`{stem}{path.suffix}`" for stem in sorted(stems))
        return f"the folder has {names}"
    return None


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Say which output cannot be written, and why."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OccupiedError as taken:
        raise Failure(Exit.INPUT, taken.message, taken.remedy or None) from None
    except OSError as error:
        raise Failure(Exit.INPUT, f"{name} cannot be written: {reason(error)}") from None


def reason(error: OSError) -> str:
    """Return why the system refused, in its words and our case."""
    words = error.strerror or str(error) or type(error).__name__
    return words[:1].lower() + words[1:]
