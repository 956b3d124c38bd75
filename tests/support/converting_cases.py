"""Pairs of layouts for the tests of conversions, with what the definition says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from codegen_cases import Shape, grid, layout_of

from layoutdsl import Layout
from layoutdsl.code import EmittedModule
from layoutdsl.code.arrays import generate_conversion
from layoutdsl.code.moves import Fallback
from layoutdsl.language.offsets.axes import paired


@dataclass(frozen=True)
class Pair:
    source: str
    target: str
    shapes: tuple[Shape, ...]
    straight: bool = True

    @property
    def name(self) -> str:
        names = (text.split("layout ")[-1].split("(")[0] for text in (self.source, self.target))
        return "-".join(names)

    @property
    def texts(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def layouts(self) -> tuple[Layout, Layout]:
        """Both over the same axes, in the shapes that both have."""
        return over_same_axes(layout_of(self.source), layout_of(self.target))


def over_same_axes(source: Layout, target: Layout) -> tuple[Layout, Layout]:
    both = paired(source, target)
    one, other = (
        replace(each, where=both.where, element=source.element or target.element)
        for each in (both.one, both.other)
    )
    return one, other


@cache
def emitted(pair: Pair) -> EmittedModule:
    made = generate_conversion(*pair.layouts, texts=pair.texts)
    assert not isinstance(made, Fallback)
    return made


POISON, OTHER = 201, 9
"""What is in memory that nobody may read or change, and a fill."""

NCHW16C = "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]"
NHWC = "layout NHWC(n, c, h, w) = [n, h, w, c]"
CROUTON = "layout Crouton(n, c, h, w) = [n, h/8, w/8, c/32, h%8, w%8, c%32] fill 31"
SHORT = grid((2,), (1, 15, 16, 17, 40), (3,), (2,))
TILED = grid((1,), (3, 33), (2, 9), (5, 11))

PAIRS = (
    Pair(NCHW16C, NHWC, SHORT),
    Pair(NHWC, NCHW16C, SHORT),
    Pair(NCHW16C, "layout NCHW4c(n, c, h, w) = [n, c/4, h, w, c%4] fill 7", SHORT),
    Pair("layout NCHW8c(n, c, h, w) = [n, c/8, h, w, c%8]", CROUTON, TILED),
    Pair(CROUTON, NCHW16C, TILED),
    Pair(NCHW16C, CROUTON, TILED),
    Pair(
        "layout Depth32(b, h, w, d) = [b, h, d/32, w/4, w%4, d%32]",
        "layout Crouton2x2(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2]",
        grid((1,), (3, 9), (4, 7), (5, 33)),
    ),
    Pair(
        "layout OIhw4i16o4i(o, i, h, w) = [o/16, i/16, h, w, i%16/4, o%16, i%4]",
        "layout HtpWeights(o, i, h, w) = [o/32, i/32, h, w, i%32/4, o%32, i%4]",
        grid((5, 16, 33), (1, 4, 17, 40), (2,), (1,)),
    ),
    Pair(
        "layout Tile(y, x) = [y/8, x/128, y%8, x%128]",
        "layout Tile2(y, x) = [y/8, x/128, y%8/2, x%128, y%2] fill any",
        grid((1, 8, 11, 17), (5, 128, 130)),
    ),
    Pair(
        "layout Gaps(c, w) = [c/32, w, c%32/4 : 9, c%4 : 6] fill 7",
        "layout LeadBy(c, w) = [c/4, w, c%4] offset C-1 fill 3",
        grid((1, 4, 6, 31, 37), (1, 4)),
    ),
    Pair(
        "layout Lead(c, w) = [c/4, w, c%4] offset 7",
        "layout InnerGap(c, w) = [w, c/16, c%16 : 20] fill 9",
        grid((1, 4, 6, 33), (1, 4)),
    ),
    Pair(
        "layout One(n, c: 1, w) = [w, n]",
        "layout OneBlock(n, c: 1, w) = [n, c/4, w/2, c%4, w%2] fill 8",
        tuple((n, 1, w) for n in (1, 3) for w in (1, 4, 5)),
    ),
    Pair(
        "layout OneBlock(n, c: 1, w) = [n, c/4, w/2, c%4, w%2]",
        "layout One(n, c: 1, w) = [w, n]",
        tuple((n, 1, w) for n in (1, 3) for w in (1, 4, 5)),
    ),
    Pair("layout Slot(k: 1) = [k]", "layout OneSlot(k: 1) = [2 : 5]", ((1,),)),
    Pair(
        "layout Three(n, c: 3, w) = [n, w, c]",
        "layout ThreeBlock(n, c, w) = [n, c/4, w, c%4]",
        tuple((n, 3, w) for n in (1, 2) for w in (1, 5)),
    ),
    Pair(
        "layout TupleBlock(n, h, w) = [(n, h)/16, w, (n, h)%16]",
        "layout TupleQuad(n, h, w) = [(n, h)/4, w/2, (n, h)%4, w%2] fill 5",
        grid((1, 3), (1, 5, 16), (1, 2)),
    ),
    Pair(
        "layout MaceImage(n, c, h, w) = [(n, h), (c/4, w), c%4]",
        "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]",
        SHORT,
    ),
    Pair(
        "layout Square(i, j: I) = [j/4, i, j%4]",
        "layout Squares(i, j) = [i/4, j/4, i%4, j%4]",
        tuple((i, i) for i in (1, 4, 5)),
    ),
    Pair(
        "layout Radix(c) = [c/16%4, c%16] where C <= 64",
        "layout Radix8(c) = [c/8, c%8] where C >= 5",
        grid((5, 16, 40, 64)),
    ),
    Pair(
        "layout Zero(c, w) = [c/8, w, c%8]",
        "layout ZeroPoint(c, w) = [c/4, w, c%4] fill zero_point",
        grid((1, 4, 6, 9), (1, 4)),
    ),
)

THROUGH = (
    Pair(
        "layout By8(n, c) = [n, c/8, c%8]",
        "layout By12(n, c) = [n, c/12, c%12] fill 4",
        grid((1, 2), (1, 8, 25)),
        straight=False,
    ),
    Pair(
        "layout Xor(i, j) = [i, (j/8)^(i%8), j%8]",
        "layout Plain(i, j) = [j, i]",
        grid((1, 9), (64,)),
        straight=False,
    ),
    Pair(
        "layout Upper(i, j: I) = [j*(j+1)/2 + i : I*(I+1)/2] where i <= j",
        "layout Full(i, j) = [i, j/4, j%4] fill 6",
        tuple((i, i) for i in (1, 5)),
        straight=False,
    ),
    Pair(
        "layout Read(n, h) = [(n, h)/4, (n, h)%4]",
        "layout Apart(n, h) = [n, h]",
        grid((1, 3), (1, 5)),
        straight=False,
    ),
)

BY_NAME = {pair.name: pair for pair in PAIRS}


@cache
def offsets(layout: Layout, shape: Shape) -> dict[Shape, int]:
    """Where each element lies that the layout holds, by its definition."""
    values, found = layout.bind(shape), dict[Shape, int]()
    for index in product(*map(range, shape)):
        at = {**values, **dict(zip([axis.name for axis in layout.axes], index, strict=True))}
        if layout.holds(at):
            found[index] = layout.offset_at(at)
    return found


def poisoned(layout: Layout, shape: Shape, dtype: str, poison: int) -> np.ndarray:
    """A buffer whose elements all differ from its padding, as far as the type can tell."""
    flat = np.full(layout.size(shape), poison, dtype)
    for number, at in enumerate(offsets(layout, shape).values()):
        flat[at] = number % 100 + 5
    return flat.reshape(layout.physical_shape(shape))


def meant(
    pair: tuple[Layout, Layout], shape: Shape, buffer: np.ndarray, fill: int, lead: int
) -> np.ndarray:
    """What a conversion has to make of a buffer, by the definition of both layouts."""
    source, target = pair
    flat = np.full(target.size(shape), fill, buffer.dtype)
    flat[: target.size(shape) - int(np.prod(target.box(shape)))] = lead
    held, read = offsets(source, shape), buffer.reshape(-1)
    for index, at in offsets(target, shape).items():
        flat[at] = read[held[index]] if index in held else 0
    return flat.reshape(target.physical_shape(shape))


def assert_converts(
    convert: Callable[..., np.ndarray], pair: tuple[Layout, Layout], shapes: tuple[Shape, ...]
) -> None:
    """Hold a conversion against the definition, where `src` and `out` are poisoned and guarded."""
    target = pair[1]
    for number, shape in enumerate(shapes):
        dtype = ("u1", "i2", "u4", "f8", "c16")[number % 5]
        if target.element is not None:
            kind, width = target.element.item
            dtype = f"{kind}{width}"
        buffer = poisoned(pair[0], shape, dtype, POISON)
        kept = buffer.copy()
        want = meant(pair, shape, buffer, OTHER, POISON)
        guarded = np.full(want.size + 2, POISON, dtype)
        out = guarded[1:-1].reshape(want.shape)
        assert convert(buffer, shape, out, OTHER) is out
        assert np.array_equal(out, want), shape
        assert guarded[0] == guarded[-1] == POISON
        assert np.array_equal(buffer, kept)
        fresh = convert(buffer.reshape(-1), list(shape), fill=OTHER)
        assert np.array_equal(fresh, meant(pair, shape, buffer, OTHER, OTHER)), shape
        apart = np.full((*want.shape, 2), POISON, dtype)
        convert(np.repeat(buffer[..., None], 2, -1)[..., 0], shape, apart[..., 1], OTHER)
        assert np.array_equal(apart[..., 1], want)
        assert np.all(apart[..., 0] == POISON)
        if any(each == "fill zero_point" for each in target.clauses):
            with pytest.raises(TypeError, match="`fill` is missing"):
                convert(buffer, shape)
            continue
        value = getattr(target.fill, "value", 0)
        assert np.array_equal(convert(buffer, shape), meant(pair, shape, buffer, value, value))
        if "fill any" in target.clauses:
            convert(buffer, shape, out)
            assert np.array_equal(out, want)
