"""The properties by their predicates: the one place that knows which kinds of claims there are."""

from __future__ import annotations

from typing import Any

from layoutdsl.language.meaning.claims import (
    Aligns,
    Claim,
    Computes,
    EqualsFormula,
    EqualsLayout,
    Fills,
    Fits,
    Keeps,
    OffsetsFit,
    Reads,
)
from layoutdsl.proof.properties.conflicts import ConflictFree
from layoutdsl.proof.properties.equal import EqualToFormula, EqualToLayout
from layoutdsl.proof.properties.property import Property
from layoutdsl.proof.properties.runs import Aligned, Contiguous
from layoutdsl.proof.properties.widths import OffsetsInRange, SizeFits, WorkedOutInRange
from layoutdsl.proof.properties.words import WordsFilled

PROPERTIES: dict[type, type[Property[Any]]] = {
    Aligns: Aligned,
    Computes: WorkedOutInRange,
    EqualsFormula: EqualToFormula,
    EqualsLayout: EqualToLayout,
    Fills: WordsFilled,
    Fits: SizeFits,
    Keeps: Contiguous,
    OffsetsFit: OffsetsInRange,
    Reads: ConflictFree,
}
"""All but `Sound`, which has several properties: `statements.sound` names them."""


def property_of(claim: Claim) -> Property[Any]:
    """Return what is claimed, over the shapes of the claim.

    Raises:
        KeyError: the claim is that a layout is right.
    """
    return PROPERTIES[type(claim.predicate)](claim.ranged, claim.predicate)
