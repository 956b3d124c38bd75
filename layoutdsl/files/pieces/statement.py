"""What has to hold of a seam, for all shapes. Trusted.

Let axis `c` of extent `C` have a seam every ``unit`` indices, where every coordinate before that of
the seam has one value. No coordinate, and no extent of another one, depends on `C`.

* place: of `c` in tiles of ``unit`` indices, ``C == unit*C1``, tiles have the stride of ``blocks``
  blocks, and the rest of the offset is that of the index within the tile. An offset does not depend
  on `C`, so this holds of every extent, and a piece lies as a tensor of its own size does;
* inner: a piece of ``u`` units has ``blocks*u`` blocks, so the next one starts where it ends;
* last: a piece that ends with the axis ends with the buffer.

With that, pieces one after the other start at 0, each where the one before ends, the last at the
end: their ranges of the axis and of the buffer are disjoint and cover all. A piece is in the range
of shapes of the layout, so what was proved of the layout holds of it. All of this is said of the
layout without its outermost tuples.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.code.seams import Seam, extent_of
from layoutdsl.language.integers.bounds import ONE, ZERO, product
from layoutdsl.language.integers.digit import times
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Extent,
    Index,
    MixedRadix,
    Mul,
    extents,
)
from layoutdsl.language.meaning.claims import Claim, EqualsFormula
from layoutdsl.language.meaning.model import Axis, Condition, Layout, instantiate
from layoutdsl.language.meaning.offsets import offset_expr
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.statements.statement import ground
from layoutdsl.proof.statements.terms import NotExpressible, extent_name


def place(layout: Layout, seam: Seam) -> Claim:
    """Return the claim that tiles of an axis have the stride of a seam of a flat layout.

    Raises:
        NotExpressible: the offset speaks of the extent of the axis.
    """
    extent, unit = extent_of(layout, seam.axis).name, Constant(seam.unit)
    before, after = layout.coordinates[: seam.coordinate], layout.coordinates[seam.coordinate :]
    spoken = [layout.start, *(each.value for each in layout.coordinates)]
    spoken += [each.extent for each in (*before, *after[1:])]
    if any(extent in extents(each) for each in spoken):
        raise NotExpressible(f"its offset speaks of `{extent}`")
    # No text can have written these names.
    tile, rest = Axis(f"{seam.axis}1~", Extent(f"{extent}1~")), Axis(f"{seam.axis}0~", unit)
    digits = tuple(Coordinate(Index(each.name), each.extent) for each in (tile, rest))
    tiled = layout.substituted({seam.axis: MixedRadix(digits), extent: times(unit, tile.extent)})
    tiled = replace(
        tiled,
        axes=(*(axis for axis in layout.axes if axis.name != seam.axis), tile, rest),
        start=ZERO,
        where=tuple(e for e in layout.where if extent not in extents(e.left) | extents(e.right)),
    )
    first = replace(layout, coordinates=after, start=ZERO).substituted({seam.axis: digits[1].value})
    stride = product((Constant(seam.blocks), *(each.extent for each in after[1:])))
    offset = Add(Mul(digits[0].value, stride), offset_expr(first))
    single = tuple(Condition(each.extent, "==", ONE) for each in before)
    return Claim("prove", tiled, EqualsFormula(offset), single)


def sizes(layout: Layout, seam: Seam) -> tuple[Theorem, Theorem]:
    """Return the theorems about the blocks of pieces: inner ones, and the last.

    Raises:
        NotExpressible: the layout says what the checker's terms cannot.
    """
    along = extent_of(layout, seam.axis)
    own = Extent(f"{along.name}~")
    piece = instantiate(layout, {along.name: own})
    common = ground(layout, more=(replace(piece, where=()),))
    said = common.vocabulary
    whole, part = (said.term(each.coordinates[seam.coordinate].extent) for each in (layout, piece))
    extent, rows = extent_name(along.name), extent_name(own.name)
    end: Term = ("+", ("*", seam.unit, "t"), rows)
    given = [*common.hypotheses, ("<=", 0, "t")]
    given += [("=", common.radix(number), 1) for number in range(seam.coordinate)]
    inside = tuple(map(said.condition, piece.where))

    def theorem(name: str, more: tuple[Term, ...], goal: Term, *variables: str) -> Theorem:
        every = (*common.variables, "t", *variables)
        return Theorem(name, every, (*given, *more), (goal, *inside), common.definitions)

    units: Term = ("=", rows, ("*", seam.unit, "u"))
    inner: Term = ("=", part, ("*", seam.blocks, "u"))
    last: Term = ("=", ("+", ("*", seam.blocks, "t"), part), whole)
    return (
        theorem("inner", (("<=", 1, "u"), units, ("<=", end, extent)), inner, "u"),
        theorem("last", (("=", end, extent),), last),
    )
