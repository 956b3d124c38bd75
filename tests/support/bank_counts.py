"""Banks of shared memory, counted word by word, for claims and reports of banks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


def counted(begin: Sequence[int], size: int) -> tuple[int, int]:
    """Ways and cycles of threads that read ``size`` bytes each, from these bytes on.

    There are 32 banks of 4 bytes; wide reads go in phases of 16 and of 8 threads.
    """
    together = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[size]
    ways, cycles = 0, 0
    for first in range(0, len(begin), together):
        banks = defaultdict(set)
        for byte in begin[first : first + together]:
            for each in range(byte, byte + size):
                banks[each // 4 % 32].add(each // 4)
        most = max(map(len, banks.values()))
        ways, cycles = max(ways, most), cycles + most
    return ways, cycles
