"""A buffer moved to another placing, in operators of ONNX: reshaped, transposed, cut and padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from layoutdsl.graphs.emitting.physical import Numbers, Operand, Scalar, Step
from layoutdsl.graphs.graph import Array
from layoutdsl.graphs.placings.forms import Form, are_aligned, atoms
from layoutdsl.graphs.placings.placing import Digit, Placing, as_written, inverse
from layoutdsl.graphs.variants import Held, Lane

Number: TypeAlias = int | float | bool


TO_THE_END = 2**63 - 1
"""Where a `Slice` ends that leaves an axis as long as it is."""


@dataclass(slots=True)
class Moving:
    """Steps so far, and the tensor that they end in.

    Attributes:
        name: of the tensor.
        extents: of it.
        prefix: of the names of tensors and numbers in between.
        steps: so far.
    """

    name: str
    extents: tuple[int, ...]
    prefix: str
    steps: list[Step] = field(default_factory=list)

    def add(self, operator: str, *more: Operand, extents: Sequence[int], **attributes: Any) -> None:
        """Add a step on the last tensor."""
        inputs = (self.name, *more)
        self.name = f"{self.prefix}_{len(self.steps)}"
        self.extents = tuple(extents)
        self.steps.append(Step(operator, inputs, (self.name,), attributes))

    def numbers(self, word: str, numbers: Sequence[int]) -> Numbers:
        """Return numbers that a function has from its caller."""
        return Numbers(f"{self.prefix}_{word}{len(self.steps)}", tuple(numbers))

    def reshape(self, extents: Sequence[int]) -> None:
        """Give the tensor another shape."""
        if tuple(extents) != self.extents:
            self.always_reshape(extents)

    def always_reshape(self, extents: Sequence[int]) -> None:
        """Give the tensor a shape, be it the one that it has."""
        self.add("Reshape", self.numbers("shape", extents), extents=extents)

    def transpose(self, order: Sequence[int]) -> None:
        """Reorder dimensions; those of extent one cost nothing and are not worth a step."""
        if list(order) != sorted(order):
            extents = [self.extents[number] for number in order]
            self.add("Transpose", extents=extents, perm=tuple(order))

    def cut(self, axes: Sequence[int], shape: Sequence[int]) -> None:
        """Leave out padding at the end of axes; those without any are left whole, however long."""
        extents = [shape[k] if k in axes else each for k, each in enumerate(self.extents)]
        ends = [shape[axis] if shape[axis] < self.extents[axis] else TO_THE_END for axis in axes]
        self.add(
            "Slice",
            self.numbers("starts", [0] * len(axes)),
            self.numbers("ends", ends),
            self.numbers("axes", axes),
            extents=extents,
        )

    def grow(self, placing: Placing, fill: Number, dtype: np.dtype[Any]) -> None:
        """Add padding at the end of axes."""
        both = zip(placing.shape, placing.padded_shape, strict=True)
        pads = [0] * len(placing.shape) + [padded - own for own, padded in both]
        more = (self.numbers("pads", pads), Scalar(fill, dtype))
        self.add("Pad", *more, extents=placing.padded_shape, mode="constant")


def convert(
    start: Moving, source: Held, target: Held, extents: Sequence[int], dtype: np.dtype[Any]
) -> None:
    """Move a buffer from one placing to another.

    Args:
        start: the buffer, to which steps are added.
        source: how it lies.
        target: how it has to lie, and what its padding has to hold.
        extents: the shape that the result gets.
        dtype: of its elements.
    """
    one, other = source.placing, target.placing
    same = one.padded_shape == other.padded_shape and are_aligned(one, other)
    if same and (source.lane == target.lane or _is_free(target.lane)):
        turn(start, one, other, extents)
        return
    unpack(start, one)
    pack(start, other, _number(target.lane), extents, dtype)


def _is_free(lane: Lane | None) -> bool:
    return lane is None or lane.number is None


def _number(lane: Lane | None) -> Number:
    return 0 if lane is None or lane.number is None else lane.number


def turn(start: Moving, one: Placing, other: Placing, extents: Sequence[int]) -> None:
    """Move all slots, padding included, to another order."""
    before, after = atoms(one, other), atoms(other, one)
    own, wanted = [each.extent for each in before], [each.extent for each in after]
    order = [before.index(each) for each in after]
    with_ones = _with_ones(start.extents, own, tuple(extents), wanted, order)
    if with_ones is not None:
        start.transpose(with_ones)
        return
    if order != sorted(order):
        start.reshape(own)
        start.transpose(order)
    start.reshape(extents)


def _with_ones(
    extents: tuple[int, ...],
    own: Sequence[int],
    target: tuple[int, ...],
    wanted: Sequence[int],
    order: Sequence[int],
) -> list[int] | None:
    """The order of dimensions where those of extent one need no step of their own."""
    big = [number for number, extent in enumerate(extents) if extent != 1]
    ones = [number for number, extent in enumerate(extents) if extent == 1]
    if [extents[number] for number in big] != list(own) or len(target) != len(extents):
        return None
    if [extent for extent in target if extent != 1] != list(wanted) or 1 in own:
        return None
    turned, left = iter(order), iter(ones)
    return [next(left) if extent == 1 else big[next(turned)] for extent in target]


def unpack(start: Moving, placing: Placing) -> None:
    """Lay the elements as written, without padding."""
    whole = Placing(placing.padded_shape, placing.digits)
    turn(start, whole, as_written(placing.padded_shape), placing.padded_shape)
    if placing.padded_axes:
        start.cut(placing.padded_axes, placing.shape)


def pack(
    start: Moving, placing: Placing, fill: Number, extents: Sequence[int], dtype: np.dtype[Any]
) -> None:
    """Lay elements that are as written as a placing says."""
    start.reshape(placing.shape)
    if placing.padded_axes:
        start.grow(placing, fill, dtype)
    whole = Placing(placing.padded_shape, placing.digits)
    turn(start, as_written(placing.padded_shape), whole, extents)


def unpack_form(start: Moving, form: Form, placing: Placing) -> None:
    """Lay the elements as written, for bodies of functions: by layouts in the same steps always.

    Args:
        start: a buffer of the form's dimensions.
        form: of the placing.
        placing: what the buffer holds.
    """
    start.transpose(_axis_by_axis(form))
    if not _is_permuted(form, placing):
        start.always_reshape(placing.padded_shape)
        if form.of_layout or placing.padded_axes:
            start.cut(range(len(placing.shape)), placing.shape)


def pack_form(
    start: Moving, form: Form, placing: Placing, fill: Number, dtype: np.dtype[Any]
) -> None:
    """Lay elements that are as written as a form says: by layouts in the same steps always."""
    order = _axis_by_axis(form)
    if not _is_permuted(form, placing):
        if form.of_layout or placing.padded_axes:
            start.grow(placing, fill, dtype)
        start.always_reshape([form.digits[number].extent for number in order])
    start.transpose(inverse(order))


def _axis_by_axis(form: Form) -> list[int]:
    """The order of dimensions in which those of an axis stand together, most major first."""
    numbers = range(len(form.digits))
    return sorted(numbers, key=lambda k: (form.digits[k].axis, -form.digits[k].divisor, k))


def _is_permuted(form: Form, placing: Placing) -> bool:
    """Whether each dimension is an axis, and each axis a dimension."""
    axes = sorted(digit.axis for digit in form.digits)
    return axes == list(range(len(placing.shape))) and placing.padded_shape == placing.shape


def padding_mask(placing: Placing, digits: Sequence[Digit]) -> Array:
    """Return which slots of a buffer are padding: booleans that broadcast to its dimensions.

    Args:
        placing: of the buffer.
        digits: its dimensions, a digit each.
    """
    found = np.zeros((1,) * len(digits), bool)
    for axis in placing.padded_axes:
        index = np.zeros((1,) * len(digits), np.int64)
        for number, digit in enumerate(digits):
            if digit.axis == axis:
                along = np.arange(digit.extent) * digit.divisor
                shape = [1] * len(digits)
                shape[number] = digit.extent
                index = index + along.reshape(shape)
        found = found | (index >= placing.shape[axis])
    return found
