"""Counterexamples and differences, drawn at the shape that shows them, with marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import prod
from typing import TypeAlias

from layoutdsl.language.declaration import declaration, record_declaration, table_declaration
from layoutdsl.language.meaning.banks import banks
from layoutdsl.language.meaning.claims import (
    AnyClaim,
    Claim,
    EqualsFormula,
    EqualsLayout,
    Inverts,
    Reads,
    RecordClaim,
)
from layoutdsl.language.meaning.counterexample import Counterexample
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.shapes import Values, bind_index, indices, volume
from layoutdsl.language.meaning.table import Table
from layoutdsl.language.offsets.axes import Axes, paired
from layoutdsl.proof.prover.verdict import Checked, Refuted
from layoutdsl.view.banks_picture import drawn_banks
from layoutdsl.view.cells import Drawn
from layoutdsl.view.compare.difference import Difference, Different, EqualWhere
from layoutdsl.view.compare.offsets import Mismatch
from layoutdsl.view.picture import FEW, Asked, Indices, drawn
from layoutdsl.view.record_picture import drawn_record
from layoutdsl.view.table_picture import drawn_table
from layoutdsl.view.words import at_shape


def counterexamples(checked: Checked) -> tuple[Drawn, ...]:
    """Return pictures of what refutes a claim, those of one shape once.

    Where there is no shape, or nothing at it that can be drawn, there is none.
    """
    found: dict[str, Drawn] = {}
    for finding in checked.findings:
        if isinstance(finding, Refuted):
            for picture in _of(checked.claim, finding.example):
                found.setdefault(_told_apart(picture), picture)
    return tuple(found.values())


def _told_apart(picture: Drawn) -> str:
    """Return what tells pictures of one claim apart: what is drawn, at which shape."""
    return f"{picture.title} {picture.unit}"


def _of(claim: AnyClaim, example: Counterexample) -> Iterator[Drawn]:
    values = dict(example.shape)
    try:
        match claim:
            case Claim():
                yield from _of_layout(claim, example, values)
            case RecordClaim():
                yield drawn_record(claim.record, values)
            case _ if isinstance(claim.predicate, Inverts):
                yield _of_slots(claim.predicate.layout, example, values)
    except (ValueError, ZeroDivisionError):  # of what is wrong not all can be drawn
        return


def _of_layout(claim: Claim, example: Counterexample, values: Values) -> Iterator[Drawn]:
    layout, predicate = claim.layout, claim.predicate
    marked = _indices(layout, example)
    formula = predicate.formula if isinstance(predicate, EqualsFormula) else None
    yield drawn(layout, values, Asked(marked=marked, formula=formula, brief=True))
    if isinstance(predicate, EqualsLayout):
        yield drawn(predicate.other, values, Asked(marked=marked, brief=True))
    if isinstance(predicate, Reads):
        title = at_shape(layout.name, example.shape)
        yield drawn_banks(title, banks(layout, predicate.reading, values))


def _indices(layout: Layout, example: Counterexample) -> Indices:
    """The elements that a counterexample speaks of."""
    names = [axis.name for axis in layout.axes]
    named = [each.index for each in example.points if [name for name, _ in each.index] == names]
    return tuple(tuple(value for _, value in index) for index in named)


def _of_slots(layout: Layout, example: Counterexample, values: Values) -> Drawn:
    """A layout, with the slots pointed out of which a table says something else."""
    inside = {name: values[name] for name in layout.symbols}
    box, slots = layout.box(inside), []
    for point in example.points:
        number = 0
        for (_, place), extent in zip(point.index, box, strict=False):
            number = number * extent + place
        slots.append(number)
    return drawn(layout, inside, Asked(slots=tuple(slots), brief=True))


def differences(
    one: Layout, other: Layout, found: Difference, axes: Axes | None = None
) -> tuple[Drawn, ...]:
    """Return both layouts at the smallest shape at which they differ.

    Elements that lie elsewhere are pointed out; where nothing differs there is no picture.

    Args:
        one: the first.
        other: the second.
        found: what `diff` found of them.
        axes: which axes are which, as `diff` was told.
    """
    if not isinstance(found, EqualWhere | Different) or found.mismatch is None:
        return ()
    pair = paired(one, other, axes)
    values = dict(found.mismatch.shape)
    marked = _elsewhere(pair.one, pair.other, values, found.mismatch)
    asked = Asked(marked=marked, brief=True)
    try:
        return tuple(drawn(each, _own(each, values), asked) for each in (pair.one, pair.other))
    except (ValueError, ZeroDivisionError):
        return ()


def _own(layout: Layout, values: Values) -> Values:
    return {name: values[name] for name in layout.symbols}


def _elsewhere(one: Layout, other: Layout, values: Values, found: Mismatch) -> Indices:
    """The elements that lie at another offset in the other layout; of many the first."""
    if volume(one, values) > FEW:
        return () if found.index is None else (tuple(at for _, at in found.index),)
    held = [set(indices(each, values)) for each in (one, other)]
    return tuple(
        index
        for index in sorted(held[0] | held[1])
        if index not in held[0]
        or index not in held[1]
        or one.offset_at(bind_index(one, values, index))
        != other.offset_at(bind_index(other, values, index))
    )


# A layout without a counterexample, at a small shape.

MOST_SLOTS = 1024
"""Slots, or bytes, of a picture for which nobody chose a shape."""

FEW_OF = (2, 3)
"""Extents of axes that are not cut into blocks, in turn; the first of several axes gets one."""

PARAMETERS = (16, 8, 4, 2)
"""Values that are tried for each parameter."""

Subject: TypeAlias = Layout | Record | Table


def declared(subject: Subject) -> str:
    """Return a layout, record or table as the language writes it, in one line."""
    match subject:
        case Layout():
            return declaration(subject)
        case Record():
            return record_declaration(subject)
        case Table():
            return table_declaration(subject)


def example(subject: Subject) -> Drawn | None:
    """Return a picture at a small shape with a ragged end, or None where no such shape fits.

    Blocks of the declaration give the shape: of `c/16, c%16` one block and a quarter are drawn.
    """
    frame = subject if isinstance(subject, Layout) else subject.frame
    for shape in _small(frame, declared(subject)):
        with suppress(ValueError, ZeroDivisionError):
            values = frame.bind(shape)
            if not all(each.holds(values) for each in subject.where):
                continue
            match subject:
                case Layout() if subject.size(values) <= MOST_SLOTS:
                    return drawn(subject, values, Asked())
                case Record() if subject.size_bits_at(values) <= 8 * MOST_SLOTS:
                    return drawn_record(subject, values)
                case Table() if prod(frame.box(values)) <= MOST_SLOTS:
                    return drawn_table(subject, values)
    return None


def _small(frame: Layout, words: str) -> Iterator[dict[str, int]]:
    """Shapes, the first to be tried first: ragged, whole blocks, and two of everything."""
    multiples = {name: int(number) for name, number in _MULTIPLE.findall(words)}
    for parameter in PARAMETERS if frame.parameters else PARAMETERS[:1]:
        given = dict.fromkeys(frame.parameters, parameter)
        for ragged, few in ((True, FEW_OF), (False, FEW_OF), (True, (1,)), (False, (1,))):
            found = dict(given)
            for k, axis in enumerate(frame.axes):
                single = 1 if k == 0 and len(frame.axes) > 2 else few[k % len(few)]
                name = axis.name.upper()
                if name in frame.symbols and name not in given:
                    block = _block(axis.name, words, given)
                    extent = block + max(1, block // 4) * ragged if block > 1 else single
                    multiple = multiples.get(name, 1)
                    found[name] = -(-extent // multiple) * multiple
            for name in frame.symbols:
                found.setdefault(name, few[0])
            yield found


_MULTIPLE = re.compile(r"\b([A-Z]\w*) ?% ?(\d+) == 0")
_CUT = re.compile(r"([/%])(\w+)")


def _block(axis: str, words: str, given: Mapping[str, int]) -> int:
    """How many indices of an axis its largest digit covers, as far as numbers say so."""
    most = 1
    for digits in re.findall(rf"\b{re.escape(axis)}((?:[/%]\w+)+)", words):
        divided = 1
        for sign, word in _CUT.findall(digits):
            number = given.get(word, int(word) if word.isdecimal() and len(word) < 5 else 1)
            most = max(most, divided * number)
            divided *= number if sign == "/" else 1
    return most
