"""The axes of a tensor over the digits that both sides of a move have in common.

The text of a module is printed from these. Each side is the plan of a layout, or the tensor itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from layoutdsl.code.convert_plan import both_plans, without_single_axes
from layoutdsl.code.loops.chains import multiple_of
from layoutdsl.code.loops.moves import Move
from layoutdsl.code.loops.sides import has_gaps
from layoutdsl.code.loops.trees import multiples
from layoutdsl.code.moves import AxisMove, Fallback, Plan
from layoutdsl.code.plan import plan
from layoutdsl.language.integers.bounds import ONE, simplify
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import CeilDiv, Constant, Expr, FloorDiv
from layoutdsl.language.meaning.model import Layout


@dataclass(frozen=True, slots=True)
class Place:
    """Where some digits of an axis lie on one side: ``levels[first:past]`` in one dimension."""

    dimension: int
    first: int
    past: int


@dataclass(frozen=True, slots=True)
class CutAxis:
    """An axis, or several that are read as one, cut into common digits.

    Attributes:
        name: of the axis, or ``(h, w)`` of several.
        axes: their positions in the tensor.
        extent: elements along it.
        divisors: of the digits, most major first; the last is 1.
        multiple: the extent is a multiple of this number for every shape.
        places: for each side, where the digits lie, most major first.
        padded: for each side, the extent of its first dimension; `None` if the blocks fill it.
    """

    name: str
    axes: tuple[int, ...]
    extent: Expr
    divisors: tuple[int, ...]
    multiple: int
    places: tuple[tuple[Place, ...], tuple[Place, ...]]
    padded: tuple[Expr | None, Expr | None]

    @property
    def is_ragged(self) -> bool:
        """For some shape the last block is a part of one."""
        return any(self.multiple % divisor for divisor in self.divisors)

    @property
    def ends(self) -> tuple[int, ...]:
        """Indices per step of each dimension of the target."""
        return tuple(self.divisors[place.past - 1] for place in self.places[1])

    @property
    def has_padding(self) -> bool:
        """Slots beyond the elements of the axis are in the target, for some shape."""
        return self.padded[1] is not None or any(self.multiple % each for each in self.ends)

    @property
    def blocks(self) -> Expr:
        """Whole blocks of the most major digit."""
        return simplify(FloorDiv(self.extent, Constant(self.divisors[0])))

    @property
    def radices(self) -> tuple[int, ...]:
        """Indices of each digit below the most major one."""
        return tuple(above // below for above, below in pairwise(self.divisors))


@dataclass(frozen=True, slots=True)
class Axes:
    """All axes of a move.

    Attributes:
        cut: in axis order.
        sides: what is read and what is written; `None` is the tensor.
        has_gaps: slots lie between those of elements, which no box at an end covers.
    """

    cut: tuple[CutAxis, ...]
    sides: tuple[Plan | None, Plan]
    has_gaps: bool

    @property
    def target(self) -> Plan:
        """The plan of the buffer that is written."""
        return self.sides[1]

    @property
    def has_padding(self) -> bool:
        """Slots of the target hold no element."""
        return self.has_gaps or any(axis.has_padding for axis in self.cut)


def axes_of(source: Layout | None, target: Layout) -> Axes | Fallback:
    """Return the axes of a move over common digits, or why there are none.

    Args:
        source: whose buffer is read; `None` to read the tensor.
        target: whose buffer is written, over the same axes.

    Raises:
        ValueError: a parameter has no value.
    """
    first: Plan | None = None
    if source is None:
        planned = plan(target)
        if isinstance(planned, Fallback):
            return planned
        if [axis for move in planned.moves for axis in move.axes] != [*range(len(target.axes))]:
            return Fallback("no reshape reads axes as one in another order than theirs")
        last = without_single_axes(planned)
    else:
        both = both_plans(source, target)
        if isinstance(both, Fallback):
            return both
        first, last = both
    known = multiples(Move(source, target))
    cut = list[CutAxis]()
    for number, whole in enumerate(last.moves):
        other = None if first is None else first.moves[number]
        found = _cut(number, whole, other, known)
        if isinstance(found, Fallback):
            return found
        cut.append(found)
    return Axes(tuple(cut), (first, last), has_gaps(last))


def _cut(
    number: int, whole: AxisMove, other: AxisMove | None, known: Mapping[str, int]
) -> CutAxis | Fallback:
    """Cut an axis; ``other`` says how the source has it, if that is no tensor."""
    divisors = {1}
    for digit in (*whole.digits, *(() if other is None else other.digits)):
        divisor = simplify(digit.divisor)
        if not isinstance(divisor, Constant):
            return Fallback(f"axis `{whole.name}` is cut by a number that depends on the shape")
        divisors.add(divisor.value)
    levels = tuple(sorted(divisors, reverse=True))
    for above, below in pairwise(levels):
        if above % below:
            words = f"blocks of {below} and {above} have no common digits"
            return Fallback(f"axis `{whole.name}`: {words}")
    if same(whole.extent, ONE) or not whole.digits:
        levels = (1,)
    multiple = multiple_of(whole.extent, known)
    read, beyond = tuple[Place, ...](), None
    if other is not None:
        read, beyond = _places(other, levels), _padded(other, multiple)
    elif whole.digits:
        read = (Place(number, 0, len(levels)),)
    places, padded = (read, _places(whole, levels)), (beyond, _padded(whole, multiple))
    return CutAxis(whole.name, whole.axes, whole.extent, levels, multiple, places, padded)


def _places(move: AxisMove, levels: Sequence[int]) -> tuple[Place, ...]:
    found, first = list[Place](), 0
    for digit in move.digits:
        past = levels.index(_number(digit.divisor)) + 1
        found.append(Place(digit.dimension, first, past))
        first = past
    return tuple(found)


def _number(divisor: Expr) -> int:
    found = simplify(divisor)
    assert isinstance(found, Constant)
    return found.value


def _padded(move: AxisMove, multiple: int) -> Expr | None:
    """The extent of the first dimension, if an axis may have fewer blocks than fill it."""
    if not move.digits:
        return None
    top = move.digits[0]
    natural = simplify(CeilDiv(move.extent, top.divisor))
    if same(natural, top.extent):
        return None
    whole = multiple % _number(top.divisor) == 0
    if whole and same(natural, top.radix) and same(top.radix, top.extent):
        return None
    return top.extent
