"""Translation validation: that the text of an emitted module does what its layout means.

The text is read back with Python's own parser and is never run. It is executed over views with
symbolic extents (`reading`, by the rules of `meaning`), what has to be shown of that is written
down (`statement`, `partition`, `theorems`), and proved with the `tactics`. No file
here knows how texts are generated.

>>> len(validate(text, layout, source=source).seal)
64
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from layoutdsl.code.validate.copies import Functions, halves, moves_rows
from layoutdsl.code.validate.dividing import divide
from layoutdsl.code.validate.frame import framed, sealed
from layoutdsl.code.validate.gathering import GatherStatement, RowStatement
from layoutdsl.code.validate.ground import Stated
from layoutdsl.code.validate.outcome import NotValidated, Validated
from layoutdsl.code.validate.proofs import leading_facts, proof_of
from layoutdsl.code.validate.reading import Raised
from layoutdsl.code.validate.seals import seal, spelled
from layoutdsl.code.validate.statement import Statement
from layoutdsl.code.validate.theorems import theorems
from layoutdsl.code.validate.values import Meaningless
from layoutdsl.language.meaning.model import Layout
from layoutdsl.proof.kernel import lemmas
from layoutdsl.proof.kernel.builder import NoProof
from layoutdsl.proof.kernel.certificate import Certificate, establish
from layoutdsl.proof.kernel.checker import Proof, Theorem
from layoutdsl.proof.statements.terms import NotExpressible

__all__ = ["NotValidated", "Validated", "validate", "validate_conversion"]


def validate(text: str, layout: Layout, *, source: str) -> Validated | NotValidated:
    """Return whether the text of a module was shown to do what a layout means.

    Args:
        text: of a module with `pack`, `unpack`, `offset` and `physical_shape`.
        layout: without open parameters.
        source: what the module has to quote; that it states the layout is for others to see to.
    """

    def read() -> list[Stated]:
        frame = framed(text)
        if frame.constants.get("SOURCE") != source:
            raise Meaningless("SOURCE is another text")
        if frame.has_copies != bool(layout.copies):
            raise Meaningless("the copies of elements are others")
        if layout.copies:
            every, first = halves(layout, frame.functions)
            parts = [_Part(layout.every_copy, every, moves_rows(every))]
            parts.append(_Part(layout.first_copy, first, moves_rows(first)))
        else:
            parts = [_Part(layout, frame.functions, frame.has_rows)]
        by_element = any(each.gathers and not each.has_rows for each in parts)
        if isinstance(frame.constants.get("FALLBACK"), str) != by_element:
            raise Meaningless("FALLBACK does not say how elements are moved")
        whole, *others = (each.statement for each in parts)
        return [whole.all(), *(each.unpacks() for each in others)]

    return _shown(read, text, (layout,))


@dataclass(frozen=True, slots=True)
class _Part:
    """Functions of a module, and the layout that they move."""

    layout: Layout
    functions: Functions
    has_rows: bool

    @property
    def gathers(self) -> bool:
        """Whether elements are moved by their offsets."""
        return bool(self.layout.domain) or "_offsets" in self.functions

    @property
    def statement(self) -> Statement:
        """What has to be shown of them."""
        moves = RowStatement if self.has_rows else GatherStatement
        return (moves if self.gathers else Statement)(self.layout, self.functions)


def validate_conversion(
    text: str, source: Layout, target: Layout, *, texts: tuple[str, str]
) -> Validated | NotValidated:
    """Return whether the text of a module was shown to turn one layout's buffers into another's.

    Args:
        text: of a module with `convert`.
        source: the layout that is read, without open parameters.
        target: the layout that is written, over the same axes and in the same range of shapes.
        texts: what the module has to quote of both.
    """

    def read() -> list[Stated]:
        frame = framed(text)
        if tuple(frame.constants.get(name) for name in ("SOURCE", "TARGET")) != texts:
            raise Meaningless("SOURCE or TARGET is another text")

    return _shown(read, text, (source, target))


def _shown(
    read: Callable[[], list[Stated]], text: str, layouts: tuple[Layout, ...]
) -> Validated | NotValidated:
    proved: list[tuple[Theorem, Proof]] = []
    questions = 0
    try:
        for each in map(_proofs, read()):
            outcomes = establish([(theorem, proof) for _, theorem, proof in each])
            for about, theorem, _ in each:
                if not outcomes[theorem.name].established:
                    return NotValidated(f"{about}: {outcomes[theorem.name].reason}")
            proved += [(theorem, proof) for _, theorem, proof in each]
            questions += sum(found.questions for found in outcomes.values())
    except (Meaningless, NotExpressible, NoProof) as reason:
        return NotValidated(str(reason))
    except Raised:
        return NotValidated("the text raises an exception for every shape")
    bound = seal(sealed(text), *map(spelled, layouts), Certificate(tuple(proved)).hash)
    return Validated(bound, len(proved), questions)


def _proofs(stated: Stated) -> list[tuple[str, Theorem, Proof]]:
    lemma, proof = divide()
    known = {**lemmas.stated(), lemma.name: lemma}
    found = [("a lemma", lemma, proof)]
    for about, theorem in theorems(stated, leading_facts):
        try:
            found.append((about, theorem, proof_of(theorem, known)))
        except NoProof as stuck:
            raise NoProof(f"{about}: {stuck}") from None
    return found
