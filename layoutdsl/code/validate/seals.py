"""Hashes that say what was shown of which text, and of which layouts."""

from __future__ import annotations

import hashlib

from layoutdsl.language.integers.expr import text
from layoutdsl.language.meaning.elements import Fill, FillValue
from layoutdsl.language.meaning.model import Layout


def seal(*parts: str) -> str:
    """Return a hash of texts that none of them can be changed or exchanged under."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def spelled(layout: Layout) -> str:
    """Return all that a layout says, but for its name."""
    axes = (f"{axis.name}: {text(axis.extent)}" for axis in layout.axes)
    places = (f"{text(each.value)} : {text(each.extent)}" for each in layout.coordinates)
    element = "" if layout.element is None else layout.element.name
    copies = (f"copies {name}" for name in layout.copies)
    conditions = map(str, (*layout.where, *layout.domain))
    clauses = (_padding(layout.fill), element, text(layout.start), *conditions, *copies)
    return "; ".join((*axes, *places, *clauses))


def _padding(fill: Fill) -> str:
    number = f" {fill.value}" if isinstance(fill, FillValue) else ""
    return f"{type(fill).__name__}{number}"
