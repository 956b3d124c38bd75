"""Records drawn at random, as text: blocks of bytes, planes one behind the other, fields in parts.

They are right by how they are made: bytes are given out one by one, bits of a byte as well. Then
some are `changed` in one place, and may be wrong. Which are is told by the definition of every bit,
`Record.every_bit`, in plain integers: `faults`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import lcm, prod
from random import Random

import numpy as np
from numpy.typing import NDArray

import layoutdsl
from layoutdsl import LayoutError, Record
from layoutdsl.language.integers.value import evaluate
from layoutdsl.language.meaning.elements import ELEMENT_TYPES, ElementType
from layoutdsl.language.meaning.part import Part, part_size
from layoutdsl.language.meaning.record import Held
from layoutdsl.language.meaning.shapes import small

NAMES = ("d", "q", "scale", "min", "index", "count", "e", "zero_2", "self", "fill_", "layout2", "m")
OF_BYTES = ("u8", "i8", "f8", "e8", "u16", "f16", "bf16", "i16", "f32", "u32", "i32", "bool")
NARROW = ("u1", "i2", "u2", "u3", "i3", "u4", "i4", "f4", "u5", "i6", "f6", "u6", "u7")
MOST_DRAWN = 200

Values = Mapping[str, int]


@dataclass(frozen=True)
class Drawn:
    """A record as text, which may name layouts that stand before it.

    Attributes:
        text: of the record ``A``, and of what it names.
        kind: how it was made.
        numbers: values of its parameters.
    """

    text: str
    kind: str
    numbers: tuple[tuple[str, int], ...] = ()

    @property
    def opened(self) -> Record:
        """Its meaning, parameters left open."""
        return layoutdsl.parse(self.text).records["A"]

    @property
    def record(self) -> Record:
        """Its meaning, with numbers for its parameters."""
        return self.opened.with_parameters(**dict(self.numbers))


# Blocks of bytes.


@dataclass(frozen=True)
class Frame:
    """What the parts of a record of blocks have in common.

    Attributes:
        lead: axes before the blocks, with their extents where these are fixed.
        number: of elements of a block along `k`.
        style: `exact` where blocks are full, `ceil` where the last may not be, or `axis` where a
            block is an index of its own.
        order: the coordinates before a block, ``B`` for the number of the block.
    """

    lead: tuple[tuple[str, int | None], ...]
    number: int
    style: str
    order: tuple[str, ...]

    @property
    def axes(self) -> str:
        names = [name if extent is None else f"{name}: {extent}" for name, extent in self.lead]
        return ", ".join([*names, "b" if self.style == "axis" else "k"])

    @property
    def blocks(self) -> str:
        """The digit of a block."""
        extents = {"exact": f"b: K/{self.number}", "ceil": f"b: ceil(K/{self.number})", "axis": "b"}
        return extents[self.style]

    def picks(self, *digits: str) -> str:
        return f"({', '.join([*(name for name, _ in self.lead), *digits])})"

    def head(self, block: str) -> str:
        return ", ".join(block if each == "B" else each for each in self.order)

    @property
    def block(self) -> str:
        """The number of the block of an element along `k`."""
        return "b" if self.style == "axis" else f"k/{self.number}"

    def digit(self, end: int, step: int) -> str:
        """The digit of an element of a block between two divisors of its number."""
        above = f"k%{end}" if self.style != "axis" else "i" if end == self.number else f"i%{end}"
        return above if step == 1 else f"{above}/{step}"

    @property
    def along(self) -> str:
        """The digits of an axis along all elements."""
        return f"(b, i: {self.number})" if self.style == "axis" else "k"


@dataclass(frozen=True)
class Piece:
    """Some bytes of a block, which begin at a multiple of a unit; ``lines`` says what is there."""

    size: int
    unit: int
    lines: Callable[[int, int], list[str]]


@dataclass(frozen=True)
class Wanted:
    """A field of a record of blocks: ``count`` elements of each block, or one for each of `k`.

    Where digits are ``fixed``, so many of these; each part has one choice of them.
    """

    name: str
    type: str
    kind: str
    count: int = 1
    fixed: tuple[int, ...] = ()

    @property
    def bits(self) -> int:
        return ELEMENT_TYPES[self.type].bits


def _frame(what: Random, where: Random) -> Frame:
    names = what.choice(((), ("r",), ("r",), ("r",), ("r", "h")))
    lead = tuple((name, what.choice((None, None, None, 3))) for name in names)
    style = what.choice(("exact", "exact", "exact", "ceil", "axis"))
    order = [*names, "B"]
    if where.random() < 0.2:
        where.shuffle(order)
    elif names and where.random() < 0.15:
        name, size = where.choice(names), where.choice((2, 4))
        order[order.index(name)] = f"{name}/{size}"
        order.append(f"{name}%{size}")
    return Frame(lead, what.choice((8, 8, 16, 16, 32)), style, tuple(order))


def _wanted(what: Random, names: Sequence[str]) -> Iterator[Wanted]:
    for name in names:
        kind = what.choice(("each", "each", "narrow", "narrow", "bytes", "halves"))
        match kind:
            case "each":
                yield Wanted(name, what.choice(OF_BYTES), kind, what.choice((1, 1, 2, 3, 4)))
            case "narrow":
                yield Wanted(name, what.choice(NARROW), kind)
            case "bytes":
                yield Wanted(name, what.choice(("u8", "i8", "f16", "u16")), kind)
            case _:
                narrow = what.choice((*NARROW, *NARROW, "u8", "i8", "u16", "f16", "i32"))
                fixed = what.choice(((2,), (2,), (3,), (2, 2)))
                yield Wanted(name, narrow, kind, what.choice((1, 2, 3, 4)), fixed)


def blocks(what: Random, where: Random) -> str:
    """A record of blocks: ``what`` draws its fields, ``where`` how they lie."""
    frame = _frame(what, where)
    wanted = list(_wanted(what, what.sample(NAMES, what.choice((1, 2, 2, 3, 3, 4)))))
    pieces = [piece for each in wanted for piece in _pieces(frame, each, where)]
    where.shuffle(pieces)
    unit, end, begins = lcm(*(each.unit for each in pieces)), 0, list[int]()
    for each in pieces:
        end = -(-end // each.unit) * each.unit
        if where.random() < 0.15:
            end += each.unit * where.choice((1, 2))
        begins.append(end)
        end += each.size
    total = -(-end // unit) * unit + unit * where.choice((0, 0, 0, 1))
    lines = [
        line for each, at in zip(pieces, begins, strict=True) for line in each.lines(at, total)
    ]
    if where.random() < 0.5:
        where.shuffle(lines)
    lines = _typed(lines, {each.name: each.type for each in wanted}, where)
    exact = f" where K % {frame.number * where.choice((1, 1, 1, 2))} == 0"
    end_ = exact if frame.style == "exact" else ""
    fill = where.choice(("", "", "", " fill any"))
    return "\n".join([f"record A({frame.axes}) = {{", *lines, f"}}{fill}{end_}"])


def _typed(lines: list[str], types: Mapping[str, str], random: Random) -> list[str]:
    """Say the type of each field where one of its parts is, or some of them."""
    found, said = list[str](), set[str]()
    last = {line.split("(")[0]: number for number, line in enumerate(lines)}
    for number, line in enumerate(lines):
        name = line.split("(")[0]
        says = random.random() < 0.6 or (last[name] == number and name not in said)
        said |= {name} if says else set()
        found.append(f"    {line} of {types[name]}" if says else f"    {line}")
    return found


def _pieces(frame: Frame, wanted: Wanted, random: Random) -> Iterator[Piece]:
    match wanted.kind:
        case "each":
            yield _each(frame, wanted, random)
        case "narrow":
            yield from _narrow(frame, wanted, random)
        case "bytes":
            yield _bytes(frame, wanted)
        case _:
            yield _halves(frame, wanted, random)


def _each(frame: Frame, wanted: Wanted, random: Random) -> Piece:
    """So many elements for each block."""
    width, count = wanted.bits // 8, wanted.count
    picks = frame.picks(frame.blocks if count == 1 else f"({frame.blocks}, i: {count})")
    if width > 1 and random.random() < 0.2:  # every bit by itself

        def lines(at: int, total: int) -> list[str]:
            byte = f"{at} + bit/8" if count == 1 else f"{at} + (i, bit/8)".removeprefix("0 + ")
            return [f"{wanted.name}{picks} = [{frame.head('b')}, {byte} : {total}, bit%8]"]

        return Piece(width * count, 1, lines)

    def items(at: int, total: int) -> list[str]:
        first = f"{at // width}" if count == 1 else f"{at // width} + i"
        return [f"{wanted.name}{picks} = [{frame.head('b')}, {first} : {total // width}]"]

    return Piece(width * count, width, items)


def _bytes(frame: Frame, wanted: Wanted) -> Piece:
    """One element of whole bytes for each of a block."""
    width = wanted.bits // 8

    def lines(at: int, total: int) -> list[str]:
        place = f"{at // width} + {frame.digit(frame.number, 1)} : {total // width}"
        head = f"{wanted.name}{frame.picks(frame.along)}"
        return [f"{head} = [{frame.head(frame.block)}, {place}]"]

    return Piece(width * frame.number, width, lines)


def _narrow(frame: Frame, wanted: Wanted, random: Random) -> Iterator[Piece]:
    """An element of some bits for each of a block: in lanes, cut into parts, or plane by plane."""
    if wanted.bits in (1, 2, 4) and random.random() < 0.6:
        yield _lanes(frame, wanted, 0, wanted.bits, random)
        return
    if random.random() < 0.4:
        size = wanted.bits * frame.number // 8
        above = frame.digit(frame.number, 8)
        one = ["bit", above] if frame.number > 8 else ["bit"]
        planes = ", ".join(random.sample(one, len(one)))

        def lines(at: int, total: int) -> list[str]:
            place = f"{at} + {planes}" if len(one) == 1 else f"{at} + ({planes})"
            place = place.removeprefix("0 + ")
            below = frame.digit(8, 1)
            head = f"{wanted.name}{frame.picks(frame.along)}"
            return [f"{head} = [{frame.head(frame.block)}, {place} : {total}, {below}]"]

        yield Piece(size, 1, lines)
        return
    low = 0
    while low < wanted.bits:
        width = random.choice([each for each in (1, 2, 4) if each <= wanted.bits - low])
        yield _lanes(frame, wanted, low, width, random)
        low += width


def _lanes(frame: Frame, wanted: Wanted, low: int, width: int, random: Random) -> Piece:
    """Some bits of every element: several elements share a byte, in lanes."""
    lanes, size = 8 // width, frame.number * width // 8
    step = random.choice([each for each in range(1, size + 1) if size % each == 0])
    digits = [frame.digit(frame.number, lanes * step)] if size > step else []
    digits += [frame.digit(step, 1)] if step > 1 else []
    lane = frame.digit(lanes * step, step)
    if random.random() < 0.2:
        lane = f"{lanes - 1} - {lane} : {lanes}"

    def lines(at: int, total: int) -> list[str]:
        inside = (
            f" + ({', '.join(digits)})" if len(digits) > 1 else "".join(f" + {d}" for d in digits)
        )
        bits = "" if width == wanted.bits else f" bits {low}..{low + width - 1}"
        head = f"{wanted.name}{frame.picks(frame.along)}{bits}"
        place = f"{at}{inside}".removeprefix("0 + ")
        return [f"{head} = [{frame.head(frame.block)}, {place} : {total}, {lane}]"]

    return Piece(size, 1, lines)


def _halves(frame: Frame, wanted: Wanted, random: Random) -> Piece:
    """Elements in two or four parts by digits that are fixed, whose bits fill bytes one by one."""
    sizes = wanted.fixed
    count, width = wanted.count, wanted.bits
    parts, address = list[tuple[str, str, str]](), 0
    numbers = list(product(*map(range, sizes)))
    random.shuffle(numbers)
    for chosen in numbers:
        fixed = ", ".join(f"{n} : {size}" for n, size in zip(chosen, sizes, strict=True))
        picks = frame.picks(f"({frame.blocks}, {fixed}, i: {count})")
        low = 0
        while low < width:
            row, shift = divmod(address, 8)
            taken = min(width - low, 8 - shift)
            if random.random() < 0.2:
                taken = random.randint(1, taken)
            bits = "" if taken == width else f" bits {low}..{low + taken - 1}"
            lane = "bit : 8" if shift == 0 else f"{shift} + bit : 8"
            parts.append((f"{wanted.name}{picks}{bits}", f"{row}", lane))
            low, address = low + taken, address + taken
    rows = -(-address // 8)

    def lines(at: int, total: int) -> list[str]:
        head = frame.head("b")
        return [
            f"{name} = [{head}, {at + int(row) * count} + i : {total}, {lane}]"
            for name, row, lane in parts
        ]

    return Piece(rows * count, 1, lines)


# Planes one behind the other.

SIZES = {
    "h, w": ("h, w", "H*W", 1),
    "i: H/2, j: W/2": ("i, j", "(H/2)*(W/2)", 1),
    "h, j: W/2": ("h, j", "H*(W/2)", 1),
    "i: H/2, w, c: 2": ("i, w, c", "(H/2)*W", 2),
    "h": ("h", "H", 1),
    "t: 16": ("t", "", 16),
}


def planes(what: Random, where: Random) -> str:
    """Fields one behind the other, each where the one before it ends."""
    types = ("u8", "u8", "i8", "u16", "f16", "bf16", "f32", "u4", "i2", "u1")
    wanted = [
        (name, what.choice(types), what.choice(list(SIZES)))
        for name in what.sample(NAMES, what.choice((1, 2, 2, 3, 4)))
    ]
    where.shuffle(wanted)
    wanted.sort(key=lambda each: -ELEMENT_TYPES[each[1]].bits)
    before, lines = list[tuple[str, int]](), list[str]()
    for name, type_, axes in wanted:
        bits = ELEMENT_TYPES[type_].bits
        places, size, many = SIZES[axes]
        cut = where.random() < 0.2 and axes == "h, w"
        if cut:  # each row of it is in one of two planes, side by side or interleaved
            sides = where.choice((("{} : 2, h, i"), ("h, {} : 2, i"), ("h, i, {} : 2")))
            for side in (0, 1):
                picks = f"(h, (i: W/2, {side} : 2))"
                lines.append(f"    {name}{picks} = [{sides.format(side)}] of {type_}")
                lines[-1] += _after(before, bits)
        elif where.random() < 0.3 and axes == "h, w":
            rows, columns = where.choice((2, 4, 8)), where.choice((2, 4, 8))
            inner = f"h/{rows}, w/{columns}, h%{rows}, w%{columns}"
            size, many = f"ceil(H/{rows})*ceil(W/{columns})", rows * columns
            lines.append(f"    {name}({axes}) = [{inner}] of {type_}{_after(before, bits)}")
        else:
            order = where.sample(places.split(", "), len(places.split(", ")))
            if where.random() < 0.2 and bits in (8, 16):
                lines.append(f"    {name}({axes}) = [{', '.join(order)}, bit] of {type_}")
                lines[-1] += _after(before, 1)
            else:
                lines.append(f"    {name}({axes}) = [{', '.join(order)}] of {type_}")
                lines[-1] += _after(before, bits)
        before.append((size, many * bits))
        if where.random() < 0.1:
            before.append(("", 64))
    where_ = (
        " where H % 2 == 0, W % 8 == 0" if where.random() < 0.5 else " where H % 8 == 0, W % 8 == 0"
    )
    return "\n".join(["record A(h, w) = {", *lines, f"}}{where_}"])


def _after(before: list[tuple[str, int]], bits: int) -> str:
    """Where what comes behind all these begins, in elements of so many bits."""
    if not before:
        return ""
    found = []
    for size, width in before:
        factor, left = divmod(width, bits)
        assert not left, "the widest come first"
        found.append(str(factor) if not size else size if factor == 1 else f"{factor}*{size}")
    return f" offset {' + '.join(found)}"


# Fields in parts, along one axis or two.


def cuts(what: Random, where: Random) -> str:
    """One field whose digits are fixed along one axis or two: each part has a place of its own."""
    type_ = what.choice((*OF_BYTES, "u4", "i6", "u3", "c64"))
    bits = ELEMENT_TYPES[type_].bits
    one = what.choice((2, 3, 4))
    two = what.choice((1, 1, 2, 3))
    outer = what.random() < 0.5
    numbers = list(product(range(one), range(two)))
    order = list(range(len(numbers) + where.choice((0, 0, 1))))
    where.shuffle(order)
    places = where.choice(("{p}, x, y", "x, {p}, y", "x, y, {p}", "y, {p}, x"))
    room, lines = len(order), list[str]()
    for (first, second), place in zip(numbers, order, strict=False):
        left = f"({first} : {one}, x: K/{one})" if outer else f"(x: K/{one}, {first} : {one})"
        right = f"(y: W/{two}, {second} : {two})" if two > 1 else "y: W"
        text = places.replace("{p}", f"{place} : {room}")
        if bits < 8:
            lines.append(f"    q({left}, {right}) = [{text}, bit : 8]")
        elif bits in (16, 32) and where.random() < 0.5:
            half = bits // 2
            halves = [f"{2 * place + side} : {2 * room}" for side in (0, 1)]
            for side, spot in enumerate(halves):
                held = f"bits {half * side}..{half * side + half - 1}"
                text = places.replace("{p}", spot)
                lines.append(f"    q({left}, {right}) {held} = [{text}]")
        else:
            lines.append(f"    q({left}, {right}) = [{text}]")
        lines[-1] += f" of {type_}"
    conditions = [f"K % {one} == 0", *([f"W % {two} == 0"] if two > 1 else [])]
    return "\n".join(["record A(k, w) = {", *lines, f"}} where {', '.join(conditions)}"])


# What is rare.


def rare(what: Random, where: Random) -> str:
    """Squares, fields of no axes, buffers that begin later, and layouts by name."""
    n, m, t = where.choice((2, 3, 4, 8)), where.choice((2, 3, 5)), what.choice(OF_BYTES)
    u = what.choice(OF_BYTES)
    b, c = ELEMENT_TYPES[t].bits // 8, ELEMENT_TYPES[u].bits // 8
    narrow = what.choice(NARROW)
    bits = ELEMENT_TYPES[narrow].bits
    texts = (
        f"record A(r) = {{ q(r, x: R) = [r, x] of {t} }}",
        f"record A(r) = {{ q(x: R, r) = [x, r] of {t} }}",
        f"record A(r, k) = {{ q(r, (x: R, k)) = [r, (x, k)] of {t} }}",
        f"record A(r, k: R) = {{ q(r, k) = [r, k] of {t} }}",
        f"record A(r, k) = {{ q(r, k) = [r, k, 0 : {n}] of {t} offset {m} }}",
        f"record A(r, k) = {{ q(r, k) = [r, k, 1 : {n}] of {t} offset {m}*R }}",
        f"record A(r) = {{ n() = [0] of {t}\n q(r) = [r] of u8 offset {b + m - 2} }}",
        f"record A(r) = {{ n() = [0 : {n}] of {t}\n q(r) = [r] of u8 offset {b * n} }}",
        f"record A(r) = {{ n(0 : 2) = [0 : 2] of {t}\n n(1 : 2) = [1 : 2]\n"
        f" q(r) = [r] of u8 offset {2 * b} }}",
        f"record A(r) = {{ q(r, (0 : 2, i: {n})) = [r, 1 : 2, i] of {t}\n"
        f" q(r, (1 : 2, i: {n})) = [r, 0 : 2, i] }}",
        f"layout X(a, c) = [a/{n}, c, a%{n}] of {t}\n"
        f"record A(r, k) = {{ q(r, k) = X\n d(r) = [r] of u8 offset ceil(R/{n})*K*{b * n} }}",
        f"layout X(a, c) = [a, bit, c] of {narrow}\n"
        f"record A(r, k) = {{ q(r, k) = X\n d(r) = [r] of u8 offset R*K/8*{bits} }}"
        " where K % 8 == 0",
        f"layout X<P>(a) = [a/P, a%P] of {t}\n"
        f"record A(r) = {{ q(r, (0 : 2, i: {n * 4})) = X<{n}>\n q(r, (1 : 2, i: {n * 4})) = X<{n}>"
        f" offset {4 * n} }} where R == 1".replace("(r, (0", "((0").replace("(r, (1", "((1"),
        f"record A(r) = {{ q(r, i: {n}) = [r, i : {n + m}] of {t}\n"
        f" s(r, i: {m}) = [r, {n} + i : {n + m}] of {t} }}",
        f"record A(r) = {{ q(r, i: {n}) = [r; i : {n + m}] of {t}\n"
        f" s(r, i: {m}) = [r; {n} + i : {n + m}] of {t} }}",
        f"record A(r) = {{ q(r, i: {8 * n}) = [r, i] of {narrow} }}",
        f"record A(r) = {{ q(r, i: {n}) = [r, i, bit : 8] of {narrow} }}",
        f"record A(r: {n}, k: {m}) = {{ q(r, k) = [k, r] of {t}\n"
        f" s(k) = [k, 0 : {n * b}, bit%8 : 8] of u8 offset {n * m * b} }}",
        f"record A(n, c: N) = {{ q(n, c) = [c/{n}, n/{m}, n%{m}, c%{n}] of {t} }}",
        f"record A(r) = {{ q(r) = [r] of {t}\n s(r) = [r] of {u} offset {_quotient(b, c)} }}",
    )
    return what.choice(texts)


def _quotient(bytes_: int, other: int) -> str:
    return f"R*{bytes_ // other}" if bytes_ % other == 0 else f"ceil(R*{bytes_}/{other})"


def with_parameter(what: Random, where: Random) -> Drawn:
    """A record with a parameter, which a number is for."""
    n, value = where.choice((2, 4)), where.choice((1, 2, 3, 4, 8))
    t = what.choice(("u8", "i8", "f16", "f32"))
    texts = (
        f"record A<P>(r, k) = {{ q(r, k) = [r, k] of {t}\n"
        f" d(r, x: P) = [x, r] of {t} offset R*K }}",
        f"record A<P>(r, k) = {{ q(r, k) = [r/P, k, r%P] of {t}\n"
        f" d(r) = [r] of {t} offset ceil(R/P)*K*P }}",
        f"record A<P>(r, k) = {{ q(r, k) = [r, 0 : 2, k, x] of {t}\n".replace(
            "q(r, k)", "q(r, (k, x: P))"
        )
        + f" d(r, (k, x: P)) = [r, 1 : 2, k, x] of {t} }}",
        f"record A<P>(r) = {{ q(r, (0 : P, i: {n})) = [r, 0 : P, i] of {t} }}",
        f"record A<P>(r) = {{ q(r, (0 : P, i: {n})) = [r, 0 : 2, i] of {t}\n"
        f" q(r, (1 : P, i: {n})) = [r, 1 : 2, i] }}",
        f"record A<G>(r, k) = {{ q(r, k) = [r, k] of {t}\n s(r, x: K/G) = [r, x] of {t}"
        " offset R*K } where K % G == 0",
    )
    text = what.choice(texts)
    return Drawn(text, "parameter", ((text[9], value),))


MAKERS = (blocks, blocks, blocks, blocks, planes, planes, cuts, rare)


def right(random: Random) -> Drawn:
    """A record that is right by how it is made, but for some of the rare ones."""
    if random.random() < 0.08:
        return with_parameter(random, random)
    maker = random.choice(MAKERS)
    return Drawn(maker(random, random), maker.__name__)


def changed(random: Random, drawn: Drawn) -> Drawn:
    """The same with one change: a number, bits, a field, a shift, a clause."""
    text = drawn.text
    match random.randrange(7):
        case 0 | 1:
            step = random.choice((-1, 1, 2))
            text = _once(random, text, r"\b\d+\b", lambda n: str(max(0, int(n) + step)))
        case 2:
            text = _once(random, text, r"bits \d+", lambda b: f"bits {int(b[5:]) + 1}")
        case 3:
            names = re.findall(r"\b(\w+)\(", text.partition("{")[2])
            if len(set(names)) > 1:
                one, other = random.sample(sorted(set(names)), 2)
                text = re.sub(rf"\b{one}\(", f"{other}(", text, count=1)
        case 4:
            text = _once(random, text, r"\d+ \+ (?=bit|\(|[ik])", lambda _: "")
        case 5:
            text = _once(random, text, r" (where [^{}]*|offset [^\n}]*)$", lambda _: "")
        case _:
            text = _once(random, text, r"[/%]", lambda sign: "%" if sign == "/" else "/")
    return replace(drawn, text=text, kind=f"{drawn.kind}, changed")


def _once(random: Random, text: str, pattern: str, change: Callable[[str], str]) -> str:
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if not found:
        return text
    chosen = random.choice(found)
    return text[: chosen.start()] + change(chosen[0]) + text[chosen.end() :]


def drawn(random: Random) -> Drawn:
    """A record that the language takes; one in three is changed in one place."""
    for _ in range(MOST_DRAWN):
        found = right(random)
        if random.random() < 0.35:
            found = changed(random, found)
        try:
            if found.record:
                return found
        except (LayoutError, ValueError):
            if "changed" not in found.kind:
                raise
    raise AssertionError("nothing that is drawn is taken")


# What a record does at a shape, in plain integers.


def bits_at(record: Record, values: Values) -> int:
    """Bits that the parts hold, and bits of the fields."""
    held = sum(
        part.element.bits * prod(part.layout.shape_of(part.shape(values))) for part in record.parts
    )
    return max(held, record.elements_bits(values))


def shapes(record: Record, random: Random, count: int, most: int) -> list[dict[str, int]]:
    """Small shapes of the range: the smallest, and some of others, of at most so many bits."""
    found = list(islice(small(record.frame, 1 << 14), 60))
    found = [each for each in found if bits_at(record, each) <= most]
    others = found[2:]
    return found[:2] + random.sample(others, min(len(others), max(0, count - 2)))


def faults(record: Record, values: Values) -> set[str]:
    """What is wrong at a shape, in words of one's own: by the definition, bit by bit."""
    for part in record.parts:
        extents = part.shape(values)
        small_ = any(each < 1 for each in extents.values())
        if small_ or not all(each.holds(extents) for each in part.layout.where):
            return {"defined"}
    found = set(_of_bits(record, values))
    found |= {"leaves" for part in record.parts if _leaves(part, values)}
    sizes = [{part_size(part, values) for part in region} for region in record.regions]
    found |= {"size" for each in sizes if len(each) > 1}
    starts = [_start(region[0], values) for region in record.regions]
    ends = [part_size(region[0], values) for region in record.regions]
    found |= {"after" for end, start in zip(ends, starts[1:], strict=False) if end > start}
    return found


