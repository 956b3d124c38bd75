"""Remarks as a log of SARIF 2.1.0, which code scanning and editors read.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from layoutdsl import __version__
from layoutdsl.language.texts import resources
from layoutdsl.language.texts.source import Label, Mend, Span
from layoutdsl.shell.exits import Exit
from layoutdsl.shell.remarks import OUTCOMES, Remark, file_of

Object: TypeAlias = dict[str, Any]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
"""Names of files are relative to it: the folder in which the program was started."""


def log(
    remarks: Sequence[Remark],
    code: Exit,
    counts: Mapping[str, int] | None = None,
    failure: str | None = None,
) -> Object:
    """Return a log of one run.

    Args:
        remarks: what is amiss.
        code: how the run ended.
        counts: how many claims came out how.
        failure: why it could not be done, where that is so.
    """
    rules = list(dict.fromkeys(each.rule for each in remarks))
    sections = _sections() if remarks else {}
    driver = {
        "name": "layoutdsl",
        "semanticVersion": __version__,
        "rules": [_rule(each, sections) for each in rules],
    }
    invocation: Object = {"executionSuccessful": failure is None, "exitCode": int(code)}
    if failure is not None:
        notified = {"level": "error", "message": {"text": failure}}
        invocation["toolExecutionNotifications"] = [notified]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(each, rules.index(each.rule)) for each in remarks],
        "properties": {"claims": dict(counts or {})},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, sections: Mapping[str, tuple[str, str]]) -> Object:
    if name in OUTCOMES:
        return {"id": name, "shortDescription": {"text": OUTCOMES[name]}}
    title, text = sections.get(name, (name, name))
    return {
        "id": name,
        "shortDescription": {"text": title},
        "help": {"text": text, "markdown": text},
        "helpUri": resources.explanation(name),
    }


def _sections() -> Mapping[str, tuple[str, str]]:
    from layoutdsl.shell.texts import sections

    return sections()


def _result(remark: Remark, index: int) -> Object:
    message = remark.message if remark.help is None else f"{remark.message}\nhelp: {remark.help}"
    found: Object = {
        "ruleId": remark.rule,
        "ruleIndex": index,
        "level": remark.level,
        "message": {"text": message},
    }
    located = [(label, at) for label in remark.places if (at := _located(label)) is not None]
    if located:
        found["locations"] = [located[0][1]]
    if located[1:]:
        found["relatedLocations"] = [{"id": n, **at} for n, (_, at) in enumerate(located[1:], 1)]
    if remark.about:
        found["partialFingerprints"] = {"claim/v1": sha256(remark.about.encode()).hexdigest()}
    if remark.mend is not None and _artifact(remark.mend.span) is not None:
        found["fixes"] = [_fix(remark.mend, remark.help or remark.message)]
    return found


def _located(label: Label) -> Object | None:
    artifact = _artifact(label.span)
    if artifact is None:
        return None
    at: Object = {"artifactLocation": artifact, "region": _region(label.span)}
    said = {"message": {"text": label.words}} if label.words else {}
    return {"physicalLocation": at, **said}


def _artifact(span: Span) -> Object | None:
    name = file_of(span.source.name)
    if name is None:
        return None
    path = Path(name)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix()), "uriBaseId": ROOT}


def _region(span: Span) -> Object:
    (line, column), (last, end) = span.source.place(span.start), span.source.place(span.end)
    return {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}


def _fix(mend: Mend, words: str) -> Object:
    replacement = {"deletedRegion": _region(mend.span), "insertedContent": {"text": mend.text}}
    change = {"artifactLocation": _artifact(mend.span), "replacements": [replacement]}
    return {"description": {"text": words}, "artifactChanges": [change]}
