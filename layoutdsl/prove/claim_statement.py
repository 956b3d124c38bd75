"""What has to be shown of a claim, written from the layouts and the predicate alone. Trusted.

Every theorem speaks of all indices of the shape, for all shapes of the range. `left` and `right`
are offsets in elements; `printed` holds the text of a formula, read back, against the layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from layoutdsl.bounds import ZERO, at_least, reach
from layoutdsl.claims import Aligns, IntegerType, Keeps
from layoutdsl.digits import Digit, apart, read
from layoutdsl.expr import (
    Add,
    CeilDiv,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    Sub,
    evaluate,
    indices,
    walk,
)
from layoutdsl.expr import text as written
from layoutdsl.inverse import Inverse
from layoutdsl.model import ElementType, Layout
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
    goals: tuple[Term, ...] = (("=", "left", "right"), ("=", "size.left", "size.right"))
    return _of_elements(ground, "equal", definitions, goals)


def equals_formula(ground: Ground, formula: Expr) -> Theorem:
    """The formula gives the offset of every element."""
    definitions = (
        ("left", offset(ground.layout, ground.vocabulary)),
        ("right", ground.vocabulary.term(formula)),
    )
    return _of_elements(ground, "formula", definitions, (("=", "left", "right"),))


def fits(ground: Ground, largest: int, element: ElementType | None = None) -> Theorem:
    """The size of the buffer is at most ``largest``; so is every offset that is in bounds.

    With an element type it is counted in bytes, rounded up: ``bits*size <= 8*largest``.
    """
    definitions = (*ground.definitions, ("size", slots(ground, ground.layout)))
    goal: Term = ("<=", "size", largest)
    if element is not None:
        goal = ("<=", ("*", element.bits, "size"), 8 * largest)
    return Theorem("fits", ground.variables, ground.hypotheses, (goal,), definitions)


def offsets_fit(ground: Ground, largest: int, element: ElementType | None = None) -> Theorem:
    """The offset of every element is between 0 and ``largest``.

    With an element type, so is the byte of each of its bits: the last is ``bits*(left + 1) - 1``.
    """
    definitions = (("left", offset(ground.layout, ground.vocabulary)),)
    goal: Term = ("<=", "left", largest)
    if element is not None:
        goal = ("<=", ("*", element.bits, ("+", "left", 1)), 8 * (largest + 1))
    return _of_elements(ground, "offsets", definitions, (("<=", 0, "left"), goal))


def computes(ground: Ground, type_: IntegerType) -> Theorem:
    """Every value on the way to the offset of an element is a value of the integer type.

    Raises:
        Unstated: C has no expression for the offset in which nothing is negative that it divides.
    """
    plain = Vocabulary(
        {expr: name for expr, name in ground.vocabulary.shared.items() if name.startswith("m.")}
    )
    goals: list[Term] = []
    for each in worked_out(ground.layout):
        value = plain.term(each)
        goals += [("<=", type_.least, value), ("<=", value, type_.largest)]
    return _of_elements(ground, "computes", (), tuple(dict.fromkeys(goals)))


def worked_out(layout: Layout) -> tuple[Expr, ...]:
    """Return every value that C works out on the way to an offset, as `formula_text.c` prints it.

    ``ceil(E/k)`` is printed as ``(E - 1)/k + 1``, so ``E + k - 1`` is not among them.

    Raises:
        Unstated: something that may be negative is divided, or ``E`` may not be positive.
    """
    axes = {axis.name: axis.extent for axis in layout.axes}
    whole: Expr = MixedRadix(layout.coordinates)
    found = list(_parts(whole, axes))
    if layout.start != ZERO:
        found += [*_parts(layout.start, axes), Add(layout.start, whole)]
    return tuple(dict.fromkeys(found))


def _parts(expr: Expr, axes: Mapping[str, Expr]) -> Iterator[Expr]:
    """Yield what an expression is worked out from, and then its own value."""
    match expr:
        case MixedRadix(parts):
            so_far = parts[0].value
            yield from _parts(so_far, axes)
            for part in parts[1:]:
                scaled = Mul(so_far, part.extent)
                so_far = Add(scaled, part.value)
                yield from (*_parts(part.extent, axes), scaled)
                yield from (*_parts(part.value, axes), so_far)
        case CeilDiv(left, right):
            if not (at_least(left, 1) and not indices(left)):
                raise Unstated(f"`{written(expr)}` may round up what is not positive")
            less = Sub(left, Constant(1))
            yield from (*_parts(left, axes), *_parts(right, axes), less, FloorDiv(less, right))
            yield expr
        case Index() | Extent() | Constant():
            yield expr
        case _:
            yield from (*_parts(expr.left, axes), *_parts(expr.right, axes))
            if isinstance(expr, FloorDiv | Mod):
                bound = reach(expr.left, axes)
                below = any(isinstance(each, Sub) for each in walk(expr.left))
                if below or bound is None or not at_least(bound.low, 0):
                    raise Unstated(f"`{written(expr)}` may divide what is negative")
            yield expr


def per_element(ground: Ground, most: int, of: int) -> Theorem:
    """The buffer has at most ``most/of`` slots for each element."""
    first, *rest = ground.layout.axes
    count = ground.extent(first.name)
    for axis in rest:
        count = ("*", count, ground.extent(axis.name))
    size = slots(ground, ground.layout)
    definitions = (*ground.definitions, ("size", size), ("elements", count))
    goals: tuple[Term, ...] = (("<=", ("*", of, "size"), ("*", most, "elements")),)
    return Theorem("ratio", ground.variables, ground.hypotheses, goals, definitions)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a run starts: an index, each of whose digits in the run is zero.

    Attributes:
        steps: for each tuple that the run cuts its value there, ``_t0``, and the parts that this
            value has: ``_t0_2`` the most minor, ``_t0_r1`` the rest above it, and so on.
        index: each index that is another one there, over the steps.
    """

    steps: tuple[tuple[str, Expr], ...]
    index: dict[str, Expr]

    def at(self, bound: Mapping[str, int]) -> dict[str, int]:
        """Return every extent and index at the start of the run that an index lies in."""
        values = dict(bound)
        for name, value in self.steps:
            values[name] = evaluate(value, values)
        return {**bound, **{name: evaluate(value, values) for name, value in self.index.items()}}


