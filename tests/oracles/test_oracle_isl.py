"""isl, which knows nothing of us, says the same of digit maps: one to one, and onto their boxes.

The offset is beyond isl, as products of extents are not affine; the map from indices to coordinates
is affine where blocks are numbers, and parametric in every extent.
"""

from __future__ import annotations

import pytest
from texts import LIBRARY

import layoutdsl
from layoutdsl import Layout
from layoutdsl.commands import claims_of
from layoutdsl.language.digits.inverse import Inverse, invert
from layoutdsl.language.digits.network import NotDigits, network
from layoutdsl.language.integers.expr import (
    Add,
    CeilDiv,
    Constant,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
)
from layoutdsl.language.meaning.model import Condition
from layoutdsl.proof.prover.check import check

isl = pytest.importorskip("islpy")

SYMBOL = {Add: "+", Sub: "-", Mul: "*"}


class NotAffineError(Exception):
    """isl has no word for it."""


def affine(expr: Expr) -> str:
    match expr:
        case Index(name) | Extent(name):
            return name
        case Constant(value):
            return str(value)
        case FloorDiv(left, Constant(block)):
            return f"floor(({affine(left)})/{block})"
        case CeilDiv(left, Constant(block)):
            return f"ceil(({affine(left)})/{block})"
        case Mod(left, Constant(block)):
            return f"(({affine(left)}) mod {block})"
        case Add(left, right) | Sub(left, right):
            return f"({affine(left)} {SYMBOL[type(expr)]} {affine(right)})"
        case Mul(left, Constant(block)) | Mul(Constant(block), left):
            return f"({block}*{affine(left)})"
    raise NotAffineError(str(expr))


def condition(each: Condition) -> str:
    operator = "=" if each.operator == "==" else each.operator
    return f"{affine(each.left)} {operator} {affine(each.right)}"


def opened(layout: Layout) -> list[tuple[str, str]]:
    """Every coordinate as isl writes it, with its extent; tuples as their parts."""
    pending, found = list(layout.coordinates), list[tuple[str, str]]()
    while pending:
        each = pending.pop(0)
        if isinstance(each.value, MixedRadix):
            pending = [*each.value.parts, *pending]
        else:
            found.append((affine(each.value), affine(each.extent)))
    return found


def compared(layout: Layout) -> bool:
    """Whether isl was asked: one to one within the shape, and onto the box from the padded one."""
    inverse = invert(layout)
    if layout.domain or isinstance(network(layout), NotDigits) or not isinstance(inverse, Inverse):
        return False
    try:
        places = opened(layout)
        padded = [affine(extent) for _, extent in inverse.padded]
        shape = [affine(axis.extent) for axis in layout.axes]
        range_ = [
            f"{affine(c.left)} {c.operator.replace('==', '=')} {affine(c.right)}"
            for c in layout.where
        ]
    except NotAffineError:
        return False
    names = [axis.name for axis in layout.axes]
    positive = [f"{symbol} >= 1" for symbol in layout.symbols]
    parameters = f"[{', '.join(layout.symbols)}] -> "
    outputs = ", ".join(value for value, _ in places)

    def digits(extents: list[str]) -> object:
        inside = [f"0 <= {n} < {extent}" for n, extent in zip(names, extents, strict=True)]
        words = " and ".join([*inside, *positive, *range_])
        return isl.Map(f"{parameters}{{ [{', '.join(names)}] -> [{outputs}] : {words} }}")

    slots = [f"x{number}" for number in range(len(places))]
    inside = [f"0 <= {x} < {extent}" for x, (_, extent) in zip(slots, places, strict=True)]
    box = isl.Set(
        f"{parameters}{{ [{', '.join(slots)}] : {' and '.join([*inside, *positive, *range_])} }}"
    )
    elements, whole = digits(shape), digits(padded)
    assert elements.is_injective()
    assert elements.range().is_subset(box)
    assert whole.is_injective()
    if not inverse.guards:
        assert whole.range().is_equal(box)
    return True


@pytest.mark.slow
def test_digit_maps_are_what_isl_says_of_them(record_property: object) -> None:
    asked = [name for name, layout in LIBRARY.items() if compared(layout)]
    record_property("compared", len(asked))  # type: ignore[operator]
    assert len(asked) >= 25


def test_isl_refuses_what_we_refute() -> None:
    layout = layoutdsl.parse("layout Bad(n, c) = [n, c/16, c%8]\nrefute Bad")["Bad"]
    assert check(claims_of(layout)[0]).status == "refuted"
    lost = isl.Map("[C] -> { [c] -> [floor(c/16), c mod 8] : 0 <= c < C and C >= 1 }")
    assert not lost.is_injective()
