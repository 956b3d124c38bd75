"""Which of several ways to move is the fastest here: each is proved, compiled, and timed.

What a box of elements takes is worked out when C is made (`loops/costs.py`), for no machine in
particular and for any extents that are no numbers. A clock knows better. What it finds is kept in
the place of the library that served, so it serves from then on, in later processes too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from layoutdsl.code.buffers import DEFAULT
from layoutdsl.code.loops.moves import NoCode
from layoutdsl.code.native.background import finish
from layoutdsl.code.native.compilers import CompilerError, SlowCompilerError
from layoutdsl.code.native.conversion import NativeConversion
from layoutdsl.code.native.libraries import Built, Key, Libraries
from layoutdsl.code.native.module import NativeModule
from layoutdsl.language.meaning.elements import FillValue

Call = Callable[[], object]

RANKS = 7
"""Trees of a move that are tried; further ones were hardly ever the fastest."""
ROUNDS = 9
FEWEST = 3
TURN = 2e-3
"""Seconds in which a call is repeated in a round."""
SECONDS = 2.0
"""After which no round is begun, once there are the fewest."""
FAR = 1.5
"""Times as long as the fastest: what takes that in the first round is not timed again."""
GAIN = 1.03
"""Times as fast another tree has to be, or the one that is worked out stays."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was found.

    Attributes:
        verb: what was called.
        before: seconds of a call by the tree that is worked out.
        after: seconds of a call by the one that serves now.
        tried: trees, the one that is worked out among them.
        rank: which of them serves; 0 for that one.
    """

    verb: str
    before: float
    after: float
    tried: int
    rank: int


@dataclass(frozen=True, slots=True)
class _Tree:
    rank: int
    built: Built


def tune_module(
    module: NativeModule, verb: str, shape: Sequence[int], dtype: np.dtype[Any]
) -> Tuned | NoCode:
    """Let the fastest tree of a layout serve, for the class of a shape.

    Args:
        module: of the layout.
        verb: ``pack`` or ``unpack``.
        shape: of the tensor.
        dtype: of its elements.

    Raises:
        ValueError, TypeError: the layout has no such shape or type.
        CompilerError: nothing can be compiled.
    """
    extents = module.extents(shape)
    for _ in range(2):  # where numpy serves at first, a compiler is waited for
        if module.called(verb, extents, dtype) is not None:
            break
        finish()
    else:
        return NoCode("numpy serves such tensors")
    tensor = np.full(extents, 0, dtype)  # and not `zeros`, whose pages are all one
    # what is written is what a new buffer gets: where any number will do, or the caller's, it is 0
    fill = DEFAULT if isinstance(module.layout.fill, FillValue) else 0
    buffer = module.pack(tensor, fill=fill)
    call: Call = partial(module.unpack, buffer, extents, tensor)
    if verb == "pack":
        call = partial(module.pack, tensor, buffer, fill)
    key = module.libraries.key(verb, dtype.itemsize, extents)
    return tuned(module.libraries, key, call, module.forget)


def tune_conversion(
    conversion: NativeConversion, shape: Sequence[int], dtype: np.dtype[Any]
) -> Tuned | NoCode:
    """Let the fastest tree of a conversion serve, for the class of a shape.

    Args and errors are those of `tune_module`.
    """
    extents = conversion.extents(shape)
    source = np.full(conversion.source_shape(extents), 0, dtype)
    fill = None if isinstance(conversion.target.fill, FillValue) else 0
    target = conversion.converted(source, extents, None, fill, 1)
    if target is None:  # where numpy serves at first, a compiler is waited for
        finish()
        target = conversion.converted(source, extents, None, fill, 1)
    if target is None:
        return NoCode("numpy serves such buffers")
    call = partial(conversion.converted, source, extents, target, fill, 1)
    key = conversion.libraries.key("convert", dtype.itemsize, extents)
    return tuned(conversion.libraries, key, call, conversion.forget)


def tuned(libraries: Libraries, key: Key, call: Call, forget: Call) -> Tuned | NoCode:
    """Let the fastest tree serve.

    Args:
        libraries: where it serves.
        key: what is moved.
        call: moves it, by what serves.
        forget: makes the next call ask for what serves.

    Raises:
        CompilerError: what is worked out cannot be compiled.
    """
    finish()  # nothing is written over what is found here
    first = libraries.emitted(key)
    if isinstance(first, NoCode):
        return first
    usual = _Tree(0, libraries.built(key, first))

    def seconds(trees: list[_Tree]) -> list[float]:
        def serve(number: int) -> None:
            libraries.serve(key, trees[number].built)
            forget()

        return _seconds(len(trees), serve, call)

    try:
        trees = [usual, *_others(libraries, key, first.text)]
        taken = seconds(trees)
        best = trees[taken.index(min(taken))]
        # once more: of several that are as fast one is the fastest by chance
        before, after = seconds([usual, best]) if best is not usual else (taken[0], taken[0])
        if before < GAIN * after:
            best, after = usual, before
        libraries.serve(key, best.built, lasting=True)
    except BaseException:
        libraries.forget(key)
        raise
    finally:
        forget()
    return Tuned(key[0], before, after, len(trees), best.rank)


def _others(libraries: Libraries, key: Key, usual: str) -> Iterator[_Tree]:
    """Other trees of the same move; one that cannot be proved or compiled is none."""
    seen = {usual}
    for rank in range(1, RANKS):
        program = libraries.emitted(key, rank)
        if isinstance(program, NoCode) or program.text in seen:
            continue
        seen.add(program.text)
        try:
            yield _Tree(rank, libraries.built(key, program))
        except SlowCompilerError:
            raise
        except CompilerError:
            continue


def _seconds(count: int, serve: Callable[[int], None], call: Call) -> list[float]:
    """The seconds of a call by each of some trees, in turns: the least of all rounds."""
    least, begun = [float("inf")] * count, time.perf_counter()
    for turn in range(ROUNDS):
        if turn >= FEWEST and time.perf_counter() - begun > SECONDS:
            break
        far = FAR * min(least)
        for number in range(count)[:: 1 if turn % 2 else -1]:
            if turn == 0 or least[number] <= far:
                serve(number)
                least[number] = min(least[number], _once(call))
    return least


def _once(call: Call) -> float:
    """The seconds of a call, repeated where it is short."""
    taken = [_timed(call, 1) for _ in range(2)][-1]  # the first one looks up what serves
    return _timed(call, max(1, min(10_000, int(TURN / max(taken, 1e-7)))))


def _timed(call: Call, times: int) -> float:
    turns, begun = range(times), time.perf_counter()
    for _ in turns:
        call()
    return (time.perf_counter() - begun) / times
