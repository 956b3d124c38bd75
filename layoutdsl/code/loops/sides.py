"""The two sides of a move: where the digits of each axis lie in memory, in elements.

A tensor in axis order is one side, and so is the buffer of a layout; packing, unpacking and
converting are moves from one side to another. A side is read off a plan; that its digits are those
of the layout is what `plan` promises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from layoutdsl.code.moves import AxisMove, DigitMove, Plan
from layoutdsl.code.room import plain
from layoutdsl.language.integers.bounds import ONE, ZERO, product, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Add, Constant, Expr, Mul, substitute


@dataclass(frozen=True, slots=True)
class Apart:
    """Why two sides have no common digits, in a few words."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cut:
    """``index / divisor`` up to the next cut is a digit; ``place`` orders digits, most major first.

    Attributes:
        divisor: indices per step.
        stride: elements per step.
        place: of the dimension in the side.
    """

    divisor: int
    stride: Expr
    place: int


@dataclass(frozen=True, slots=True)
class SideAxis:
    """One axis of the tensor, or several read as one, on one side.

    Attributes:
        axes: positions in the tensor.
        names: of these.
        extent: elements along the axis.
        cuts: most minor first; none for an axis of one element.
        padded: indices that have a slot: the extent, or more.
    """

    axes: tuple[int, ...]
    names: tuple[str, ...]
    extent: Expr
    cuts: tuple[Cut, ...]
    padded: Expr


@dataclass(frozen=True, slots=True)
class Side:
    """Where everything lies.

    Attributes:
        axes: in tensor order.
        first: offset of the first slot that a digit reaches.
        size: elements of the whole array.
        start: elements before the first slot of the layout.
        gaps: slots belong to no index of any axis, padded or not.
    """

    axes: tuple[SideAxis, ...]
    first: Expr
    size: Expr
    start: Expr
    gaps: bool


def buffer_side(plan: Plan) -> Side | Apart:
    """Return the side of a layout's buffer."""
    if any(split.turned for split in plan.splits):
        return Apart("a digit is counted from its end")
    before, strides = _strides(plan)
    axes = list[SideAxis]()
    for move in plan.moves:
        found = _axis(plan, move, strides)
        if isinstance(found, Apart):
            return found
        axes.append(found)
    digits = [digit for move in plan.moves for digit in move.digits]
    used = [
        (stride, dimension.constant)
        for stride, dimension in zip(strides, plan.dimensions, strict=True)
        if dimension.constant
    ]
    gaps = any(each.leaves_padding for each in digits) or has_gaps(plan)
    first = Add(plan.layout.start, before)
    for stride, constant in used:
        first = Add(first, Mul(stride, Constant(constant)))
    size = Add(plan.layout.start, product(tuple(c.extent for c in plan.layout.coordinates)))
    return Side(tuple(axes), simplify(first), simplify(size), plan.layout.start, gaps)


def has_gaps(plan: Plan) -> bool:
    """Return whether slots lie between elements: in a turn below the first digit, or at its ends.

    Slots beyond the most major digit of an axis are no gaps.
    """
    return (
        any(digit.leaves_padding for move in plan.moves for digit in move.digits[1:])
        or any(each.leaves_padding for each in plan.splits)
        or any(d.constant is not None and not same(d.extent, ONE) for d in plan.dimensions)
        or not _every_dimension_used(plan)
    )


def _every_dimension_used(plan: Plan) -> bool:
    used = {digit.dimension for move in plan.moves for digit in move.digits}
    return all(
        number in used or dimension.constant is not None or same(dimension.extent, ONE)
        for number, dimension in enumerate(plan.dimensions)
    )


def _strides(plan: Plan) -> tuple[Expr, list[Expr]]:
    """Elements before what is split, and per step of each dimension of the split buffer."""
    extents = [each.extent for each in plan.layout.coordinates]
    before: Expr = ZERO
    strides = _minor_products(extents)
    for split in plan.splits:
        inner = _minor_products(list(split.parts))
        outer = strides[split.dimension]
        before = Add(before, Mul(outer, Constant(split.first)))
        new = [simplify(product((each, outer))) for each in inner]
        strides[split.dimension : split.dimension + 1] = new
    return before, strides


def _minor_products(extents: list[Expr]) -> list[Expr]:
    return [simplify(product(tuple(extents[k + 1 :]))) for k in range(len(extents))]


def _axis(plan: Plan, move: AxisMove, strides: list[Expr]) -> SideAxis | Apart:
    cuts = list[Cut]()
    for digit in reversed(move.digits):
        divisor = simplify(digit.divisor)
        if not isinstance(divisor, Constant):
            return Apart(f"axis `{move.name}` is cut by a number that depends on the shape")
        if not plain(digit.radix, digit.extent):  # a block that is never full lacks slots
            return Apart(f"a digit of axis `{move.name}` may have less room than it has steps")
        cuts.append(Cut(divisor.value, strides[digit.dimension], digit.dimension))
    padded = _padded(move.digits[0]) if move.digits else ONE
    return SideAxis(move.axes, _names(plan, move), move.extent, tuple(cuts), padded)


def _names(plan: Plan, move: AxisMove) -> tuple[str, ...]:
    return tuple(plan.layout.axes[axis].name for axis in move.axes)


def _padded(top: DigitMove) -> Expr:
    return simplify(Mul(top.divisor, top.radix))


def flat_side(plan: Plan) -> Side | Apart:
    """Return the side of the tensor itself, its axes grouped as the plan groups them.

    Along axes of copies it stands still.
    """
    layout = plan.layout
    extents = [axis.extent for axis in layout.element_axes]
    known = dict(zip(layout.element_axes, _minor_products(list(extents)), strict=True))
    strides = [known.get(axis, ZERO) for axis in layout.axes]
    axes = list[SideAxis]()
    for move in plan.moves:
        first, last = move.axes[0], move.axes[-1]
        copied = [layout.axes[axis].name in layout.copies for axis in move.axes]
        if move.axes != tuple(range(first, last + 1)) or len({*copied}) > 1:
            return Apart(f"{move.name} is read as one, and its axes lie apart in the tensor")
        cuts = (Cut(1, strides[last], first),) if move.digits else ()
        axes.append(SideAxis(move.axes, _names(plan, move), move.extent, cuts, move.extent))
    size = simplify(product(tuple(extents)))
    return Side(tuple(axes), ZERO, size, ZERO, gaps=False)


def renamed(side: Side, names: Mapping[str, Expr]) -> Side:
    """Return the side with its extents replaced."""

    def new(expr: Expr) -> Expr:
        return simplify(substitute(expr, names))

    axes = tuple(
        SideAxis(
            each.axes,
            each.names,
            new(each.extent),
            tuple(replace(cut, stride=new(cut.stride)) for cut in each.cuts),
            new(each.padded),
        )
        for each in side.axes
    )
    return Side(axes, new(side.first), new(side.size), new(side.start), side.gaps)
