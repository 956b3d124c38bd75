"""What has to be shown of a claim, written from the layouts and the predicate alone. Trusted.

Every theorem speaks of all indices that the layout holds, for all shapes of the range. `left` and
`right` are offsets in elements; `printed` holds the text of a formula, read back, against the
layout; `domain` says that two layouts hold the same indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.digits.inverse import Inverse
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Expr, MixedRadix, indices
from layoutdsl.language.meaning.claims import Aligns, Keeps
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.run_statement import flat, start_of
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.terms import (
    NotExpressible,
    Vocabulary,
    extreme_conditions,
    extremes_in,
    index_name,
    step_name,
)


def offset(layout: Layout, vocabulary: Vocabulary) -> Term:
    """Return the offset of an index in a layout."""
    value = vocabulary.term(MixedRadix(layout.coordinates))
    return value if layout.start == ZERO else ("+", vocabulary.term(layout.start), value)


def slots(ground: Ground, layout: Layout) -> Term:
    """Return the size of the buffer."""
    first, *rest = layout.coordinates
    value = ground.vocabulary.term(first.extent)
    for each in rest:
        value = ("*", value, ground.vocabulary.term(each.extent))
    return value if layout.start == ZERO else ("+", ground.vocabulary.term(layout.start), value)


def of_elements(
    ground: Ground, name: str, definitions: statement.Definitions, goals: tuple[Term, ...]
) -> Theorem:
    """Return the theorem that goals hold for every index of every shape of the range."""
    hypotheses = list(ground.hypotheses)
    for axis in ground.layout.axes:
        index = index_name(axis.name)
        hypotheses += [("<=", 0, index), ("<", index, ground.extent(axis.name))]
    hypotheses += [ground.vocabulary.condition(each) for each in ground.layout.domain]
    indices = tuple(index_name(axis.name) for axis in ground.layout.axes)
    return Theorem(
        name,
        (*ground.variables, *indices),
        tuple(hypotheses),
        goals,
        (*ground.definitions, *definitions),
    )


def chosen(ground: Ground, exprs: Iterable[Expr]) -> Ground:
    """Name each further minimum and maximum in expressions, those over indices included.

    What is stated of the ground speaks of one index of the shape, and a name is the minimum there.
    """
    named = dict(ground.vocabulary.shared)
    new: dict[Expr, str] = {}
    number = sum(1 for name in named.values() if name.startswith("m."))
    for expr in exprs:
        for each in extremes_in(expr):
            if each not in named and each not in new:
                new[each] = f"m.{number + len(new)}"
    vocabulary = replace(ground.vocabulary, shared={**named, **new})
    return replace(
        ground,
        vocabulary=vocabulary,
        variables=(*ground.variables, *new.values()),
        hypotheses=(*ground.hypotheses, *extreme_conditions(new, vocabulary)),
    )


def equals_layout(ground: Ground, other: Layout) -> Theorem:
    """Both layouts put every element at the same offset, in buffers of one size."""
    definitions = (
        ("left", offset(ground.layout, ground.vocabulary)),
        ("right", offset(other, ground.vocabulary)),
        ("size.left", slots(ground, ground.layout)),
        ("size.right", slots(ground, other)),
    )
    goals: tuple[Term, ...] = (
        *statement.assumptions(ground, ground.vocabulary),
        *ground.vocabulary.assumptions(*(each.value for each in other.coordinates)),
        ("=", "left", "right"),
        ("=", "size.left", "size.right"),
    )
    return of_elements(ground, "equal", definitions, goals)


def same_domain(ground: Ground, other: Layout) -> Theorem:
    """An index of the shape has a slot in both layouts, or in neither."""
    mine, theirs = (
        [ground.vocabulary.condition(condition) for condition in layout.domain]
        for layout in (ground.layout, other)
    )
    everywhere = replace(ground, layout=replace(ground.layout, domain=()))
    goals = (
        *(("=>", ("and", ("<=", 0, 0), *mine), each) for each in theirs),
        *(("=>", ("and", ("<=", 0, 0), *theirs), each) for each in mine),
    )
    return of_elements(everywhere, "domain", (), goals)


def equals_formula(ground: Ground, formula: Expr) -> Theorem:
    """The formula gives the offset of every element."""
    definitions = (
        ("left", offset(ground.layout, ground.vocabulary)),
        ("right", ground.vocabulary.term(formula)),
    )
    goals: tuple[Term, ...] = (
        *statement.assumptions(ground, ground.vocabulary),
        *ground.vocabulary.assumptions(formula),
        ("=", "left", "right"),
    )
    return of_elements(ground, "formula", definitions, goals)


def fits(ground: Ground, largest: int, element: ElementType | None = None) -> Theorem:
    """The size of the buffer is at most ``largest``; so is every offset that is in bounds.

    With an element type it is counted in bytes, rounded up: ``bits*size <= 8*largest``.
    """
    definitions = (*ground.definitions, ("size", slots(ground, ground.layout)))
    goal: Term = ("<=", "size", largest)
    if element is not None:
        goal = ("<=", ("*", element.bits, "size"), 8 * largest)
    return Theorem("fits", ground.variables, ground.hypotheses, (goal,), definitions)


def per_element(ground: Ground, most: int, of: int) -> Theorem:
    """The buffer has at most ``most/of`` slots for each element, copies of it among them."""
    first, *rest = [ground.extent(axis.name) for axis in ground.layout.element_axes] or [1]
    count = first
    for extent in rest:
        count = ("*", count, extent)
    size = slots(ground, ground.layout)
    definitions = (*ground.definitions, ("size", size), ("elements", count))
    goals: tuple[Term, ...] = (("<=", ("*", of, "size"), ("*", most, "elements")),)
    return Theorem("ratio", ground.variables, ground.hypotheses, goals, definitions)


def _run(
    ground: Ground, predicate: Keeps | Aligns
) -> tuple[statement.Definitions, tuple[Term, ...]]:
    """Define ``left``, the offset; ``z.c``, where the run starts; ``right``, the offset there.

    Returns what these terms rest on as well.
    """
    if any(indices(each) for each in ground.vocabulary.shared):
        raise NotExpressible("a minimum at one index is not that at another")
    start = start_of(predicate.run)
    names: dict[str, Term] = {name: f"z.{name}" for name in start.index}
    there = replace(ground.vocabulary, indices=names)
    definitions = (
        ("left", offset(ground.layout, ground.vocabulary)),
        *((step_name(name), ground.vocabulary.term(value)) for name, value in start.steps),
        *((f"z.{name}", ground.vocabulary.term(value)) for name, value in start.index.items()),
        ("right", offset(ground.layout, there)),
    )
    digits = ground.vocabulary.assumptions(*(each.value for each in flat(predicate.run)))
    here = statement.assumptions(ground, ground.vocabulary)
    return definitions, (*digits, *here, *statement.assumptions(ground, there))


def keeps(ground: Ground, predicate: Keeps) -> Theorem:
    """Every element lies as far from the start of its run as the run's digits say."""
    place = ground.vocabulary.term(MixedRadix(flat(predicate.run)))
    definitions, rests_on = _run(ground, predicate)
    goals: tuple[Term, ...] = (*rests_on, ("=", "left", ("+", "right", place)))
    return of_elements(ground, "contiguous", definitions, goals)


