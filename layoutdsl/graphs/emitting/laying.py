"""Constants as they have to lie, laid out when they are asked for, and never all at once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.placings.packing import packed
from layoutdsl.graphs.placings.placing import Placing

Fill: TypeAlias = float | int | bool | None


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """How a constant comes to lie as it has to.

    Attributes:
        constants: of the graph.
        value: the name of one of them.
        placing: where its elements go; `None` where they stay as they were written.
        fill: what padding holds.
        extents: of the buffer.
    """

    constants: Mapping[str, Array]
    value: str
    placing: Placing | None
    fill: Fill
    extents: tuple[int, ...]

    def laid(self) -> Array:
        """Return the buffer: items in their order, so that nobody holds those of the graph too."""
        array = self.constants[self.value]
        if self.placing is not None:
            array = packed(array, self.placing, self.fill)
        return np.asarray(array.reshape(self.extents), order="C")


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Weights in blocks whose results come out times a number each.

    Attributes:
        weights: before that; the last digit of their buffer is the result's.
        factor: a number for each result, padding too.
        block: results of a block.
    """

    weights: Array | Recipe | Scaled
    factor: Array
    block: int

    def laid(self) -> Array:
        """Return the buffer."""
        weights = laid(self.weights)
        blocks = weights.reshape(len(self.factor) // self.block, -1, self.block)
        found: Array = (blocks * self.factor.reshape(-1, 1, self.block)).astype(np.float32)
        return found.reshape(weights.shape)


def laid(made: Array | Recipe | Scaled) -> Array:
    """Return a constant as an array."""
    return made.laid() if isinstance(made, (Recipe, Scaled)) else made


class Constants(MutableMapping[str, Array]):
    """Arrays by their names; those of recipes are made anew each time."""

    def __init__(self, known: Mapping[str, Array | Recipe | Scaled] | None = None) -> None:
        self._known = dict[str, Array | Recipe | Scaled](known or {})

    def __getitem__(self, name: str) -> Array:
        return laid(self._known[name])

    def __setitem__(self, name: str, array: Array) -> None:
        self._known[name] = array

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def lay(self, name: str, recipe: Recipe) -> None:
        """Note how one is made."""
        self._known[name] = recipe

    def shape(self, name: str, other: str, extents: tuple[int, ...]) -> None:
        """Note that one is another one, of other extents."""
        match self._known[other]:
            case Recipe() as found:
                self._known[name] = replace(found, extents=extents)
            case found:
                self._known[name] = laid(found).reshape(extents)

    def scale(self, name: str, other: str, factor: Array, block: int) -> None:
        """Note that one is another one whose results are scaled, as `Scaled` has it."""
        self._known[name] = Scaled(self._known[other], factor, block)

    def copy(self) -> Constants:
        """Return the same, to be added to."""
        return Constants(self._known)

    def only(self, names: Container[str]) -> Constants:
        """Return those of some names."""
        return Constants({name: each for name, each in self._known.items() if name in names})
