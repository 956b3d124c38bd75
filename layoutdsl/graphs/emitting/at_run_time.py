"""What has the batch in it, worked out while a model runs: from the shape of an input.

Each part works it out for itself, so that it can be run, and tried, alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from layoutdsl.graphs.emitting.physical import Numbers, Operand, Step
from layoutdsl.graphs.graph import Attribute

INT64 = np.dtype(np.int64)
"""The type of shapes."""

CASTS = {np.dtype(np.int32): 6}
"""What `Cast` calls the other type of whole numbers."""


@dataclass(frozen=True, slots=True)
class BatchSource:
    """Where a model that runs has its batch from.

    Attributes:
        name: of an input.
        axis: of that buffer.
        factor: how many times the batch its extent is.
    """

    name: str
    axis: int
    factor: int


@dataclass(slots=True)
class Measuring:
    """Steps of a part that work out what has the batch in it; each thing once.

    Attributes:
        source: of the batch.
        taken: names that nothing new may have; those that are given are added.
        steps: so far.
    """

    source: BatchSource
    taken: set[str]
    steps: list[Step] = field(default_factory=list)
    _known: dict[tuple[object, ...], str] = field(default_factory=dict)

    def begin(self) -> None:
        """Start with another part."""
        self.steps, self._known = [], {}

    def numbers(
        self,
        slopes: tuple[int, ...],
        rests: tuple[int, ...],
        shape: tuple[int, ...] | None = None,
        dtype: np.dtype[Any] = INT64,
    ) -> str:
        """Return the name of whole numbers: slopes times the batch, and rests.

        Args:
            slopes: of each number.
            rests: of each number.
            shape: of the tensor; a list without it.
            dtype: of its elements.
        """
        key = slopes, rests, shape, dtype
        if key not in self._known:
            name = self._batch()
            if set(slopes) != {1} or len(slopes) > 1:
                name = self._step("Mul", (name, Numbers("slopes", slopes)))
            if any(rests):
                name = self._step("Add", (name, Numbers("rests", rests)))
            if shape is not None and len(shape) != 1:
                name = self._step("Reshape", (name, Numbers("shape", shape)))
            if dtype in CASTS:
                name = self._step("Cast", (name,), to=CASTS[dtype])
            self._known[key] = name
        return self._known[key]

    def repeated(self, piece: str, slopes: tuple[int, ...], rests: tuple[int, ...]) -> str:
        """Return the name of a constant that is repeated to a shape which has the batch in it."""
        key = piece, slopes, rests
        if key not in self._known:
            shape = self.numbers(slopes, rests)
            self._known[key] = self._step("Expand", (piece, shape))
        return self._known[key]

    def _batch(self) -> str:
        """The batch, as a list of one number."""
        key = ("batch",)
        if key not in self._known:
            shape = self._step("Shape", (self.source.name,))
            name = self._step("Gather", (shape, Numbers("indices", (self.source.axis,))), axis=0)
            if self.source.factor != 1:
                name = self._step("Div", (name, Numbers("factor", (self.source.factor,))))
            self._known[key] = name
        return self._known[key]

    def _step(self, operator: str, inputs: tuple[Operand, ...], **said: Attribute) -> str:
        name, number = f"batch@{operator.lower()}", 1
        while name in self.taken:
            number += 1
            name = f"batch@{operator.lower()}_{number}"
        self.taken.add(name)
        self.steps.append(Step(operator, inputs, (name,), said))
        return name
