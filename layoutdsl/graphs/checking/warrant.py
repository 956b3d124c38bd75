"""What a model says of how it was planned: enough to plan it again without a solver.

It is JSON in the metadata of the model, and nothing in it is believed: all of it is worked out anew
from the model that was planned, but for which variants were chosen and the numbers of the dual.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any, get_args

from layoutdsl.graphs.checking.remaking import Emit
from layoutdsl.graphs.plan import Plan
from layoutdsl.graphs.roles.anchors import Choice
from layoutdsl.language.meaning.operator import OperatorRule

KEY = "layoutdsl.certificate"
"""Of the metadata of a model."""

VERSION = 2
MOST = 1 << 26
"""Characters; a network of 100,000 nodes has less."""


@dataclass(frozen=True, slots=True)
class Warrant:
    """What has to be known to plan a model again.

    Attributes:
        engine: rules, kernels and preferences, as text.
        rules: a hash of the rules that come along.
        shapes: of inputs whose extents the model leaves open.
        inputs: names of layouts in which the caller gives values.
        outputs: names of layouts in which the caller takes them.
        choice: what a preference with several layouts asks.
        kind: of what comes out.
        chosen: the number of the variant of each node.
        cost: of the plan.
        bound: no plan costs less, as the dual proves.
        scale: of the dual.
        rows: of the dual.
        dual: its numbers by their rows; others are 0.
        batches: where the batch is open: the one of the plan, and one more at which it is written.
    """

    engine: str
    rules: str
    shapes: Mapping[str, tuple[int, ...]]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    choice: Choice
    kind: Emit
    chosen: tuple[int, ...]
    cost: int
    bound: int
    scale: int
    rows: int
    dual: Mapping[int, int]
    batches: tuple[int, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The dual, a number for each row."""
        found = [0] * self.rows
        for row, number in self.dual.items():
            found[row] = number
        return tuple(found)


class UnreadableWarrantError(ValueError):
    """What a model says of its plan is no such thing."""


def hash_of(rules: tuple[OperatorRule, ...]) -> str:
    """Return a hash of what rules say."""
    return sha256("\n".join(rule.text for rule in rules).encode()).hexdigest()


def dual_of(plan: Plan) -> dict[int, int]:
    """Return the numbers of a dual that are not 0, by their rows."""
    return {row: number for row, number in enumerate(plan.dual) if number}


def written(warrant: Warrant) -> str:
    """Return the text that a model carries."""
    said = {"version": VERSION, **asdict(warrant)}
    if not warrant.batches:
        del said["batches"]
    return json.dumps(said, sort_keys=True)


def read(text: str) -> Warrant:
    """Return what a model says of its plan.

    Raises:
        UnreadableWarrantError: it says what cannot be.
    """
    if len(text) > MOST:
        raise UnreadableWarrantError("the certificate is too long")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableWarrantError("the certificate is no JSON") from None
    if not isinstance(said, dict) or said.get("version") != VERSION:
        raise UnreadableWarrantError("the certificate is of another version of layoutdsl")
    names = [each.name for each in fields(Warrant)]
    said.setdefault("batches", [])
    if set(said) != {*names, "version"}:
        raise UnreadableWarrantError("the certificate has other keys than it should")
    try:
        return _read({name: said[name] for name in names})
    except (TypeError, ValueError, AttributeError, KeyError) as wrong:
        raise UnreadableWarrantError(f"the certificate says what cannot be: {wrong}") from None


def _read(said: dict[str, Any]) -> Warrant:
    rows = _whole(said["rows"])
    if not 0 <= rows <= MOST or said["choice"] not in get_args(Choice):
        raise ValueError("`rows` or `choice`")
    if said["kind"] not in get_args(Emit):
        raise ValueError("`kind`")
    dual = {int(row): _whole(number) for row, number in said["dual"].items()}
    if any(not 0 <= row < rows for row in dual):
        raise ValueError("`dual` has numbers of no row")
    shapes = {
        str(name): tuple(_whole(each) for each in shape) for name, shape in said["shapes"].items()
    }
    return Warrant(
        engine=_text(said["engine"]),
        rules=_text(said["rules"]),
        shapes=shapes,
        inputs={str(name): _text(each) for name, each in said["inputs"].items()},
        outputs={str(name): _text(each) for name, each in said["outputs"].items()},
        choice=said["choice"],
        kind=said["kind"],
        chosen=tuple(_whole(each) for each in said["chosen"]),
        cost=_whole(said["cost"]),
        bound=_whole(said["bound"]),
        scale=_whole(said["scale"]),
        rows=rows,
        dual=dual,
        batches=tuple(_whole(each) for each in said["batches"]),
    )


def _whole(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError("a number is not whole")
    return number


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise ValueError("a text is none")
    return text
