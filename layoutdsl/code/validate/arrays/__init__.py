"""That the text of a numpy module does what its layout means, for every shape.

The text is parsed with Python's own parser and never run. Its views are read as loops over elements
(`reader`), and what has to hold of these is proved as for C (`validate.loops`). Slices need more:
numpy clips them in silence.

>>> len(validate(text, layout, source=source).seal)
64
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from layoutdsl.code.validate.arrays.matching import parsed
from layoutdsl.code.validate.arrays.reader import Reader
from layoutdsl.code.validate.arrays.statements import Slice, Turn
from layoutdsl.code.validate.loops import both_sides, proofs_of
from layoutdsl.code.validate.loops.magnitude import MOST_BYTES, Magnitudes, limits
from layoutdsl.code.validate.loops.ranges import below
from layoutdsl.code.validate.loops.sides import Sides, buffer, tensor
from layoutdsl.code.validate.loops.statement import Branch, needs
from layoutdsl.code.validate.loops.stores import Need, ends
from layoutdsl.code.validate.loops.words import compared, said
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.code.validate.seals import seal, spelled
from layoutdsl.code.validate.values import Meaningless, size
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.kernel.theorem import Proof, Term, Theorem
from layoutdsl.proof.statements import statement as layout_statement
from layoutdsl.proof.statements.terms import NotExpressible

Proofs = tuple[tuple[Theorem, Proof], ...]


def validate(text: str, layout: Layout, *, source: str) -> Validated | NotValidated:
    """Return whether the text of a module was shown to do what a layout means.

    Args:
        text: of a module with `pack`, `unpack`, `offset` and `physical_shape`.
        layout: without open parameters.
        source: what the module has to quote; that it states the layout is for others to see to.
    """
    try:
        module = parsed(text)
        if module.constants.get("SOURCE") != source:
            raise Meaningless("SOURCE is another text")
        reader = Reader(module, layout)
        reader.check_shapes()
        proved: Proofs = ()
        questions = 0
        for verb in ("pack", "unpack"):
            found = _shown(reader, verb)
            if isinstance(found, NotValidated):
                return NotValidated(f"{verb}: {found.reason}")
            proved, questions = (*proved, *found[0]), questions + found[1]
    except (Meaningless, NotExpressible, NoProof) as reason:
        return NotValidated(str(reason))
    except (RecursionError, MemoryError, ValueError) as reason:
        return NotValidated(f"the text is too large to be read: {reason}")
    bound = seal(sealed(text), spelled(layout), Certificate(proved).hash)
    return Validated(bound, len(proved), questions)


_UNSAID = re.compile(
    r'^(# Nobody has shown that [\w ]*\.\n)?VALIDATED = (False|"[\w: ]*")$', re.MULTILINE
)


def sealed(text: str) -> str:
    """Return the text of a module but for what it says of its own validation."""
    return _UNSAID.sub("", text)


_WAYS = ((False, True), (False, False), (True, True))
"""Whether the offset is the only coordinate, and whether axes are joined: one after the other."""


def _shown(reader: Reader, verb: str) -> tuple[Proofs, int] | NotValidated:
    """The theorems of a verb, in the first way in which they are proved."""
    layout = reader.layout if verb == "pack" else reader.layout.first_copy
    ground = layout_statement.ground(layout).hypotheses
    first: NotValidated | None = None
    for flat, joins in _WAYS:
        found: tuple[Proofs, int] | NotValidated
        try:
            node = reader.verb(verb, joins=joins)
            sides = both_sides((layout,), verb, flat=flat, joins=joins)
            _check_integers(reader, layout, sides)
            asked = needs((Branch((), (), node),), sides, ground)
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


def _check_integers(reader: Reader, layout: Layout, sides: Sides) -> None:
    """That no number of an array of indices leaves 64 bits, if both arrays are below 2^52 bytes."""
    if not reader.gathered:
        return
    known = sides.known
    room = [
        size(tuple(said(p.extent, known) for p in box(layout).parts)) for box in (tensor, buffer)
    ]
    below = [each for one in room for each in limits(one, MOST_BYTES)]
    Magnitudes(known, reader.counts, below).check(reader.gathered)
