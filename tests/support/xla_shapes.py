"""Random shapes of XLA: what each means in plain integers, and its text.

The meaning is transcribed from OpenXLA's "Tiled layout" and from the comments of `xla_data.proto`;
the text from `Layout::Print`. Nothing of ours is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from random import Random

KINDS = ["pred", "s8", "u16", "f32", "bf16", "s4", "u2", "f8e4m3fn", "f6e2m3fn", "c64", "c128"]
WIDTHS = {"pred": 8, "s4": 8, "u2": 8, "f6e2m3fn": 8, "bf16": 16, "f8e4m3fn": 8}


@dataclass(frozen=True)
class Drawn:
    """A shape. ``rooms`` are extents as ``5``, ``<=5`` or ``?``; ``tiles`` may hold ``*``."""

    kind: str
    rooms: tuple[str, ...]
    order: tuple[int, ...]
    tiles: tuple[tuple[int | str, ...], ...] = ()
    tail: int = 1
    bits: int = 0
    space: int = 0
    split: tuple[int, ...] = ()
    prefix: int = 0

    @property
    def text(self) -> str:
        """As XLA prints it."""
        words = "T" * bool(self.tiles)
        words += "".join(f"({','.join(map(str, tile))})" for tile in self.tiles)
        words += f"L({self.tail})" if self.tail != 1 else ""
        words += f"E({self.bits})" if self.bits else ""
        words += f"S({self.space})" if self.space else ""
        words += f"SC({self.split[0]}:{','.join(map(str, self.split[1:]))})" if self.split else ""
        words += f"M({self.prefix})" if self.prefix else ""
        braces = f"{{{','.join(map(str, self.order))}{':' if words else ''}{words}}}"
        return f"{self.kind}[{','.join(self.rooms)}]{'' if braces == '{}' else braces}"

    def offset(self, index: list[int], shape: list[int]) -> int:
        """Return the place of an element, in elements."""
        memory, place, extents = self._cut(index, shape)
        inside = 0
        for at, extent in zip(place, extents, strict=True):
            inside = inside * extent + at
        return self._before() + memory * self._rounded(extents) + inside

    def size(self, shape: list[int]) -> int:
        """Return the elements of the buffer, or of all memories one after the other."""
        _, _, extents = self._cut([0] * len(shape), shape)
        return self._before() + (len(self.split) or 1) * self._rounded(extents)

    def _rounded(self, extents: list[int]) -> int:
        return -(-prod(extents) // self.tail) * self.tail

    def _before(self) -> int:
        width = self.bits or WIDTHS.get(self.kind) or int(self.kind[1:])
        return self.prefix * 8 // width

    def _cut(self, index: list[int], shape: list[int]) -> tuple[int, list[int], list[int]]:
        """Return the memory, the place in it, and the extents, most major first."""
        room = [
            int(each.removeprefix("<=")) if each != "?" else extent
            for each, extent in zip(self.rooms, shape, strict=True)
        ]
        e = [index[dimension] for dimension in reversed(self.order)]
        d = [room[dimension] for dimension in reversed(self.order)]
        memory = 0
        if self.split:
            at, piece = self.split[0], self.split[1]
            memory, e[at], d[at] = e[at] // piece, e[at] % piece, piece
        for tile in self.tiles:
            missing = max(len(tile) - len(d), 0)
            e, d = _tiled([0] * missing + e, [1] * missing + d, tile)
        return memory, e, d


def _tiled(e: list[int], d: list[int], tile: tuple[int | str, ...]) -> tuple[list[int], list[int]]:
    """Cut the last dimensions by a tile: quotients, then remainders."""
    count = len(d) - len(tile)
    places, extents = list(e[:count]), list(d[:count])
    within: list[int] = []
    sizes: list[int] = []
    at, whole = 0, 1
    for here, extent, size in zip(e[count:], d[count:], tile, strict=True):
        at, whole = at * extent + here, whole * extent
        if size != "*":
            places.append(at // int(size))
            extents.append(-(-whole // int(size)))
            within.append(at % int(size))
            sizes.append(int(size))
            at, whole = 0, 1
    return [*places, *within], [*extents, *sizes]


def draw(random: Random) -> Drawn:
    """Return a shape of rank 0 to 5."""
    rank = random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5])
    rooms = [_room(random) for _ in range(rank)]
    order = random.sample(range(rank), rank)
    drawn = Drawn(random.choice(KINDS), tuple(rooms), tuple(order), _tiles(random, rank))
    drawn = replace(drawn, tail=random.choice([1, 1, 1, 2, 3, 128]))
    if random.random() < 0.3:
        drawn = replace(drawn, bits=random.choice([4, 8, 16, 32]), space=random.choice([0, 1, 5]))
    if rank and random.random() < 0.2:
        at = random.randrange(rank)
        extent = rooms[order[::-1][at]].removeprefix("<=")
        if extent != "?" and int(extent) > 1:
            piece = random.randint(1, int(extent) - 1)
            return replace(drawn, split=(at, *range(piece, int(extent), piece)))
    return replace(drawn, prefix=random.choice([0, 0, 0, 16, 1024]))


def _room(random: Random) -> str:
    extent = random.choice([1, 1, 2, 3, 4, 5, 7, 8, 9])
    return random.choice([*[f"{extent}"] * 6, f"<={extent}", "?"])


def _tiles(random: Random, rank: int) -> tuple[tuple[int | str, ...], ...]:
    found: list[tuple[int | str, ...]] = []
    dimensions = rank
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        length = random.randint(1, min(max(dimensions, 1) + random.choice([0, 0, 0, 1]), 3))
        sizes = [random.choice([1, 2, 2, 3, 4, 8, "*"]) for _ in range(length - 1)]
        found.append((*sizes, random.choice([1, 2, 3, 4, 8])))
        joined = found[-1].count("*")
        dimensions = max(dimensions, length) + length - 2 * joined
    return tuple(found)


def shape_of(drawn: Drawn, random: Random) -> list[int]:
    """Return extents that the shape allows."""
    found = []
    for room in drawn.rooms:
        if room == "?":
            found.append(random.randint(1, 9))
        elif room.startswith("<="):
            found.append(random.randint(1, int(room[2:])))
        else:
            found.append(int(room))
    return found
