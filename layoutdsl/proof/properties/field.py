"""What is claimed of one field of a record, as claims about the layouts of its parts. Trusted.

The lowest bit of an element is in one part: those parts that hold lowest bits are layouts of them,
and what the claim says in axes and extents of the field is said there in those of the part. Along
an axis that a part cuts, the index is the value of its digits: ``j`` is ``(s, 1 : 2, i : 4)``, and
``j%4`` is ``i``. An extent of which the part has an exact fraction is a multiple of that: where the
range says that 256 divides ``K``, and ``S`` is ``K/256``, ``K`` is ``256*S``. Any other stays a
name of its own, and what the part has of it is a condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from layoutdsl.language.integers.bounds import simplify
from layoutdsl.language.integers.expr import (
    Add,
    Constant,
    Coordinate,
    Expr,
    Extent,
    FloorDiv,
    Index,
    MixedRadix,
    Mod,
    Mul,
    substitute,
    substitute_coordinate,
)
from layoutdsl.language.meaning.claims import (
    Aligns,
    Claim,
    EqualsFormula,
    FieldFormula,
    OfField,
    Predicate,
)
from layoutdsl.language.meaning.elements import BIT, BIT_AXIS
from layoutdsl.language.meaning.model import Condition, Layout, instantiate
from layoutdsl.language.meaning.part import Part, plain
from layoutdsl.language.meaning.record import Record


def field_words(said: OfField) -> str:
    """Return what is said of a field, in words."""
    match said:
        case FieldFormula(name):
            return f"{name} lies where the formula says"
        case _:
            return f"{said.field} is aligned to {said.bytes} bytes"


def field_claims(record: Record, said: OfField) -> Iterator[tuple[int, Claim]]:
    """Yield what has to hold of each part that holds lowest bits, by the number of the part."""
    for number, part in enumerate(record.parts):
        if part.field == said.field and part.low == 0:
            claim = _of_part(record, part, said)
            if claim is not None:
                yield number, claim


def _of_part(record: Record, part: Part, said: OfField) -> Claim | None:
    """What has to hold of a part; nothing where the claim speaks of none of its elements."""
    values = extents_in(record, part)
    layout = _in_range(lowest(part), record, part, values)
    picked = _picked(part, said.axes, values)
    predicate: Predicate
    match said:
        case FieldFormula(formula=formula):
            values |= {axis: index_of(digits) for axis, digits in picked.items()}
            predicate = EqualsFormula(substitute(formula, values))
        case _:
            values |= {axis: _tuple(digits) for axis, digits in picked.items()}
            run = [digit for each in said.run for digit in _digits(each, values)]
            if any(isinstance(each.value, Constant) and each.value.value for each in run):
                return None  # a digit that the part fixes is never 0, and no run begins in it
            digits = tuple(each for each in run if not isinstance(each.value, Constant))
            predicate = Aligns(digits, said.bytes, BIT)
    return Claim("prove", layout, predicate, (), part.label)


def _digits(place: Coordinate, values: Mapping[str, Expr]) -> tuple[Coordinate, ...]:
    """A digit of a run in the digits of the part, which are 0 together where it is.

    These are its last ones, as many as it cuts, and of the next one what is left: where 16 divides
    what comes before, ``(s, t, i)%8`` with ``i : 16`` is 0 where ``i%8`` is.
    """
    found = substitute_coordinate(place, values)
    match found.value:
        case MixedRadix(parts):
            return parts
        case Mod(MixedRadix(parts), Constant(divisor)):
            return _last(parts, divisor) or (found,)
    return (found,)


def _last(parts: tuple[Coordinate, ...], divisor: int) -> tuple[Coordinate, ...]:
    """The last digits, of a number modulo another; none where they are cut across."""
    for number in reversed(range(len(parts))):
        value, extent = parts[number].value, parts[number].extent
        whole = extent.value if isinstance(extent, Constant) else None
        if divisor == 1:
            return parts[number + 1 :]
        if whole is not None and divisor % whole == 0:
            divisor //= whole
            continue
        if number and (whole is None or whole % divisor):
            return ()
        rest = Constant(value.value % divisor) if isinstance(value, Constant) else None
        least = Coordinate(rest or Mod(value, Constant(divisor)), Constant(divisor))
        return (least, *parts[number + 1 :])
    return parts


def lowest(part: Part) -> Layout:
    """Return where the lowest bit of each element of a part lies, in bits."""
    return replace(instantiate(part.in_bits, {BIT_AXIS: Constant(0)}), bit_of=None)


def extents_in(record: Record, part: Part) -> dict[str, Expr]:
    """Return what each extent and parameter of the record is in those of the part."""
    found: dict[str, Expr] = {}
    for name, expr in part.values:
        match expr:
            case Extent(whole):
                found[whole] = Extent(name)
    for name, expr in part.values:
        match expr:
            case FloorDiv(Extent(whole), Constant(divisor)) if _divides(divisor, whole, record):
                found.setdefault(whole, Mul(Constant(divisor), Extent(name)))
    taken = {name for name, _ in part.values} | {axis.name for axis in part.layout.axes}
    for name in record.frame.symbols:
        if name not in found:
            fresh = name
            while fresh in taken:
                fresh += "_"
            taken.add(fresh)
            found[name] = Extent(fresh)
    return found


def _divides(divisor: int, whole: str, record: Record) -> bool:
    """Whether the range says that a number divides an extent of the record."""
    return any(
        left == Extent(whole) and number % divisor == 0
        for each in record.where
        for left, number in multiples(each)
    )


def multiples(condition: Condition) -> Iterator[tuple[Expr, int]]:
    """Yield what a condition says to be a multiple, and of what number."""
    match condition:
        case Condition(Mod(left, Constant(number)), "==", Constant(0)):
            yield left, number


def narrowed(record: Record, part: Part) -> Layout:
    """Return where a part puts bits, in the shapes of the record and in no others."""
    return _in_range(part.in_bits, record, part, extents_in(record, part))


def _in_range(layout: Layout, record: Record, part: Part, values: Mapping[str, Expr]) -> Layout:
    """The layout in the shapes that the record has, with names for extents of it."""
    own = {name for name, _ in part.values}
    further = tuple(
        each.name for each in values.values() if isinstance(each, Extent) and each.name not in own
    )
    conditions = [plain(each.substituted(values)) for each in record.where]
    if further:
        told = ((Extent(name), substitute(expr, values)) for name, expr in part.values)
        conditions += [Condition(one, "==", other) for one, other in told if one != other]
    kept = (each for each in conditions if each is not None)
    return replace(
        layout,
        where=tuple(dict.fromkeys((*layout.where, *kept))),
        parameters=(*layout.parameters, *further),
    )


def _picked(
    part: Part, axes: tuple[str, ...], values: Mapping[str, Expr]
) -> dict[str, tuple[Coordinate, ...]]:
    """The digits that the part has of the index along each axis of the field."""
    return {axis: picked_digits(part, number, values) for number, axis in enumerate(axes)}


def picked_digits(part: Part, axis: int, values: Mapping[str, Expr]) -> tuple[Coordinate, ...]:
    """Return the digits that the part has of the index along an axis of the field."""
    return tuple(
        Coordinate(
            Index(each.name) if each.name else Constant(each.fixed),
            simplify(substitute(each.extent, values)),
        )
        for each in part.picks[axis]
    )


def _tuple(digits: tuple[Coordinate, ...]) -> Expr:
    return digits[0].value if len(digits) == 1 else MixedRadix(digits)


def index_of(digits: tuple[Coordinate, ...]) -> Expr:
    """Return the number of the digits; a sum where a digit is fixed, of which solvers know more."""
    if all(isinstance(each.value, Index) for each in digits):
        return _tuple(digits)
    found = digits[0].value
    for each in digits[1:]:
        found = Add(Mul(found, each.extent), each.value)
    return simplify(found)
