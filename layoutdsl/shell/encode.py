"""Results as plain values: the one rule by which verbs print `--json`.

A result is an object: its fields, in order, under their names. `KEYS` says where the keys are
others than the fields. Layouts, tables, records and element types go by their names, conditions and
expressions as the language writes them, fractions exactly and as a decimal. docs/reference/json.md
lists the keys of each command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from layoutdsl.language.integers.expr import Expr, text
from layoutdsl.language.meaning.elements import ElementType
from layoutdsl.language.meaning.model import Condition, Layout
from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.table import Table

KEYS = {
    "Agreement": "where=conditions certificate queries",
    "AxesPermuted": "pairs axes proved kind",
    "BankReport": "status layout shape bytes=banks.bytes threads ways=banks.ways"
    " cycles=banks.cycles least_cycles=banks.least_cycles sectors=banks.sectors lines=banks.lines"
    " wanted_bytes=banks.wanted_bytes accesses=banks.accesses conflict=banks.conflict",
    "Coordinate": "value extent",
    "CoordinatesReordered": "one other proved kind",
    "Cost": "layout where elements size padding ratio element bytes most least far proved"
    " certificate at",
    "Extreme": "value move",
    "Held": "layout shape offset=slot holds index elements reasons coordinates=terms chunk address",
    "HeldBits": "low high holds field",
    "HeldByte": "record shape byte bytes",
    "IndexFunctions": "layout language text integers where=layout.where certificate",
    "Inferred": "layout text reason lost doubts refused tried shapes drawn calls padding steady",
    "LanesPermuted": "axis block one other kind=full_kind digits proved",
    "Match": "name everywhere axes pairs=pairing.pairs where agreements certificate queries",
    "Measured": "status reason seconds share ratio noisy=share.noisy compiled",
    "OnlySizes": "one other proved kind",
    "OnlyStarts": "one other proved kind",
    "Pairing": "how pairs left_out",
    "Placement": "layout shape index offset start coordinates=terms chunk address slots",
    "Probe": "shape elements slots calls wrong padding faults hints",
    "Problem": "code=kind.code kind=kind.word place message help=kind.help",
    "ReadSlot": "table shape offset=slot coordinates holds index=element",
    "RecordCost": "record where elements bytes padding fields most=spread.most least=spread.least"
    " far=spread.far proved=spread.proved certificate=spread.certificate at",
    "RecordPlacement": "record shape field element runs missing",
    "RecordShapeCost": "shape elements bytes padding ratio fields",
    "Rechecked": "name status claims questions sentences problems",
    "RoundedDown": "extent kind",
    "Run": "part low high address byte bit offset slot_bits start coordinates=terms",
    "ShapeCost": "shape elements size before padding ratio bytes axes gaps copies",
    "Skipped": "status reason",
    "Standing": "name measured skipped wrong noisy share shares worst ratio=beside.mean"
    " wins=beside.wins compared=beside.count least=beside.least compiled",
    "Term": "coordinate working value extent stride amount",
    "Translation": "notation text reason proved where",
    "Untold": "name axes pairs=pairing.pairs reason",
    "Wrong": "status reason",
}
"""The keys of a result in order, by its class: `key`, or `key=` the path of its value."""

_BY_NAME = ("shape", "index")
"""What is under these keys are pairs, of a name and a number: an object."""


def plain(value: Any) -> Any:
    """Return a value as JSON has it.

    >>> plain((Fraction(1, 3), None))
    [{'exact': '1/3', 'decimal': 0.3333333333333333}, None]
    """
    match value:
        case None | str() | int() | float():
            return value
        case Fraction():
            return {"exact": str(value), "decimal": float(value)}
        case Mapping():
            return {key: plain(each) for key, each in value.items()}
        case tuple() | list():
            return [plain(each) for each in value]
        case Layout() | Table() | Record() | ElementType():
            return value.name
        case Condition():
            return str(value)
    if isinstance(value, Expr):
        return text(value)
    parts = ((key, _at(value, path)) for key, path in _keys(type(value)))
    return {
        key: dict(each) if key in _BY_NAME and each is not None else plain(each)
        for key, each in parts
    }


def _keys(kind: type) -> list[tuple[str, str]]:
    """Return the keys of a class, each with the path of its value."""
    if kind.__name__ not in KEYS:
        return [(each.name, each.name) for each in fields(kind)]
    pairs = (each.partition("=") for each in KEYS[kind.__name__].split())
    return [(key, path or key) for key, _, path in pairs]


def _at(value: Any, path: str) -> Any:
    """Follow names; what is not there has no parts."""
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value
