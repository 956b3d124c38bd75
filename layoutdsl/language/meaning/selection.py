"""Which elements of a tensor are picked by ``t[1, :, ::2, ...]``: a run of indices along each axis.

As in Python and numpy, for integers, slices and ``...``. It imports nothing of ours but
`arguments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index as as_integer
from types import EllipsisType

from layoutdsl.language.meaning.arguments import called


@dataclass(frozen=True, slots=True)
class Selection:
    """Some elements of a tensor.

    Attributes:
        runs: the indices along each axis.
        kept: whether each axis is one of the result; one that an integer picks from is not.
    """

    runs: tuple[range, ...]
    kept: tuple[bool, ...]

    @property
    def box(self) -> tuple[int, ...]:
        """How many indices there are along each axis."""
        return tuple(map(len, self.runs))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return tuple(len(run) for run, kept in zip(self.runs, self.kept, strict=True) if kept)


def selection(key: object, extents: tuple[int, ...]) -> Selection:
    """Return which elements a key picks.

    Args:
        key: what stands between the brackets.
        extents: of the tensor.

    Raises:
        IndexError: an integer is outside its axis, or there are more of them than axes.
        TypeError: something else than integers, slices and ``...`` stands there.
    """
    entries = key if isinstance(key, tuple) else (key,)
    spread = [place for place, each in enumerate(entries) if isinstance(each, EllipsisType)]
    if len(spread) > 1:
        raise IndexError("`...` stands there twice")
    rest = len(extents) - (len(entries) - len(spread))
    if rest < 0:
        raise IndexError(f"a tensor of {len(extents)} axes has no {len(entries)} indices")
    place = spread[0] if spread else len(entries)
    every = (slice(None),) * rest
    entries = (*entries[:place], *every, *entries[place + len(spread) :])
    picked = [_along(*pair) for pair in zip(entries, enumerate(extents), strict=True)]
    return Selection(tuple(run for run, _ in picked), tuple(kept for _, kept in picked))


def _along(entry: object, axis: tuple[int, int]) -> tuple[range, bool]:
    number, extent = axis
    if isinstance(entry, slice):
        return range(extent)[entry], True
    ways = "integers, slices and `...` pick elements"
    if entry is None:
        raise TypeError(f"a new axis is none of the tensor's: {ways}")
    if isinstance(entry, bool) or not hasattr(entry, "__index__"):
        raise TypeError(f"{called(entry)} picks no elements along axis {number}: {ways}")
    try:
        found = as_integer(entry)
    except TypeError:  # as an array of several has the method, and is no index
        raise TypeError(f"{called(entry)} picks no elements along axis {number}: {ways}") from None
    if not -extent <= found < extent:
        raise IndexError(f"index {found} is outside axis {number}, which has {extent}")
    found += extent if found < 0 else 0
    return range(found, found + 1), False
