"""That a tree of loops does what its layouts mean, for every shape.

The tree is walked once, every loop and every digit a variable; what has to hold of its stores is
written down (`statement`), is linear where blocks are numbers, and is left to the solver as it is.

>>> validate_tree(tree.EMPTY, layout, "pack", 4).reason
'a slot is written: a step of the proof does not follow'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from layoutdsl.code.loops import tree
from layoutdsl.code.validate.loops.magnitude import MOST_BYTES, MOST_GUARDED, Magnitudes, limits
from layoutdsl.code.validate.loops.sides import Sides, buffer, sides, tensor
from layoutdsl.code.validate.loops.statement import Branch, needs
from layoutdsl.code.validate.loops.stores import Need
from layoutdsl.code.validate.loops.theorems import by_halves, every, joined, near, stated
from layoutdsl.code.validate.loops.words import said
from layoutdsl.code.validate.loops.written import spelled_tree
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.code.validate.seals import seal, spelled
from layoutdsl.code.validate.terms import Meaningless, size
from layoutdsl.language.integers.bounds import ZERO
from layoutdsl.language.integers.expr import Expr
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import NoProof, by_hypotheses
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.theorem import Proof, Term, Theorem
from layoutdsl.proof.statements import statement as layout_statement
from layoutdsl.proof.statements.terms import NotExpressible

__all__ = [
    "both_sides",
    "proofs_of",
    "validate_c",
    "validate_c_conversion",
    "validate_tree",
    "validate_tree_conversion",
]


def validate_tree(
    node: tree.Node, layout: Layout, verb: Literal["pack", "unpack"], width: int
) -> Validated | NotValidated:
    """Return whether a tree was shown to pack or unpack a layout, for every shape of its range.

    Args:
        node: the tree.
        layout: without open parameters.
        verb: what the tree is for.
        width: of an element, in bytes; it is part of what is sealed.
    """
    return _validated((layout,), verb, width, lambda _: _tree(node))


def validate_tree_conversion(
    node: tree.Node, source: Layout, target: Layout, width: int
) -> Validated | NotValidated:
    """Return whether a tree was shown to turn the buffers of one layout into those of another.

    Args:
        node: the tree.
        source: the layout that is read, without open parameters.
        target: the layout that is written, over the same axes.
        width: of an element, in bytes; it is part of what is sealed.
    """
    return _validated((source, target), "convert", width, lambda _: _tree(node))


def validate_c(
    text: str, name: str, layout: Layout, verb: Literal["pack", "unpack"], width: int
) -> Validated | NotValidated:
    """Return whether functions of C were shown to pack or unpack a layout, for every shape.

    They do so wherever a caller hands them whole buffers below 2^52 bytes each, apart from each
    other, and pieces from 0 up to ``NAME_units``, each once, in any order or at the same time. They
    may return 3 in place of it, and then write nothing, wherever ``NAME_part`` says so first.

    Args:
        text: the functions ``NAME_walk``, ``NAME_units`` and ``NAME_part``, and what these need.
        name: of the function.
        layout: without open parameters.
        verb: what the functions are for.
        width: of an element, in bytes.
    """
    return _validated((layout,), verb, width, lambda found: _text(text, name, width, found))


def validate_c_conversion(
    text: str, name: str, source: Layout, target: Layout, width: int
) -> Validated | NotValidated:
    """Return whether functions of C were shown to turn buffers of one layout into those of another.

    They do so wherever a caller asks as for `validate_c`, of a tensor that would have less than
    2^52 bytes too, which matters where the layouts hold a part of it.

    Args:
        text: as in `validate_c`.
        name: of the function.
        source: the layout that is read, without open parameters.
        target: the layout that is written, over the same axes.
        width: of an element, in bytes.
    """
    layouts = (source, target)
    return _validated(layouts, "convert", width, lambda found: _text(text, name, width, found))


@dataclass(frozen=True, slots=True)
class _Moved:
    """Layouts and both sides of a move, and what it is."""

    layouts: tuple[Layout, ...]
    sides: Sides
    verb: str


_Reader = Callable[[_Moved], tuple[tuple[Branch, ...], str]]
"""Reads trees; and says them, to be sealed."""


def _tree(node: tree.Node) -> tuple[tuple[Branch, ...], str]:
    return (Branch((), (), node),), spelled_tree(node)


def _text(text: str, name: str, width: int, moved: _Moved) -> tuple[tuple[Branch, ...], str]:
    from layoutdsl.code.validate.loops.reading import read  # needs pycparser, of the extra `native`

    found = read(text, name, moved.layouts[0], width, fills=moved.verb != "unpack")
    first, *_ = moved.layouts
    known = moved.sides.known
    boxes = (tensor(first), *map(buffer, moved.layouts))
    room = (size(tuple(said(part.extent, known) for part in box.parts)) for box in boxes)
    below = [each for one in room for each in limits(("*", width, one), MOST_BYTES)]
    below += limits(said(found.guard, known), MOST_GUARDED)
    Magnitudes(known, found.counts, below).check(found.spoken)
    return found.branches, text


def both_sides(
    layouts: tuple[Layout, ...], verb: str, *, flat: bool = False, joins: bool = True
) -> Sides:
    """Return what a verb reads and writes.

    Args:
        layouts: the one that is packed or unpacked, or both of a conversion.
        verb: ``pack``, ``unpack`` or ``convert``.
        flat: the offset is the only coordinate, but for that of a tensor.
        joins: axes that both sides have as one are one.
    """
    first, last = layouts[0], layouts[-1]
    held = tuple(condition for each in layouts for condition in each.domain)
    whole, source, target = tensor(first), buffer(first), buffer(last)
    match verb:
        case "pack":
            starts: tuple[Expr, Expr] = ZERO, first.start
            return sides(first, whole, target, starts, held, flat=flat, joins=joins)
        case "unpack":
            starts = first.start, ZERO
            return sides(first, source, whole, starts, held, flat=flat, unpacks=True, joins=joins)
    starts = first.start, last.start
    return sides(first, source, target, starts, held, flat=flat, joins=joins)


def _validated(
    layouts: tuple[Layout, ...], verb: str, width: int, reader: _Reader
) -> Validated | NotValidated:
    try:
        if len({each.axes for each in layouts}) > 1:
            raise Meaningless("the layouts have other axes")
        first, *more = layouts
        ground = layout_statement.ground(first, more=tuple(more)).hypotheses
        both = both_sides(layouts, verb)
        branches, text = reader(_Moved(layouts, both, verb))
        found = _shown(branches, layouts, verb, ground)
    except (Meaningless, NotExpressible, NoProof) as reason:
        return NotValidated(str(reason))
    if isinstance(found, NotValidated):
        return found
    proved, questions = found
    sealed = (text, f"{verb} {width}", *map(spelled, layouts))
    certificate = Certificate(proved)
    bound = seal(*sealed, certificate.hash)
    return Validated(bound, len(proved), questions, ((verb, certificate),))


def _shown(
    branches: Sequence[Branch], layouts: tuple[Layout, ...], verb: str, ground: tuple[Term, ...]
) -> Proofs | NotValidated:
    """Theorems of trees: by coordinates, or else by what is done to scratch, or by offsets."""
    asked: list[Need] = []
    try:
        sides = both_sides(layouts, verb)
        asked = needs(branches, sides, ground)
        found: Proofs | NotValidated = proofs_of(asked, sides)
    except Meaningless as reason:
        found = NotValidated(str(reason))
    if not isinstance(found, NotValidated):
        return found
    exact = any("scratch" in each.about for each in asked)
    with suppress(Meaningless):
        sides = both_sides(layouts, verb, flat=not exact)
        again = proofs_of(needs(branches, sides, ground, exact=exact), sides)
        return found if isinstance(again, NotValidated) else again
    return found


Proofs = tuple[tuple[tuple[Theorem, Proof], ...], int]
"""Theorems with their proofs, and how many questions were answered."""


def proofs_of(found: Sequence[Need], sides: Sides) -> Proofs | NotValidated:
    """Proofs that leave each goal to the solver; or what does not follow.

    What follows from the facts near a goal does so soon; what is left is tried with all facts, up
    to the first that does not follow.
    """
    proved = list[tuple[Theorem, Proof]]()
    for number, pair in enumerate(dict.fromkeys(sides.pairs)):
        proved.append(joined(f"tree.joined.{number}", *pair))
    outcomes = establish(proved)
    for theorem, _ in proved:
        if not outcomes[theorem.name].established:
            return NotValidated(f"two coordinates are one: {outcomes[theorem.name].reason}")
    questions = sum(each.questions for each in outcomes.values())
    theorems = stated(found, near, "tree.near")
    proofs = [(each.theorem, by_hypotheses(each.theorem)) for each in theorems]
    outcomes = establish(proofs)
    proved += [each for each in proofs if outcomes[each[0].name].established]
    questions += sum(each.questions for each in outcomes.values())
    failed = [each for each in theorems if not outcomes[each.theorem.name].established]
    left = [need for each in failed for need in each.needs]
    for each in stated(left, every, "tree.every"):
        proof = (each.theorem, by_hypotheses(each.theorem))
        (outcome,) = establish([proof]).values()
        if not outcome.established:
            with suppress(NoProof):
                proof = (each.theorem, by_halves(each.theorem))
                (outcome,) = establish([proof]).values()
        if not outcome.established:
            return NotValidated(f"{each.needs[0].about}: {outcome.reason}")
        proved.append(proof)
        questions += outcome.questions
    return tuple(proved), questions
