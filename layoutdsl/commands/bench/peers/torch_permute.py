"""torch on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from layoutdsl.commands.bench.meaning import Array
from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers.peer import Run, not_installed
from layoutdsl.commands.bench.sides import Side

_SIGNED = {"u2": "i2", "u4": "i4", "u8": "i8"}
"""What it has no arithmetic for travels as the signed type of the same width."""


@dataclass(frozen=True, slots=True)
class Torch:
    """``pad``, ``view`` and ``permute``, and ``copy_`` into the buffer that is there."""

    name: str = "torch"
    says: str = "pad, view and permute, copy_ into out"
    package: str | None = "torch"

    def missing(self) -> str | None:
        """It may not be installed."""
        return not_installed("torch", "torch")

    def cannot(self, move: Move) -> str | None:
        """What is no permutation of digits cannot be said so."""
        return move.sides if isinstance(move.sides, str) else None

    def prepare(self, move: Move, threads: int) -> Run:
        """Return the chain of calls, on tensors that share the buffers."""
        torch = import_module("torch")
        torch.set_num_threads(threads)
        assert not isinstance(move.sides, str)
        source, target = move.sides
        read = torch.from_numpy(_plain(move.read.array)).reshape(source.box)
        write, fill = torch.from_numpy(_plain(move.write.array)), move.fill
        if target.is_flat and target.shape == source.padded == target.padded:
            whole = write.reshape(source.split)

            def run() -> None:
                whole.copy_(read.permute(source.back))
        else:
            boxed = write.reshape(target.box)

            def run() -> None:
                tensor = _tensor(source, read)
                if target.is_padded:
                    pad = torch.nn.functional.pad
                    tensor = pad(tensor, _last_first(target), value=fill)
                boxed.copy_(tensor.reshape(target.split).permute(target.order))

        run()
        return run


def _tensor(source: Side, read: Any) -> Any:
    return read.permute(source.back).reshape(source.padded)[source.cropped]


def _last_first(target: Side) -> list[int]:
    """Padding as torch takes it: of the last axis first."""
    return [each for ends in reversed(target.ends) for each in ends]


def _plain(array: Array) -> Array:
    kind = _SIGNED.get(array.dtype.str[1:])
    return array if kind is None else array.view(np.dtype(kind))
