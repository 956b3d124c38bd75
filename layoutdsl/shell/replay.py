"""Command lines that show again what a message said: ``where`` for an element, ``at`` for a slot.

A line is printed only where it will work: its words are looked up here as the shell will look them
up, and what they name has to have that element at that offset, or that element in that slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from layoutdsl.language.meaning.claims import (
    AnyClaim,
    Claim,
    EqualsLayout,
    Inverts,
    RecordClaim,
    TableClaim,
)
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.table import Table
from layoutdsl.shell.again import Names, command_line, listed, named_again
from layoutdsl.shell.record_replay import of_record
from layoutdsl.shell.targets import Target

if TYPE_CHECKING:
    from layoutdsl.language.meaning.counterexample import Counterexample, Point
    from layoutdsl.proof.prover.verdict import Refuted

Numbers: TypeAlias = Sequence[int]
Held: TypeAlias = "Sequence[int] | str | None"
"""The index of an element, nothing for padding, or why there is no such slot."""


def replays(chosen: Target, claim: AnyClaim, found: Refuted) -> tuple[str, ...]:
    """Return command lines that show the offsets, slots and bits of a counterexample.

    The first is about the last point; of points at one offset only the last has a line.
    """
    match claim:
        case Claim():
            lines = _of_layout(chosen, claim, found.example)
        case TableClaim():
            lines = _of_table(chosen, claim, found.example)
        case RecordClaim():
            lines = of_record(chosen, claim, found)
    return tuple(lines) if found.example.points else ()


def _of_layout(chosen: Target, claim: Claim, example: Counterexample) -> Iterator[str]:
    layout, values = claim.layout, dict(example.shape)
    axes = [axis.name for axis in layout.axes]
    indices = [_numbers(point, axes) for point in reversed(example.points)]
    names: Names = (chosen.name or layout.name, layout.name)
    shape = _shape(layout, values)
    asked = [(names, layout, shape, index) for index in indices if index is not None]
    if isinstance(claim.predicate, EqualsLayout):
        other = claim.predicate.other
        asked += [((other.name,), other, _shape(other, values), each[-1]) for each in asked[:1]]
    shown: set[tuple[Layout, int | None]] = set()
    for names, about, shape, index in asked:
        offset = _offset(about, index, shape)
        if (about, offset) not in shown:
            yield from element(chosen, names, shape, index, offset)
        shown.add((about, offset))


def _of_table(chosen: Target, claim: TableClaim, example: Counterexample) -> Iterator[str]:
    table, values = claim.table, dict(example.shape)
    slot = _numbers(example.points[-1], [each.name for each in table.slots])
    if slot is None:
        return
    number = 0
    for place, extent in zip(slot, table.box(values), strict=True):
        number = number * extent + place
    asked: list[tuple[Names, Layout | Table]] = [((chosen.name or table.name, table.name), table)]
    if isinstance(claim.predicate, Inverts):
        asked.append(((claim.predicate.layout.name,), claim.predicate.layout))
    for names, about in asked:
        shape = _shape(about, values)
        yield from _slot(chosen, names, shape, number, _held(about, number, shape))


def element(
    chosen: Target, names: Names, shape: Numbers, index: Numbers, offset: int | None
) -> Iterator[str]:
    """Yield the command line that shows where an element lies, if there is one.

    Args:
        chosen: what a command line named.
        names: what the layout may be called there, or in the library.
        shape: the extents in axis order, then open parameters.
        index: of the element, in axis order.
        offset: where the message says that it lies; ``None`` where it has no slot.
    """
    for word, found in named_again(chosen, names) if offset is not None else ():
        if isinstance(found, Layout) and _offset(found, index, shape) == offset:
            yield command_line("where", word, "--shape", listed(shape), "--index", listed(index))
            return


def _slot(chosen: Target, names: Names, shape: Numbers, number: int, held: Held) -> Iterator[str]:
    """Yield the command line that shows what a slot holds, if there is one."""
    for word, found in named_again(chosen, names):
        if isinstance(found, Layout | Table) and _held(found, number, shape) == held:
            yield command_line("at", word, "--shape", listed(shape), str(number))
            return


def _numbers(point: Point, names: Sequence[str]) -> tuple[int, ...] | None:
    """The numbers of a point, where it is one over these names."""
    alike = [name for name, _ in point.index] == list(names)
    return tuple(value for _, value in point.index) if alike else None


def _shape(layout: Layout | Table, values: Mapping[str, int]) -> tuple[int, ...]:
    frame = layout if isinstance(layout, Layout) else layout.frame
    given = (values[name] for name in layout.parameters)
    return (*frame.shape_of(values), *given)


def _offset(layout: Layout, index: Numbers, shape: Numbers) -> int | None:
    try:
        return layout.offset(index, shape)
    except ValueError:
        return None


def _held(layout: Layout | Table, number: int, shape: Numbers) -> Held:
    try:
        if isinstance(layout, Layout):
            return layout.decode(number, shape)
        slot: list[int] = []
        for extent in reversed(layout.box(shape)):
            number, place = divmod(number, extent)
            slot.insert(0, place)
        return layout.decode(slot, shape)
    except ValueError as reason:
        return str(reason)
