"""What scratch holds: in each slot a place of the source, or the fill. Trusted.

Whoever reads it then reads the source. Which place a slot holds is guessed from the stores, and
when it does: where the place is in the box of the source, or else where a store is done. That they
put that, and there alone, has to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.loops.cover import covers, guesses, resolved
from layoutdsl.code.validate.loops.ranges import below
from layoutdsl.code.validate.loops.sides import Side, Sides
from layoutdsl.code.validate.loops.stores import Here, Need, Write, ends, is_plain
from layoutdsl.code.validate.normal import Normal
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.proof.kernel.checker import Term, names, substitute

ALWAYS: Term = ("<", 0, 1)
NEVER: Term = ("<", 0, 0)

Ways = list[tuple[tuple[Term, ...], "tuple[Term, ...] | None"]]
"""Conditions, and what is read under them: a place of the source, ``None`` for the fill."""


@dataclass(frozen=True, slots=True)
class Held:
    """What scratch holds in a slot.

    Attributes:
        slot: its name.
        normal: of the terms.
        place: of the source.
        there: when it holds that.
        filled: when it holds the fill, where it does not hold a place.
    """

    normal: Normal
    slot: str
    place: tuple[Term, ...]
    there: Term
    filled: Term

    def at(self, slot: Term) -> tuple[tuple[Term, ...], Term, Term]:
        """Return the same of a slot."""
        values = {self.slot: slot}
        place = tuple(self.normal.form(substitute(each, values)) for each in self.place)
        there, filled = (substitute(each, values) for each in (self.there, self.filled))
        return place, self.normal.form(there), self.normal.form(filled)

    def read(self, slot: Term) -> tuple[Ways, Term]:
        """Return what a slot holds, and what says that it holds something."""
        place, there, filled = self.at(slot)
        if there == NEVER:
            return [((), None)], filled
        if filled == NEVER:
            return [((), place)], there
        return [((there,), place), ((("not", there),), None)], ("or", there, filled)


def held_by(
    sides: Sides, node: tree.Scratch, stores: Sequence[Write], here: Here, *, exact: bool
) -> tuple[Held, list[Need]]:
    """Return what scratch holds, and what has to be shown of that.

    Args:
        sides: what the tree reads and writes.
        node: the scratch.
        stores: into it; all that there are.
        here: around it.
        exact: a slot holds a place where a store is done, and not wherever that is in its box.

    Raises:
        Meaningless: no place is found for a slot.
    """
    normal, outer = sides.normal, len(here.variables)
    inner = [
        replace(each, here=replace(each.here, variables=each.here.variables[outer:]))
        for each in stores
    ]
    put = [each for each in inner if each.source is not None]
    own = below("q.0", node.size)
    known = frozenset(normal.form(each) for each in here.facts)
    place = _guess(normal, put, own) if put else ()
    needs = list[Need]()
    if exact or not put:
        fills = [each for each in inner if each.source is None]
        rest = ALWAYS if node.filled else _done(normal, fills, own, known)
        held = Held(normal, own, place, _done(normal, put, own, known), rest)
    else:
        there = _inside(sides, place)
        held = Held(normal, own, place, there, ALWAYS)
        slot = here.under(*ends((own,), (node.size,)))
        slot = slot.under(there) if node.filled else slot
        ways = [w for s in (put if node.filled else inner) for w in covers(normal, s, (own,))]
        needs.append(Need("a slot of scratch is written", slot.facts, ("or", *ways)))
    for each in stores:
        at, there, _ = held.at(each.target[0])
        if each.source is None:
            needs.append(Need("scratch is filled", each.here.facts, ("not", there)))
            continue
        goals: list[Term] = [("=", *both) for both in zip(at, each.source, strict=True)]
        needs += [Need("what scratch holds", each.here.facts, goal) for goal in (*goals, there)]
    return held, needs


def _inside(sides: Sides, place: Sequence[Term]) -> Term:
    """That a place is in the box of the source; of axes that both sides pad, an element's place."""
    slots = {f"p.{number}": each for number, each in enumerate(place)}
    padded = zip(_padded(sides, sides.source), _padded(sides, sides.target), strict=True)
    within = [
        ("<", substitute(index, slots), extent)
        for index, extent, both in zip(sides.source.index, sides.extents, padded, strict=True)
        if all(both)
    ]
    return sides.normal.form(("and", *ends(place, sides.source.box), *within))


def _padded(sides: Sides, side: Side) -> Iterator[bool]:
    """Whether a side has more slots than an axis has indices, for each."""
    last: dict[str, Term] = {f"p.{n}": ("-", extent, 1) for n, extent in enumerate(side.box)}
    for index, extent in zip(side.index, sides.extents, strict=True):
        most = sides.normal.form(("+", substitute(index, last), 1))
        yield most != sides.normal.form(extent)


def _done(normal: Normal, stores: Sequence[Write], slot: str, known: frozenset[Term]) -> Term:
    """When one of some stores is done to the slot, beside what is known anyway."""
    ways = dict[Term, None]()
    for each in stores:
        match covers(normal, each, (slot,))[0]:
            case ("and", *parts):
                left = [p for p in parts if p not in known and not is_plain(p)]
                ways[("and", ALWAYS, *left)] = None
    return ("or", *ways) if ways else NEVER


def _guess(normal: Normal, stores: Sequence[Write], slot: str) -> tuple[Term, ...]:
    """Which place of the source the slot holds."""
    first = stores[0]
    assert first.source is not None
    values = resolved(guesses(normal, first, (slot,))[0])
    place = tuple(normal.form(substitute(each, values)) for each in first.source)
    if {name for part in place for name in names(part)} & set(values):
        raise Meaningless("what scratch holds is no place of its slots")
    return place
