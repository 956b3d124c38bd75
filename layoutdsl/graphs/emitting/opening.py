"""What one plan comes to at two batches, as one that is right for every batch.

Both are the same operators on the same names. An extent is the same number in both, or so many
times the batch. Where that is all that a `Reshape` is told of the batch, it is left to find it: as
a buffer has the batch in one extent at most, the product of its other extents is the same for every
batch, so what it finds is that extent. Other operands that have the batch in them, and constants
that are known to follow it at every batch, are worked out when the model runs. Everything else that
differs leaves the batch at a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from layoutdsl.graphs.emitting.at_run_time import BatchSource, Measuring
from layoutdsl.graphs.emitting.batch_constants import (
    Follows,
    RunNumbers,
    RunPiece,
    constants_at_any_batch,
)
from layoutdsl.graphs.emitting.following import (
    Extents,
    FixedBatchError,
    generalised,
    inferred,
    lined,
    same_attributes,
    times,
)
from layoutdsl.graphs.emitting.lines import Traced, parts_of
from layoutdsl.graphs.emitting.physical import (
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

NO_LINES: Mapping[str, Traced] = MappingProxyType({})


def opened(
    one: Emission,
    other: Emission,
    name: str,
    batches: tuple[int, int],
    lines: Mapping[str, Traced] = NO_LINES,
) -> Emission:
    """Return an emission that leaves the batch open; all else that it says is of the first batch.

    Args:
        one: at the first batch.
        other: of the same variants, at the second.
        name: of the batch.
        batches: above 1, and not the same.
        lines: constants of the graph that the batch has a part in, for every batch.

    Raises:
        FixedBatchError: the two are not the same but for extents.
    """
    _refuse_others(one, other, batches)
    following = _Following(batches)
    extents = {key: following.tensor(each, other.tensors[key]) for key, each in one.tensors.items()}
    found = constants_at_any_batch(one, other, batches, lines)
    opening = _Opening(batches, _measuring(one, extents), found)
    parts = tuple(opening.part(*both) for both in zip(one.parts, other.parts, strict=True))
    gone = {key for key, each in found.items() if not isinstance(each, np.ndarray)}
    constants = one.constants.copy()
    for key, each in found.items():
        match each:
            case RunPiece(called, array):
                constants[called] = array
            case np.ndarray():
                constants[key] = each
        if key in gone:
            del constants[key]
    tensors = {key: each for key, each in one.tensors.items() if key not in gone}
    batch = Batch(name, batches[0], {key: extents[key] for key in tensors})
    return replace(one, parts=parts, tensors=tensors, constants=constants, batch=batch)


def _refuse_others(one: Emission, other: Emission, batches: tuple[int, int]) -> None:
    """Look whether the same operators are there on the same names."""
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


def _measuring(one: Emission, extents: Mapping[str, Extents]) -> Measuring:
    """Where a part has the batch from: an input that has it in its shape."""
    found = [
        BatchSource(name, axis, each.factor)
        for name in one.inputs
        for axis, each in enumerate(extents[name])
        if isinstance(each, Times)
    ]
    steps = (step for part in one.parts for step in part.work)
    taken = {
        name for step in steps for name in (*step.inputs, *step.outputs) if isinstance(name, str)
    }
    return Measuring(found[0], taken | set(one.tensors) | set(one.constants))


@dataclass(frozen=True, slots=True)
class _Opening:
    """Parts at two batches, made one.

    Attributes:
        batches: the two.
        measuring: what parts work out when they are run.
        found: constants that have the batch in them; those that are arrays stay constants.
    """

    batches: tuple[int, int]
    measuring: Measuring
    found: Mapping[str, Follows]

    def part(self, one: Emitted, other: Emitted) -> Emitted:
        self.measuring.begin()
        work = [self.work(*both) for both in zip(one.work, other.work, strict=True)]
        return Emitted(one.of, (*self.measuring.steps, *work), one.more)

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
                    body = tuple(self.step(*both, inside=True) for both in steps)
                    inputs = tuple(map(self.named, one.inputs))
                    return replace(one, inputs=inputs, body=body)
        raise FixedBatchError(f"other operators are needed at batch {self.batches[1]}")

    def named(self, name: str) -> str:
        """What a part takes in place of a constant that has the batch in it."""
        match self.found.get(name):
            case (RunNumbers() | RunPiece()) as found:
                return found.made(self.measuring)
            case _:
                return name

    def step(self, one: Step, other: Step, inside: bool = False) -> Step:
        heads = [(each.operator, each.outputs, len(each.inputs)) for each in (one, other)]
        if heads[0] != heads[1]:
            raise FixedBatchError(
                f"{one.operator} at batch {self.batches[0]} is {other.operator} "
                f"at batch {self.batches[1]}"
            )
        if not same_attributes(one.attributes, other.attributes):
            raise FixedBatchError(f"an attribute of {one.operator} has the batch in it")
        both = enumerate(zip(one.inputs, other.inputs, strict=True))
        inputs = tuple(self.operand(one, place, *pair, inside) for place, pair in both)
        return Step(one.operator, inputs, one.outputs, one.attributes, one.source)

    def operand(
        self, step: Step, place: int, one: Operand, other: Operand, inside: bool
    ) -> Operand:
        match one, other:
            case Numbers(), Numbers() if one.name == other.name:
                found = generalised((one.numbers, other.numbers), self.batches)
                if found == one.numbers:
                    return one
                if (step.operator, place) == ("Reshape", 1) and found is not None:
                    return Numbers(one.name, inferred(found))
                if found is not None and not inside:
                    return self.measuring.numbers(*parts_of(lined(found)))
                raise FixedBatchError(f"{step.operator} has the batch in its operands")
            case Scalar(), Scalar():
                if (str(one.number), one.dtype) == (str(other.number), other.dtype):
                    return one
            case str(), str():
                if one == other:
                    return one if inside else self.named(one)
        raise FixedBatchError(f"{step.operator} has other operands at another batch")


@dataclass(frozen=True, slots=True)
class _Following:
    """How buffers follow the batch."""

    batches: tuple[int, int]

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
