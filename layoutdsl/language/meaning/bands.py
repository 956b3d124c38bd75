"""What the shapes of its fields say of a record, and along which extent it or a layout is rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from layoutdsl.language.integers.expr import (
    Constant,
    Extent,
    FloorDiv,
    Index,
    Mod,
    extents,
    indices,
)
from layoutdsl.language.meaning.model import ZERO, Layout
from layoutdsl.language.meaning.record import Record


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


def rows_in(layout: Layout) -> int | None:
    """Return the coordinate of the rows of a layout along its first axis; or none.

    It is that axis, and nothing else speaks of it: some rows are a tensor of their own, which lies
    in the buffer as a box along this coordinate.
    """
    axis = layout.axes[0] if layout.axes else None
    if axis is None or not isinstance(axis.extent, Extent) or layout.start != ZERO:
        return None
    name = axis.extent.name
    spoken = [side for each in layout.where for side in (each.left, each.right)]
    spoken += [each.extent for each in layout.axes[1:]]
    found = None
    for number, each in enumerate(layout.coordinates):
        if (each.value, each.extent) == (Index(axis.name), axis.extent) and found is None:
            found = number
        else:
            spoken += [each.value, each.extent]
    alone = not any(axis.name in indices(each) or name in extents(each) for each in spoken)
    return found if alone else None


def values_of_fields(record: Record, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return the value of every extent of a record without parameters, from the shapes of fields.

    Raises:
        ValueError: the fields do not fit together, or the record has no such shape.
    """
    for each in record.fields:
        rank, wanted = len(shapes[each.name]), len(each.extents)
        if rank != wanted:
            axes = "1 axis" if wanted == 1 else f"{wanted} axes"
            raise ValueError(f"`{each.name}` has {axes}, and is given {rank}")
    found: dict[str, int] = {}
    for name, axis, extent, factor in solved(record):
        found.setdefault(extent, shapes[name][axis] * factor)
    values = record.bind(found)
    for each in record.fields:
        wanted_ = each.shape(values)
        if tuple(shapes[each.name]) != wanted_:
            given = " ".join(f"{extent}={value}" for extent, value in values.items())
            one, other = (" x ".join(map(str, s)) or "()" for s in (shapes[each.name], wanted_))
            raise ValueError(f"`{each.name}` is {one}, and {other} at {given}")
    return values


def undetermined(record: Record) -> str | None:
    """Return an extent that does not follow from the shapes of the fields, if there is one."""
    known = {extent for _, _, extent, _ in solved(record)}
    return next((each for each in record.frame.symbols if each not in known), None)
