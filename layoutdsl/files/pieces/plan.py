"""A plan: what many machines pack or unpack together, as a text that all of them read.

It holds all that decides what comes out, and where; so whoever has the files and the plan can do
any share of it. A plan is a file, and not trusted: what it says is compared with the layout that
its text means, with the file that is read, and with seams that are proved anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from layoutdsl.files.pieces.sources import Source, is_source, is_whole_number

MOST_BYTES = 64 << 20
"""Of a plan; a larger file is none. One of a hundred thousand tensors has 10 MB."""

_DTYPE = re.compile(r"[<>|][biufcV][0-9]{1,2}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_FILL = re.compile(r"-?[0-9]{1,40}|-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?|-?inf|nan")

Verb: TypeAlias = Literal["pack", "unpack"]
Kinds: TypeAlias = Mapping[str, Callable[[Any], bool]]
"""What each field of a plan may be."""


class PlanError(ValueError):
    """A file that is no plan, or one that does not fit what it is about.

    Attributes:
        fact: what is the matter, said of the plan.
        remedy: how to go on.
    """

    def __init__(self, fact: str, remedy: str = "plan again") -> None:
        super().__init__(fact)
        self.fact, self.remedy = fact, remedy


@dataclass(frozen=True, slots=True)
class Planned:
    """What every plan says.

    Attributes:
        verb: what is done.
        sources: the files that are read.
        target: the file that is made in pieces.
        size: its bytes.
        mode: the permissions that it gets.
        inode: its number in the file system.
        token: random; no two plans are the same, and checksums are made with it.
    """

    FORMAT: ClassVar[str]

    verb: Verb
    sources: tuple[Source, ...]
    target: str
    size: int
    mode: int
    inode: int
    token: str

    @property
    def text(self) -> str:
        """The plan as a file holds it."""
        return json.dumps({"format": self.FORMAT, **asdict(self)}, indent=2) + "\n"

    @property
    def digest(self) -> str:
        """The hash of the plan: by it the unfinished output is known to be this plan's."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def part(self) -> Path:
        """The folder of the unfinished output."""
        place = Path(self.target)
        return place.with_name(f"{place.name}.part")

    @property
    def named(self) -> str:
        """The file that somebody asked for."""
        return self.target

    @property
    def texts(self) -> Mapping[str, Path]:
        """What is written when all pieces are in, by its name in that folder: where it goes."""
        return {}


@dataclass(frozen=True, slots=True)
class Plan(Planned):
    """One tensor that is packed or unpacked.

    Attributes:
        layout: its declaration, without open parameters.
        shape: of the tensor.
        dtype: of the items, as numpy spells it.
        raw: whether the files have a header, ``npy``, or none, ``raw``.
        fill: what padding holds, as a text; that of the layout where it is `None`.
        cuts: how the tensor is cut, as `cut_by` takes it.
    """

    FORMAT: ClassVar[str] = "layoutdsl plan 2"

    layout: str
    shape: tuple[int, ...]
    dtype: str
    raw: Literal["npy", "raw"]
    fill: str | None
    cuts: tuple[int, ...]

    @property
    def fill_number(self) -> int | float | None:
        """What padding holds."""
        if self.fill is None:
            return None
        return int(self.fill) if self.fill.lstrip("-").isdigit() else float(self.fill)

    @property
    def item(self) -> np.dtype[Any]:
        """The type of an item.

        Raises:
            PlanError: there is no such type.
        """
        try:
            return np.dtype(self.dtype)
        except TypeError:
            raise PlanError(f"says that items are of `{self.dtype}`, which is no type") from None


def read_said(place: Path) -> tuple[str, dict[str, Any]]:
    """Return the format of the plan in a file, and what else it says, which nobody has looked at.

    Raises:
        PlanError: it is none.
        OSError: it cannot be read.
    """
    handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    try:
        said = json.loads(data) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not isinstance(said.get("format"), str):
        raise no_plan()
    return said.pop("format"), said


def no_plan() -> PlanError:
    """Return how a file is refused that is no plan."""
    return PlanError("is no plan of layoutdsl", "write one with `layoutdsl plan`")


def plan_of(said: dict[str, Any]) -> Plan:
    """Return the plan of one tensor that a file says.

    Raises:
        PlanError: it says no such plan.
    """
    checked(said, Plan, _KINDS)
    tuples = {name: tuple(said[name]) for name in ("shape", "cuts")}
    return Plan(**{**said, **tuples, "sources": sources_of(said)})


def checked(said: dict[str, Any], plan: type[Planned], more: Kinds) -> None:
    """Fail where what a file says is no plan of some class.

    Raises:
        PlanError: it names the field.
    """
    names = {each.name for each in fields(plan)}
    if said.keys() != names:
        odd = min(said.keys() ^ names)
        raise PlanError(f"{'lacks' if odd in names else 'has a strange'} `{odd}`")
    kinds = {**_ANY, **more}
    for name, value in said.items():
        if not kinds[name](value):
            raise PlanError(f"says of `{name}` what cannot be")


def sources_of(said: dict[str, Any]) -> tuple[Source, ...]:
    """Return the files that are read."""
    return tuple(Source(**each) for each in said["sources"])


def is_path(value: Any) -> bool:
    """Return whether it is the whole name of a file."""
    return type(value) is str and value.startswith("/") and "\0" not in value


def is_numbers(value: Any) -> bool:
    """Return whether it is a row of some whole numbers."""
    return type(value) is list and len(value) <= 64 and all(map(is_whole_number, value))


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


_ANY: Kinds = {
    "verb": lambda value: value in get_args(Verb),
    "sources": lambda value: type(value) is list and value != [] and all(map(is_source, value)),
    "target": is_path,
    "size": is_whole_number,
    "mode": lambda value: is_whole_number(value) and value <= 0o777,
    "inode": is_whole_number,
    "token": _matches(_TOKEN),
}

_KINDS: Kinds = {
    "sources": lambda value: _ANY["sources"](value) and len(value) == 1,
    "layout": lambda value: type(value) is str,
    "shape": is_numbers,
    "dtype": _matches(_DTYPE),
    "raw": lambda value: value in ("npy", "raw"),
    "fill": lambda value: value is None or _matches(_FILL)(value),
    "cuts": is_numbers,
}
