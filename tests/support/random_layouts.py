"""Layouts drawn at random, as text: digits of any axes in any order, and what else a line can say.

Names are chosen to be awkward: words of Python, names that pieces of other axes would be given.
"""

from __future__ import annotations

from math import prod
from random import Random

import layoutdsl
from layoutdsl import Layout, LayoutError

LETTERS = ("n", "c", "h", "w", "o", "i", "x", "y")
WORDS = ("c", "c0", "c1", "in", "is", "row", "x_", "axis", "pattern", "k2", "lambda", "seq")
MOST_ELEMENTS = 600


def some_axes(random: Random) -> dict[str, int | None]:
    """Axes with their extents, where they are fixed."""
    pool = LETTERS if random.random() < 0.6 else WORDS
    names = random.sample(pool, random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4)))
    fixed = random.random() < 0.5
    return {
        name: random.choice((1, 2, 3, 4, 6, 8, 12)) if fixed and random.random() < 0.8 else None
        for name in names
    }


def sizes_of(random: Random, blocks: tuple[int, ...] = (2, 3, 4, 6)) -> list[int]:
    return random.choices(blocks, k=random.choice((0, 0, 1, 1, 2)))


def digits_of(name: str, sizes: list[int]) -> list[str]:
    """An axis cut into digits, from the most major."""
    digits, below = list[str](), 1
    for size in sizes:
        digits.append(f"{name}{f'/{below}' if below > 1 else ''}%{size}")
        below *= size
    digits.append(f"{name}/{below}" if below > 1 else name)
    return digits[::-1]


def body(sizes: dict[str, list[int]], random: Random) -> list[str]:
    digits = [digit for name in sizes for digit in digits_of(name, sizes[name])]
    if random.random() < 0.7:
        random.shuffle(digits)
    elif random.random() < 0.7:
        digits.sort(key=lambda digit: "%" in digit)
    places: list[str] = []
    while digits:
        count = 1 if random.random() < 0.8 else min(len(digits), random.randint(2, 3))
        taken, digits = digits[:count], digits[count:]
        places.append(taken[0] if count == 1 else f"({', '.join(taken)})")
    if random.random() < 0.15:
        places.insert(random.randint(0, len(places)), random.choice(("0", "0", "3")))
    if sizes and random.random() < 0.12:
        place = random.randrange(len(places))
        name = random.choice(sorted(sizes))
        places[place] = random.choice(
            (f"{places[place]} ^ {name}%4", f"({places[place]} + {name})%6")
        )
    return places or ["0"]


def line(
    random: Random,
    given: dict[str, int | None] | None = None,
    blocks: tuple[int, ...] = (2, 3, 4, 6),
) -> str:
    """One layout as text, over some axes; it may be one that the language refuses."""
    axes = some_axes(random) if given is None else given
    sizes = {name: sizes_of(random, blocks) for name in axes}
    places = body(sizes, random)
    fits = random.random() < 0.4 and given is None
    if fits:
        axes = {n: e and prod(sizes[n]) * random.randint(1, 2) for n, e in axes.items()}
    if random.random() < 0.1:
        places[0] += f" : {random.choice((16, 24))}"
    cut = random.randint(1, len(places) - 1) if len(places) > 1 and random.random() < 0.15 else 0
    written = ", ".join(places[:cut]) + "; " * bool(cut) + ", ".join(places[cut:])
    clauses = [random.choice((*[""] * 8, " fill any", " fill any", " fill 31", " fill zero_point"))]
    clauses.append(random.choice(("", "", " of f32", " of u8")))
    clauses.append(" offset 4" if random.random() < 0.05 else "")
    named = [name for name, extent in axes.items() if extent is None]
    if fits:
        divisors = {name: prod(sizes[name]) for name in named if sizes[name]}
        conditions = [f"{name.upper()} % {number} == 0" for name, number in divisors.items()]
        clauses.append(f" where {', '.join(conditions)}" if conditions else "")
    elif named and random.random() < 0.2:
        wanted = random.sample(named, random.randint(1, len(named)))
        conditions = [f"{name.upper()} % {random.choice((2, 3, 4, 12))} == 0" for name in wanted]
        clauses.append(f" where {', '.join(conditions)}")
    declared = ", ".join(f"{n}: {extent}" if extent else n for n, extent in axes.items())
    return f"layout Drawn({declared}) = [{written}]{''.join(clauses)}"


def drawn(random: Random) -> Layout:
    """A layout that the language takes."""
    while True:
        try:
            return layoutdsl.parse(line(random))["Drawn"]
        except LayoutError:
            continue


def shape_in(layout: Layout, random: Random) -> tuple[int, ...] | None:
    """A shape for which the layout is defined, of no more than a few hundred elements."""
    for _ in range(30):
        values = {name: random.choice((1, 2, 3, 4, 5, 6, 7, 12, 24)) for name in layout.symbols}
        shape = layout.shape_of(values)
        if prod(shape) <= MOST_ELEMENTS and all(each.holds(values) for each in layout.where):
            return shape
    return None
