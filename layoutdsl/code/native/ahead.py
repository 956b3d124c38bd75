"""What a nest reads some turns later, and asks the memory for before.

A processor fetches by itself what goes on in order, from a few places. A move reads from many rows
a little each, and from none of them long enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutdsl.code.loops import tree
from layoutdsl.code.loops.kernels import LINE
from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Add, Constant, Expr, Index, Sub, indices, substitute

AHEAD = 4096
"""Bytes that are moved meanwhile: at the speed of memory that takes as long as memory to answer."""

MOST_ROWS = 256
"""Places that are asked for at once at most."""

Loop = tree.For | tree.Slide


@dataclass(frozen=True, slots=True)
class Ahead:
    """Reads that are asked for.

    Attributes:
        rows: those of a move whose lines are no lines of another.
        together: elements that follow each other from there on.
        distance: how many elements further on that is than what is read now.
    """

    rows: tree.Table
    together: int
    distance: Expr


def ahead(move: tree.Move, loops: Sequence[Loop], width: int) -> Ahead | None:
    """Return what a move asks for, if that is worth while.

    Where parts of many lines are written, these had better stay in the cache.

    Args:
        move: of which all is there.
        loops: those around it, outermost first.
        width: bytes of an element.
    """
    distance, column = _distance(move, loops, width), move.unit * tree.length(move.rows)
    follow = move.columns and same(move.columns[0].stride, Constant(column))
    scatters = move.target.buffer == tree.TARGET and column * width < LINE and not follow
    if move.source.buffer != tree.SOURCE or distance is None or scatters:
        return None
    rows, together = list(move.rows), move.unit * tree.length(move.columns)
    while True:
        for row in rows:
            match simplify(row.stride):
                case Constant(step) if 0 <= step <= max(LINE // width, together):
                    break
        else:
            few = tree.length(tuple(rows)) <= MOST_ROWS
            return Ahead(tuple(rows), together, distance) if few else None
        rows.remove(row)
        together += (row.radix - 1) * step


def of_runs(node: tree.For) -> tree.Move | None:
    """Return loops over short runs as what these do together; nothing where that is not fixed."""
    counts = dict[str, int]()
    inner: tree.Node = node
    while isinstance(inner, tree.For) and isinstance(inner.count, Constant):
        counts[inner.name], inner = inner.count.value, inner.body
    if not isinstance(inner, tree.Run) or not isinstance(inner.count, Constant):
        return None
    offset, start = inner.source.offset, dict.fromkeys(counts, ZERO)
    first = simplify(substitute(offset, start))
    rows = tuple(
        tree.Step(count, simplify(Sub(substitute(offset, {**start, name: ONE}), first)))
        for name, count in reversed(counts.items())
    )
    if any(indices(row.stride) for row in rows):
        return None
    source = tree.Place(inner.source.buffer, first)
    return tree.Move(inner.target, source, inner.count.value, rows, ())


def _distance(move: tree.Move, loops: Sequence[Loop], width: int) -> Expr | None:
    """How far away it is what is read once so many bytes more have been moved.

    Of a loop with few turns all are passed over, and so many the fewer of the next one.
    """
    box = move.unit * tree.length(move.rows) * tree.length(move.columns) * width
    turns = -(-AHEAD // box)
    for loop in reversed(loops):
        step = step_of(loop)
        extent = loop.count if isinstance(loop, tree.For) else loop.extent
        count = -(-extent.value // step) if isinstance(extent, Constant) else None
        if count is not None and count < 2 * turns:
            turns = max(1, turns // count)
            continue
        offset, later = move.source.offset, Add(Index(loop.name), Constant(step * turns))
        found = simplify(Sub(substitute(offset, {loop.name: later}), offset))
        return None if indices(found) or found == ZERO else found
    return None


def step_of(loop: Loop) -> int:
    """Return how far the variable of a loop goes in a turn."""
    return loop.step if isinstance(loop, tree.Slide) else 1
