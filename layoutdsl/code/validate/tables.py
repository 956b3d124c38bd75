"""What names stand for where elements are moved one by one: pieces, tables, masks. Trusted."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.code.validate.values import Array
from layoutdsl.proof.kernel.checker import Term


@dataclass(frozen=True, slots=True)
class Truths:
    """Truth values, one for each index that has been spoken of."""

    tests: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Mask:
    """An array of truth values: at every index of a piece, whether all tests hold of the index."""

    tests: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of an axis.

    Attributes:
        axis: by its number.
        multiple: each piece begins at a multiple of it.
    """

    axis: int
    multiple: int


@dataclass(frozen=True, slots=True)
class Kind:
    """Integers of 64 bits at shapes where these numbers have them; elsewhere those of Python."""

    asked: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """``np.arange(low, high, step)``, of some integers."""

    low: Term
    high: Term
    kind: Kind
    step: int = 1


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of so many elements along an axis; ``None`` for all of it."""

    axis: int
    length: int | None


@dataclass(frozen=True, slots=True)
class Table:
    """An array of integers: for every index of a piece, the value of a term over the index.

    With a mask it has the values where that is true, in the order of the indices; with runs one for
    each of these.

    Attributes:
        term: its value at an index.
        held: a mask.
        runs: of which it has one value each.
        spread: the runs of which it had.
    """

    term: Term
    held: Mask | None = None
    runs: Runs | None = None
    spread: Runs | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """The piece at hand of an array: all of it, over all pieces; or what a mask leaves of it."""

    array: Array
    held: Mask | None = None


@dataclass(frozen=True, slots=True)
class Picked:
    """The slots of a flat array that a table names."""

    array: Array
    table: Table


@dataclass(frozen=True, slots=True)
class Moved:
    """``target = source``, where one is a piece and the other is picked; after so many stores."""

    target: Piece | Picked
    source: Piece | Picked
    after: int
