"""What has to be shown of a layout that holds only some indices of a shape: its domain. Trusted.

For an index `i` of the domain and its slot `s`, a reading that finds some indices from digits of
the slot, others from rows (`reading.Reading`, which may come from anywhere), and what is read, `d`:

* element: coordinates stay in their extents, slots in the buffer; injective: two elements with one
  slot are one element;
* own: the slot of an element lies in no gap, and in the row of the element, which is one of those
  that are counted; read: whatever row it lies in, the index that is read there is the element's.
  So a slot without a row is padding, and every other slot holds at most the index that is read,
  and it only if that is in the domain;
* decode: the index that is read has this slot. With read and own: padding is exact;
* rows: no slot lies in a gap, or before the first row, or after the last one. Hence, and here
  induction over the rows is used, it lies in a row: in the last that does not begin after it;
  full: whatever row it lies in, the index that is read is in the domain. With decode: every slot
  holds an element.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from layoutdsl.language.digits.domains import Reading, Rows, number_on
from layoutdsl.language.integers.expr import Index
from layoutdsl.language.integers.value import evaluate
from layoutdsl.proof.kernel.checker import Term, Theorem, substitute
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.statement import OTHER, Definitions, Ground, decoded
from layoutdsl.proof.statements.terms import extent_name, index_name

Conditions = tuple[Term, ...]


def shape_and_domain(ground: Ground, name: Mapping[str, Term]) -> Conditions:
    """Return what says that an index is one of the shape, and of the domain."""
    bounds: list[Term] = []
    for axis in ground.layout.axes:
        bounds += [("<=", 0, name[axis.name]), ("<", name[axis.name], ground.extent(axis.name))]
    spoken = replace(ground.vocabulary, indices=name)
    return (*bounds, *(spoken.condition(each) for each in ground.layout.domain))


def _given(ground: Ground) -> dict[str, Term]:
    return {axis.name: index_name(axis.name) for axis in ground.layout.axes}


def _decoded(ground: Ground) -> dict[str, Term]:
    return {axis.name: decoded(axis.name) for axis in ground.layout.axes}


def start(ground: Ground, rows: Rows, row: Term) -> Term:
    """Return where a row begins."""
    return replace(ground.vocabulary, indices={rows.row: row}).term(rows.start)


def in_row(ground: Ground, rows: Rows, number: Term, row: Term) -> Conditions:
    """Return what says that a number lies in a row: at its start or after, before the next."""
    return (
        ("<=", start(ground, rows, row), number),
        ("<", number, start(ground, rows, ("+", row, 1))),
    )


def _rows(reading: Reading) -> list[tuple[Rows, Term]]:
    """The rows that are searched, each with the name of the number that lies in one of them."""
    return [
        (each.rows, decoded(number_on(each.coordinate)))
        for each in reading.reads
        if each.rows is not None and each.coordinate is not None
    ]


def _some_row(ground: Ground, reading: Reading) -> tuple[tuple[str, ...], Conditions]:
    """A row for each number that lies in one: any row of the shape in which it lies."""
    names, conditions = list[str](), list[Term]()
    for each, number in _rows(reading):
        row = decoded(each.row)
        names.append(row)
        conditions += [("<=", 0, row), ("<", row, ground.vocabulary.term(each.count))]
        conditions += in_row(ground, each, number, row)
    return tuple(names), tuple(conditions)


def _columns(ground: Ground, reading: Reading) -> Definitions:
    """Define the indices that follow from the others; an axis of one element needs nothing."""
    names = {axis.name for axis in (*ground.layout.axes, *reading.outer.axes)}
    names |= {name for name, _ in reading.parts}
    spoken = replace(ground.vocabulary, indices={name: decoded(name) for name in names})
    found = {axis.name for axis in reading.outer.axes} | {each.axis for each in reading.reads}
    found |= {rows.row for rows, _ in _rows(reading)}
    alone = [axis.name for axis in ground.layout.axes if axis.name not in found]
    return (
        *((decoded(axis), 0) for axis in alone),
        *((decoded(each.axis), spoken.term(each.value)) for each in reading.reads),
    )


def _theorem(
    ground: Ground,
    name: str,
    variables: tuple[str, ...],
    hypotheses: Conditions,
    goals: Conditions,
    definitions: Definitions,
) -> Theorem:
    return Theorem(
        f"domain.{name}",
        (*ground.variables, *variables),
        (*ground.hypotheses, *hypotheses),
        goals or hypotheses[-1:],  # without gaps and rows there is nothing to say of a slot
        (*ground.definitions, *statement.box(ground), *definitions),
    )


def element(ground: Ground) -> Theorem:
    """Every coordinate of an element stays within its extent, and its slot in the buffer."""
    goals: list[Term] = []
    for each in ground.layout.all_coordinates:
        value, extent = ground.vocabulary.term(each.value), ground.vocabulary.term(each.extent)
        goals += [("<=", 0, value), ("<", value, extent)]
    goals += statement.in_buffer(ground, "slot")
    given = _given(ground)
    encoding = statement.encoding(ground, ground.vocabulary, "", "slot")
    variables = tuple(map(str, given.values()))
    hypotheses = shape_and_domain(ground, given)
    return _theorem(ground, "element", variables, hypotheses, tuple(goals), encoding)


def own(ground: Ground, reading: Reading) -> Theorem:
    """The slot of an element lies in no gap, digits are read off it, and its row is its own."""
    goals: list[Term] = list(statement.guards(ground, reading.inverse))
    given = _given(ground)
    parts = dict(reading.parts)
    for axis in reading.outer.axes:
        if axis.name in given or axis.name in parts:
            value = ground.vocabulary.term(parts.get(axis.name, Index(axis.name)))
            goals.append(("=", decoded(axis.name), value))
    goals += [
        ("=", decoded(number_on(each.coordinate)), f"v.{each.coordinate}")
        for each in reading.reads
        if each.coordinate is not None
    ]
    for searched, number in _rows(reading):
        row = ground.vocabulary.term(searched.own)
        goals += [("<=", 0, row), ("<", row, ground.vocabulary.term(searched.count))]
        goals += in_row(ground, searched, number, row)
    one = element(ground)
    decoding = statement.decoding(ground, reading.inverse)
    return replace(
        one, name="domain.own", goals=tuple(goals), definitions=(*one.definitions, *decoding)
    )


def read(ground: Ground, reading: Reading) -> Theorem:
    """Whatever row the slot of an element lies in, what is read there is the element's index."""
    one = own(ground, reading)
    names, conditions = _some_row(ground, reading)
    return Theorem(
        "domain.read",
        (*one.variables, *names),
        (*one.hypotheses, *conditions),
        tuple(("=", decoded(axis), index) for axis, index in _given(ground).items()),
        (*one.definitions, *_columns(ground, reading)),
    )


