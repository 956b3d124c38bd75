"""Random arithmetic over numbers of any size: what is worked out on the way may leave 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

NUMBERS = (1, 2, 3, 7, 2**31 - 1, 2**31, 2**32 + 1, 10**9 + 7, 2**53, 10**18 - 1, 3**37)


def arithmetic(draw: Random, depth: int, names: Sequence[str] = "ij") -> str:
    """An expression over these axes; it may be negative, and may divide by what is not there."""
    kind = draw.randrange(10) if depth else draw.randrange(3)
    if kind < 2:
        return draw.choice(names)
    if kind == 2:
        return str(draw.choice(NUMBERS))
    one, other = (arithmetic(draw, depth - 1, names) for _ in range(2))
    if kind < 7:
        return f"({one} {draw.choice('+-*')} {other})"
    if kind == 7:
        return f"({one}){draw.choice('/%')}{draw.choice(NUMBERS)}"
    if kind == 8:
        return f"{draw.choice(('min', 'max'))}({one}, {other})"
    return f"({one} & {draw.choice(NUMBERS)})"
