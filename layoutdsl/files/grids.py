"""Where tensors and their buffers come apart at once: grids of parts, packed each by itself.

Between the seams of a layout, which are proved for all shapes, the code of the whole packs a part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from layoutdsl.code.proved import check_undecided as check_undecided
from layoutdsl.code.seams import Seam, flat
from layoutdsl.commands import compile as compile_
from layoutdsl.commands import library
from layoutdsl.files.pieces.proof import lies_alike, seam_at
from layoutdsl.language.meaning.arguments import Kind, expect
from layoutdsl.language.meaning.model import LAYOUT, Layout

Numbers: TypeAlias = tuple[int, ...]

NAMED = Kind("a layout, or the name of one", lambda v: isinstance(v, Layout | str), LAYOUT.help)
"""The argument that says which layout."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """The seams of a layout that a grid may have: the k-th cuts the k-th coordinate, by an axis.

    The theorem of a seam is of one value of every coordinate before it. Where a unit of each of
    those is one value, a box of several is as many pieces side by side, each packed as by itself;
    so it holds of the box too, and chunks may end at any of these seams at once.
    """

    layout: Layout
    seams: tuple[Seam, ...]
    reason: str

    @property
    def axes(self) -> Numbers:
        """The numbers of the axes."""
        names = [axis.name for axis in self.layout.axes]
        return tuple(names.index(each.axis) for each in self.seams)

    def height(self, shape: Numbers, number: int, length: int) -> int:
        """Return the values of a coordinate that so many indices of its axis take."""
        part = list(shape)
        part[self.axes[number]] = min(length, part[self.axes[number]])
        return physical_shape(self.layout, tuple(part))[number]


@lru_cache(maxsize=256)
def cuts_of(layout: Layout) -> Cuts:
    """Return the seams, as were proved, and why there is no further one."""
    outer, found = flat(layout), list[Seam]()
    if outer != layout and not lies_alike(layout):
        return Cuts(layout, (), "its outermost tuple may be another number")
    for number in range(len(outer.coordinates)):
        seam = seam_at(outer, number)
        if isinstance(seam, str):
            return Cuts(layout, tuple(found), seam)
        if seam.axis in {each.axis for each in found}:
            break
        found.append(seam)
        if seam.blocks > 1 or outer != layout:  # parts of a tuple are one coordinate of the buffer
            break
    return Cuts(layout, tuple(found), "")


@dataclass(frozen=True, slots=True)
class Grid:
    """A tensor and its buffer, cut alike.

    Attributes:
        shape: of the tensor.
        lengths: of the parts along the axis of each seam.
    """

    layout: Layout
    shape: Numbers
    lengths: tuple[Numbers, ...]

    @property
    def physical(self) -> Numbers:
        """The shape of the buffer."""
        return physical_shape(self.layout, self.shape)

    @property
    def counts(self) -> list[int]:
        """How many parts there are along each seam."""
        return [len(each) for each in self.lengths]

    def extents(self, place: Numbers) -> Numbers:
        """Return the shape of a part of the tensor."""
        part = list(self.shape)
        for axis, lengths, number in zip(
            cuts_of(self.layout).axes, self.lengths, place, strict=True
        ):
            part[axis] = lengths[number]
        return tuple(part)

    def block(self, place: Numbers) -> Numbers:
        """Return the shape of that part of the buffer."""
        return physical_shape(self.layout, self.extents(place))

    def starts(self, place: Numbers) -> Numbers:
        """Return where it starts in the buffer."""
        cuts, rest = cuts_of(self.layout), len(self.physical) - len(place)
        firsts = (
            sum(cuts.height(self.shape, number, each) for each in lengths[:at])
            for number, (lengths, at) in enumerate(zip(self.lengths, place, strict=True))
        )
        return (*firsts, *[0] * rest)

    def of_tensor(self, place: Numbers) -> Numbers:
        """Return which block of an array of the tensor it is."""
        found = [0] * len(self.shape)
        for axis, number in zip(cuts_of(self.layout).axes, place, strict=True):
            found[axis] = number
        return tuple(found)

    def of_buffer(self, place: Numbers) -> Numbers:
        """Return which block of an array of the buffer it is."""
        return (*place, *[0] * (len(self.physical) - len(place)))


def layout_of(layout: Layout | str, unproved: bool = False) -> Layout:
    """Return a layout whose buffer has coordinates to be cut; of codes, where elements are such.

    Raises:
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided, and `unproved` is false.
        ValueError: it has none.
    """
    expect(layout=(layout, NAMED))
    found = library(layout) if isinstance(layout, str) else layout
    if found.bit_of is not None:
        raise ValueError(f"`{found.name}` places the bits of its elements, and is packed at once")
    if found.copies:
        raise ValueError(f"`{found.name}` holds copies of its elements, and is packed at once")
    compile_(found.of_codes, unproved=unproved)
    return found.of_codes


def module_of(layout: Layout) -> Any:
    """Return what packs and unpacks; it is made once in each process.

    `layout_of` has refused the layout, or the caller allowed it and checked the whole shape. The
    module of an undecided layout checks each part again.
    """
    return compile_(layout, unproved=True)


def physical_shape(layout: Layout, shape: Numbers) -> Numbers:
    """Return the shape of the buffer of a tensor.

    Raises:
        ValueError: the layout has no such shape, or its buffer is no box.
    """
    found: Numbers = tuple(module_of(layout).physical_shape(shape))
    if layout.is_flat:
        words = f"`{layout.name}` has an `offset`, so its buffer is flat"
        raise ValueError(f"{words}, and cannot be cut: pack it with `layoutdsl.compile`")
    return found


def rounded(lengths: Numbers, step: int) -> Numbers:
    """Return chunks that end at the multiples of a step next to where those given end."""
    ends = ((end + step // 2) // step * step for end in accumulate(lengths[:-1]))
    return cut_at(ends, sum(lengths))


def cut_at(ends: Iterable[int], length: int) -> Numbers:
    """Return the lengths of parts that end there; ends outside, and those met before, are none."""
    inner = sorted({end for end in ends if 0 < end < length})
    return tuple(after - before for before, after in pairwise([0, *inner, length]))


def are_even(lengths: Numbers) -> bool:
    """Return whether all parts are alike but for the last, which may be shorter."""
    return len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]