def injective(ground: Ground) -> Theorem:
    """Two elements with the same slot have the same index."""
    one = element(ground)
    boxes = (*ground.definitions, *statement.box(ground))
    common = {*ground.variables, *(name for name, _ in boxes)}
    own_names = [*one.variables, *(name for name, _ in one.definitions)]
    copy: dict[str, Term] = {name: f"{name}{OTHER}" for name in own_names if name not in common}
    second = tuple(substitute(each, copy) for each in one.hypotheses)
    return Theorem(
        "domain.injective",
        (*one.variables, *(f"{name}{OTHER}" for name in one.variables if name not in common)),
        (
            *one.hypotheses,
            *(each for each in second if each not in one.hypotheses),
            ("=", "slot", f"slot{OTHER}"),
        ),
        tuple(("=", index, f"{index}{OTHER}") for index in _given(ground).values()),
        (
            *one.definitions,
            *(
                (f"{name}{OTHER}", substitute(term, copy))
                for name, term in one.definitions
                if name not in common
            ),
        ),
    )


def decode(ground: Ground, reading: Reading) -> Theorem:
    """The index that is read from a slot outside every gap has this slot."""
    names, conditions = _some_row(ground, reading)
    again = replace(ground.vocabulary, indices=_decoded(ground))
    return _theorem(
        ground,
        "decode",
        ("slot", *names),
        (
            *statement.in_buffer(ground, "slot"),
            *statement.guards(ground, reading.inverse),
            *conditions,
        ),
        (("=", "back", "slot"),),
        (
            *statement.decoding(ground, reading.inverse),
            *_columns(ground, reading),
            *statement.encoding(ground, again, OTHER, "back"),
        ),
    )


def rows(ground: Ground, reading: Reading) -> Theorem:
    """A slot lies in no gap, its numbers not before the first row, and not after the last."""
    goals: list[Term] = list(statement.guards(ground, reading.inverse))
    for each, number in _rows(reading):
        count = ground.vocabulary.term(each.count)
        goals += [("<=", 0, count), ("<=", start(ground, each, 0), number)]
        goals.append(("<", number, start(ground, each, count)))
    buffer = statement.in_buffer(ground, "slot")
    decoding = statement.decoding(ground, reading.inverse)
    return _theorem(ground, "rows", ("slot",), buffer, tuple(goals), decoding)


def full(ground: Ground, reading: Reading) -> Theorem:
    """Whatever row a slot outside every gap lies in, the index that is read is in the domain."""
    names, conditions = _some_row(ground, reading)
    return _theorem(
        ground,
        "full",
        ("slot", *names),
        (
            *statement.in_buffer(ground, "slot"),
            *statement.guards(ground, reading.inverse),
            *conditions,
        ),
        shape_and_domain(ground, _decoded(ground)),
        (*statement.decoding(ground, reading.inverse), *_columns(ground, reading)),
    )


def contradiction(ground: Ground) -> Theorem:
    """No shape of the range has an element at all."""
    given = _given(ground)
    goal: Term = ("<", 0, 0)
    return Theorem(
        "contradiction",
        (*ground.variables, *map(str, given.values())),
        (*ground.hypotheses, *shape_and_domain(ground, given)),
        (goal,),
    )


def nonempty(ground: Ground, values: Mapping[str, int], index: Mapping[str, int]) -> Theorem:
    """One element of one shape of the range."""
    there = statement.nonempty(ground, values)
    names: dict[str, Term] = {extent_name(name): value for name, value in values.items()}
    for expr, name in ground.vocabulary.shared.items():
        names[name] = evaluate(expr, values)
    inside = shape_and_domain(ground, dict(index))
    goals = tuple(substitute(each, names) for each in inside)
    return replace(there, goals=(*there.goals, *goals))
