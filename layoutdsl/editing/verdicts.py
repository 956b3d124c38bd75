"""What `layoutdsl prove --json` found of a text, in the words that an editor shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layoutdsl.api import claims_of
from layoutdsl.meaning.claims import Module
from layoutdsl.texts.source import Span


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
    pairs = ((module.span_of(claim), each) for claim, each in zip(claims, found, strict=True))
    told = [_verdict(span, each) for span, each in pairs if span is not None]
    return tuple(sorted(told, key=lambda each: each.span.start))


def _verdict(span: Span, found: Mapping[str, Any]) -> Verdict:
    findings: Sequence[Mapping[str, Any]] = found["findings"]
    refuted = next((each for each in findings if each["status"] == "refuted"), None)
    open_ = next((each for each in findings if each["status"] == "undecided"), None)
    status, name = str(found["status"]), span.text
    if refuted is not None:
        short = f"refuted at {_shape(refuted['shape'])}"
        long = "\n".join([f"refuted: {refuted['sentence']}", *_points(refuted)])
    elif open_ is not None:
        short, long = "undecided", f"undecided: {open_['property']}: {open_['reason']}"
    else:
        conditions = list(dict.fromkeys(one for each in findings for one in each["conditions"]))
        short = "proved for all shapes"
        long = "\n".join([short, *(f"where {each}" for each in conditions)])
    if not found["passed"] and refuted is None and open_ is None:
        long = f"{long}\nthe text says that it is not so"
    return Verdict(span, name, status, bool(found["passed"]), short, long)


def _shape(shape: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in shape.items()) or "the only shape"


def _points(finding: Mapping[str, Any]) -> list[str]:
    lines = [f"at shape {_shape(finding['shape'])}"]
    for point in finding["points"]:
        index = ", ".join(f"{name}={value}" for name, value in point["index"].items())
        lines.append(f"({index}) -> {point['words']}" if index else str(point["words"]))
    return lines
