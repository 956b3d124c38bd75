"""The ratio of a layout cut into quotients small enough to be proved one by one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import zip_longest

from layoutdsl.language.integers.bounds import ONE
from layoutdsl.language.integers.expr import Constant, Expr
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.padding.along import Undescribed, along
from layoutdsl.proof.padding.quotient import Quotient, parts, per_element, scaled, spoken_of
from layoutdsl.proof.prover.padding import Share


def shares(layout: Layout, most: Fraction) -> tuple[tuple[Share, ...], ...] | None:
    """Return quotients whose bounds together are ``most``; ``None`` where none were found.

    For the slots of the box, and for those before it, the quotients of one tuple are multiplied.
    """
    try:
        found = tuple(tuple(_shares(layout, each)) for each in per_element(layout))
    except Undescribed:
        return None
    total = sum((scaled(each.most for each in row) for row in found), Fraction(0))
    return found if total == most else None


def _shares(layout: Layout, whole: Quotient) -> Iterator[Share]:
    scale = whole.scale
    yield Share(Constant(scale.numerator), Constant(scale.denominator), scale)
    for factor in whole.common:
        yield Share(factor, factor, Fraction(1))
    for names, part in parts(whole, layout.symbols):
        for above, below in zip_longest(part.top, part.bottom, fillvalue=ONE):
            yield Share(above, below, _most(layout, names, above, below))


def _most(layout: Layout, names: tuple[str, ...], above: Expr, below: Expr) -> Fraction:
    if len(names) != 1:
        raise Undescribed("a factor has several extents")
    conditions = [each for each in layout.where if spoken_of(each) <= set(names)]
    found = along(above, below, names[0], conditions)
    if found is None or found.most.value is None:
        raise Undescribed("a factor has no bound")
    return found.most.value
