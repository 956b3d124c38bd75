"""What has to be shown of a tree, for all shapes of its layouts. Trusted.

* bounds: each place that is read or written lies in its box, and what a node asks for is so: counts
  are not negative, an edge is no longer than its rows, an extent not below the step of its slide;
* right: what is read at one place is the element whose other place is written;
* fill: no element has a place at which the fill is stored;
* cover: each slot is written;
* pieces, which threads may do at the same time, write slots of their own (`pieces`).

From *right* and *fill* every store is the right value of its slot, whatever the order, so slots may
be written twice; with *cover* all slots hold it. Where the tree begins by filling its whole target,
only slots of elements have to be covered after that. A tensor that is unpacked keeps what no layout
holds: nothing is written there, and nothing has to be. It rests on the theorems of the layout by
itself, that each element has a slot of its own. Kernels are their contract, the buffers do not
overlap, and a shape has positive extents here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.loops.cover import covers
from layoutdsl.code.validate.loops.elements import element
from layoutdsl.code.validate.loops.pieces import apart
from layoutdsl.code.validate.loops.sides import Sides
from layoutdsl.code.validate.loops.stores import Here, Need, Write, ends
from layoutdsl.code.validate.loops.words import compared, said
from layoutdsl.code.validate.loops.writes import Writes
from layoutdsl.code.validate.terms import size
from layoutdsl.language.integers.conditions import Condition
from layoutdsl.proof.kernel.checker import Term, substitute


@dataclass(frozen=True, slots=True)
class Branch:
    """A tree, for the shapes of which some tests hold and others do not.

    Attributes:
        tests: over extents, and whether each holds.
        shared: of its outermost loops, those that threads share, how far a piece of each goes.
        node: the tree.
    """

    tests: tuple[tuple[Condition, bool], ...]
    shared: tuple[int, ...]
    node: tree.Node


def needs(
    branches: Sequence[Branch], sides: Sides, ground: tuple[Term, ...], *, exact: bool = False
) -> list[Need]:
    """Return what has to be shown of trees, of which there is one for each shape.

    Args:
        branches: the trees.
        sides: what they read and write.
        ground: what is known of a shape.
        exact: how it is guessed when scratch holds something.

    Raises:
        Meaningless: a tree does what no rule is known for.
        NotExpressible: it says what terms cannot.
    """
    filled = False
    if len(branches) == 1 and not branches[0].shared:
        body, filled = _body(branches[0].node, sides)
        branches = [replace(branches[0], node=body)]
    writes, normal = Writes(sides, exact), sides.normal.form
    for each in branches:
        before = len(writes.stores)
        writes.walk(each.node, Here(dict(sides.known)).under(*_tests(each, sides)))
        writes.needs += apart(sides, writes.stores[before:], each.shared)
    found = [*writes.needs, *_each(sides, writes.stores), _cover(sides, writes.stores, filled)]
    known = tuple(map(normal, (*ground, *(("<=", 1, each) for each in sides.positive))))
    return [replace(n, facts=(*known, *n.facts), goal=normal(n.goal)) for n in found]


def _tests(branch: Branch, sides: Sides) -> Iterator[Term]:
    for condition, holds in branch.tests:
        found = sides.normal.form(compared(condition, sides.known))
        yield found if holds else ("not", found)


def _body(node: tree.Node, sides: Sides) -> tuple[tree.Node, bool]:
    """The tree without a fill of the whole target before it, and whether there is one."""
    match node:
        case tree.Seq((tree.Fill(tree.Place(tree.TARGET, offset), count), *rest)) if (
            not sides.keeps
        ):
            first, many = said(offset, sides.known), said(count, sides.known)
            whole = size(sides.target.box)
            normal = sides.normal.form
            if normal(first) == sides.target.start and normal(many) == normal(whole):
                return tree.Seq(tuple(rest)), True
    return node, False


def _each(sides: Sides, stores: list[Write]) -> Iterator[Need]:
    """That every store is right: of the element that is read, or of none."""
    index = tuple(f"i.{number}" for number in range(len(sides.extents)))
    held = (*ends(index, sides.extents), *sides.held)
    for value, most in (*sides.source.bounds, *sides.target.bounds):
        yield Need("an element's slot", held, ("and", *ends((value,), (most,))))
    for store in stores:
        if store.source is None:
            there = [("=", *both) for both in zip(sides.target.values, store.target, strict=True)]
            if sides.target.is_tensor or not there:
                yield Need("an element is filled", store.here.facts, ("<", 0, 0))
            else:
                goal: Term = ("not", ("and", *there))
                yield Need("an element is filled", (*store.here.facts, *held), goal)
            continue
        values = {f"i.{n}": each for n, each in enumerate(element(sides, store))}
        goals = [substitute(each, values) for each in held]
        for box, at in ((sides.source, store.source), (sides.target, store.target)):
            goals += [("=", substitute(v, values), p) for v, p in zip(box.values, at, strict=True)]
        for each in goals:
            yield Need("an element's place", store.here.facts, each)


def _cover(sides: Sides, stores: list[Write], filled: bool) -> Need:
    """That each slot is written; where the others are filled, or there are none, each element's.

    An element's slot is written where the element is read, which may be easier to find.
    """
    normal, index = sides.normal, tuple(f"i.{n}" for n in range(len(sides.extents)))
    held = (*ends(index, sides.extents), *sides.held)
    slots, elements = normal.form(size(sides.target.box)), normal.form(size(sides.extents))
    side, slot, facts = sides.target, index, held
    of_elements = filled or (side.is_flat and slots == elements and not sides.held)
    ways = list[Term]()
    if of_elements and (sides.source.is_tensor or side.is_flat):
        read = [replace(s, target=element(sides, s)) for s in stores if s.source is not None]
        ways += (way for each in read for way in covers(normal, each, index))
        own = {f"p.{number}": value for number, value in enumerate(side.values)}
        if not side.is_flat:
            found = (way for each in stores for way in covers(normal, each, tuple(own)))
            ways += (normal.form(substitute(way, own)) for way in found)
    else:
        if not side.is_tensor or (sides.held and not sides.keeps):
            slot = tuple(f"p.{number}" for number in range(len(sides.target.box)))
            values = zip(slot, side.values, strict=True)
            of_element = (*held, *(("=", own, value) for own, value in values))
            facts = of_element if of_elements else ends(slot, side.box)
        ways += (way for each in stores for way in covers(normal, each, slot))
    ways = list(dict.fromkeys(ways))
    return Need("a slot is written", facts, ("or", *ways) if ways else ("<", 0, 0))
