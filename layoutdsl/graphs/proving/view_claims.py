"""What has to hold of a view: an element lies where the one lies that it is afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from layoutdsl.graphs.placings.placing import Digit, Placing
from layoutdsl.graphs.placings.reshaping import groups
from layoutdsl.graphs.proving.pair import ONE, Pair, Values, multiplied
from layoutdsl.graphs.roles.views import Reshaping, Step, Transposing, forwards
from layoutdsl.language.integers.expr import (
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
)
from layoutdsl.language.meaning.application import digits_of
from layoutdsl.language.meaning.model import ZERO, Axis, Layout


def of_view(steps: Sequence[Step], placing: Placing) -> Iterator[Pair]:
    """Yield what has to hold of each step of a view whose operand lies so."""
    found = placing
    for step in steps:
        after = forwards((step,), found)
        if after is None:
            return
        yield _viewed(step, found, after)
        found = after


def _viewed(step: Step, before: Placing, after: Placing) -> Pair:
    """A view's operand, at the element that is an element of its result."""
    match step:
        case Transposing(order):
            axes = tuple(_free(before, axis, Extent(f"D{axis}")) for axis in range(len(order)))
            values = tuple((f"D{axis}", extent) for axis, extent in enumerate(before.shape))
            own: list[Expr] = [Index(axis.name) for axis in axes]
            extents: list[Expr] = [axis.extent for axis in axes]
            other, others = [own[axis] for axis in order], [extents[axis] for axis in order]
        case Reshaping():
            axes, values, own, extents, other, others = _regrouped(before, after)
    lies = tuple(_coordinate(before, digit, own, extents) for digit in before.digits)
    read = tuple(_coordinate(after, digit, other, others) for digit in after.digits)
    nothing = (Coordinate(ZERO, ONE),)
    return Pair(
        Layout("lies", axes, lies or nothing), Layout("read", axes, read or nothing), values
    )


def _free(placing: Placing, axis: int, extent: Extent) -> Axis:
    """An axis whose extent is a name where it is no number that the digits are cut by."""
    padded = axis in placing.padded_axes
    number = padded or placing.shape[axis] == 1
    return Axis(f"d{axis}", Constant(placing.shape[axis]) if number else extent)


def _coordinate(
    placing: Placing, digit: Digit, indices: Sequence[Expr], extents: Sequence[Expr]
) -> Coordinate:
    index, extent = indices[digit.axis], extents[digit.axis]
    own = placing.shape[digit.axis]
    value = index if digit.divisor == 1 else FloorDiv(index, Constant(digit.divisor))
    top = digit.divisor * digit.extent >= own
    if not top:
        return Coordinate(Mod(value, Constant(digit.extent)), Constant(digit.extent))
    if isinstance(extent, Constant) or digit.extent != -(-own // digit.divisor):
        return Coordinate(value, Constant(digit.extent))
    return Coordinate(
        value, extent if digit.divisor == 1 else CeilDiv(extent, Constant(digit.divisor))
    )


def _regrouped(
    before: Placing, after: Placing
) -> tuple[tuple[Axis, ...], Values, list[Expr], list[Expr], list[Expr], list[Expr]]:
    """Axes, their extents, and in them the indices and extents of both sides of a reshape."""
    axes: list[Axis] = []
    shape: list[int] = []
    own: dict[int, tuple[Expr, Expr]] = {}
    other: dict[int, tuple[Expr, Expr]] = {}
    for group in groups(before.shape, after.shape):
        left = [axis for axis in group.before if before.shape[axis] > 1]
        right = [axis for axis in group.after if after.shape[axis] > 1]
        own |= dict.fromkeys(group.before, (ZERO, ONE))
        other |= dict.fromkeys(group.after, (ZERO, ONE))
        fine, coarse, placing = (left, right, before) if len(right) <= 1 else (right, left, after)
        whole = len(coarse) <= 1 and _is_whole(before, left) and _is_whole(after, right)
        names = [f"d{len(axes) + number}" for number in range(len(fine))]
        made = [
            Axis(name, Extent(name.upper()) if whole else Constant(placing.shape[axis]))
            for name, axis in zip(names, fine, strict=True)
        ]
        made = [_padded(axis, placing, number) for axis, number in zip(made, fine, strict=True)]
        axes += made
        shape += [placing.shape[axis] for axis in fine]
        here, there = (own, other) if placing is before else (other, own)
        here |= {
            axis: (Index(each.name), each.extent) for axis, each in zip(fine, made, strict=True)
        }
        far = after if placing is before else before
        there |= dict(_gathered(made, coarse, far))
    return (
        tuple(axes),
        tuple((f"D{number}", extent) for number, extent in enumerate(shape)),
        *_apart(own, len(before.shape)),
        *_apart(other, len(after.shape)),
    )


def _padded(axis: Axis, placing: Placing, number: int) -> Axis:
    fixed = number in placing.padded_axes
    return Axis(axis.name, Constant(placing.shape[number])) if fixed else axis


def _is_whole(placing: Placing, axes: Sequence[int]) -> bool:
    return all(
        digit.divisor == 1 and digit.extent == placing.shape[digit.axis]
        for axis in axes
        for digit in placing.of_axis(axis)
    )


def _gathered(
    made: Sequence[Axis], coarse: Sequence[int], far: Placing
) -> Iterator[tuple[int, tuple[Expr, Expr]]]:
    """The axes of the other side, by the axes of this one."""
    if not made:
        return
    parts = tuple(Coordinate(Index(axis.name), axis.extent) for axis in made)
    whole: Expr = parts[0].value if len(parts) == 1 else MixedRadix(parts)
    if len(coarse) == 1:
        yield coarse[0], (whole, multiplied([axis.extent for axis in made]))
        return
    digits = digits_of(whole, [Constant(far.shape[axis]) for axis in coarse])
    yield from (
        (axis, (each.value, each.extent)) for axis, each in zip(coarse, digits, strict=True)
    )


def _apart(found: dict[int, tuple[Expr, Expr]], rank: int) -> tuple[list[Expr], list[Expr]]:
    return [found[axis][0] for axis in range(rank)], [found[axis][1] for axis in range(rank)]
