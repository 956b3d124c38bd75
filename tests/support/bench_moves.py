"""What tests of the benchmark share: small moves, and candidates that are wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from texts import layout

from layoutdsl import Layout
from layoutdsl.commands.bench.moves import Move, Task, moves_of
from layoutdsl.commands.bench.peers.peer import Run

NCHW4C = "layout NCHW4c(n, c, h, w) = [n, c/4, h, w, c%4]"
NHWC = "layout NHWC(n, c, h, w) = [n, h, w, c]"
CROUTON = "layout Crouton(b, h, w, d) = [b, h/2, w/4, d/8, h%2, w%4, d%8] fill 7"
SHAPE = (2, 6, 3, 5)


def task(source: str | None, target: str | None, shape: tuple[int, ...], dtype: str) -> Task:
    one, other = (None if text is None else layout(text) for text in (source, target))
    return Task("test", one, other, shape, dtype)


def move(
    source: str | None,
    target: str | None,
    shape: tuple[int, ...] = SHAPE,
    dtype: str = "float32",
) -> Move:
    return next(moves_of([task(source, target, shape, dtype)]))


def both_ways(each: Layout, shape: tuple[int, ...], dtype: str) -> list[Move]:
    return list(
        moves_of([Task("test", None, each, shape, dtype), Task("test", each, None, shape, dtype)])
    )


Fault = Callable[[Move], object]


@dataclass
class Planted:
    """A candidate that writes what is expected, and then does something else."""

    fault: Fault = lambda _: None
    name: str = "planted"
    says: str = "what it should, and a fault"
    package: str | None = "planted"
    why: str | None = None
    calls: list[str] = field(default_factory=list)

    def missing(self) -> str | None:
        return None

    def cannot(self, move: Move) -> str | None:  # noqa: ARG002
        return self.why

    def prepare(self, move: Move, threads: int) -> Run:  # noqa: ARG002
        def run() -> object:
            self.calls.append(self.name)
            np.copyto(move.write.array, move.expected.reshape(move.write.array.shape))
            return self.fault(move)

        return run


def swaps(move: Move) -> None:
    """Two elements stand in each other's place."""
    flat = move.write.array.reshape(-1)
    flat[[0, 1]] = flat[[1, 0]]


def forgets_padding(move: Move) -> None:
    """The last slot, which is padding, is left as it was."""
    move.write.array.reshape(-1)[-1:].view(np.uint8)[:] = 0xA5


def writes_after(move: Move) -> None:
    move.write.after[0] = 0


def writes_before(move: Move) -> None:
    move.write.before[-1] = 0


def writes_the_source(move: Move) -> None:
    move.read.array.reshape(-1)[0] = 3


def returns_a_view(move: Move) -> object:
    return move.read.array[...]


def returns_another_type(move: Move) -> object:
    return move.expected.astype("float64")


def returns_too_little(move: Move) -> object:
    return move.expected.reshape(-1)[:-1].copy()


WRONG: dict[Fault, str] = {
    swaps: "slot 0 holds",
    forgets_padding: "1 of 240 are wrong",
    writes_after: "bytes outside of the buffers were written",
    writes_before: "bytes outside of the buffers were written",
    writes_the_source: "the source was written",
    returns_a_view: "the result is a view of the source",
    returns_another_type: "the result has 240 of float64, not 240 of float32",
    returns_too_little: "the result has 239 of float32, not 240 of float32",
}
"""What can go wrong, and what is said of it where a tensor of 2x6x3x5 is packed into NCHW4c."""
