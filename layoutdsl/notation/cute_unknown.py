"""CuTe's layouts with extents and strides that are known only when a program runs, printed ``?``.

The slowest extent of an entry may be unknown: it is the extent of the axis. One stride may be: it
is a parameter, and the layout is defined where it lies outside all others. ``?{div=8}`` says that a
number is a multiple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from layoutdsl.language.integers.bounds import ONE, ZERO, simplify
from layoutdsl.language.integers.digit import Digit
from layoutdsl.language.integers.expr import (
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    Mod,
    Mul,
)
from layoutdsl.language.meaning import strided
from layoutdsl.language.meaning.model import Axis, Condition
from layoutdsl.language.texts.faults import fault
from layoutdsl.language.texts.source import Span
from layoutdsl.notation.cute_parts import Leaf

_NUMBERS = "write numbers for all extents and strides"


@dataclass(frozen=True, slots=True)
class Unplaced(Digit):
    """A digit of an index, its extent over extents, and its stride; ``None`` if it is compact."""

    axis: Axis
    extent: Expr
    stride: Leaf | None


@dataclass(frozen=True, slots=True)
class Found:
    """What a layout with unknown numbers is."""

    coordinates: tuple[Coordinate, ...]
    where: tuple[Condition, ...]
    parameters: tuple[str, ...]


def refuse_inner(mode: Sequence[Leaf]) -> None:
    """Raise a fault where another extent of an entry than the slowest is unknown."""
    for leaf in mode[:-1]:
        if leaf.value is None:
            message = "only the slowest extent of an entry may be unknown"
            hint = "write a number, or `?` as the last of its entry"
            raise fault("L407", message, leaf.span, help=hint)


def digits_of(axis: Axis, mode: Sequence[Leaf], strides: Sequence[Leaf | None]) -> list[Unplaced]:
    """Return the digits of an axis, the fastest first."""
    found: list[Unplaced] = []
    below = 1
    for leaf, stride in zip(mode, strides, strict=True):
        radix = Constant(leaf.value or 1) if len(found) < len(mode) - 1 else None
        digit = Digit(Index(axis.name), Constant(below), radix)
        extent = digit.steps(axis.extent)
        found.append(Unplaced(digit.whole, digit.divisor, radix, axis, extent, stride))
        below *= leaf.value or 1
    return found


def multiples(axis: Axis, mode: Sequence[Leaf], text: Span) -> list[Condition]:
    """Return that the blocks of an entry divide its extent, where that is unknown."""
    step = mode[-1].multiple
    for leaf in mode[:-1]:
        step *= leaf.value or 1
    if step == 1 or mode[-1].value is not None:
        return []
    return _conditions(Condition(Mod(axis.extent, Constant(step)), "==", ZERO), text)


def nested(digits: Sequence[Unplaced], text: Span) -> Found:
    """Return digits as coordinates.

    Raises:
        Fault: the strides leave open where an element lies, or two elements share an offset.
    """
    wide = [each for each in digits if each.extent != ONE]
    if any(each.stride is None for each in wide):
        return Found(tuple(Coordinate(d.value, d.extent) for d in reversed(wide)), (), ())
    unknown = [each for each in wide if _stride(each).value is None]
    if len(unknown) > 1:
        message = "two strides are unknown, and nothing says which of them is larger"
        hint = "write a number for one of them"
        raise fault("L407", message, _stride(unknown[1]).span, help=hint)
    known = [each for each in wide if _stride(each).value is not None]
    ordered = [*sorted(known, key=lambda each: _stride(each).value or 0), *unknown]
    names = {each.axis.name for each in digits}
    name = f"stride_{unknown[0].axis.name}" if unknown else ""
    name += "_" * (name in names)
    steps = [_step(each, name) for each in ordered]
    where: list[Condition] = []
    if unknown and _stride(unknown[0]).multiple > 1:
        multiple = Constant(_stride(unknown[0]).multiple)
        where.append(Condition(Mod(Extent(name), multiple), "==", ZERO))
    for (inner, step), (_, above) in pairwise(zip(ordered, steps, strict=True)):
        where += _inside(inner, step, above, text)
    coordinates = strided.nested(
        [(each.value, each.extent, step) for each, step in zip(ordered, steps, strict=True)]
    )
    return Found(coordinates, tuple(dict.fromkeys(where)), (name,) if unknown else ())


def _stride(digit: Unplaced) -> Leaf:
    assert digit.stride is not None
    return digit.stride


def _step(digit: Unplaced, name: str) -> Expr:
    stride = _stride(digit)
    if stride.value is None:
        return Extent(name)
    if stride.value == 0:
        message = f"all elements along `{digit.axis.name}` share an offset"
        raise fault("L406", message, stride.span)
    return Constant(stride.value)


def _inside(inner: Unplaced, step: Expr, above: Expr, text: Span) -> list[Condition]:
    """Return what has to hold for a digit to lie inside the next stride."""
    room = Condition(simplify(Mul(inner.extent, step)), "<=", above)
    found = _conditions(room, text)
    match step, above:
        case Constant(small), Constant(large):
            if large % small:
                message = f"the strides do not nest, and a number is unknown: {large} and {small}"
                raise fault("L407", message, text, help=_NUMBERS)
            return found
    if step == ONE:
        return found
    return [*found, *_conditions(Condition(Mod(above, step), "==", ZERO), text)]


def _conditions(condition: Condition, text: Span) -> list[Condition]:
    """Return a condition, unless it is one on numbers that holds."""
    left, right = simplify(condition.left), simplify(condition.right)
    if not (isinstance(left, Constant) and isinstance(right, Constant)):
        return [condition]
    if condition.holds({}):
        return []
    message = f"the strides do not nest, and a number is unknown: not {condition}"
    raise fault("L407", message, text, help=_NUMBERS)
