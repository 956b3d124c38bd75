"""Somebody's function, watched at one shape after the other: where it puts each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.view.compare.calling import (
    MOST_SLOTS,
    PADDING,
    UNKNOWN,
    Answer,
    ArrayKind,
    Caller,
    Faulty,
    Places,
)

MOST_SLOTS_EACH = 1 << 21
"""Slots of a buffer at a shape of our choice."""

MOST_KEPT = 8
"""Values of padding that are kept."""

Extents: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """What a function does with tensors of one shape.

    Attributes:
        places: the slot of each element, in the shape of the tensor.
        slots: of the buffer.
        padding: the constants in slots behind the first element that hold none, at most
            `MOST_KEPT`.
        steady: whether these slots hold constants, and nothing else.
    """

    extents: Extents
    places: Places
    slots: int
    padding: tuple[float, ...]
    steady: bool

    @property
    def first(self) -> int:
        """The slot of the first element."""
        return int(self.places.flat[0])

    def along(self, axis: int) -> Places:
        """How far from the first element those lie whose other indices are 0."""
        lines: list[int | slice] = [0] * self.places.ndim
        lines[axis] = slice(None)
        found: Places = self.places[tuple(lines)] - self.first
        return found


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a function is no layout at a shape; ``raised`` where it only refuses the shape.

    ``large``: the buffer is larger than is looked at, which says nothing of the function.
    """

    extents: Extents
    sentence: str
    raised: BaseException | None = None
    large: bool = False


class Watch:
    """A function, and all that was seen of it; no shape is looked at twice.

    Args:
        names: of the axes, for sentences.
        bits: of the numbers that elements are.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        names: Sequence[str],
        dtype: str,
        array: ArrayKind,
        tell: Callable[[str], None],
        bits: int = 4,
    ) -> None:
        self.names, self.calls = tuple(names), 0
        self.seen: dict[Extents, Watched | Lost] = {}
        self._function, self._dtype, self._array, self._tell = function, dtype, array, tell
        self._bits = bits

    def at(self, extents: Sequence[int]) -> Watched | Lost:
        """Return what the function does with tensors of these extents."""
        key = tuple(extents)
        if key not in self.seen:
            self._tell(f"calling the function, shape {len(self.seen) + 1}")
            self.seen[key] = self._looked(key)
        return self.seen[key]

    @property
    def watched(self) -> tuple[Watched, ...]:
        """All shapes at which the function is one to one."""
        return tuple(each for each in self.seen.values() if isinstance(each, Watched))

    def index_text(self, number: int, extents: Extents) -> str:
        """Return the index of an element that is given by its number in rows."""
        place = np.unravel_index(number, extents)
        return f"({', '.join(f'{n}={i}' for n, i in zip(self.names, place, strict=True))})"

    def _looked(self, extents: Extents) -> Watched | Lost:
        most = MOST_SLOTS_EACH if self.seen else MOST_SLOTS
        told = partial(Caller, self._function, extents, self._dtype, self._array)
        caller = told(self._bits, lambda _: None, most)
        try:
            answer = caller.packed()
        except Faulty as found:
            large = found.fault.kind == "large"
            return Lost(extents, found.fault.sentence, found.__cause__, large)
        finally:
            self.calls += caller.calls
        return self._one_to_one(answer, extents)

    def _one_to_one(self, answer: Answer, extents: Extents) -> Watched | Lost:
        count, numbers = prod(extents), answer.numbers
        held = np.flatnonzero(numbers >= 0)
        times = np.bincount(numbers[held], minlength=count)
        if (times != 1).any():
            number = int(np.argmax(times != 1))
            return Lost(extents, self._not_once(number, answer, extents))
        places = np.empty(count, dtype=np.int64)
        places[numbers[held]] = held
        unused = np.flatnonzero((numbers == PADDING) | (numbers == UNKNOWN))
        unused = unused[unused >= places[0]]  # slots before the first element are nobody's
        odd = answer.random[unused] | (numbers[unused] == UNKNOWN)
        values = np.unique(answer.values[unused[~odd]])[:MOST_KEPT]
        kept = tuple(float(each) for each in values)
        return Watched(extents, places.reshape(extents), len(numbers), kept, not odd.any())

    def _not_once(self, number: int, answer: Answer, extents: Extents) -> str:
        index = self.index_text(number, extents)
        slots = np.flatnonzero(answer.numbers == number)
        if len(slots):
            return f"element {index} goes to offset {slots[0]}, and to {slots[1]} too"
        if answer.random.any():
            return "it returns something else at each call with the same tensor"
        return f"element {index} goes nowhere"
