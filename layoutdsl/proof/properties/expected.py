"""What a certificate has to prove: the theorems of a claim, written anew from the claim alone.

Trusted, with the statements that it calls: a certificate stands for a claim only where the theorems
that its properties rest on are these. Other theorems in it are lemmas, which need no meaning of
their own. Nothing here has seen a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from layoutdsl.language.digits.domains import reading_of
from layoutdsl.language.digits.inverse import Inverse, ReadBack, invert, readings
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.meaning.claims import AnyClaim, RecordClaim, Sound, TableClaim
from layoutdsl.language.meaning.elements import INTEGER_TYPES
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.meaning.shapes import size_is_bounded
from layoutdsl.proof.kernel.theorem import Theorem
from layoutdsl.proof.properties.known import property_of
from layoutdsl.proof.properties.record import claimed, part_claims, unsaid
from layoutdsl.proof.statements import (
    applied_statement,
    claim_statement,
    domain_statement,
    record_statement,
    statement,
    table_statement,
)
from layoutdsl.proof.statements.interface_statement import interface_conditions, interface_theorems
from layoutdsl.proof.statements.printed import printed
from layoutdsl.proof.statements.record_statement import own_properties
from layoutdsl.proof.statements.sound import ONTO, RANGE, SIZE, UNBOUNDED, rests_on
from layoutdsl.proof.statements.statement import Ground
from layoutdsl.proof.statements.table_statement import (
    EVERY,
    ONCE,
    table_conditions,
    table_properties,
)
from layoutdsl.proof.statements.terms import NotExpressible

_OF_SLOTS = {
    "shape": statement.shape,
    "encode": statement.encode,
    "element": statement.element,
    "injective": statement.injective,
    "decode": statement.decode,
    "padding": statement.padding,
}
_OF_DOMAIN = (
    domain_statement.own,
    domain_statement.read,
    domain_statement.decode,
    domain_statement.rows,
    domain_statement.full,
)
_IN_BOUNDS = ("shape", "encode", "element")
_OF_TABLE = {EVERY: ("box", "held"), ONCE: ("box", "single")}
_INVERTS = ("box", "room", "held", "single")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of one property.

    Attributes:
        property: in words.
        rests_on: the theorems that it is; with none, its conditions say all.
        conditions: under which it is said to be proved.
        optional: whether it may be left out where every index was tried.
    """

    property: str
    rests_on: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    optional: bool = False


def wanted(claim: AnyClaim, theorems: Mapping[str, Theorem]) -> tuple[Wanted, ...]:
    """Return the properties of a claim, and on which of the theorems at hand each has to rest."""
    if isinstance(claim, RecordClaim):
        return tuple(_of_record_wanted(claim, theorems))
    if isinstance(claim, TableClaim):
        names, conditions = table_properties(claim), table_conditions(claim)
        return tuple(Wanted(name, _OF_TABLE.get(name, _INVERTS), conditions) for name in names)
    if isinstance(claim.predicate, Sound):
        unbounded = "fits" not in theorems and not size_is_bounded(claim.ranged)
        found = rests_on(claim.ranged, theorems)
        return tuple(
            Wanted(name, (), UNBOUNDED)
            if name == SIZE and unbounded
            else Wanted(name, names, interface_conditions(claim.ranged, name), name == ONTO)
            for name, names in found.items()
        )
    claimed = property_of(claim)
    bounds = _in_bounds(claim.ranged, theorems) if claimed.in_bounds else ()
    return (Wanted(claimed.words, (*claimed.theorems, *bounds), claimed.conditions),)


def _of_record_wanted(claim: RecordClaim, theorems: Mapping[str, Theorem]) -> Iterator[Wanted]:
    """Those of the whole, and those of each part, whose theorems have names of their own here."""
    if isinstance(claim.predicate, Sound):
        yield from (Wanted(name, by) for name, by in own_properties(claim.ranged).items())
    for each in part_claims(claim):
        mark = each.theorem("")
        own = {n.removeprefix(mark): t for n, t in theorems.items() if n.startswith(mark)}
        for want in wanted(each.claim, own):
            if want.property != RANGE:  # that the record has a shape says more
                by = tuple(map(each.theorem, want.rests_on))
                yield replace(want, property=each.named(want.property), rests_on=by)
    if unsaid(claim):
        yield Wanted(claimed(claim), ("unmatched",))


def _in_bounds(layout: Layout, theorems: Mapping[str, Theorem]) -> tuple[str, ...]:
    """The theorems by which every offset is in bounds: with an inverse, or without."""
    if layout.domain:
        return ("domain.element",)
    return ("bounds",) if "bounds" in theorems else _IN_BOUNDS


NOTHING: Mapping[str, Theorem] = {}


