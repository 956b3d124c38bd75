"""The vectors of a tile as C: loaded, turned round by the network, and stored.

At an edge each stretch of memory is loaded and stored as far as there is anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

from layoutdsl.codegen.native.chains import Chains
from layoutdsl.codegen.native.lanes import SideName, bits_of, fits, holds
from layoutdsl.codegen.native.network import Bit, Lane, Stage, stage_bytes
from layoutdsl.codegen.native.place_text import Place, Places
from layoutdsl.codegen.native.tiles import Tile
from layoutdsl.integers.digit import same
from layoutdsl.integers.expr import Constant

At = Callable[[Place], str]

Key = tuple[tuple[Bit, int], ...]

Which: TypeAlias = Literal["whole", "cut", "edge", "blank"]


@dataclass(frozen=True, slots=True)
class VectorText:
    """The spelling of the vectors of one tile.

    Attributes:
        chains: what is moved.
        tile: the leaf.
        ragged: the axes that may end inside a tile.
        which: a whole tile, one that ends inside its vectors only, one at any edge, or one of
            padding only.
    """

    chains: Chains
    tile: Tile
    ragged: tuple[int, ...]
    which: Which

    def body(self) -> Iterator[str]:
        """Return the lines that move the tile."""
        read, write = self._pointers("source"), self._pointers("target")
        if self.which == "blank":
            yield from write.steps()
            for place in _places(self._rows("target")):
                stores = list(self._stores(place, "", write.at))
                yield from (*write.lines(), *stores)
            return
        kind = f"v{self.tile.vector}"
        yield from (*read.steps(), *write.steps())
        vectors, lane = dict[Key, str](), self.tile.source
        for number, place in enumerate(_places(self._rows("source"))):
            load = self._load(place, read.at)
            yield from read.lines()
            yield f"const {kind} a{number} = {load};"
            vectors[_key(place)] = f"a{number}"
        for depth, stage in enumerate(self.tile.stages):
            made = dict[Key, str]()
            for name, text, place in _stage(lane, stage, vectors, depth):
                yield f"const {kind} {name} = {text};"
                made[_key(place)] = name
            vectors, lane = made, stage.lane
        for place in _places(self._rows("target")):
            stores = list(self._stores(place, vectors[_key(place)], write.at))
            yield from (*write.lines(), *stores)

    def _pointers(self, side: SideName) -> Places:
        _, numbers = self._lane(side)
        rows = (*reversed(numbers), *self._rows(side))
        if side == "source":
            return Places(self.chains, "p", "const uint8_t *", "s", rows)
        return Places(self.chains, "q", "uint8_t *", "t", rows)

    def lanes(self) -> tuple[int, ...]:
        """Return the ragged axes of which a stretch may hold a part, though the axis is long."""
        return tuple(
            axis
            for axis in self.ragged
            if not self.chains.axes[axis].slides
            and (self._parts("source", axis) or self._parts("target", axis))
        )

    def _all_there(self, side: SideName, axis: int) -> bool:
        """Whether a tile has all slots along an axis, and padding in them may be read."""
        number, extent = self.chains.axes[axis], self.tile.extents[axis]
        return holds(number, side, extent) and (
            side == "target" or same(number.extent, number.target)
        )

    def _parts(self, side: SideName, axis: int) -> int:
        """How many bits of an axis a stretch holds that may end inside; 0 if none."""
        held = [bit for number, bit in self._lane(side)[0] if number == axis]
        if not held or holds(self.chains.axes[axis], side, 1 << (max(held) + 1)):
            return 0
        return len(held)

    def _lane(self, side: SideName) -> tuple[Lane, Lane]:
        """The lane bits of one stretch of memory, and those that number the stretches."""
        lane = self.tile.source if side == "source" else self.tile.target
        run = self.tile.runs[side == "target"]
        return lane[:run], lane[run:]

    def _rows(self, side: SideName) -> list[Bit]:
        """The bits that are in no lane, in the order of a side, the fastest last."""
        lane = self.tile.source if side == "source" else self.tile.target

        def order(bit: Bit) -> tuple[int, int]:
            digits = self.chains.axes[bit[0]].digits
            digit = [each for each in digits if each.divisor <= 1 << bit[1]][-1]
            return digit.place[side == "source"], -bit[1]

        return sorted((b for b in bits_of(self.tile.extents) if b not in lane), key=order)

    def _load(self, place: Place, where: At) -> str:
        run, numbers = self._lane("source")
        size = 1 << len(run)
        every = [{**place, **each} for each in _places(list(reversed(numbers)))]
        stretches = [self._stretch(each, size, where) for each in every]
        if len(stretches) == 1:
            return stretches[0]
        return (
            f"{'pair' if len(stretches) == 2 else 'join'}{self.tile.vector}({', '.join(stretches)})"
        )

    def _stretch(self, place: Place, size: int, where: At) -> str:
        if not self._is_there("extent", place):
            return f"all{size}(rest)"
        at = where(place)
        test, count = self._end("source", "v", place)
        if test:
            return f"get{size}_if({test}, {at}, p, {count or size}, end, rest)"
        return f"get{size}_part({at}, {count}, end, rest)" if count else f"get{size}({at})"

    def _stores(self, place: Place, name: str, where: At) -> Iterator[str]:
        run, numbers = self._lane("target")
        size = 1 << len(run)
        for number, each in enumerate(_places(list(reversed(numbers)))):
            vector = name
            if numbers:
                picked = tuple(range(number * size, number * size + size))
                vector = _shuffled(self.tile.vector, name, name, picked)
            if self.which == "blank":
                vector = f"all{size}(rest)"
            if not self._is_there("target", {**place, **each}):
                yield f"(void)({name or 0});"
                continue
            at = where({**place, **each})
            test, count = self._end("target", "w", {**place, **each})
            text = f"put{size}({at}, {vector}, stream);"
            if count:
                text = f"put{size}_part({at}, {vector}, {count}, stream);"
            yield f"if ({test}) {text}" if test else text

    def _is_there(self, end: Literal["extent", "target"], place: Place) -> bool:
        """Whether a vector lies within the axes that are known to end inside the tile."""
        for number, extent in enumerate(self.tile.extents):
            axis = self.chains.axes[number]
            if number not in self.ragged and fits(axis, extent):
                row = sum(value << bit for (other, bit), value in place.items() if other == number)
                past = getattr(axis, end)
                if isinstance(past, Constant) and row >= past.value:
                    return False
        return True

    def _end(self, side: SideName, letter: str, place: Place) -> tuple[str, str]:
        """When a stretch exists, and how many of its bytes; nothing where there is no question."""
        size = 1 << len(self._lane(side)[0])
        tests, count = list[str](), ""
        told = {"whole": (), "cut": self.lanes()}.get(self.which, self.ragged)
        for axis in told:
            if self._all_there(side, axis):
                continue
            row = sum(value << bit for (number, bit), value in place.items() if number == axis)
            parts = self._parts(side, axis)
            if parts:
                left = f"{letter}{axis} - {row}" if row else f"{letter}{axis}"
                count = f"{size >> parts}*({left})"
            if row or self.which != "cut":
                tests.append(f"{letter}{axis} > {row}")
        return " && ".join(tests), count


def _places(rows: list[Bit]) -> Iterator[Place]:
    for values in product((0, 1), repeat=len(rows)):
        yield dict(zip(rows, values, strict=True))


def _key(place: Place) -> Key:
    return tuple(sorted(place.items()))


def _stage(
    lane: Lane, stage: Stage, vectors: Mapping[Key, str], depth: int
) -> Iterator[tuple[str, str, Place]]:
    """The vectors after a stage: name, text, and place."""
    count = 0
    for key, name in vectors.items():
        place = dict(key)
        if stage.bit is None or stage.dropped is None:
            yield (
                f"b{depth}_{count}",
                _shuffled(1 << len(lane), name, name, stage_bytes(lane, stage, 0)),
                place,
            )
            count += 1
            continue
        if place.pop(stage.bit):
            continue
        other = vectors[_key({**place, stage.bit: 1})]
        for half in (0, 1):
            text = _shuffled(1 << len(lane), name, other, stage_bytes(lane, stage, half))
            yield f"b{depth}_{count}", text, {**place, stage.dropped: half}
            count += 1


def _shuffled(vector: int, one: str, other: str, picked: tuple[int, ...]) -> str:
    """Some bytes of two vectors, in items as wide as they can be: compilers know those best."""
    width = next(each for each in (8, 4, 2, 1) if _in_items(picked, each))
    items = ", ".join(str(first // width) for first in picked[::width])
    return f"MIX(v{len(picked)}, v{vector}_{width}, {one}, {other}, {items})"


def _in_items(picked: tuple[int, ...], width: int) -> bool:
    firsts = picked[::width]
    whole = tuple(first + byte for first in firsts for byte in range(width))
    return all(first % width == 0 for first in firsts) and whole == picked
