"""Cases that nobody chose: layouts, shapes and widths drawn from the families that programs use.

Speed on a list is speed on what a kernel was tuned for. A case is drawn from its own seed alone, so
that one of many can be measured again: the third case of seed 7 is the first of seed 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from random import Random

from layoutdsl.commands import parse
from layoutdsl.commands.bench.moves import Task
from layoutdsl.language.meaning.model import Layout

LEAST, MOST = 12, 26
"""Powers of two: a tensor has 4 KiB to 64 MiB."""

LARGEST_BLOCK = 128
TYPES = ("uint8", "uint16", "float32", "float64")
NAMES = ("a", "b", "c", "d", "e")


@dataclass(frozen=True, slots=True)
class Family:
    """Layouts of one kind.

    Attributes:
        axes: names with their extents; 0 where the shape decides.
        places: of the layout, most major first.
        other: of the layout that is converted to, where there is one.
        steps: indices of an axis that make a whole block.
    """

    axes: dict[str, int]
    places: list[str]
    other: list[str] | None = None
    steps: dict[str, int] | None = None


def drawn_tasks(count: int, seed: int) -> Iterator[Task]:
    """Yield the moves of so many cases: packing and unpacking of a layout, or one conversion."""
    for number in range(count):
        yield from _tasks(seed + number)


def _tasks(seed: int) -> Iterator[Task]:
    random = Random(seed)  # noqa: S311  (cases, and no secrets)
    name = random.choice(tuple(FAMILIES))
    family = FAMILIES[name](random)
    dtype = random.choice(TYPES)
    shape = _shape(random, family, int(dtype.strip("uintfloa")) // 8)
    layout = _layout(family, family.places)
    if family.other is not None:
        yield Task(name, layout, _layout(family, family.other), shape, dtype, seed)
        return
    yield Task(name, None, layout, shape, dtype, seed)
    yield Task(name, layout, None, shape, dtype, seed)


def _layout(family: Family, places: list[str]) -> Layout:
    axes = [name if not extent else f"{name}: {extent}" for name, extent in family.axes.items()]
    return _parsed(f"layout Drawn({', '.join(axes)}) = [{', '.join(places)}]")


@cache
def _parsed(text: str) -> Layout:
    return parse(text).layouts["Drawn"]


def _shape(random: Random, family: Family, width: int) -> tuple[int, ...]:
    """Extents that make up a number of bytes; half of all axes are whole blocks."""
    free = [name for name, extent in family.axes.items() if not extent]
    known = prod(extent for extent in family.axes.values() if extent)
    elements = max(1.0, 2 ** random.uniform(LEAST, MOST) / width / known)
    weights = [random.uniform(0.3, 1) for _ in free]
    found = dict(family.axes)
    for name, weight in zip(free, weights, strict=True):
        extent = max(1, round(elements ** (weight / sum(weights))))
        step = (family.steps or {}).get(name, 8)
        found[name] = extent if random.random() < 0.5 else max(1, round(extent / step)) * step
    return tuple(found.values())


def _permutation(random: Random) -> Family:
    names = NAMES[: random.randint(2, 5)]
    order = list(names)
    while order == list(names):
        random.shuffle(order)
    return Family(dict.fromkeys(names, 0), order)


def _small(random: Random) -> Family:
    """Planes to tuples and back, as of images: an axis of 1 to 8 that moves to the other end."""
    names = list(NAMES[: random.randint(2, 4)])
    few = random.choice(names)
    axes = {name: random.randint(1, 8) if name == few else 0 for name in names}
    left = [name for name in names if name != few]
    random.shuffle(left)
    ends = [few, *left], [*left, few]
    return Family(axes, random.choice([end for end in ends if end != names] or [ends[0]]))


def _cut(name: str, blocks: list[int]) -> list[str]:
    """The digits of an axis, most major first, whose lower ones have these radices."""
    digits, below = list[str](), 1
    for block in reversed(blocks):
        digits.append(f"{name}{_over(below)}%{block}")
        below *= block
    return [f"{name}{_over(below)}", *reversed(digits)]


def _over(divisor: int) -> str:
    return f"/{divisor}" if divisor > 1 else ""


def _blocked(random: Random, names: tuple[str, ...]) -> tuple[list[str], dict[str, int]]:
    """Blocks of 1 to 3 levels: their digits lie below all others, in any order."""
    levels: dict[str, list[int]] = {name: [] for name in names}
    for _ in range(random.randint(1, 3)):
        blocks, block = levels[random.choice(names)], random.choice([2, 4, 4, 8, 8, 16, 16, 32])
        if prod(blocks) * block <= LARGEST_BLOCK:
            blocks.append(block)
    digits = {name: _cut(name, blocks) for name, blocks in levels.items()}
    outer, inner = list(names), [each for found in digits.values() for each in found[1:]]
    if random.random() < 0.5:
        random.shuffle(outer)
    random.shuffle(inner)
    steps = {name: prod(blocks) for name, blocks in levels.items()}
    return [*(digits[name][0] for name in outer), *inner], steps


def _blocks(random: Random) -> Family:
    names = NAMES[: random.randint(2, 4)]
    places, steps = _blocked(random, names)
    return Family(dict.fromkeys(names, 0), places, steps=steps)


def _converted(random: Random) -> Family:
    names = NAMES[: random.randint(2, 4)]
    (one, steps), (other, others) = _blocked(random, names), _blocked(random, names)
    most = {name: max(step, others[name]) for name, step in steps.items()}
    return Family(dict.fromkeys(names, 0), one, other, most)


def _weights(random: Random) -> Family:
    """Weights of convolutions, 3x3 or other, in blocks with pairs or fours: OIhw4i16o4i."""
    window = random.choice([1, 1, 2, 3, 3, 5, 7])
    outs, ins, group = random.choice([8, 16, 32]), random.choice([4, 8, 16, 32]), 1
    group = random.choice([each for each in (1, 2, 4) if each < ins])
    inner = (
        [f"i%{ins}/{group}", f"o%{outs}", f"i%{group}"] if group > 1 else [f"i%{ins}", f"o%{outs}"]
    )
    axes = {"o": 0, "i": 0, "h": window, "w": window}
    return Family(axes, [f"o/{outs}", f"i/{ins}", "h", "w", *inner], steps={"o": outs, "i": ins})


def _groups(random: Random) -> Family:
    """Matrices of VNNI and AMX: pairs or fours of rows side by side, in tiles or in none."""
    group = random.choice([2, 4])
    if random.random() < 0.4:
        return Family({"k": 0, "n": 0}, [f"k/{group}", "n", f"k%{group}"], steps={"k": group})
    rows, columns = random.choice([16, 32, 64]), random.choice([16, 32, 64])
    outer = [f"k/{rows}", f"n/{columns}"]
    random.shuffle(outer)
    inner = [f"k%{rows}/{group}", f"n%{columns}", f"k%{group}"]
    return Family({"k": 0, "n": 0}, [*outer, *inner], steps={"k": rows, "n": columns})


def _panels(random: Random) -> Family:
    """Panels of a matrix, as the kernels of matrix products read them."""
    rows = random.choice([4, 6, 6, 8, 12, 12, 14, 16])
    along = random.choice([["m", "k"], ["k", "m"]])
    return Family(dict.fromkeys(along, 0), [f"m/{rows}", "k", f"m%{rows}"], steps={"m": rows})


def _pitch(random: Random) -> Family:
    """Rows that start at a multiple of some elements, in order or turned round."""
    names = NAMES[: random.randint(2, 3)]
    order, unit = list(names), random.choice([4, 16, 32, 64])
    if random.random() < 0.5:
        random.shuffle(order)
    last = order[-1]
    return Family(
        dict.fromkeys(names, 0), [*order[:-1], f"{last} : ceil({last.upper()}/{unit})*{unit}"]
    )


FAMILIES: dict[str, Callable[[Random], Family]] = {
    "permutation": _permutation,
    "small axis": _small,
    "blocks": _blocks,
    "conversion": _converted,
    "weights": _weights,
    "groups": _groups,
    "panels": _panels,
    "pitch": _pitch,
}
"""What programs do, each drawn as often as any other."""
