"""A module of a record: `pack` puts its fields into one buffer of bytes, `unpack` takes them out.

What is moved, and how, is said in plain values here; the moves are those of `numpy/record.py`,
which modules that are written out carry, over a module for each part, proved and read back as any.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdsl.codegen.numpy.record import _Field, _Part, _Record
from layoutdsl.codegen.numpy.support import _Array
from layoutdsl.codegen.placed import Placed
from layoutdsl.integers.expr import Constant, Expr, Extent, FloorDiv, Index, Mod, extents, indices
from layoutdsl.integers.value import evaluate
from layoutdsl.meaning.elements import ElementType
from layoutdsl.meaning.model import ZERO, Indices, Layout, Shape
from layoutdsl.meaning.part import part_size
from layoutdsl.meaning.record import Field, Record

Bytes = NDArray[np.uint8]
ModuleOf = Callable[[Layout], Any]


class RecordModule:
    """`pack`, `unpack`, `physical_shape`, `shape_of` and `bit_address` of a record.

    Attributes:
        record: what is packed.
        parts: how each part is moved.
        Fields: the named tuple that `unpack` returns.
    """

    def __init__(self, record: Record, parts: Sequence[Placed], module_of: ModuleOf) -> None:
        self.record, self.parts, self._module_of = record, tuple(parts), module_of
        names = [each.name for each in record.fields]
        self.Fields: Any = namedtuple("Fields", names)  # type: ignore[misc]
        self._moves = _Record(
            record.name,
            record.frame.symbols,
            [field_of(each) for each in record.fields],
            [part_of(each, module_of) for each in parts],
            [each.region for each in parts],
            record.bind,
            partial(box, record, parts),
            tuple(solved(record)),
            rows_along(record),
            all(each.start == ZERO for each in record.laid),
        )

    def __repr__(self) -> str:
        return f"<module of record {self.record.name}>"

    @property
    def FALLBACK(self) -> str | None:  # noqa: N802  (as in a numpy module)
        """Why items of a part are moved one by one; ``None`` where none are."""
        for placed in self.parts:
            if not placed.items.parameters:
                why = self._module_of(placed.items).FALLBACK
                if why is not None:
                    return f"`{placed.part.label}`: {why}"
        return None

    def physical_shape(self, shape: Shape) -> tuple[int, ...]:
        """Return the shape of the buffer, in bytes.

        The dimensions are those of the parts before the blocks, and the bytes of a block, where all
        parts have these; else the buffer is flat.

        Raises:
            ValueError: the record has no such shape, or it fills no whole bytes.
        """
        return self._moves.physical_shape(shape)

    def shape_of(self, /, **fields: _Array) -> dict[str, int]:
        """Return the shape of the record whose fields these are.

        Raises:
            ValueError: a field is missing or unknown, they do not fit together, or do not say an
                extent of the record.
            TypeError: one is no array.
        """
        return self._moves.shape_of(fields)

    def pack(
        self,
        /,
        out: _Array | None = None,
        threads: int = 1,
        shape: Shape | None = None,
        **fields: _Array,
    ) -> Bytes:
        """Return the bytes of a record; bits that no field holds are 0.

        Args:
            out: the buffer to write, of `physical_shape` in bytes; a new one is made without it.
            threads: how many may work at once, 1 to 256.
            shape: of the record; worked out from the fields if left out.
            fields: a tensor for each, in items that its elements travel in.

        Raises:
            ValueError, TypeError: the arguments do not fit; nothing was written.
        """
        return self._moves.pack(fields, out, threads, shape)

    def unpack(self, src: _Array, shape: Shape, threads: int = 1) -> Any:
        """Return the fields of a record as a named tuple; bits that no field holds are not read.

        Args:
            src: the bytes, of `physical_shape(shape)` or flat.
            shape: of the record.
            threads: how many may work at once, 1 to 256.

        Raises:
            ValueError, TypeError: the arguments do not fit.
        """
        return self.Fields(**self._moves.unpack(src, shape, threads))

    def bit_address(self, field: str, index: Indices, bit: int, shape: Shape) -> int:
        """Return where a bit of an element lies, in bits from the start of the buffer.

        Raises:
            ValueError: the field, the index, the bit or the shape does not fit the record.
        """
        return self.record.bit_address(field, index, bit, shape)


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


def part_of(placed: Placed, module_of: ModuleOf) -> _Part:
    """Return what the moves have to know of a part."""
    part = placed.part
    digits = [each for picks in part.picks for each in picks]
    window = placed.window

    def module(values: Mapping[str, int]) -> Any:
        own = part.shape(values)
        given = {name: own[name] for name in placed.items.parameters}
        return module_of(placed.items.with_parameters(**given))

    return _Part(
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


def solved(record: Record) -> list[tuple[str, int, str, int]]:
    """Return which extents of the record follow from fields: field, axis, extent, and a factor."""
    found: dict[str, tuple[str, int, str, int]] = {}
    for field in record.fields:
        for axis, extent in enumerate(field.extents):
            match extent:
                case Extent(name):
                    found.setdefault(name, (field.name, axis, name, 1))
                case FloorDiv(Extent(name), Constant(divisor)) if _divides(record, name, divisor):
                    found.setdefault(name, (field.name, axis, name, divisor))
    return list(found.values())


def _divides(record: Record, name: str, divisor: int) -> bool:
    """Whether the range says that a number divides an extent."""
    for each in record.where:
        match each.left, each.operator, each.right:
            case Mod(Extent(known), Constant(whole)), "==", Constant(0):
                if known == name and whole % divisor == 0:
                    return True
    return False


def rows_along(record: Record) -> str | None:
    """Return the extent along which a record is rows that know nothing of one another; or none.

    It is that of the first axis of every field and the first coordinate of every part, and nothing
    else speaks of it: some rows are a record of their own, which lies in one piece.
    """
    firsts = {each.extents[0] if each.extents else Constant(0) for each in record.fields}
    extent = next(iter(firsts))
    later = any(each.start != ZERO for each in record.laid)
    if len(firsts) > 1 or later or not isinstance(extent, Extent):
        return None
    name = extent.name
    ranged = (side for each in record.where for side in (each.left, each.right))
    if name in record.parameters or any(name in extents(each) for each in ranged):
        return None
    for part in record.parts:
        first, *others = part.layout.coordinates
        axis = part.picks[0][0].name
        spoken = [each for c in others for each in (c.value, c.extent)]
        spoken += [expr for called, expr in part.values if called != name]
        spoken += [each.extent for picks in part.picks[1:] for each in picks]
        alone = not any(axis in indices(e) or name in extents(e) for e in spoken)
        plain = first.value == Index(axis) and first.extent == extent and len(part.picks[0]) == 1
        if not (axis and plain and alone and name not in part.layout.parameters):
            return None
    return name
