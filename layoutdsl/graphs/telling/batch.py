"""What is said of a batch that a model leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.graphs.telling.report import row, size


@dataclass(frozen=True, slots=True)
class Kept:
    """The batch is left open.

    Attributes:
        name: of it, as the model has it; it may be empty.
        planned: the number that plan, certificate and bytes are of.
        more: bytes that are moved for each picture.
    """

    name: str
    planned: int
    more: int


@dataclass(frozen=True, slots=True)
class Stays:
    """The batch is a number in what is written.

    Attributes:
        name: of it, as the model has it; it may be empty.
        planned: the number.
        reason: why it is one.
    """

    name: str
    planned: int
    reason: str


Open: TypeAlias = Kept | Stays


def told_batch(batch: Open | None, tried: tuple[int, ...] = ()) -> Iterator[str]:
    """Yield a line about the batch of a model; none where the model, or the caller, gives it.

    Args:
        batch: what became of it.
        tried: batches at which outputs were compared besides.
    """
    match batch:
        case Kept(name, planned, more):
            words = f"{_called(name)} is left open; plan and bytes are of batch {planned}"
            words += f", {size(more)} moved for each one more" if more else ""
            yield row("batch", words + _run(tried))
        case Stays(name, planned, reason):
            yield row("batch", f"{_called(name)} stays at {planned}: {reason}")
        case None:
            pass


def _called(name: str) -> str:
    return f"`{name}`" if name else "the first axis"


def _run(tried: tuple[int, ...]) -> str:
    return f"; run at {', '.join(map(str, tried))} too" if tried else ""