def _of_bits(record: Record, values: Values) -> Iterator[str]:
    """What is wrong with the bits: where they lie, and which there are."""
    fields = record.field_shapes(values)
    for part in record.parts:
        sizes = [prod(evaluate(d.extent, values) for d in digits) for digits in part.picks]
        if tuple(sizes) != fields[part.field]:
            yield "whole"
    size, places, seen = record.size_bits(values), dict[int, Held](), set[Held]()
    for part, held, address in record.every_bit(values):
        if not _start(part, values) <= address < part_size(part, values) <= size:
            yield "bounds"
        if places.setdefault(address, held) != held:
            yield "apart"
        if held in seen:
            yield "whole"
        seen.add(held)
    meant_ = {
        Held(field.name, index, bit)
        for field in record.fields
        for index in product(*map(range, fields[field.name]))
        for bit in range(field.element.bits)
    }
    if seen != meant_:
        yield "whole"


def _start(part: Part, values: Values) -> int:
    return evaluate(part.in_bits.start, part.shape(values))


def _leaves(part: Part, values: Values) -> bool:
    """Whether a coordinate is outside its extent somewhere."""
    layout, extents = part.layout, part.shape(values)
    names = [axis.name for axis in layout.axes]
    for index in product(*map(range, layout.shape_of(extents))):
        bound = {**extents, **dict(zip(names, index, strict=True))}
        for each in layout.all_coordinates:
            if not 0 <= evaluate(each.value, bound) < evaluate(each.extent, bound):
                return True
    return False


