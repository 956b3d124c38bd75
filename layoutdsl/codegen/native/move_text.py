"""All that moves as C, without what others call: a leaf, the loops around it, and its functions."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutdsl.codegen.native.box_text import BoxText, LeafText
from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.comb_text import CombText
from layoutdsl.codegen.native.lanes import fits
from layoutdsl.codegen.native.leaves import Leaf
from layoutdsl.codegen.native.nest import Choice, Nest, choice, nest
from layoutdsl.codegen.native.run_text import RunText
from layoutdsl.codegen.native.spelling import Spelling
from layoutdsl.codegen.native.staged import APART, Staged
from layoutdsl.codegen.native.staged_text import StagedText
from layoutdsl.codegen.native.sweep_text import SweepText, sweep_text
from layoutdsl.codegen.native.tile_text import TileText
from layoutdsl.codegen.native.tiles import Comb, Run, Tile
from layoutdsl.codegen.native.walk_text import WalkText
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Constant


@dataclass(frozen=True, slots=True)
class MoveText:
    """The spelling of a move.

    Attributes:
        nest: its loops.
        leaf: what is moved at once.
        sweep: another way through a unit.
        walk: the function that moves some units.
        turned: the same in the order of the source, where there is a choice.
    """

    nest: Nest
    leaf: LeafText
    sweep: SweepText | None
    walk: WalkText
    turned: tuple[Choice, WalkText] | None = None

    def units(self) -> int:
        """Return how many units there are, of a move whose extents are numbers."""
        counts = [loop.count for loop in self.nest.units]
        numbers = [each.value for each in counts if isinstance(each, Constant)]
        assert len(numbers) == len(counts)
        return prod(numbers)

    def functions(self) -> list[str]:
        """Return the functions, in the order in which C needs them."""
        if self.sweep is None:
            turned = self.turned[1].function() if self.turned else []
            return [*self.leaf.functions(), *self.walk.function(), *turned]
        tile = self.sweep.tile.swept_functions()
        return [*tile, *self.sweep.function(), *self.walk.function()]


def move_text(
    name: str,
    chains: Chains,
    leaf: Leaf,
    widths: tuple[int, int],
    words: Spelling,
    *more: str,
    cuts: bool = False,
) -> MoveText:
    """Return the text of a move.

    Args:
        name: what the names of its functions start with.
        chains: what is moved.
        leaf: what is moved at once.
        widths: bytes of an element, and of the widest vector.
        words: how extents are spelled.
        more: names of extents that the walk is told.
        cuts: whether threads share the units.
    """
    width, _ = widths
    loops = nest(chains, leaf, width)
    ragged = tuple(n for n in range(len(chains.axes)) if _may_end(chains, leaf, loops, n))
    text: LeafText
    match leaf:
        case Run():
            text = RunText(chains, leaf, width, ragged)
        case Tile():
            text = TileText(name, chains, leaf, width, ragged)
        case Comb():
            text = CombText(name, chains, leaf, width, words, ragged)
        case Staged():
            turn = move_text(
                f"{name}_turn", leaf.turn, leaf.turn_leaf, widths, words, words.name(APART)
            )
            spread = move_text(f"{name}_spread", leaf.spread, leaf.spread_leaf, widths, words)
            text = StagedText(
                name,
                chains,
                leaf,
                width,
                words,
                (turn.functions(), spread.functions()),
                (turn.units(), spread.units()),
            )
    vectors = leaf.vectors(width) if isinstance(leaf, Tile) else 1
    box = BoxText(chains, loops, text, vectors, ragged)
    sweep = None
    if isinstance(text, TileText):
        inside = (*loops.loops, *loops.inner)
        sweep = sweep_text(text, tuple(loop.axis for loop in inside))
    walk = WalkText(name, chains, loops, box, sweep, ragged, width, words, cuts, more)
    orders = choice(chains, leaf, width)
    turned = nest(chains, leaf, width, by_source=True)
    if orders is None or turned == loops:
        return MoveText(loops, text, sweep, walk)
    box = BoxText(chains, turned, text, vectors, ragged)
    other = WalkText(f"{name}_turned", chains, turned, box, None, ragged, width, words, cuts, more)
    return MoveText(loops, text, sweep, walk, (orders, other))


def _may_end(chains: Chains, chosen: Leaf, loops: Nest, number: int) -> bool:
    """Whether what is moved at once may reach beyond the end of an axis."""
    axis, step = chains.axes[number], loops.boxes[number]
    whole = same(axis.extent, axis.target)
    if isinstance(chosen, Tile) and chosen.extents[number] == step and fits(axis, step):
        return False
    if step == 0 or (step == 1 and whole):
        return False
    if not whole or not isinstance(axis.extent, Constant):
        return True
    slides = axis.slides and axis.extent.value >= step
    return not slides and axis.extent.value % step != 0
