"""The two sides of a move as boxes: where each element of the tensor lies in either.

A side is a box in row-major order, and an element's place in it, coordinate by coordinate. Where
these are no digits, or the layouts hold a part of a shape, the only coordinate is the offset.
Trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutdsl.code.validate.loops.coordinates import (
    digit_of,
    flattened,
    name_of,
    neighbours,
    read_as_one,
    shifted,
)
from layoutdsl.code.validate.loops.ranges import InRanges
from layoutdsl.code.validate.loops.words import compared, said
from layoutdsl.code.validate.normal import Normal
from layoutdsl.code.validate.terms import horner, size
from layoutdsl.language.integers.bounds import ONE, at_least, reach, simplify
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.language.integers.expr import Coordinate, Expr, Extent, Index, MixedRadix, Sub, walk
from layoutdsl.language.meaning.model import Axis, Layout
from layoutdsl.proof.kernel.checker import Term, names
from layoutdsl.proof.statements.terms import extent_name

Pair = tuple[Term, Term]
"""The extents of two coordinates that are read as one, the major one first."""


@dataclass(frozen=True, slots=True)
class Side:
    """A buffer as a box.

    Attributes:
        box: its extents, most major first.
        values: where the element ``i.0, i.1, ...`` lies in it.
        index: which element lies at ``p.0, p.1, ...``, if any does: a guess.
        start: slots before the first.
        is_tensor: the places are the indices.
        is_flat: the only coordinate is the offset, as those of the layout are no digits.
        pairs: extents of coordinates that were read as one.
        bounds: coordinates of an element, and below what they have to stay for it to lie in the
            box of offsets; but for those of which that is plain.
    """

    box: tuple[Term, ...]
    values: tuple[Term, ...]
    index: tuple[Term, ...]
    start: Term
    is_tensor: bool
    pairs: tuple[Pair, ...] = ()
    is_flat: bool = False
    bounds: tuple[tuple[Term, Term], ...] = ()


@dataclass(frozen=True, slots=True)
class Sides:
    """What a tree reads and writes.

    Attributes:
        normal: of all terms.
        known: what names of extents stand for.
        positive: names that are no extents of the layouts, and not less than 1.
        extents: of the axes, after those are joined that are read as one.
        held: which elements the layouts hold, of those within the extents.
        keeps: whether the others have slots in the target too, which keep what is in them.
        copies: a place in the source does not say which copy of an element is moved.
        pairs: extents of coordinates that are read as one, axes or of a side.
    """

    normal: Normal
    known: dict[str, Term]
    positive: tuple[str, ...]
    extents: tuple[Term, ...]
    held: tuple[Term, ...]
    source: Side
    target: Side
    keeps: bool = False
    copies: bool = False
    pairs: tuple[Pair, ...] = ()


def sides(
    layout: Layout,
    source: MixedRadix,
    target: MixedRadix,
    starts: tuple[Expr, Expr],
    held: tuple[Condition, ...] = (),
    *,
    flat: bool = False,
    unpacks: bool = False,
    joins: bool = True,
) -> Sides:
    """Return both sides of a move of the elements of a layout.

    Args:
        layout: gives axes and extents.
        source: the coordinates that are read.
        target: the coordinates that are written.
        starts: slots before the first of each.
        held: which elements the layouts hold.
        flat: the offset is the only coordinate, but for that of a tensor.
        unpacks: the target is the tensor itself.
        joins: axes that both sides have as one are one.
    """
    axes = list(_box(layout.axes).parts)
    both: list[Expr] = [flattened(source), flattened(target)]
    known: dict[str, Term] = {name: extent_name(name) for name in layout.symbols}
    joined = list[Pair]()
    while joins and not held and (found := read_as_one(axes, both)) is not None:
        axes, both, (major, minor) = found
        joined.append((said(major, known), said(minor, known)))
    products = {
        tuple(sorted(extent_name(e.name) for e in walk(axis.extent) if isinstance(e, Extent)))
        for axis in axes
    }
    fused = tuple((each, f"e.{n}") for n, each in enumerate(sorted(products)) if len(each) > 1)
    normal = InRanges(fused)
    indexed: dict[str, Term] = {name_of(axis): f"i.{number}" for number, axis in enumerate(axes)}
    read, written = (
        _side(normal, {**known, **indexed}, each, start, axes, flat or bool(held))
        for each, start in zip(both, starts, strict=True)
    )
    whole = tuple(normal.form(said(axis.extent, known)) for axis in axes)
    there = tuple(normal.form(compared(each, {**known, **indexed})) for each in held)
    positive = tuple(name for _, name in fused)
    keeps = unpacks and bool(held)
    copied = bool(layout.copies)
    pairs = (*joined, *read.pairs, *written.pairs)
    return Sides(normal, known, positive, whole, there, read, written, keeps, copied, pairs)


def tensor(layout: Layout) -> MixedRadix:
    """Return the coordinates of the tensor itself, which has no copies of its elements."""
    return _box(layout.element_axes)


def _box(axes: Sequence[Axis]) -> MixedRadix:
    return MixedRadix(tuple(Coordinate(Index(axis.name), axis.extent) for axis in axes))


def buffer(layout: Layout) -> MixedRadix:
    """Return the coordinates of a layout's buffer, tuples opened.

    Without those of extent 1, which part what is read as one: that an element is at 0 of a
    coordinate, or has no slot, is a theorem of the layout by itself; of a part of a tuple it has to
    be plain.
    """
    axes = list(_box(layout.axes).parts)
    opened = flattened(MixedRadix(tuple(e for e in layout.coordinates if not _is_one(e.extent))))
    return MixedRadix(
        tuple(e for e in opened.parts if not (_is_one(e.extent) and _is_within(e, axes)))
    )


def _is_one(extent: Expr) -> bool:
    return simplify(extent) == ONE


def _side(
    normal: Normal,
    known: dict[str, Term],
    box: Expr,
    start: Expr,
    axes: list[Coordinate],
    flat: bool,
) -> Side:
    assert isinstance(box, MixedRadix)
    parts, joined = neighbours(box.parts)
    pairs = tuple((said(major, known), said(minor, known)) for major, minor in joined)
    room = tuple(normal.form(said(part.extent, known)) for part in parts)
    values = tuple(normal.form(said(part.value, known)) for part in parts)
    index = dict[str, Term](dict.fromkeys(map(name_of, axes), 0))
    for number, part in enumerate(parts):
        before, value = shifted(part.value)
        digit = digit_of(value)
        if digit is not None:
            axis, divisor, _ = digit
            index[axis] = ("+", index[axis], ("*", divisor, ("-", f"p.{number}", before)))
    found = tuple(normal.form(each) for each in index.values())
    whole = tuple(normal.form(said(axis.extent, known)) for axis in axes)
    identity = room == whole and values == tuple(f"i.{n}" for n in range(len(axes)))
    first = normal.form(said(start, known))
    if (flat and not identity) or any(map(_is_opaque, values)):
        offset = (normal.form(horner(values, room)),)
        apart = zip(parts, values, room, strict=True)
        bounds = tuple((value, most) for part, value, most in apart if not _is_within(part, axes))
        whole_box = (normal.form(size(room)),)
        return Side(whole_box, offset, found, first, identity, pairs, True, bounds)
    return Side(room, values, found, first, identity, pairs)


def _is_within(part: Coordinate, axes: list[Coordinate]) -> bool:
    """Whether a coordinate plainly lies below its extent, for all indices of all shapes."""
    found = reach(part.value, {name_of(axis): axis.extent for axis in axes})
    if found is None:
        return False
    return at_least(found.low, 0) and at_least(Sub(part.extent, found.high), 0)


def _is_opaque(value: Term) -> bool:
    """Whether no coordinates can be read off: bits, symbolic blocks, products of indices."""
    match value:
        case ("|" | "^" | "&", _, _):
            return True
        case ("div" | "mod", _, block) if not isinstance(block, int):
            return True
        case ("*", *sides) if all(any(n[0] == "i" for n in names(each)) for each in sides):
            return True
        case (_, *parts):
            return any(map(_is_opaque, parts))
    return False
