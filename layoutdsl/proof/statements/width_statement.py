"""What has to be shown of offsets and intermediate values in integers of some width. Trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.integers.bounds import ZERO, at_least, reach
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
    indices,
    text,
    walk,
)
from layoutdsl.language.meaning.elements import ElementType, IntegerType
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.checker import Term, Theorem
from layoutdsl.proof.statements.claim_statement import of_elements, offset
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import NotExpressible, Vocabulary


def offsets_fit(ground: Ground, largest: int, element: ElementType | None = None) -> Theorem:
    """The offset of every element is between 0 and ``largest``.

    With an element type, so is the byte of each of its bits: the last is ``bits*(left + 1) - 1``.
    """
    evident = replace(ground.vocabulary, axes={})
    definitions = (("left", offset(ground.layout, evident)),)
    goal: Term = ("<=", "left", largest)
    if element is not None:
        goal = ("<=", ("*", element.bits, ("+", "left", 1)), 8 * (largest + 1))
    return of_elements(ground, "offsets", definitions, (("<=", 0, "left"), goal))


def computes(ground: Ground, type_: IntegerType) -> Theorem:
    """Every value on the way to the offset of an element is a value of the integer type.

    Raises:
        NotExpressible: C has no expression for the offset that divides nothing negative.
    """
    plain = Vocabulary(
        {expr: name for expr, name in ground.vocabulary.shared.items() if name.startswith("m.")}
    )
    goals: list[Term] = []
    for each in worked_out(ground.layout):
        value = plain.term(each)
        goals += [("<=", type_.least, value), ("<=", value, type_.largest)]
    return of_elements(ground, "computes", (), tuple(dict.fromkeys(goals)))


def worked_out(layout: Layout) -> tuple[Expr, ...]:
    """Return every value that C works out on the way to an offset, as the formula says it.

    ``ceil(E/k)`` is printed as ``(E - 1)/k + 1``, so ``E + k - 1`` is not among them.

    Raises:
        NotExpressible: something that may be negative is divided, or ``E`` may not be positive.
    """
    axes = {axis.name: axis.extent for axis in layout.axes}
    whole: Expr = MixedRadix(layout.coordinates)
    found = list(_parts(whole, axes))
    if layout.start != ZERO:
        found += [*_parts(layout.start, axes), Add(layout.start, whole)]
    return tuple(dict.fromkeys(found))


def _parts(expr: Expr, axes: Mapping[str, Expr]) -> Iterator[Expr]:
    """Yield what an expression is worked out from, and then its own value."""
    match expr:
        case MixedRadix(parts):
            so_far = parts[0].value
            yield from _parts(so_far, axes)
            for part in parts[1:]:
                scaled = Mul(so_far, part.extent)
                so_far = Add(scaled, part.value)
                yield from (*_parts(part.extent, axes), scaled)
                yield from (*_parts(part.value, axes), so_far)
        case CeilDiv(left, right):
            if not (at_least(left, 1) and not indices(left)):
                raise NotExpressible(f"`{text(expr)}` may round up what is not positive")
            less = Sub(left, Constant(1))
            yield from (*_parts(left, axes), *_parts(right, axes), less, FloorDiv(less, right))
            yield expr
        case Index() | Extent() | Constant():
            yield expr
        case _:
            yield from (*_parts(expr.left, axes), *_parts(expr.right, axes))
            if isinstance(expr, FloorDiv | Mod):
                bound = reach(expr.left, axes)
                below = any(isinstance(each, Sub) for each in walk(expr.left))
                if below or bound is None or not at_least(bound.low, 0):
                    raise NotExpressible(f"`{text(expr)}` may divide what is negative")
            yield expr
