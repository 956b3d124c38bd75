"""Constants that have the batch in them, as what a part takes in their place at every batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from layoutdsl.graphs.emitting.at_run_time import Measuring
from layoutdsl.graphs.emitting.following import (
    Extents,
    FixedBatchError,
    generalised,
    inferred,
    lined,
    numbers_of,
    same_array,
    times,
)
from layoutdsl.graphs.emitting.lines import Repeated, Traced, parts_of
from layoutdsl.graphs.emitting.physical import Emission, Step, Times
from layoutdsl.graphs.graph import Array


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """A constant that is whole numbers: slopes times the batch, and rests."""

    slopes: tuple[int, ...]
    rests: tuple[int, ...]
    array: Array

    def made(self, measuring: Measuring) -> str:
        """Return the name of what a part works out."""
        return measuring.numbers(self.slopes, self.rests, self.array.shape, self.array.dtype)


@dataclass(frozen=True, slots=True)
class RunPiece:
    """A constant that is a piece, repeated.

    Attributes:
        called: the piece.
        piece: itself.
        slopes: of the extents of the whole.
        rests: of the same.
    """

    called: str
    piece: Array
    slopes: tuple[int, ...]
    rests: tuple[int, ...]

    def made(self, measuring: Measuring) -> str:
        """Return the name of what a part works out."""
        return measuring.repeated(self.called, self.slopes, self.rests)


Follows: TypeAlias = RunNumbers | RunPiece | Array
"""What a part works out, or a constant that is the same at every batch by now."""


def constants_at_any_batch(
    one: Emission, other: Emission, batches: tuple[int, int], lines: Mapping[str, Traced]
) -> dict[str, Follows]:
    """Return the constants that speak of the batch, as they are at any.

    Args:
        one: at the first batch.
        other: at the second.
        batches: those two.
        lines: constants of the graph that the batch has a part in, for every batch.

    Raises:
        FixedBatchError: of one that is not known.
    """
    if one.constants.keys() != other.constants.keys():
        raise FixedBatchError("other constants are needed at another batch")
    found = dict[str, Follows]()
    uses = _uses(one)
    for name, array in one.constants.items():
        second = other.constants[name]
        if same_array(array, second):
            continue
        both = (array, second)
        numbers = numbers_of(both, batches)
        found_by_reshape = set(uses[name]) == {("Reshape", 1)} and name not in one.outputs
        if numbers is not None and found_by_reshape and array.ndim == 1 and times(numbers) == 1:
            found[name] = np.array(inferred(numbers), array.dtype)
            continue
        value = one.tensors[name].value if name in one.tensors else name
        made = _made(name, lines.get(value), both, batches, {*one.tensors, *one.constants})
        if made is None or name in one.outputs:
            by = ", ".join(dict.fromkeys(operator for operator, _ in uses[name])) or "an output"
            raise FixedBatchError(f"{by} takes `{name}`, a constant that has the batch in it")
        found[name] = made
    return found


def _made(
    name: str,
    line: Traced,
    arrays: tuple[Array, Array],
    batches: tuple[int, int],
    taken: Collection[str],
) -> RunNumbers | RunPiece | None:
    """How a constant is worked out; `None` where that is not known for every batch."""
    first = arrays[0]
    if isinstance(line, np.ndarray):
        slopes, rests = parts_of(line.reshape(-1).tolist())
        for array, batch in zip(arrays, batches, strict=True):
            own = [slope * batch + rest for slope, rest in zip(slopes, rests, strict=True)]
            if array.shape != first.shape or array.reshape(-1).tolist() != own:
                return None
        return RunNumbers(slopes, rests, first)
    shape = generalised([each.shape for each in arrays], batches)
    if not isinstance(line, Repeated) or shape is None:
        return None
    where = tuple(0 if isinstance(each, Times) else slice(None) for each in shape)
    pieces = [np.expand_dims(each[where], _places(shape)) for each in arrays]
    whole = [np.broadcast_to(pieces[0], each.shape) for each in arrays]
    if not all(same_array(*both) for both in zip(whole, arrays, strict=True)):
        return None
    called = f"{name}@piece"
    while called in taken:
        called += "@piece"
    return RunPiece(called, np.array(pieces[0]), *parts_of(lined(shape)))


def _places(shape: Extents) -> tuple[int, ...]:
    return tuple(axis for axis, each in enumerate(shape) if isinstance(each, Times))


def _uses(emission: Emission) -> Mapping[str, Counter[tuple[str, int]]]:
    """Which operators take a name, and in which place; functions in none that is known."""
    found: dict[str, Counter[tuple[str, int]]] = {name: Counter() for name in emission.constants}
    for part in emission.parts:
        for work in part.work:
            for place, each in enumerate(work.inputs):
                if isinstance(each, str) and each in found:
                    key = (work.operator, place) if isinstance(work, Step) else (work.name, -1)
                    found[each][key] += 1
    return found
