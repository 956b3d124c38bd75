"""How a layout is packed: few moves of whole regions where its coordinates are digits.

The buffer is split until each of its dimensions is one digit, and each axis of the tensor is cut
into those digits. A layout that has no plan is packed element by element: `Fallback` says why. This
module knows `network` and `bounds`, and nothing of any target language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from layoutdsl.code.moves import (
    AxisMove,
    DigitMove,
    Dimension,
    Fallback,
    Limit,
    Plan,
    Planned,
    Split,
)
from layoutdsl.code.room import axis_extent, fits, inside, plain, uncut_tuples, without_slack
from layoutdsl.code.rows import rows_of
from layoutdsl.language.digits.network import Chain, Cut, Network, NotDigits, Wire, network
from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Index,
    Min,
    Mul,
    Sub,
    coordinate_text,
    indices,
    text,
)
from layoutdsl.language.meaning.model import Layout


@lru_cache(maxsize=256)
def plan(layout: Layout) -> Planned:
    """Return the regions by which a layout is packed, or why it has none, and its runs.

    Raises:
        ValueError: a parameter has no value.
    """
    found = _regions(layout)
    return found if isinstance(found, Plan) else replace(found, rows=rows_of(layout))


def _regions(layout: Layout) -> Planned:
    if layout.parameters:
        names = ", ".join(layout.parameters)
        raise ValueError(
            f"layout {layout.name} has parameters without a value ({names}): "
            f"give them one, as in {layout.name}<{', '.join('16' for _ in layout.parameters)}>"
        )
    if layout.domain:
        held = ", ".join(map(str, layout.domain))
        return Fallback(f"it holds elements only where {held}")
    shifts, moved_back = _unshifted(layout)
    written = network(moved_back)
    if isinstance(written, NotDigits):
        return Fallback(written.reason)
    reason = _out_of_reach(layout, written)
    if reason is not None:
        return Fallback(reason)
    found, limits = without_slack(layout, written)
    for chain in uncut_tuples(found):
        if not fits(layout, found, chain):
            return Fallback(f"`{text(chain.whole)}` may have an extent below that of its parts")
    splits, wires = _split(found, shifts)
    dimensions = tuple(Dimension(found.wires[w].extent, found.wires[w].constant) for w in wires)
    moves = tuple(_moves(layout, found, wires))
    limits += _limits(found, splits, moves)
    unproved = tuple(each for each in limits if not plain(each.least, each.most))
    return Plan(layout, splits, dimensions, moves, unproved)


Shifted: TypeAlias = tuple[int, bool]
"""How many slots lie before the first of a coordinate, and whether it is counted from the end."""


def _unshifted(layout: Layout) -> tuple[tuple[Shifted, ...], Layout]:
    """How far each coordinate is shifted, and the layout of what is left: ``2 + k%16 : 18``.

    What lies before is no slot of any element, so that a digit counted from there on is plain; so
    is one that is taken from a number, ``1 - k%2 : 2``, where the dimension is turned.
    """
    shifts, coordinates = list[Shifted](), list[Coordinate]()
    for each in layout.coordinates:
        value, first, turned = _of_shift(each)
        shifts.append((first, turned))
        if first or turned:
            extent = simplify(Sub(each.extent, Constant(first)))
            each = Coordinate(value, extent, declared=True)  # noqa: PLW2901
        coordinates.append(each)
    return tuple(shifts), replace(layout, coordinates=tuple(coordinates))


def _of_shift(coordinate: Coordinate) -> tuple[Expr, int, bool]:
    match coordinate.value:
        case Add(Constant(first), value) | Add(value, Constant(first)) if first > 0:
            return value, first, False
        case Sub(last, value) if not indices(last):
            before = simplify(Sub(Sub(coordinate.extent, Constant(1)), last))
            if isinstance(before, Constant) and before.value >= 0:
                return value, before.value, True
    return coordinate.value, 0, False


def _cut_tuples(found: Network) -> list[Chain]:
    return [chain for chain in found.chains if chain.parts and len(chain.cuts) > 1]


def _out_of_reach(layout: Layout, found: Network) -> str | None:
    """Why no region of the buffer holds the digits; what depends on the shape is a `Limit`."""
    for wire in found.wires:
        if _overflows(wire):
            written = coordinate_text(Coordinate(wire.value, wire.extent, declared=True))
            return f"`{written}` may leave its extent"
    for chain in _cut_tuples(found):
        if not all(_whole_axis(layout, found, part) for part in chain.parts):
            return f"`{text(chain.whole)}` is cut into blocks, and is not made of whole axes"
    return None


def _overflows(wire: Wire) -> bool:
    if wire.constant is not None and wire.constant < 0:
        return True
    match wire:
        case Wire(extent=Constant(extent), constant=int(constant)):
            return constant >= extent
        case Wire(extent=Constant(extent), radix=Constant(radix)):
            return radix > extent
    return False


def _whole_axis(layout: Layout, found: Network, part: int) -> bool:
    """Whether the wire is an uncut axis without padding."""
    chain = next((c for c in found.chains if [cut.wire for cut in c.cuts] == [part]), None)
    if chain is None or not isinstance(chain.whole, Index) or chain.cuts[0].radix is not None:
        return False
    return same(found.wires[part].extent, axis_extent(layout, chain.whole))


def _split(found: Network, shifts: Sequence[Shifted]) -> tuple[tuple[Split, ...], list[int]]:
    """Split each dimension that an uncut tuple lies along; the wires that are left, in order.

    A dimension of a shifted coordinate begins where that does, a tuple or not.
    """
    tuples = {chain.cuts[0].wire: chain for chain in uncut_tuples(found)}
    wires, splits, position = list(range(len(shifts))), list[Split](), 0
    left = dict(enumerate(shifts))
    while position < len(wires):
        wire = wires[position]
        chain, extent = tuples.get(wire), found.wires[wire].extent
        first, turned = left.pop(wire, (0, False))
        whole = simplify(Add(Constant(first), extent))
        if chain is None:
            if first or turned:
                splits.append(Split(position, whole, first, extent, (extent,), turned))
            position += 1
            continue
        parts = tuple(found.wires[part].extent for part in chain.parts)
        splits.append(Split(position, whole, first, inside(found, chain), parts, turned))
        wires[position : position + 1] = chain.parts
    return tuple(splits), wires


def _moves(layout: Layout, found: Network, wires: Sequence[int]) -> list[AxisMove]:
    position = {wire: number for number, wire in enumerate(wires)}
    numbers = {axis.name: number for number, axis in enumerate(layout.axes)}
    moves: list[AxisMove] = []
    merged: set[int] = set()
    for chain in _cut_tuples(found):
        values = [found.wires[part].value for part in chain.parts]
        names = [value.name for value in values if isinstance(value, Index)]
        axes = tuple(numbers[name] for name in names)
        extent = simplify(product(tuple(layout.axes[axis].extent for axis in axes)))
        moves.append(_move(axes, f"({', '.join(names)})", extent, chain, found.wires, position))
        merged.update(axes)
    for chain in found.chains:
        if isinstance(chain.whole, Index) and numbers[chain.whole.name] not in merged:
            name, axis = chain.whole.name, numbers[chain.whole.name]
            extent = layout.axes[axis].extent
            moves.append(_move((axis,), name, extent, chain, found.wires, position))
    return sorted(moves, key=lambda move: min(move.axes))


def _move(
    axes: tuple[int, ...],
    name: str,
    extent: Expr,
    chain: Chain,
    wires: Sequence[Wire],
    position: dict[int, int],
) -> AxisMove:
    digits = [_digit(cut, wires[cut.wire], position[cut.wire]) for cut in reversed(chain.cuts)]
    if not digits:
        return AxisMove(axes, name, extent, (), exact=True)
    top = digits[0]
    natural = simplify(CeilDiv(extent, top.divisor))
    exact = same(natural, top.radix) and same(natural, top.extent)
    return AxisMove(axes, name, extent, tuple(digits), exact)


def _digit(cut: Cut, wire: Wire, dimension: int) -> DigitMove:
    return DigitMove(cut.whole, cut.divisor, cut.radix or wire.extent, dimension, wire.extent)


def _limits(found: Network, splits: Sequence[Split], moves: Sequence[AxisMove]) -> list[Limit]:
    tuple_words = "a tuple does not fit its declared extent"
    limits = [Limit(split.kept, split.extent, tuple_words) for split in splits]
    for chain in uncut_tuples(found):
        if chain.cuts[0].radix is not None:
            words = f"`{text(chain.whole)}` is not below its radix"
            limits.append(Limit(inside(found, chain), chain.cuts[0].radix, words))
    for wire in found.wires:
        if wire.constant is not None:
            words = f"`{wire.constant}` is not below its extent"
            limits.append(Limit(Constant(wire.constant + 1), wire.extent, words))
    for move in moves:
        limits += _axis_limits(move)
    return limits


def _axis_limits(move: AxisMove) -> list[Limit]:
    if not move.digits:
        return []
    limits = [_digit_limit(move, digit) for digit in move.digits]
    if move.exact:
        return limits
    top = move.digits[0]
    if not plain(CeilDiv(move.extent, top.divisor), top.radix):
        words = f"axis `{move.name}` is longer than its digits can tell apart"
        limits.append(Limit(move.extent, simplify(Mul(top.radix, top.divisor)), words))
    return limits


def _digit_limit(move: AxisMove, digit: DigitMove) -> Limit:
    """A digit reaches its radix only where the axis is long enough."""
    words = f"a digit of axis `{move.name}` leaves its declared extent"
    if plain(digit.radix, digit.extent):
        return Limit(digit.radix, digit.extent, words)
    reached = Min(digit.radix, CeilDiv(move.extent, digit.divisor))
    return Limit(simplify(reached), digit.extent, words)
