"""``pack`` and ``unpack`` of files that do not fit into memory, and of files without a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from layoutdsl.language.texts.faults import VerdictError
from layoutdsl.shell.exits import Exit, Failure, reason
from layoutdsl.shell.interrupts import watched
from layoutdsl.shell.options import Command
from layoutdsl.shell.output import error
from layoutdsl.shell.progress import Progress, Way, progress_option

if TYPE_CHECKING:
    from layoutdsl.commands import CompileTarget
    from layoutdsl.files.pieces.runs import TooLittleError
    from layoutdsl.language.meaning.model import Layout
    from layoutdsl.language.meaning.storage import StorageName

_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([kKmMgGtT]?)(?:i?[bB])?")
_UNITS = "KMGT"


@dataclass(frozen=True, slots=True)
class Large:
    """What was asked for of a file in pieces.

    Attributes:
        mem: bytes, or None where it was not said.
        jobs: pieces at a time, or None where it was not said.
        raw: an element type, where files have no header.
        way: how progress is told.
        storage: how the buffer is stored.
        scaled: what codes stand for: arguments of the verbs of Python; none where files hold codes.
        unproved: also move by an undecided layout.
    """

    mem: int | None
    jobs: int | None
    raw: str | None
    way: Way = "auto"
    storage: StorageName = "items"
    scaled: Mapping[str, Any] = field(default_factory=dict)
    unproved: bool = False

    @property
    def in_pieces(self) -> bool:
        """Whether memory or jobs were asked for."""
        return (self.mem, self.jobs) != (None, None)

    @property
    def asked(self) -> bool:
        """Whether it was asked for at all; progress is told where it was."""
        return (self.mem, self.jobs, self.raw) != (None, None, None)


def _bytes(_: click.Context, __: click.Parameter, written: str | None) -> int | None:
    if written is None:
        return None
    found = _SIZE.fullmatch(written.strip())
    if found is None or not (size := round(float(found[1]) * _unit(found[2]))):
        hint = "write a number of bytes: 65536, 64K, 256M or 1.5G"
        raise Failure(Exit.USAGE, f"`{written[:40]}` in --mem is no amount of memory", hint)
    return size


def _unit(letter: str) -> int:
    return 1 if not letter else int(1024 ** (_UNITS.index(letter.upper()) + 1))


RAW = click.option(
    "--raw",
    metavar="TYPE",
    help="Both files are bare items of this type, without a header: u8, f32, bf16.",
)
MEMORY = click.option(
    "--mem",
    callback=_bytes,
    metavar="SIZE",
    help="Stream the file in at most this much memory, such as 256M. Interrupted runs resume.",
)


def in_pieces(command: Command) -> Command:
    """Give a verb the options for large files."""
    return memory_options(RAW(progress_option(command)))


def memory_options(command: Command) -> Command:
    """Give a verb the options for memory and jobs."""
    for option in (
        click.option(
            "--jobs",
            type=click.IntRange(1, 256),
            metavar="N",
            help="Pieces at a time; the memory is shared between them.  [default: 1]",
        ),
        MEMORY,
    ):
        command = option(command)
    return command


def pack_large(
    layout: Layout,
    files: tuple[str, str],
    asked: Large,
    compiled: CompileTarget,
    fill: float | None,
    shape: tuple[int, ...] | None,
) -> str:
    """Pack a file piece by piece; returns what was done, in words."""
    from layoutdsl.commands import pack_file

    if (asked.raw is None) != (shape is None):
        missing = "--shape" if shape is None else "--raw"
        other = "--raw" if shape is None else "--shape"
        hint = "a .npy file says both itself; one without a header needs both"
        raise Failure(Exit.USAGE, f"{other} is given without {missing}", hint)
    source, destination = places(files)
    progress = Progress("pack", asked.way)
    with failing(layout.name, files[:1], files[1], asked), watched(progress):
        how = _how(layout, source, asked, compiled, progress, fill)
        done = pack_file(layout, source, destination, fill=fill, shape=shape, **how)
    return f"packed {done.source} {done.dtype.name} -> {done.result} in {_pieces(done.pieces)}"


def unpack_large(
    layout: Layout,
    files: tuple[str, str],
    asked: Large,
    compiled: CompileTarget,
    shape: tuple[int, ...],
) -> str:
    """Unpack a file piece by piece; returns what was done, in words."""
    from layoutdsl.commands import unpack_file

    source, destination = places(files)
    progress = Progress("unpack", asked.way)
    with failing(layout.name, files[:1], files[1], asked), watched(progress):
        how = _how(layout, source, asked, compiled, progress)
        done = unpack_file(layout, source, destination, shape, **how)
    return f"unpacked {done.source} {done.dtype.name} -> {done.result} in {_pieces(done.pieces)}"


def _pieces(count: int) -> str:
    return "1 piece" if count == 1 else f"{count} pieces"


def places(files: tuple[str, str]) -> tuple[Path, Path]:
    """The files, where both are such as can be taken apart."""
    for name, stream in zip(files, ("input", "output"), strict=True):
        if name == "-":
            message = f"the standard {stream} cannot be processed in pieces"
            hint = "name a file, or leave out --mem, --jobs and --raw"
            raise Failure(Exit.USAGE, message, hint)
        if Path(name).exists() and not Path(name).is_file():
            hint = "leave out --mem, --jobs and --raw"
            raise Failure(
                Exit.INPUT, f"`{name}` is no plain file, and cannot be processed in pieces", hint
            )
    return Path(files[0]), Path(files[1])


def _how(
    layout: Layout,
    source: Path,
    asked: Large,
    compiled: CompileTarget,
    progress: Progress,
    fill: float | None = None,
) -> dict[str, Any]:
    from layoutdsl.commands import MEM

    return {
        "mem": MEM if asked.mem is None else asked.mem,
        "jobs": asked.jobs or 1,
        "target": compiled,
        "raw": None if asked.raw is None else dtype_of(asked.raw),
        "storage": asked.storage,
        "unproved": asked.unproved,
        **asked.scaled,
        "progress": progress,
        "tell": lambda words: progress.above(f"note: {words}"),
        "look": None if asked.scaled else looking(layout, str(source), fill),
    }


def looking(layout: Layout, source: str, fill: float | None) -> Callable[[Any], None]:
    """Return what looks at every tensor, and fails where it holds no elements of the layout."""
    from layoutdsl.shell import elements

    def look(tensor: Any) -> None:
        elements.refuse_items(layout, source, tensor)
        elements.refuse_values(layout, source, tensor)
        elements.refuse_unheld(layout, fill, tensor)

    return look


def dtype_of(written: str) -> str:
    """The item of numpy that an element travels in."""
    from layoutdsl.language.meaning.elements import ELEMENT_TYPES

    if written not in ELEMENT_TYPES:
        known = f"known are {', '.join(ELEMENT_TYPES)}"
        raise Failure(Exit.USAGE, f"`{written[:40]}` in --raw is no element type", known)
    kind, width = ELEMENT_TYPES[written].item
    return f"{kind}{width}"


def size_text(size: float) -> str:
    """Return bytes as a person says them.

    >>> size_text(3 << 20)
    '3.0 MiB'
    """
    if size < 1024:
        return f"{round(size)} bytes"
    power = min((int(size).bit_length() - 1) // 10, len(_UNITS))
    return f"{size / 1024**power:.1f} {_UNITS[power - 1]}iB"


@contextmanager
def failing(name: str, sources: Sequence[str], destination: str, asked: Large) -> Iterator[None]:
    """What goes wrong with files and memory, in words for a shell.

    Args:
        name: of what is moved.
        sources: the files that are read: one, or those that --field names.
        destination: the file that is written.
        asked: how much may be used.
    """
    from layoutdsl.files.npy import UnreadableError
    from layoutdsl.files.pieces.runs import TooLittleError
    from layoutdsl.files.places import OccupiedError

    shown = f"`{sources[0]}`" if len(sources) == 1 else "what --field names"
    try:
        yield
    except TooLittleError as few:
        raise too_little(name, asked.mem, asked.jobs, few) from None
    except UnreadableError as unfit:
        raise Failure(Exit.INPUT, f"{shown} {unfit.fact}") from None
    except OccupiedError as occupied:
        raise Failure(Exit.INPUT, occupied.message, occupied.remedy or None) from None
    except OSError as failure:
        read = str(failure.filename) in sources
        place = failure.filename if read else destination
        word = "read" if read else "written"
        raise Failure(Exit.INPUT, f"`{place}` cannot be {word}: {reason(failure)}") from None
    except VerdictError:
        raise  # the shell shows the verdict
    except (ValueError, TypeError) as unfit:
        raise Failure(Exit.INPUT, f"{shown} does not fit: {unfit}") from None
    except KeyboardInterrupt:
        kept_part(destination)
        raise


def kept_part(destination: str) -> None:
    """Say where the pieces of an interrupted run lie, if there are any."""
    part = f"{_led_to(destination)}.part"
    if Path(part).exists():
        error(f"note: `{part}` is kept; the same command goes on with it")
    elif any(Path(destination).glob("*.part.json")):  # the shards of a checkpoint
        words = f"the unfinished shards in `{destination}` are kept"
        error(f"note: {words}; the same command goes on with them")


def _led_to(destination: str) -> str:
    """The file that is written, as it was named where that is no link."""
    from layoutdsl.files.places import followed

    return str(followed(destination)) if Path(destination).is_symlink() else destination


def too_little(name: str, mem: int | None, jobs: int | None, few: TooLittleError) -> Failure:
    """Return how a verb fails for want of memory.

    Args:
        name: of what has no smaller piece.
        mem: bytes that were given, if any.
        jobs: likewise.
        few: says what is needed, and why.
    """
    from layoutdsl.commands import MEM

    jobs = jobs or 1
    given = size_text(MEM if mem is None else mem)
    several = "" if jobs == 1 else f" for {jobs} jobs"
    message = (
        f"{given} of memory are too little{several}: the smallest piece of `{name}` takes "
        f"{size_text(few.needed / jobs)}, as {few.reason}"
    )
    return Failure(Exit.USAGE, message, f"write --mem {_written(few.needed)}")


def _written(size: int) -> str:
    """An amount of memory as --mem takes it, rounded up."""
    power = max((size.bit_length() - 1) // 10 - 1, 0)
    power = min(power, len(_UNITS))
    return f"{ceil(size / 1024**power)}{_UNITS[power - 1] if power else ''}"
