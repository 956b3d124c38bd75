"""Our own targets, and what a direct conversion is measured beside."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from layoutdsl.code.modules import SUBSTITUTE
from layoutdsl.code.native.compilers import CompilerError
from layoutdsl.code.native.loader import why_not
from layoutdsl.commands import Compiled, CompileTarget, convert
from layoutdsl.commands import compile as ready
from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers.peer import CannotError, Run

TWO_PASSES = "unpack+pack"


@dataclass(frozen=True, slots=True)
class Target:
    """`compile` with one target; a conversion that it has not goes through the tensor.

    ``threads`` is how many it uses, whatever others may.
    """

    name: str
    says: str
    target: CompileTarget
    threads: int | None = None
    package: str | None = None

    def missing(self) -> str | None:
        """Whatever compiled code needs may be missing."""
        return why_not() if self.target == "native" else None

    def cannot(self, move: Move) -> str | None:  # noqa: ARG002
        """Nothing is left out."""
        return None

    def prepare(self, move: Move, threads: int) -> Run:
        """Return a call of `pack`, `unpack` or `convert`."""
        workers = threads if self.threads is None else self.threads
        if self.target == "numpy" and workers > 1:
            raise CannotError("numpy works in one thread only")
        with _no_substitute():
            run = self._call(move, workers)
            run()
        return run

    def _call(self, move: Move, threads: int) -> Run:
        source, target, task = move.task.source, move.task.target, move.task
        read, write = move.read.array, move.write.array
        if source is None:
            assert target is not None
            pack = _threaded(ready(target, self.target), "pack", threads)
            return partial(pack, read, write)
        if target is None:
            unpack = _threaded(ready(source, self.target), "unpack", threads)
            return partial(unpack, read, task.shape, write)
        axes = tuple(axis.name for axis in target.axes)  # by their order, as the buffers are
        conversion: Any = convert(source, target, axes, compiled=self.target)
        if conversion.fallback is not None and conversion.native is None:
            if self.target == "native":
                raise CannotError(f"there is no straight way: {conversion.fallback}")
            return _two_passes(move, self.target, threads)
        return partial(conversion, read, task.shape, write, threads=threads)


@dataclass(frozen=True, slots=True)
class TwoPasses:
    """Compiled `unpack`, then `pack`, through a tensor that is there: instead of a conversion."""

    name: str = TWO_PASSES
    says: str = "our compiled unpack, then our compiled pack"
    package: str | None = None

    def missing(self) -> str | None:
        """Whatever compiled code needs may be missing."""
        return why_not()

    def cannot(self, move: Move) -> str | None:
        """It is another way to convert."""
        return None if move.task.verb == "convert" else "it is another way to convert"

    def prepare(self, move: Move, threads: int) -> Run:
        """Return both calls."""
        with _no_substitute():
            run = _two_passes(move, "native", threads)
            run()
        return run


def _two_passes(move: Move, target: CompileTarget, threads: int) -> Run:
    source, shape = move.task.source, move.task.shape
    assert source is not None
    assert move.task.target is not None
    unpack = _threaded(ready(source, target), "unpack", threads)
    pack = _threaded(ready(move.task.target, target), "pack", threads)
    read, write = move.read.array, move.write.array
    tensor = np.empty(shape, read.dtype)

    def both() -> object:
        unpack(read, shape, tensor)
        return pack(tensor, write)

    return both


def _threaded(module: Compiled, verb: str, threads: int) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(module, verb)
    if threads == 1:
        return function
    return partial(function, threads=threads)


@contextmanager
def _no_substitute() -> Iterator[None]:
    """Where code is not compiled, or numpy serves in its place, that is why it was not measured."""
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", RuntimeWarning)
            yield
    except CompilerError as error:
        raise CannotError(str(error)) from None
    for each in (str(warning.message) for warning in found):
        if each.startswith(SUBSTITUTE):
            raise CannotError(each)