def aligns(ground: Ground, predicate: Aligns) -> Theorem:
    """Every run starts at a multiple of so many bits, counted from the start of the buffer."""
    bits: Term = ("*", predicate.element.bits, "right")
    definitions, rests_on = _run(ground, predicate)
    goals: tuple[Term, ...] = (*rests_on, ("=", ("mod", bits, 8 * predicate.bytes), 0))
    return of_elements(ground, "aligned", definitions, goals)


def sides(called: str, conditions: Iterable[Condition]) -> Iterator[tuple[str, Expr]]:
    """Yield both sides of comparisons, under the names by which they are read back."""
    for number, each in enumerate(conditions):
        yield f"{called}.{number}.left", each.left
        yield f"{called}.{number}.right", each.right


def printed(
    ground: Ground,
    inverse: Inverse | None,
    text: Mapping[str, Expr],
) -> Theorem:
    """Printed formulas, read back, say what the layout says; word for word needs no proof.

    If all of them are the layout's word for word, the theorem states the equation of the offset.

    Args:
        ground: of the layout.
        inverse: its closed inverse, where it has one.
        text: what was read back: ``offset``, ``size``, ``box.0`` and on, the `sides` of the domain,
            and where there is an inverse ``padded.c`` for each axis, each step and index by name,
            and the sides of guards.
    """
    named = {expr: name for expr, name in ground.vocabulary.shared.items() if name[:2] == "m."}
    plain = Vocabulary(named, axes=ground.vocabulary.axes)
    wanted: dict[str, Term] = {
        "offset": offset(ground.layout, ground.vocabulary),
        "size": slots(ground, ground.layout),
    }
    for number, coordinate in enumerate(ground.layout.coordinates):
        wanted[f"box.{number}"] = ground.vocabulary.term(coordinate.extent)
    spoken = [*sides("domain", ground.layout.domain)]
    steps: list[str] = []
    if inverse is not None:
        steps = ["_slot", *(name for name, _ in inverse.steps)]
        for axis, extent in inverse.padded:
            wanted[f"padded.{axis}"] = ground.vocabulary.term(extent)
        spoken += [*inverse.steps, *inverse.index, *sides("guard", inverse.guards)]
    wanted |= {name: ground.vocabulary.term(value) for name, value in spoken}
    said = {name: plain.term(text[name]) for name in wanted}
    goals = (
        *statement.assumptions(ground, ground.vocabulary),
        *plain.assumptions(text["offset"]),
        *(("=", said[name], term) for name, term in wanted.items() if said[name] != term),
    )
    equation: Term = ("=", said["offset"], wanted["offset"])
    theorem = of_elements(ground, "printed", (), goals or (equation,))
    names = tuple(map(step_name, steps))
    return replace(theorem, variables=(*theorem.variables, *names))
