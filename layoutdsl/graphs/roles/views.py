"""Operators that rename axes and move nothing: how the placing of one side is that of the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from layoutdsl.graphs.graph import Attribute
from layoutdsl.graphs.placings.placing import Placing, inverse, transposed
from layoutdsl.graphs.placings.reshaping import reshaped


@dataclass(frozen=True, slots=True)
class Transposing:
    """Axis ``order[k]`` of what was there is axis ``k`` now."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshaping:
    """The same elements in row-major order, as another shape."""

    before: tuple[int, ...]
    after: tuple[int, ...]


Step: TypeAlias = Transposing | Reshaping


def steps_of(
    operator: str,
    settings: Mapping[str, Attribute | None],
    before: tuple[int, ...],
    after: tuple[int, ...],
) -> tuple[Step, ...] | str:
    """Return what a view does, or why it is none."""
    match operator:
        case "Transpose":
            given = settings.get("perm")
            order = given if isinstance(given, tuple) else tuple(reversed(range(len(before))))
            numbers = tuple(int(axis) for axis in order)
            if tuple(before[axis] for axis in numbers) != after:
                return "its result has another shape"
            return (Transposing(numbers),)
        case "DepthToSpace" | "SpaceToDepth":
            return _spaced(operator, settings, before, after)
        case _:
            if np.prod(before, dtype=object) != np.prod(after, dtype=object):
                return "its result has other elements"
            return (Reshaping(before, after),)


def _spaced(
    operator: str,
    settings: Mapping[str, Attribute | None],
    before: tuple[int, ...],
    after: tuple[int, ...],
) -> tuple[Step, ...] | str:
    """ONNX, docs/Operators.md, has both as a reshape, a transpose and a reshape."""
    block = settings.get("blocksize")
    if len(before) != 4 or len(after) != 4 or not isinstance(block, int):
        return "it is of 4 axes"
    n, c, h, w = before
    if operator == "SpaceToDepth":
        inner: tuple[int, ...] = (n, c, h // block, block, w // block, block)
        crd = settings.get("mode") == "CRD"
        order: tuple[int, ...] = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
    elif settings.get("mode") == "CRD":
        inner, order = (n, c // block**2, block, block, h, w), (0, 1, 4, 2, 5, 3)
    else:
        inner, order = (n, block, block, c // block**2, h, w), (0, 3, 4, 1, 5, 2)
    between = tuple(inner[axis] for axis in order)
    return Reshaping(before, inner), Transposing(order), Reshaping(between, after)


def forwards(steps: tuple[Step, ...], placing: Placing) -> Placing | None:
    """Return where the result of a view lies, or `None` where that is no sequence of digits."""
    found: Placing | None = placing
    for step in steps:
        if found is None:
            return None
        match step:
            case Transposing(order):
                found = transposed(found, order)
            case Reshaping(_, after):
                found = reshaped(found, after)
    return found


def backwards(steps: tuple[Step, ...], placing: Placing) -> Placing | None:
    """Return where the operand of a view lies whose result lies so."""
    found: Placing | None = placing
    for step in reversed(steps):
        if found is None:
            return None
        match step:
            case Transposing(order):
                found = transposed(found, inverse(order))
            case Reshaping(before, _):
                found = reshaped(found, before)
    return found
