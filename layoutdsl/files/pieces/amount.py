"""How much of a file has been moved: what whoever moves it tells whoever watches.

It imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """How far it has come.

    Attributes:
        name: what is moved: a layout, or the tensor under way.
        number: how many pieces are done, or which tensor it is.
        count: of how many.
        done_bytes: of the result, those of earlier runs among them.
        total_bytes: of the whole result.
        found_bytes: of those done, what earlier runs had done; they took this run no time.
    """

    name: str
    number: int
    count: int
    done_bytes: int
    total_bytes: int
    found_bytes: int = 0


def counted(
    name: str, total: int, told: Callable[[Amount], None]
) -> Callable[[int, int, int], None]:
    """Return who tells amounts of one result, and is told pieces and bytes.

    Args:
        name: of what is moved.
        total: bytes of all pieces.
        told: is told amounts.

    Returns:
        It takes how many pieces of how many are done, and the bytes that this run has written.
        Pieces of earlier runs have no bytes of their own there, and count as the mean of all.
    """
    found = 0

    def say(done: int, count: int, written: int) -> None:
        nonlocal found
        if written == 0:
            found = total * done // max(count, 1)
        whole = total if done == count else min(found + written, total)
        told(Amount(name, done, count, whole, total, min(found, whole)))

    return say
