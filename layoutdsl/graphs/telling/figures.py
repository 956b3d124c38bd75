"""What a plan comes to, in figures and reasons, for whoever prints them."""

from __future__ import annotations

from collections.abc import Mapping
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
class Nodes:
    """How many nodes of an operator run at every inference.

    Attributes:
        operator: of ONNX.
        before: in the main graph of the model that was read.
        after: in the main graph of the model that is written.
        in_functions: in the bodies of layoutdsl's functions, once for each call.
    """

    operator: str
    before: int
    after: int
    in_functions: int


@dataclass(frozen=True, slots=True)
class Written:
    """Counts in the written model.

    Attributes:
        transforms: in its main graph: Transposes, reorders, padding that is added, cut or filled.
        in_functions: those in bodies of functions, which run where a runtime has no kernel.
        nodes: of some operators.
    """

    transforms: Amount
    in_functions: Amount
    nodes: tuple[Nodes, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a plan, and counts in the written model.

    Attributes:
        nodes: of the graph.
        anchors: nodes in the layouts that were asked for.
        alone: what would be moved if each of these were run on its own, and all else as written.
        planned: what the plan moves, refills too.
        written: what the model that is written moves, and its nodes.
        left: each of that.
        gaps: nodes as written, the dearest first.
        padding: of values.
        weights: packed beforehand.
        cost: of the plan.
        bound: no plan costs less.
        rows: of the certificate.
        numbers: of it that are not 0.
        quantised: nodes that are as written because they are quantised, by their operators.
        defaults: initialisers that are inputs, too, and stay so.
    """

    nodes: int
    anchors: tuple[Anchor, ...]
    alone: Amount
    planned: Amount
    written: Written
    left: tuple[Left, ...]
    gaps: tuple[Gap, ...]
    padding: Padding
    weights: Weights
    cost: int
    bound: int
    rows: int
    numbers: int
    quantised: Mapping[str, int]
    defaults: int

    @property
    def minimal(self) -> bool:
        """Whether the written model moves what the plan does, and no plan costs less."""
        return self.proved and self.written.transforms == self.planned

    @property
    def proved(self) -> bool:
        """Whether no plan costs less, for engines that have each node in its layout."""
        return self.cost == self.bound

    @property
    def beyond(self) -> float:
        """Percent above the bound."""
        return 100 * (self.cost - self.bound) / self.bound if self.bound else 0.0
