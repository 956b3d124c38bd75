"""Which tensors of a file are the fields of records, and all that does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from layoutdsl.files.weights.bounds import shown
from layoutdsl.files.weights.faults import Problem
from layoutdsl.files.weights.fits import nearest, travels_as
from layoutdsl.files.weights.form import Entry
from layoutdsl.files.weights.words import shape_of_words
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.bands import values_of_fields
from layoutdsl.language.meaning.elements import ELEMENT_TYPES
from layoutdsl.language.meaning.group import HOLE, Group
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.language.meaning.rule import FromWords, Rule
from layoutdsl.language.meaning.storage import STORAGES


@dataclass(frozen=True, slots=True)
class Grouped:
    """Tensors of a file that become one.

    Attributes:
        name: that it gets.
        group: that says so.
        entries: the tensor of each field, in the order of the record.
        shapes: of each field; of words as elements.
        values: the extents of the record.
    """

    name: str
    group: Group
    entries: tuple[Entry, ...]
    shapes: tuple[tuple[int, ...], ...]
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What groups make of the tensors of a file.

    Attributes:
        first: what becomes of groups, by the name of the first of their tensors in the file.
        taken: names of tensors, with the group that each belongs to.
        problems: all that does not fit.
    """

    first: Mapping[str, tuple[Grouped, ...]]
    taken: Mapping[str, Group]
    problems: tuple[Problem, ...]


def gathered(entries: Sequence[Entry], rules: Sequence[Rule | Group]) -> Gathered:
    """Return what groups make of tensors."""
    order = {each.name: number for number, each in enumerate(entries)}
    first: dict[str, tuple[Grouped, ...]] = {}
    taken: dict[str, Group] = {}
    problems: list[Problem] = []
    before: list[Rule] = []
    for group in rules:
        if isinstance(group, Rule):
            before.append(group)
            continue
        found = list(_instances(group, entries))
        if not found:
            problems.append(_idle(group, entries))
        for holes, fields in found:
            problems += _twice(group, fields.values(), taken, before)
            made = _made(group, holes, fields)
            if isinstance(made, Grouped):
                head = min((each.name for each in made.entries), key=order.__getitem__)
                first[head] = (*first.get(head, ()), made)
            else:
                problems += made
    return Gathered(first, taken, tuple(problems))


Fields = dict[str, Entry]
"""The tensor of each field that is there."""


def _instances(group: Group, entries: Sequence[Entry]) -> Iterator[tuple[dict[str, str], Fields]]:
    """What the holes of the names are, and the fields that are there then, in the file's order."""
    found: dict[tuple[str, ...], tuple[dict[str, str], Fields]] = {}
    for entry in entries:
        for name, names in zip(group.fields, group.sources, strict=True):
            holes = names.read(entry.name)
            if holes is not None:
                key = tuple(holes[each] for each in group.target.holes)
                found.setdefault(key, (holes, {}))[1][name] = entry
    yield from found.values()


def _idle(group: Group, entries: Sequence[Entry]) -> Problem:
    names = " or ".join(f"`{each.text}`" for each in group.sources)
    stars = HOLE.sub("*", group.sources[0].text)
    remedy = nearest(stars, [each.name for each in entries])
    return Problem("rule", f"{group.place}: no tensor is called {names}", remedy)


def _twice(
    group: Group, entries: Iterable[Entry], taken: dict[str, Group], before: Sequence[Rule]
) -> Iterator[Problem]:
    """Tensors that something else is said of too."""
    for entry in entries:
        name = entry.name
        rule = next((each for each in before if each.fits(name)), None)
        if name in taken:
            other = taken[name]
            by = (
                f"is of the group at {other.place} already"
                if other is not group
                else "is taken twice"
            )
            yield Problem("rule", f"{group.place}: {shown(name)} {by}", "a tensor is of one field")
        elif rule is not None:
            words = f"{group.place}: {shown(name)} has the rule before ({rule.place})"
            yield Problem("rule", words, "put the group first")
        taken.setdefault(name, group)


def _made(group: Group, holes: Mapping[str, str], fields: Fields) -> Grouped | list[Problem]:
    head = f"{group.place}: the group of {shown(next(iter(fields.values())).name)}"
    pairs = zip(group.fields, group.sources, strict=True)
    missing = [names.written(holes) for name, names in pairs if name not in fields]
    if missing:
        words = " and ".join(map(shown, missing))
        return [Problem("rule", f"{head} lacks {words}")]
    entries = tuple(fields[each] for each in group.fields)
    wrong = list(_other_types(group.record, entries, group))
    if wrong:
        return wrong
    try:
        pairs_ = zip(entries, group.stored, strict=True)
        shapes = tuple(_shape(entry, stored) for entry, stored in pairs_)
        values = values_of_fields(group.record, dict(zip(group.fields, shapes, strict=True)))
        size = group.record.size_bits_at(values)
        if size % 8:
            raise ValueError(f"the {size} bits of `{group.record.name}` fill no whole bytes")
        _refuse_starts(group.record, values)
    except ValueError as unfit:
        return [Problem("rule", f"{head} does not fit `{group.record.name}`: {unfit}")]
    return Grouped(group.target.written(holes), group, entries, shapes, values)


def _shape(entry: Entry, stored: FromWords | None) -> tuple[int, ...]:
    """The shape of a tensor in elements.

    Raises:
        ValueError: it is words that do not say it.
    """
    if stored is None:
        return entry.shape
    if entry.stored.fortran and len(entry.shape) > 1:
        words = f"the words of {shown(entry.name)} lie with their last axis most major"
        raise ValueError(f"{words}; write them with numpy.ascontiguousarray")
    return shape_of_words(stored.layout, stored.word, entry.shape)


def _refuse_starts(record: Record, values: Mapping[str, int]) -> None:
    """Fail where a part begins within a byte, at this shape.

    Raises:
        ValueError: names it.
    """
    for part in record.parts:
        first = evaluate(part.in_bits.start, part.shape(values))
        if first % 8:
            raise ValueError(f"`{part.label}` starts at bit {first}, in the midst of a byte")


def _other_types(record: Record, entries: Sequence[Entry], group: Group) -> Iterator[Problem]:
    for field, entry, stored in zip(record.fields, entries, group.stored, strict=True):
        why = unlike(field, entry.type, entry.native, stored)
        if why is not None:
            yield Problem("rule", f"{group.place}: the tensor {shown(entry.name)} {why}")


def unlike(
    field: Field, kind: str | None, native: str, stored: FromWords | None = None
) -> str | None:
    """Return why items of a type are no elements of a field, where they are not.

    Args:
        field: of a record.
        kind: of the items; ``None`` where they are no elements.
        native: the word of the file for it.
        stored: how the elements are packed in the items, where they are: in integers of that many
            bits, or in items of their own type that have as many.
    """
    if kind is None:
        return f"is of {native}, whose items are no elements"
    element = ELEMENT_TYPES[kind]
    if stored is None:
        if travels_as(field.element, element):
            return None
        return f"is of {native}, and the field `{field.name}` of {field.element.name}"
    bits = STORAGES[stored.word].bits
    own = field.element.fills_item and travels_as(field.element, element)
    if 8 * element.item[1] == bits and (own or element.kind in ("i", "u")):
        return None
    return f"is of {native}, and words of {stored.word} are integers of {bits} bits"