# Fields, and what their bits are.

Array = NDArray[np.generic]


def kind_of(element: ElementType) -> str:
    kind, width = element.item
    return f"{kind}{width}"


def elements(element: ElementType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Items of a type, of which each value may be one."""
    if not element.fills_item and element.values is not None:
        low, high = element.values
        return random.integers(low, high + 1, shape).astype(kind_of(element))
    if element.kind == "bool":
        return np.asarray(random.integers(0, 2, shape) > 0)
    width = element.item[1]
    plain = random.integers(0, 256, prod(shape) * width).astype("u1")
    return plain.view(kind_of(element)).reshape(shape)


def meant(record: Record, values: Values, fields: Mapping[str, Array]) -> NDArray[np.uint8]:
    """The bytes of a record by its definition; bits that no field holds are 0."""
    bits = np.zeros(record.size_bits(values), "u1")
    codes = {
        name: np.ascontiguousarray(each).reshape(each.shape).view(f"V{each.dtype.itemsize}")
        for name, each in fields.items()
    }
    for _, held, address in record.every_bit(values):
        code = int.from_bytes(codes[held.field][held.index].tobytes(), "little")
        bits[address] = code >> held.bit & 1
    return np.packbits(bits, bitorder="little")


def free(record: Record, values: Values) -> NDArray[np.uint8]:
    """The bits that no field holds, as bytes."""
    bits = np.ones(record.size_bits(values), "u1")
    for _, _, address in record.every_bit(values):
        bits[address] = 0
    return np.packbits(bits, bitorder="little")


def pair(seed: int) -> tuple[Drawn, Drawn]:
    """Two records of the same fields, which lie elsewhere in each."""
    makers = (blocks, blocks, blocks, planes, cuts)
    maker = makers[seed % len(makers)]
    one, other = (maker(Random(seed), Random(1000 * seed + each)) for each in (1, 2))
    return Drawn(one, maker.__name__), Drawn(other, maker.__name__)
