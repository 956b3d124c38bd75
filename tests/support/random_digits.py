"""Layouts of digits drawn at random, as one line each, with shapes at the ends of their blocks.

Each axis, or several read as one, is cut into digits of any nesting, powers of two or not, and
these stand in any order, alone or in tuples. What a layout means is said by `Layout.offset` alone.
A layout that something was found with is made `simpler` one step at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from random import Random

from codegen_cases import layout_of

from layoutdsl import Layout, LayoutError

Shape = tuple[int, ...]
Axes = tuple[tuple[str, int | None], ...]
"""Each with its extent, where that is fixed."""

NAMES = ("n", "c", "h", "w", "k")
BLOCKS = (2, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8, 8, 12, 16, 16, 32, 64)
TWOS = (2, 2, 4, 4, 8, 8, 16, 16, 32)
FIXED = (1, 2, 3, 3, 3, 4, 5, 5, 7, 8, 9, 12, 16, 19, 32, 33)
FEW = (2, 3, 3, 4, 5)
"""Of an axis such as that of colours, which becomes planes, or comes from them."""

UNCUT = (7, 8, 9, 15, 16, 17, 23, 31, 32, 33, 48, 63, 64, 65, 100, 129)
"""Extents beside the vectors of machines."""
LONG = (64, 65, 71, 75)
"""Extents of which two are no more slots than there may be: whole tiles of bytes."""
COPIES = (1, 2, 2, 3, 4, 4, 5, 8, 16, 32)
"""Of an element."""

FILLS = ("", "", "", " fill 31", " fill 7", " fill any")
MOST_BLOCK = 256
MOST_SLOTS = 6000


layout_read = lru_cache(maxsize=1024)(layout_of)


@dataclass(frozen=True)
class Digit:
    """``whole`` divided, and its remainder taken, in this order.

    Attributes:
        whole: the axes that are read as one.
        steps: ``/`` or ``%``, and by how much.
    """

    whole: tuple[str, ...]
    steps: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        whole = self.whole[0] if len(self.whole) == 1 else f"({', '.join(self.whole)})"
        return whole + "".join(f"{sign}{number}" for sign, number in self.steps)

    def cut(self, block: int) -> tuple[Digit, Digit]:
        above, below = (replace(self, steps=(*self.steps, (sign, block))) for sign in "/%")
        return above, below

    def ends(self) -> Iterator[int]:
        """Where its blocks end, in steps of the whole."""
        step = 1
        for sign, number in self.steps:
            yield step * number
            step *= number if sign == "/" else 1


@dataclass(frozen=True)
class Place:
    """A coordinate: a digit, or a tuple of them; with room, shifted, from its end, or swizzled."""

    digits: tuple[Digit, ...]
    room: str = ""
    swizzle: str = ""
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        text = ", ".join(map(str, self.digits))
        text = f"({text})" if len(self.digits) > 1 else text
        text = f"{self.first} + {text}" if self.first else text
        text = f"{self.last} - {text}" if self.last else text
        return (f"({text} ^ {self.swizzle})" if self.swizzle else text) + self.room


@dataclass(frozen=True)
class Drawn:
    """A layout.

    Attributes:
        axes: with their extents, where these are fixed.
        places: the coordinates, most major first.
        clauses: the fill, what stands before the first slot, and the range, each as text.
        copies: the axes along which an element is held again and again.
    """

    axes: Axes
    places: tuple[Place, ...]
    clauses: tuple[str, str, str] = ("", "", "")
    copies: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        said = [name if e is None else f"{name}: {e}" for name, e in self.axes]
        marks = [" broadcast" * (name in self.copies) for name, _ in self.axes]
        axes = ", ".join(map("".join, zip(said, marks, strict=True)))
        fill, start, range_ = self.clauses
        places = ", ".join(map(str, self.places))
        return f"layout A({axes}) = [{places}]{start}{fill}{range_}"

    @property
    def layout(self) -> Layout:
        return layout_read(self.text)

    def ends(self, axis: str) -> list[int]:
        """Where the blocks of an axis end; of several read as one, those of the last."""
        digits = [digit for place in self.places for digit in place.digits]
        return sorted({end for d in digits if d.whole[-1] == axis for end in d.ends()} | {1})


@dataclass(frozen=True)
class Written:
    """A layout that somebody wrote, in place of one that was drawn."""

    text: str

    @property
    def layout(self) -> Layout:
        return layout_read(self.text)


def drawn(random: Random, beside: Drawn | None = None) -> Drawn:
    """A layout that the language takes; of the axes of another, mostly with blocks in common."""
    while True:
        found = _drawn(random, beside)
        if _is_taken(found):
            return found


def with_copies(random: Random) -> Drawn:
    """A layout with one or two axes of copies, which may be all that it has."""
    while True:
        found = drawn(random)
        most = min(2, len(found.axes))
        copies = tuple(name for name, _ in random.sample(found.axes, random.randint(1, most)))
        axes = tuple(
            (name, (extent or random.choice(COPIES)) if name in copies else extent)
            for name, extent in found.axes
        )
        *clauses, range_ = found.clauses
        if any(f"{name} " in f"{range_.lower()} " or f"{name})" in range_ for name in copies):
            range_ = ""
        found = replace(found, axes=axes, clauses=(*clauses, range_), copies=copies)
        if _is_taken(found):
            return found


def _is_taken(found: Drawn) -> bool:
    try:
        return found.layout.rank > 0
    except LayoutError:
        return False


def _axes(random: Random) -> Axes:
    names = random.sample(NAMES, random.choice((1, 2, 2, 2, 3, 3, 4)))
    if len(names) > 1 and random.random() < 0.1:  # few that lie together
        return tuple(
            (n, random.choice((2, 3, 3, 4, 5, 9)) if n == names[0] else None) for n in names
        )
    if len(names) > 1 and random.random() < 0.1:
        return tuple((n, random.choice(FEW) if n == names[-1] else None) for n in names)
    return tuple((n, random.choice(FIXED) if random.random() < 0.25 else None) for n in names)


def _drawn(random: Random, beside: Drawn | None) -> Drawn:
    axes = beside.axes if beside else _axes(random)
    names, last = [name for name, _ in axes], list[Digit]()
    if len(names) > 1 and (axes[-1][1] or 9) <= max(FEW) and random.random() < 0.7:
        digits, last = _planes(random, names)
    elif len(names) > 1 and random.random() < (0.3 if beside else 0.15):
        digits, last = _odd_below(random, names)
    elif beside and random.random() < 0.9:
        digits = list(_common(random, beside))
    else:
        blocks = BLOCKS if random.random() < 0.5 else random.choice((TWOS, (3, 7, *TWOS)))
        digits = [d for each in _wholes(random, names) for d in _digits(random, each, blocks)]
    random.shuffle(digits)
    if random.random() < 0.6:  # blocks come last, as engineers write them
        digits.sort(key=lambda each: bool(each.steps) and "%" in dict(each.steps))
    places = _places(random, [*digits, *last])
    if random.random() < 0.05:
        number = random.randrange(len(places))
        room = random.choice((" : 40", " : 64", " : 9", f" : {names[0].upper()} + 2"))
        places[number] = replace(places[number], room=room)
    if random.random() < 0.02:
        number, size = random.randrange(len(places)), random.choice((2, 4))
        swizzle = f"{random.choice(names)}%{size}"
        places[number] = replace(places[number], swizzle=swizzle)
    if random.random() < 0.08:
        number = random.randrange(len(places))
        places[number] = replace(places[number], first=random.choice((1, 2, 4, 5, 16)))
    if random.random() < 0.08:
        number = random.randrange(len(places))
        ends = [dict(d.steps[-1:]).get("%", 0) for d in places[number].digits]
        if len(ends) == 1 and ends[0] > 1 and not (places[number].first or places[number].swizzle):
            last = ends[0] - 1 + random.choice((0, 0, 0, 3))
            places[number] = replace(places[number], last=last)
    _pitched(random, places)
    range_ = ""
    if len(names) > 1 and random.random() < 0.02:
        one, other = random.sample(names, 2)
        range_ = random.choice((f" where {one} <= {other} + 3", f" where ({one} + {other})%2 == 1"))
    elif random.random() < 0.2:
        range_ = _multiples(random, axes, digits)
    start = f" offset {random.randint(1, 9)}" if random.random() < 0.06 else ""
    return Drawn(axes, tuple(places), (random.choice(FILLS), start, range_))


def _pitched(random: Random, places: list[Place]) -> None:
    """Rows that are rounded up, in some layouts that have an axis that is not cut or shifted."""
    if random.random() > 0.08:
        return
    for number, place in enumerate(places):
        digit = place.digits[0]
        if place == Place((Digit(digit.whole[:1]),)):
            block, extent = random.choice((2, 4, 4, 8, 16)), digit.whole[0].upper()
            places[number] = replace(place, room=f" : {block}*ceil({extent}/{block})")


def _multiples(random: Random, axes: Axes, digits: list[Digit]) -> str:
    """That extents are multiples of blocks, mostly of those that their axes are cut into."""
    found = list[str]()
    for name, extent in axes:
        if extent is None and random.random() < 0.7:
            ends = [end for d in digits if d.whole[-1] == name for end in d.ends()]
            sizes = BLOCKS if not ends or random.random() < 0.2 else ends
            found.append(f"{name.upper()} % {random.choice(sizes)} == 0")
    return f" where {', '.join(found)}" if found else ""


def _planes(random: Random, names: list[str]) -> tuple[list[Digit], list[Digit]]:
    """The last axis uncut and anywhere, and another uncut behind it; the rest as ever."""
    *others, few = names
    long = random.choice(others)
    digits = [Digit((few,))]
    for name in others:
        if name != long:
            digits += _digits(random, Digit((name,)), BLOCKS)
    return digits, [Digit((long,))]


def _odd_below(random: Random, names: list[str]) -> tuple[list[Digit], list[Digit]]:
    """The last axis cut by what is no power of two, and the block of another, which comes last."""
    other = random.choice(names[:-1])
    top, block = Digit((other,)).cut(random.choice((4, 8, 16, 16, 32)))
    odd = random.choice((3, 3, 5, 7, 9))
    inner = Digit((names[-1],))
    digits = [top]
    if random.random() < 0.6:
        above, inner = inner.cut(odd * random.choice((4, 8, 16)))
        digits.append(above)
    digits += inner.cut(odd) if random.random() < 0.7 else [inner]
    for name in names[:-1]:
        if name != other:
            digits += _digits(random, Digit((name,)), BLOCKS)
    return digits, [block]


def _wholes(random: Random, names: list[str]) -> list[Digit]:
    """The axes, of which two may be read as one, mostly neighbours."""
    if len(names) < 2 or random.random() > 0.12:
        return [Digit((name,)) for name in names]
    first = random.randrange(len(names) - 1)
    both = names[first : first + 2] if random.random() < 0.8 else random.sample(names, 2)
    return [Digit(tuple(both)), *(Digit((name,)) for name in names if name not in both)]


def _digits(random: Random, whole: Digit, blocks: tuple[int, ...]) -> list[Digit]:
    """The digits of a whole: cut at most three times, each time one of those that there are."""
    found = [whole]
    for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3))):
        number = random.randrange(len(found))
        radix = dict(reversed(found[number].steps[-1:])).get("%")
        sizes = [b for b in blocks if radix is None or b < radix]
        if radix is not None and random.random() < 0.95:
            sizes = [b for b in sizes if radix % b == 0]
        sizes = [b for b in sizes if b * max([1, *found[number].ends()]) <= MOST_BLOCK]
        if sizes:
            found[number : number + 1] = found[number].cut(random.choice(sizes))
    return found


def _common(random: Random, beside: Drawn) -> Iterator[Digit]:
    """The digits of the same wholes, cut where the other's are, in part, and once more."""
    theirs = [digit for place in beside.places for digit in place.digits]
    for whole in sorted({digit.whole for digit in theirs}):
        ends = {end for digit in theirs if digit.whole == whole for end in digit.ends()}
        kept = sorted(end for end in ends if random.random() < 0.6)
        largest = max([1, *ends])
        if random.random() < 0.3 and largest * 4 <= MOST_BLOCK:
            kept.append(largest * random.choice((2, 3, 4)))
        below = Digit(whole)
        for end in reversed(kept):
            above, below = below.cut(end)
            yield above
        yield below


