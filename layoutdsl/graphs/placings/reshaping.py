"""The same memory under the axes of another shape, as a reshape names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from layoutdsl.graphs.placings.placing import MANY, Digit, Placing, canonical


@dataclass(frozen=True, slots=True)
class Group:
    """Axes of two shapes that are one run of numbers: ``[.., 4, 6, ..] -> [.., 24, ..]``."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@lru_cache(MANY)
def groups(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[Group, ...]:
    """Return the smallest groups of axes that a reshape keeps apart; all extents are positive."""
    found: list[Group] = []
    own, other = list(range(len(before))), list(range(len(after)))
    while own or other:
        left, right = _take(own, before), _take(other, after)
        while prod(before[k] for k in left) != prod(after[k] for k in right):
            if prod(before[k] for k in left) < prod(after[k] for k in right):
                left += _take(own, before)
            else:
                right += _take(other, after)
        found.append(Group(tuple(left), tuple(right)))
    return tuple(found)


def _take(left: list[int], extents: tuple[int, ...]) -> list[int]:
    """Take axes off the front, to the first whose extent is more than 1 and no further."""
    taken: list[int] = []
    while left:
        taken.append(left.pop(0))
        if extents[taken[-1]] > 1:
            break
    return taken


@lru_cache(MANY)
def reshaped(placing: Placing, shape: tuple[int, ...]) -> Placing | None:
    """Return the same memory as a value of another shape, or `None` where it is no sequence of
    digits of that: where a digit is cut in an unaligned place, or a regrouped axis has padding.
    """
    padded = set(placing.padded_axes)
    of_axis: dict[int, int] = {}
    renamed: dict[int, int] = {}
    found = groups(placing.shape, shape)
    for number, group in enumerate(found):
        of_axis |= dict.fromkeys(group.before, number)
        own = [axis for axis in group.before if placing.shape[axis] > 1 or axis in padded]
        new = [axis for axis in group.after if shape[axis] > 1]
        match own, new:
            case [one], [other] if placing.shape[one] == shape[other]:
                renamed[one] = other
            case _ if padded & set(own):
                return None
    return _regrouped(placing, shape, found, of_axis, renamed)


def _regrouped(
    placing: Placing,
    shape: tuple[int, ...],
    found: tuple[Group, ...],
    of_axis: Mapping[int, int],
    renamed: Mapping[int, int],
) -> Placing | None:
    runs: list[Digit] = []
    for digit in placing.digits:
        if digit.axis in renamed:
            runs.append(Digit(-1 - renamed[digit.axis], digit.divisor, digit.extent))
            continue
        number = of_axis[digit.axis]
        inner = found[number].before
        below = prod(placing.shape[axis] for axis in inner[inner.index(digit.axis) + 1 :])
        runs.append(Digit(number, digit.divisor * below, digit.extent))
    digits: list[Digit] = []
    for run in canonical(runs):
        if run.axis < 0:
            digits.append(Digit(-1 - run.axis, run.divisor, run.extent))
            continue
        after = found[run.axis].after
        pieces = split(run.divisor, run.extent, [shape[axis] for axis in after])
        if pieces is None:
            return None
        digits += [Digit(after[axis], divisor, extent) for axis, divisor, extent in pieces]
    return Placing(shape, canonical(digits))


def split(
    divisor: int, extent: int, radices: Sequence[int]
) -> tuple[tuple[int, int, int], ...] | None:
    """Return a digit of a mixed-radix number as digits of its parts, most major first.

    Args:
        divisor: of the digit.
        extent: of the digit.
        radices: of the number, most major first.

    Returns:
        For each, the number of the radix, divisor and extent; `None` where a part would be cut
        in an unaligned place.
    """
    pieces: list[tuple[int, int, int]] = []
    below = prod(radices)
    low, high = divisor, divisor * extent
    for number, radix in enumerate(radices):
        above, below = below, below // radix
        start, end = max(low, below), min(high, above)
        if start >= end:
            continue
        if start % below or end % start or (end == above and above % start):
            return None
        pieces.append((number, start // below, end // start))
    reached = prod(piece[2] for piece in pieces)
    return tuple(pieces) if reached == extent else None
