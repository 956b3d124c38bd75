"""What a slot of the buffer holds, and why. Nothing is printed here; `words` writes it.

The answer is `Layout.decode`. A reading of the coordinates only explains it: its steps, worked out
in numbers, show how each index is put together, and which digit or index goes too far. Nobody has
proved it, so it is heard only where it comes to that answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Literal

from layoutdsl.language.digits.inverse import ReadBack, read_back
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.digits.steps import SLOT, digit_name, straight_name, whole_name
from layoutdsl.language.integers.expr import Constant, Expr, Extent, Mul, indices, substitute, text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Condition, Layout, Shape
from layoutdsl.view.places import Address, Chunk, Named, Term, address, named, terms

MOST_HOLDERS = 4


@dataclass(frozen=True, slots=True)
class Recovered:
    """How an index is put together from digits: ``c = c/16*16 + c%16 = 1*16 + 1 = 17``."""

    axis: str
    digits: str
    working: str
    value: int
    extent: int


@dataclass(frozen=True, slots=True)
class Held:
    """What one slot holds.

    Attributes:
        holds: an element, padding, or nothing yet, where the slot lies before the first.
        elements: the index of the element; of the first few where a wrong layout puts several here.
        reasons: why the slot is padding.
        recovered: how each index is put together; empty where the layout has no closed inverse.
    """

    layout: Layout
    shape: Named
    slot: int
    holds: Literal["element", "padding", "before"]
    elements: tuple[Named, ...]
    reasons: tuple[str, ...]
    terms: tuple[Term, ...]
    recovered: tuple[Recovered, ...]
    chunk: Chunk | None
    address: Address | None

    @property
    def index(self) -> Named | None:
        """The first element, if there is one."""
        return next(iter(self.elements), None)


def at(layout: Layout, slot: int, shape: Shape) -> Held:
    """Return what the slot holds, and why.

    Raises:
        ValueError: the shape does not fit, or the slot is outside the buffer.
    """
    values = layout.bind(shape)
    given = tuple(values.items())
    found = tuple(named(layout, each) for each in islice(layout.holders(slot, shape), MOST_HOLDERS))
    rest = slot - evaluate(layout.start, values)
    if rest < 0 and not found:
        return Held(layout, given, slot, "before", (), (), (), (), None, address(layout, slot))
    reading = _read(layout, slot, values, found)
    inside = prod(layout.box(shape)[layout.chunk_rank or 0 :])
    return Held(
        layout,
        given,
        slot,
        "element" if found else "padding",
        found,
        () if found else reading.reasons,
        _terms(layout, rest, values),
        reading.recovered,
        None if layout.chunk_rank is None else Chunk(*divmod(rest, inside)),
        address(layout, slot),
    )


def reasons(layout: Layout, slot: int, values: Mapping[str, int]) -> tuple[str, ...]:
    """Return why a slot is padding, which it has to be.

    Args:
        layout: of the buffer.
        slot: of padding.
        values: every extent and parameter.
    """
    return _read(layout, slot, values, ()).reasons


def _terms(layout: Layout, rest: int, values: Mapping[str, int]) -> tuple[Term, ...]:
    box = [evaluate(each.extent, values) for each in layout.coordinates]
    place, workings = [], []
    for k, extent in enumerate(box):
        stride = prod(box[k + 1 :])
        place.append(rest // stride % extent if k else rest // stride)
        divided = str(rest) if stride == 1 else f"{rest}/{stride}"
        workings.append(divided if k == 0 else f"{divided}%{extent}")
    return terms(layout, place, workings, values)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The closed inverse, worked out for one slot."""

    recovered: tuple[Recovered, ...]
    reasons: tuple[str, ...]


def _read(
    layout: Layout, slot: int, values: Mapping[str, int], held: tuple[Named, ...]
) -> _Reading:
    found = read_back(layout)
    if isinstance(found, NotDigits):
        return _Reading((), (_nothing(layout),))
    inverse = found.inverse
    known = {**values, SLOT: slot}
    for name, step in inverse.steps:
        known[name] = evaluate(step, known)
    written = _written(found)
    order = layout.symbols
    reasons = [
        _beyond(guard, known, written, order) for guard in inverse.guards if not guard.holds(known)
    ]
    recovered = []
    for axis, (name, value) in zip(layout.axes, inverse.index, strict=True):
        each = Recovered(
            name,
            text(substitute(value, written)),
            text(substitute(value, {n: Constant(known[n]) for n in indices(value)})),
            evaluate(value, known),
            evaluate(axis.extent, known),
        )
        recovered.append(each)
        if each.value >= each.extent:
            reasons.append(
                f"{name} = {each.value} is not below {_limit(axis.extent, known, order)}"
            )
    there = {**known, **{each.axis: each.value for each in recovered}}
    if not reasons:
        reasons += [f"`{each}` does not hold" for each in layout.domain if not each.holds(there)]
    index = tuple((each.axis, each.value) for each in recovered)
    agrees = bool(reasons) if not held else not reasons and index == held[0]
    in_a_gap = not all(guard.holds(known) for guard in inverse.guards)
    if not agrees or not (in_a_gap or layout.offset_at(there) == slot):
        return _Reading((), (_nothing(layout),))
    return _Reading(tuple(recovered), tuple(reasons))


def _nothing(layout: Layout) -> str:
    held = f" where {', '.join(map(str, layout.domain))}" if layout.domain else " of the shape"
    return f"no index{held} lies here"


def _written(read: ReadBack) -> dict[str, Expr]:
    """What each name of the inverse stands for, as the layout writes it, or digit by digit."""
    digits = read.network
    written = {digit_name(number): wire.value for number, wire in enumerate(digits.wires)}
    for number, coordinate in enumerate(read.spelled.coordinates):
        written[digit_name(number)] = coordinate.value
    for swizzle in digits.swizzles:
        written[straight_name(swizzle.wire)] = swizzle.moved.digit
    return written | {whole_name(k): chain.whole for k, chain in enumerate(digits.chains)}


def _beyond(
    guard: Condition, known: Mapping[str, int], written: Mapping[str, Expr], order: tuple[str, ...]
) -> str:
    digit, value = text(substitute(guard.left, written)), evaluate(guard.left, known)
    if any(name.startswith("_") and name not in written for name in indices(guard.left)):
        return "no index of the shape lies here"
    match guard.operator, guard.right:
        case "==", Constant():
            return f"`{digit}` is always {text(guard.right)}, and {value} here"
        case "==", _:
            return f"`{digit}` would be {evaluate(guard.right, known)}, and is {value} here"
        case ">=", _:
            return f"`{digit}` = {value} is below {text(guard.right)}"
    return f"`{digit}` = {value} is not below {_limit(guard.right, known, order)}"


def _limit(extent: Expr, known: Mapping[str, int], order: tuple[str, ...]) -> str:
    """An extent with its value: ``C = 20``; a product of extents in their order."""
    number = "" if isinstance(extent, Constant) else f" = {evaluate(extent, known)}"
    factors = _factors(extent)
    if all(isinstance(each, Extent) for each in factors):
        return "*".join(sorted(map(text, factors), key=order.index)) + number
    return text(extent) + number


def _factors(expr: Expr) -> list[Expr]:
    return [*_factors(expr.left), *_factors(expr.right)] if isinstance(expr, Mul) else [expr]
