"""What operators of a graph are to the axes of their tensors, and which layouts engines have.

Source: ONNX, docs/Operators.md, for what each operator does with its axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from layoutdsl.language.meaning.model import Condition, Layout

Role: TypeAlias = Literal[
    "through",
    "sum",
    "max",
    "min",
    "product",
    "mean",
    "window",
    "joined",
    "cut",
    "gathered",
    "grown",
    "scaled",
    "whole",
    "tail",
    "renamed",
    "keep",
]
"""What an operator does with an axis. `through`: each element alone; the others as the table of
`layoutdsl/graphs/README.md` has them. `keep` is of an attribute: whether summed axes stay."""


@dataclass(frozen=True, slots=True)
class AxisPattern:
    """An axis of an operand, ``c: sum``, or any number of them, ``s..: window`` and ``..``.

    Attributes:
        name: the same in other operands and results for the same axis; `""` for ``..``, which is
            all axes that are not named, lined up from the last one.
        role: what the operator does with it.
        many: whether it stands for any number of axes.
    """

    name: str
    role: Role
    many: bool


@dataclass(frozen=True, slots=True)
class OperandPattern:
    """An operand or a result of an operator.

    Attributes:
        name: as the rule calls it; results may have none.
        axes: most major first; `None` for an operand that has none to speak of: it is taken as
            it was written.
        optional: ``?``.
        many: ``*``, the rest of the operands.
    """

    name: str
    axes: tuple[AxisPattern, ...] | None
    optional: bool = False
    many: bool = False


@dataclass(frozen=True)
class OperatorRule:
    """``rule Conv(x[n, c: sum, s..: window], w[o, c: sum, k..], b?[o]) -> [n, o, s..]``.

    Attributes:
        operators: it is for, `Conv` or `com.acme::Upscale`.
        operands: in the order of the operator's inputs.
        results: in the order of its outputs.
        attributes: what an attribute, or an operand that is constant, says of axes.
        text: as the language writes it.
        place: where it stands, to be named: ``onnx.layout:3``.
        defaults: integers that attributes have where a node leaves them out.
        where: nodes that it is for: indices are attributes, extents those of its axes.
    """

    operators: tuple[str, ...]
    operands: tuple[OperandPattern, ...]
    results: tuple[OperandPattern, ...]
    attributes: Mapping[str, Role]
    text: str
    place: str = field(compare=False)
    defaults: Mapping[str, int] = field(default_factory=dict)
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """``op Conv(x: NCHW16c, w: OIhw16i16o) -> NCHW16c where group == 1``: what an engine can run.

    Attributes:
        operator: `Conv`.
        operands: layouts by the names that the rule gives; others are as they were written.
        results: one for each result that is named.
        where: small letters are attributes, capitals extents of the rule's axes.
        text: as the language writes it.
        place: where it stands.
        optional: operands that a node may lack; it has all others that are named.
    """

    operator: str
    operands: Mapping[str, Layout]
    results: tuple[Layout, ...]
    where: tuple[Condition, ...]
    text: str
    place: str = field(compare=False)
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Preference:
    """``prefer Conv = NCHW16c, NHWC``: the first whose conditions hold at a node."""

    operator: str
    layouts: tuple[Layout, ...]
    text: str
    place: str = field(compare=False)


@dataclass(frozen=True)
class Engine:
    """What a text says of operators: rules, kernels and preferences, tried from the top.

    Attributes:
        rules: what operators are to axes.
        kernels: what the engine can run.
        preferences: what it would rather run.
        text: all of it, as it was written.
    """

    rules: tuple[OperatorRule, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    preferences: tuple[Preference, ...] = ()
    text: str = field(default="", compare=False)

    @property
    def operators(self) -> frozenset[str]:
        """All that it speaks of."""
        found = {name for rule in self.rules for name in rule.operators}
        found |= {each.operator for each in self.kernels}
        return frozenset(found | {each.operator for each in self.preferences})

    @property
    def texts(self) -> tuple[str, ...]:
        """All of it as the language writes it: rules, then kernels, then preferences."""
        said: tuple[OperatorRule | Kernel | Preference, ...]
        said = (*self.rules, *self.kernels, *self.preferences)
        return tuple(each.text for each in said)
