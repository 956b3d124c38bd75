"""What a role allows: which placings an operator may meet, and how they go together.

A *joint* is one order of digits over the axes of a rule, from which the placing of each operand and
result follows: those of its own axes, but for axes of one element that are repeated. Where an axis
has another extent in each, its most major digit takes what is left of it (`REST`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from layoutdsl.graphs.placings.placing import Digit, Placing, canonical, is_chained
from layoutdsl.graphs.roles.bound import CHANGING, SUMMED, Bound, Bundle
from layoutdsl.graphs.roles.views import backwards, forwards
from layoutdsl.language.meaning.operator import Role

REST = 0
"""The extent of a digit that is as large as what is left of its axis."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A digit of an axis of a rule: ``label / divisor % extent``."""

    label: str
    divisor: int
    extent: int


Joint: TypeAlias = tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """One way to run a node, but for what padding holds.

    Attributes:
        takes: for each input; `None` where it is absent, or a constant taken as it was written.
        makes: for each output.
        how: as in `Variant`.
    """

    takes: tuple[Placing | None, ...]
    makes: tuple[Placing | None, ...]
    how: str

    @property
    def placings(self) -> tuple[Placing | None, ...]:
        """Of all operands, and then of all results."""
        return (*self.takes, *self.makes)


def how(bound: Bound) -> str:
    """Return what a node is called by whatever its axes are to it."""
    if bound.steps is not None:
        return "view"
    roles = set(bound.roles.values())
    if "window" in roles:
        return "window"
    if "sum" in roles and len(factors(bound)) > 1:
        return "product"
    if roles & SUMMED:
        return "sum"
    order = ("joined", "cut", "gathered", "grown", "scaled", "whole", "tail")
    return next((each for each in order if each in roles), "elementwise")


def factors(bound: Bound) -> tuple[int, ...]:
    """Return the numbers of the operands that share an axis which is summed."""
    summed = set(bound.of_role("sum"))
    own = [k for k, each in enumerate(bound.operands) if each and summed & set(each.labels)]
    return tuple(own)


