"""What has to be shown of a record beside what is shown of each of its parts. Trusted.

Every theorem speaks of all shapes of the range, in extents of the record, and counts in bits:

* parts: the extents of every part are those of a shape that its layout is defined for;
* extents: all parts of a field speak of axes of the same extents;
* size: parts that begin at the same bit have buffers of one size; such parts are a region;
* after: each region begins where, or after, the one before it ends;
* apart: no bit of one part lies where a bit of another part of its region does.

Parts of different regions are apart as offsets are in bounds, which is shown of each part. That
each bit of each element is in exactly one part is no theorem: digits that are fixed, and bits, are
finitely many, and `whole` tells them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod

from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import Constant, Expr, Mul
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.part import Part
from layoutdsl.language.meaning.record import Field, Record
from layoutdsl.proof.kernel.theorem import Term, Theorem
from layoutdsl.proof.statements import statement
from layoutdsl.proof.statements.claim_statement import offset, slots
from layoutdsl.proof.statements.sound import PROPERTIES, RANGE
from layoutdsl.proof.statements.statement import OTHER, Ground
from layoutdsl.proof.statements.terms import Vocabulary, index_name

DEFINED = "every part has a shape of its own"
SIZE = "parts have a buffer of the same size"
AFTER = "regions lie one after the other"
APART = "no bit is held twice"
WHOLE = "every bit of every element is held once"


def pairs(record: Record) -> Iterator[tuple[int, int]]:
    """Yield the numbers of parts that begin at the same bit, two by two."""
    numbers = {id(part): number for number, part in enumerate(record.parts)}
    for region in record.regions:
        for one, other in combinations(region, 2):
            yield numbers[id(one)], numbers[id(other)]


def spoken(record: Record) -> tuple[Expr, ...]:
    """Return the extents of all coordinates of all parts, over the extents of the record."""
    return tuple(each.extent for layout in record.laid for each in layout.all_coordinates)


def ground_of(record: Record) -> Ground:
    """Return what all theorems of a record have in common."""
    everything = tuple(each for layout in record.laid for each in layout.all_coordinates)
    starts = tuple(each.start for each in record.laid if not isinstance(each.start, Constant))
    values = tuple(expr for part in record.parts for _, expr in part.values)
    frame = replace(record.frame, coordinates=tuple(dict.fromkeys(everything)))
    ground = statement.ground(frame, (*starts, *values))
    return replace(ground, layout=record.frame)


def nonempty(record: Record, values: Mapping[str, int]) -> Theorem:
    """One shape that the range contains."""
    return statement.nonempty(statement.ground(record.frame), values)


def parts(record: Record) -> Theorem:
    """The extents of every part are at least 1, and in the range of its layout."""
    ground = ground_of(record)
    plain = Vocabulary({e: n for e, n in ground.vocabulary.shared.items() if n[:2] == "m."})
    goals: list[Term] = []
    for part in record.parts:
        values = dict(part.values)
        goals += [("<=", 1, plain.term(each)) for each in values.values()]
        goals += [plain.condition(each.substituted(values)) for each in part.layout.where]
    return Theorem("parts", ground.variables, ground.hypotheses, tuple(dict.fromkeys(goals)))


def extents(record: Record) -> Theorem:
    """All parts of a field speak of axes of the same extents."""
    ground = ground_of(record)
    goals: list[Term] = []
    for field in record.fields:
        for part in field.parts[1:]:
            for digits, extent in zip(part.picks, field.extents, strict=True):
                size = _size(tuple(each.extent for each in digits))
                if size != extent:
                    left, right = ground.vocabulary.term(extent), ground.vocabulary.term(size)
                    goals.append(("=", left, right))
    return Theorem(
        "extents",
        ground.variables,
        ground.hypotheses,
        tuple(dict.fromkeys(goals)),
        ground.definitions,
    )


def _size(factors: tuple[Expr, ...]) -> Expr:
    found: Expr = Constant(1)
    for each in factors:
        found = Mul(found, each)
    return simplify(found)


def size(record: Record) -> Theorem:
    """Parts that begin at the same bit have buffers of one size."""
    ground = ground_of(record)
    definitions: list[tuple[str, Term]] = []
    goals: list[Term] = []
    numbers = {id(part): number for number, part in enumerate(record.parts)}
    for region in record.regions:
        for part in region:
            name = f"size.{numbers[id(part)]}"
            definitions.append((name, slots(ground, part.over_record)))
            if part is not region[0]:
                goals.append(("=", f"size.{numbers[id(region[0])]}", name))
    definitions = [*ground.definitions, *definitions]
    return Theorem("size", ground.variables, ground.hypotheses, tuple(goals), tuple(definitions))


def after(record: Record) -> Theorem:
    """Each region begins where, or after, the one before it ends."""
    ground = ground_of(record)
    definitions = list(ground.definitions)
    goals: list[Term] = []
    for number, (region, following) in enumerate(
        zip(record.regions, record.regions[1:], strict=False)
    ):
        definitions.append((f"end.{number}", slots(ground, region[0].over_record)))
        start = ground.vocabulary.term(following[0].over_record.start)
        definitions.append((f"start.{number}", start))
        goals.append(("<=", f"end.{number}", f"start.{number}"))
    return Theorem("after", ground.variables, ground.hypotheses, tuple(goals), tuple(definitions))


@dataclass(frozen=True, slots=True)
class Side:
    """One of two parts that are compared: its layout in bits, and how its terms are said."""

    layout: Layout
    vocabulary: Vocabulary
    extents: Mapping[str, Expr]
    called: str

    def index(self, axis: str) -> str:
        """Return the name of an index of this side."""
        return f"{index_name(axis)}{self.called}"


def two_sides(record: Record, one: int, other: int) -> tuple[Ground, Side, Side]:
    """Return what theorems about two parts have in common, and either part."""
    ground = ground_of(record)
    sides = []
    for number, called in ((one, ""), (other, OTHER)):
        layout, own = record.laid[number], record.parts[number].extents()
        names: dict[str, Term] = {a.name: f"{index_name(a.name)}{called}" for a in layout.axes}
        vocabulary = replace(ground.vocabulary, indices=names, axes=own)
        sides.append(Side(layout, vocabulary, own, called))
    return ground, sides[0], sides[1]


def apart(record: Record, one: int, other: int) -> Theorem:
    """No bit of one part lies where a bit of the other does: that one does is a contradiction."""
    ground, *sides = two_sides(record, one, other)
    hypotheses = list(ground.hypotheses)
    names: list[str] = []
    goals: list[Term] = []
    definitions = list(ground.definitions)
    for side, called in zip(sides, ("left", "right"), strict=True):
        for axis in side.layout.axes:
            index = side.index(axis.name)
            names.append(index)
            extent = side.vocabulary.term(side.extents[axis.name])
            hypotheses += [("<=", 0, index), ("<", index, extent)]
        values = (each.value for each in side.layout.coordinates)
        goals += side.vocabulary.assumptions(*values)
        definitions.append((called, offset(side.layout, side.vocabulary)))
    hypotheses.append(("=", "left", "right"))
    goals.append(("<", 0, 0))
    return Theorem(
        f"apart.{one}.{other}",
        (*ground.variables, *names),
        tuple(hypotheses),
        tuple(goals),
        tuple(definitions),
    )


def theorems(record: Record) -> Iterator[Theorem]:
    """Yield every theorem of a record but that of a shape of its range and those of its parts.

    Raises:
        NotExpressible: the checker's terms cannot say it.
    """
    for each in (parts(record), extents(record), size(record), after(record)):
        if each.goals:
            yield each
    for one, other in pairs(record):
        yield apart(record, one, other)


def labels(record: Record) -> tuple[str, ...]:
    """Return what each part is called, in the order of the text; no two are called the same."""
    found: list[str] = []
    for part in record.parts:
        again = sum(each.split(" #")[0] == part.label for each in found)
        found.append(f"{part.label} #{again + 1}" if again else part.label)
    return tuple(found)


def part_theorem(number: int, name: str) -> str:
    """Return what a theorem of a part is called among those of its record."""
    return f"p{number}.{name}"


def own_properties(record: Record) -> dict[str, tuple[str, ...]]:
    """Return the properties of a record as a whole, with the theorems that each of them is."""
    many = len(record.regions) > 1
    held = [f"apart.{one}.{other}" for one, other in pairs(record)]
    cut = ("extents",) if any(map(said_twice, record.fields)) else ()
    return {
        RANGE: ("range",),
        DEFINED: ("parts",) if any(part.values for part in record.parts) else (),
        SIZE: ("size",) if held else (),
        **({AFTER: ("after",)} if many else {}),
        APART: (*held, "after") if many else tuple(held),
        WHOLE: cut if all(not whole(each) for each in record.fields) else ("whole",),
    }


def said_twice(field: Field) -> bool:
    """Whether parts of a field say its extents in several ways."""
    return any(
        _size(tuple(each.extent for each in digits)) != extent
        for part in field.parts[1:]
        for digits, extent in zip(part.picks, field.extents, strict=True)
    )


def every_property(record: Record) -> tuple[str, ...]:
    """Return the names of the properties of a record and of its parts, where all of them apply."""
    own = tuple(own_properties(record))
    of_parts = (each for each in PROPERTIES if each != RANGE)
    return (*own, *(f"{label}: {name}" for label, name in product(labels(record), of_parts)))


def whole(field: Field) -> str:
    """Return why it is not seen that each bit of each element is in exactly one part.

    Nothing where it is. Parts that fix digits along an axis have to cut it alike; a part that fixes
    none holds every index along it. So each part is a box of digits and bits: boxes of which no two
    have a cell in common, and that have as many cells as there are, hold every cell once.
    """
    cuts: list[tuple[int, ...]] = []
    for axis in range(len(field.extents)):
        found = None
        for part in field.parts:
            digits = part.picks[axis]
            if all(each.name for each in digits):
                continue
            extents_ = tuple(simplify(each.extent) for each in digits)
            if found is not None and found != extents_:
                return f"parts of `{field.name}` cut its axis {axis + 1} in two ways"
            found = extents_
        sizes = []
        for place, extent in enumerate(found or ()):
            fixed = [
                part.picks[axis][place].fixed
                for part in field.parts
                if _fixes(part, axis) and not part.picks[axis][place].name
            ]
            if fixed and not isinstance(extent, Constant):
                return f"a digit of `{field.name}` is fixed whose extent is no number"
            size = extent.value if fixed and isinstance(extent, Constant) else 1
            if any(each >= size for each in fixed):
                return f"a digit of `{field.name}` is {max(fixed)}, outside 0..{size - 1}"
            sizes.append(size)
        cuts.append(tuple(sizes))
    for one, other in combinations(field.parts, 2):
        bits = set(one.bits) & set(other.bits)
        if bits and not _told_apart(one, other):
            return f"bit {min(bits)} of an element of `{field.name}` is in 2 parts"
    cells = field.element.bits * prod(prod(sizes) for sizes in cuts)
    if sum(len(part.bits) * _cells(part, cuts) for part in field.parts) != cells:
        return f"a bit of an element of `{field.name}` is in no part"
    return ""


def _fixes(part: Part, axis: int) -> bool:
    """Whether a part fixes a digit along an axis."""
    return not all(each.name for each in part.picks[axis])


def _told_apart(one: Part, other: Part) -> bool:
    """Whether a digit that both parts fix is another in each."""
    return any(
        not (mine.name or theirs.name) and mine.fixed != theirs.fixed
        for axis, (left, right) in enumerate(zip(one.picks, other.picks, strict=True))
        if _fixes(one, axis) and _fixes(other, axis)
        for mine, theirs in zip(left, right, strict=True)
    )


def _cells(part: Part, cuts: Sequence[Sequence[int]]) -> int:
    """How many values the digits have that parts fix, among what a part holds."""
    return prod(
        size
        for axis, sizes in enumerate(cuts)
        for place, size in enumerate(sizes)
        if not _fixes(part, axis) or part.picks[axis][place].name
    )