def start_of(run: tuple[Coordinate, ...]) -> Start:
    """Return where a run starts.

    A digit of a tuple is taken from the tuple's value, and the new value is split into the parts of
    the tuple as a slot is into coordinates. That may lead to an index of the padding.

    Raises:
        Unstated: a part of a tuple is no digit, or two digits share a part of an axis.
    """
    digits = [(each.value, _digit(each.value)) for each in flat(run)]
    changes: dict[Expr, list[Expr]] = {}
    cuts: dict[Expr, list[Digit]] = {}
    for value, digit in digits:
        changes.setdefault(digit.whole, []).append(Sub(Constant(0), Mul(value, digit.divisor)))
        cuts.setdefault(digit.whole, []).append(digit)
    steps: list[tuple[str, Expr]] = []
    number = 0
    while (whole := _outermost(changes)) is not None:
        value = _moved(whole, changes.pop(whole))
        for part, there in zip(whole.parts, _split(whole, value, number, steps), strict=True):
            digit = _digit(part.value)
            moved = Mul(Sub(there, part.value), digit.divisor)
            changes.setdefault(digit.whole, []).append(moved)
            cuts.setdefault(digit.whole, []).append(digit)
        number += 1
    for several in cuts.values():
        if any(not apart(one, other) for one, other in combinations(several, 2)):
            raise Unstated("a part of an axis is in the run twice")
    index = {w.name: _moved(w, moves) for w, moves in changes.items() if isinstance(w, Index)}
    return Start(tuple(steps), index)


def _outermost(changes: Mapping[Expr, object]) -> MixedRadix | None:
    """The tuple that no other one of these can be a part of."""
    tuples = [each for each in changes if isinstance(each, MixedRadix)]
    return max(tuples, key=lambda each: len(list(walk(each))), default=None)


def _moved(whole: Expr, changes: list[Expr]) -> Expr:
    for change in changes:
        whole = Add(whole, change)
    return whole


def _digit(value: Expr) -> Digit:
    digit = read(value)
    if digit is None:
        raise Unstated(f"`{written(value)}` is not a digit of an axis")
    return digit


def _split(
    whole: MixedRadix, value: Expr, number: int, steps: list[tuple[str, Expr]]
) -> list[Expr]:
    """Add the steps that split a value into the parts of a tuple; returns the parts."""
    name = f"_t{number}"
    steps.append((name, value))
    found: list[Expr] = []
    for place in range(len(whole.parts) - 1, 0, -1):
        rest, extent = Index(name), whole.parts[place].extent
        name = f"_t{number}_r{place - 1}"
        steps += [(f"_t{number}_{place}", Mod(rest, extent)), (name, FloorDiv(rest, extent))]
        found.insert(0, Index(f"_t{number}_{place}"))
    return [Index(name), *found]


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


def _run(ground: Ground, predicate: Keeps | Aligns) -> statement.Definitions:
    """Define ``left``, the offset; ``z.c``, where the run starts; ``right``, the offset there."""
    start = start_of(predicate.run)
    names: dict[str, Term] = {name: f"z.{name}" for name in start.index}
    there = replace(ground.vocabulary, indices=names)
    return (
        ("left", offset(ground.layout, ground.vocabulary)),
        *((step_name(name), ground.vocabulary.term(value)) for name, value in start.steps),
        *((f"z.{name}", ground.vocabulary.term(value)) for name, value in start.index.items()),
        ("right", offset(ground.layout, there)),
    )


def keeps(ground: Ground, predicate: Keeps) -> Theorem:
    """Every element lies as far from the start of its run as the run's digits say."""
    place = ground.vocabulary.term(MixedRadix(flat(predicate.run)))
    goals: tuple[Term, ...] = (("=", "left", ("+", "right", place)),)
    return _of_elements(ground, "contiguous", _run(ground, predicate), goals)


def aligns(ground: Ground, predicate: Aligns) -> Theorem:
    """Every run starts at a multiple of so many bits, counted from the start of the buffer."""
    bits: Term = ("*", predicate.element.bits, "right")
    goals: tuple[Term, ...] = (("=", ("mod", bits, 8 * predicate.bytes), 0),)
    return _of_elements(ground, "aligned", _run(ground, predicate), goals)


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
    plain = Vocabulary(
        {expr: name for expr, name in ground.vocabulary.shared.items() if name.startswith("m.")}
    )
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
    goals = tuple(("=", plain.term(text[name]), term) for name, term in wanted.items())
    theorem = _of_elements(ground, "printed", (), goals)
    names = tuple(map(step_name, steps))
    return replace(theorem, variables=(*theorem.variables, *names))
