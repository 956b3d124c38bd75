"""Counterexamples to tables, looked for in plain integers: every slot of a shape is decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product as boxes

from layoutdsl.language.integers.expr import Constant, Expr, FloorDiv, walk
from layoutdsl.language.meaning.claims import Inverts, Sound, TableClaim
from layoutdsl.language.meaning.counterexample import Counterexample, Point
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import Values, bind_index, indices
from layoutdsl.language.meaning.table import Table
from layoutdsl.proof.refute.exhaust import whole_range
from layoutdsl.proof.refute.refute import LARGEST, At, Examples
from layoutdsl.proof.statements.table_statement import EVERY, ONCE, common, table_properties

Element = tuple[int, ...]

SLOTS = 200_000
"""Slots that are decoded in search of one counterexample."""


def uneven(table: Table) -> At:
    """Return what tries a table itself: elements without a slot, and elements with several."""
    frame = table.frame

    def at(values: Values) -> Examples:
        if table.size(values) > LARGEST:
            return {}
        found: Examples = {}
        shape = tuple(values.items())
        slots: dict[Element, Element] = {}
        for slot, index in decoded(table, values):
            if index is None:
                continue
            first = slots.setdefault(index, slot)
            if first != slot and ONCE not in found:
                words = f"holds {_named(table, index)}"
                points = (Point(_slot(table, first), words), Point(_slot(table, slot), words))
                sentence = f"`{table.name}` reads two slots to one element"
                found[ONCE] = Counterexample(sentence, shape, points)
        lost = next((each for each in indices(frame, values) if each not in slots), None)
        if lost is not None:
            point = Point(_index(table, lost), "lies in no slot")
            found[EVERY] = Counterexample(f"`{table.name}` loses an element", shape, (point,))
        return found

    return at


def otherwise(table: Table, layout: Layout, name: str) -> At:
    """Return what tries whether a table says of some slot what the layout does not."""

    def at(values: Values) -> Examples:
        sizes = table.size(values), layout.size(values)
        shape = tuple(values.items())
        sentence = f"`{table.name}` does not invert `{layout.name}`"
        if sizes[0] != sizes[1]:
            sentence += f": it has {sizes[0]} slots, and the layout {sizes[1]}"
            return {name: Counterexample(sentence, shape, ())}
        if sizes[0] > LARGEST:
            return {}
        held: dict[int, list[Element]] = {}
        for index in indices(layout, values):
            held.setdefault(layout.offset_at(bind_index(layout, values, index)), []).append(index)
        for number, (slot, read) in enumerate(decoded(table, values)):
            elements = [] if read is None else [read]
            if elements != held.get(number, []):
                right = " and ".join(_named(table, each) for each in held.get(number, []))
                said = _named(table, read) if read is not None else "padding"
                words = f"-> {said} in `{table.name}`, {right or 'padding'} in `{layout.name}`"
                return {name: Counterexample(sentence, shape, (Point(_slot(table, slot), words),))}
        return {}

    return at


def sparingly(table: Table, at: At) -> At:
    """Try shapes for as long as there are slots left to decode; a few elements may have many."""
    left = SLOTS

    def tried(values: Values) -> Examples:
        nonlocal left
        left -= table.size(values)
        return at(values) if left >= 0 else {}

    return tried


def decoded(table: Table, values: Values) -> Iterator[tuple[Element, Element | None]]:
    """Yield every slot in order, each with the index that it is read to."""
    frame = table.frame
    extents = frame.shape_of(values)
    names = [slot.name for slot in table.slots]
    for slot in boxes(*(range(extent) for extent in frame.box(values))):
        bound = {**values, **dict(zip(names, slot, strict=True))}
        yield slot, table.decode_at(bound, extents)


def borders(table: Table) -> tuple[Expr, ...]:
    """Return quotients of extents by the numbers that the table multiplies or divides by."""
    found: list[Expr] = [slot.extent for slot in table.slots]
    for axis, expr in zip(table.axes, table.index, strict=True):
        numbers = {each for each in walk(expr) if isinstance(each, Constant) and each.value > 1}
        found += [FloorDiv(axis.extent, number) for number in sorted(numbers, key=str)]
    return tuple(found)


def _slot(table: Table, slot: Element) -> tuple[tuple[str, int], ...]:
    return tuple(zip((each.name for each in table.slots), slot, strict=True))


def _index(table: Table, index: Element) -> tuple[tuple[str, int], ...]:
    return tuple(zip((axis.name for axis in table.axes), index, strict=True))


def _named(table: Table, index: Element) -> str:
    return f"({', '.join(f'{name}={value}' for name, value in _index(table, index))})"


def table_tries(claim: TableClaim) -> At:
    """Return what tries one shape."""
    table = common(claim)
    match claim.predicate:
        case Sound():
            return uneven(table)
        case Inverts(layout):
            return otherwise(table, layout, table_properties(claim)[0])


def table_seen_to_hold(claim: TableClaim) -> set[str]:
    """Return the properties that hold as reading every slot of every shape of the range shows."""
    names, shapes = table_properties(claim), few_shapes(common(claim))
    if shapes is None:
        return set()
    return set(names) - set(collected(shapes, table_tries(claim), len(names)))


def few_shapes(table: Table) -> tuple[Values, ...] | None:
    """Every shape of the range, where all of them together have few slots."""
    shapes = whole_range(table.frame)
    if shapes is None or sum(map(table.size, shapes)) > SLOTS:
        return None
    return shapes


def collected(shapes: Iterable[Values], at: At, most: int) -> Examples:
    """The first counterexample to each property: where an element is lost, none need be doubled."""
    found: Examples = {}
    for values in shapes:
        found = {**at(values), **found}
        if len(found) == most:
            break
    return found
