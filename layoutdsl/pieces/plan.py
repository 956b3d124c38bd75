"""A plan: one tensor to be packed or unpacked by many machines, as a text that all of them read.

It holds all that decides what comes out, and where; so whoever has the files and the plan can do
any share of it. A plan is a file, and not trusted: what it says is compared with the layout that
its text means, with the file that is read, and with seams that are proved anew.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

FORMAT = "layoutdsl plan 1"
MOST_BYTES = 1 << 20
"""Of a plan; a larger file is none."""

MOST = 1 << 62
_DTYPE = re.compile(r"[<>|][biufcV][0-9]{1,2}")
_HASH = re.compile(r"[0-9a-f]{64}")
_FILL = re.compile(r"-?[0-9]{1,40}|-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?|-?inf|nan")

Verb: TypeAlias = Literal["pack", "unpack"]


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
class Plan:
    """What is to be done.

    Attributes:
        verb: what is done.
        layout: its declaration, without open parameters.
        shape: of the tensor.
        dtype: of the items, as numpy spells it.
        raw: whether the files have a header, ``npy``, or none, ``raw``.
        fill: what padding holds, as a text; that of the layout where it is `None`.
        cuts: how the tensor is cut, as `cut_by` takes it.
        source: the file that is read.
        source_size: its bytes.
        source_modified: when it was last written, in nanoseconds.
        target: where the result goes.
        size: its bytes.
        mode: the permissions that it gets.
        inode: its number in the file system.
        token: random; no two plans are the same.
    """

    verb: Verb
    layout: str
    shape: tuple[int, ...]
    dtype: str
    raw: Literal["npy", "raw"]
    fill: str | None
    cuts: tuple[int, ...]
    source: str
    source_size: int
    source_modified: int
    target: str
    size: int
    mode: int
    inode: int
    token: str

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

    @property
    def text(self) -> str:
        """The plan as a file holds it."""
        hashed = {"layout_hash": sha256(self.layout.encode()).hexdigest()}
        return json.dumps({"format": FORMAT, **hashed, **asdict(self)}, indent=2) + "\n"

    @property
    def digest(self) -> str:
        """The hash of the plan: by it the unfinished output is known to be this plan's."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def part(self) -> Path:
        """The folder of the unfinished output."""
        place = Path(self.target)
        return place.with_name(f"{place.name}.part")


def read_plan(place: Path) -> Plan:
    """Return the plan in a file.

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
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise PlanError("is no plan of layoutdsl", "write one with `layoutdsl plan`")
    return _plan(said)


def _plan(said: dict[str, Any]) -> Plan:
    """The plan that a file says."""
    del said["format"]
    hashed = said.pop("layout_hash", None)
    names = {each.name for each in fields(Plan)}
    if said.keys() != names:
        odd = min(said.keys() ^ names)
        raise PlanError(f"{'lacks' if odd in names else 'has a strange'} `{odd}`")
    for name, value in said.items():
        if not _KINDS[name](value):
            raise PlanError(f"says of `{name}` what cannot be")
    if hashed != sha256(said["layout"].encode()).hexdigest():
        raise PlanError("has a layout that is not of its hash")
    tuples = {name: tuple(said[name]) for name in ("shape", "cuts")}
    return Plan(**{**said, **tuples})


def _number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _numbers(value: Any) -> bool:
    return type(value) is list and len(value) <= 64 and all(map(_number, value))


def _path(value: Any) -> bool:
    return type(value) is str and value.startswith("/") and "\0" not in value


def _matches(pattern: re.Pattern[str]) -> Any:
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


_KINDS: dict[str, Any] = {
    "verb": lambda value: value in get_args(Verb),
    "layout": lambda value: type(value) is str,
    "shape": _numbers,
    "dtype": _matches(_DTYPE),
    "raw": lambda value: value in ("npy", "raw"),
    "fill": lambda value: value is None or _matches(_FILL)(value),
    "cuts": _numbers,
    "source": _path,
    "source_size": _number,
    "source_modified": _number,
    "target": _path,
    "size": _number,
    "mode": lambda value: _number(value) and value <= 0o777,
    "inode": _number,
    "token": _matches(_HASH),
}
"""What each field may be."""
