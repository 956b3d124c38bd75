"""Placements and slots in words: a head, a table of coordinates, what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layoutdsl.language.meaning.counterexample import index_text, named_text
from layoutdsl.language.meaning.elements import Fill, FillAny, FillValue, FillZeroPoint
from layoutdsl.view.places import Address, Chunk, Named, Placement, Term, element_of

if TYPE_CHECKING:
    from layoutdsl.view.slots import Held, Recovered

MOST_SLOTS = 32
"""Of an element that are told."""

_HEAD = ("coordinate", "value", "extent", "stride", "amount")


def placement_text(placement: Placement) -> str:
    """Return where an element lies: one row per coordinate, and their sum."""
    head = at_shape(placement.layout.name, placement.shape)
    lines = [
        head,
        f"{index_text(placement.index)} -> offset {placement.offset}",
        *_copies(placement),
        "",
        *terms_text(placement.terms, placement.start, placement.offset),
        *_extras(placement.chunk, placement.address),
    ]
    return "\n".join(lines)


def _copies(placement: Placement) -> list[str]:
    """All slots of an element that has several."""
    layout, slots = placement.layout, placement.slots
    if not layout.copies:
        return []
    shown = ", ".join(map(str, slots[:MOST_SLOTS]))
    more = f" and {len(slots) - MOST_SLOTS} more" if len(slots) > MOST_SLOTS else ""
    names = " and ".join(f"`{name}`" for name in layout.copies)
    element = index_text(element_of(layout, placement.index))
    return [f"{element} lies in {_slots(len(slots))}, one for each {names}: {shown}{more}"]


def _slots(count: int) -> str:
    return "1 slot" if count == 1 else f"{count} slots"


def terms_text(terms: Sequence[Term], start: int, offset: int) -> list[str]:
    """Return a table of coordinates, one a line, and of what they add to an offset."""
    rows = [_row(term) for term in terms]
    if start:
        rows.insert(0, ("offset", "", "", "", str(start)))
    return _table([_HEAD, *rows, ("sum", "", "", "", str(offset))])


def held_text(held: Held) -> str:
    """Return what a slot holds: one row per coordinate, and how the index follows."""
    lines = [at_shape(held.layout.name, held.shape), _held_line(held)]
    lines += [f"  = note: {index_text(each)} lies here too" for each in held.elements[1:]]
    if held.terms:
        lines += ["", *_table([_HEAD[:4], *(_row(term)[:4] for term in held.terms)])]
    if held.recovered:
        lines += ["", *map(_recovered, held.recovered)]
    return "\n".join([*lines, *_extras(held.chunk, held.address)])


def at_shape(name: str, shape: Named) -> str:
    """Return what is shown, and at which shape; one whose extents are all fixed has but one."""
    return f"`{name}` at shape {named_text(shape)}" if shape else f"`{name}`"


def _held_line(held: Held) -> str:
    match held.holds:
        case "element":
            return f"offset {held.slot} -> {index_text(held.elements[0])}"
        case "before":
            return f"offset {held.slot} lies before the first element"
        case "padding":
            filled = filled_text(held.layout.fill)
            return f"offset {held.slot} is padding{filled}: {'; '.join(held.reasons)}"


def filled_text(fill: Fill) -> str:
    """Return what padding holds, as it follows the word."""
    match fill:
        case FillValue(value):
            return f", filled with {value}"
        case FillAny():
            return ", with any value in it"
        case FillZeroPoint():
            return ", filled with the zero point"


def _row(term: Term) -> tuple[str, ...]:
    plain = term.working == str(term.value)
    value = term.working if plain else f"{term.working} = {term.value}"
    return term.coordinate, value, str(term.extent), str(term.stride), str(term.amount)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows with the first column to the left, and the numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [f"{each:>{width}}" for each, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(["", f"{first:<{widths[0]}}", *cells]).rstrip())
    return lines


def _recovered(recovered: Recovered) -> str:
    steps = [recovered.digits, recovered.working, str(recovered.value)]
    shown = [
        step for k, step in enumerate(steps) if step != recovered.axis and step not in steps[:k]
    ]
    too_far = "" if recovered.value < recovered.extent else f", not below {recovered.extent}"
    return f"  {recovered.axis} = {' = '.join(shown)}{too_far}"


def _extras(chunk: Chunk | None, address: Address | None) -> list[str]:
    lines = []
    if chunk is not None:
        lines.append(f"  chunk {chunk.number}, place {chunk.place} in it")
    if address is not None:
        bit = f", bit {address.bit}" if address.bit else ""
        lines.append(f"  address: byte {address.byte}{bit}, for elements of {address.element}")
    return ["", *lines] if lines else []
