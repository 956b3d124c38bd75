"""Command lines that show again what a message said: ``where`` for an element, ``at`` for a slot.

A line is printed only where it will work: its words are looked up here as the shell will look them
up, and what they name has to have that element at that offset, or that element in that slot. What
came from the standard input or a pipe cannot be read again, and has no such line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from layoutdsl.cli.exits import Failure
from layoutdsl.cli.targets import Target, parted, target
from layoutdsl.meaning.claims import AnyClaim, Claim, EqualsLayout, Inverts, TableClaim
from layoutdsl.meaning.model import Layout
from layoutdsl.meaning.table import Table
from layoutdsl.texts.source import LayoutError

if TYPE_CHECKING:
    from layoutdsl.meaning.counterexample import Counterexample, Point

Numbers: TypeAlias = Sequence[int]
Names: TypeAlias = Sequence[str | None]
"""What a layout may be called where it was found; ``None`` stands for the only one there is."""

Held: TypeAlias = "Sequence[int] | str | None"
"""The index of an element, nothing for padding, or why there is no such slot."""

_QUOTED = re.compile(r'(\w+) "(.*)"', re.DOTALL)
_PASSING = ("/dev/", "/proc/")
"""Folders whose files are of one run only: pipes, and what stands for the standard input."""


def replays(chosen: Target, claim: AnyClaim, example: Counterexample) -> tuple[str, ...]:
    """Return command lines that show the offsets and slots of a counterexample.

    The first is about the last point; of points at one offset only the last has a line.
    """
    found = (
        _of_layout(chosen, claim, example)
        if isinstance(claim, Claim)
        else _of_table(chosen, claim, example)
    )
    return tuple(found) if example.points else ()


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
    for word, found in _named(chosen, names) if offset is not None else ():
        if isinstance(found, Layout) and _offset(found, index, shape) == offset:
            yield _line("where", word, "--shape", _list(shape), "--index", _list(index))
            return


def _slot(chosen: Target, names: Names, shape: Numbers, number: int, held: Held) -> Iterator[str]:
    """Yield the command line that shows what a slot holds, if there is one."""
    for word, found in _named(chosen, names):
        if _held(found, number, shape) == held:
            yield _line("at", word, "--shape", _list(shape), str(number))
            return


def _named(chosen: Target, names: Names) -> Iterator[tuple[str, Layout | Table]]:
    """The words that name something, as a command line would have it, with what they name."""
    for name in dict.fromkeys(names):
        for word in _words(chosen, name):
            found = _looked_up(word, chosen)
            if found is not None:
                yield word, found


def _words(chosen: Target, name: str | None) -> Iterator[str]:
    """How a command line may name a layout of what it named before, or one of the library."""
    if chosen.notation is not None:
        yield chosen.place
    elif chosen.place:
        word = chosen.place if name is None else f"{chosen.place}:{name}"
        yield from (word, f"./{word}")  # the other for what looks like an option, or a notation
    if name is not None:
        quoted = _QUOTED.fullmatch(name)
        yield name if quoted is None else f"{quoted[1]}:{quoted[2]}"


def _looked_up(word: str, chosen: Target) -> Layout | Table | None:
    """What a word of a command line stands for; a text that was read is not read again."""
    if word.startswith("-") or not word.isprintable():
        return None
    try:
        place, name = parted(word)
        if place is not None and not _lasts(place):
            return None
        if place is not None and chosen.place and Path(place) == Path(chosen.place):
            return replace(chosen, name=name).subject
        return target(word).subject
    except (Failure, LayoutError):
        return None


def _lasts(place: str) -> bool:
    """Whether a file can be read again, in another run."""
    path = Path(place)
    return path.is_file() and not str(path.absolute()).startswith(_PASSING)


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


def _list(numbers: Numbers) -> str:
    return ",".join(map(str, numbers))


def _line(*words: str) -> str:
    return shlex.join(["layoutdsl", *words])
