"""What is moved at once: which digits of both sides lie in a leaf.

The digits that follow each other from stride 1 are the chain of a side. A leaf holds the beginning
of both chains, so that it reads and writes whole lines; how long these beginnings are is tried out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Literal, Protocol

from layoutdsl.code.loops.chains import ChainAxis, Chains, Digit, Ends
from layoutdsl.code.loops.kernels import GATHERED
from layoutdsl.language.integers.digit import same
from layoutdsl.language.integers.expr import Constant, Expr

LONG = 256
"""Bytes of a run that needs nothing beside it."""
LINES = (16, 32, 64, 128, 512)
"""Bytes that a leaf may hold of a chain."""
FEW = 64
"""Indices of a digit without a number: no more than there are where small extents are numbers."""
SLID = {1: 1, 2: 1, 4: 3}
"""By bytes of an element, from how many turns on a digit that is a number may be cut into what does
not divide it, as the last turn can be moved back. Of large elements what divides is as good.
"""
MOST = 1 << 14
"""Bytes of the largest leaf."""

SideName = Literal["source", "target"]


@dataclass(frozen=True, slots=True)
class Part:
    """The lower steps of a digit that lie in a leaf.

    Attributes:
        axis: by its number.
        digit: of the axis.
        count: of its steps; of a digit of fixed radix a divisor of that.
    """

    axis: int
    digit: Digit
    count: int

    @property
    def reach(self) -> int:
        """How far its indices reach, from the first: below ``divisor*count``."""
        return self.digit.divisor * self.count

    def stride(self, side: str) -> Expr:
        """Return the elements per step on a side."""
        return self.digit.source if side == "source" else self.digit.target


Parts = tuple[Part, ...]


class Counted(Protocol):
    """What has steps."""

    @property
    def count(self) -> int:
        """How many."""


def held(parts: Iterable[Counted]) -> int:
    """Return the elements that parts hold."""
    return prod(each.count for each in parts)


def radix_of(axis: ChainAxis, digit: Digit) -> int | None:
    """Return the steps of a digit, where they are a number: of the top one, those of all slots."""
    if digit.radix is not None:
        return digit.radix
    if isinstance(axis.target, Constant):
        return -(-axis.target.value // digit.divisor)
    return None


def chain(chains: Chains, side: SideName) -> list[tuple[int, Digit]]:
    """Return the digits of a side from stride 1 on, as long as they follow without a gap."""
    left = [
        (number, digit, digit.source if side == "source" else digit.target)
        for number, axis in enumerate(chains.axes)
        for digit in axis.digits
        if radix_of(axis, digit) != 1
    ]
    found, reach = list[tuple[int, Digit]](), 1
    while True:
        following = next((each for each in left if same(each[2], Constant(reach))), None)
        if following is None:
            return found
        left.remove(following)
        number, digit, _ = following
        found.append((number, digit))
        radix = radix_of(chains.axes[number], digit)
        if radix is None:
            return found
        reach *= radix


def stretch(chains: Chains, width: int) -> int | None:
    """Return the axis whose elements all lie together on both sides, where it is long.

    There is none where some digits are moved whole anyway.
    """
    if chains.boxed:
        return None
    pairs = list(zip(chain(chains, "source"), chain(chains, "target"), strict=False))
    first = next((number for (number, _), _ in pairs), None)
    if first is None:
        return None
    axis = chains.axes[first]
    if pairs[: len(axis.digits)] != [((first, digit),) * 2 for digit in axis.digits]:
        return None
    is_short = isinstance(axis.target, Constant) and axis.target.value * width < LONG
    return None if is_short and same(axis.extent, axis.target) else first


def candidates(chains: Chains, width: int) -> list[Parts]:
    """Return sets of digits that a leaf may hold, for elements of ``width`` bytes."""
    gathers = _unit(chains) * width in GATHERED
    targets = _beginnings(chains.of("target"), "target", width, gathers)
    sources = _beginnings(chains.of("source"), "source", width, gathers)
    found = dict[Parts, None]()
    boxed = tuple(Part(n, chains.axes[n].digits[0], _steps(chains, n)) for n in chains.boxed)
    if boxed:
        found[boxed] = None
    for target in targets:
        for source in sources:
            both = (*boxed, *_joined(_without(chains, target), _without(chains, source)))
            ends = chains.ends is Ends.ANY or all(_is_whole(chains, each) for each in both)
            if ends and held(both) * width <= MOST:
                found[both] = None
    return list(found)


def _unit(chains: Chains) -> int:
    """The elements that lie together on both sides, where no vector holds so many; else none."""
    size = 1
    for ours, theirs in zip(chain(chains, "source"), chain(chains, "target"), strict=False):
        radix = radix_of(chains.axes[ours[0]], ours[1])
        if ours != theirs or radix is None:
            break
        size *= radix
    return size if size & (size - 1) else 0


def _steps(chains: Chains, number: int) -> int:
    radix = chains.axes[number].digits[0].radix
    assert radix is not None
    return radix


def _without(chains: Chains, parts: Parts) -> Parts:
    """Those parts that are of digits of both sides."""
    return tuple(each for each in parts if each.digit in chains.axes[each.axis].digits)


def _is_whole(chains: Chains, part: Part) -> bool:
    """Whether no axis ends within so many steps of a digit."""
    axis = chains.axes[part.axis]
    return part.digit.radix is not None or axis.multiple % (part.digit.divisor * part.count) == 0


def _beginnings(chains: Chains, side: SideName, width: int, gathers: bool) -> list[Parts]:
    """The beginnings of a chain that hold about so many bytes, the shortest first.

    Of units that are gathered also as many as there are lanes, where these are fewer.
    """
    seen = set[Parts]()
    for line in LINES:
        parts, size = list[Part](), width
        for number, digit in chain(chains, side):
            if size >= line:
                break
            radix, wanted = radix_of(chains.axes[number], digit), -(-line // size)
            counts = _counts(radix, wanted, max(1, FEW // digit.divisor))
            if radix is None and gathers:
                counts += [1 << counts[0].bit_length() - 1]
            turns = (radix or 0) / wanted
            if chains.axes[number].slides and turns > SLID.get(width, turns):
                counts += [wanted]
            for count in counts[1:]:
                seen.add((*parts, Part(number, digit, count)))
            parts.append(Part(number, digit, counts[0]))
            size *= counts[0]
            if counts[0] != radix:
                break
        seen.add(tuple(parts))
    return sorted(seen, key=lambda each: (held(each), len(each)))


def _counts(radix: int | None, wanted: int, most: int) -> list[int]:
    """How many steps of a digit may lie in a leaf: about so many as are wanted.

    Of a digit without a number no more than ``most``: what a leaf holds beyond the end of an axis
    is work for nothing.
    """
    if radix is None:
        return [min(wanted, most)]
    if radix <= wanted:
        return [radix]
    found = [each for each in range(2, radix + 1) if radix % each == 0]
    more = next(each for each in found if each >= wanted)
    less = max((each for each in found if each < wanted), default=more)
    return [each for each in dict.fromkeys((more, less)) if each <= 4 * wanted] or [1]


def _joined(target: Parts, source: Parts) -> Parts:
    """The parts of both; of a digit that is in both the longer one."""
    found = {(each.axis, each.digit): each for each in target}
    for each in source:
        other = found.get((each.axis, each.digit))
        if other is None or each.count > other.count:
            found[each.axis, each.digit] = each
    return tuple(each for each in found.values() if each.count > 1)
