"""The closed inverse of a layout, where it is known to be one; nothing else may be printed.

`inverse.invert` gives a candidate, read off the coordinates, and a reading may be wrong. Here it is
proved, for all shapes of the range, that its text reads every slot as the layout means it; in a
range of few shapes it is evaluated at every slot of each. Of a layout that holds only part of a
shape that is shown of the layout without its domain.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from layoutdsl.language.digits.inverse import Inverse, ReadBack, readings
from layoutdsl.language.digits.network import NotDigits
from layoutdsl.language.integers.expr import Extent, walk
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.budget import shared
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import establish
from layoutdsl.proof.prover.layout_check import prove_printed
from layoutdsl.proof.refute.exhaust import reads_back, whole_range
from layoutdsl.proof.statements.terms import NotExpressible
from layoutdsl.proof.tactics.soundness import Soundness

UNPROVED = NotDigits("the one that was read off the coordinates is not proved", "unproved")


@lru_cache(maxsize=256)
def closed_inverse(layout: Layout) -> Inverse | NotDigits:
    """Return the inverse of a layout as far as it is known to be right, or why there is none.

    It looks for a proof, which takes a solver some hundredths of a second; a solver that is missing
    leaves no inverse.
    """
    said = [layout.start]
    for place in layout.coordinates:
        said += place.value, place.extent
    for expr in said:
        for each in walk(expr):  # parts of records speak of extents of the record
            if isinstance(each, Extent) and each.name not in layout.symbols:
                words = f"it speaks of `{each.name}`, which no shape of it gives"
                return NotDigits(words, "unknown")
    for found in readings(layout):
        if isinstance(found, NotDigits):
            return found
        try:
            with shared():
                proved = _is_proved(layout, found)
        except RecursionError:
            proved = False
        if proved or _is_seen(layout, found.inverse):
            return found.inverse
    return UNPROVED


def _is_proved(layout: Layout, found: ReadBack) -> bool:
    try:
        soundness = Soundness(replace(layout, domain=()), found, lemmas.stated())
        proofs = [each for each in soundness.theorems() if each[0].name != "injective"]
        proofs.append(prove_printed(layout, found.inverse))
    except (NoProof, NotExpressible):
        return False
    return all(outcome.established for outcome in establish(proofs).values())


def _is_seen(layout: Layout, inverse: Inverse) -> bool:
    shapes = whole_range(layout)
    return shapes is not None and reads_back(layout, inverse, shapes)
