"""What has to be shown of a table, written from it and the layout alone. Trusted.

A table inverts a layout where all of this holds for every shape of the range:

* box: every slot coordinate has a slot at all; room: both buffers have the same size;
* held: the slot of every element is read to that element;
* single: a slot that is read to an element is the slot of that element; so every other slot is
  read to none.

A range may fix an extent: ``M == 1``, ``N == H``. The theorems then speak of the table and the
layout with that extent replaced by what it equals.

A table on its own has some layout. Whichever it is, `held` says that every element lies in a slot,
and `single` that it lies in no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from layoutdsl.language.digits.inference import NoLayout, infer
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    substitute,
)
from layoutdsl.language.meaning.claims import Inverts, TableClaim
from layoutdsl.language.meaning.model import Condition, Layout, instantiate
from layoutdsl.language.meaning.table import Table
from layoutdsl.proof.kernel.checker import Term, Theorem
from layoutdsl.proof.statements import claim_statement, statement
from layoutdsl.proof.statements.statement import Definitions, Ground
from layoutdsl.proof.statements.terms import Vocabulary, index_name


def common(claim: TableClaim) -> Table:
    """Return the table of a claim, in the shapes for which both sides are defined."""
    table = claim.ranged
    return replace(table, where=(*table.where, *further(claim)))


def further(claim: TableClaim) -> tuple[Condition, ...]:
    """Return the conditions of the layout that the table and the claim do not name themselves."""
    if not isinstance(claim.predicate, Inverts):
        return ()
    known = claim.ranged.where
    return tuple(each for each in claim.predicate.layout.where if each not in known)


def sides(claim: TableClaim) -> tuple[Table, Layout | NoLayout]:
    """Return the table of a claim and what it is to invert, fixed extents replaced in both.

    Of a layout that is read off the table nothing is taken but its coordinates.
    """
    table = common(claim)
    values = fixed(table.where)
    plain = fixed_table(table, values)
    if isinstance(claim.predicate, Inverts):
        layout = replace(claim.predicate.layout, where=table.where)
        return plain, fixed_layout(layout, values)
    found = infer(plain)
    if isinstance(found, NoLayout):
        return plain, found
    return plain, replace(plain.frame, name=found.name, coordinates=found.coordinates)


def fixed(where: Iterable[Condition]) -> dict[str, Expr]:
    """Return the extents that a range fixes, each with the number or extent that it equals."""
    found: dict[str, Expr] = {}
    for condition in where:
        sides = substitute(condition.left, found), substitute(condition.right, found)
        match condition.operator, *sides:
            case ("==", Extent(name), (Extent() | Constant()) as value) if value != Extent(name):
                pass
            case ("==", Constant() as value, Extent(name)):
                pass
            case _:
                continue
        found = {each: substitute(term, {name: value}) for each, term in found.items()}
        found[name] = value
    return found


def fixed_layout(layout: Layout, values: Mapping[str, Expr]) -> Layout:
    """Return the layout with extents replaced by what they equal."""
    found = instantiate(layout, values)
    left = (each for each in found.where if each.operator != "==" or each.left != each.right)
    parameters = tuple(name for name in layout.parameters if name not in values)
    return replace(found, where=tuple(left), parameters=parameters)


def fixed_table(table: Table, values: Mapping[str, Expr]) -> Table:
    """Return the table with extents replaced by what they equal."""
    frame = fixed_layout(table.frame, values)
    return replace(
        table.substituted(values), axes=frame.axes, where=frame.where, parameters=frame.parameters
    )


def ground(table: Table, layout: Layout) -> Ground:
    """Return the extents and their range; every term is spelled out, but minima and maxima.

    Args:
        table: over the axes of the layout.
        layout: its range is that of the theorems.
    """
    spoken = (*(slot.extent for slot in table.slots), *table.index)
    found = statement.ground(layout, spoken)
    named = {expr: name for expr, name in found.vocabulary.shared.items() if name[:2] == "m."}
    return replace(found, vocabulary=Vocabulary(named), definitions=())


def theorems(table: Table, layout: Layout) -> tuple[Theorem, ...]:
    """Return what makes a table the inverse of a layout, in the range of the layout."""
    found = ground(table, layout)
    return tuple(write(found, table) for write in (box, room, held, single))


def size(ground: Ground, table: Table) -> Term:
    """Return the number of slots."""
    first, *rest = (ground.vocabulary.term(slot.extent) for slot in table.slots)
    total: Term = first
    for extent in rest:
        total = ("*", total, extent)
    return total


def reading(ground: Ground, table: Table) -> Definitions:
    """Define, over ``slot``, the slot coordinates ``t.j`` and the index ``e.c`` they are read to.

    ``u.j`` is what is left of the slot for the coordinates up to ``j``.
    """
    *major, last = table.slots
    definitions: list[tuple[str, Term]] = []
    rest: Term = "slot"
    after = last
    for slot in reversed(major):
        extent = ground.vocabulary.term(after.extent)
        definitions.append((f"t.{after.name}", ("mod", rest, extent)))
        definitions.append((f"u.{slot.name}", ("div", rest, extent)))
        rest, after = f"u.{slot.name}", slot
    definitions.append((f"t.{after.name}", rest))
    names: dict[str, Term] = {slot.name: f"t.{slot.name}" for slot in table.slots}
    vocabulary = replace(ground.vocabulary, indices=names)
    for axis, expr in zip(table.axes, table.index, strict=True):
        definitions.append((read_name(axis.name), vocabulary.term(expr)))
    return tuple(definitions)


def read_name(axis: str) -> str:
    """Return the name of the index that a table reads a slot to."""
    return f"e.{axis}"


def box(ground: Ground, table: Table) -> Theorem:
    """Every slot coordinate has an extent of at least one."""
    goals = tuple(("<", 0, ground.vocabulary.term(slot.extent)) for slot in table.slots)
    return Theorem("box", ground.variables, ground.hypotheses, goals)


def room(ground: Ground, table: Table) -> Theorem:
    """The table has as many slots as the layout."""
    goal: Term = ("=", claim_statement.slots(ground, ground.layout), size(ground, table))
    return Theorem("room", ground.variables, ground.hypotheses, (goal,))


def held(ground: Ground, table: Table) -> Theorem:
    """The slot of every element is a slot of the table, and is read to that element."""
    hypotheses = list(ground.hypotheses)
    for axis in ground.layout.axes:
        index = index_name(axis.name)
        hypotheses += [("<=", 0, index), ("<", index, ground.extent(axis.name))]
    goals: list[Term] = [("<=", 0, "slot"), ("<", "slot", size(ground, table))]
    goals += [("=", read_name(axis.name), index_name(axis.name)) for axis in table.axes]
    indices = tuple(index_name(axis.name) for axis in ground.layout.axes)
    offset = claim_statement.offset(ground.layout, ground.vocabulary)
    definitions = (("slot", offset), *reading(ground, table))
    variables = (*ground.variables, *indices)
    return Theorem("held", variables, tuple(hypotheses), tuple(goals), definitions)


def single(ground: Ground, table: Table) -> Theorem:
    """A slot that is read to an element is the slot where the layout puts that element."""
    hypotheses = [*ground.hypotheses, ("<=", 0, "slot"), ("<", "slot", size(ground, table))]
    for axis in ground.layout.axes:
        index = read_name(axis.name)
        hypotheses += [("<=", 0, index), ("<", index, ground.extent(axis.name))]
    names: dict[str, Term] = {axis.name: read_name(axis.name) for axis in table.axes}
    offset = claim_statement.offset(ground.layout, replace(ground.vocabulary, indices=names))
    definitions = (*reading(ground, table), ("back", offset))
    goals: tuple[Term, ...] = (("=", "back", "slot"),)
    variables = (*ground.variables, "slot")
    return Theorem("single", variables, tuple(hypotheses), goals, definitions)


EVERY = "every element lies in a slot"


ONCE = "no element lies in two slots"


def table_properties(claim: TableClaim) -> tuple[str, ...]:
    """Return the properties that a claim speaks of, in words."""
    if isinstance(claim.predicate, Inverts):
        return (f"inverts {claim.predicate.layout.name}",)
    return (EVERY, ONCE)


def table_conditions(claim: TableClaim) -> tuple[str, ...]:
    """Return under which conditions a claim is proved."""
    match claim.predicate, further(claim):
        case Inverts(layout), (_, *_) as conditions:
            return (f"`{layout.name}` is defined: {', '.join(map(str, conditions))}",)
    return ()
