"""From a move to the tree that does it."""

from __future__ import annotations

from dataclasses import replace
from math import inf, lcm

from layoutdsl.code.convert_plan import both_plans
from layoutdsl.code.loops import tree
from layoutdsl.code.loops.branches import cut, hoisted, pruned
from layoutdsl.code.loops.chains import Chains, Ends, chains
from layoutdsl.code.loops.leaf import LONG
from layoutdsl.code.loops.moves import Move
from layoutdsl.code.loops.planner import Unplanned, planned
from layoutdsl.code.loops.rows import along, rows, run_of
from layoutdsl.code.loops.sides import Apart, buffer_side, flat_side
from layoutdsl.code.moves import Fallback
from layoutdsl.code.plan import plan
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Constant, Extent, Mod
from layoutdsl.language.meaning.model import Layout


def digits(move: Move) -> Chains | Apart:
    """Return both sides over common digits, or why there are none."""
    if move.source is not None and move.target is not None:
        both = both_plans(move.source, move.target)
        if isinstance(both, Fallback):
            return Apart(both.reason)
        source, target = map(buffer_side, both)
    else:
        found = plan(move.layouts[0])
        if isinstance(found, Fallback):
            return Apart(found.reason)
        source, target = flat_side(found), buffer_side(found)
        if move.target is None:
            source, target = target, source
    if isinstance(source, Apart):
        return source
    return target if isinstance(target, Apart) else chains(source, target, multiples(move))


SHORT = 8
"""Elements of a run that is too short to be copied for its own sake."""


MOST_AXES = 16
"""Axes that C has loops for, those that stay next to each other counted as one.

The time for planning and for proving grows with the third power or faster: seconds for 16, and
minutes for 32. No tensor is known that has more; numpy serves those.
"""


MOST_RAGGED = 5
"""Axes whose last block may be a part: each doubles the number of loops, 5 make 1 MB of C."""


def _too_many(chains: Chains) -> str | None:
    """Return why a move has too many axes for C to be planned and proved in seconds."""
    if len(chains.axes) > MOST_AXES:
        many = f"{len(chains.axes)} axes move apart from each other"
        return f"{many}, and C has loops for at most {MOST_AXES}"
    ragged = [each for each in chains.axes if each.multiple % each.digits[-1].divisor]
    if len(ragged) > MOST_RAGGED:
        many = f"the extents of {len(ragged)} axes may end within a block"
        words = "and C has loops for at most"
        return f"{many}, {words} {MOST_RAGGED}: a range such as `where C % 16 == 0` rules that out"
    return None


def goes_by_the_tensor(source: Layout, target: Layout) -> bool:
    """Whether two moves with the tensor between them beat one from buffer to buffer.

    They do where each layout has digits, both together have none, and what both have as a number is
    too large to be moved at once, as of blocks of 7 and 128: tiles twice take less than a formula
    for every few elements. It was up to nine times as fast.
    """
    straight = Move(source, target)
    if not isinstance(digits(straight), Apart):
        return False
    if any(isinstance(digits(each), Apart) for each in (Move(source, None), Move(None, target))):
        return False
    run = run_of(straight)
    return run is not None and run < SHORT


def _copied(move: Move) -> float:
    """How many elements are copied at once where formulas say where these lie."""
    run = run_of(move)
    if run is not None:
        return run
    extent = along(move).extent
    return extent.value if isinstance(extent, Constant) else inf


def multiples(move: Move) -> dict[str, int]:
    """Of which number each extent is a multiple wherever the layouts are defined."""
    found = dict[str, int]()
    for condition in {each for layout in move.layouts for each in layout.where}:
        match condition:
            case Condition(Mod(Extent(name), Constant(block)), "==", Constant(0)):
                found[name] = lcm(found.get(name, 1), block)
    return found


def tree_of(move: Move, width: int, ends: Ends = Ends.ANY, rank: int = 0) -> tree.Node | Unplanned:
    """Return the tree that does a move, for elements of ``width`` bytes, or why there is none.

    Args:
        move: what is moved.
        width: bytes of an element.
        ends: which leaves it may have.
        rank: 0 for those that seem to be the fastest, more for one of the next.
    """
    if len({each.axes for each in move.layouts}) > 1:
        return Unplanned("the layouts have other axes")
    found = digits(move)
    if isinstance(found, Apart) or (found.boxed and _copied(move) * width >= LONG):
        return rows(move)
    too_many = _too_many(found)
    if too_many is not None:
        return Unplanned(too_many)
    return cut(pruned(hoisted(planned(replace(found, ends=ends, rank=rank), width))), width)