def restated(
    claim: AnyClaim, shape: Mapping[str, int] | None, stated: Mapping[str, Theorem] = NOTHING
) -> dict[str, Theorem]:
    """Return every theorem of a claim by name, as far as the checker's terms can say it.

    Args:
        claim: what the theorems are about.
        shape: a shape that the range of a layout is said to contain.
        stated: the theorems at hand. A layout has several readings, and each has an inverse and
            theorems of its own; those of the reading that `stated` is about are returned.
    """
    if isinstance(claim, TableClaim):
        return _of_table(claim)
    if isinstance(claim, RecordClaim):
        return _of_record(claim, shape, stated)
    layout = claim.ranged
    if isinstance(claim.predicate, Sound):
        return _of_layout(layout, shape, stated)
    claimed = property_of(claim)
    found: dict[str, Theorem] = {}
    try:
        said = claimed.statement()
        found |= {each.name: each for each in said.all}
    except NotExpressible:
        pass
    if claimed.in_bounds:
        names = ("domain.element",) if layout.domain else (*_IN_BOUNDS, "bounds")
        found |= {n: each for n, each in _of_slots(layout, stated).items() if n in names}
    return found


def _of_record(
    claim: RecordClaim, shape: Mapping[str, int] | None, stated: Mapping[str, Theorem]
) -> dict[str, Theorem]:
    record, found = claim.ranged, dict[str, Theorem]()
    if isinstance(claim.predicate, Sound):
        try:
            if shape is not None:
                found["range"] = statement.nonempty(statement.ground(record.frame), shape)
            found |= {each.name: each for each in record_statement.theorems(record)}
        except NotExpressible:
            return {}
    for each in part_claims(claim):
        mark = each.theorem("")
        own = {
            name.removeprefix(mark): replace(theorem, name=name.removeprefix(mark))
            for name, theorem in stated.items()
            if name.startswith(mark)
        }
        for name, theorem in restated(each.claim, None, own).items():
            found[each.theorem(name)] = replace(theorem, name=each.theorem(name))
    return found


def _of_table(claim: TableClaim) -> dict[str, Theorem]:
    table, layout = table_statement.sides(claim)
    if not isinstance(layout, Layout):
        return {}
    try:
        return {each.name: each for each in table_statement.theorems(table, layout)}
    except NotExpressible:
        return {}


def read_off(claim: AnyClaim) -> Layout | None:
    """Return the layout that is read off a table on its own, by which it is proved; or none."""
    if not isinstance(claim, TableClaim) or not isinstance(claim.predicate, Sound):
        return None
    _, layout = table_statement.sides(claim)
    return replace(layout, name=claim.table.name) if isinstance(layout, Layout) else None


def _of_layout(
    layout: Layout, shape: Mapping[str, int] | None, stated: Mapping[str, Theorem]
) -> dict[str, Theorem]:
    found = _of_slots(layout, stated) | {each.name: each for each in interface_theorems(layout)}
    try:
        inverse = _inverse_of(layout, stated)
        ground = statement.ground(layout)
        if shape is not None:
            found["range"] = _inhabited_at(ground, shape)
        found["fits"] = claim_statement.fits(ground, INTEGER_TYPES["int64"].largest)
        closed = inverse if isinstance(inverse, Inverse) else None
        found["printed"] = printed(layout, closed)[1]
        if layout.applied:
            found[applied_statement.THEOREM] = applied_statement.indices(layout)[1]
    except NotExpressible:
        pass
    return found


def _inhabited_at(ground: Ground, shape: Mapping[str, int]) -> Theorem:
    if not ground.layout.domain:
        return statement.nonempty(ground, shape)
    first = ground.layout.first(dict(shape))
    if first is None:
        raise NotExpressible("the shape holds no element")
    names = [axis.name for axis in ground.layout.axes]
    return domain_statement.nonempty(ground, shape, dict(zip(names, first, strict=True)))


def _inverse_of(layout: Layout, stated: Mapping[str, Theorem]) -> Inverse | NotDigits:
    """The inverse that theorems are about: of the first reading if they are about none."""
    if "encode" in stated and not layout.domain:
        for each in readings(layout):
            if isinstance(each, ReadBack):
                ground = _ground(layout, each.inverse)
                if statement.encode(ground, each.inverse) == stated["encode"]:
                    return each.inverse
    return invert(layout)


def _ground(layout: Layout, inverse: Inverse) -> Ground:
    return statement.ground(layout, tuple(extent for _, extent in inverse.padded))


def _of_slots(layout: Layout, stated: Mapping[str, Theorem]) -> dict[str, Theorem]:
    if layout.domain:
        return _of_domain(layout)
    try:
        inverse = _inverse_of(layout, stated)
        found = {"bounds": statement.bounds(statement.ground(layout))}
        if isinstance(inverse, Inverse):
            ground = _ground(layout, inverse)
            found |= {name: state(ground, inverse) for name, state in _OF_SLOTS.items()}
    except NotExpressible:
        return {}
    return found


def _of_domain(layout: Layout) -> dict[str, Theorem]:
    """The theorems of a layout with a domain, by the reading that is found for it anew."""
    reading = reading_of(layout)
    if isinstance(reading, NotDigits):
        return {}
    try:
        ground = statement.ground(layout)
        found = [
            domain_statement.element(ground),
            domain_statement.injective(ground),
            *(state(ground, reading) for state in _OF_DOMAIN),
        ]
    except NotExpressible:
        return {}
    return {each.name: each for each in found}
