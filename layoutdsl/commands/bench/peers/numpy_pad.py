"""numpy as it is usually written: pad to whole blocks, split, transpose, copy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from layoutdsl.commands.bench.meaning import Array
from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers.peer import Run
from layoutdsl.commands.bench.sides import Side


@dataclass(frozen=True, slots=True)
class NumpyPad:
    """``np.pad``, ``reshape`` and ``transpose``, copied into the buffer that is there."""

    name: str = "np.pad"
    says: str = "np.pad, reshape and transpose, copied into out"
    package: str | None = "numpy"

    def missing(self) -> str | None:
        """We need numpy ourselves."""
        return None

    def cannot(self, move: Move) -> str | None:
        """What is no permutation of digits cannot be said so."""
        return move.sides if isinstance(move.sides, str) else None

    def prepare(self, move: Move, threads: int) -> Run:  # noqa: ARG002  it has no threads
        """Return the chain of calls."""
        assert not isinstance(move.sides, str)
        source, target = move.sides
        read, write, fill = move.read.array, move.write.array, move.fill
        if target.is_flat and target.shape == source.padded == target.padded:
            whole = write.reshape(source.split)
            return lambda: np.copyto(whole, digits_of(source, read))
        boxed = write.reshape(target.box)
        return lambda: np.copyto(boxed, permuted(target, tensor_of(source, read), fill))


def digits_of(source: Side, buffer: Array) -> Array:
    """Return a buffer as digits, axis by axis: a view."""
    return buffer.reshape(source.box).transpose(source.back)


def tensor_of(source: Side, buffer: Array) -> Array:
    """Return the tensor that a buffer holds; a view where it lies as it is."""
    return digits_of(source, buffer).reshape(source.padded)[source.cropped]


def permuted(target: Side, tensor: Array, fill: float) -> Array:
    """Return a tensor as digits in the order of a buffer, padded where it has to be."""
    if target.is_padded:
        tensor = np.pad(tensor, target.ends, constant_values=fill)
    return tensor.reshape(target.split).transpose(target.order)
