"""Numbers to try a graph with, the caller's or seeded ones, and how far apart two results are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from layoutdsl.graphs.graph import Array, Graph, Value
from layoutdsl.language.texts.faults import UnknownNameError, did_you_mean

PIECE = 1 << 16
"""Numbers that are held against each other at once, in twice their bytes."""

SUMS = frozenset({"ReduceSum", "ReduceMean", "GlobalAveragePool"})
"""Operators that add whatever there is along axes."""

JUNK = 37
"""What stands in padding that nobody may look at."""


@dataclass(frozen=True)
class Trial:
    """Options of a verification.

    Attributes:
        feeds: arrays for inputs, by their names, as the model that was read takes them. Inputs
            without one are drawn.
        rtol: how far outputs may be from the original's, relative; `None` takes it from how far
            the original is from itself.
    """

    feeds: Mapping[str, Array] = field(default_factory=dict)
    rtol: float | None = None

    def inputs(self, graph: Graph, seed: int, defaults: Mapping[str, Array]) -> dict[str, Array]:
        """Return arrays for all inputs of a graph: fed, else their defaults, else drawn.

        Where the batch of the graph is not that of an array, its first rows are repeated. Seed 0
        takes what was fed; any other moves floats of it by one place, for another input like it.
        """
        found = drawn(graph, graph.inputs, seed)
        for name in found:
            if name in self.feeds:
                array = self.feeds[name]
                if array.shape != (shape := graph.values[name].shape):
                    array = array[np.arange(shape[0]) % len(array)]
                moved = seed and array.dtype.kind == "f"
                found[name] = np.roll(array, 1) if moved else array
            elif name in defaults:
                found[name] = defaults[name]
        return found


def refuse_misfed(graph: Graph, feeds: Mapping[str, Array], *, is_open: bool) -> None:
    """Check the names, types and shapes of arrays that are to be fed to a graph.

    Args:
        graph: that takes them.
        feeds: arrays by names of its inputs.
        is_open: whether the first axis of an array may have any extent.

    Raises:
        UnknownNameError: the graph has no such input.
        ValueError: an array is of another type or shape.
    """
    for name, array in feeds.items():
        if name not in graph.inputs:
            known = ", ".join(f"`{each}`" for each in graph.inputs[:8])
            hint = did_you_mean(name, graph.inputs) or f"its inputs are {known}"
            raise UnknownNameError(f"the model has no input `{name}` to feed", hint)
        value = graph.values[name]
        if value.dtype is None:
            raise ValueError(f"input `{name}` is no tensor of numbers, and cannot be fed")
        if array.dtype != value.dtype:
            words = f"input `{name}` takes {value.dtype}, and the array that is fed is"
            raise ValueError(f"{words} {array.dtype}; convert it with `.astype`")
        if not _fits(array.shape, value, is_open=is_open):
            shapes = [", ".join(map(str, each)) for each in (value.shape, array.shape)]
            words = f"input `{name}` has the shape ({shapes[0]})"
            raise ValueError(f"{words}, and the array that is fed ({shapes[1]})")


def _fits(shape: tuple[int, ...], value: Value, *, is_open: bool) -> bool:
    if shape == value.shape:
        return True
    return (
        is_open and len(shape) == len(value.shape) > 0 < shape[0] and shape[1:] == value.shape[1:]
    )


NUDGE = 1e-4
"""How far floats of an input are moved, relative, where an operator rounds.

