"""From a slot back to the index, in closed form, where the coordinates are digits, swizzled or not.

The steps are straight-line: a slot is split into coordinates from the most minor, swizzled digits
are straightened, digits are put together into wholes, the value of a tuple is split into its parts.
Where coordinates leave their extents beyond the shape, although digits could go further, the padded
box is the shape itself. Nothing here is trusted: that the inverse is right is proved for each
layout. It knows `network` and `swizzles`, and neither sympy nor a solver.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from layoutdsl.language.digits.network import Chain, Fixed, Network, NotDigits, Shift
from layoutdsl.language.digits.spelled import spellings
from layoutdsl.language.digits.steps import SLOT, Inverse, digit_name, rest_name, whole_name
from layoutdsl.language.digits.swizzles import join, reading
from layoutdsl.language.digits.trial import reads
from layoutdsl.language.integers.bounds import ONE, ZERO, at_least, product, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Expr, FloorDiv, Index, Mod, Sub
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.texts.values import brief

__all__ = ["Inverse", "ReadBack", "invert", "read_back"]


@dataclass(frozen=True, slots=True)
class ReadBack:
    """How a layout is read: as which digits, and how an index is put together from them.

    Attributes:
        spelled: what is read: the layout, or another spelling of it.
        network: its digits.
        inverse: of either.
    """

    spelled: Layout
    network: Network
    inverse: Inverse

    __repr__ = brief


def invert(layout: Layout) -> Inverse | NotDigits:
    """Return the inverse of a layout, or why it has none in closed form."""
    found = read_back(layout)
    return found if isinstance(found, NotDigits) else found.inverse


@lru_cache(maxsize=256)
def read_back(layout: Layout) -> ReadBack | NotDigits:
    """Return how a layout is read, or why it is not; of what may be wrong, what small shapes bear.

    A layout that holds only part of a shape is read as if it held all of it.
    """
    found = reading(layout)
    if layout.domain:
        if isinstance(found, NotDigits):
            return found
        if found.swizzles:
            return NotDigits(f"it holds elements only where {layout.domain[0]}", "domain")
        return ReadBack(layout, found, _inverse(layout, found))
    if isinstance(found, Network) and not _may_leave_extents(found):
        return ReadBack(layout, found, _inverse(layout, found))
    every = [(layout, found), *((each, reading(each)) for each in spellings(layout))]
    networks = [(each, network) for each, network in every if isinstance(network, Network)]
    networks.sort(key=lambda each: bool(each[1].swizzles))
    for spelled, network in networks:
        whole = _inverse(spelled, network)
        for inverse in (whole, _to_the_shape(layout, whole)):
            if reads(layout, inverse):
                return ReadBack(spelled, network, inverse)
    if isinstance(found, NotDigits):
        return found
    return ReadBack(layout, found, _inverse(layout, found))


def _may_leave_extents(found: Network) -> bool:
    """Whether digits beyond the shape may be more than a coordinate has room for."""
    radices = [(wire.radix, wire.extent) for wire in found.wires if wire.radix is not None]
    sums = any(isinstance(each.moved, Shift | Fixed) for each in found.swizzles)
    return sums or any(not at_least(Sub(extent, radix), 0) for radix, extent in radices)


def _to_the_shape(layout: Layout, inverse: Inverse) -> Inverse:
    """The inverse whose padded box is the shape; all other slots lie in a gap."""
    extents: dict[str, Expr] = {axis.name: axis.extent for axis in layout.axes}
    padded = dict(inverse.padded)
    guards = tuple(
        Condition(value, "<", extents[name])
        for name, value in inverse.index
        if not same(padded[name], extents[name])
    )
    return replace(inverse, padded=tuple(extents.items()), guards=(*inverse.guards, *guards))


def _inverse(layout: Layout, found: Network) -> Inverse:
    steps = _split_slot(layout)
    guards = [guard for number in range(len(found.wires)) for guard in _wire_guards(found, number)]
    index: dict[str, Expr] = {}
    padded: dict[str, Expr] = {}
    for number, chain in enumerate(found.chains):
        for swizzle in found.swizzles_before(number):
            steps += swizzle.steps
        value = join(found, chain)
        if isinstance(chain.whole, Index):
            index[chain.whole.name] = value
            padded[chain.whole.name] = chain.reach
            continue
        steps.append((whole_name(number), value))
        steps += _split_whole(found, number, chain)
        inside = product(tuple(found.wires[part].extent for part in chain.parts))
        if not same(inside, chain.reach):
            guards.append(Condition(Index(whole_name(number)), "<", simplify(inside)))
    names = [axis.name for axis in layout.axes]
    return Inverse(
        tuple(steps),
        tuple((name, index[name]) for name in names),
        tuple((name, padded[name]) for name in names),
        tuple(guards),
        tuple(each.extent for each in layout.coordinates),
    )


def _split_slot(layout: Layout) -> list[tuple[str, Expr]]:
    last = len(layout.coordinates) - 1
    slot: Expr = Index(SLOT)
    rest = slot if layout.start == ZERO else Sub(slot, layout.start)
    steps: list[tuple[str, Expr]] = [(rest_name(last), rest)]
    for number in range(last, 0, -1):
        left, extent = Index(rest_name(number)), layout.coordinates[number].extent
        steps.append((digit_name(number), Mod(left, extent)))
        steps.append((rest_name(number - 1), FloorDiv(left, extent)))
    steps.append((digit_name(0), Index(rest_name(0))))
    return steps


def _split_whole(found: Network, number: int, chain: Chain) -> list[tuple[str, Expr]]:
    steps: list[tuple[str, Expr]] = []
    left: Expr = Index(whole_name(number))
    for part in reversed(chain.parts[1:]):
        extent = found.wires[part].extent
        steps.append((digit_name(part), Mod(left, extent)))
        steps.append((rest_name(part), FloorDiv(left, extent)))
        left = Index(rest_name(part))
    steps.append((digit_name(chain.parts[0]), left))
    return steps


def _wire_guards(found: Network, number: int) -> list[Condition]:
    wire = found.wires[number]
    value = Index(found.name(number))
    swizzle = found.swizzle_of(number)
    if swizzle is not None:
        return list(swizzle.guards)
    if wire.constant is not None:
        return [] if wire.extent == ONE else [Condition(value, "==", Constant(wire.constant))]
    return [] if wire.radix is None else [Condition(value, "<", wire.radix)]
