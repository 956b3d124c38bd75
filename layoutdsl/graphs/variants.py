"""The ways in which a node can be run: how its operands have to lie, and how its results do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutdsl.graphs.placings.placing import Placing


@dataclass(frozen=True, slots=True)
class Lane:
    """What the padding of a value holds: one number everywhere.

    Attributes:
        number: `None` where it depends on data.
    """

    number: int | float | bool | None


@dataclass(frozen=True, slots=True)
class Held:
    """A candidate: how a value lies, and what its padding holds.

    Attributes:
        placing: digits of its axes.
        lane: `None` where there is no padding.
    """

    placing: Placing
    lane: Lane | None


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a node.

    Attributes:
        node: its number.
        takes: for each input of the node; `None` for one that is absent or taken as it was written.
        makes: for each output of the node.
        how: the name of the way, for whoever prints the node: `anchor`, `elementwise`, `view`, ...
    """

    node: int
    takes: tuple[Held | None, ...]
    makes: tuple[Held | None, ...]
    how: str


Variants: TypeAlias = tuple[tuple[Variant, ...], ...]
"""Of every node of a graph, in its order; each has one at least."""
