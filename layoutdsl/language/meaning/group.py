"""Which tensors of a file are the fields of a record, by their names.

Names have holes: ``{i}`` stands for a segment between dots, or for a part of one. A segment has one
hole at most, so that a name is read in one way and gone through once, whoever wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from layoutdsl.language.meaning.record import Record
from layoutdsl.language.meaning.rule import FromWords

WHOLE = "{}"
"""Stands in the names of sources and of the result for the whole pattern."""

HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Names:
    """Names with holes.

    >>> Names("model.layers.{i}.{p}.scales").read("model.layers.3.up.scales")
    {'i': '3', 'p': 'up'}
    >>> Names("blk.{i}.{p}.weight").written({"i": "3", "p": "up"})
    'blk.3.up.weight'
    """

    text: str

    @cached_property
    def holes(self) -> tuple[str, ...]:
        """Their names, each once, in the order of the text."""
        return tuple(dict.fromkeys(HOLE.findall(self.text)))

    @cached_property
    def _segments(self) -> tuple[tuple[str, str, str], ...]:
        """What stands before the hole of each, its name, and what stands behind; or all before."""
        found = (HOLE.split(each, maxsplit=1) for each in self.text.split("."))
        return tuple((each[0], *each[1:]) if len(each) > 1 else (each[0], "", "") for each in found)  # type: ignore[misc]

    @property
    def crowded(self) -> str | None:
        """A segment with several holes, if there is one."""
        return next((s for s in self.text.split(".") if len(HOLE.findall(s)) > 1), None)

    def read(self, name: str) -> dict[str, str] | None:
        """Return what the holes are in a name; ``None`` where it is no such name."""
        segments = name.split(".")
        if len(segments) != len(self._segments):
            return None
        held: dict[str, str] = {}
        for segment, (before, hole, after) in zip(segments, self._segments, strict=True):
            if not hole:
                if segment != before:
                    return None
                continue
            inside = len(segment) - len(before) - len(after)
            if inside < 1 or not (segment.startswith(before) and segment.endswith(after)):
                return None
            found = segment[len(before) : len(before) + inside]
            if held.setdefault(hole, found) != found:
                return None
        return held

    def written(self, held: Mapping[str, str]) -> str:
        """Return the name in which the holes are these."""
        return HOLE.sub(lambda hole: held[hole[1]], self.text)


@dataclass(frozen=True)
class Group:
    """``group "pattern" = record(field = "source" from_words, ...) as "name"``.

    Attributes:
        pattern: what ``{}`` stands for.
        record: that the tensors are fields of; without open parameters.
        sources: the names of the tensor of each field, in the order of the record.
        stored: how each of them is packed already, where it is.
        target: the name of what they become.
        native: the name of the record, where it is one of the library.
        text: the group as the language writes it.
        place: where it stands, to be named: ``rules.layout:3``.
    """

    pattern: str
    record: Record
    sources: tuple[Names, ...]
    stored: tuple[FromWords | None, ...]
    target: Names
    native: str | None
    text: str
    place: str = field(compare=False)

    @property
    def named(self) -> tuple[Record, ...]:
        """The record that it names."""
        return (self.record,)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(each.name for each in self.record.fields)
