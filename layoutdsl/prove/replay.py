"""Counterexamples that are on record, found again at their shape in plain integers."""

from __future__ import annotations

from collections.abc import Mapping

from layoutdsl.claims import INTEGER_TYPES, Claim, Fits, Sound
from layoutdsl.prove import refute, statement
from layoutdsl.prove.certificate import establish
from layoutdsl.prove.check import tries
from layoutdsl.prove.layout_check import by_hypotheses
from layoutdsl.prove.shapes import in_range, volume
from layoutdsl.prove.verdict import SIZE, Counterexample


class NoReplay(ValueError):  # noqa: N818  says why a record cannot be replayed
    """The record cannot be replayed."""


def holds_for_no_shape(claim: Claim) -> bool:
    """Return whether the range of a claim was proved to contain no shape."""
    theorem = statement.contradiction(statement.ground(claim.ranged))
    return establish([(theorem, by_hypotheses(theorem))])[theorem.name].established


def replayed(claim: Claim, name: str, shape: Mapping[str, int]) -> Counterexample | None:
    """Return the counterexample to a property that is found at a shape; ``None`` if none is.

    Raises:
        NoReplay: the shape does not fit the layout, is outside its range, or too large to try.
    """
    layout, values = claim.ranged, dict(shape)
    if list(values) != list(layout.symbols):
        raise NoReplay(f"its shape names {', '.join(values)}, not {', '.join(layout.symbols)}")
    if min(values.values(), default=1) < 1 or not in_range(layout, values):
        raise NoReplay("its shape is outside the range of the claim")
    predicate = claim.predicate
    type_ = predicate.type if isinstance(predicate, Fits) else INTEGER_TYPES["int64"]
    if name == SIZE or isinstance(predicate, Fits):
        found = refute.too_large_at(layout, values, type_.largest, type_.name)
        if found is not None or name == SIZE:
            return found
    if volume(layout, values) > refute.LARGEST:
        raise NoReplay("its shape is too large to try every index")
    at = refute.unsound(layout) if isinstance(predicate, Sound) else tries(layout, predicate, name)
    return None if at is None else at(values).get(name)
