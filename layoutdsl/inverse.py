"""From a slot back to the index, in closed form, where the coordinates are digits, twisted or not.

The steps are straight-line: a slot is split into coordinates from the most minor, twisted digits
are straightened, digits are put together into wholes, the value of a tuple is split into its parts.
Nothing here is trusted: that the inverse is right is proved for each layout. It knows `digits` and
`twists`, and neither sympy nor a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutdsl.bounds import ONE, ZERO, product, simplify
from layoutdsl.digits import Chain, Network, NotDigits, same
from layoutdsl.expr import Constant, Expr, FloorDiv, Index, Mod, Sub
from layoutdsl.model import Condition, Layout
from layoutdsl.steps import SLOT, digit_name, rest_name, whole_name
from layoutdsl.twists import join, reading


@dataclass(frozen=True, slots=True)
class Inverse:
    """How to read a slot.

    Attributes:
        steps: names with their expressions over ``_slot``, extents and earlier names.
        index: the index along each axis, in axis order, over the names of the steps.
        padded: the extent of each axis with its padding: indices below it have a slot too.
        guards: what a slot satisfies that lies in no gap; over the names of the steps.
    """

    steps: tuple[tuple[str, Expr], ...]
    index: tuple[tuple[str, Expr], ...]
    padded: tuple[tuple[str, Expr], ...]
    guards: tuple[Condition, ...]


def invert(layout: Layout) -> Inverse | NotDigits:
    """Return the inverse of a layout, or why it has none in closed form."""
    found = reading(layout)
    if isinstance(found, NotDigits):
        return found
    if layout.domain and found.twists:
        return NotDigits(f"it holds elements only where {layout.domain[0]}", "domain")
    steps = _split_slot(layout)
    guards = [guard for number in range(len(found.wires)) for guard in _wire_guards(found, number)]
    index: dict[str, Expr] = {}
    padded: dict[str, Expr] = {}
    for number, chain in enumerate(found.chains):
        for twist in found.twists_before(number):
            steps += twist.steps
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
    twist = found.twist_of(number)
    if twist is not None:
        return list(twist.guards)
    if wire.constant is not None:
        return [] if wire.extent == ONE else [Condition(value, "==", Constant(wire.constant))]
    return [] if wire.radix is None else [Condition(value, "<", wire.radix)]
