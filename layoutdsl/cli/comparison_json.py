"""What `diff`, `identify` and `probe` found, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, assert_never

if TYPE_CHECKING:
    from layoutdsl.compare.axes import Pairing
    from layoutdsl.compare.calling import ProbeHint
    from layoutdsl.compare.difference import Difference
    from layoutdsl.compare.hints import Hint
    from layoutdsl.compare.offsets import Mismatch
    from layoutdsl.compare.probe import Probe
    from layoutdsl.compare.ranges import Agreement
    from layoutdsl.compare.seen import Apart, Match, Seen, Untold
    from layoutdsl.meaning.model import Condition

Json = dict[str, Any]


def difference_json(found: Difference, one: str, other: str, seconds: float) -> Json:
    """Return what `diff` found of the layouts that were written as ``one`` and ``other``."""
    from layoutdsl.compare.difference import Different, Equal, EqualWhere, Unknown

    pairing = found.pairing
    plain: Json = {
        "status": "undecided",
        "same": found.same,
        "one": one,
        "other": other,
        "axes": None if pairing is None else _pairing_json(pairing),
        "seconds": round(seconds, 4),
        "where": [],
        "certificate": None,
        "queries": 0,
        "agreements": [],
        "exact": True,
        "unproved": [],
        "mismatch": None,
        "reason": None,
        "hints": [],
        "notes": [asdict(each) for each in found.notes],
    }
    match found:
        case Equal(_, certificate, queries, where):
            more: Json = {"status": "equal", "certificate": certificate, "queries": queries}
            return {**plain, **more, "where": _words(where)}
        case EqualWhere() | Different():
            return {
                **plain,
                "status": "different" if isinstance(found, Different) else "equal where",
                "agreements": [_agreement_json(each) for each in found.agreements],
                "exact": found.exact,
                "unproved": [_words(each) for each in found.unproved],
                "mismatch": None if found.mismatch is None else _mismatch_json(found.mismatch),
                "reason": found.reason if isinstance(found, Different) else None,
                "hints": [hint_json(each) for each in found.hints],
            }
        case Unknown(reason=reason):
            return {**plain, "reason": reason}
        case _:
            assert_never(found)


def _words(conditions: tuple[Condition, ...]) -> list[str]:
    return [str(each) for each in conditions]


def _pairing_json(pairing: Pairing) -> Json:
    return {
        "how": pairing.how,
        "pairs": [list(each) for each in pairing.pairs],
        "left_out": list(pairing.left_out),
    }


def _agreement_json(agreement: Agreement) -> Json:
    return {
        "where": _words(agreement.conditions),
        "certificate": agreement.certificate,
        "queries": agreement.queries,
    }


def _mismatch_json(found: Mismatch) -> Json:
    return {
        "shape": dict(found.shape),
        "index": None if found.index is None else dict(found.index),
        "offsets": None if found.offsets is None else list(found.offsets),
        "sizes": list(found.sizes),
    }


def hint_json(hint: Hint | ProbeHint) -> Json:
    """Return a hint with the kind of it in front."""
    from layoutdsl.compare.calling import RoundedDown
    from layoutdsl.compare.hints import AxesPermuted, CoordinatesReordered, OnlySizes, OnlyStarts
    from layoutdsl.compare.lanes import LanesPermuted

    match hint:
        case AxesPermuted():
            kind = "axes"
        case CoordinatesReordered():
            kind = "coordinates"
        case LanesPermuted(kind=kind):
            kind = f"lanes: {kind}"
        case OnlySizes():
            kind = "sizes"
        case OnlyStarts():
            kind = "starts"
        case RoundedDown():
            kind = "rounded down"
        case _:
            assert_never(hint)
    return {**asdict(hint), "kind": kind}


def identity_json(layout: str, found: Sequence[Seen]) -> Json:
    """Return what was found of each layout of the library, by what it is."""
    from layoutdsl.compare.seen import Apart, Match, Untold

    matches = [each for each in found if isinstance(each, Match)]
    untold = [each for each in found if isinstance(each, Untold)]
    status = "undecided" if untold else "range" if matches else "none"
    return {
        "layout": layout,
        "status": "found" if any(each.everywhere for each in matches) else status,
        "matches": [_match_json(each) for each in matches],
        "undecided": [_untold_json(each) for each in untold],
        "different": [_apart_json(each) for each in found if isinstance(each, Apart)],
    }


def _untold_json(untold: Untold) -> Json:
    return {
        "name": untold.name,
        "axes": untold.axes,
        "pairs": [list(each) for each in untold.pairing.pairs],
        "reason": untold.reason,
    }


def _apart_json(apart: Apart) -> Json:
    return {
        "name": apart.name,
        "reason": apart.reason,
        "mismatch": None if apart.mismatch is None else _mismatch_json(apart.mismatch),
        "tried": apart.tried,
        "complete": apart.complete,
    }


def _match_json(match: Match) -> Json:
    return {
        "name": match.name,
        "everywhere": match.everywhere,
        "axes": match.axes,
        "pairs": [list(each) for each in match.pairing.pairs],
        "where": _words(match.where),
        "agreements": [_agreement_json(each) for each in match.agreements],
        "certificate": match.certificate or None,
        "queries": match.queries,
    }


def probe_json(found: Probe, function: str, against: str) -> Json:
    """Return what was found of a function."""
    return {
        "status": "same" if found.same else "different",
        "function": function,
        "against": against,
        "shape": dict(found.shape),
        "elements": found.elements,
        "slots": found.slots,
        "calls": found.calls,
        "wrong": found.wrong,
        "padding": list(found.padding),
        "faults": [
            {
                "kind": each.kind,
                "sentence": each.sentence,
                "index": None if each.index is None else dict(each.index),
                "offsets": None if each.offsets is None else list(each.offsets),
            }
            for each in found.faults
        ],
        "hints": [hint_json(each) for each in found.hints],
    }
