"""That the text of a numpy module does what its layout means, for every shape.

The text is parsed with Python's own parser and never run. Its views are read as loops over elements
(`statements`), and what has to hold of these is proved as for C (`validate.loops`). Slices need
more: numpy clips them in silence.

>>> len(validate(text, layout, source=source).seal)
64
"""

from __future__ import annotations

from functools import partial

from layoutdsl.code.validate.arrays.codecs import check_codecs
from layoutdsl.code.validate.arrays.conversions import validate_conversion
from layoutdsl.code.validate.arrays.matching import parsed
from layoutdsl.code.validate.arrays.reader import Reader
from layoutdsl.code.validate.arrays.theorems import Proofs, sealed, shown
from layoutdsl.code.validate.loops.magnitude import MOST_BYTES, Magnitudes, limits
from layoutdsl.code.validate.loops.sides import Sides, buffer, tensor
from layoutdsl.code.validate.loops.words import said
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.code.validate.seals import seal, spelled
from layoutdsl.code.validate.terms import Meaningless, size
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate
from layoutdsl.proof.statements.terms import NotExpressible

__all__ = ["sealed", "validate", "validate_conversion"]


def validate(text: str, layout: Layout, *, source: str) -> Validated | NotValidated:
    """Return whether the text of a module was shown to do what a layout means.

    Args:
        text: of a module with `pack`, `unpack`, `offset` and `physical_shape`; it may also have the
            functions of words, and has those of codes if elements are codes.
        layout: without open parameters.
        source: what the module has to quote; that it states the layout is for others to see to.
    """
    try:
        module = parsed(text)
        if module.constants.get("SOURCE") != source:
            raise Meaningless("SOURCE is another text")
        check_codecs(module.codecs, layout)
        reader = Reader(module, layout)
        reader.check_shapes()
        proved: Proofs = ()
        certificates, questions = list[tuple[str, Certificate]](), 0
        for verb in ("pack", "unpack"):
            found = _shown(reader, verb)
            if isinstance(found, NotValidated):
                return NotValidated(f"{verb}: {found.reason}")
            certificates.append((verb, Certificate(found[0])))
            proved, questions = (*proved, *found[0]), questions + found[1]
    except (Meaningless, NotExpressible, NoProof) as reason:
        return NotValidated(str(reason))
    except (RecursionError, MemoryError, ValueError) as reason:
        return NotValidated(f"the text is too large to be read: {reason}")
    bound = seal(sealed(text), spelled(layout), Certificate(proved).hash)
    return Validated(bound, len(proved), questions, tuple(certificates))


def _shown(reader: Reader, verb: str) -> tuple[Proofs, int] | NotValidated:
    layout = reader.layout if verb == "pack" else reader.layout.first_copy
    check = partial(_check_integers, reader, layout)
    return shown(
        reader,
        (layout,),
        verb,
        lambda joins: reader.verb(verb, joins=joins),
        check,
        lambda: reader.is_gathered,
    )


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
