"""A layout, table or record as the language writes it, from its meaning: names resolved."""

from __future__ import annotations

from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Extent, coordinate_text, text
from layoutdsl.language.meaning.elements import FillValue, fill_text
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.offsets import offset_expr, size_expr
from layoutdsl.language.meaning.part import Part, PickedDigit
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table


def declaration(layout: Layout) -> str:
    """Return the layout in one line; elaborated, it means the same again."""
    return str(layout)


def table_declaration(table: Table) -> str:
    """Return the table in one line; elaborated, it means the same again."""
    parameters = f"<{', '.join(table.parameters)}>" if table.parameters else ""
    head = f"table {table.name}{parameters}{axes_text(table)}{slots_text(table)}"
    where = [f"where {', '.join(map(str, table.where))}"] if table.where else []
    return " ".join([head, "=", decoded_text(table), *where])


def record_declaration(record: Record) -> str:
    """Return the record in one line; elaborated, it means the same again."""
    return " ".join([record_head(record), "{", *map(part_text, record.parts), *_record_end(record)])


def record_lines(record: Record) -> str:
    """Return the record as people write it, a part on each line."""
    parts = (f"    {part_text(each)}" for each in record.parts)
    return "\n".join([f"{record_head(record)} {{", *parts, " ".join(_record_end(record))])


def record_fields(record: Record) -> str:
    """Return the record in one line with the extents and types of its fields, not their parts."""
    fields = ", ".join(
        f"{each.name}({', '.join(map(text, each.extents))}) of {each.element.name}"
        for each in record.fields
    )
    return " ".join([f"{record_head(record)[:-2]}: {fields}", *_record_end(record)[1:]])


def record_head(record: Record) -> str:
    """Return what stands before the parts."""
    parameters = f"<{', '.join(record.parameters)}>" if record.parameters else ""
    axes = ", ".join(map(str, record.axes))
    return f"record {record.name}{parameters}({axes}) ="


def _record_end(record: Record) -> list[str]:
    found = ["}"]
    if record.fill != FillValue(0):
        found.append(f"fill {fill_text(record.fill)}")
    if record.where:
        found.append(f"where {', '.join(map(str, record.where))}")
    return found


def part_text(part: Part) -> str:
    """Return a part as its record says it; its type is that of the whole field."""
    picks = ", ".join(map(_picks, part.picks))
    words = [f"{part.field}({picks})"]
    if not part.whole:
        words.append(f"bits {part.bits[0]}..{part.bits[-1]}")
    words += ["=", part.layout.body_text]
    words.append(f"of {part.field_type.name}")
    if part.layout.start != ZERO:
        words.append(f"offset {text(part.layout.start)}")
    return " ".join(words)


def _picks(digits: tuple[PickedDigit, ...]) -> str:
    said = ", ".join(map(_digit, digits))
    return said if len(digits) == 1 else f"({said})"


def _digit(digit: PickedDigit) -> str:
    if not digit.name:
        return f"{digit.fixed} : {text(digit.extent)}"
    if isinstance(digit.extent, Extent) and digit.extent.name == digit.name.upper():
        return digit.name
    return f"{digit.name}: {text(digit.extent)}"


def slots_text(table: Table) -> str:
    """Return the slot coordinates of a table with their extents."""
    return f"[{', '.join(f'{slot.name}: {text(slot.extent)}' for slot in table.slots)}]"


def decoded_text(table: Table) -> str:
    """Return the index that a table reads off a slot."""
    pairs = zip(table.axes, table.index, strict=True)
    return f"({', '.join(f'{axis.name} = {text(expr)}' for axis, expr in pairs)})"


def axes_text(layout: Layout | Table) -> str:
    """Return the axes with the extents that are not just their names in upper case."""
    return (
        layout.axes_text if isinstance(layout, Layout) else f"({', '.join(map(str, layout.axes))})"
    )


def formulas(layout: Layout) -> tuple[str, ...]:
    """Return offset and size as formulas of indices and extents, a line each."""
    if not layout.coordinates:
        return ()
    return f"offset = {text(offset_expr(layout))}", f"size = {text(size_expr(layout))}"


def boxes(layout: Layout) -> list[tuple[str, str, str]]:
    """Return each coordinate with its extent, and whether it tells chunks apart."""
    rank = layout.chunk_rank or 0
    return [
        (coordinate_text(each), text(each.extent), "tells chunks apart" * (k < rank))
        for k, each in enumerate(layout.coordinates)
    ]


def fields(record: Record) -> list[tuple[str, str, str, str]]:
    """Return each field with its type, its extents, and how many parts hold it."""
    return [
        (each.name, each.element.name, ", ".join(map(text, each.extents)), str(len(each.parts)))
        for each in record.fields
    ]
