"""About how many cycles a leaf takes: what choices between leaves are made by.

Nothing but speed depends on it; the numbers are those of a processor with vectors of 64 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log2, prod
from operator import itemgetter

from layoutdsl.code.loops.kernels import UNITS, is_shuffled, is_tiled, is_woven, weaving

Table = tuple[tuple[int, int | None], ...]
"""Steps and strides, most minor first; ``None`` for a stride that is no number."""

LINE = 64
"""Bytes of a line of the cache."""
PAST = 8 << 20
"""Bytes of a target from which on whole lines of it are written past the cache."""
SETS, WAYS = 64, 8
"""Of a cache of the first level: lines that are so many sets apart, or a multiple, share a set."""
DRIVEN_OUT = {"source": 8.0, "target": 16.0}
"""Cycles of a line that was driven out: reads wait for no others, and are made ahead."""
WHOLE = 10.0
"""Cycles of a run of whole lines: none is written twice, but what is asked for ahead is lost."""
LONG = 256
"""Bytes of a run of which a processor asks for the rest, once it is begun."""
CALL = 3.0
"""Cycles of any leaf."""
ROWS = 8
"""Rows from which on long units are gathered: what is written goes on for a while."""
CROSSING = 2.4
"""Cycles of what is written over the end of a line, as most of what is gathered is."""


@lru_cache(maxsize=4096)
def cycles(together: int, rows: Table, columns: Table, width: int, into: bool) -> float:
    """Return the cycles of a leaf.

    Args:
        together: bytes of the unit, or of the run where there are neither rows nor columns.
        rows: with their strides in the source, in elements.
        columns: with their strides in the target, in elements.
        width: bytes of an element.
        into: scratch is written, and read again at once.
    """
    if not rows and not columns:
        return run(together, into)
    r, c = (prod(steps for steps, _ in table) for table in (rows, columns))
    if together not in UNITS:
        return _gather(together, r, c, into) if r > 1 and c > 1 else r * c * run(together, into)
    n, wide, unit = 16 // together, 64 // together, together // width
    sides = sorted(((r, c, columns), (c, r, rows)), key=itemgetter(0))
    is_dense = _follow(rows, c * unit, r) and _follow(columns, r * unit, c)
    if is_dense and is_shuffled(together, r, c):
        size = together * r * c
        each = (2 if size <= 2 * LINE else 4) + (CROSSING if size % LINE else 0.0)
        # few units are moved as fast in other ways
        return (CALL if together > 2 else 0.0) + -(-size // LINE) * each
    for few, many, table in sides:
        if is_woven(together, few, many) and _follow(table, few * unit, min(wide, many)):
            return CALL + _weave(wide, few, many)
    if r >= n and c >= n:
        return CALL + _tile(n, r, c)
    for few, many, table in sides:
        zips = 1 < few < n <= many and not few & (few - 1)
        if zips and _follow(table, few * unit, n // few):
            return CALL + _zip(n, few, many)
    if is_tiled(together, r, c):
        return CALL + _tile(n, r, c)
    return CALL + 1.1 * r * c


def run(count: float, into: bool) -> float:
    """Return the cycles of so many bytes that lie together.

    Of 9 to 15 bytes they are two numbers, moved in two cycles, but ``into`` scratch: wider numbers
    that are read there wait until both have left for the cache.
    """
    if 8 < count < 16 and not into:
        return 2.0
    return CALL + max(1.0, count / 32)


def _tile(n: int, r: int, c: int) -> float:
    wide, turns = 4 * n, 0.6 * log2(n)
    if r > n and not (n == 16 and r <= 2 * n and c >= wide):
        lines = -(-r // wide) * (0.3 + turns) + (1 if r % wide else 0)
        return -(-c // n) * (0.8 * r + n * lines)
    if c >= wide:
        return -(-c // wide) * -(-r // n) * n * (6 + turns)  # stores of 16 bytes are dear on some
    return -(-r // n) * -(-c // n) * n * (2 + turns)


def _zip(n: int, few: int, many: int) -> float:
    wide, turns = 4 * n, 0.6 * log2(few)
    if many >= wide:
        return -(-many // wide) * few * (4.5 + turns)
    return -(-many // n) * few * (2 + turns)


def _weave(wide: int, few: int, many: int) -> float:
    if many >= wide:
        return -(-many // wide) * few * (3 + weaving(few))
    return few * 2 + -(-few * many // wide) * (3 + weaving(few))


def _gather(together: int, r: int, c: int, into: bool) -> float:
    if together > 32:
        return r * c * (run(together, into) if r <= max(c, ROWS) else 3.5)
    lanes = 64 >> (together - 1).bit_length()
    each = CROSSING * (2 if into else 1)  # what is read again waits for all that it is part of
    each *= 1.3 if min(r, c) > lanes > 2 else 1.0  # offsets are looked up on both sides
    return CALL + -(-r // lanes) * -(-c // lanes) * (min(c, lanes) + lanes) / 2 * each


def _follow(table: Table, stride: int, count: int) -> bool:
    """Whether so many offsets of a table follow each other at a stride, wherever one starts."""
    reach = 1
    for steps, each in table:
        if each != stride * reach:
            return reach % count == 0
        reach *= steps
    return reach >= count


def crowded(offsets: Sequence[int], size: int, side: str) -> float:
    """Return the cycles for lines that drive each other out, as too many of them share a set.

    Args:
        offsets: of runs of a side, in bytes.
        size: of a run, in bytes.
        side: "source" or "target".
    """
    whole = side == "target" and size % LINE == 0
    if whole and size >= LONG:
        return 0.0
    lines = set[int]()
    for at in offsets:
        lines.update(range(at // LINE, at // LINE + 1 if whole else -(-(at + size) // LINE)))
    counts = [0] * SETS
    for line in lines:
        counts[line % SETS] += 1
    if max(counts) <= max(WAYS, 4 * len(lines) // SETS):
        return 0.0
    return len(lines) * (WHOLE if whole else DRIVEN_OUT[side])
