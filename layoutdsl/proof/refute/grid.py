"""All indices of a shape at once: where nothing can fail, nothing has to be tried one by one.

A yes is exact for the whole box of indices. A no says nothing: whoever looks for a counterexample
then tries index by index, in plain integers. Where numpy is not installed, all are told no.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from layoutdsl.language.integers.expr import Add, Constant, Coordinate, Expr, MixedRadix, Mod, Mul
from layoutdsl.language.integers.grids import Bounded, Number, indices, over, plain
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.statements.run_statement import Start

CANNOT_TELL = ZeroDivisionError, ModuleNotFoundError
"""A text without meaning somewhere; and no numpy."""


class Grid:
    """The box of indices of one shape.

    Args:
        layout: gives the axes.
        values: the value of every extent.
    """

    def __init__(self, layout: Layout, values: Mapping[str, int]) -> None:
        shape = layout.shape_of(values)
        self.count = prod(shape)
        self._known = {name: plain(value) for name, value in values.items()}
        for place, (axis, extent) in enumerate(zip(layout.axes, shape, strict=True)):
            self._known[axis.name] = indices(extent, place, len(shape))

    def moved(self, start: Start) -> Grid:
        """The same box, every index at the start of the run that it lies in."""
        steps = dict(self._known)
        for name, value in start.steps:
            steps[name] = over(value, steps)
        return self._with({name: over(value, steps) for name, value in start.index.items()})

    def _with(self, known: Mapping[str, Bounded]) -> Grid:
        other = object.__new__(Grid)
        other.count, other._known = self.count, {**self._known, **known}
        return other

    def offset(self, layout: Layout) -> Number:
        """The offset of every index."""
        return self.number(_offset(layout))

    def number(self, expr: Expr) -> Number:
        """The value of an expression at every index."""
        return over(expr, self._known).number


def _offset(layout: Layout) -> Expr:
    return Add(layout.start, MixedRadix(layout.coordinates))


def no_fault(layout: Layout, every: Iterable[Coordinate], values: Mapping[str, int]) -> bool:
    """Whether coordinates stay in their extents, offsets in the buffer, and apart."""
    try:
        import numpy as np

        grid = Grid(layout, values)
        for each in every:
            value, extent = grid.number(each.value), grid.number(each.extent)
            if np.any(value < 0) or np.any(value >= extent):
                return False
        offsets = grid.offset(layout)
    except CANNOT_TELL:
        return False
    start, size = evaluate(layout.start, values), layout.size(values)
    if np.any(offsets < start) or np.any(offsets >= size):
        return False
    return len(np.unique(offsets)) == grid.count


def stay_inside(layout: Layout, every: Iterable[Coordinate], values: Mapping[str, int]) -> bool:
    """Whether coordinates over the axes of a layout stay in their extents."""
    try:
        import numpy as np

        grid = Grid(layout, values)
        for each in every:
            value, extent = grid.number(each.value), grid.number(each.extent)
            if np.any(value < 0) or np.any(value >= extent):
                return False
    except CANNOT_TELL:
        return False
    return True


def all_apart(layouts: Iterable[tuple[Layout, Mapping[str, int]]]) -> bool:
    """Whether no two elements of several layouts, each at a shape, have one offset."""
    found, count = [], 0
    try:
        import numpy as np

        for layout, values in layouts:
            grid = Grid(layout, values)
            found.append(np.ravel(grid.offset(layout)))
            count += grid.count
    except CANNOT_TELL:
        return False
    return len(np.unique(np.concatenate(found))) == count


def same_offsets(layout: Layout, other: Layout, values: Mapping[str, int]) -> bool:
    """Whether two layouts put every element at the same offset."""
    try:
        import numpy as np

        grid = Grid(layout, values)
        return not np.any(grid.offset(layout) != grid.offset(other))
    except CANNOT_TELL:
        return False


def same_formula(layout: Layout, formula: Expr, values: Mapping[str, int]) -> bool:
    """Whether a formula gives the offset of every element."""
    try:
        import numpy as np

        grid = Grid(layout, values)
        return not np.any(grid.offset(layout) != grid.number(formula))
    except CANNOT_TELL:
        return False


def whole_runs(
    layout: Layout,
    start: Start,
    run: tuple[Coordinate, ...],
    values: Mapping[str, int],
) -> bool:
    """Whether every element lies as far from the start of its run as the run's digits say."""
    try:
        import numpy as np

        grid = Grid(layout, values)
        first = grid.moved(start).offset(layout)
        return not np.any(grid.offset(layout) != first + grid.number(MixedRadix(run)))
    except CANNOT_TELL:
        return False


def aligned_runs(
    layout: Layout,
    start: Start,
    bits: tuple[int, int],
    values: Mapping[str, int],
) -> bool:
    """Whether every run starts at a multiple; ``bits``: of an element, and of the multiple."""
    try:
        import numpy as np

        item, multiple = map(Constant, bits)
        beyond = Mod(Mul(Mod(_offset(layout), multiple), item), multiple)
        return not np.any(Grid(layout, values).moved(start).number(beyond))
    except CANNOT_TELL:
        return False
