"""Numbers to try a graph with: seeded, so that they are the same every time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from layoutdsl.propagation.graph import Array, Graph

PIECE = 1 << 16
"""Numbers that are held against each other at once, in twice their bytes."""

SUMS = frozenset({"ReduceSum", "ReduceMean", "GlobalAveragePool"})
"""Operators that add whatever there is along axes."""

JUNK = 37
"""What stands in padding that nobody may look at."""


def sampled(graph: Graph, seed: int) -> dict[str, Array]:
    """Return values for the inputs of a graph."""
    return drawn(graph, graph.inputs, seed)


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
