"""Check a layout at one shape, exactly: bounds, extents and distinct slots of every element.

Example: `[(i*i + j)%1000003, j]` is undecided. At `I = 10` it is right and the result is empty; at
`I = 600000` two elements share a slot and the result is that pair.

Elements are evaluated in boxes of at most a million, so that memory does not grow with the shape.
One bit per slot of the buffer records which slots are taken, or a list of offsets if the buffer has
many more slots than elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Add, Coordinate, Expr, MixedRadix
from layoutdsl.language.integers.grids import Bounded, over, plain
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.counterexample import Counterexample, Point, example_at, point_at
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values
from layoutdsl.proof.refute.refute import Examples, index_words, unsound
from layoutdsl.proof.statements.applied_statement import INDICES
from layoutdsl.proof.statements.sound import BOUNDS, EXTENTS, INJECTIVE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BOX_ELEMENTS = 1 << 20

# Below this the plain-integer search is as fast as loading numpy, and finds the same.
FEW_ELEMENTS = 2_000


def faults_at_shape(layout: Layout, values: Values) -> Examples:
    """Return counterexamples to a layout at one shape; empty exactly if the layout is right there.

    Args:
        layout: without open parameters.
        values: the value of every extent, from `Layout.bind`.

    Raises:
        ZeroDivisionError: a divisor is not positive for an element of the shape.
        MemoryError: one bit for each slot of the buffer does not fit into memory.
    """
    if prod(layout.shape_of(values)) <= FEW_ELEMENTS:
        return unsound(layout)(values)
    try:
        return _faults_in_boxes(layout, values)
    except ZeroDivisionError:
        # A divisor may only be 0 where the domain has no element, which a box cannot tell.
        return unsound(layout)(values)


def _faults_in_boxes(layout: Layout, values: Values) -> Examples:
    found = Examples()
    start, size = evaluate(layout.start, values), layout.size(values)
    taken = _Slots(start, size, prod(layout.shape_of(values)))
    for box in _boxes(layout.shape_of(values)):
        elements = _Elements(layout, values, box)
        if EXTENTS not in found:
            outside = elements.first_outside_extents()
            if outside is not None:
                index, words, name = outside
                point = point_at(layout, index, words)
                found[EXTENTS] = example_at(values, f"{name} leaves its extent", point)
        if INDICES not in found and layout.applied:
            applied = elements.first_index_outside()
            if applied is not None:
                index, words, sentence = applied
                found[INDICES] = example_at(values, sentence, point_at(layout, index, words))
        offsets = elements.offsets()
        outside_buffer = (offsets < taken.start) | (offsets >= taken.size)
        if outside_buffer.any():
            if BOUNDS not in found:
                place = int(outside_buffer.argmax())
                words = f"-> offset {offsets[place]}, outside {taken.start}..{taken.size - 1}"
                point = point_at(layout, elements.index(place), words)
                found[BOUNDS] = example_at(values, f"`{layout.name}` leaves its buffer", point)
            offsets = offsets[~outside_buffer]
        if INJECTIVE not in found:
            shared = taken.take(offsets)
            if shared is not None:
                found[INJECTIVE] = _collision(layout, values, shared)
    if INJECTIVE not in found:
        shared = taken.shared_in_list()
        if shared is not None:
            found[INJECTIVE] = _collision(layout, values, shared)
    return found


def _collision(layout: Layout, values: Values, offset: int) -> Counterexample:
    """Return the first two elements at an offset that several have."""
    points = list[Point]()
    for box in _boxes(layout.shape_of(values)):
        elements = _Elements(layout, values, box)
        places = (elements.offsets() == offset).nonzero()[0][: 2 - len(points)]
        indices = (elements.index(int(place)) for place in places)
        points += [point_at(layout, index, f"-> offset {offset}") for index in indices]
        if len(points) == 2:
            break
    return example_at(values, f"`{layout.name}` is not injective", *points)


Box = tuple[range, ...]


def _boxes(shape: tuple[int, ...]) -> Iterator[Box]:
    """Cut a shape into boxes of at most `BOX_ELEMENTS`: a run of one axis, and all inner axes."""
    axis, inner = len(shape), 1
    while axis > 0 and inner * shape[axis - 1] <= BOX_ELEMENTS:
        axis -= 1
        inner *= shape[axis]
    if axis == 0:
        yield tuple(range(extent) for extent in shape)
        return
    step = BOX_ELEMENTS // inner
    whole = tuple(range(extent) for extent in shape[axis:])
    for outer in product(*map(range, shape[: axis - 1])):
        fixed = tuple(range(index, index + 1) for index in outer)
        for first in range(0, shape[axis - 1], step):
            yield (*fixed, range(first, min(first + step, shape[axis - 1])), *whole)


class _Elements:
    """The elements of a layout in a box of indices, in row-major order, outside the domain none."""

    def __init__(self, layout: Layout, values: Mapping[str, int], box: Box) -> None:
        import numpy as np

        self._layout, self._box = layout, box
        self._shape = tuple(map(len, box))
        self._known = {name: plain(value) for name, value in values.items()}
        for place, (axis, indices) in enumerate(zip(layout.axes, box, strict=True)):
            along = np.arange(indices.start, indices.stop, dtype=np.int64)
            spread = along.reshape([-1 if k == place else 1 for k in range(len(box))])
            self._known[axis.name] = Bounded(spread, indices.stop)
        self._kept: NDArray[np.intp] | None = None
        if layout.domain:
            inside = np.ones(self._shape, bool)
            for condition in layout.domain:
                inside &= self._holds(condition)
            self._kept = inside.reshape(-1).nonzero()[0]

    def offsets(self) -> Any:
        return self._all(Add(self._layout.start, MixedRadix(self._layout.coordinates)))

    def index(self, place: int) -> tuple[int, ...]:
        import numpy as np

        flat = place if self._kept is None else int(self._kept[place])
        at = np.unravel_index(flat, self._shape)
        return tuple(indices[int(k)] for indices, k in zip(self._box, at, strict=True))

    def first_outside_extents(self) -> tuple[tuple[int, ...], str, str] | None:
        from layoutdsl.language.integers.expr import coordinate_text

        for each in self._layout.all_coordinates:
            outside = self._first_outside(each)
            if outside is not None:
                place, value, extent = outside
                words = f"-> {value}, outside 0..{extent - 1}"
                name = f"coordinate `{coordinate_text(each)}` of `{self._layout.name}`"
                return self.index(place), words, name
        return None

    def first_index_outside(self) -> tuple[tuple[int, ...], str, str] | None:
        for one in self._layout.applied:
            for each in one.index:
                outside = self._first_outside(each)
                if outside is not None:
                    place, value, extent = outside
                    sentence = f"`{self._layout.name}` leaves the shape of `{one.layout}`"
                    return self.index(place), index_words(each, value, extent), sentence
        return None

    def _first_outside(self, each: Coordinate) -> tuple[int, int, int] | None:
        """Return the first element with the coordinate outside, its value, and its extent."""
        value, extent = self._all(each.value), self._all(each.extent)
        outside = (value < 0) | (value >= extent)
        if not outside.any():
            return None
        place = int(outside.argmax())
        return place, int(value[place]), int(extent[place])

    def _all(self, expr: Expr) -> Any:
        """Return the value of an expression at every element, as one array."""
        import numpy as np

        everywhere = np.broadcast_to(over(expr, self._known).number, self._shape).reshape(-1)
        return everywhere if self._kept is None else everywhere[self._kept]

    def _holds(self, condition: Condition) -> Any:
        left, right = (over(side, self._known).number for side in (condition.left, condition.right))
        match condition.operator:
            case "==":
                return left == right
            case "!=":
                return left != right
            case "<":
                return left < right
            case "<=":
                return left <= right
            case ">":
                return left > right
            case ">=":
                return left >= right


class _Slots:
    """The slots of a buffer that elements have."""

    def __init__(self, start: int, size: int, elements: int) -> None:
        import numpy as np

        self.start, self.size = start, size
        self._list = list[Any]()
        # An offset in the list takes 64 bits.
        self._is_list = size - start > 64 * elements
        bytes_ = 0 if self._is_list else -(-max(size - start, 0) // 8)
        self._bits = np.zeros(bytes_, np.uint8)

    def take(self, offsets: Any) -> int | None:
        """Take the slots of elements; return an offset that two of them have, if one is found."""
        import numpy as np

        if self._is_list:
            self._list.append(offsets)
            return None
        if not len(offsets):
            return None
        slots = np.sort(offsets.astype(np.int64) - self.start)
        same = _first_repeated(slots)
        if same is not None:
            return same + self.start
        places, masks = slots >> 3, (1 << (slots & 7)).astype(np.uint8)
        # Slots are sorted, so those that share a byte stand side by side and can be merged.
        first = np.concatenate(([True], places[1:] != places[:-1])).nonzero()[0]
        bytes_, together = places[first], np.bitwise_or.reduceat(masks, first)
        met = self._bits[bytes_] & together
        if met.any():
            place = int(met.nonzero()[0][0])
            lowest = int(met[place]) & -int(met[place])
            return int(bytes_[place]) * 8 + lowest.bit_length() - 1 + self.start
        self._bits[bytes_] |= together
        return None

    def shared_in_list(self) -> int | None:
        """Return an offset that two elements of the list have, if any."""
        import numpy as np

        return _first_repeated(np.sort(np.concatenate(self._list))) if self._list else None


def _first_repeated(numbers: Any) -> int | None:
    same = numbers[1:] == numbers[:-1]
    return int(numbers[int(same.argmax())]) if same.any() else None
