"""What has to be shown of a layout, written from it alone, and which hypotheses are allowed.

This file is trusted: a proof shows what is written here, and nothing else. For an index `i` and its
slot `s`, the theorems say

* shape: a shape lies within its padded box, and no extent is zero;
* encode: within the padded box, coordinates stay in their extents, slots in the buffer, and reading
  the slot gives the index back; element: the same within the shape;
* bounds: the first half of that alone, for layouts without an inverse;
* injective: two elements with one slot are one element;
* decode: a slot outside every gap is read to an index of the padded box, and that index has this
  slot; padding: so a slot that is read to an index of the shape holds that element.

The inverse that reads a slot may come from anywhere: the theorems say that it is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.digits.steps import SLOT
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Constant, Expr, Extent, extents, walk
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.theorem import Term, Theorem, substitute
from layoutdsl.proof.statements.terms import (
    Vocabulary,
    extent_name,
    extreme_conditions,
    extremes,
    index_name,
    step_name,
)

Definitions = tuple[tuple[str, Term], ...]


@dataclass(frozen=True, slots=True)
class Ground:
    """What every theorem of a layout has in common: extents, their range, and their names."""

    layout: Layout
    vocabulary: Vocabulary
    variables: tuple[str, ...]
    hypotheses: tuple[Term, ...]
    definitions: Definitions

    def extent(self, axis: str) -> Term:
        """Return the extent of an axis."""
        found = next(each for each in self.layout.axes if each.name == axis)
        return self.vocabulary.term(found.extent)

    def radix(self, coordinate: int) -> Term:
        """Return the extent of a coordinate."""
        return self.vocabulary.term(self.layout.coordinates[coordinate].extent)


def ground(layout: Layout, padded: tuple[Expr, ...] = (), more: tuple[Layout, ...] = ()) -> Ground:
    """Return the common part of the theorems about a layout in its range of shapes.

    Args:
        layout: gives the extents and the range.
        padded: further extents that the theorems speak of.
        more: further layouts over the same extents.
    """
    layouts = (layout, *more)
    spoken = [each.extent for one in layouts for each in one.all_coordinates]
    starts = [one.start for one in layouts]
    conditions = [each for one in layouts for each in (*one.where, *one.domain)]
    sides = [side for each in conditions for side in (each.left, each.right)]
    everything = [*spoken, *padded, *starts, *sides]
    named = extremes(everything)
    values = {name for each in everything for name in extents(each)}
    order = [*layout.symbols, *sorted(values - set(layout.symbols))]
    plain = Vocabulary(named)
    shared = dict(named)
    definitions: list[tuple[str, Term]] = []
    for each in sorted(dict.fromkeys(spoken), key=lambda expr: len(list(walk(expr)))):
        if not isinstance(each, Extent | Constant) and each not in shared:
            name = f"r.{len(definitions)}"
            definitions.append((name, Vocabulary(shared).term(each)))
            shared[each] = name
    # What a domain is said by is a hypothesis, which may rest on nothing that has to be shown.
    held = any(one.domain for one in layouts)
    axes = {} if held else {axis.name: axis.extent for axis in layout.axes}
    return Ground(
        layout,
        Vocabulary(shared, axes=axes),
        (*map(extent_name, order), *named.values()),
        (
            *(("<=", 1, extent_name(name)) for name in order),
            *(plain.condition(each) for one in layouts for each in one.where),
            *extreme_conditions(named, plain),
        ),
        tuple(definitions),
    )


def assumptions(ground: Ground, vocabulary: Vocabulary) -> tuple[Term, ...]:
    """Return what the terms of the coordinates rest on: a goal wherever coordinates are said."""
    return vocabulary.assumptions(*(each.value for each in ground.layout.coordinates))


def box(ground: Ground) -> Definitions:
    """Define ``p.j``, the slots of the coordinates up to ``j``."""
    definitions: list[tuple[str, Term]] = []
    for number in range(len(ground.layout.coordinates)):
        radix = ground.radix(number)
        value: Term = ("*", f"p.{number - 1}", radix) if number else radix
        definitions.append((f"p.{number}", value))
    return tuple(definitions)


def size(ground: Ground) -> Term:
    """Return the term for the slots of the box; ``p.j`` are defined."""
    return f"p.{len(ground.layout.coordinates) - 1}"


def encoding(ground: Ground, vocabulary: Vocabulary, mark: str, slot: str) -> Definitions:
    """Define the coordinates ``v.j``, their mixed-radix value ``h.j`` so far, and the slot."""
    definitions: list[tuple[str, Term]] = []
    for number, coordinate in enumerate(ground.layout.coordinates):
        definitions.append((f"v.{number}{mark}", vocabulary.term(coordinate.value)))
    for number in range(len(ground.layout.coordinates)):
        own = f"v.{number}{mark}"
        so_far: Term = ("+", ("*", f"h.{number - 1}{mark}", ground.radix(number)), own)
        definitions.append((f"h.{number}{mark}", so_far if number else own))
    value: Term = f"h.{len(ground.layout.coordinates) - 1}{mark}"
    if ground.layout.start != ZERO:
        value = ("+", vocabulary.term(ground.layout.start), value)
    return (*definitions, (slot, value))


def decoding(ground: Ground, inverse: Inverse) -> Definitions:
    """Define the steps of the inverse over ``slot``, and the index ``d.c`` that they lead to."""
    vocabulary = replace(ground.vocabulary, indices={SLOT: "slot"})
    steps = [(step_name(name), vocabulary.term(expr)) for name, expr in inverse.steps]
    index = [(decoded(axis), vocabulary.term(expr)) for axis, expr in inverse.index]
    return (*steps, *index)


def decoded(axis: str) -> str:
    """Return the name of the index that a slot is read to."""
    return f"d.{axis}"


def guards(ground: Ground, inverse: Inverse) -> tuple[Term, ...]:
    """Return what a slot satisfies that lies in no gap."""
    return tuple(ground.vocabulary.condition(each) for each in inverse.guards)


def padded_extents(ground: Ground, inverse: Inverse) -> dict[str, Term]:
    """Return the padded extent of each axis."""
    return {axis: ground.vocabulary.term(extent) for axis, extent in inverse.padded}


def in_buffer(ground: Ground, slot: Term) -> tuple[Term, ...]:
    """Return what says that a slot is one of the buffer, and not before the first."""
    if ground.layout.start == ZERO:
        return ("<=", 0, slot), ("<", slot, size(ground))
    start = ground.vocabulary.term(ground.layout.start)
    return ("<=", start, slot), ("<", slot, ("+", start, size(ground)))


def shape(ground: Ground, inverse: Inverse) -> Theorem:
    """A shape lies within its padded box, and the buffer has at least one slot."""
    goals: list[Term] = []
    for axis, padded in padded_extents(ground, inverse).items():
        if ground.extent(axis) != padded:
            goals.append(("<=", ground.extent(axis), padded))
    if ground.layout.start != ZERO:
        goals.append(("<=", 0, ground.vocabulary.term(ground.layout.start)))
    goals.append(("<", 0, size(ground)))
    definitions = (*ground.definitions, *box(ground))
    return Theorem("shape", ground.variables, ground.hypotheses, tuple(goals), definitions)


def _inside(ground: Ground) -> tuple[Term, ...]:
    """Every coordinate is within its extent, and the slot within the buffer."""
    goals = list(assumptions(ground, ground.vocabulary))
    for each in ground.layout.all_coordinates:
        value, extent = ground.vocabulary.term(each.value), ground.vocabulary.term(each.extent)
        goals += [("<=", 0, value), ("<", value, extent)]
    return (*goals, *in_buffer(ground, "slot"))


def bounds(ground: Ground) -> Theorem:
    """What holds of every index of the shape, whatever reads the slot back."""
    within = {axis.name: ground.extent(axis.name) for axis in ground.layout.axes}
    hypotheses = list(ground.hypotheses)
    for axis, bound in within.items():
        hypotheses += [("<=", 0, index_name(axis)), ("<", index_name(axis), bound)]
    encoded = encoding(ground, ground.vocabulary, "", "slot")
    return Theorem(
        "bounds",
        (*ground.variables, *map(index_name, within)),
        tuple(hypotheses),
        _inside(ground),
        (*ground.definitions, *box(ground), *encoded),
    )


def _encoded(ground: Ground, inverse: Inverse, name: str, within: dict[str, Term]) -> Theorem:
    hypotheses = list(ground.hypotheses)
    for axis, bound in within.items():
        hypotheses += [("<=", 0, index_name(axis)), ("<", index_name(axis), bound)]
    goals = list(_inside(ground))
    goals += [("=", decoded(axis), index_name(axis)) for axis in within]
    goals += guards(ground, inverse)
    return Theorem(
        name,
        (*ground.variables, *map(index_name, within)),
        tuple(hypotheses),
        tuple(goals),
        (
            *ground.definitions,
            *box(ground),
            *encoding(ground, ground.vocabulary, "", "slot"),
            *decoding(ground, inverse),
        ),
    )


def encode(ground: Ground, inverse: Inverse) -> Theorem:
    """What holds of every index of the padded box."""
    return _encoded(ground, inverse, "encode", padded_extents(ground, inverse))


def element(ground: Ground, inverse: Inverse) -> Theorem:
    """What holds of every index of the shape."""
    extents_ = {axis.name: ground.extent(axis.name) for axis in ground.layout.axes}
    return _encoded(ground, inverse, "element", extents_)


OTHER = "~2"
"""The mark of the second copy of every name, where two elements are compared."""


def injective(ground: Ground, inverse: Inverse) -> Theorem:
    """Two elements with the same slot have the same index."""
    one = element(ground, inverse)
    common = {*ground.variables, *(name for name, _ in (*ground.definitions, *box(ground)))}
    own = [*one.variables, *(name for name, _ in one.definitions)]
    copy: dict[str, Term] = {name: f"{name}{OTHER}" for name in own if name not in common}
    second = tuple(substitute(each, copy) for each in one.hypotheses)
    return Theorem(
        "injective",
        (*one.variables, *(f"{name}{OTHER}" for name in one.variables if name not in common)),
        (
            *one.hypotheses,
            *(each for each in second if each not in one.hypotheses),
            ("=", "slot", f"slot{OTHER}"),
        ),
        tuple(
            ("=", index_name(axis.name), f"{index_name(axis.name)}{OTHER}")
            for axis in ground.layout.axes
        ),
        (
            *one.definitions,
            *(
                (f"{name}{OTHER}", substitute(term, copy))
                for name, term in one.definitions
                if name not in common
            ),
        ),
    )


def decode(ground: Ground, inverse: Inverse) -> Theorem:
    """A slot outside every gap is read to an index of the padded box that has this slot."""
    padded = padded_extents(ground, inverse)
    goals: list[Term] = []
    for axis, bound in padded.items():
        goals += [("<=", 0, decoded(axis)), ("<", decoded(axis), bound)]
    hypotheses = (*ground.hypotheses, *in_buffer(ground, "slot"), *guards(ground, inverse))
    return _read(ground, inverse, "decode", hypotheses, (*goals, ("=", "back", "slot")))


def padding(ground: Ground, inverse: Inverse) -> Theorem:
    """A slot that is read to an index of the shape holds that element; all others are padding."""
    within = tuple(
        ("<", decoded(axis.name), ground.extent(axis.name)) for axis in ground.layout.axes
    )
    low = tuple(("<=", 0, decoded(axis.name)) for axis in ground.layout.axes)
    buffer = in_buffer(ground, "slot")
    hypotheses = (*ground.hypotheses, *buffer, *guards(ground, inverse), *within)
    return _read(ground, inverse, "padding", hypotheses, (*low, ("=", "back", "slot")))


def _read(
    ground: Ground,
    inverse: Inverse,
    name: str,
    hypotheses: tuple[Term, ...],
    goals: tuple[Term, ...],
) -> Theorem:
    names = {axis.name: decoded(axis.name) for axis in ground.layout.axes}
    again = replace(ground.vocabulary, indices=names)
    return Theorem(
        name,
        (*ground.variables, "slot"),
        hypotheses,
        (*assumptions(ground, again), *goals),
        (
            *ground.definitions,
            *box(ground),
            *decoding(ground, inverse),
            *encoding(ground, again, "~2", "back"),
        ),
    )


def nonempty(ground: Ground, values: Mapping[str, int]) -> Theorem:
    """One shape that the range contains: extents and parameters with their values.

    A layout of fixed extents has one shape and no conditions. The theorem then says that this shape
    has an element, because a theorem without goals would say nothing.
    """
    names: dict[str, Term] = {extent_name(name): value for name, value in values.items()}
    for expr, name in ground.vocabulary.shared.items():
        names[name] = evaluate(expr, values)
    goals = tuple(substitute(each, names) for each in ground.hypotheses)
    elements = prod(evaluate(axis.extent, values) for axis in ground.layout.axes)
    return Theorem("range", (), (), goals or (("<=", 1, elements),))


def contradiction(ground: Ground) -> Theorem:
    """The range contains no shape at all."""
    goal: Term = ("<", 0, 0)
    return Theorem("contradiction", ground.variables, ground.hypotheses, (goal,))


def collision(ground: Ground) -> Theorem:
    """Coordinates stay in their extents, and no two elements have all coordinates in common.

    It is asked of the solver only where no proof was found, for a shape at which it fails.
    """
    hypotheses = list(ground.hypotheses)
    goals: list[Term] = []
    other = {axis.name: f"{index_name(axis.name)}{OTHER}" for axis in ground.layout.axes}
    second = replace(ground.vocabulary, indices=other)
    apart: list[Term] = []
    for axis in ground.layout.axes:
        for index in (index_name(axis.name), other[axis.name]):
            hypotheses += [("<=", 0, index), ("<", index, ground.extent(axis.name))]
        apart.append(("=", index_name(axis.name), other[axis.name]))
    for spoken in (ground.vocabulary, second):
        hypotheses += [spoken.condition(each) for each in ground.layout.domain]
    for each in ground.layout.coordinates:
        value, extent = ground.vocabulary.term(each.value), ground.vocabulary.term(each.extent)
        goals += [("<=", 0, value), ("<", value, extent)]
    same = [
        ("=", ground.vocabulary.term(each.value), second.term(each.value))
        for each in ground.layout.coordinates
    ]
    goals.append(("=>", ("and", *same), ("and", *apart)))
    variables = (*ground.variables, *map(index_name, other), *other.values())
    return Theorem("collision", variables, tuple(hypotheses), tuple(goals), ground.definitions)
