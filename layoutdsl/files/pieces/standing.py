"""How far a plan has come, by the journals of its shares: what is done, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdsl.files.pieces.journal import Noted
from layoutdsl.files.pieces.share import Share
from layoutdsl.files.pieces.sums import Sums


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a plan has come.

    Attributes:
        missing: the shares that are not done; none where all are.
        placed: whether the output is in its place.
    """

    missing: tuple[Share, ...]
    placed: bool


def sums_of(noted: Mapping[Share, Noted], count: int) -> dict[int, Sums]:
    """Return the checksums of the pieces that are in shares which are done."""
    found: dict[int, Sums] = {}
    for share, each in noted.items():
        numbers = share.pieces(count)
        if each.whole:
            pairs = each.pieces.items()
            found |= {numbers[place]: sums for place, sums in pairs if 0 <= place < len(numbers)}
    return found


def missing_of(noted: Mapping[Share, Noted], count: int, more: Iterable[int]) -> tuple[Share, ...]:
    """Return the shares that are not done, in the most shares that anybody speaks of.

    Args:
        noted: what journals say.
        count: pieces of all.
        more: numbers of shares that are spoken of besides.
    """
    left = _left(noted, count)
    of = max([1, *more, *(each.of for each in noted)])
    shares = (Share(number, of) for number in range(of if left.any() else 0))
    return tuple(each for each in shares if left[_slice(each, count)].any())


def _left(noted: Mapping[Share, Noted], count: int) -> NDArray[np.bool_]:
    """Which pieces are in no share that is done."""
    left = np.ones(count, bool)
    for share, each in noted.items():
        if each.whole:
            left[_slice(share, count)] = False
    return left


def _slice(share: Share, count: int) -> slice:
    numbers = share.pieces(count)
    return slice(numbers.start, numbers.stop)
