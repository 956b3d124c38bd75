"""A node as a rule has it: which axis of the rule each axis of its operands and results is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Attribute, Node
from layoutdsl.graphs.roles.views import Step
from layoutdsl.language.meaning.operator import OperatorRule, Role

Known: TypeAlias = Attribute | None

CHANGING: frozenset[Role] = frozenset(
    {"window", "joined", "cut", "grown", "scaled", "whole", "gathered"}
)
"""Roles of axes whose extent may be another in each operand and result."""
SUMMED: frozenset[Role] = frozenset({"sum", "max", "min", "product", "mean"})


class UnfitError(ValueError):
    """Why a node is not what a rule says."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A tensor of a node.

    Attributes:
        value: its name.
        labels: which axis of the rule each of its axes is.
        shape: its extents.
    """

    value: str
    labels: tuple[str, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Bound:
    """A node and the rule that it fits.

    Attributes:
        node: of the graph.
        rule: it fits.
        operands: one for each input; `None` where it is absent, or taken as it was written.
        results: one for each output; `None` where nobody asks for it.
        roles: of labels, but for those that go straight through.
        extents: of labels: the largest that an operand or result has there.
        boundaries: of axes that are joined or cut: where the pieces end, but for the last one.
        settings: attributes and constant operands that the rule names, and defaults.
        constants: names of operands that are known.
        steps: of a view: how it renames axes.
    """

    node: Node
    rule: OperatorRule
    operands: tuple[Bundle | None, ...]
    results: tuple[Bundle | None, ...]
    roles: Mapping[str, Role]
    extents: Mapping[str, int]
    boundaries: Mapping[str, tuple[int, ...]]
    settings: Mapping[str, Known]
    constants: frozenset[str]
    steps: tuple[Step, ...] | None = None

    def of_role(self, *roles: Role) -> tuple[str, ...]:
        """Return the labels of some roles, in the order of the first operand and then the rest."""
        found = [label for each in (*self.operands, *self.results) if each for label in each.labels]
        return tuple(dict.fromkeys(each for each in found if self.roles.get(each) in roles))


def integers(known: Known) -> tuple[int, ...]:
    """Return an attribute or a constant as integers."""
    if isinstance(known, np.ndarray):
        return tuple(int(each) for each in known.reshape(-1))
    if isinstance(known, tuple):
        return tuple(int(each) for each in known)
    return () if known is None or isinstance(known, str) else (int(known),)


def condition_values(bound: Bound) -> dict[str, int]:
    """Return attributes by their names and extents of axes in capitals, as ``where`` has them."""
    values: dict[str, int] = {}
    for each in reversed([each for each in (*bound.operands, *bound.results) if each]):
        both = zip(each.labels, each.shape, strict=True)
        values |= {label.upper(): extent for label, extent in both if ".." not in label}
    for name, known in bound.settings.items():
        whole = _whole(known)
        if whole is not None:
            values[name] = whole
    return values


def _whole(known: Known) -> int | None:
    """An attribute or a constant that is one whole number; 0.5 is none, and neither is infinity."""
    if isinstance(known, int):
        return known
    if not isinstance(known, np.ndarray) or known.size != 1 or known.dtype.kind == "c":
        return None
    (number,) = known.reshape(-1).tolist()
    if isinstance(number, int):
        return int(number)
    return int(number) if isinstance(number, float) and number.is_integer() else None
