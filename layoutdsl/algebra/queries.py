"""Questions about layouts: strides, vectors, alignment, contiguous runs, common blocks.

The value of an answer is read off the digits of the layout, which is not trusted; the finding of
the answer is the proof that the value is right for all shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from layoutdsl.algebra.maps import Given, given
from layoutdsl.algebra.spelling import canonical
from layoutdsl.algebra.theorems import made
from layoutdsl.language.integers.bounds import ONE, ZERO, polynomial
from layoutdsl.language.integers.digit import Digit, exact_quotient, nested, same, times
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Index,
    Mul,
    substitute,
    text,
)
from layoutdsl.language.meaning.claims import (
    Aligns,
    Claim,
    EqualsFormula,
    EqualsLayout,
    Keeps,
)
from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr
from layoutdsl.proof.prover.check import attempt, check
from layoutdsl.proof.prover.verdict import Finding, Proved

MOST_ALIGNED = 1 << 30
"""The alignment of a layout that is one run: every run begins at slot 0."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer about a layout, for all shapes.

    Attributes:
        value: a number, or an expression in extents such as ``16*H*W``; ``None`` if there is none.
        findings: what was found of each layout that the answer is about.
    """

    value: int | Expr | None
    findings: tuple[Finding, ...] = ()

    def __bool__(self) -> bool:
        """Return `proved`."""
        return self.proved

    def __str__(self) -> str:
        if self.value is None:
            return "none"
        return str(self.value) if isinstance(self.value, int) else text(self.value)

    @property
    def proved(self) -> bool:
        """Whether the value is proved for all shapes."""
        found = all(isinstance(each, Proved) for each in self.findings)
        return self.value is not None and bool(self.findings) and found


def _answer(value: Expr | None, *findings: Finding) -> Answer:
    return Answer(value.value if isinstance(value, Constant) else value, findings)


def stride(layout: Given, axis: str, /) -> Answer:
    """Return by how many slots the offset grows for each step along an axis, if always as many.

    >>> str(stride("NCHW16c", "h")), str(stride("NCHW16c", "c"))
    ('16*W', 'none')

    Args:
        layout: a layout, or the name of one in the library.
        axis: the name of an axis.

    Raises:
        ValueError: there is no such axis.
    """
    a = given(layout)
    if axis not in [each.name for each in a.axes]:
        axes = ", ".join(each.name for each in a.axes)
        raise ValueError(f"`{a.name}` has no axis `{axis}`; it has {axes}")
    if next(each.extent for each in a.axes if each.name == axis) == ONE:
        value: Expr = ZERO  # one index takes no step
    else:
        digits = canonical(a)
        mine = [] if digits is None else [x for x in digits.terms if x[0].whole == Index(axis)]
        if len(mine) != 1 or mine[0][0].divisor != ONE or mine[0][0].radix is not None:
            return Answer(None)
        value = mine[0][1]
    formula = Add(substitute(offset_expr(a), {axis: ZERO}), Mul(Index(axis), value))
    return _answer(value, attempt(Claim("prove", a, EqualsFormula(formula))))


def is_view(layout: Given, /) -> bool:
    """Return whether every axis has a proved stride, as tensors of NumPy, PyTorch and DLPack have.

    >>> is_view("NHWC"), is_view("NCHW16c")
    (True, False)

    Args:
        layout: a layout, or the name of one in the library.
    """
    a = given(layout)
    return all(stride(a, axis.name).proved for axis in a.axes)


def contiguous_run(layout: Given, /) -> tuple[Digit, ...]:
    """Return the digits whose elements are adjacent in the buffer, the fastest first.

    The digits are a reading of the coordinates; `vector_width` and `common_run` prove a part.

    >>> [text(each.value) for each in contiguous_run("NCHW16c")]
    ['c%16', 'w', 'h', 'c/16', 'n']

    Args:
        layout: a layout, or the name of one in the library.
    """
    found = canonical(given(layout))
    chain: list[Digit] = []
    reached: Expr = ONE
    while found is not None:
        following = [digit for digit, weight in found.terms if same(weight, reached)]
        limit = found.limit(following[0]) if len(following) == 1 else None
        if limit is None or same(limit, ONE) or not isinstance(following[0].whole, Index):
            break
        chain.append(following[0])
        reached = times(reached, limit)
    return tuple(chain)


def vector_width(layout: Given, /, axis: str | None = None) -> Answer:
    """Return how many elements along one axis are adjacent in every run of them.

    >>> str(vector_width("NCHW16c")), str(vector_width("NCHW16c", "w"))
    ('16', '1')

    Args:
        layout: a layout, or the name of one in the library.
        axis: the axis of the vector; by default the one that moves fastest in the buffer.
    """
    a = given(layout)
    chain = contiguous_run(a)[:1]
    if not chain or axis not in (None, _axis(chain[0])):
        return Answer(1)
    length, run = _run(a, chain)
    return _answer(length, attempt(Claim("prove", a, Keeps(run))))


def alignment(layout: Given, /) -> Answer:
    """Return a number of elements of which the start of every vector is a multiple.

    A vector is a run of `vector_width` elements; the buffer starts at slot 0.

    >>> alignment("NCHW16c").value
    16

    Args:
        layout: a layout, or the name of one in the library.
    """
    a = given(layout)
    chain, found = contiguous_run(a)[:1], canonical(a)
    if found is None or not chain:
        return Answer(1)
    others = [weight for digit, weight in found.terms if digit not in chain]
    numbers = [n for each in (*others, found.constant) for n in polynomial(each).values()]
    number = gcd(*numbers) or MOST_ALIGNED
    claim = Claim("prove", a, Aligns(_run(a, chain)[1], number, ELEMENT_TYPES["u8"]))
    return Answer(number, (attempt(claim),))


def is_contiguous(layout: Given, /) -> Answer:
    """Return whether elements are stored row-major in the order of the axes, without padding.

    The value is the stride of the last axis, 1, or ``None``; a finding that is refuted has the
    smallest shape.

    >>> bool(is_contiguous("NCHW")), bool(is_contiguous("NHWC"))
    (True, False)

    Args:
        layout: a layout, or the name of one in the library.
    """
    a = given(layout)
    places = tuple(Coordinate(Index(axis.name), axis.extent) for axis in a.axes)
    nothing = (Coordinate(ZERO, ONE),)
    plain = made(Layout("row_major", a.axes, places or nothing, copies=a.copies))
    (found,) = check(Claim("prove", a, EqualsLayout(plain))).findings
    return Answer(1 if isinstance(found, Proved) else None, (found,))


def common_run(layout: Given, other: Given, /) -> Answer:
    """Return how many elements can be moved at once from one buffer to the other.

    >>> common_run("NCHW16c", "NHWC").value
    16

    Args:
        layout: a layout, or the name of one in the library.
        other: a layout with the same axes.

    Raises:
        ValueError: the layouts have other axes.
    """
    a, b = given(layout), given(other)
    if {axis.name for axis in a.axes} != {axis.name for axis in b.axes}:
        raise ValueError(f"`{a.name}` and `{b.name}` have other axes: rename them")
    chain: list[Digit] = []
    for one, two in zip(contiguous_run(a), contiguous_run(b), strict=False):
        shorter = _shorter(one, two)
        if shorter is None:
            break
        chain.append(shorter)
        if one.radix != two.radix:
            break
    if not chain:
        return Answer(1)
    length, run = _run(a, tuple(chain))
    return _answer(length, *(attempt(Claim("prove", each, Keeps(run))) for each in (a, b)))


def _shorter(one: Digit, other: Digit) -> Digit | None:
    """The digit that both have: the one that ends first, if it divides the other."""
    if one.whole != other.whole or not same(one.divisor, other.divisor):
        return None
    ends = [each for each in (one, other) if each.radix is not None]
    for each in ends:
        assert each.radix is not None
        if all(
            x.radix is not None and exact_quotient(x.radix, each.radix) is not None for x in ends
        ):
            return each
    return None if ends else one


def refinement(layout: Given, other: Given, /) -> dict[str, list[int | Expr]] | None:
    """Return where either layout cuts each axis; ``None`` if two cuts do not divide one another.

    >>> refinement("NCHW16c", "NCHW4c")["c"]
    [4, 16]

    Args:
        layout: a layout, or the name of one in the library.
        other: a layout with the same axes.
    """
    cuts: dict[str, list[Expr]] = {}
    for found in (canonical(given(layout)), canonical(given(other))):
        for digit, _ in () if found is None else found.terms:
            here = cuts.setdefault(_axis(digit), [])
            for end in (digit.divisor, digit.end):
                if end is not None and not any(same(end, each) for each in (*here, ONE)):
                    here.append(end)
    ordered: dict[str, list[int | Expr]] = {}
    for axis, places in cuts.items():
        one = nested(places, lambda end: end)
        if one is None:
            return None
        ordered[axis] = [each.value if isinstance(each, Constant) else each for each in one]
    return ordered


def _axis(digit: Digit) -> str:
    return digit.whole.name if isinstance(digit.whole, Index) else text(digit.whole)


def _run(layout: Layout, chain: tuple[Digit, ...]) -> tuple[Expr, tuple[Coordinate, ...]]:
    """How many elements a run has, and the run as claims state it."""
    sizes = {axis.name: axis.extent for axis in layout.axes}
    places = [Coordinate(each.value, each.steps(sizes[_axis(each)])) for each in reversed(chain)]
    total: Expr = ONE
    for place in places:
        total = times(total, place.extent)
    return total, tuple(places)
