"""A plan of weights: a file of them to be packed or unpacked by many machines.

It says the rules as the language writes them, how each tensor is cut, and the hash of all that is
known of the result before anything is moved: names, types, shapes, layouts, pieces and places.
Whoever does a share works that out anew, and goes no further where the hash is another one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, get_args

from layoutdsl.files.pieces.plan import (
    Kinds,
    PlanError,
    Planned,
    checked,
    is_numbers,
    is_path,
    sources_of,
)
from layoutdsl.files.pieces.queue import Division, Part, Queue
from layoutdsl.files.weights.chosen import Unruled
from layoutdsl.files.weights.forms import FORMS
from layoutdsl.files.weights.making import texts_of

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class WeightsPlan(Planned):
    """Weights that are packed or unpacked.

    Attributes:
        rules: by which they are packed; none where they are unpacked.
        unruled: what becomes of a tensor without a rule.
        forms: the formats of what is read, and of what is written.
        place: the file that is named; ``target`` is the one that tensors lie in.
        cuts: how each tensor is cut, in the order of the result.
        made: the hash of what is known of the result.
    """

    FORMAT: ClassVar[str] = "layoutdsl plan of weights 1"

    rules: str
    unruled: Unruled
    forms: tuple[str, str]
    place: str
    cuts: tuple[tuple[int, ...], ...]
    made: str

    @property
    def named(self) -> str:
        """The file that somebody asked for."""
        return self.place

    @property
    def texts(self) -> Mapping[str, Path]:
        """What is written when all pieces are in, by its name in that folder: where it goes."""
        return texts_of(Path(self.place), Path(self.target))

    def cut(self, parts: tuple[Part, ...]) -> Queue:
        """Return tensors cut as the plan says.

        Raises:
            PlanError: they cannot be cut so.
        """
        if len(parts) != len(self.cuts):
            raise PlanError(f"cuts {len(self.cuts)} tensors, and there are {len(parts)}")
        cuts, firsts, count = list[Division](), list[int](), 0
        for part, units in zip(parts, self.cuts, strict=True):
            try:
                cuts.append(part.again(units))
            except ValueError as unfit:
                raise PlanError(f"does not fit the tensor `{part.name}`: {unfit}") from None
            firsts.append(count)
            count += cuts[-1].count
        return Queue(parts, tuple(cuts), tuple(firsts), count)


def weights_plan_of(said: dict[str, Any]) -> WeightsPlan:
    """Return the plan of weights that a file says.

    Raises:
        PlanError: it says no such plan.
    """
    checked(said, WeightsPlan, _KINDS)
    one, other = said["forms"]
    cuts = tuple(map(tuple, said["cuts"]))
    tuples = {"sources": sources_of(said), "forms": (one, other), "cuts": cuts}
    return WeightsPlan(**{**said, **tuples})


_NAMES = {each.name for each in FORMS}
_KINDS: Kinds = {
    "rules": lambda value: type(value) is str,
    "unruled": lambda value: value in get_args(Unruled),
    "forms": lambda value: type(value) is list and len(value) == 2 and {*map(str, value)} <= _NAMES,
    "place": is_path,
    "cuts": lambda value: type(value) is list and all(map(is_numbers, value)),
    "made": lambda value: type(value) is str and _HASH.fullmatch(value) is not None,
}
