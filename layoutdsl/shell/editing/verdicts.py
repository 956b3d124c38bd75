"""What `layoutdsl prove --json` found of a text, in the words that an editor shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layoutdsl.commands import claims_of
from layoutdsl.language.meaning.claims import AnyClaim, EqualsLayout, EqualsRecord
from layoutdsl.language.meaning.module import Module
from layoutdsl.language.texts.source import Span


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of a declaration or claim.

    Attributes:
        span: of it.
        text: as it is written there.
        status: `proved`, `refuted` or `undecided`.
        passed: whether it says what was found.
        short: the verdict in a few words.
        long: all that there is to say, a line for each finding that is not plain.
    """

    span: Span
    text: str
    status: str
    passed: bool
    short: str
    long: str


def verdicts(module: Module, printed: str) -> tuple[Verdict, ...]:
    """Return what was found of each declaration and claim of a module, in the order of the text.

    Args:
        module: what was proved.
        printed: what `prove --json` of the same text printed; nothing is found where that is not
            what was expected.
    """
    try:
        found = json.loads(printed)["claims"]
    except (ValueError, KeyError, TypeError):
        return ()
    claims = claims_of(module)
    if len(claims) != len(found):
        return ()
    told = [
        _verdict(span, claim, each)
        for claim, each in zip(claims, found, strict=True)
        if (span := module.span_of(claim)) is not None
    ]
    return tuple(sorted(told, key=lambda each: each.span.start))


def _verdict(span: Span, claim: AnyClaim, found: Mapping[str, Any]) -> Verdict:
    findings: Sequence[Mapping[str, Any]] = found["findings"]
    refuted = next((each for each in findings if each["status"] == "refuted"), None)
    undecided = next((each for each in findings if each["status"] == "undecided"), None)
    if refuted is not None:
        short = f"refuted at {_shape(refuted['shape'])}"
        long = "\n".join([f"refuted: {refuted['sentence']}", *_points(refuted)])
    elif undecided is not None:
        short = "undecided"
        long = f"undecided: {undecided['property']}: {undecided['reason']}"
    else:
        short = f"proved {_range(claim)}"
        conditions = dict.fromkeys(one for each in findings for one in each["conditions"])
        long = "\n".join([short, *(f"where {each}" for each in conditions)])
    if refuted is None and undecided is None and not found["passed"]:
        long += "\nand the text says that it is not so"
    return Verdict(span, span.text, str(found["status"]), bool(found["passed"]), short, long)


def _range(claim: AnyClaim) -> str:
    """For which shapes something was proved: those that the text speaks of."""
    where = [*claim.subject.where, *claim.where]
    if isinstance(claim.predicate, EqualsLayout | EqualsRecord):
        where += claim.predicate.other.where
    said = ", ".join(map(str, dict.fromkeys(where)))
    return f"where {said}" if said else "for all shapes"


def _shape(shape: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in shape.items()) or "the only shape"


def _points(finding: Mapping[str, Any]) -> list[str]:
    lines = [f"at shape {_shape(finding['shape'])}"]
    for point in finding["points"]:
        index = ", ".join(f"{name}={value}" for name, value in point["index"].items())
        lines.append(f"({index}) -> {point['words']}" if index else str(point["words"]))
    return lines
