"""einops on numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np

from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers.peer import Run, not_installed
from layoutdsl.commands.bench.sides import Side


@dataclass(frozen=True, slots=True)
class Einops:
    """``rearrange``, with ``np.pad`` before or a slice after; the result is a new array."""

    name: str = "einops"
    says: str = "rearrange after np.pad, into a new array"
    package: str | None = "einops"

    def missing(self) -> str | None:
        """It may not be installed."""
        return not_installed("einops", "einops")

    def cannot(self, move: Move) -> str | None:
        """What is no permutation of digits cannot be said so."""
        return move.sides if isinstance(move.sides, str) else None

    def prepare(self, move: Move, threads: int) -> Run:  # noqa: ARG002  it has no threads
        """Return one or two calls of `rearrange`."""
        rearrange = import_module("einops").rearrange
        assert not isinstance(move.sides, str)
        source, target = move.sides
        read, fill = move.read.array.reshape(source.box), move.fill
        taken, given = (
            f"{_lying(source)} -> {_axes(source)}",
            f"{_axes(target)} -> {_lying(target)}",
        )
        blocks, others = _extents(source), _extents(target)

        def moved() -> object:
            array = read
            if not source.is_flat:
                array = rearrange(array, taken, **blocks)
            else:
                array = array.reshape(source.padded)
            if source.is_padded:
                array = array[source.cropped]
            if target.is_padded:
                array = np.pad(array, target.ends, constant_values=fill)
            if not target.is_flat:
                array = rearrange(array, given, **others)
            return np.ascontiguousarray(array)

        if not np.shares_memory(moved(), read):
            return moved
        return lambda: read.reshape(target.box).copy()


def _name(axis: int, digit: int) -> str:
    return f"a{axis}_{digit}"


def _names(side: Side) -> list[str]:
    return [_name(axis, k) for axis, each in enumerate(side.digits) for k in range(len(each))]


def _axes(side: Side) -> str:
    return " ".join(
        f"({' '.join(_name(axis, digit) for digit in range(len(each)))})"
        for axis, each in enumerate(side.digits)
    )


def _lying(side: Side) -> str:
    names = _names(side)
    return " ".join(names[number] for number in side.order)


def _extents(side: Side) -> dict[str, int]:
    return dict(zip(_names(side), side.split, strict=True))
