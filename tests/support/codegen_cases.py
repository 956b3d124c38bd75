"""Layouts for the tests of generated code, each with small shapes that show its ragged edges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from layoutdsl import Layout
from layoutdsl.code import EmittedModule, load
from layoutdsl.code.arrays import generate_views
from layoutdsl.code.numpy_module import NumpyModule
from layoutdsl.language.elaborate.module import elaborate
from layoutdsl.language.syntax.parser import parse
from layoutdsl.language.texts.source import Source

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    text: str
    shapes: tuple[Shape, ...]
    gathers: bool = False

    @property
    def name(self) -> str:
        return self.text.split("layout ")[-1].split("(")[0].split("=")[0].strip()


def layout_of(text: str) -> Layout:
    module = elaborate(parse(Source("test", text)), "test")
    return list(module.layouts.values())[-1]


def emit(text: str) -> EmittedModule:
    return generate_views(layout_of(text), source=text, certificate=None)


def module_of(text: str) -> Any:
    """The module of a layout that NumPy moves, as `compile` returns it, but not proved."""
    return NumpyModule(layout_of(text), load(emit(text)))


def grid(*extents: tuple[int, ...]) -> tuple[Shape, ...]:
    return tuple(product(*extents))


IMAGE = grid((1, 2), (1, 3, 4), (1, 2), (1, 3))
CROUTON = grid((1, 2), (3, 8, 9), (5, 16), (7, 32, 45))

CASES = (
    Case("layout Vector(i) = [i]", grid((1, 5))),
    Case("layout NCHW(n, c, h, w) = [n, c, h, w]", IMAGE),
    Case("layout NHWC(n, c, h, w) = [n, h, w, c]", IMAGE),
    Case(
        "layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]",
        grid((1, 2), (1, 15, 16, 17, 32, 50), (1, 3), (2,)),
    ),
    Case(
        "layout NCHWc<k>(n, c, h, w) = [n, c/k, h, w, c%k]\nlayout NCHW4c = NCHWc<4>",
        grid((2,), (1, 3, 4, 9), (2,), (3,)),
    ),
    Case("layout Crouton(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8, d%32] fill 31", CROUTON),
    Case("layout CroutonChunks(b, h, w, d) = [b, h/8, w/8, d/32; h%8, w%8, d%32]", CROUTON),
    Case(
        "layout CroutonHalf(b, h, w, d) = [b, h/8, w/8, d/32, h%8, w%8/4, d%32, w%4]",
        grid((1,), (3, 9), (1, 4, 6, 8, 11, 13), (7, 45)),
    ),
    Case(
        "layout Crouton2x2(b, h, w, d) = [b, h/8, w/8, d/32, h%8/2, w%8/2, d%32, h%2, w%2]",
        grid((1,), (1, 3, 8, 13), (2, 5, 15), (7, 33)),
    ),
    Case(
        "layout Weights(o, i, h, w) = [o/32, i/32, h, w, i%32/4, o%32, i%4]",
        grid((3, 33), (2, 4, 30, 32, 50), (2,), (1, 3)),
    ),
    Case(
        "layout OIhw4i16o4i(o, i, h, w) = [o/16, i/16, h, w, i%16/4, o%16, i%4]",
        grid((5, 16, 17), (1, 4, 7, 16, 21), (1, 2), (2,)),
    ),
    Case(
        "layout BA16a64b4a(a, b) = [b/64, a/16, a%16/4, b%64, a%4]",
        grid((1, 4, 6, 16, 23, 32), (3, 64, 70)),
    ),
    Case(
        "layout MaceImage(n, c, h, w) = [(n, h), (c/4, w), c%4]",
        grid((1, 2), (1, 4, 6), (1, 3), (2, 5)),
    ),
    Case(
        "layout MaceFilter(o, i, h, w) = [(o/4, h, w), i, o%4]",
        grid((1, 4, 6), (1, 3), (2,), (3,)),
    ),
    Case("layout Declared(x, y) = [x : 5, y : 3]", grid((1, 2, 5), (1, 3))),
    Case("layout Pitch(h, w) = [h, w : 40]", grid((1, 3), (1, 39, 40))),
    Case(
        "layout Gap(n, c) = [n, c/16 : ceil(C/16) + 1, c%16] fill 7",
        grid((1, 2), (1, 16, 17)),
    ),
    Case("layout InnerGap(n, c) = [n, c/16, c%16 : 20] fill 7", grid((1, 2), (1, 16, 17, 33))),
    Case(
        "layout InnerGaps(c, w) = [c/32, w : 4, c%32/4 : 9, c%4 : 6] fill 7",
        grid((1, 3, 4, 6, 31, 32, 37, 50), (1, 4)),
    ),
    Case("layout Lead(c, w) = [c/4, w, c%4] offset 7 fill 3", grid((1, 4, 6), (1, 3))),
    Case("layout LeadBy(c, w) = [c/4, w, c%4] offset C-1 fill 3", grid((1, 4, 6), (1, 3))),
    Case("layout LeadGap(n, h, w) = [(n, h) : 9, w] offset 2 fill 3", grid((1, 2), (1, 4), (3,))),
    Case("layout Fixed(c, k: 4) = [c/8, k, c%8]", tuple((c, 4) for c in (1, 8, 9))),
    Case("layout One(c, k: 1, w) = [w, c]", tuple((c, 1, 2) for c in (1, 3))),
    Case("layout Square(i, j: I) = [j/4, i, j%4]", tuple((i, i) for i in (1, 4, 5))),
    Case("layout Squares(i, j: I) = [i/4, j/4, i%4, j%4]", tuple((i, i) for i in (1, 4, 6))),
    Case("layout Constants(n, c) = [0, n, 2 : 5, c/4, 1 : 2, c%4]", grid((1, 2), (1, 4, 6))),
    Case("layout OneSlot(k: 1) = [2 : 5]", ((1,),)),
    Case("layout Radix(c) = [c/16%4, c%16] where C <= 64", grid((1, 16, 40, 64))),
    Case("layout RadixGap(c) = [c/16%4 : 6, c%16] where C <= 64", grid((1, 16, 40, 64))),
    Case("layout TupleBlock(n, h, w) = [(n, h)/16, w, (n, h)%16]", grid((1, 3), (1, 5, 16), (2,))),
    Case(
        "layout TupleApart(n, c, h) = [(h, n)/4, c/2, (h, n)%4, c%2]", grid((1, 3), (1, 3), (1, 5))
    ),
    Case(
        "layout TupleGap(n, h, w) = [(n, h) : N*H + 2, (w, 1 : 3)] fill 9", grid((1, 2), (3,), (2,))
    ),
    Case(
        "layout Nested(n, c, h) = [((n, c/4) : 12, h) : 50, c%4] fill 9", grid((1, 3), (1, 6), (4,))
    ),
    Case("layout TupleRadix(n, h) = [(n, h)%40 : 44] where N*H <= 40", grid((1, 5), (1, 8))),
    Case("layout TupleDigits(n, c) = [(n, c/4)/8, (n, c/4)%8, c%4]", grid((1, 3), (1, 9)), True),
    Case("layout Recut(c) = [c/12, c%12/8, c%12%8]", grid((1, 8, 12, 30)), True),
    Case("layout Xor(i, j) = [i, (j/8)^(i%8), j%8]", grid((1, 9), (1, 8, 70)), True),
    Case("layout Across(i, j: I) = [i, j ^ (i%2)] where I == 8", ((8, 8),), True),
    Case("layout Rotate(i, j) = [i, (i+j)%8] where J <= 8 fill 5", grid((1, 9), (1, 8)), True),
    Case(
        "layout Triangle(i, j: 1) = [i*(i+1)/2 + j] offset 3 fill 5", ((1, 1), (4, 1), (7, 1)), True
    ),
    Case(
        "layout Skew(i, j) = [i + j, min(j, 3)] where J <= 4 fill any", grid((1, 3), (1, 4)), True
    ),
)

BY_NAME = {case.name: case for case in CASES}


def tensor_of(shape: Shape, dtype: str = "int32") -> np.ndarray:
    """Distinct values, none of them a fill or the poison."""
    size = int(np.prod(shape))
    return (np.arange(size) + 1000).astype(dtype).reshape(shape)
