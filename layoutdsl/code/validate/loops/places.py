"""Where an offset lies in a box: its coordinates, by which all is said of it. Trusted."""

from __future__ import annotations

from layoutdsl.code.validate.loops.sides import Side
from layoutdsl.code.validate.normal import Normal
from layoutdsl.code.validate.terms import Meaningless, horner
from layoutdsl.proof.kernel.checker import Polynomial, Term, total
from layoutdsl.proof.tactics.polynomials import canonical, exact_quotient


def placed(normal: Normal, side: Side, offset: Term) -> tuple[Term, ...]:
    """Return the coordinates of an offset in a box, which may lie outside of it.

    Each product of the offset is divided by the largest stride that it is a multiple of; where that
    is a sum, all of it has to be there. Of a number what is left goes to smaller strides: 5 is
    2*2 + 1. That is a guess, from which the offset is calculated.

    Raises:
        Meaningless: what was guessed is another offset.
    """
    strides: list[Term] = [1] if side.box else []  # a box without axes is one element
    for extent in reversed(side.box[1:]):
        strides.append(normal.form(("*", strides[-1], extent)))
    rest, places = normal.polynomial(("-", offset, side.start)), list[Term]()

    def all_of(part: Polynomial, stride: Term) -> set[tuple[Term, ...]]:
        return set(normal.polynomial(("*", canonical(part), stride)))

    for stride in reversed(strides):
        leading = max(normal.polynomial(stride).items(), key=lambda each: len(each[0]))
        parts = [_quotient(each, leading) for each in rest.items()]
        whole = [each for each in parts if each is not None and all_of(each, stride) <= set(rest)]
        places.append(canonical(total([(each, 1) for each in whole])))
        rest = normal.polynomial(("-", canonical(rest), ("*", places[-1], stride)))
    joined = ("+", side.start, horner(tuple(places), side.box))
    if normal.form(joined) != normal.form(offset):
        raise Meaningless("an offset is no place")
    return tuple(places)


def _quotient(
    product: tuple[tuple[str, ...], int], stride: tuple[tuple[str, ...], int]
) -> Polynomial | None:
    (factors, weight), (others, step) = product, stride
    if not factors and not others and weight > step > 0:
        return {(): weight // step}
    return exact_quotient({factors: weight}, {others: step})
