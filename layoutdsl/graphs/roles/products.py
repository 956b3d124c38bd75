"""Products of matrices: what is summed lies last in one factor, and first in the other.

Rows and columns may be several axes each, cut into digits: as buffers they are matrices then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from layoutdsl.graphs.placings.placing import Placing
from layoutdsl.graphs.roles.bound import Bound, Bundle
from layoutdsl.graphs.roles.roles import Joint, Mark, Template, factors, projected


def from_product(bound: Bound, rows: Joint, made: Joint) -> Template | None:
    """Return a product of matrices by where its first operand lies, and the columns of its result.

    What is summed lies last, in whatever order; the other factor, which follows, has it in the same
    order before its own axes. Axes that both have lie first.
    """
    factor = factors(bound)
    one, other = (bound.operands[number] for number in factor[:2])
    result = bound.results[0]
    if len(factor) != 2 or one is None or other is None or result is None:
        return None
    shared = {a for a in one.labels if a in other.labels and bound.roles.get(a) != "sum"}
    shared = {a for a in shared if _extent(one, a) == _extent(other, a) > 1}
    kinds = [_kind(bound, shared, mark.label) for mark in rows]
    if kinds != sorted(kinds) or not all(_kind(bound, shared, each.label) == 1 for each in made):
        return None
    summed = tuple(mark for mark in rows if bound.roles.get(mark.label) == "sum")
    left = rows[: len(rows) - len(summed)]
    batch = tuple(mark for mark in left if mark.label in shared)
    placings = {
        factor[0]: projected(bound, one, rows),
        factor[1]: projected(bound, other, (*batch, *summed, *made)),
    }
    results = projected(bound, result, (*left, *made))
    takes: list[Placing | None] = []
    for number, each in enumerate(bound.operands):
        own = None if each is None else placings.get(number, projected(bound, each, made))
        if each is not None and own is None:
            return None
        takes.append(own)
    return None if results is None else Template(tuple(takes), (results,), "product")


def _kind(bound: Bound, shared: Iterable[str], label: str) -> int:
    """Batches come first, then rows, then what is summed."""
    return 0 if label in shared else 2 if bound.roles.get(label) == "sum" else 1


def _extent(bundle: Bundle, label: str) -> int:
    return bundle.shape[bundle.labels.index(label)]


def columns(bound: Bound, joint: Joint) -> Iterator[tuple[Joint, Joint]]:
    """Yield the digits of a product's result, apart: those of its rows, and of its columns."""
    one = bound.operands[factors(bound)[0]]
    assert one is not None
    runs = [(own, tuple(run)) for own, run in groupby(joint, lambda mark: mark.label in one.labels)]
    match runs:
        case []:
            yield (), ()
        case [(True, rows)]:
            yield rows, ()
        case [(False, made)]:
            yield (), made
        case [(True, rows), (False, made)]:
            yield rows, made


def whole_columns(bound: Bound) -> Joint:
    """Return the axes of a product's result that its first factor lacks, as written."""
    one, result = bound.operands[factors(bound)[0]], bound.results[0]
    assert one is not None
    assert result is not None
    marks = (
        Mark(label, 1, bound.extents[label])
        for label in result.labels
        if label not in one.labels and bound.extents[label] > 1
    )
    return tuple(marks)
