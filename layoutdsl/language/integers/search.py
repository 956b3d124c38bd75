"""From a slot to the elements that it holds, by the definition: a search over the domain.

The box of indices is cut to what the slot says of indices and of their quotients. Then it is
halved, and the halves are dropped whose coordinates cannot be those of the slot, or that lie
outside the domain. Every index that is found has been evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from layoutdsl.language.integers.conditions import Box, Condition, halves
from layoutdsl.language.integers.expr import Constant, Coordinate, Expr, FloorDiv, Index
from layoutdsl.language.integers.value import Interval, enclose
from layoutdsl.language.texts.faults import UnsearchedError

MOST_BOXES = 1 << 21
"""That are looked at for one slot, in about a quarter of a minute. Coordinates that contradict each
other leave nothing to drop halves by, where the layout is wrong and the shape is huge."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched.

    Attributes:
        names: of the axes.
        coordinates: most major first.
        start: slots before the first.
        domain: what an index satisfies that has a slot.
    """

    names: Sequence[str]
    coordinates: tuple[Coordinate, ...]
    start: Expr
    domain: tuple[Condition, ...]

    def indices(
        self, slot: int, fixed: Mapping[str, Interval], box: Box
    ) -> Iterator[tuple[int, ...]]:
        """Yield, in order, each index of the box whose slot it is.

        Args:
            slot: counted from the start of the buffer.
            fixed: extents and parameters with their values.
            box: the indices along each axis.

        Raises:
            UnsearchedError: after `MOST_BOXES` without one.
        """
        within, looked = self._narrowed(slot, fixed, box), 0
        pending = [] if within is None else [within]
        while pending:
            box, looked = pending.pop(), looked + 1
            if looked > MOST_BOXES:
                raise UnsearchedError(
                    f"what slot {slot} holds was not found out: give a smaller shape"
                )
            boxes = {**fixed, **dict(zip(self.names, box, strict=True))}
            if not self._may_lie(slot, boxes):
                continue
            found = halves(box)
            if not found:
                looked = 0
                yield tuple(low for low, _ in box)
            pending += reversed(found)

    def _narrowed(self, slot: int, fixed: Mapping[str, Interval], box: Box) -> Box | None:
        """Return the part of a box where indices and quotients are as the slot says; or ``None``.

        A slot says the value of a coordinate for as long as all coordinates from the most minor to
        this one stay in their extents.
        """
        boxes = {**fixed, **dict(zip(self.names, box, strict=True))}
        low, high = enclose(self.start, boxes)
        if low != high:
            return box
        rest, found = slot - low, dict(zip(self.names, box, strict=True))
        for coordinate in reversed(self.coordinates):
            radix, most_radix = enclose(coordinate.extent, boxes)
            least, most = enclose(coordinate.value, boxes)
            if radix != most_radix or least < 0 or most >= radix:
                break
            rest, value = divmod(rest, radix)
            match coordinate.value:
                case Index(name):
                    block = 1
                case FloorDiv(Index(name), Constant(block)) if block > 0:
                    pass
                case _:
                    continue
            low, high = found[name]
            found[name] = max(low, value * block), min(high, value * block + block - 1)
            if found[name][0] > found[name][1]:
                return None
        return tuple(found[name] for name in self.names)

    def _may_lie(self, slot: int, boxes: Mapping[str, Interval]) -> bool:
        """Whether some index of the box may lie at ``slot``; exact where the box is one index.

        Coordinate by coordinate from the most minor, for as long as all of them stay in their
        extents; a coordinate that leaves its extent spills over into the next.
        """
        if not all(condition.may_hold(boxes) for condition in self.domain):
            return False
        low = high = slot - enclose(self.start, boxes)[0]
        for coordinate in reversed(self.coordinates):
            radix = enclose(coordinate.extent, boxes)[0]
            least, most = enclose(coordinate.value, boxes)
            if radix == 0:  # more major coordinates add nothing
                return least <= high and low <= most
            if least >= 0 and most < radix and low == high:
                if not least <= low % radix <= most:
                    return False
                low = high = low // radix
            else:
                low, high = -((most - low) // radix), (high - least) // radix
                if low > high:
                    return False
        return low <= 0 <= high
