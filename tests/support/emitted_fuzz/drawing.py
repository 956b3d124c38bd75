"""Layouts and shapes, drawn: what other tests draw, with clauses, copies, large numbers put in."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from random import Random

import random_declarations
import random_layouts
from mutants import oracle
from random_numbers import NUMBERS, arithmetic

from layoutdsl import LayoutError
from layoutdsl.language.syntax import ast
from layoutdsl.language.syntax.printer import print_expression

from .meaning import Shape, values_of
from .trees import (
    place_of,
    places_of,
    text_of,
    tree,
    with_clause,
    with_condition,
    with_copies,
    with_places,
)

MOST = 600
"""Elements of a shape that is tried in full."""

FAR = (1000, 4096, 65537, 10**6, 2**20 + 1, 2**31 - 1, 2**33)
FILLS = ("any", "any", "31", "0", "255", "zero_point")
ELEMENTS = ("u8", "i8", "u4", "i2", "u1", "f16", "f32", "f64", "bf16", "f8", "i16", "u64")

KEEPING = (
    "({0})*{1}/{1}",
    "(({0})*{1} + {2})/{1}",
    "({0}, {2} : {1})/{1}",
    "({2} : {1}, {0})%({1}*0 + {3})",
    "({0} - {1}) + {1}",
    "({0})*{1}*{1}/{1}/{1}",
    "min({0}, {0} + {1})",
    "({0})*{3}*{1}%({3}*{1})/{1}/{3} + ({0})",
)
"""What may stand for a coordinate, with numbers that are large; all but the last two keep it."""


def drawn(random: Random) -> str:
    """A layout ``L`` as text; it may be one that the language refuses."""
    if random.random() < 0.5:
        text = random_layouts.line(random).replace("layout Drawn", "layout L")
    else:
        text = random_declarations.drawn(random)
    try:
        layout = tree(text)
    except LayoutError:
        return text
    if layout.axes and random.random() < 0.4:
        layout = large(layout, random)
    if layout.axes and random.random() < 0.15:
        layout = shifted(layout, random)
    layout = with_clauses(layout, random)
    return text_of(copied(layout, random) if layout.axes and random.random() < 0.12 else layout)


def copied(layout: ast.LayoutDecl, random: Random) -> ast.LayoutDecl:
    """The same with an axis, or with two, that count copies; one of the tensor stays if it can."""
    count = len(layout.axes or ())
    for place in random.sample(range(count), min(count, random.choice((1, 1, 1, 2)))):
        layout = with_copies(layout, place, random.choice((1, 2, 3, 4, 5, 8)))
    return layout


def shifted(layout: ast.LayoutDecl, random: Random) -> ast.LayoutDecl:
    """The same, with a coordinate that begins further on, or a block counted from its end."""
    places = list(places_of(layout))
    k = random.randrange(len(places))
    value, first = print_expression(places[k].value), random.choice((1, 2, 3, 8))
    if random.random() < 0.5:
        moved = place_of(f"{first} + ({value})")
        places[k] = replace(moved, extent=places[k].extent if random.random() < 0.3 else None)
    else:
        block = random.choice((2, 3, 4))
        moved = place_of(f"{block - 1} - ({value})%{block} : {block + random.choice((0, 0, 2))}")
        places[k : k + 1] = [place_of(f"({value})/{block}"), moved]
    return with_places(layout, tuple(places))


def with_clauses(layout: ast.LayoutDecl, random: Random) -> ast.LayoutDecl:
    given = {type(each) for each in layout.clauses}
    if ast.FillClause not in given and random.random() < 0.3:
        layout = with_clause(layout, f"fill {random.choice(FILLS)}")
    if ast.ElementClause not in given and random.random() < 0.2:
        layout = with_clause(layout, f"of {random.choice(ELEMENTS)}")
    named = [axis.name.text.upper() for axis in layout.axes or () if axis.extent is None]
    if ast.OffsetClause not in given and random.random() < 0.1:
        start = random.choice((*(f"{name} - 1" for name in named), "5", "3"))
        layout = with_clause(layout, f"offset {start}")
    return layout


def large(layout: ast.LayoutDecl, random: Random) -> ast.LayoutDecl:
    """The same with numbers that are large: in a coordinate, a condition, a pitch, or a start."""
    axes = [axis.name.text for axis in layout.axes or ()]
    places = list(places_of(layout))
    number, rest = random.choice(NUMBERS[4:]), random.choice((2, 3, 5, 7))
    match random.randrange(7):
        case 0 | 1:
            k = random.randrange(len(places))
            if places[k].extent is None:
                words = print_expression(places[k].value), number, random.randrange(number), rest
                places[k] = place_of(random.choice(KEEPING).format(*words))
        case 2 | 3:
            value = arithmetic(random, random.randint(1, 4), axes)
            new = place_of(f"({value})%{rest} : {rest}")
            places.insert(random.randint(0, len(places)), new)
        case 4:
            value = arithmetic(random, random.randint(1, 3), axes)
            side = random.choice((f"{rest}", arithmetic(random, 1, axes)))
            return with_condition(
                layout, f"({value})%{number} {random.choice(('<=', '!='))} {side}"
            )
        case 5:
            power = "*".join([f"({random.choice(axes)} - {rest})"] * random.randint(3, 8))
            places.append(place_of(f"({power})%{rest} : {rest}"))
        case _:
            k = random.randrange(len(places))
            room = place_of(f"0 : {random.choice((number, 2**31, 2**20))}").extent
            places[k] = replace(places[k], extent=places[k].extent or room)
    return with_places(layout, tuple(places))


def pair(random: Random) -> tuple[str, str]:
    """Layouts ``L`` and ``M`` of the same axes, most of them with common digits."""
    axes, texts = random_layouts.some_axes(random), list[str]()
    radices = {name: random.choice(((2, 4), (2, 4), (3, 6), (2, 3))) for name in axes}
    declared = ", ".join(f"{n}: {extent}" if extent else n for n, extent in axes.items())
    for name in "LM":
        sizes = {n: random.choices(radices[n], k=random.choice((0, 1, 1, 2))) for n in axes}
        body = ", ".join(random_layouts.body(sizes, random))
        layout = tree(f"layout {name}({declared}) = [{body}]")
        texts.append(text_of(with_clauses(layout, random)))
    return texts[0], texts[1]


def shape_in(text: str, random: Random, most: int = MOST) -> Shape | None:
    """A shape at the borders of blocks, of no more elements than told."""
    reading = oracle.read(text)
    choices = oracle.borders((reading,), most)
    for attempt in range(12):
        values, left = dict[str, int](), most
        for name in random.sample(list(choices), len(choices)):
            times = sum(oracle.extent_of(axis) == name for axis in reading.axes)
            fitting = [each for each in choices[name] if each**times <= left] or [1]
            if attempt > 5 and random.random() < 0.7:
                fitting = list(range(1, 1 + min(24, round(left ** (1 / times)))))
            values[name] = random.choice(fitting)
            left //= values[name] ** times
        shape = reading.shape(values)
        if prod(shape) <= most and values_of(reading, shape) is not None:
            return shape
    return None


def far_shape(text: str, random: Random) -> Shape | None:
    """A shape of many elements, for what is asked at single indices."""
    reading = oracle.read(text)
    for _ in range(4):
        values = {name: random.choice(FAR) for name in reading.symbols}
        shape = reading.shape(values)
        if values and values_of(reading, shape) is not None:
            return shape
    return None
