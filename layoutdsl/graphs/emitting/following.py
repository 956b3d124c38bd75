"""Whether numbers, arrays and attributes at several batches are the same, or follow the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from layoutdsl.graphs.emitting.lines import Line, Lines
from layoutdsl.graphs.emitting.physical import Times
from layoutdsl.graphs.graph import Array, Attribute

Extents: TypeAlias = tuple[int | Times, ...]

INFERRED = -1
"""What `Reshape` is told of an extent that it has to find."""


class FixedBatchError(ValueError):
    """A plan is right for one batch only; says why."""


def generalised(found: Sequence[Sequence[int]], batches: Sequence[int]) -> Extents | None:
    """Return numbers at several batches as one; `None` where they follow the batch otherwise.

    >>> generalised([(2, 6, 7), (5, 15, 7)], (2, 5))
    (Times(factor=1), Times(factor=3), 7)
    """
    if len({len(each) for each in found}) != 1:
        return None
    result = list[int | Times]()
    for numbers in zip(*found, strict=True):
        factor = numbers[0] // batches[0]
        if len(set(numbers)) == 1:
            result.append(numbers[0])
        elif all(each == factor * batch for each, batch in zip(numbers, batches, strict=True)):
            result.append(Times(factor))
        else:
            return None
    return tuple(result)


def inferred(extents: Extents) -> tuple[int, ...]:
    """Return what `Reshape` is told."""
    if times(extents) != 1 or any(isinstance(each, int) and each < 1 for each in extents):
        raise FixedBatchError("a Reshape has the batch in its operands, and not as one extent")
    return tuple(each if isinstance(each, int) else INFERRED for each in extents)


def numbers_of(arrays: Sequence[Array], batches: Sequence[int]) -> Extents | None:
    """Return whole numbers at several batches as one; `None` where they are no such thing."""
    first = arrays[0]
    if any(each.shape != first.shape or each.dtype != first.dtype for each in arrays):
        return None
    if first.dtype.kind != "i":
        return None
    return generalised([each.reshape(-1).tolist() for each in arrays], batches)


def same_array(one: Array, other: Array) -> bool:
    """Return whether two arrays are the same, bit by bit."""
    if one is other:
        return True
    same = one.dtype == other.dtype and one.shape == other.shape
    return same and one.tobytes() == other.tobytes()


def same_attributes(one: Mapping[str, Attribute], other: Mapping[str, Attribute]) -> bool:
    """Return whether two nodes say the same."""
    return one.keys() == other.keys() and all(
        _same_attribute(one[name], other[name]) for name in one
    )


def _same_attribute(one: Attribute, other: Attribute) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return same_array(one, other)
    return type(one) is type(other) and bool(one == other)


def times(extents: Extents) -> int:
    """Return how many extents have the batch in them."""
    return sum(isinstance(each, Times) for each in extents)


def lined(extents: Extents) -> Lines:
    """Return extents as numbers of a batch."""
    return tuple(Line(each.factor, 0) if isinstance(each, Times) else each for each in extents)
