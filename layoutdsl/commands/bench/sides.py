"""A buffer at one shape, as an array whose dimensions are digits of the tensor's axes.

That is how a layout is said to most packages: split every axis into its digits, and permute them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutdsl.language.digits.network import Network, NotDigits, network
from layoutdsl.language.integers.expr import Constant, Index
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.strided import row_major


@dataclass(frozen=True, slots=True)
class Side:
    """What is read or written.

    Attributes:
        shape: extents of the tensor.
        digits: the extents of the digits of each axis, most major first.
        order: the digits as they lie in the buffer, most major first, by their number when those
            of all axes are counted in the order of the axes.
    """

    shape: tuple[int, ...]
    digits: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    @property
    def split(self) -> tuple[int, ...]:
        """The extents of all digits, axis by axis."""
        return tuple(extent for each in self.digits for extent in each)

    @property
    def box(self) -> tuple[int, ...]:
        """The extents of all digits as they lie in the buffer."""
        split = self.split
        return tuple(split[number] for number in self.order)

    @property
    def back(self) -> tuple[int, ...]:
        """The permutation from the buffer to the axes."""
        return tuple(sorted(range(len(self.order)), key=self.order.__getitem__))

    @property
    def padded(self) -> tuple[int, ...]:
        """The extents of the axes with their padding."""
        return tuple(map(prod, self.digits))

    @property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """How much padding lies before and after each axis, as `np.pad` takes it."""
        return tuple((0, p - n) for p, n in zip(self.padded, self.shape, strict=True))

    @property
    def cropped(self) -> tuple[slice, ...]:
        """What takes the tensor out of the padded one."""
        return tuple(slice(extent) for extent in self.shape)

    @property
    def is_padded(self) -> bool:
        """Whether the padded extents are more than those of the tensor."""
        return self.padded != self.shape

    @property
    def is_flat(self) -> bool:
        """Whether the buffer is the padded tensor as it is."""
        return self.order == tuple(range(len(self.order)))

    @property
    def owners(self) -> tuple[tuple[int, int], ...]:
        """For each digit, axis by axis: its axis, and the divisor that gives it."""
        return tuple(
            (axis, divisor) for axis, each in enumerate(self.digits) for divisor in row_major(each)
        )

    def refined(self, other: Side) -> Side:
        """Return the same buffer with axes that are whole here cut as they are on another side.

        That is left alone where the padded extents differ.
        """
        digits, positions = list[tuple[int, ...]](), list[list[int]]()
        count = 0
        for mine, theirs in zip(self.digits, other.digits, strict=True):
            digits.append(theirs if len(mine) == 1 and prod(mine) == prod(theirs) else mine)
            fresh = list(range(count, count + len(digits[-1])))
            positions += [fresh] if len(mine) == 1 else [[each] for each in fresh]
            count += len(digits[-1])
        order = tuple(each for number in self.order for each in positions[number])
        return Side(self.shape, tuple(digits), order)


def tensor_side(shape: tuple[int, ...]) -> Side:
    """Return the tensor itself, which lies in the order of its axes."""
    return Side(shape, tuple((extent,) for extent in shape), tuple(range(len(shape))))


def side(layout: Layout, shape: tuple[int, ...]) -> Side | str:
    """Return a layout's buffer at a shape, or why it is no permutation of digits.

    >>> side(library("NCHW16c"), (1, 20, 3, 4)).box
    (1, 2, 3, 4, 16)
    """
    if layout.start != Constant(0):
        return "its first slot is not the first of the buffer"
    if layout.domain:
        return "it holds only some elements of the tensor"
    found = network(layout)
    if isinstance(found, NotDigits):
        return found.reason
    values = layout.bind(shape)
    numbers = range(len(layout.coordinates))
    wires = [each for number in numbers for each in _plain_wires(found, number)]
    extents = {}
    for wire in wires:
        given = found.wires[wire]
        extents[wire] = evaluate(given.extent, values)
        gap = given.constant is not None and extents[wire] != 1
        if gap or (given.radix is not None and evaluate(given.radix, values) != extents[wire]):
            return "its buffer has gaps"
    if prod(extents.values()) != layout.size(values):
        return "its buffer has gaps"
    return _counted(layout, found, wires, extents, layout.shape_of(values))


def _plain_wires(found: Network, wire: int) -> list[int]:
    """A tuple that is a coordinate as it is stands for its parts; another stays whole."""
    for chain in found.chains:
        if chain.parts and [cut.wire for cut in chain.cuts] == [wire]:
            return [each for part in chain.parts for each in _plain_wires(found, part)]
    return [wire]


def _counted(
    layout: Layout,
    found: Network,
    wires: list[int],
    extents: dict[int, int],
    shape: tuple[int, ...],
) -> Side | str:
    digits, places = list[tuple[int, ...]](), list[int]()
    chains = {chain.whole: chain for chain in found.chains}
    for axis in layout.axes:
        cuts = [cut.wire for cut in reversed(chains[Index(axis.name)].cuts)]
        if any(wire not in extents for wire in cuts):
            return "a tuple of axes is cut into digits"
        digits.append(tuple(extents[wire] for wire in cuts) or (1,))
        places += cuts or [-1]
    moved = [wire for wire in wires if found.wires[wire].constant is None]
    if sorted(moved) != sorted(place for place in places if place >= 0):
        return "a tuple of axes is cut into digits"
    unused = [number for number, place in enumerate(places) if place < 0]
    order = tuple(places.index(wire) for wire in moved)
    result = Side(shape, tuple(digits), (*unused, *order))
    fits = all(p >= n for p, n in zip(result.padded, shape, strict=True))
    return result if fits else "it holds only some elements of the tensor"
