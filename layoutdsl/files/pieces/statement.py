"""What has to hold of a seam, for all shapes. Trusted.

A piece starts ``unit*t`` indices along the axis and has an extent of its own there. Where every
coordinate before that of the seam has one value:

* place: an element of the piece lies ``blocks*t`` blocks, of as many slots as the coordinates after
  that of the seam have, further than where the layout puts it in a tensor of the piece's size;
* inner: a piece of ``u`` units has ``blocks*u`` blocks, so the next one starts where it ends;
* last: a piece that ends with the axis ends with the buffer.

With that, pieces one after the other start at 0, each where the one before ends, the last at the
end: their ranges of the axis and of the buffer are disjoint and cover all. A piece is in the range
of shapes of the layout, so what was proved of the layout holds of it. All of this is said of the
layout without its outermost tuples; flat says that it is the same layout.
"""

from __future__ import annotations

from dataclasses import replace

from layoutdsl.code.seams import Seam, extent_of, flat, of_piece, piece_extent
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Coordinate, MixedRadix
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.statements.statement import OTHER, encoding, ground
from layoutdsl.proof.statements.terms import Vocabulary, extent_name, index_name


def alike(layout: Layout) -> Theorem:
    """Without its outermost tuples the layout is as large, and every index has the same offset."""
    common = ground(layout, more=(flat(layout),))
    plain = Vocabulary(
        {expr: name for expr, name in common.vocabulary.shared.items() if name.startswith("m.")},
        axes=common.vocabulary.axes,
    )
    one, other = layout.coordinates, flat(layout).coordinates
    return Theorem(
        "flat",
        (*common.variables, *(index_name(axis.name) for axis in layout.axes)),
        common.hypotheses,
        (
            ("=", plain.term(MixedRadix(one)), plain.term(MixedRadix(other))),
            ("=", _product(plain, one), _product(plain, other)),
        ),
    )


def _product(vocabulary: Vocabulary, coordinates: tuple[Coordinate, ...]) -> Term:
    total: Term = 1
    for each in coordinates:
        total = ("*", total, vocabulary.term(each.extent))
    return total


class SeamStatement:
    """The theorems about one seam of a flat layout.

    Attributes:
        whole: what speaks of the whole tensor.
        piece: what speaks of the piece.
    """

    def __init__(self, layout: Layout, seam: Seam) -> None:
        local = of_piece(layout, seam.axis)
        self.seam = seam
        self.whole = ground(layout, more=(replace(local, where=()),))
        axes = {axis.name: axis.extent for axis in local.axes}
        self.piece = replace(
            self.whole, layout=local, vocabulary=replace(self.whole.vocabulary, axes=axes)
        )
        start: Term = ("+", index_name(seam.axis), ("*", seam.unit, "t"))
        self.moved = replace(self.whole.vocabulary, indices={seam.axis: start})
        self.extent = extent_name(extent_of(layout, seam.axis).name)
        self.own = extent_name(piece_extent(layout, seam.axis).name)
        self.end: Term = ("+", ("*", seam.unit, "t"), self.own)
        first = (("=", self.whole.radix(number), 1) for number in range(seam.coordinate))
        self.given = (*self.whole.hypotheses, ("<=", 0, "t"), *first)

    def all(self) -> tuple[Theorem, ...]:
        """Return the theorems.

        Raises:
            NotExpressible: the layout says what the checker's terms cannot.
        """
        return self._place(), self._inner(), self._last()

    def _name(self, theorem: str) -> str:
        return f"seam.{self.seam.coordinate}.{theorem}"

    def _place(self) -> Theorem:
        layout, last = self.whole.layout, len(self.whole.layout.coordinates) - 1
        hypotheses: list[Term] = [*self.given, ("<=", self.end, self.extent)]
        for axis in layout.axes:
            own = self.own if axis.name == self.seam.axis else self.whole.extent(axis.name)
            hypotheses += [("<=", 0, index_name(axis.name)), ("<", index_name(axis.name), own)]
        values = [each.value for each in layout.coordinates]
        goals: list[Term] = [*self.moved.assumptions(*values)]
        goals += self.piece.vocabulary.assumptions(*values)
        further: Term = ("*", self.seam.blocks, "t")
        block: Term = 1
        for number in range(last + 1):
            moved: Term = f"v.{number}{OTHER}"
            if number == self.seam.coordinate:
                moved = ("+", moved, further)
            else:
                goals.append(("=", self.whole.radix(number), self.piece.radix(number)))
            goals.append(("=", f"v.{number}", moved))
            if number > self.seam.coordinate:
                block = ("*", block, self.whole.radix(number))
        place: Term = ("+", ("*", further, block), f"h.{last}{OTHER}")
        goals.append(("=", f"h.{last}", place))
        if layout.start != ZERO:
            starts = (each.vocabulary.term(each.layout.start) for each in (self.whole, self.piece))
            goals.append(("=", *starts))
        definitions = (
            *self.whole.definitions,
            *encoding(self.whole, self.moved, "", "slot"),
            *encoding(self.piece, self.piece.vocabulary, OTHER, f"slot{OTHER}"),
        )
        variables = (*self.whole.variables, "t", *(index_name(axis.name) for axis in layout.axes))
        return Theorem(self._name("place"), variables, tuple(hypotheses), tuple(goals), definitions)

    def _inner(self) -> Theorem:
        units: Term = ("*", self.seam.unit, "u")
        hypotheses = (("<=", 1, "u"), ("=", self.own, units), ("<=", self.end, self.extent))
        goal: Term = ("=", self.piece.radix(self.seam.coordinate), ("*", self.seam.blocks, "u"))
        return self._extents("inner", ("t", "u"), hypotheses, goal)

    def _last(self) -> Theorem:
        radix = self.piece.radix(self.seam.coordinate)
        end: Term = ("+", ("*", self.seam.blocks, "t"), radix)
        goal: Term = ("=", end, self.whole.radix(self.seam.coordinate))
        return self._extents("last", ("t",), (("=", self.end, self.extent),), goal)

    def _extents(
        self, name: str, variables: tuple[str, ...], hypotheses: tuple[Term, ...], goal: Term
    ) -> Theorem:
        conditions = map(self.piece.vocabulary.condition, self.piece.layout.where)
        return Theorem(
            self._name(name),
            (*self.whole.variables, *variables),
            (*self.given, *hypotheses),
            (goal, *conditions),
            self.whole.definitions,
        )