def lifted(bound: Bound, bundle: Bundle, placing: Placing) -> Joint | None:
    """Return the digits of a tensor as those of the rule's axes; `None` where they are none."""
    marks: list[Mark] = []
    for digit in _regathered(bundle, placing):
        if isinstance(digit, Mark):
            marks.append(digit)
            continue
        label, extent = bundle.labels[digit.axis], bundle.shape[digit.axis]
        if bound.roles.get(label) in CHANGING:
            left = -(-extent // digit.divisor)
            top = digit.divisor * digit.extent >= extent
            if top and digit.extent != left and digit.divisor > 1:
                return None
            blocked = top and digit.extent == left
            marks.append(Mark(label, digit.divisor, REST if blocked else digit.extent))
            continue
        if extent != bound.extents[label]:
            return None
        marks.append(Mark(label, digit.divisor, digit.extent))
    return tuple(marks)


def _regathered(bundle: Bundle, placing: Placing) -> Iterator[Digit | Mark]:
    """The digits, those of the axes that indices brought as one mark of the axis they are for."""
    inner = [axis for axis, label in enumerate(bundle.labels) if "@" in label]
    wanted = [Digit(axis, 1, bundle.shape[axis]) for axis in inner if bundle.shape[axis] > 1]
    digits = list(placing.digits)
    while digits:
        if wanted and digits[: len(wanted)] == wanted:
            yield Mark(bundle.labels[inner[0]].split("@")[0], 1, REST)
            digits = digits[len(wanted) :]
        else:
            yield digits.pop(0)


def projected(bound: Bound, bundle: Bundle, joint: Joint) -> Placing | None:
    """Return where a tensor lies by a joint; `None` where that does not say it."""
    result = bundle in bound.results
    digits: list[Digit] = []
    for mark in joint:
        if mark.label not in bundle.labels:
            inner = [k for k, each in enumerate(bundle.labels) if each.startswith(f"{mark.label}@")]
            digits += [Digit(axis, 1, bundle.shape[axis]) for axis in inner]
            continue
        axis = bundle.labels.index(mark.label)
        extent, role = bundle.shape[axis], bound.roles.get(mark.label)
        if role in CHANGING:
            size = -(-extent // mark.divisor) if mark.extent == REST else mark.extent
            digits.append(Digit(axis, mark.divisor, size))
        elif extent == bound.extents[mark.label] and not (result and role in SUMMED):
            digits.append(Digit(axis, mark.divisor, mark.extent))
    if not is_chained(bundle.shape, digits):
        return None
    return Placing(bundle.shape, canonical(digits))


def allowed(bound: Bound, joint: Joint) -> bool:
    """Return whether each role allows what the joint does with its axes."""
    for label, role in bound.roles.items():
        own = [mark for mark in joint if mark.label == label]
        match role:
            case "window" | "grown" | "scaled" | "whole" | "gathered":
                if own and (len(own) > 1 or own[0].divisor > 1 or own[0].extent != REST):
                    return False
            case "joined" | "cut":
                block = max((mark.divisor for mark in own), default=1)
                rest = any(mark.extent == REST for mark in own)
                if own and (not rest or _unaligned(bound, label, block)):
                    return False
            case _:
                continue
    return _tail_is_last(bound, joint) and _picked_are_first(bound, joint)


def _unaligned(bound: Bound, label: str, block: int) -> bool:
    return any(each % block for each in bound.boundaries.get(label, ()))


def _tail_is_last(bound: Bound, joint: Joint) -> bool:
    labels = bound.of_role("tail")
    wanted = [Mark(label, 1, bound.extents[label]) for label in labels if bound.extents[label] > 1]
    return not labels or list(joint[len(joint) - len(wanted) :]) == wanted


def _picked_are_first(bound: Bound, joint: Joint) -> bool:
    """Axes that one index picks from together lie before all others, in their order."""
    picked = bound.of_role("gathered")
    own = [mark.label for mark in joint if mark.label in picked]
    wanted = [label for label in picked if label in own]
    return len(picked) < 2 or [mark.label for mark in joint[: len(own)]] == wanted


def from_view(bound: Bound, number: int, placing: Placing) -> Template | None:
    """Return a view by where its operand (0) or its result (1) lies."""
    assert bound.steps is not None
    before = placing if number == 0 else backwards(bound.steps, placing)
    after = placing if number == 1 else forwards(bound.steps, placing)
    if before is None or after is None:
        return None
    rest = tuple(None for _ in bound.operands[1:])
    return Template((before, *rest), (after,), "view")


def from_joint(bound: Bound, joint: Joint, name: str) -> Template | None:
    """Return the way that a joint is, or `None` where it is none that the roles allow."""
    if not allowed(bound, joint):
        return None
    found: list[Placing | None] = []
    for each in (*bound.operands, *bound.results):
        own = None if each is None else projected(bound, each, joint)
        if each is not None and own is None:
            return None
        found.append(own)
    first = len(bound.operands)
    return Template(tuple(found[:first]), tuple(found[first:]), name)


def as_channels(bound: Bound) -> Bound:
    """Return a node with windows as if it kept its channels: what it sums, it makes others of.

    The axis that its first operand sums, and the last that only its results and weights have, are
    laid alike. All other operands are taken as they were written.
    """
    first, result = bound.operands[0], bound.results[0]
    if first is None or result is None:
        return bound
    summed = [label for label in first.labels if bound.roles.get(label) == "sum"]
    made = [label for label in result.labels if label not in first.labels]
    if not summed and not made:
        return bound
    renamed = dict(zip(reversed(made), reversed(summed), strict=False))
    results = tuple(
        each and replace(each, labels=tuple(renamed.get(label, label) for label in each.labels))
        for each in bound.results
    )
    roles: dict[str, Role] = {**bound.roles}
    for label in summed:
        roles[label] = "joined"
    extents = {**bound.extents, **{renamed[each]: bound.extents[each] for each in renamed}}
    return replace(
        bound,
        operands=(first, *(None for _ in bound.operands[1:])),
        results=results,
        roles=roles,
        extents=extents,
        boundaries={},
    )