def _places(random: Random, digits: list[Digit]) -> list[Place]:
    places = list[Place]()
    while digits:
        count = 1 if random.random() < 0.85 else random.randint(1, min(3, len(digits)))
        places.append(Place(tuple(digits[:count])))
        digits = digits[count:]
    return places


def shapes(random: Random, layouts: tuple[Drawn, ...], count: int) -> list[Shape]:
    """Shapes that the layouts take, at the ends of their blocks and beside them."""
    meant, found = [each.layout for each in layouts], set[Shape]()
    for _ in range(8 * count):
        shape = tuple(
            random.choice(_borders(random, layouts, name)) if extent is None else extent
            for name, extent in layouts[0].axes
        )
        if len(found) < count and all(_is_small(each, shape) for each in meant):
            found.add(shape)
    return sorted(found)


def _borders(random: Random, layouts: tuple[Drawn, ...], axis: str) -> list[int]:
    near = list[int]()
    for layout in layouts:
        for end in layout.ends(axis):
            near += [end - 1, end, end + 1, 2 * end - 1, 2 * end, 2 * end + 1, 3 * end]
    uncut = UNCUT if random.random() < 0.4 else ()
    return [1, 2, 3, *uncut, *(each for each in near if each > 0)]


def _is_small(layout: Layout, shape: Shape) -> bool:
    try:
        return 0 < max(prod(shape), prod(layout.physical_shape(shape))) <= MOST_SLOTS
    except ValueError:
        return False


