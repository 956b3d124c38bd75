"""A manifest: what was found of the claims about a layout or table, and how; as values, as JSON.

What is read may have been written by anyone: it is bounded in size and depth, and has the types
that it should have; nothing more is known of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from layoutdsl.language.meaning.counterexample import Counterexample, Point
from layoutdsl.proof.kernel.theorem import Proof, Term, Theorem
from layoutdsl.proof.kernel.written import (
    read_proof,
    read_theorem,
    written,
    written_proof,
    written_theorem,
)

FORMAT = "layoutdsl certificate 1"
MOST_BYTES = 1 << 24
WIDTH = 96

Proofs: TypeAlias = "tuple[tuple[Theorem, Proof], ...]"
Value = TypeVar("Value")


class Malformed(ValueError):  # noqa: N818  says what is wrong with a file
    """The text is no manifest."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A property that holds: by theorems, or because every index of a small range was tried."""

    property: str
    by: tuple[str, ...]
    where: tuple[str, ...]
    tried: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A property that fails, with the counterexample."""

    property: str
    example: Counterexample


@dataclass(frozen=True, slots=True)
class Entry:
    """One claim.

    Attributes:
        claim: as the language writes it.
        subject: the layout or table that it is about, written out.
        shape: one that the range contains, where a theorem says so.
        findings: for each property.
        proofs: theorems, each after those that it uses.
        read_off: the layout that was read off a table, by which it is proved; empty without one.
    """

    claim: str
    subject: str
    shape: tuple[tuple[str, int], ...] | None
    findings: tuple[Shown | Failed, ...]
    proofs: Proofs
    read_off: str = ""

    @property
    def hash(self) -> str:
        """The SHA-256 of the theorems and proofs as text."""
        return hash_of(self.proofs)


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything about one layout or table; ``lemmas`` is the hash of the library it rests on."""

    lemmas: str
    entries: tuple[Entry, ...]

    @property
    def text(self) -> str:
        """The manifest as JSON, the same everywhere."""
        entries = [_entry_json(each) for each in self.entries]
        return dumped({"format": FORMAT, "lemmas": self.lemmas, "claims": entries})


def dumped(value: Any) -> str:
    """Return JSON; what is longer than a line has one item a line."""
    return _rendered(value, 0) + "\n"


def _rendered(value: Any, depth: int) -> str:
    line = json.dumps(value, ensure_ascii=True)
    if len(line) <= WIDTH:
        return line
    match value:
        case dict():
            inner = " " * (depth + 1)
            items = (
                f"{inner}{json.dumps(key)}: {_rendered(each, depth + 1)}"
                for key, each in value.items()
            )
            return "{\n" + ",\n".join(items) + "\n" + " " * depth + "}"
        case list():
            return "[\n" + ",\n".join(_rendered(each, depth) for each in value) + "\n]"
    return line


def hash_of(proofs: Proofs) -> str:
    """Return the SHA-256 of theorems and proofs as text, in hexadecimal."""
    lines = (line for each, proof in proofs for line in (written(each), *written_proof(proof)))
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _entry_json(entry: Entry) -> dict[str, Any]:
    shape = {} if entry.shape is None else {"shape": dict(entry.shape)}
    return {
        "claim": entry.claim,
        "subject": entry.subject,
        **({"read_off": entry.read_off} if entry.read_off else {}),
        **shape,
        "findings": [_finding_json(each) for each in entry.findings],
        "hash": entry.hash,
        "proofs": proofs_json(entry.proofs),
    }


def proofs_json(proofs: Proofs) -> list[dict[str, Any]]:
    """Return theorems and their proofs as plain values.

    A definition that an earlier theorem has as well is not written again, but for its name.
    """
    above: dict[str, Term] = {}
    found = []
    for each, proof in proofs:
        found.append(
            {"theorem": list(written_theorem(each, above)), "proof": list(written_proof(proof))}
        )
        above |= each.definitions
    return found


