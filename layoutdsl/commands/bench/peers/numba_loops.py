"""numba: loops over the tensor, with a table of offsets for each axis on either side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers.peer import Run, bits, fastest, not_installed
from layoutdsl.commands.bench.sides import Side
from layoutdsl.language.meaning.strided import row_major

LOOPS = 6


@dataclass(frozen=True, slots=True)
class Numba:
    """Compiled loops, element by element; where there is padding it is filled before.

    Where elements lie is a sum of what each axis adds, so that no loop divides.
    """

    name: str = "numba"
    says: str = "compiled loops with a table of offsets for each axis"
    package: str | None = "numba"

    def missing(self) -> str | None:
        """It may not be installed."""
        return not_installed("numba", "numba")

    def cannot(self, move: Move) -> str | None:
        """What is no permutation of digits cannot be said so."""
        if isinstance(move.sides, str):
            return move.sides
        if len(move.task.shape) > LOOPS:
            return f"its loops here are for {LOOPS} axes at most"
        return None

    def prepare(self, move: Move, threads: int) -> Run:
        """Return the loops, in the better order of two."""
        assert not isinstance(move.sides, str)
        read, write = (bits(each.array).reshape(-1) for each in (move.read, move.write))
        fill = bits(np.full(1, move.fill, move.write.array.dtype))[0]
        loops = _loops("range" if threads == 1 else "prange")
        fills = move.sides[1].is_padded
        orders = {_innermost(move.sides[0]), _innermost(move.sides[1])}
        ways: list[Run] = []
        for order in sorted(orders):
            tables = [_tables(each, order) for each in move.sides]

            def run(one: Any = tables[0], other: Any = tables[1]) -> None:
                loops(read, write, *one, *other, fills, fill)

            run()
            ways.append(run)
        return fastest(ways)


def _innermost(side: Side) -> tuple[int, ...]:
    """The axes in the order of their most minor digits: the one that moves fastest last."""
    last = {side.owners[number][0]: place for place, number in enumerate(side.order)}
    ranked = sorted(range(len(side.shape)), key=lambda axis: last[axis])
    return tuple(ranked)


def _tables(side: Side, order: tuple[int, ...]) -> list[NDArray[np.uintp]]:
    """What each index adds to the offset, for six axes in the order of the loops."""
    strides = dict(zip(side.order, row_major(side.box), strict=True))
    tables = [np.zeros(extent, np.uintp) for extent in side.shape]
    for number, (axis, divisor) in enumerate(side.owners):
        digit = np.arange(side.shape[axis]) // divisor % side.split[number]
        tables[axis] += (digit * strides[number]).astype(np.uintp)
    ones = [np.zeros(1, np.uintp)] * (LOOPS - len(tables))
    return [*ones, *(tables[axis] for axis in order)]


@cache
def _loops(outer: Literal["range", "prange"]) -> Any:
    numba = import_module("numba")
    turns = numba.prange if outer == "prange" else range

    def moves(  # type: ignore[no-untyped-def]  # numba infers the types
        read, write, a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5, fills, fill
    ):
        if fills:
            write[:] = fill
        count = a0.size * a1.size * a2.size * a3.size
        for turn in turns(count):
            i3 = turn % a3.size
            i2 = turn // a3.size % a2.size
            i1 = turn // (a3.size * a2.size) % a1.size
            i0 = turn // (a3.size * a2.size * a1.size)
            one = a0[i0] + a1[i1] + a2[i2] + a3[i3]
            other = b0[i0] + b1[i1] + b2[i2] + b3[i3]
            for i4 in range(a4.size):
                for i5 in range(a5.size):
                    write[other + b4[i4] + b5[i5]] = read[one + a4[i4] + a5[i5]]

    return numba.njit(moves, parallel=outer == "prange", nogil=True)
