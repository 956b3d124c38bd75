"""What was decided: how each node is run, and what has to be moved between them."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.graphs.variants import Held, Variant


@dataclass(frozen=True, slots=True)
class Conversion:
    """A value moved from one placing to another, or its padding filled anew.

    Attributes:
        value: its name.
        source: how it is there already.
        target: how it has to be there.
        moved: bytes of the elements read and of the slots written; of padding alone for a refill.
        cost: what the plan pays: ``1000 * moved + 500``.
    """

    value: str
    source: Held
    target: Held
    moved: int
    cost: int


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to run the graph.

    Attributes:
        variants: one of each node, in the graph's order.
        conversions: each before the first node that needs it.
        cost: of all conversions.
        bound: no plan of these variants costs less; equal to `cost` where that is the minimum.
        dual: what proves the bound: an integer for each row of the program (`certificate.py`).
        scale: the integers are so many times what they stand for, as some duals are fractions.
    """

    variants: tuple[Variant, ...]
    conversions: tuple[Conversion, ...]
    cost: int
    bound: int
    dual: tuple[int, ...]
    scale: int = 1
