"""All candidates, by name."""

from __future__ import annotations

from layoutdsl.commands.bench.peers.einops_rearrange import Einops
from layoutdsl.commands.bench.peers.jax_transpose import Jax
from layoutdsl.commands.bench.peers.numba_loops import Numba
from layoutdsl.commands.bench.peers.numpy_pad import NumpyPad
from layoutdsl.commands.bench.peers.onednn_reorder import Onednn
from layoutdsl.commands.bench.peers.ours import Target, TwoPasses
from layoutdsl.commands.bench.peers.peer import Peer
from layoutdsl.commands.bench.peers.torch_permute import Torch
from layoutdsl.commands.bench.peers.tvm_schedules import Tvm

OURS: tuple[Peer, ...] = (
    Target("native", "our generated C, into out", "native"),
    Target("numpy", "our generated numpy, into out", "numpy"),
    TwoPasses(),
)
"""What is measured unless it is left out; others are compared with the first that could be."""

ONE_THREAD = Target("one-thread", "our generated C, in one thread", "native", threads=1)
"""Measured as well where several threads may work."""

PEERS: tuple[Peer, ...] = (NumpyPad(), Einops(), Torch(), Jax(), Onednn(), Tvm(), Numba())
"""What is measured where it is asked for."""


def peers(names: tuple[str, ...]) -> tuple[Peer, ...]:
    """Return the peers of these names, in our order.

    Raises:
        ValueError: there is none of a name.
    """
    known = {each.name: each for each in PEERS}
    for name in names:
        if name not in known:
            raise ValueError(f"there is no peer `{name}`; known are {', '.join(known)}")
    return tuple(each for each in PEERS if each.name in names)
