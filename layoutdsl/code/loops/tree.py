"""A move as a tree of loops: what a compiled function does, and all that is proved of it.

A move reads one buffer and writes another, by way of scratch where that pays. Counts and offsets
are in elements, and are expressions over extents (`Extent`) and names of loops (`Index`). The
leaves are three: a run of elements, a fill, and a `Move`, which is what every fast kernel does.
Which kernel does it is a matter of speed alone and is not said here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Expr

SOURCE, TARGET = "source", "target"
"""The buffers that a caller gives; all others are scratch."""


@dataclass(frozen=True, slots=True)
class Place:
    """An element of a buffer."""

    buffer: str
    offset: Expr


@dataclass(frozen=True, slots=True)
class Step:
    """A digit of a table: so many steps, each so many elements from the one before."""

    radix: int
    stride: Expr


Table: TypeAlias = tuple[Step, ...]
"""Offsets of a product of digits, most minor first: ``r % 4 * s0 + r / 4 % 8 * s1``."""


def length(table: Table) -> int:
    """Return how many offsets a table has."""
    return prod(step.radix for step in table)


@dataclass(frozen=True, slots=True)
class Edge:
    """How much of a `Move` there is: prefixes, ``None`` for all of it.

    Attributes:
        rows_read: rows whose elements are read; those of the others are the fill.
        read: elements of each row in the source, over columns and unit; the others are the fill.
        columns_written: columns that are written; the others are left alone.
        written: elements of each column in the target, over rows and unit.
    """

    rows_read: Expr | None = None
    read: Expr | None = None
    columns_written: Expr | None = None
    written: Expr | None = None


WHOLE = Edge()


@dataclass(frozen=True, slots=True)
class For:
    """``name`` goes from 0 up to ``count``, which may be 0; ``note`` says what it walks."""

    name: str
    count: Expr
    body: Node
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Slide:
    """``name`` goes from 0 in steps up to ``extent``, the last of them moved back to be whole.

    ``name = min(k*step, extent - step)`` for ``k`` below ``ceil(extent/step)``; the extent is not
    below the step. Elements may be written twice, with the same value. ``note`` is that of `For`;
    ``together`` indices had better be one piece of work, where that is not 0.
    """

    name: str
    extent: Expr
    step: int
    body: Node
    note: str = field(default="", compare=False)
    together: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """One of two, by a comparison over extents and names of loops."""

    condition: Condition
    then: Node
    other: Node


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """A buffer of so many elements for ``body``; ``filled`` with the fill before, or undefined."""

    name: str
    size: int
    filled: bool
    body: Node


@dataclass(frozen=True, slots=True)
class Run:
    """``count`` elements that lie together on both sides, copied in order."""

    target: Place
    source: Place
    count: Expr


@dataclass(frozen=True, slots=True)
class Fill:
    """``count`` elements that lie together, filled."""

    target: Place
    count: Expr


@dataclass(frozen=True, slots=True)
class Move:
    """``target[co(c) + r*unit + u] = source[ro(r) + c*unit + u]`` for all ``r``, ``c``, ``u``.

    Rows lie together in the target, columns in the source; the tables say where they lie in the
    other.

    Attributes:
        target: of the first element.
        source: of the first element.
        unit: elements that lie together on both sides.
        rows: ``ro``, in the source.
        columns: ``co``, in the target.
        edge: how much of it there is.
    """

    target: Place
    source: Place
    unit: int
    rows: Table
    columns: Table
    edge: Edge = WHOLE


Node: TypeAlias = For | Slide | If | Seq | Scratch | Run | Fill | Move

EMPTY = Seq(())
"""Nothing is done."""