Another order of summation moves them by less than a hundredth of that. So where it carries a number
across the edge of a step, this carries many, and the original differs from itself by more.
"""

ULPS = 1e-6
"""The same where the order of summation cannot be changed: some last bits."""


def nudged(feeds: Mapping[str, Array], size: float, seed: int) -> dict[str, Array]:
    """Return inputs whose floats are moved, each up or down, by a share of themselves."""
    random, found = np.random.default_rng(seed), dict(feeds)
    for name, array in feeds.items():
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                sign = random.choice((-1.0, 1.0), array.shape)
                found[name] = np.asarray(array * (1 + size * sign)).astype(array.dtype)
    return found


def drawn(graph: Graph, names: Iterable[str], seed: int = 0) -> dict[str, Array]:
    """Return numbers for some values of a graph that are tensors."""
    random = np.random.default_rng(seed)
    found = dict[str, Array]()
    for name in names:
        value = graph.values[name]
        if value.dtype is not None:
            found[name] = _sample(random, value.shape, value.dtype)
    return found


def _sample(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    match dtype.kind:
        case "b":
            return np.asarray(random.integers(0, 2, shape)).astype(dtype)
        case "i" | "u":  # they may well be indices, of which few are safe
            return np.asarray(random.integers(0, 2, shape)).astype(dtype)
        case _:
            return np.asarray(random.standard_normal(shape)).astype(dtype)


def far_apart(found: Array, expected: Array, least: float = 0.0) -> float:
    """Return the largest difference, relative to the largest number that is expected.

    Infinite where one holds what is no number in a place where the other does not.

    Args:
        found: by what came out.
        expected: by the original.
        least: differences are relative to no less, as rounding of sums is to what was added.
    """
    if found.shape != expected.shape:
        return np.inf
    if np.array_equal(found, expected, equal_nan=expected.dtype.kind in "fc"):
        return 0.0
    apart, most = 0.0, least
    flat, wanted = found.reshape(-1), expected.reshape(-1)
    for start in range(0, wanted.size, PIECE):
        where = slice(start, start + PIECE)
        more, size = _differences(flat[where], wanted[where])
        apart, most = max(apart, more), max(most, size)
    if expected.dtype.kind in "biu":
        return apart
    return apart / most if most and np.isfinite(apart) else (np.inf if apart else 0.0)


def apart_on_average(found: Array, expected: Array) -> float:
    """Return the mean difference, relative to the mean number that is expected.

    Where operators round, a difference in the last bit becomes a whole step in a few places. Those
    weigh little here, and a model that is wrong is wrong in many places. Infinite where one holds
    what is no number in a place where the other does not.
    """
    if found.shape != expected.shape or not np.isfinite(far_apart(found, expected)):
        return np.inf
    if not expected.size:
        return 0.0
    one, other = found.astype(np.float64), expected.astype(np.float64)
    kept = np.isfinite(other)
    apart = float(np.mean(np.abs(one - other)[kept])) if kept.any() else 0.0
    size = float(np.mean(np.abs(other)[kept])) if kept.any() else 0.0
    if expected.dtype.kind in "biu":
        return apart / max(size, 1.0)
    return apart / size if size else (np.inf if apart else 0.0)


def is_blank(array: Array) -> bool:
    """Return whether an array has elements, and none of them is a finite number."""
    odd = array.dtype.kind not in "biu" and array.size > 0
    return odd and not np.isfinite(array.astype(np.float64)).any()


def _differences(found: Array, expected: Array) -> tuple[float, float]:
    """The largest difference of some numbers, and the largest of those that are expected."""
    if expected.dtype.kind in "biu":
        one, other = found.astype(np.int64), expected.astype(np.int64)
        return float(np.max(np.abs(one - other))), 0.0
    one, other = found.astype(np.float64), expected.astype(np.float64)
    odd = ~np.isfinite(other)
    if not np.array_equal(one[odd], other[odd], equal_nan=True):
        return np.inf, 0.0
    one, other = one[~odd], other[~odd]
    if not np.isfinite(one).all():
        return np.inf, 0.0
    most = float(np.max(np.abs(other), initial=0.0))
    return float(np.max(np.abs(one - other), initial=0.0)), most


def added(operator: str, operand: Array, result: Array) -> float:
    """Return the mean of what a sum adds, without signs; 0 for what adds nothing.

    The largest result of numbers of one sign would not be smaller. Where signs cancel, what is left
    of them has the rounding of all, and that depends on the order.

    Args:
        operator: of a node.
        operand: that it sums.
        result: of it.
    """
    if operator not in SUMS or operand.dtype.kind != "f" or not result.size:
        return 0.0
    size = float(np.mean(np.abs(operand), dtype=np.float64))
    count = operand.size // result.size if operator == "ReduceSum" else 1
    return size * count if np.isfinite(size) else 0.0


def near(dtype: np.dtype[Any]) -> float:
    """Return how far apart numbers of a type may be: floats by their bytes, others not at all."""
    match dtype.kind, dtype.itemsize:
        case "f", 8:
            return 1e-12
        case "f", 4:
            return 1e-5
        case "b" | "i" | "u", _:
            return 0.0
        case _:
            return 4e-2 if dtype.itemsize == 1 else 8e-3
