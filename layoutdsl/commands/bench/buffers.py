"""Arrays with a guard on either side, and poison in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

GUARD = 4096
"""Bytes before and after an array that nobody may write."""

ALIGNED = 64
POISON = 0xA5
_GUARDED = 0x5A


@dataclass(frozen=True, slots=True)
class Guarded:
    """An array, and the bytes around it."""

    array: NDArray[Any]
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]

    @property
    def intact(self) -> bool:
        """Whether the bytes around the array are as they were."""
        return bool((self.before == _GUARDED).all() and (self.after == _GUARDED).all())

    def mend(self) -> None:
        """Put the bytes around the array back."""
        self.before.fill(_GUARDED)
        self.after.fill(_GUARDED)

    def poison(self) -> None:
        """Put bytes into the array that no result should have throughout."""
        self.array.reshape(-1).view(np.uint8).fill(POISON)


def guarded(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Guarded:
    """Return a poisoned array that starts at a cache line, between guards."""
    needed = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(needed + 2 * GUARD + ALIGNED, np.uint8)
    start = GUARD + -(memory.ctypes.data + GUARD) % ALIGNED
    inside, after = memory[start : start + needed], memory[start + needed :]
    before = memory[:start]
    found = Guarded(inside.view(dtype).reshape(shape), before, after)
    found.mend()
    found.poison()
    return found
