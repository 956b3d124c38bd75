"""Numbers of less than a byte, in the bytes that hold them: the low bits come first."""

from __future__ import annotations

import numpy as np


def in_bytes(numbers: np.ndarray, bits: int) -> np.ndarray:
    """Numbers of 1, 2, 4 or 8 bits as bytes; they fill the last one."""
    parts = numbers.reshape(-1, 8 // bits).astype(np.uint8) << np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(parts, axis=1)


def in_numbers(data: np.ndarray, bits: int) -> np.ndarray:
    """The way back, flat."""
    parts = data.reshape(-1, 1) >> np.arange(0, 8, bits, dtype=np.uint8)
    return (parts & np.uint8(2**bits - 1)).reshape(-1)
