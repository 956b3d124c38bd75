"""Operations that use a layout at a computed index: fix, slice, tile, merge, split, and names.

Each writes an index map and hands it to `theorems.pullback`, which proves the theorem and the
precondition. They differ in the index map alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from layoutdsl.algebra.spelling import padded_extents
from layoutdsl.algebra.theorems import PreconditionError, made, pullback
from layoutdsl.language.elaborate.shelf import library
from layoutdsl.language.integers.bounds import product, simplify
from layoutdsl.language.integers.digit import exact_quotient, times
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    Index,
    MixedRadix,
    Mul,
    text,
)
from layoutdsl.language.meaning.application import digits_of, exact
from layoutdsl.language.meaning.arguments import expect
from layoutdsl.language.meaning.model import LAYOUT, Axis, Condition, Layout

Given: TypeAlias = Layout | str
"""A layout, or the name of a layout of the library."""

Size: TypeAlias = int | str
"""A number of indices, or the name of a parameter that stands for one."""

Ragged: TypeAlias = Literal["part", "whole", "padded"]
RAGGED = ("part", "whole", "padded")


def given(layout: Given) -> Layout:
    """Return a layout that is passed to a public function."""
    if isinstance(layout, str):
        return library(layout)
    expect(layout=(layout, LAYOUT))
    return layout


def size_of(size: Size) -> Extent | Constant:
    """Return a size that is passed to a public function as an expression."""
    if isinstance(size, str):
        if not size.isidentifier() or size != size.upper():
            raise ValueError(f"`{size}` is not the name of an extent; write it in upper case")
        return Extent(size)
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"a size is a number or the name of an extent, not {size!r}")
    if size < 1:
        raise ValueError(f"a size is at least 1, not {size}")
    return Constant(size)


def below(value: Expr, extent: Expr) -> Coordinate:
    """Return an index with the extent that it has to stay below."""
    return Coordinate(value, extent, declared=True)


def known(layout: Layout, names: Sequence[str]) -> None:
    """Raise `ValueError` if a layout lacks one of the axes, or if one is given twice."""
    axes = [axis.name for axis in layout.axes]
    for name in names:
        if name not in axes:
            raise ValueError(f"`{layout.name}` has no axis `{name}`; it has {', '.join(axes)}")
    if len(set(names)) < len(names):
        raise ValueError(f"an axis is given twice: {', '.join(names)}")


def fresh(wanted: str, layout: Layout) -> str:
    """Return a name for an axis that a layout does not use yet."""
    taken = {*(axis.name for axis in layout.axes), *(name.lower() for name in layout.symbols)}
    while wanted in taken:
        wanted += "_"
    return wanted


def index_map(
    layout: Layout,
    axes: Sequence[Axis],
    places: Mapping[str, Coordinate],
    name: str,
    where: Sequence[Condition] = (),
    domain: Sequence[Condition] = (),
) -> Layout:
    """Return an index map; axes without a place stay as they are."""
    every = tuple(
        places.get(axis.name) or Coordinate(Index(axis.name), axis.extent) for axis in layout.axes
    )
    copies = tuple(axis.name for axis in axes if axis.name in layout.copies)
    return made(
        Layout(
            name, tuple(axes), every, fill=layout.fill, where=tuple(where), domain=tuple(domain)
        ),
        copies=copies,
    )


def _pulled_back(layout: Layout, index: Layout, name: str) -> Layout:
    """Return ``layout(index(c))``, whose sentence has the indices as they are written."""
    axes = ", ".join(axis.name for axis in index.axes)
    written = ", ".join(text(each.value) for each in index.coordinates)
    return pullback(layout, index, name, f"R({axes}) = {layout.name}({written})")


def fix(layout: Given, /, **at: int) -> Layout:
    """Return a layout with some axes held at an index: ``R(n, h, w) = A(n, c=3, h, w)``.

    The extent of a fixed axis becomes a parameter, in the range in which the index is in the shape.

    >>> print(fix("NCHW16c", c=3))
    layout NCHW16c_at<C>(n, h, w) = [n, 0 : ceil(C/16), h, w, 3 : 16] where 3 < C

    Args:
        layout: a layout, or the name of one in the library.
        at: the index along each axis that is fixed.

    Raises:
        ValueError: there is no such axis, or an index is negative.
        PreconditionError: the axis is shorter than the index for all shapes.
    """
    a = given(layout)
    known(a, list(at))
    for name, number in at.items():
        if number < 0:
            raise ValueError(f"the index along `{name}` is {number}, and has to be at least 0")
    places = {x.name: below(Constant(at[x.name]), x.extent) for x in a.axes if x.name in at}
    where = [Condition(each.value, "<", each.extent) for each in places.values()]
    axes = [axis for axis in a.axes if axis.name not in at]
    return _pulled_back(a, index_map(a, axes, places, "fixed", where), f"{a.name}_at")


def slice(layout: Given, /, **windows: tuple[int, Size]) -> Layout:  # noqa: A001  CuTe's word
    """Return a window of some axes: ``R(.., c, ..) = A(.., first + c, ..)``.

    >>> print(slice("NCHW", h=(2, "K")))
    layout NCHW_window<H>(n, c, h: K, w) = [n, c, h + 2 : H, w] where K + 2 <= H

    Args:
        layout: a layout, or the name of one in the library.
        windows: the first index along each axis, and the number of indices.

    Raises:
        ValueError: there is no such axis, or a number is out of range.
        PreconditionError: the window leaves the axis for all shapes.
    """
    a = given(layout)
    known(a, list(windows))
    axes, places, where = list[Axis](), dict[str, Coordinate](), list[Condition]()
    for axis in a.axes:
        if axis.name not in windows:
            axes.append(axis)
            continue
        first, count = windows[axis.name]
        if first < 0:
            raise ValueError(f"the window of `{axis.name}` starts at {first}, before 0")
        size = size_of(count)
        axes.append(Axis(axis.name, size))
        places[axis.name] = below(simplify(Add(Index(axis.name), Constant(first))), axis.extent)
        where.append(Condition(simplify(Add(size, Constant(first))), "<=", axis.extent))
    return _pulled_back(a, index_map(a, axes, places, "window", where), f"{a.name}_window")


def tile(layout: Given, /, how: Ragged = "part", **sizes: Size) -> Layout:
    """Return a layout with some axes cut into tiles: ``R(.., h1, .., h0) = A(.., h1*8 + h0, ..)``.

    The number of the tile, `h1`, takes the place of the axis; the indices within tiles, `h0`, come
    last, as in CuTe's logical divide.

    >>> print(tile("NCHW", "whole", h=8))
    layout NCHW_tiled(n, c, h1, w, h0: 8) = [n, c, (h1, h0), w]

    Args:
        layout: a layout, or the name of one in the library.
        how: what a tile that the axis does not fill is. ``"part"``: it has the elements that there
            are, a domain. ``"whole"``: there is none; the extents are multiples of the tile.
            ``"padded"``: it is full, and its tail lies in the padding of the layout.
        sizes: the indices of a tile along each axis.

    Raises:
        ValueError: there is no such axis, or a size is out of range.
        PreconditionError: ``"whole"`` tiles do not divide a fixed extent, or the layout has no
            padding for ``"padded"`` tiles; the smallest shape shows it.
    """
    a = given(layout)
    if how not in RAGGED:
        raise ValueError(f"`how` is {how!r}, and has to be one of {', '.join(RAGGED)}")
    known(a, list(sizes))
    cut = _Cut(a, how)
    for axis in a.axes:
        if axis.name in sizes:
            cut.axis(axis, size_of(sizes[axis.name]))
        else:
            cut.outer.append(axis)
    places = cut.places
    if how == "padded":
        room = padded_extents(a)
        if room is None:
            raise PreconditionError(f"the padded box of `{a.name}` is unknown: use how='part'")
        indices = {name: place.value for name, place in cut.places.items()}
        places = {
            axis.name: below(indices.get(axis.name, Index(axis.name)), room[axis.name])
            for axis in a.axes
        }
    tiles = index_map(a, [*cut.outer, *cut.inner], places, "tiles", cut.where, cut.domain)
    sentence = ", ".join(cut.sentences.get(axis.name, axis.name) for axis in a.axes)
    refusal = f"`{a.name}` has no padding for whole tiles" if how == "padded" else ""
    return pullback(
        a,
        tiles,
        f"{a.name}_tiled",
        f"R({', '.join(axis.name for axis in tiles.axes)}) = {a.name}({sentence})",
        refusal=refusal,
        padded=how == "padded",
    )


class _Cut:
    """The axes of a layout while some are cut into tiles."""

    def __init__(self, layout: Layout, how: Ragged) -> None:
        self._layout, self._how = layout, how
        self.outer, self.inner = list[Axis](), list[Axis]()
        self.where, self.domain = list[Condition](), list[Condition]()
        self.places: dict[str, Coordinate] = {}
        self.sentences: dict[str, str] = {}

    def axis(self, axis: Axis, size: Extent | Constant) -> None:
        extent: Expr = axis.extent
        high, low = (fresh(f"{axis.name}{n}", self._layout) for n in (1, 0))
        count, is_full = exact(CeilDiv(extent, size)), exact_quotient(extent, size) is not None
        if not isinstance(count, Constant | Extent):
            counted, count = count, Extent(high.upper())
            if self._how == "whole" and isinstance(extent, Extent):
                extent, is_full = times(size, count), True
            else:
                self.where.append(Condition(count, "==", counted))
        if self._how == "whole" and not is_full:
            message = f"tiles of {text(size)} do not divide `{axis.name}` of `{self._layout.name}`"
            raise PreconditionError(f"{message}, which has {text(axis.extent)} indices")
        self.outer.append(Axis(high, count))
        self.inner.append(Axis(low, size))
        joined: Expr = Add(Mul(Index(high), size), Index(low))
        self.sentences[axis.name] = text(joined)
        if self._how == "part" and not is_full:
            self.domain.append(Condition(joined, "<", extent))
        else:  # as a tuple the digits of the tile are seen
            parts = (Coordinate(Index(high), count), Coordinate(Index(low), size))
            joined = MixedRadix(parts)
        self.places[axis.name] = below(joined, extent)


def merge(layout: Given, /, **groups: Sequence[str]) -> Layout:
    """Return a layout with one axis in place of several, row-major: ``R(p) = A(p/W, p%W)``.

    Any axes can be merged, neighbours or not; `is_view` tells whether the result has strides.

    >>> print(merge("NCHW16c", p=("h", "w")))
    layout NCHW16c_merged<H, W>(n, c, p) = [n, c/16, p/W : H, p%W, c%16] where P == H*W

    Args:
        layout: a layout, or the name of one in the library.
        groups: for each new axis the axes that it replaces, the most significant first.

    Raises:
        ValueError: there is no such axis, or one is in two groups.
    """
    a = given(layout)
    known(a, [part for parts in groups.values() for part in parts])
    sizes: dict[str, Expr] = {axis.name: axis.extent for axis in a.axes}
    places, first, where = dict[str, Coordinate](), dict[str, Axis](), list[Condition]()
    for name, parts in groups.items():
        if not parts:
            raise ValueError(f"the axis `{name}` replaces no axis")
        extents = [sizes[part] for part in parts]
        places |= dict(zip(parts, digits_of(Index(name), extents), strict=True))
        whole = product(tuple(extents))
        total = whole if isinstance(whole, Constant | Extent) else Extent(name.upper())
        if total is not whole:
            where.append(Condition(total, "==", whole))
        first[parts[0]] = Axis(name, total)
    axes = [first.get(x.name, x) for x in a.axes if x.name in first or x.name not in places]
    return _pulled_back(a, index_map(a, axes, places, "merged", where), f"{a.name}_merged")


def split(layout: Given, /, **parts: Mapping[str, Size | None]) -> Layout:
    """Return a layout with several axes in place of one: ``R(.., g, d) = A(.., g*64 + d)``.

    Its extent is the product of theirs, so every index of the axis is one of theirs.

    >>> print(split("NCHW16c", c={"g": None, "d": 64}))
    layout NCHW16c_split(n, g, d: 64, h, w) = [n, (g, d/16), h, w, d%16]

    Args:
        layout: a layout, or the name of one in the library.
        parts: for each axis the new axes with their sizes, the most significant first. The size
            of the first may be ``None``: what is left of the extent.

    Raises:
        ValueError: there is no such axis, or only the size of the first may be left open.
        PreconditionError: the sizes do not divide a fixed extent.
    """
    a = given(layout)
    known(a, list(parts))
    places, new = dict[str, Coordinate](), dict[str, list[Axis]]()
    for axis in a.axes:
        if axis.name in parts:
            new[axis.name] = _parts(a, axis, parts[axis.name])
            digits = [Coordinate(Index(each.name), each.extent) for each in new[axis.name]]
            whole = product(tuple(each.extent for each in new[axis.name]))
            value: Expr = digits[0].value if len(digits) == 1 else MixedRadix(tuple(digits))
            extent = axis.extent if isinstance(axis.extent, Constant) else whole
            places[axis.name] = below(value, extent)
    axes = [each for axis in a.axes for each in new.get(axis.name, [axis])]
    return _pulled_back(a, index_map(a, axes, places, "split"), f"{a.name}_split")


def _parts(layout: Layout, axis: Axis, sizes: Mapping[str, Size | None]) -> list[Axis]:
    """The axes that take the place of one."""
    if not sizes or None in list(sizes.values())[1:]:
        raise ValueError(f"only the size of the first part of `{axis.name}` may be left open")
    found = {name: None if size is None else size_of(size) for name, size in sizes.items()}
    rest = product(tuple(each for each in found.values() if each is not None))
    first = next(iter(found))
    if isinstance(axis.extent, Constant):
        count = exact_quotient(axis.extent, rest)
        fits = count is not None and (found[first] is None or count == Constant(1))
        if not fits or not isinstance(count, Constant):
            message = f"`{axis.name}` of `{layout.name}` has {axis.extent.value} indices"
            raise PreconditionError(f"{message}, and its parts have {text(rest)}")
        found[first] = found[first] or count
    return [
        Axis(name, size if isinstance(size, Constant | Extent) else Extent(name.upper()))
        for name, size in found.items()
    ]


def permute(layout: Given, order: Sequence[str] | str, /) -> Layout:
    """Return the same map with its axes in another order.

    >>> print(permute("NCHW", "n h w c"))
    layout NCHW_permuted(n, h, w, c) = [n, c, h, w]

    Args:
        layout: a layout, or the name of one in the library.
        order: the names of all axes, in a sequence or separated by blanks.

    Raises:
        ValueError: the names are not those of the axes.
    """
    a = given(layout)
    names = order.split() if isinstance(order, str) else list(order)
    if sorted(names) != sorted(axis.name for axis in a.axes):
        axes = ", ".join(axis.name for axis in a.axes)
        raise ValueError(f"`{a.name}` has the axes {axes}, and the order is {', '.join(names)}")
    ordered = sorted(a.axes, key=lambda axis: names.index(axis.name))
    return _pulled_back(a, index_map(a, ordered, {}, "permuted"), f"{a.name}_permuted")


def rename(layout: Given, /, **names: str) -> Layout:
    """Return the same map with other names for some axes; the names of extents go with them.

    >>> print(rename("NCHW", h="y", w="x"))
    layout NCHW(n, c, y, x) = [n, c, y, x]

    Args:
        layout: a layout, or the name of one in the library.
        names: the new name of each axis.

    Raises:
        ValueError: there is no such axis, or a name is taken.
    """
    a = given(layout)
    known(a, list(names))
    after = [names.get(axis.name, axis.name) for axis in a.axes]
    if len(set(after)) < len(after):
        raise ValueError(f"two axes would have one name: {', '.join(after)}")
    axes = [
        Axis(new, Extent(new.upper()) if _is_own(axis) and new != axis.name else axis.extent)
        for axis, new in zip(a.axes, after, strict=True)
    ]
    places = {
        axis.name: below(Index(new.name), new.extent)
        for axis, new in zip(a.axes, axes, strict=True)
    }
    renamed = index_map(a, axes, places, "renamed")
    renamed = replace(renamed, copies=tuple(names.get(name, name) for name in a.copies))
    return _pulled_back(a, renamed, a.name)


def _is_own(axis: Axis) -> bool:
    return isinstance(axis.extent, Extent) and axis.extent.name == axis.name.upper()
