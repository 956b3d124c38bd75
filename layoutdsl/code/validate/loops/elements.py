"""Which element a store moves: its index, from the place in a tensor or box, or from the loops.

But for a place in a tensor these are guesses: that the element lies at both places is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from layoutdsl.code.validate.loops.sides import Sides
from layoutdsl.code.validate.loops.stores import Turning, Variable, Write
from layoutdsl.code.validate.normal import Normal
from layoutdsl.code.validate.terms import Meaningless, horner
from layoutdsl.proof.kernel.checker import Term, substitute


def element(sides: Sides, store: Write) -> tuple[Term, ...]:
    """Return the index of the element that a store moves.

    Raises:
        Meaningless: nothing tells which it is.
    """
    assert store.source is not None
    if sides.target.is_tensor and not sides.source.is_tensor:
        return store.target
    if sides.source.is_tensor:
        return store.source
    if sides.source.is_flat and sides.target.is_flat:
        return tuple(_of_loops(sides, store.here.variables))
    side, place = (sides.source, store.source)
    if side.is_flat or sides.copies:
        side, place = (sides.target, store.target)
    slots = {f"p.{number}": each for number, each in enumerate(place)}
    return tuple(substitute(each, slots) for each in side.index)


def _of_loops(sides: Sides, variables: Sequence[Variable]) -> Iterator[Term]:
    """Loops over the axes in their order; one over blocks of an axis, and then one inside of it."""
    left = list(variables)
    for extent in sides.extents:
        parts = next((p for p, name in sides.normal.fused if name == extent), (extent,))
        values = [_taken(sides.normal, each, left) for each in parts]
        yield sides.normal.form(horner(tuple(values), tuple(parts)))
    if left:
        raise Meaningless("the loops are others than those over the axes")


def _taken(normal: Normal, extent: Term, left: list[Variable]) -> Term:
    """The index of an axis, whose loops are taken away."""
    match left:
        case [Turning(name, count), *_] if count == extent:
            del left[0]
            return name
        case [Turning(name, count), Turning(inner, within), *_]:
            block = within if isinstance(within, int) else -_factor(normal, within, name)
            rounded: Term = ("div", ("+", extent, block - 1), block) if block > 0 else 0
            if count == normal.form(rounded):
                del left[:2]
                return ("+", ("*", block, name), inner)
    raise Meaningless("the loops are others than those over the axes")


def _factor(normal: Normal, term: Term, name: str) -> int:
    return normal.polynomial(term).get((name,), 0)
