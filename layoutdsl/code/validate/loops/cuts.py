"""Where a number below a count is cut into digits, so that each lies in one coordinate of a box.

Any blocks are right that divide each other, and the count: what is below ``a*b`` is ``x + a*y`` for
one ``x`` below ``a`` and one ``y`` below ``b``. These are those within which coordinates end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from math import gcd

from layoutdsl.code.validate.normal import Normal
from layoutdsl.proof.kernel.checker import Term
from layoutdsl.proof.tactics.polynomials import canonical


def cuts(
    normal: Normal, count: Term, choices: Iterable[Collection[int]]
) -> Iterator[tuple[int, Term]]:
    """Yield blocks, and how many there are of each.

    Args:
        normal: of the terms.
        count: what the number stays below.
        choices: steps after which coordinates end; the first that may all be cut at are.
    """
    blocks = [1]
    for reaches in choices:
        found = _within(normal, count, reaches)
        if all(above % below == 0 for below, above in pairwise(found)):
            blocks = found
            break
    for below, above in pairwise(blocks):
        yield below, above // below
    if blocks[-1] != count:
        yield blocks[-1], _divided(normal, count, blocks[-1])


def _within(normal: Normal, count: Term, reaches: Iterable[int]) -> list[int]:
    """Blocks within a count, from 1 on; where it is a number, they have to divide it too."""
    if isinstance(count, int):
        inside = sorted({1, *(each for each in reaches if each < count)})
        return inside if count % inside[-1] == 0 else [*inside, count]
    whole = _factor(normal, count)
    return sorted({1, *(each for each in reaches if whole % each == 0)})


def reaches(box: tuple[Term, ...], stride: int = 1) -> Iterator[int]:
    """Yield the steps of so many slots that the last coordinates have, where these are numbers."""
    reach = 1
    for extent in reversed(box):
        if not isinstance(extent, int):
            return
        reach *= extent
        if reach % stride == 0:
            yield reach // stride


def _factor(normal: Normal, term: Term) -> int:
    """A number that a term is a multiple of."""
    match term:
        case ("min" | "max", left, right):
            return gcd(_factor(normal, left), _factor(normal, right))
    return gcd(*normal.polynomial(term).values())


def _divided(normal: Normal, term: Term, block: int) -> Term:
    match term:
        case int():
            return term // block
        case _ if block == 1:
            return term
        case (("min" | "max") as word, left, right):
            return (word, _divided(normal, left, block), _divided(normal, right, block))
    found = normal.polynomial(term)
    return canonical({factors: number // block for factors, number in found.items()})
