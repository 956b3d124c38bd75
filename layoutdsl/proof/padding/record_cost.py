"""What a record costs: the bits of its buffer, those of each field, and those that no field holds.

The ratio is that of the bits of the buffer to the elements of a tensor over the axes of the record:
a block of 18 bytes for 32 numbers of four bits costs 4.5 bits a number, headers included. Formulas
are those of records whose regions follow each other, as those that are proved do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm, prod

from layoutdsl.language.integers.bounds import from_polynomial, polynomial, product
from layoutdsl.language.integers.expr import (
    Add,
    Binding,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Max,
    Min,
    Mod,
    Mul,
    Sub,
    extents,
    substitute,
    text,
)
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import ZERO, Condition, Layout, Shape
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.texts.values import brief
from layoutdsl.proof.padding.cost import Cost
from layoutdsl.proof.padding.cost import cost as cost_of
from layoutdsl.proof.padding.quotient import size

BYTE = 8


@dataclass(frozen=True, slots=True)
class FieldCost:
    """What a field has, as formulas: elements, and the bits that they take."""

    name: str
    element: ElementType
    elements: str
    bits: str


@dataclass(frozen=True, slots=True)
class FieldNumbers:
    """What a field has at one shape.

    Attributes:
        elements: how many.
        bits: that they take.
        ratio: bits of the whole buffer for each of them.
    """

    name: str
    elements: int
    bits: int
    ratio: Fraction


@dataclass(frozen=True, slots=True)
class RecordShapeCost:
    """The cost at one shape; ``padding`` is in bits, below 0 where a wrong record shares some."""

    shape: tuple[tuple[str, int], ...]
    elements: int
    bytes: int
    padding: int
    ratio: Fraction
    fields: tuple[FieldNumbers, ...]

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class RecordCost:
    """What a record costs over its range, as formulas in the language and as exact bounds.

    Attributes:
        record: its name.
        where: the range, condition by condition.
        elements: of a tensor over the axes of the record, as a formula in extents.
        bytes: of the buffer.
        padding: bits that no field holds.
        fields: in the order of the text.
        spread: the bits of the buffer for each element, as those of a layout of slots of one bit.
        at: the numbers at the shape that was asked for.
    """

    record: str
    where: tuple[str, ...]
    elements: str
    bytes: str
    padding: str
    fields: tuple[FieldCost, ...]
    spread: Cost
    at: RecordShapeCost | None

    __repr__ = brief


def record_cost(record: Record, shape: Shape | None = None) -> RecordCost:
    """Return what a record costs.

    Args:
        record: its ``where`` clause is the range.
        shape: gives numbers at this shape as well.

    Raises:
        ValueError: the shape does not fit, or the range has no shape that was found.
    """
    at = None if shape is None else _at(record, record.bind(shape))
    buffer = _buffer(record)
    bits = size(buffer)
    return RecordCost(
        record.name,
        tuple(map(str, record.where)),
        text(product(tuple(axis.extent for axis in record.axes))),
        _bytes(record, bits),
        _padding(record, bits),
        tuple(
            FieldCost(
                each.name,
                each.element,
                text(product(each.extents)),
                text(product((Constant(each.element.bits), *each.extents))),
            )
            for each in record.fields
        ),
        cost_of(buffer),
        at,
    )


def _buffer(record: Record) -> Layout:
    """A layout of slots of one bit over the axes of a record, as large as its buffer."""
    last = record.regions[-1][0].over_record
    box = tuple(Coordinate(ZERO, each.extent) for each in last.coordinates)
    found = Layout(
        record.name,
        record.axes,
        box,
        where=record.where,
        parameters=record.parameters,
        start=last.start,
    )
    whole = _whole(record, size(found))
    if len(polynomial(whole)) != 1:
        return found
    return replace(found, coordinates=(Coordinate(ZERO, _back(record, whole)),), start=ZERO)


def _bytes(record: Record, bits: Expr) -> str:
    terms = polynomial(_whole(record, bits))
    if any(each % BYTE for each in terms.values()):
        return f"ceil({text(bits, Binding.PRODUCT)}/{BYTE})"
    return _said(record, from_polynomial({key: each // BYTE for key, each in terms.items()}))


def _padding(record: Record, bits: Expr) -> str:
    left = bits
    for each in record.fields:
        left = Sub(left, Mul(Constant(each.element.bits), product(each.extents)))
    return _said(record, _whole(record, left))


def _divisors(record: Record) -> dict[str, int]:
    """Numbers that divide extents, as the range says."""
    found: dict[str, int] = {}
    for each in record.where:
        match each:
            case Condition(Mod(Extent(name), Constant(number)), "==", Constant(0)):
                found[name] = lcm(found.get(name, 1), number)
    return found


def _blocks(name: str) -> Extent:
    """An extent divided by what divides it."""
    return Extent(f"{name}'")


def _whole(record: Record, expr: Expr) -> Expr:
    """An equal expression where the range holds: quotients that leave nothing over are none."""
    put: dict[str, Expr] = {
        name: Mul(Constant(number), _blocks(name)) for name, number in _divisors(record).items()
    }
    return _exact(substitute(expr, put))


def _exact(expr: Expr) -> Expr:
    match expr:
        case Add() | Sub() | Mul() | Min() | Max():
            made = type(expr)(_exact(expr.left), _exact(expr.right))
            return made if isinstance(made, Min | Max) else from_polynomial(polynomial(made))
        case FloorDiv(left, Constant(by)) | CeilDiv(left, Constant(by)):
            terms = polynomial(_exact(left))
            if any(each % by for each in terms.values()):
                return expr
            return from_polynomial({key: each // by for key, each in terms.items()})
    return expr


def _back(record: Record, expr: Expr) -> Expr:
    """The expression in extents of the record again."""
    back: dict[str, Expr] = {
        _blocks(name).name: FloorDiv(Extent(name), Constant(number))
        for name, number in _divisors(record).items()
    }
    return substitute(expr, back)


def _said(record: Record, expr: Expr) -> str:
    """A sum of products, the factors of each in the order of the axes."""
    order = [f"{name}{mark}" for name in record.frame.symbols for mark in ("", "'")]

    def place(factor: Expr) -> int:
        return min((order.index(name) for name in extents(factor)), default=len(order))

    total: Expr = ZERO
    for factors, scale in polynomial(expr).items():
        term = product((Constant(abs(scale)), *sorted(factors, key=place)))
        first = total == ZERO and scale > 0
        total = term if first else (Add if scale > 0 else Sub)(total, term)
    return text(_back(record, total))


def _at(record: Record, values: dict[str, int]) -> RecordShapeCost:
    bits = record.size_bits_at(values)
    elements = prod(record.frame.shape_of(values))
    fields = tuple(
        FieldNumbers(each.name, count, count * each.element.bits, Fraction(bits, count))
        for each in record.fields
        for count in [prod(each.shape(values))]
    )
    return RecordShapeCost(
        tuple(values.items()),
        elements,
        -(-bits // BYTE),
        bits - record.elements_bits(values),
        Fraction(bits, elements),
        fields,
    )
