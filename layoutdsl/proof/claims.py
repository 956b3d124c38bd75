"""What is claimed of layouts, tables and modules, and for which shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from layoutdsl.language.elaborate.shelf import elaborated
from layoutdsl.language.meaning.arguments import called
from layoutdsl.language.meaning.claims import AnyClaim, Claim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.group import Group
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.meaning.part import extents_of_others
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.rule import Rule
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.texts.source import Source


def claims_of(
    subject: Layout | Table | Record | Module | Iterable[AnyClaim],
) -> tuple[AnyClaim, ...]:
    """Return the claims that `prove` looks at: that all in it is sound, then those written."""
    match subject:
        case Layout(coordinates=()):
            words = f"`{subject.name}` has no coordinates, as the frame of a record has none"
            raise ValueError(f"{words}: take the record")
        case Layout(bit_of=ElementType()) if extents_of_others(subject):
            words = (
                f"speaks of `{extents_of_others(subject)[0]}`, which is the extent of no axis of it"
            )
            part = "it is a part of a record, which is proved as a whole"
            raise ValueError(f"`{subject.name}` {words}: {part}")
        case Layout() | Table() | Record():
            return (_sound(subject),)
        case Module():
            refuted = {
                claim.layout
                for claim in subject.claims
                if claim.polarity == "refute" and isinstance(claim.predicate, Sound)
            }
            sound = [_sound(each) for each in subject.layouts.values() if each not in refuted]
            even = [_sound(each) for each in _not_refuted_tables(subject)]
            held = [_sound(each) for each in _not_refuted_records(subject)]
            of_records = (*held, *subject.record_claims)
            ruled = [_sound(each) for each in (_of_rules(subject) if subject.rules else ())]
            return (*sound, *ruled, *subject.claims, *even, *subject.table_claims, *of_records)
        case Iterable() if not isinstance(subject, str | Mapping):
            found: tuple[AnyClaim, ...] | None = None
            with suppress(TypeError):  # as an array without dimensions cannot be listed
                found = tuple(subject)
            if found is not None and all(
                isinstance(each, Claim | TableClaim | RecordClaim) for each in found
            ):
                return found
    words = "a layout, a table, a record, a module, or claims"
    raise TypeError(f"`subject` is {called(subject)}, and has to be {words}")


def _of_rules(module: Module) -> Iterator[Layout | Record]:
    """Layouts that tensors get or have, and records of groups; none that the module declares."""
    declared: list[Layout | Record] = [*module.layouts.values(), *module.records.values()]
    rules = [each for each in module.rules if isinstance(each, Rule)]
    stored = [rule.stored.layout for rule in rules if rule.stored is not None]
    given = [rule.layout for rule in rules if rule.layout is not None]
    groups = [each for each in module.rules if isinstance(each, Group)]
    stored += [each.layout for group in groups for each in group.stored if each is not None]
    found: list[Layout | Record] = [*given, *stored, *(each.record for each in groups)]
    return (each for each in dict.fromkeys(found) if each not in declared)


def _not_refuted_tables(module: Module) -> Iterator[Table]:
    refuted = {
        claim.table
        for claim in module.table_claims
        if claim.polarity == "refute" and isinstance(claim.predicate, Sound)
    }
    return (table for table in module.tables.values() if table not in refuted)


def _not_refuted_records(module: Module) -> Iterator[Record]:
    refuted = {
        claim.record
        for claim in module.record_claims
        if claim.polarity == "refute" and isinstance(claim.predicate, Sound)
    }
    return (record for record in module.records.values() if record not in refuted)


def claims_about(module: Module, subject: Layout | Table | Record) -> tuple[AnyClaim, ...]:
    """Return the claims that `prove` looks at for one layout, table or record of a module."""
    match subject:
        case Layout(name=name):
            written = tuple(claim for claim in module.claims if claim.layout == subject)
            return claims_of(Module(module.name, {name: subject}, written, {}))
        case Table(name=name):
            said = tuple(claim for claim in module.table_claims if claim.table == subject)
            return claims_of(Module(module.name, {}, (), {}, {name: subject}, said))
        case Record(name=name):
            held = tuple(claim for claim in module.record_claims if claim.record == subject)
            alone = Module(module.name, {}, (), {}, records={name: subject}, record_claims=held)
            return claims_of(alone)


def narrowed(claims: Iterable[AnyClaim], where: str) -> tuple[AnyClaim, ...]:
    """Return the claims for some shapes only: ``C <= 64, N == 1``, as after ``where``.

    Raises:
        LayoutError: the range is not in the language, or names what a layout has not.
        ValueError: the text is more than a range.
    """
    return tuple(
        replace(
            claim,
            where=(*claim.where, *range_of(_shaped(claim), where)),
            text=f"{claim.text}{',' if claim.where else ' where'} {where}",
        )
        for claim in claims
    )


def _shaped(claim: AnyClaim) -> Layout:
    return claim.layout if isinstance(claim, Claim) else claim.subject.frame


def range_of(layout: Layout, where: str) -> tuple[Condition, ...]:
    """Return the conditions that a text says of the extents of a layout, as after ``where``.

    Raises:
        LayoutError: the range is not in the language, or names what the layout has not.
        ValueError: the text is more than a range.
    """
    name = layout.name.partition("<")[0]
    source = Source("--where", f"prove {name} where {where}")
    module = elaborated(source, {name: layout})
    if module or len(module.claims) != 1 or not isinstance(module.claims[0].predicate, Sound):
        raise ValueError(f"`{where}` is more than a range of shapes")
    return module.claims[0].where


def _sound(subject: Layout | Table | Record) -> AnyClaim:
    text = f"prove {subject.name}"
    match subject:
        case Layout():
            return Claim("prove", subject, Sound(), (), text)
        case Table():
            return TableClaim("prove", subject, Sound(), (), text)
        case Record():
            return RecordClaim("prove", subject, Sound(), (), text)
