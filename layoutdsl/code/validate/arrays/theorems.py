"""The theorems of a module of views: those of its loops, and the needs of its slices. Trusted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.arrays.statements import Slice, Statements, Turn
from layoutdsl.code.validate.loops import both_sides, proofs_of
from layoutdsl.code.validate.loops.ranges import below
from layoutdsl.code.validate.loops.sides import Sides
from layoutdsl.code.validate.loops.statement import Branch, needs
from layoutdsl.code.validate.loops.stores import Need, ends
from layoutdsl.code.validate.loops.words import compared, said
from layoutdsl.code.validate.outcome import NotValidated
from layoutdsl.code.validate.terms import Meaningless
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.theorem import Proof, Term, Theorem
from layoutdsl.proof.statements import statement as layout_statement

Proofs = tuple[tuple[Theorem, Proof], ...]
_UNSAID = re.compile(
    r'^(# Nobody has shown that [\w ]*\.\n)?VALIDATED = (False|"[\w: ]*")$', re.MULTILINE
)


def sealed(text: str) -> str:
    """Return the text of a module but for what it says of its own validation."""
    return _UNSAID.sub("", text)


_WAYS = ((False, True, False), (False, False, False), (True, True, False), (True, False, True))
"""Ways to state the theorems: whether the offset is the only coordinate, whether axes are joined,
and whether a layout that goes by its formula may leave the buffer."""
_OF_LAYOUTS = ("an element's slot", "a place in the target", "a place in the source")
"""Needs that speak of the layout's own offsets alone."""


def shown(
    reader: Statements,
    layouts: tuple[Layout, ...],
    verb: str,
    read: Callable[[bool], tree.Node],
    check: Callable[[Sides], None] = lambda _: None,
    by_formula: Callable[[], bool] = lambda: False,
) -> tuple[Proofs, int] | NotValidated:
    """Return the theorems of a verb and the questions answered, of the first way that is proved.

    Args:
        reader: knows what slices need, once a verb is read.
        layouts: the one that is packed or unpacked, or both of a conversion.
        verb: ``pack``, ``unpack`` or ``convert``.
        read: returns what the verb does; its argument says whether axes are joined.
        check: raises `Meaningless` if something else is wrong.
        by_formula: whether every element is moved by an offset, once the verb is read. Whether that
            is within the buffer is then a property of the layout, and not asked of the text: an
            undecided layout may leave it.

    Raises:
        NotExpressible: a layout says what terms cannot.
    """
    one, *more = layouts
    ground = layout_statement.ground(one, more=tuple(more)).hypotheses
    first: NotValidated | None = None
    for flat, joins, leaves in _WAYS:
        found: tuple[Proofs, int] | NotValidated
        try:
            node = read(joins)
            sides = both_sides(layouts, verb, flat=flat, joins=joins)
            check(sides)
            asked = needs((Branch((), (), node),), sides, ground)
            if leaves and not by_formula():
                break
            asked = [each for each in asked if not (leaves and each.about in _OF_LAYOUTS)]
            found = proofs_of([*asked, *_of_slices(reader.slices, sides, ground)], sides)
        except Meaningless as reason:
            found = NotValidated(str(reason))
        if not isinstance(found, NotValidated):
            return found
        first = first or found
    assert first is not None
    return first


def _of_slices(slices: Sequence[Slice], sides: Sides, ground: tuple[Term, ...]) -> list[Need]:
    """Return the goals of slices and reshapes, beside those of the loops."""
    form = sides.normal.form
    facts = (*map(form, ground), *(("<=", 1, form(each)) for each in sides.positive))
    found = list[Need]()
    for each in dict.fromkeys(slices):
        known, here = dict(sides.known), list[Term]()
        for given in each.given:
            if isinstance(given, Turn):
                known[given.name] = below(f"v.{len(known)}", said(given.count, known))
                here += ends((known[given.name],), (said(given.count, known),))
            else:
                here.append(compared(given, known))
        goal = ("<=", said(each.low, known), said(each.high, known))
        found.append(Need(each.about, (*facts, *map(form, here)), form(goal)))
    return found
