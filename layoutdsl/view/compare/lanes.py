"""Elements of one block in another order: an interleave and its inverse, digits exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Expr,
    Extent,
    Mod,
    Mul,
)
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning import strided
from layoutdsl.language.meaning.application import offset_of
from layoutdsl.language.meaning.claims import Claim, EqualsFormula
from layoutdsl.language.meaning.model import Axis, Condition, Layout
from layoutdsl.language.meaning.shapes import Values, in_range, volume
from layoutdsl.language.offsets.axes import Paired
from layoutdsl.language.offsets.cuts import numbers_of
from layoutdsl.language.offsets.maps import COST, exchanged_in, offsets, orders_in
from layoutdsl.language.offsets.one_by_one import Order, size
from layoutdsl.proof.prover.check import attempt
from layoutdsl.proof.prover.verdict import Proved
from layoutdsl.view.compare.offsets import common

MOST_LANES = 256
MOST_ELEMENTS = 200_000


@dataclass(frozen=True, slots=True)
class LanesPermuted:
    """The layouts are equal but for the order of the elements within each block of an axis.

    Attributes:
        axis: of the first layout.
        block: elements of a block; it divides the extent wherever this was tried.
        one: which element of its block lies first, second, ... in the first layout.
        other: the same of the second.
        kind: the second order is the inverse of the first; two digits of the axis are exchanged;
            or another permutation.
        digits: the two digits, most major first, where they are exchanged.
        proved: whether it was proved wherever the block divides the extent.
    """

    axis: str
    block: int
    one: Order
    other: Order
    kind: Literal["inverse", "digits", "order"]
    digits: tuple[int, int] | None
    proved: bool

    @property
    def full_kind(self) -> str:
        """Its kind among hints of all kinds."""
        return f"lanes: {self.kind}"


def lanes(pair: Paired) -> tuple[LanesPermuted, ...]:
    """Return the block in which the elements lie in another order, where nothing else differs."""
    return next(((each,) for each in _every(pair)), ())


def _every(pair: Paired) -> Iterator[LanesPermuted]:
    for number, axis in enumerate(pair.one.axes):
        for block in blocks(common(pair), number):
            found = _permuted(pair, number, block)
            if found is not None:
                yield _described(pair, axis, block, *found)
                break


def blocks(layout: Layout, axis: int) -> tuple[int, ...]:
    """Return what an axis is cut into, the smallest first; any divisor of a fixed extent."""
    match layout.axes[axis].extent:
        case Extent(name):
            found = sorted(numbers_of(layout)[name])
        case Constant(extent):
            found = [each for each in range(2, extent + 1) if extent % each == 0]
    return tuple(each for each in found if 1 < each <= MOST_LANES)


def _permuted(pair: Paired, axis: int, block: int) -> tuple[Order, Order] | None:
    """Return the order in a block of either layout, where exchanging it makes them equal."""
    orders: tuple[Order, Order] | None = None
    for values in _shapes(pair, axis, block):
        if size(pair.one, values) != size(pair.other, values):
            return None
        one, other = offsets(pair.one, values), offsets(pair.other, values)
        orders = orders or orders_in(one, other, axis, block)
        if orders is None or not exchanged_in(one, other, axis, orders):
            return None
    return orders


def _shapes(pair: Paired, axis: int, block: int) -> Iterator[Values]:
    """Yield shapes whose extent along the axis is a multiple of the block."""
    both = common(pair)
    match pair.one.axes[axis].extent:
        case Extent(name):
            cases = [(name, count * block) for count in (2, 3, 4)]
        case _:
            cases = [("", 0)]
    for name, extent in cases:
        for rest in (2, 3, block, 2 * block):
            values = dict.fromkeys(both.symbols, rest)
            if name:
                values[name] = extent
            if in_range(both, values) and volume(both, values) <= MOST_ELEMENTS // COST:
                yield values


def _described(pair: Paired, axis: Axis, block: int, one: Order, other: Order) -> LanesPermuted:
    return described(axis.name, one, other, _proved(pair, axis, block, one, other))


def described(axis: str, one: Order, other: Order, proved: bool) -> LanesPermuted:
    """Return how two orders of the elements of a block are related."""
    digits = _exchanged(one, other)
    inverse = all(one[other[k]] == k for k in range(len(one)))
    kind: Literal["inverse", "digits", "order"] = (
        "inverse" if inverse else "order" if digits is None else "digits"
    )
    return LanesPermuted(axis, len(one), one, other, kind, digits, proved)


def _exchanged(one: Order, other: Order) -> tuple[int, int] | None:
    """Return the radices of two digits of the lane that changed places, most major first."""
    block = len(one)
    within = dict(zip(one, other, strict=True))
    for minor in (each for each in range(2, block) if block % each == 0):
        major = block // minor
        if all(within[k] == k % minor * major + k // minor for k in range(block)):
            return major, minor
    return None


def _proved(pair: Paired, axis: Axis, block: int, one: Order, other: Order) -> bool:
    """Prove that the second layout, each element replaced by the one it is taken for, is the first.

    Only what a few exchanged digits do can be said in a formula.
    """
    within = dict(zip(one, other, strict=True))
    moved = _formula(axis.name, block, within)
    if moved is None:
        return False
    offset = offset_of(pair.other.substituted({axis.name: moved}))
    where = [each for each in pair.other.where if each not in pair.one.where]
    if isinstance(axis.extent, Extent):
        where.append(Condition(Mod(axis.extent, Constant(block)), "==", ZERO))
    claim = Claim("prove", pair.one, EqualsFormula(offset), tuple(where))
    return isinstance(attempt(claim), Proved)


def _formula(axis: str, block: int, within: dict[int, int]) -> Expr | None:
    """Return the element of the block that each is taken for, as a sum of its digits."""
    cuts = strided.cuts_of([within[k] for k in range(block)])
    if cuts is None:
        return None
    *digits, rest = strided.digits_of(axis, [*cuts, (2, block)])  # two blocks: the rest is open
    value: Expr = Mul(rest.value, Constant(block))
    for each in digits:
        value = Add(value, Mul(each.value, Constant(each.stride)))
    return value if all(evaluate(value, {axis: k}) == to for k, to in within.items()) else None
