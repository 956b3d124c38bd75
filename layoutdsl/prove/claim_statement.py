"""What has to be shown of a claim, written from the layouts and the predicate alone. Trusted.

Every theorem speaks of all indices of the shape, for all shapes of the range. `left` and `right`
are offsets in elements; `printed` holds the text of a formula, read back, against the layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from layoutdsl.bounds import ZERO
from layoutdsl.claims import Aligns, Keeps
from layoutdsl.digits import read
from layoutdsl.expr import Coordinate, Expr, Index, MixedRadix, Mul, Sub
from layoutdsl.inverse import Inverse
from layoutdsl.model import Layout
from layoutdsl.prove import statement
from layoutdsl.prove.checker import Term, Theorem
from layoutdsl.prove.statement import Ground
from layoutdsl.prove.terms import Unstated, Vocabulary, index_name, step_name


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


def _of_elements(
    ground: Ground, name: str, definitions: statement.Definitions, goals: tuple[Term, ...]
) -> Theorem:
    hypotheses = list(ground.hypotheses)
    for axis in ground.layout.axes:
        index = index_name(axis.name)
        hypotheses += [("<=", 0, index), ("<", index, ground.extent(axis.name))]
    indices = tuple(index_name(axis.name) for axis in ground.layout.axes)
    return Theorem(
        name,
        (*ground.variables, *indices),
        tuple(hypotheses),
        goals,
        (*ground.definitions, *definitions),
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
    return _of_elements(ground, "equal", definitions, goals)


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
    return _of_elements(ground, "formula", definitions, goals)


def fits(ground: Ground, largest: int) -> Theorem:
    """The size of the buffer is at most ``largest``; so is every offset that is in bounds."""
    definitions = (*ground.definitions, ("size", slots(ground, ground.layout)))
    goals: tuple[Term, ...] = (("<=", "size", largest),)
    return Theorem("fits", ground.variables, ground.hypotheses, goals, definitions)


def zeroed(run: tuple[Coordinate, ...]) -> dict[str, Expr]:
    """Return each index that the run is part of, with the digits of the run set to zero.

    Raises:
        Unstated: a digit is cut from a tuple, where no one index can be changed.
    """
    found: dict[str, Expr] = {}
    for each in flat(run):
        digit = read(each.value)
        if digit is None or not isinstance(digit.whole, Index):
            raise Unstated("a run over digits of a tuple is outside what proofs can say")
        name = digit.whole.name
        found[name] = Sub(found.get(name, Index(name)), Mul(each.value, digit.divisor))
    return found


def flat(run: tuple[Coordinate, ...]) -> tuple[Coordinate, ...]:
    """Return the run with each whole tuple replaced by its parts."""
    found: list[Coordinate] = []
    for each in run:
        match each.value:
            case MixedRadix(parts):
                found += flat(parts)
            case _:
                found.append(each)
    return tuple(found)


def _run(
    ground: Ground, predicate: Keeps | Aligns
) -> tuple[statement.Definitions, tuple[Term, ...]]:
    """Define ``left``, the offset; ``z.c``, where the run starts; ``right``, the offset there.

    Returns what these terms rest on as well.
    """
    changed = zeroed(predicate.run)
    starts = {name: ground.vocabulary.term(value) for name, value in changed.items()}
    names: dict[str, Term] = {name: f"z.{name}" for name in changed}
    there = replace(ground.vocabulary, indices=names)
    definitions = (
        ("left", offset(ground.layout, ground.vocabulary)),
        *((f"z.{name}", value) for name, value in starts.items()),
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
    return _of_elements(ground, "contiguous", definitions, goals)


def aligns(ground: Ground, predicate: Aligns) -> Theorem:
    """Every run starts at a multiple of so many bits, counted from the start of the buffer."""
    bits: Term = ("*", predicate.element.bits, "right")
    definitions, rests_on = _run(ground, predicate)
    goals: tuple[Term, ...] = (*rests_on, ("=", ("mod", bits, 8 * predicate.bytes), 0))
    return _of_elements(ground, "aligned", definitions, goals)


def printed(
    ground: Ground,
    inverse: Inverse | None,
    text: Mapping[str, Expr],
) -> Theorem:
    """Printed formulas, read back, say what the layout says.

    Args:
        ground: of the layout.
        inverse: its closed inverse, where it has one.
        text: what was read back: ``offset``, ``size``, ``box.0`` and on, and where there is an
            inverse ``padded.c`` for each axis and each step and index by name.
    """
    named = {expr: name for expr, name in ground.vocabulary.shared.items() if name[:2] == "m."}
    plain = Vocabulary(named, axes=ground.vocabulary.axes)
    wanted: dict[str, Term] = {
        "offset": offset(ground.layout, ground.vocabulary),
        "size": slots(ground, ground.layout),
    }
    for number, coordinate in enumerate(ground.layout.coordinates):
        wanted[f"box.{number}"] = ground.vocabulary.term(coordinate.extent)
    steps: list[str] = []
    if inverse is not None:
        steps = ["_slot", *(name for name, _ in inverse.steps)]
        for axis, extent in inverse.padded:
            wanted[f"padded.{axis}"] = ground.vocabulary.term(extent)
        for name, value in (*inverse.steps, *inverse.index):
            wanted[name] = ground.vocabulary.term(value)
    goals = (
        *statement.assumptions(ground, ground.vocabulary),
        *plain.assumptions(text["offset"]),
        *(("=", plain.term(text[name]), term) for name, term in wanted.items()),
    )
    theorem = _of_elements(ground, "printed", (), goals)
    names = tuple(map(step_name, steps))
    return replace(theorem, variables=(*theorem.variables, *names))