def _finding_json(finding: Shown | Failed) -> dict[str, Any]:
    match finding:
        case Shown(name, by, where, tried):
            return {
                "property": name,
                "by": list(by),
                **({"where": list(where)} if where else {}),
                **({"tried": True} if tried else {}),
            }
        case Failed(name, example):
            points = [{"index": dict(each.index), "words": each.words} for each in example.points]
            found = {"fails": example.sentence, "shape": dict(example.shape), "points": points}
            return {"property": name, **found}


def read_json(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is.

    Raises:
        Malformed: it is none, or not of ours.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    except ValueError as error:
        raise Malformed(f"it is no JSON: {str(error)[:100]}") from None
    found = _object(value, "the file")
    if found.get("format") != FORMAT:
        raise Malformed(f"its format is not `{FORMAT}`")
    return found


def read_manifest(text: str) -> Manifest:
    """Return the manifest that a text is.

    Raises:
        Malformed: it is none.
    """
    found = read_json(text)
    entries = tuple(map(_entry, _list(found, "claims")))
    return Manifest(_word(found, "lemmas"), entries)


def _entry(value: Any) -> Entry:
    found = _object(value, "a claim")
    entry = Entry(
        _word(found, "claim"),
        _word(found, "subject"),
        _numbers(found, "shape") if "shape" in found else None,
        tuple(map(_finding, _list(found, "findings"))),
        read_proofs(found),
        _word(found, "read_off") if "read_off" in found else "",
    )
    if _word(found, "hash") != entry.hash:
        raise Malformed(f"the proofs of `{entry.claim[:200]}` do not have the hash that it names")
    return entry


def read_proofs(found: dict[str, Any]) -> Proofs:
    """Return the theorems and proofs of a JSON object.

    Raises:
        Malformed: they are none.
    """
    above: dict[str, Term] = {}
    proved = []
    for each in _list(found, "proofs"):
        theorem, proof = _proved(_object(each, "a proof"), above)
        above |= theorem.definitions
        proved.append((theorem, proof))
    return tuple(proved)


def _proved(found: dict[str, Any], above: Mapping[str, Term]) -> tuple[Theorem, Proof]:
    try:
        theorem = read_theorem(" ".join(_words(found, "theorem")), above)
        return theorem, read_proof(_words(found, "proof"))
    except ValueError as reason:
        raise Malformed(str(reason)) from None


def _finding(value: Any) -> Shown | Failed:
    found = _object(value, "a finding")
    name = _word(found, "property")
    if "fails" in found:
        points = tuple(_point(_object(each, "a point")) for each in _list(found, "points"))
        shape = _numbers(found, "shape")
        return Failed(name, Counterexample(_word(found, "fails"), shape, points))
    where = _words(found, "where") if "where" in found else ()
    return Shown(name, _words(found, "by"), where, found.get("tried", False) is True)


def _point(found: dict[str, Any]) -> Point:
    return Point(_numbers(found, "index"), _word(found, "words"))


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(f"{name} is no JSON object")
    return value


def _part(found: dict[str, Any], key: str, kind: type[Value]) -> Value:
    value = found.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Malformed(f"`{key}` is missing, or no {kind.__name__}")
    return value


def _word(found: dict[str, Any], key: str) -> str:
    return _plain(_part(found, key, str), key)


def _plain(text: str, key: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise Malformed(f"`{key}` has characters that are not printable ASCII")
    return text


def _list(found: dict[str, Any], key: str) -> list[Any]:
    return _part(found, key, list)


def _words(found: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_plain(each, key) for each in _all(_list(found, key), str, key))


def _numbers(found: dict[str, Any], key: str) -> tuple[tuple[str, int], ...]:
    values: dict[str, Any] = _part(found, key, dict)
    return tuple(zip(values, _all(list(values.values()), int, key), strict=True))


def _all(values: list[Any], kind: Callable[..., Value], key: str) -> tuple[Value, ...]:
    if any(type(each) is not kind for each in values):
        raise Malformed(f"`{key}` holds what it should not")
    return tuple(values)
