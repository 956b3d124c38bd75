"""What a plan comes to, in figures and reasons, for whoever prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["input", "output", "between", "refill"]


@dataclass(frozen=True, slots=True)
class Amount:
    """How often something is moved, and how many bytes are read and written for it."""

    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """So many nodes of an operator, of how many there are, are run in a layout."""

    operator: str
    layout: str
    nodes: int
    of: int


@dataclass(frozen=True, slots=True)
class Left:
    """A transform that is left.

    Attributes:
        value: that is moved.
        kind: whether it is an input or output of the model, lies between nodes, or has only its
            padding filled anew.
        source: the layout that it has, by name.
        target: the layout that it gets.
        bytes: read and written.
        maker: who has it so, and why.
        readers: who takes it so.
    """

    value: str
    kind: Kind
    source: str
    target: str
    bytes: int
    maker: str
    readers: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A node that is as written because no rule fits it.

    Attributes:
        node: its number.
        name: as the file has it.
        operator: of it.
        reason: why no rule fits.
        bytes: moved right before and behind it, which a rule might save.
    """

    node: int
    name: str
    operator: str
    reason: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Padding:
    """What padding there is.

    Attributes:
        values: that have some.
        bytes: of all of it.
        lanes: what it holds, each number once.
    """

    values: int
    bytes: int
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """Constants that are laid otherwise beforehand, and their bytes then and now."""

    packed: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What a plan comes to.

    Attributes:
        nodes: of the graph.
        anchors: nodes in the layouts that were asked for.
        alone: what would be moved if each of these were run on its own, and all else as written.
        planned: what is moved, refills too.
        left: each of that.
        gaps: nodes as written, the dearest first.
        padding: of values.
        weights: packed beforehand.
        cost: of the plan.
        bound: no plan costs less.
        rows: of the certificate.
        numbers: of it that are not 0.
    """

    nodes: int
    anchors: tuple[Anchor, ...]
    alone: Amount
    planned: Amount
    left: tuple[Left, ...]
    gaps: tuple[Gap, ...]
    padding: Padding
    weights: Weights
    cost: int
    bound: int
    rows: int
    numbers: int

    @property
    def minimal(self) -> bool:
        """Whether no plan costs less."""
        return self.cost == self.bound

    @property
    def beyond(self) -> float:
        """Percent above the bound."""
        return 100 * (self.cost - self.bound) / self.bound if self.bound else 0.0
