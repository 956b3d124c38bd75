"""Claims of a field of a record tried in plain integers, by `Record.bit_address`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from math import prod

from layoutdsl.language.integers.expr import coordinate_text
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.claims import FieldAligns, FieldFormula, OfField
from layoutdsl.language.meaning.counterexample import Counterexample, Point, example_at
from layoutdsl.language.meaning.record import Held, Record
from layoutdsl.language.meaning.shapes import Values, small
from layoutdsl.proof.refute.record_refute import MOST_SHAPES, MOST_VOLUME
from layoutdsl.proof.statements.run_statement import start_of
from layoutdsl.proof.statements.terms import NotExpressible

MOST_ELEMENTS = 1 << 15
"""That are looked at in all, and at most in one shape on record."""


def field_example(record: Record, said: OfField) -> Counterexample | None:
    """Return a counterexample to a claim of a field at a small shape, where one is found."""
    left = MOST_ELEMENTS
    for values in islice(small(record.frame, MOST_VOLUME), MOST_SHAPES):
        left -= max(1, elements_at(record, said, values))
        if left < 0:
            return None
        found = field_fails_at(record, said, values)
        if found is not None:
            return found
    return None


def elements_at(record: Record, said: OfField, values: Values) -> int:
    """Return how many elements the field has at a shape."""
    return prod(max(0, each) for each in record.field(said.field).shape(values))


def field_fails_at(record: Record, said: OfField, values: Values) -> Counterexample | None:
    """Return the first element of the field for which a claim fails at a shape."""
    try:
        return next(_failing(record, said, values), None)
    except (NotExpressible, ValueError):
        return None  # a run that has no start, or an element that no part holds


def _failing(record: Record, said: OfField, values: Values) -> Iterator[Counterexample]:
    for index in product(*map(range, record.field(said.field).shape(values))):
        bound = {**values, **dict(zip(said.axes, index, strict=True))}
        match said:
            case FieldFormula(formula=formula):
                held, given = Held(said.field, index, 0), evaluate(formula, bound)
                yield from _elsewhere(record, held, values, given)
            case _:
                there = start_of(said.run).at(bound)
                begin = tuple(there[axis] for axis in said.axes)
                yield from _unaligned(record, Held(said.field, begin, 0), values, said)


def _elsewhere(record: Record, held: Held, values: Values, given: int) -> Iterator[Counterexample]:
    """The bit, where a formula gives another address."""
    address = record.bit_address(held.field, held.index, held.bit, values)
    if address != given:
        sentence = f"the formula is not where bits of `{record.name}.{held.field}` lie"
        lies = f"bit {address} in `{record.name}`, the formula gives {given}"
        yield example_at(values, sentence, Point((), f"{held} -> {lies}"))


def _unaligned(
    record: Record, held: Held, values: Values, said: FieldAligns
) -> Iterator[Counterexample]:
    """The bit with which a run begins, where it is at no such multiple."""
    address = record.bit_address(held.field, held.index, held.bit, values)
    if address % (8 * said.bytes):
        byte, bit = divmod(address, 8)
        run = ", ".join(map(coordinate_text, said.run))
        field = f"{record.name}.{said.field}"
        sentence = f"`{field}` does not align {run} to {said.bytes} bytes"
        lies = f"bit {address}, bit {bit} of byte {byte}"
        yield example_at(values, sentence, Point((), f"{held} -> {lies}"))
