"""What a picture is made of: cells of a buffer on one side, cells of tensors on the other.

These are values without a look; `svg` and `html` write them. Slots and elements point at each other
by numbers, so that whoever looks at one finds the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from layoutdsl.view.places import Named

Kind: TypeAlias = Literal["element", "padding", "shared", "before"]


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits of one byte that hold bits of one element: from ``low`` to ``high``, from ``first`` on.

    ``key`` is the number of the element; ``None`` where nothing is held.
    """

    low: int
    high: int
    key: int | None
    first: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A slot of a buffer, or a byte.

    Attributes:
        number: its offset, or which byte it is.
        kind: what it holds; ``shared`` where a wrong layout puts several elements there.
        label: what is written in it.
        ground: the number of its colour.
        holds: the numbers of its elements.
        reason: why it holds none.
        opens: whether a block starts here.
        marked: whether it is pointed out.
        wrong: whether a formula or a table gives this slot, and the layout another one.
        bits: of a byte, what each of its bits holds.
    """

    number: int
    kind: Kind
    label: str
    ground: int = 0
    holds: tuple[int, ...] = ()
    reason: str = ""
    opens: bool = False
    marked: bool = False
    wrong: bool = False
    bits: tuple[Bits, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """Cells side by side, and how many rows are left out before them.

    Attributes:
        head: the numbers of the coordinates that stand before the row.
        opens: whether a block of rows starts here; ``2`` where a chunk does.
    """

    number: int
    head: tuple[str, ...]
    cells: tuple[Cell, ...]
    left_out: int = 0
    opens: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """An element: its number, what is written for it, and the slots or bytes that hold it."""

    key: int
    label: str
    numbers: tuple[int, ...]
    ground: int = 0
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A table of elements: two axes of a tensor, at one index along the others.

    Attributes:
        title: the index along the others; empty where there are none.
        across: the axis of the columns, and the index of each.
        down: the axis of the rows, and the index of each.
        rows: ``None`` where a tensor holds no such element.
    """

    title: str
    across: tuple[str, tuple[int, ...]]
    down: tuple[str, tuple[int, ...]]
    rows: tuple[tuple[Entry | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor, or a field of a record, whose elements are numbered row by row from ``base`` on."""

    name: str
    axes: Named
    base: int
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Colour:
    """What a colour stands for."""

    ground: int
    words: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A buffer and its tensors at one shape.

    Attributes:
        title: what is drawn, and at which shape.
        counts: slots, elements and padding in words.
        unit: what cells of the buffer are: ``offset`` or ``byte``; of banks rows are cycles, and a
            cell says itself what it is.
        heads: the coordinates that stand before a row.
        columns: what stands above the cells of a row, where they have names.
        legend: what is written in a cell and what the marks mean, a sentence each.
        colours: those that are used, the first of them.
        wheel: how many colours there are.
        fill: what padding holds, as it follows the word.
        folded: what is left out, in words; empty where all is there.
    """

    title: str
    counts: str
    unit: Literal["offset", "byte", "cycle"]
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    tensors: tuple[Tensor, ...]
    legend: tuple[str, ...]
    colours: tuple[Colour, ...]
    wheel: int
    fill: str
    folded: str
    columns: tuple[str, ...] = ()
