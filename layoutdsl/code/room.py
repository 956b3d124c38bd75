"""How much room a tuple takes: what its parts reach, and whether its extent holds that.

The extent of a tuple's most major part is no factor of anything, so slack that it declares is taken
away. What is left is exact: where every part reaches its extent, the tuple fits if and only if the
product of the extents does. Tuples of which that is not known are not split.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.code.moves import Limit
from layoutdsl.language.digits.network import Chain, Network, Wire
from layoutdsl.language.integers.bounds import ONE, at_least, product, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Expr, Extent, Index, Sub, extents, substitute
from layoutdsl.language.meaning.model import Layout


def plain(least: Expr, most: Expr) -> bool:
    """Return whether ``least <= most`` is plain for all extents, those of empty axes included."""
    difference = Sub(most, least)
    positive = {name: Sub(Extent(name), ONE) for name in extents(difference)}
    return at_least(substitute(difference, positive), 0)


def axis_extent(layout: Layout, index: Index) -> Expr:
    """Return the extent of the axis that an index runs along."""
    return next(axis.extent for axis in layout.axes if axis.name == index.name)


def uncut_tuples(found: Network) -> list[Chain]:
    """Return the tuples that are one digit."""
    return [chain for chain in found.chains if chain.parts and len(chain.cuts) == 1]


def inside(found: Network, chain: Chain) -> Expr:
    """Return the product of the extents of a tuple's parts."""
    return simplify(product(tuple(found.wires[part].extent for part in chain.parts)))


def without_slack(layout: Layout, found: Network) -> tuple[Network, list[Limit]]:
    """Return the network in which no tuple's most major part is declared larger than it gets.

    Nothing else changes: what was padding of the part is padding of the tuple. The extents that
    were declared are returned as limits.
    """
    limits: list[Limit] = []
    for chain in reversed(uncut_tuples(found)):
        part = chain.parts[0]
        reached = _reached(layout, found, part)
        if reached is not None:
            wires = list(found.wires)
            limits.append(Limit(reached, wires[part].extent, "a part leaves its declared extent"))
            wires[part] = Wire(wires[part].value, reached)
            found = replace(found, wires=tuple(wires))
    return found, limits


def _reached(layout: Layout, found: Network, wire: int) -> Expr | None:
    """The extent that a wire gets: of a most major digit, or of a tuple that is one digit."""
    for chain in found.chains:
        if chain.cuts and chain.cuts[-1].wire == wire and chain.cuts[-1].radix is None:
            if isinstance(chain.whole, Index):
                return chain.cuts[-1].steps(axis_extent(layout, chain.whole))
            return inside(found, chain) if len(chain.cuts) == 1 else None
    return None


def fits(layout: Layout, found: Network, chain: Chain) -> bool:
    """Return whether the extent of a tuple holds its parts, or a shape can be refused if not."""
    (cut,) = chain.cuts
    kept, extent = inside(found, chain), found.wires[cut.wire].extent
    held = plain(kept, extent) and (cut.radix is None or plain(kept, cut.radix))
    return held or all(_reaches_extent(layout, found, part) for part in chain.parts)


def _reaches_extent(layout: Layout, found: Network, part: int) -> bool:
    """Whether a part of a tuple takes every value below its extent, whatever the others are."""
    wire = found.wires[part]
    if wire.constant is not None:
        return same(wire.extent, Constant(wire.constant + 1))
    reached = _reached(layout, found, part)
    if reached is None or not same(reached, wire.extent):
        return False
    inner = [chain for chain in uncut_tuples(found) if chain.cuts[0].wire == part]
    return all(_reaches_extent(layout, found, each) for c in inner for each in c.parts)