Long = tuple[Drawn, tuple[Shape, ...], int]
"""A layout, shapes of which axes are long, and the bytes of an element."""


def with_long_axes(random: Random) -> Long:
    """What is moved by whole tiles, by units that are no power of two, or by blocks of 16 bytes."""
    return random.choice((_exchanged, _panels, _blocks))(random)


def _exchanged(random: Random) -> Long:
    """Axes in another order, none of them cut."""
    names = random.sample(NAMES, random.choice((2, 2, 3)))
    places = tuple(Place((Digit((name,)),)) for name in random.sample(names, len(names)))
    found = set[Shape]()
    for _ in range(3):
        extents = [random.choice(LONG), random.choice(LONG), 1][: len(names)]
        found.add(tuple(random.sample(extents, len(extents))))
    return Drawn(tuple((name, None) for name in names), places), tuple(sorted(found)), 1


def _panels(random: Random) -> Long:
    """Rows cut into panels of 3 to 31."""
    unit = random.choice([each for each in range(3, 32) if each & (each - 1)])
    width = random.choice([each for each in (1, 1, 2, 4) if unit * each < 64])
    rows, (above, below) = Digit(("k",)), Digit(("m",)).cut(unit)
    places = tuple(Place((each,)) for each in (above, rows, below))
    most, found = MOST_SLOTS // unit - 1, set[Shape]()
    for _ in range(3):
        count = random.randint(2, 36)
        more = random.choice((0, 0, 1, unit - 1))
        found.add((random.randint(2, most // (count + 1)), unit * count + more))
    return Drawn((("k", None), ("m", None)), places), tuple(sorted(found)), width


def _blocks(random: Random) -> Long:
    """Two axes cut into blocks that are 16 bytes together."""
    width = random.choice((1, 1, 2, 4))
    few = random.choice([each for each in (2, 4, 8) if 16 // width // each > 1])
    (one, low), (other, least) = Digit(("a",)).cut(16 // width // few), Digit(("b",)).cut(few)
    digits = random.sample((one, other), 2) + random.sample((low, least), 2)
    shapes = {tuple(random.choice((*LONG, 24, 80)) for _ in range(2)) for _ in range(3)}
    few_shapes = tuple(sorted((min(a, MOST_SLOTS // b - 8), b) for a, b in shapes))
    places = tuple(Place((each,)) for each in digits)
    return Drawn((("a", None), ("b", None)), places), few_shapes, width


Several = tuple[Drawn, ...]


def simpler(layouts: Several, shape: Shape) -> Iterator[tuple[Several, Shape]]:
    """Layouts of the same axes that are one step simpler, or a smaller shape, the boldest first."""
    for number in range(len(shape)) if len(shape) > 1 else ():
        without = tuple(_without(each, layouts[0].axes[number][0]) for each in layouts)
        yield without, (*shape[:number], *shape[number + 1 :])
    for number, each in enumerate(layouts):
        for one in _simpler(each):
            yield (*layouts[:number], one, *layouts[number + 1 :]), shape
    for number, (name, extent) in enumerate(layouts[0].axes):
        if extent is not None:
            free = (*layouts[0].axes[:number], (name, None), *layouts[0].axes[number + 1 :])
            yield tuple(replace(each, axes=free) for each in layouts), shape
    for number, extent in enumerate(shape):
        for less in sorted({1, extent // 2, extent - 1} - {0, extent}):
            if layouts[0].axes[number][1] is None:
                yield layouts, (*shape[:number], less, *shape[number + 1 :])


def shrunk(
    layouts: Several, shape: Shape, fails: Callable[[Several, Shape], bool]
) -> tuple[Several, Shape]:
    """The simplest layouts and shape that still fail."""
    progress = True
    while progress:
        progress = False
        for fewer, less in simpler(layouts, shape):
            small = all(_is_taken(each) and _is_small(each.layout, less) for each in fewer)
            if small and fails(fewer, less):
                layouts, shape, progress = fewer, less, True
                break
    return layouts, shape


def _without(layout: Drawn, axis: str) -> Drawn:
    places = list[Place]()
    for place in layout.places:
        kept = tuple(
            replace(digit, whole=tuple(name for name in digit.whole if name != axis))
            for digit in place.digits
            if digit.whole != (axis,)
        )
        if kept:
            swizzle = "" if place.swizzle.startswith(axis) else place.swizzle
            room = "" if f" {axis.upper()} " in place.room else place.room
            places.append(Place(kept, room, swizzle, place.first, place.last))
    fill, start, range_ = layout.clauses
    gone = (f"{axis} ", f"{axis})", f"{axis.upper()} ")
    range_ = "" if any(each in range_ for each in gone) else range_
    axes = tuple(each for each in layout.axes if each[0] != axis)
    copies = tuple(name for name in layout.copies if name != axis)
    return Drawn(axes, tuple(places), (fill, start, range_), copies)


def _simpler(layout: Drawn) -> Iterator[Drawn]:
    for number, clause in enumerate(layout.clauses):
        if clause:
            clauses = ("" if k == number else each for k, each in enumerate(layout.clauses))
            yield replace(layout, clauses=tuple(clauses))  # type: ignore[arg-type]
    for number, place in enumerate(layout.places):

        def with_it(*new: Place, at: int = number) -> Drawn:
            return replace(layout, places=(*layout.places[:at], *new, *layout.places[at + 1 :]))

        if place.room or place.swizzle or place.first or place.last:
            yield with_it(Place(place.digits))
        if len(place.digits) > 1:
            yield with_it(*(Place((digit,)) for digit in place.digits))
    digits = {digit for place in layout.places for digit in place.digits}
    for digit in sorted(digits, key=str):
        if digit.steps and digit.steps[-1][0] == "%":
            below = replace(digit, steps=digit.steps[:-1])
            above = replace(digit, steps=(*digit.steps[:-1], ("/", digit.steps[-1][1])))
            if above in digits:
                yield _swapped(layout, {digit: None, above: below})
                yield _swapped(layout, {above: None, digit: below})
    for whole in sorted({digit.whole for digit in digits if len(digit.whole) > 1}):
        some = {d: replace(d, whole=whole[1:]) for d in digits if d.whole == whole}
        apart = _swapped(layout, some)
        yield replace(apart, places=(Place((Digit(whole[:1]),)), *apart.places))


def _swapped(layout: Drawn, new: dict[Digit, Digit | None]) -> Drawn:
    """The layout with some digits replaced, or left out for ``None``."""
    places = list[Place]()
    for place in layout.places:
        swapped = [new.get(digit, digit) for digit in place.digits]
        kept = tuple(digit for digit in swapped if digit is not None)
        if kept:
            places.append(replace(place, digits=kept))
    return replace(layout, places=tuple(places))
