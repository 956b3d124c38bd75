"""What one plan comes to at two batches, as one that is right for every batch.

Both are the same operators on the same names. An extent is the same number in both, or so many
times the batch; the latter is what a `Reshape` is left to find by itself. Everything else that
differs leaves the batch at a number. As a buffer has the batch in one extent at most, the product
of its other extents is the same for every batch; so what `Reshape` finds is that extent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from layoutdsl.propagation.emitting.following import (
    Extents,
    FixedBatchError,
    generalised,
    inferred,
    numbers_of,
    same_array,
    same_attributes,
    times,
)
from layoutdsl.propagation.emitting.physical import (
    Batch,
    Call,
    Emission,
    Emitted,
    Numbers,
    Operand,
    Scalar,
    Step,
    Tensor,
    Times,
)
from layoutdsl.propagation.graph import Array


def opened(one: Emission, other: Emission, name: str, batches: tuple[int, int]) -> Emission:
    """Return an emission that leaves the batch open; all else that it says is of the first batch.

    Args:
        one: at the first batch.
        other: of the same variants, at the second.
        name: of the batch.
        batches: above 1, and not the same.

    Raises:
        FixedBatchError: the two are not the same but for extents.
    """
    work = [tuple(step for part in each.parts for step in part.work) for each in (one, other)]
    same = [part.of for part in one.parts] == [part.of for part in other.parts]
    same &= [len(part.work) for part in one.parts] == [len(part.work) for part in other.parts]
    ends = [(each.inputs, each.outputs) for each in (one, other)]
    views = [[(view.of, view.source, view.value) for view in each.views] for each in (one, other)]
    if (
        not same
        or ends[0] != ends[1]
        or views[0] != views[1]
        or set(one.tensors) != set(other.tensors)
    ):
        raise FixedBatchError(f"other operators are needed at batch {batches[1]} than {batches[0]}")
    opening = _Opening(batches)
    found = iter([opening.work(*both) for both in zip(*work, strict=True)])
    parts = tuple(
        Emitted(part.of, tuple(next(found) for _ in part.work), part.more) for part in one.parts
    )
    extents = {key: opening.tensor(each, other.tensors[key]) for key, each in one.tensors.items()}
    constants = one.constants.copy()
    constants.update(opening.constants(one, other))
    batch = Batch(name, batches[0], extents)
    return replace(one, parts=parts, constants=constants, batch=batch)


@dataclass(frozen=True, slots=True)
class _Opening:
    batches: tuple[int, int]

    def work(self, one: Step | Call, other: Step | Call) -> Step | Call:
        match one, other:
            case Step(), Step():
                return self.step(one, other)
            case Call(), Call():
                ends = [
                    (each.name, each.inputs, each.outputs, each.takes, each.makes)
                    for each in (one, other)
                ]
                if ends[0] == ends[1] and len(one.body) == len(other.body):
                    steps = zip(one.body, other.body, strict=True)
                    return replace(one, body=tuple(self.step(*both) for both in steps))
        raise FixedBatchError(f"other operators are needed at batch {self.batches[1]}")

    def step(self, one: Step, other: Step) -> Step:
        heads = [(each.operator, each.outputs, len(each.inputs)) for each in (one, other)]
        if heads[0] != heads[1]:
            raise FixedBatchError(
                f"{one.operator} at batch {self.batches[0]} is {other.operator} "
                f"at batch {self.batches[1]}"
            )
        if not same_attributes(one.attributes, other.attributes):
            raise FixedBatchError(f"an attribute of {one.operator} has the batch in it")
        both = enumerate(zip(one.inputs, other.inputs, strict=True))
        inputs = tuple(self.operand(one, place, *pair) for place, pair in both)
        return Step(one.operator, inputs, one.outputs, one.attributes, one.source)

    def operand(self, step: Step, place: int, one: Operand, other: Operand) -> Operand:
        match one, other:
            case Numbers(), Numbers() if one.name == other.name:
                found = generalised((one.numbers, other.numbers), self.batches)
                if found == one.numbers:
                    return one
                if (step.operator, place) == ("Reshape", 1) and found is not None:
                    return Numbers(one.name, inferred(found))
                raise FixedBatchError(f"{step.operator} has the batch in its operands")
            case Scalar(), Scalar():
                if (str(one.number), one.dtype) == (str(other.number), other.dtype):
                    return one
            case str(), str():
                if one == other:
                    return one
        raise FixedBatchError(f"{step.operator} has other operands at another batch")

    def tensor(self, one: Tensor, other: Tensor) -> Extents:
        """The extents of a tensor, after a look at how it lies."""
        digits = one.held.placing.digits
        lies = [
            (each.value, each.held.lane, [(d.axis, d.divisor) for d in each.held.placing.digits])
            for each in (one, other)
        ]
        found = generalised((one.extents, other.extents), self.batches)
        own = [[each.extent for each in tensor.held.placing.digits] for tensor in (one, other)]
        along = generalised(own, self.batches) if lies[0] == lies[1] else None
        most = one.held.placing.padded_shape
        cut = along is not None and any(
            isinstance(extent, Times) and digit.divisor * digit.extent < most[digit.axis]
            for digit, extent in zip(digits, along, strict=True)
        )
        if found is None or along is None or cut or times(found) > 1 or times(along) > 1:
            raise FixedBatchError(f"`{one.value}` lies otherwise at another batch")
        return found

    def constants(self, one: Emission, other: Emission) -> Iterator[tuple[str, Array]]:
        """Those that speak of the batch, as they are at any."""
        if one.constants.keys() != other.constants.keys():
            raise FixedBatchError("other constants are needed at another batch")
        uses = _uses(one)
        for name, array in one.constants.items():
            second = other.constants[name]
            if same_array(array, second):
                continue
            found = numbers_of((array, second), self.batches)
            only = set(uses[name]) == {("Reshape", 1)} and name not in one.outputs
            if found is None or array.ndim != 1 or not only:
                by = ", ".join(dict.fromkeys(operator for operator, _ in uses[name])) or "an output"
                raise FixedBatchError(f"{by} takes `{name}`, a constant that has the batch in it")
            yield name, np.array(inferred(found), array.dtype)


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
