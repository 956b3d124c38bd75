"""What has come out so far of a graph that is emitted: tensors by what they hold, and their names.

A value as it was written keeps its name and its shape. Every other shape of a buffer is made by one
`Reshape` from the tensor that its maker left, so that shapes do not chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from layoutdsl.graphs.emitting.laying import Constants, Recipe
from layoutdsl.graphs.emitting.physical import Call, Emitted, Numbers, Step, Tensor, View
from layoutdsl.graphs.graph import Graph
from layoutdsl.graphs.placings.forms import Form, form_of
from layoutdsl.graphs.placings.placing import as_written
from layoutdsl.graphs.variants import Held
from layoutdsl.language.meaning.model import Layout

Style: TypeAlias = Literal["functions", "plain", "onnxruntime"]
"""Whether operators on buffers are functions, the steps that these stand for, or onnxruntime's."""

Extents: TypeAlias = tuple[int, ...]


@dataclass(slots=True)
class Emitting:
    """What has come out so far.

    Attributes:
        graph: that is emitted.
        layouts: that give names and dimensions, those first that are to be preferred.
        style: of what comes out.
        public: how the caller gives inputs and takes outputs; such a buffer has the value's name.
        block: channels of a block, where operators are onnxruntime's.
        parts: so far.
        work: of the part that is being made.
        tensors: by their names.
        constants: by their names.
        views: nodes that became nothing.
    """

    graph: Graph
    layouts: tuple[Layout, ...]
    style: Style
    public: Mapping[str, Held]
    block: int
    parts: list[Emitted] = field(default_factory=list)
    work: list[Step | Call] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    constants: Constants = field(default_factory=Constants)
    views: list[View] = field(default_factory=list)
    _bases: dict[tuple[str, Held], Tensor] = field(default_factory=dict)
    _shaped: dict[tuple[str, Held, Extents], Tensor] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names from being given to what is new."""
        self._taken.update(names)

    def new_name(self, wanted: str) -> str:
        """Return a name that nothing has yet, like the one that is wanted."""
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}_{number}"
        self._taken.add(found)
        return found

    def form(self, held: Held) -> Form:
        """Return the usual dimensions of a buffer."""
        return form_of(held.placing, self.layouts)

    def written(self, value: str) -> Held:
        """Return how the graph itself has a value."""
        return Held(as_written(self.graph.values[value].shape), None)

    def dtype(self, value: str) -> np.dtype[Any]:
        """Return the type of the elements of a value."""
        found = self.graph.values[value].dtype
        assert found is not None
        return found

    def has(self, value: str, held: Held) -> bool:
        """Return whether a value lies so already."""
        return (value, held) in self._bases

    def base(self, value: str, held: Held) -> Tensor:
        """Return the tensor that whoever made a value left."""
        return self._bases[value, held]

    def alias(self, value: str, held: Held, other: Tensor) -> None:
        """Note that a value is what a tensor holds for another one already."""
        self._bases[value, held] = other
        self._shaped.setdefault((value, held, other.extents), other)

    def leave(self, value: str, held: Held, extents: Extents) -> str:
        """Note that a value is made with a shape, and return the name for that tensor."""
        tensor = Tensor(self._called(value, held, extents), value, held, extents)
        self.tensors[tensor.name] = tensor
        self.alias(value, held, tensor)
        return tensor.name

    def take(self, value: str, held: Held, extents: Extents) -> str:
        """Return the name of a tensor of this shape that holds a value."""
        if value in self.graph.constants:
            self._lay(value, held)
        found = self._shaped.get((value, held, extents))
        if found is not None:
            return found.name
        base = self._bases[value, held]
        tensor = Tensor(self._called(value, held, extents), value, held, extents)
        if base.name in self.constants:
            self.constants.shape(tensor.name, base.name, extents)
        else:
            self.work.append(
                Step("Reshape", (base.name, Numbers("shape", extents)), (tensor.name,))
            )
        self.tensors[tensor.name] = self._shaped[value, held, extents] = tensor
        return tensor.name

    def take_usual(self, value: str, held: Held) -> str:
        """Return the name of a tensor of the usual dimensions that holds a value."""
        return self.take(value, held, self.form(held).extents)

    def called_so(self, value: str, held: Held, name: str) -> None:
        """Let a tensor have the name of a value that it holds, too."""
        if value not in self.tensors:
            self.work.append(Step("Identity", (name,), (value,)))
            self.tensors[value] = Tensor(value, value, held, self.tensors[name].extents)

    def close(self, of: int | str) -> None:
        """End a part."""
        self.parts.append(Emitted(of, tuple(self.work)))
        self.work = []

    def _lay(self, value: str, held: Held) -> None:
        """Lay a constant out as it has to be; that costs nothing when the graph is run."""
        if self.has(value, held):
            return
        fill = None if held.lane is None else held.lane.number
        extents = self.form(held).extents
        name = self.leave(value, held, extents)
        placing = None if held == self.written(value) else held.placing
        self.constants.lay(name, Recipe(self.graph.constants, value, placing, fill, extents))

    def _called(self, value: str, held: Held, extents: Extents) -> str:
        """A name: that of the value for whoever knows it, and for what is as written else."""
        public, written = self.public.get(value, self.written(value)), self.written(value)
        if (value, held, extents) in self._shaped:
            return self.new_name(f"{value}@again")
        if held == public and extents == self.form(held).extents:
            return value
        if held == written and extents == self.graph.values[value].shape:
            return self.new_name(f"{value}@written")
        return self.new_name(f"{value}@{self.form(held).name or 'flat'}")
