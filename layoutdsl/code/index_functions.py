"""Layouts to index functions as text, in integers that are proved to be wide enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from layoutdsl.code.generating import certificate_of
from layoutdsl.code.offsets import closed_inverse
from layoutdsl.code.proved import UnprovedError, require_proved
from layoutdsl.language.meaning.claims import Claim, Computes
from layoutdsl.language.meaning.elements import INTEGER_TYPES, IntegerType
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.texts.values import brief
from layoutdsl.proof.claims import range_of

if TYPE_CHECKING:
    from layoutdsl.language.digits.inverse import Inverse
    from layoutdsl.proof.prover.functions import Enough
    from layoutdsl.proof.prover.verdict import Checked

Width: TypeAlias = Literal[32, 64]


class WidthError(ValueError):
    """No integers of the width are known to be enough; carries what was found."""

    def __init__(self, checked: Checked, width: int) -> None:
        what = "too narrow" if checked.status == "refuted" else "not proved to be enough"
        name = checked.claim.subject.name
        super().__init__(f"{width} bits are {what} for the index functions of `{name}`")
        self.checked = checked


@dataclass(frozen=True, slots=True)
class IndexFunctions:
    """The index functions of a layout as text, and what was proved of them.

    Attributes:
        layout: its ``where`` clause is the range of shapes that the functions are for.
        language: one of `languages`.
        text: the functions.
        integers: the name of their integer type, as claims call it: ``int32``, ``uint64``.
        certificate: the hash of the proof that every value on the way is one of that type.
        parts: the expressions in the text, where the language has expressions; for `--json`.
        narrowed: what was added to the range that was asked for, so that 64 bits are enough.
        why_wide: why 32 bits were not taken, where that was left open.
    """

    layout: Layout
    language: str
    text: str
    integers: str
    certificate: str
    parts: Mapping[str, Any]
    narrowed: tuple[Condition, ...] = ()
    why_wide: str = ""

    __repr__ = brief


def languages() -> tuple[str, ...]:
    """Return the languages that index functions are written in."""
    from layoutdsl.code.functions import LANGUAGES

    return tuple(LANGUAGES)


def index_functions(
    layout: Layout,
    language: str,
    *,
    where: str | None = None,
    width: Width | None = None,
    unproved: bool = False,
) -> IndexFunctions:
    """Prove a layout, and return the functions that say where an element lies, and what a slot is.

    Their integers have 32 bits where these are proved to be enough for every value on the way, at
    all shapes of the range; else 64. Where the range has no largest shape, 64 bits are proved for
    extents up to a power of two, and the text says so.

    >>> index_functions(library("NHWC"), "cuda", where="N <= 8, C <= 9, H <= 9, W <= 9").integers
    'uint32'

    Args:
        layout: its ``where`` clause is the range of shapes.
        language: one of `languages`.
        where: narrows the range: ``C <= 4096, N == 1``.
        width: bits of the integers; the narrower that are enough, if left out.
        unproved: also write functions of a layout that is undecided in this range; they say so.

    Raises:
        LayoutError: the range is not in the language, or names what the layout has not.
        RefusedError: the layout is refuted.
        UnprovedError: the layout is undecided, in general and in this range.
        WidthError: the integers are too narrow, or not proved to be wide enough.
        ValueError: there is no such language or width, or the range is empty.
    """
    from layoutdsl.code.functions import LANGUAGES, Known, parts, write
    from layoutdsl.language.digits.inverse import Inverse
    from layoutdsl.proof.prover.verdict import certificate_hash
    from layoutdsl.proof.refute.refute import first_element

    if language not in LANGUAGES:
        raise ValueError(f"there is no language `{language}`; known are {', '.join(LANGUAGES)}")
    if width not in (None, 32, 64):
        raise ValueError(f"integers have 32 or 64 bits, not {width}")
    conditions = () if where is None else range_of(layout, where)
    ranged = replace(layout, where=(*layout.where, *conditions))
    if first_element(ranged) is None:
        raise ValueError(f"no shape was found at which `{layout.name}` holds an element")
    try:
        checked = require_proved(layout)
    except UnprovedError:
        checked = require_proved(ranged, unproved=unproved)
    types = [INTEGER_TYPES[name] for name in LANGUAGES[language].types]
    inverse = closed_inverse(layout)
    reads = inverse if isinstance(inverse, Inverse) else None
    found, why = _enough(ranged, reads, types, width)
    known = Known(found.type, certificate_hash(found.proved), certificate_of(checked))
    return IndexFunctions(
        found.layout,
        language,
        write(found.layout, inverse, language, known),
        found.type.name,
        known.certificate,
        parts(found.layout, inverse, language, found.type),
        found.layout.where[len(ranged.where) :],
        why,
    )


def _enough(
    layout: Layout, inverse: Inverse | None, types: list[IntegerType], width: Width | None
) -> tuple[Enough, str]:
    """The first types that are proved to be enough, the narrow ones first; and why no narrower."""
    from layoutdsl.proof.prover.functions import Enough, attempts, enough
    from layoutdsl.proof.prover.verdict import Checked

    narrow, wide = ([each for each in types if each.name.endswith(str(bits))] for bits in (32, 64))
    why = ""
    if width is None:
        tried = attempts(layout, inverse, narrow)
        if isinstance(tried, Enough):
            return tried, ""
        why = tried.obstacle or tried.reason
    found = enough(layout, inverse, narrow if width == 32 else wide)
    if isinstance(found, Enough):
        return found, why
    type_ = (narrow if width == 32 else wide)[-1]
    where = f" where {', '.join(map(str, layout.where))}" if layout.where else ""
    text = f"prove {layout.name} computes in {type_.name}{where}"
    claim = Claim("prove", layout, Computes(type_), text=text)
    raise WidthError(Checked(claim, (found,)), width or 64)
