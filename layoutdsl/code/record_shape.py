"""What the moves of a record have to know of it, in plain values and functions of a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from layoutdsl.code.numpy.record_parts import _Field, _FieldPart
from layoutdsl.code.placed import Placed
from layoutdsl.language.integers.expr import Constant, Expr
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import ZERO, Layout
from layoutdsl.language.meaning.part import part_size
from layoutdsl.language.meaning.record import Field, Record

ModuleOf = Callable[[Layout], Any]


def item(element: ElementType) -> str:
    """Return what elements travel in, as numpy calls it: ``u1``, ``f2``."""
    kind, width = element.item
    return f"{kind}{width}"


def stored_as(placed: Placed) -> str:
    """Return what an item of a part is, as numpy calls it."""
    element = placed.items.element
    assert element is not None, "a part says of what type it is"
    return item(element)


def field_of(field: Field) -> _Field:
    """Return what the moves have to know of a field."""
    element = field.element
    narrow = None if element.fills_item else element.values
    return _Field(
        field.name,
        item(element),
        element.bits,
        element.kind == "i",
        narrow,
        len(field.parts),
        len(field.extents),
        field.shape,
    )


def part_of(placed: Placed, module_of: ModuleOf) -> _FieldPart:
    """Return what the moves have to know of a part."""
    part = placed.part
    digits = [each for picks in part.picks for each in picks]
    window = placed.window

    def module(values: Mapping[str, int]) -> Any:
        own = part.shape(values)
        given = {name: own[name] for name in placed.items.parameters}
        return module_of(placed.items.with_parameters(**given))

    return _FieldPart(
        part.field,
        module,
        lambda values: tuple(evaluate(each.extent, values) for each in digits),
        (*(slice(None) if each.name else each.fixed for each in digits), ...),
        lambda values: tuple(evaluate(each, values) for each in shape_exprs(placed)),
        item(part.element),
        part.low,
        part.element.bits,
        part.element.kind == "i",
        part.whole,
        stored_as(placed),
        placed.bits,
        placed.shift,
        placed.by_bit,
        lambda values: (
            evaluate(part.in_bits.start, part.shape(values)),
            part_size(part, values),
        ),
        None if window is None else (window.block, window.first, window.count),
    )


def shape_exprs(placed: Placed) -> tuple[Expr, ...]:
    """Return the extents of the tensor of items, over those of the record."""
    found = tuple(placed.part.extents().values())
    return found if placed.by_bit else found[:-1]


def box(record: Record, parts: Sequence[Placed], values: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of the buffer, in bytes.

    Raises:
        ValueError: it fills no whole bytes.
    """
    bits = record.size_bits_at(values)
    if bits % 8:
        raise ValueError(f"the {bits} bits of `{record.name}` fill no whole bytes")
    leads = [lead_exprs(placed) for placed in parts]
    shapes = {None if each is None else _evaluated(each, values) for each in leads}
    first = all(each.start == ZERO for each in record.laid)
    if first and len(shapes) == 1 and parts[0].window is not None:
        (lead,) = shapes
        if lead is not None:
            return (*lead, parts[0].window.block)
    return (bits // 8,)


def _evaluated(exprs: Sequence[Expr], values: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(evaluate(each, values) for each in exprs)


def lead_exprs(placed: Placed) -> tuple[Expr, ...] | None:
    """Return the dimensions of a part before its blocks, over extents of the record; or none."""
    if placed.window is None:
        return None
    coordinates = placed.part.over_record.coordinates
    size, count = 8 * placed.window.block, 0
    for each in reversed(coordinates):
        if size == 1:
            break
        assert isinstance(each.extent, Constant), "a block is a number of bits"
        size //= each.extent.value
        count += 1
    return tuple(each.extent for each in coordinates[: len(coordinates) - count])
