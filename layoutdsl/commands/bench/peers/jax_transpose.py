"""jax on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from layoutdsl.commands.bench.moves import Move
from layoutdsl.commands.bench.peers.peer import CannotError, Run, bits, not_installed


@dataclass(frozen=True, slots=True)
class Jax:
    """``pad``, ``reshape`` and ``transpose`` under ``jit``; waited for, and in a new array.

    The source is put on the device before; it cannot write where it is told. Elements travel as
    unsigned integers, which it moves up to five times faster than floats of the same width.
    """

    name: str = "jax"
    says: str = "pad, reshape and transpose under jit, into a new array"
    package: str | None = "jax"

    def missing(self) -> str | None:
        """It may not be installed."""
        return not_installed("jax", "jax")

    def cannot(self, move: Move) -> str | None:
        """What is no permutation of digits cannot be said so."""
        return move.sides if isinstance(move.sides, str) else None

    def prepare(self, move: Move, threads: int) -> Run:  # noqa: ARG002  set before it loads
        """Return a call of the compiled function."""
        jax = import_module("jax")
        jnp = import_module("jax.numpy")
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        assert not isinstance(move.sides, str)
        source, target = move.sides
        fill = bits(np.full(1, move.fill, move.write.array.dtype))[0]

        def moved(buffer: Any) -> Any:
            digits = buffer.reshape(source.box).transpose(source.back)
            tensor = digits.reshape(source.padded)[source.cropped]
            if target.is_padded:
                tensor = jnp.pad(tensor, target.ends, constant_values=fill)
            return tensor.reshape(target.split).transpose(target.order)

        buffer = jax.device_put(jnp.array(bits(move.read.array)))
        compiled = jax.jit(moved).lower(buffer).compile()

        def run() -> object:
            return compiled(buffer).block_until_ready()

        result: Any = run()
        if result.unsafe_buffer_pointer() == buffer.unsafe_buffer_pointer():
            raise CannotError("it returns the source as it is, and moves nothing")
        return run
