"""Which digits a leaf holds: of all that may be, those that are moved in the fewest cycles."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from operator import itemgetter

from layoutdsl.code.loops.chains import ChainAxis, Chains
from layoutdsl.code.loops.costs import LINE, PAST, crowded, run
from layoutdsl.code.loops.leaf import Part, Parts, SideName, candidates, held
from layoutdsl.code.loops.passes import Item, Pass, in_scratch, one_pass, two_passes
from layoutdsl.language.integers.bounds import polynomial, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant

USUAL = 200
"""What an extent without a number is taken for."""
EDGE = 120.0
"""Cycles of a leaf of which not all is there, beside those of the whole."""
ALONE = 2.0
"""How many times as long units take that are runs each, where not all of a leaf is there."""
AT_HAND = 128
"""Rows whose lines are still at hand when the next turn reads on in them."""
TRIED = 4
"""Boxes for which two passes are tried."""
SCRATCH = 1.0
"""Cycles of a line that is written to scratch and read again, beside those of both passes."""


@dataclass(frozen=True, slots=True)
class Box:
    """A leaf.

    Attributes:
        unit: digits that lie together on both sides, the most minor first.
        rows: digits that follow each other in the target.
        columns: digits that follow each other in the source.
        inner: digits that innermost loops go over.
        both: the passes of a box that is moved by way of scratch, whose digits are then in `unit`.
        own: where they have not the same digits, those of the source and of the target that are the
            same number, for each such number.
    """

    unit: Parts
    rows: Parts = ()
    columns: Parts = ()
    inner: Parts = ()
    both: tuple[Pass, Pass] | None = None
    own: tuple[tuple[Parts, Parts], ...] = ()

    @property
    def moved(self) -> Parts:
        """The digits that are moved at once."""
        return (*self.unit, *self.rows, *self.columns)

    @property
    def parts(self) -> Parts:
        """All digits."""
        return (*self.moved, *self.inner)

    def of(self, side: SideName) -> Parts:
        """Return what is moved at once, by the digits that a side has."""
        if not self.own:
            return self.moved
        which = 0 if side == "source" else 1
        return tuple(part for number in self.own for part in number[which])

    def together(self, side: SideName) -> Parts:
        """Return the digits that lie together on a side, the most minor first."""
        return following((*self.of(side), *self.inner), side)

    @property
    def is_run(self) -> bool:
        """All that is moved at once lies together."""
        return not self.rows and not self.columns and self.both is None

    @property
    def is_gathered(self) -> bool:
        """Units are gathered one by one: they are no vectors, and too short to be runs."""
        size = held(self.unit)
        return self.both is None and not self.is_run and size & (size - 1) > 0


def cheapest(chains: Chains, width: int) -> Box:
    """Return the box that takes the fewest cycles for an element of ``width`` bytes.

    With a rank it is the one that comes so many after that; the last, where there are fewer. Digits
    that are the same box in another order are one.
    """
    found = _boxed(chains, width) if chains.boxed else _common(chains, width)
    ranked = list(dict.fromkeys(sorted(found, key=itemgetter(0))))
    return ranked[min(chains.rank, len(ranked) - 1)][1] if ranked else Box(())


def _common(chains: Chains, width: int) -> list[tuple[float, Box]]:
    """The boxes of those digits that both sides have, and what each takes."""
    found, ideal = list[tuple[float, Box]](), list[tuple[float, Parts]]()
    for parts in candidates(chains, width):
        items = _items(parts)
        made = one_pass(tuple(items), width)
        tables = (made.unit, made.rows, made.columns, made.loops)
        unit, rows, columns, inner = (tuple(items[i] for i in table) for table in tables)
        box = Box(unit, rows, columns, inner)
        found.append((_cost(chains, box, made.cost(width), width), box))
        ideal.append((_cost(chains, Box(parts), 0.0, width), parts))
    for _, parts in sorted(ideal, key=itemgetter(0))[: TRIED + chains.rank]:
        both = two_passes(tuple(_items(parts)), width)
        if both is None:
            continue
        staged, (into, out) = Box(parts, both=both), both
        cycles = into.cost(width, into=True) + out.cost(width)
        found.append((_cost(chains, staged, cycles, width), staged))
    return found


def _boxed(chains: Chains, width: int) -> list[tuple[float, Box]]:
    """The boxes with digits that no side has, and what each takes.

    They go by way of scratch, where these lie as they count: the pass into it is over the digits of
    the source, that out of it over those of the target.
    """
    found = list[tuple[float, Box]]()
    for parts in candidates(chains, width):
        own = tuple(_own(chains, part) for part in parts)
        both = in_scratch(tuple((tuple(_items(i)), tuple(_items(o))) for i, o in own), width)
        if both is not None:
            box, (into, out) = Box(parts, both=both, own=own), both
            cycles = into.cost(width, into=True) + out.cost(width)
            found.append((_cost(chains, box, cycles, width), box))
    return found


def _own(chains: Chains, part: Part) -> tuple[Parts, Parts]:
    """The digits of source and target that a part of a box is."""
    own = chains.axes[part.axis].own
    if own is None or part.digit.divisor > 1:
        return (part,), (part,)
    source, target = (tuple(Part(part.axis, d, d.radix or 1) for d in digits) for digits in own)
    return source, target


def _items(parts: Parts) -> dict[Item, Part]:
    return {
        Item(each.count, simplify(each.digit.source), simplify(each.digit.target)): each
        for each in parts
    }


def _cost(chains: Chains, box: Box, cycles: float, width: int) -> float:
    """About how many cycles a line takes, with all that a box brings along."""
    lines = held(box.parts) * width / LINE
    cycles += SCRATCH * lines if box.both is not None else 0.0
    cost, slid, is_cut = cycles, 1.0, False
    for number, axis in enumerate(chains.axes):
        block = _block(box.parts, number)
        whole, past = _turns(axis, block)
        is_cut = is_cut or (block > 1 and not axis.slides)
        if axis.slides:
            slid *= whole + past if block > 1 else 1
        elif past and block > 1:
            cost += past * _ending(box, number, cycles, width)
            if not whole and same(axis.extent, axis.target):
                cost += cycles  # all that is written is masked
    size = chains.target.size
    past = isinstance(size, Constant) and size.value * width >= PAST
    written, out = _lines(box, "target", width, past=past)
    read, into = _lines(box, "source", width, past=False)
    read = 0.0 if not is_cut and _goes_on(box, width) else read
    return (cost + out + into) * slid / lines + 1.5 * written + read


def _ending(box: Box, number: int, cycles: float, width: int) -> float:
    """About how many cycles a leaf takes in which an axis ends."""
    if _ends(box, number):
        return EDGE + cycles
    if box.is_gathered:
        unit = held(box.unit)
        return ALONE * run(unit * width, into=False) * held(box.parts) / unit
    return 2 * EDGE + (4.0 if box.both is None else 3.5) * cycles  # with scratch parts are whole


def _goes_on(box: Box, width: int) -> bool:
    """Whether, as nothing is cut, the next turn reads on in the lines that a box reads a part of.

    So it is where loops follow the source. It is worth knowing of bytes alone, of which a whole
    line is so many that much is moved twice where an axis ends.
    """
    if box.both is not None or held(box.unit) * width > 1 or held(box.rows) > AT_HAND:
        return False
    return 1 < held(box.together("source")) <= held(box.together("target"))


def _block(parts: Parts, number: int) -> int:
    reach = 1
    for each in parts:
        if each.axis == number:
            reach = max(reach, each.reach)
    return reach


def _turns(axis: ChainAxis, block: int) -> tuple[float, float]:
    """How much of the turns over an axis is whole, and how much is not."""
    extent = axis.extent.value if isinstance(axis.extent, Constant) else USUAL
    if axis.multiple % block == 0 and same(axis.extent, axis.target):
        return 1.0, 0.0
    turns = -(-extent // block)
    if axis.slides:
        return 1.0, (turns * block - extent) / extent
    part = 1 / turns
    return 1 - part, part if isinstance(axis.extent, Constant) else part / 2


def _ends(box: Box, number: int) -> bool:
    """Whether an axis ends in one side of a leaf alone, above all others."""
    if box.both is not None:
        return False
    mine = [each for each in box.moved if each.axis == number]
    tables = [table for table in (box.unit, box.rows, box.columns) if set(mine) & set(table)]
    if len(tables) == 2 and box.is_gathered:  # the end of a unit, and all of a table
        return box.unit[-1].axis == number and all(each.axis == number for each in tables[1])
    return not tables or (len(tables) == 1 and tables[0][-1].axis == number)


def _lines(box: Box, side: SideName, width: int, past: bool) -> tuple[float, float]:
    """What the lines of a side cost beside those that the kernels count.

    Args:
        box: a leaf.
        side: of it.
        width: bytes of an element.
        past: whole lines go past the cache.

    Returns:
        How many lines are touched more often than they would have to be, for each; and cycles for
        those that drive each other out of the cache. A stride without a number is a multiple of
        one, which crowds no more than it does.
    """
    run = box.together(side)
    size = held(run) * width
    partial = max(0.0, LINE / size - 1) + 16 / size
    if size % LINE == 0 and (past if side == "target" else _reads_lines(box, width)):
        return partial, 0.0
    offsets = [0]
    for each in box.of(side):
        if each not in run:
            by = gcd(*polynomial(simplify(each.stride(side))).values()) * width
            offsets = [at + k * by for at in offsets for k in range(each.count)]
    return partial, crowded(offsets, size, side)


def _reads_lines(box: Box, width: int) -> bool:
    """Whether a kernel reads rows by whole lines, and not by 16 bytes at a time."""
    wide, rows, columns = LINE // width // held(box.unit), held(box.rows), held(box.columns)
    return box.both is None and columns >= wide > 1 and (rows < wide or rows % wide > 0)


def following(parts: Parts, side: SideName) -> Parts:
    """Return those parts that lie together on a side from stride 1 on, the most minor first."""
    left, found, size = list(parts), list[Part](), 1
    while True:
        for each in left:
            if same(each.stride(side), Constant(size)):
                break
        else:
            return tuple(found)
        left.remove(each)
        found.append(each)
        size *= each.count
