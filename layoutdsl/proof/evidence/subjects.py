"""Which claims share a certificate, and what its files are called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from layoutdsl.language.declaration import declaration, record_declaration, table_declaration
from layoutdsl.language.integers.expr import coordinate_text
from layoutdsl.language.meaning.claims import (
    AnyClaim,
    Claim,
    FieldAligns,
    FieldFormula,
    RecordClaim,
    TableClaim,
)
from layoutdsl.language.meaning.model import Layout
from layoutdsl.language.texts.values import brief

MANIFEST, SCRIPT = ".json", ".smt2"
LEMMAS = "lemmas"


@dataclass(frozen=True, slots=True)
class Subject:
    """The claims about one layout, table or record of one text, or about one field of a record.

    Attributes:
        file: where their certificate is, without the ending: ``blocked/NCHW16c``.
        claims: in the order of the text.
    """

    file: str
    claims: tuple[AnyClaim, ...]

    __repr__ = brief

    @property
    def manifest(self) -> str:
        """The file that says what was proved, and how."""
        return self.file + MANIFEST

    @property
    def script(self) -> str:
        """The file with the questions."""
        return self.file + SCRIPT


def subjects(claims: Iterable[AnyClaim], folder: str = "") -> tuple[Subject, ...]:
    """Return claims by the layout or table that they are about, each with a file of its own.

    So has each field of a record that claims speak of: `Q4_K.scale`.

    Args:
        claims: those of one text, in its order.
        folder: stands before every file.
    """
    groups: dict[str, dict[str, AnyClaim]] = {}
    for claim in claims:
        groups.setdefault(_about(claim), {}).setdefault(claim.text, claim)
    taken = {LEMMAS}
    found = []
    for name, group in groups.items():
        file = _file_name(name, taken)
        taken.add(file.lower())
        found.append(Subject(f"{folder}/{file}" if folder else file, tuple(group.values())))
    return tuple(found)


def written_out(claim: AnyClaim) -> str:
    """Return the layout, table or record of a claim as the language writes it."""
    match claim:
        case Claim():
            return f"{declaration(claim.layout)}{_applied(claim.layout)}"
        case TableClaim():
            return table_declaration(claim.table)
        case RecordClaim():
            return record_declaration(claim.record)


def _applied(layout: Layout) -> str:
    """The indices of applied layouts, which the coordinates of the layout do not show."""
    said = (
        f" # {one.layout}: {', '.join(map(coordinate_text, one.index))}" for one in layout.applied
    )
    return "".join(said)


def _about(claim: AnyClaim) -> str:
    match claim:
        case RecordClaim(predicate=FieldFormula(field) | FieldAligns(field)):
            return f"{claim.record.name}.{field}"
        case _:
            return claim.subject.name


def _file_name(name: str, taken: set[str]) -> str:
    """Some file systems do not tell upper case from lower."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "layout"
    file, number = plain, 1
    while file.lower() in taken:
        number += 1
        file = f"{plain}-{number}"
    return file
