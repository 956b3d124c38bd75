"""Which kernel does a move: those that may be taken, the fastest first."""

from __future__ import annotations

from layoutdsl.code.loops import tree
from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Mul

UNITS = (1, 2, 4, 8, 16)
"""Bytes of a unit that kernels are made for."""
GATHERED = range(3, 64)
"""Bytes of a unit that is gathered, whatever it is a multiple of."""
LINE = 64
"""Bytes that are moved at once where they can be."""
LANE = 16
MOST_WOVEN = 32
MOST_SHUFFLED = 256
"""Bytes of the largest block that is read as a whole before any of it is written."""
WOVEN_SOONER = {1: 5, 2: 4, 4: 3, 8: 3}
"""Steps of units of so many bytes up to which weaving is sooner done than to transpose by tiles.

A tile takes apart what lies together in the target, and writes 16 bytes at a time; it takes no more
steps for 14 rows than for 16. Measured with vectors of 64 bytes.
"""


def kernel_of(move: tree.Move, width: int) -> str:
    """Return the name of the fastest kernel that does a move of elements of ``width`` bytes."""
    e, rows, columns = move.unit * width, tree.length(move.rows), tree.length(move.columns)
    if e not in UNITS:
        return "gather"
    n = LANE // e
    wanted = ["shuffle"] if is_shuffled(e, rows, columns) else []
    woven = (rows, columns, "weave"), (columns, rows, "unweave")
    wanted += [each for few, many, each in sorted(woven) if is_woven(e, few, many)]
    if rows >= n and columns >= n:
        wanted += ["grid", "tile"]
    wanted += ["zip", "unzip"]
    if is_tiled(e, rows, columns):
        wanted += ["grid", "tile"]
    tables = in_bytes(move.rows, width), in_bytes(move.columns, width)
    for name in wanted:
        if suits(name, e, rows, columns, *tables):
            return name
    return "plain"


def is_woven(e: int, few: int, many: int) -> bool:
    """Whether so few rows, or columns, of units of ``e`` bytes are woven sooner than transposed."""
    return 1 < few <= MOST_WOVEN and (many * e < LINE or weaving(few) <= WOVEN_SOONER.get(e, 1))


def is_shuffled(e: int, rows: int, columns: int) -> bool:
    """Whether a block is read as a whole: it is small, and not woven sooner by whole lines."""
    few, many = sorted((rows, columns))
    by_lines = is_woven(e, few, many) and many * e % LINE == 0
    return few > 1 and e * rows * columns <= MOST_SHUFFLED and not by_lines


def weaving(few: int) -> int:
    """Return how many instructions make a line of so many woven ones.

    They are zipped two by two as often as their number is even, and picked from what is left.
    """
    zips = few & -few
    return zips.bit_length() - 1 + max(0, few // zips - 1)


def is_tiled(e: int, rows: int, columns: int) -> bool:
    """Whether tiles, of which a part is wasted, are sooner done than unit by unit."""
    most, few = max(rows, columns), min(rows, columns)
    return few > 1 and most >= LANE // e and most * few * e >= LINE


def suits(
    name: str, e: int, rows: int, columns: int, row_table: tree.Table, column_table: tree.Table
) -> bool:
    """Whether a kernel may do a move: all that it takes for granted is so.

    Args:
        name: of the kernel.
        e: bytes of a unit.
        rows: how many.
        columns: how many.
        row_table: where they begin in the source, in bytes.
        column_table: where they begin in the target, in bytes.
    """
    if rows < 1 or columns < 1:
        return False
    if tree.length(row_table) != rows or tree.length(column_table) != columns:
        return False
    if name == "gather":
        return e in GATHERED
    if e not in UNITS:
        return False
    n = LANE // e
    match name:
        case "plain" | "tile":
            return True
        case "grid":
            several = rows > 1 and columns > 1
            return several and _is_even(row_table, n) and _is_even(column_table, n)
        case "shuffle":
            several = rows > 1 and columns > 1 and e * rows * columns <= MOST_SHUFFLED
            dense = _follow(row_table, columns * e, rows) and _follow(
                column_table, rows * e, columns
            )
            return several and dense
        case "zip":
            few = 1 < rows < n and _is_power(rows) and columns >= n
            return few and _follow(column_table, rows * e, n // rows)
        case "unzip":
            few = 1 < columns < n and _is_power(columns) and rows >= n
            return few and _follow(row_table, columns * e, n // columns)
        case "weave":
            few = 1 < rows <= MOST_WOVEN
            return few and _follow(column_table, rows * e, min(LINE // e, columns))
        case "unweave":
            few = 1 < columns <= MOST_WOVEN
            return few and _follow(row_table, columns * e, min(LINE // e, rows))
    return False


def in_bytes(table: tree.Table, width: int) -> tree.Table:
    """Return a table of elements of ``width`` bytes in bytes."""
    return tuple(
        tree.Step(step.radix, simplify(Mul(step.stride, Constant(width)))) for step in table
    )


def _is_even(table: tree.Table, count: int) -> bool:
    """Whether each so many items of a table, from the first on, lie evenly apart."""
    return len(table) == 1 or table[0].radix % count == 0


def _is_power(few: int) -> bool:
    return few & (few - 1) == 0


def _follow(table: tree.Table, stride: int, count: int) -> bool:
    """Whether so many offsets of a table follow each other at a stride, wherever one starts."""
    reach = 1
    for step in table:
        if not same(step.stride, Constant(stride * reach)):
            return reach % count == 0
        reach *= step.radix
    return reach >= count
