"""A tile as C: its vectors loaded, turned round by the network, and stored.

Three functions: the whole tile, one at a ragged edge, and the plain one, element by element, that
says what the other two mean; compilers without vectors use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from layoutdsl.codegen.native.chains import ChainAxis, Chains, Digit
from layoutdsl.codegen.native.network import Bit, Shuffle, Zip, shuffle_bytes, zip_bytes
from layoutdsl.codegen.native.tiles import SideName, Tile, fits
from layoutdsl.digits import same
from layoutdsl.expr import Constant

Place = Mapping[Bit, int]

LARGE_TILE = 1024
"""A tile of so many bytes is a function of its own, which compilers look at once."""


@dataclass(frozen=True, slots=True)
class TileText:
    """The spelling of one tile.

    Attributes:
        prefix: of the names of its functions.
        chains: what is moved.
        tile: the leaf.
        width: bytes of an element.
        ragged: the axes that may end inside a tile.
    """

    prefix: str
    chains: Chains
    tile: Tile
    width: int
    ragged: tuple[int, ...]

    def strides(self) -> tuple[str, ...]:
        """Return the names of the strides that the functions take, in bytes."""
        return tuple(f"{letter}_{axis}_{digit}" for letter, axis, digit in self._inside())

    def _inside(self) -> Iterator[tuple[str, int, int]]:
        for number, extent in enumerate(self.tile.extents):
            for digit in self.chains.axes[number].digits:
                if digit.divisor < extent:
                    yield "s", number, digit.divisor
                    yield "t", number, digit.divisor

    def stride_values(self) -> list[tuple[str, Digit, SideName]]:
        """Return each stride with the digit and the side it belongs to."""
        values = list[tuple[str, Digit, SideName]]()
        for letter, number, divisor in self._inside():
            digit = next(d for d in self.chains.axes[number].digits if d.divisor == divisor)
            side: SideName = "source" if letter == "s" else "target"
            values.append((f"{letter}_{number}_{divisor}", digit, side))
        return values

    def functions(self) -> list[str]:
        """Return the functions `_whole` and, where edges are ragged, `_edge`."""
        lines = list[str]()
        if self.ragged:
            lines += ["", *self._plain()]
            lines += ["", *self._vectors("edge")]
        else:
            lines += ["", "#if !VECTORS", *self._plain(), "#endif"]
        return [*lines, "", *self._vectors("whole")]

    def arguments(self, which: str) -> str:
        """Return the parameters of a function."""
        strides = [f"ptrdiff_t {name}" for name in self.strides()]
        ends = self._ends() if which != "whole" else []
        return ", ".join(
            (
                *("const uint8_t *p", "uint8_t *q"),
                *strides,
                *(f"int64_t {name}" for name in ends),
                *("const uint8_t *end", "v16 rest", "int stream"),
            )
        )

    def call(self, which: str, ends: Iterable[str] = ()) -> str:
        """Return a call; ``ends`` are the valid and the existing indices of each ragged axis."""
        words = ["p", "q", *self.strides(), *ends, "end", "rest", "stream"]
        return f"{self.prefix}_{which}({', '.join(words)});"

    def _ends(self) -> list[str]:
        return [f"{letter}{axis}" for axis in self.ragged for letter in "vw"]

    def _plain(self) -> list[str]:
        """Element by element: fill where no index is valid, nothing where no slot exists."""
        lines = [f"APART void {self.prefix}_plain({self.arguments('plain')})", "{"]
        depth = 1
        for number, extent in enumerate(self.tile.extents):
            if extent == 1 and number not in self.ragged:
                continue
            past = f"w{number}" if number in self.ragged else str(extent)
            if number not in self.ragged and fits(self.chains.axes[number], extent):
                past = str(getattr(self.chains.axes[number].target, "value", extent))
            lines.append(
                f"{'    ' * depth}for (int64_t x{number} = 0; x{number} < {past}; x{number}++)"
            )
            depth += 1
        if depth == 1:
            lines.append("    {")
            depth = 2
        else:
            lines[-1] += " {"
        tests = [f"x{axis} < v{axis}" for axis in self.ragged]
        for number, extent in enumerate(self.tile.extents):
            axis = self.chains.axes[number]
            if number not in self.ragged and fits(axis, extent):
                tests.append(f"x{number} < {getattr(axis.extent, 'value', extent)}")
        valid = " && ".join(tests) or "1"
        sums = [" + ".join(self._plain_terms(letter)) or "0" for letter in "st"]
        pad = "    " * depth
        lines += [
            f"{pad}const uint8_t *from = {valid} ? p + {sums[0]} : (const uint8_t *)&rest;",
            f"{pad}memcpy(q + {sums[1]}, from, {self.width});",
            f"{'    ' * (depth - 1)}}}",
            "    (void)end, (void)rest, (void)stream;",
            "}",
        ]
        return lines

    def _plain_terms(self, letter: str) -> Iterator[str]:
        for number, extent in enumerate(self.tile.extents):
            digits = [d for d in self.chains.axes[number].digits if d.divisor < extent]
            for position, digit in enumerate(digits):
                value = f"x{number}" if digit.divisor == 1 else f"x{number}/{digit.divisor}"
                if position + 1 < len(digits):
                    value = f"{value}%{digits[position + 1].divisor // digit.divisor}"
                yield f"{value}*{letter}_{number}_{digit.divisor}"

    def _vectors(self, which: str) -> list[str]:
        inlined = which == "whole" and prod(self.tile.extents) * self.width < LARGE_TILE
        head = f"{'INLINED' if inlined else 'APART'} void {self.prefix}_{which}"
        lines = [f"{head}({self.arguments(which)})", "{"]
        if which == "edge" and self._mixes():
            names = ", ".join(["p", "q", *self.strides(), *self._ends(), "end", "rest", "stream"])
            return [*lines, f"    {self.prefix}_plain({names});", "}"]
        plain = self._plain_call(which)
        return [
            *lines,
            "#if VECTORS",
            *(f"    {line}" for line in self._body(which)),
            "#else",
            f"    {plain}",
            "#endif",
            *self._unused(),
            "}",
        ]

    def _unused(self) -> list[str]:
        return [f"    (void){name};" for name in (*self.strides(), "end", "rest")]

    def _plain_call(self, which: str) -> str:
        if which == "edge":
            ends = self._ends()
        else:
            ends = [str(self.tile.extents[axis]) for axis in self.ragged for _ in "vw"]
        words = ["p", "q", *self.strides(), *ends, "end", "rest", "stream"]
        return f"{self.prefix}_plain({', '.join(words)});"

    def _mixes(self) -> bool:
        """Whether padding of the source could be carried into padding of the target."""
        return any(
            not same(axis.extent, axis.source) and not same(axis.extent, axis.target)
            for axis in self.chains.axes
        )

    def _body(self, which: str) -> Iterator[str]:
        kind = f"v{16 << len(self.tile.wide)}"
        vectors = dict[tuple[tuple[Bit, int], ...], str]()
        for number, place in enumerate(_places(self._rows("source"))):
            yield f"const {kind} a{number} = {self._loads(place, which)};"
            vectors[_key(place)] = f"a{number}"
        for depth, stage in enumerate(self.tile.stages):
            made = dict[tuple[tuple[Bit, int], ...], str]()
            for name, text, place in _stage(stage, vectors, depth, 1 << len(self.tile.wide)):
                yield f"const {kind} {name} = {text};"
                made[_key(place)] = name
            vectors = made
        for place in _places(self._rows("target")):
            yield from self._stores(place, vectors[_key(place)], which)

    def _rows(self, side: SideName) -> list[Bit]:
        """The bits that are in no lane, in the order of a side, the fastest last."""
        lane = self.tile.source if side == "source" else self.tile.target
        extents = enumerate(self.tile.extents)
        every = [(axis, bit) for axis, each in extents for bit in range(each.bit_length() - 1)]

        def order(bit: Bit) -> tuple[int, int]:
            digits = self.chains.axes[bit[0]].digits
            digit = [each for each in digits if each.divisor <= 1 << bit[1]][-1]
            return digit.place[side == "source"], -bit[1]

        return sorted((b for b in every if b not in (*lane, *self.tile.wide)), key=order)

    def _lanes(self, place: Place) -> Iterator[Place]:
        """Where each lane of a wide vector lies."""
        for values in _places(list(reversed(self.tile.wide))):
            yield {**place, **values}

    def _all_there(self, end: Literal["extent", "target"], place: Place) -> bool:
        return all(self._is_there(end, each) for each in self._lanes(place))

    def _loads(self, place: Place, which: str) -> str:
        size = 16 << len(self.tile.wide)
        if not self.tile.wide:
            return self._load(place, which)
        if which == "whole" and "source" in self.tile.joined and self._all_there("extent", place):
            return f"get{size}({self._at('p', 's', place)})"
        lanes = ", ".join(self._load(each, which) for each in self._lanes(place))
        return f"join{size}({lanes})"

    def _stores(self, place: Place, name: str, which: str) -> Iterator[str]:
        size = 16 << len(self.tile.wide)
        if not self.tile.wide:
            yield self._store(place, name, which)
        elif which == "whole" and "target" in self.tile.joined and self._all_there("target", place):
            yield f"put{size}({self._at('q', 't', place)}, {name}, stream);"
        else:
            for lane, each in enumerate(self._lanes(place)):
                bytes_text = ", ".join(str(16 * lane + byte) for byte in range(16))
                yield self._store(each, f"SHUFFLE({name}, {name}, {bytes_text})", which)

    def _load(self, place: Place, which: str) -> str:
        at = self._at("p", "s", place)
        if not self._is_there("extent", place):
            return "rest"
        if which == "whole":
            return f"get({at})"
        exists, count = self._edge("source", "v", self.tile.source, place)
        text = f"get({at})" if count is None else f"get_part({at}, {count}, end, rest)"
        return text if not exists else f"{exists} ? {text} : rest"

    def _store(self, place: Place, name: str, which: str) -> str:
        at = self._at("q", "t", place)
        if not self._is_there("target", place):
            return f"(void){name};"
        if which == "whole":
            return f"put({at}, {name}, stream);"
        exists, count = self._edge("target", "w", self.tile.target, place)
        text = f"put({at}, {name}, stream);"
        if count is not None:
            text = f"put_part({at}, {name}, {count}, stream);"
        return text if not exists else f"if ({exists}) {text}"

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

    def _at(self, pointer: str, letter: str, place: Place) -> str:
        steps = dict[str, int]()
        for (axis, bit), value in place.items():
            digit = [d for d in self.chains.axes[axis].digits if d.divisor <= 1 << bit][-1]
            name = f"{letter}_{axis}_{digit.divisor}"
            steps[name] = steps.get(name, 0) + (value << bit) // digit.divisor
        terms = [f"{count}*{name}" for name, count in steps.items() if count]
        return " + ".join([pointer, *terms])

    def _edge(
        self, side: SideName, letter: str, lane: tuple[Bit, ...], place: Place
    ) -> tuple[str, str | None]:
        """When a vector exists, and how many of its bytes; ``None`` for all of them."""
        tests, count = list[str](), None
        for axis in self.ragged:
            held = [bit for number, bit in lane if number == axis]
            row = sum(value << bit for (number, bit), value in place.items() if number == axis)
            extent = 1 << len(held)
            if held and not holds(self.chains.axes[axis], side, 1 << (max(held) + 1)):
                left = f"{letter}{axis} - {row}" if row else f"{letter}{axis}"
                count = f"{16 // extent}*({left})"
            tests.append(f"{letter}{axis} > {row}")
        return " && ".join(tests), count


def holds(axis: ChainAxis, side: SideName, block: int) -> bool:
    """Return whether the slots of an axis on a side are a multiple of a block."""
    extent = getattr(axis, side)
    if isinstance(extent, Constant):
        return extent.value % block == 0
    return axis.tops[0 if side == "source" else 1] % block == 0


def _places(rows: list[Bit]) -> Iterator[Place]:
    for values in product((0, 1), repeat=len(rows)):
        yield dict(zip(rows, values, strict=True))


def _key(place: Place) -> tuple[tuple[Bit, int], ...]:
    return tuple(sorted(place.items()))


def _stage(
    stage: Zip | Shuffle,
    vectors: Mapping[tuple[tuple[Bit, int], ...], str],
    depth: int,
    lanes: int,
) -> Iterator[tuple[str, str, Place]]:
    """The vectors after a stage: name, text, and place."""
    count = 0
    for key, name in vectors.items():
        place = dict(key)
        match stage:
            case Shuffle(order):
                bytes_text = _indices(shuffle_bytes(order), lanes)
                yield f"b{depth}_{count}", f"SHUFFLE({name}, {name}, {bytes_text})", place
                count += 1
            case Zip(granule, bit, dropped):
                if place.pop(bit):
                    continue
                other = vectors[_key({**place, bit: 1})]
                for half in (0, 1):
                    bytes_text = _indices(zip_bytes(granule, half), lanes)
                    text = f"SHUFFLE({name}, {other}, {bytes_text})"
                    yield f"b{depth}_{count}", text, {**place, dropped: half}
                    count += 1


def _indices(lane: tuple[int, ...], lanes: int) -> str:
    """The same in every lane; bytes from 16 on are those of the second vector."""
    every = (
        16 * (lanes * (byte // 16) + number) + byte % 16 for number in range(lanes) for byte in lane
    )
    return ", ".join(map(str, every))
