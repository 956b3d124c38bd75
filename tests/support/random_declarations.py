"""Random declarations: layouts that are right by how they are made, and layouts of any arithmetic.

`right` and `swizzled` cover each axis once; `any_arithmetic` is made of whatever the language has,
over few elements, and is mostly wrong. Which is which plain integers say, in `stands`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from proving import shapes, wrong_at
from texts import module

from layoutdsl import Layout, LayoutError


def right(random: Random, block: bool) -> str:
    """A declaration whose coordinates are digits, each axis covered once.

    Tuples join digits of different axes; with ``block`` they join any, and may be cut again.
    """
    axes = random.sample("abc", random.choice([1, 1, 2, 2, 2, 3]))
    declared, places, where = [], list[str](), list[str]()
    for axis in axes:
        match random.randrange(8):
            case 0:
                declared.append(f"{axis}: {random.randint(1, 9)}")
            case 1 if len(axes) > 1:
                declared.append(f"{axis}: N")
            case _:
                declared.append(axis)
        places += digits(random, axis)
    random.shuffle(places)
    places = list(fused(random, places, block))
    if random.random() < 0.3:
        number = random.randrange(len(places))
        places[number : number + 1] = list(padded(random, places[number]))
    if random.random() < 0.2:
        constant = random.randint(0, 2)
        text = f"{constant} : {constant + random.randint(1, 2)}"
        places.insert(random.randrange(len(places) + 1), text)
    start = f" offset {random.randint(1, 9)}" if random.random() < 0.2 else ""
    symbols = [name.split(": ")[-1].upper() for name in declared]
    named = [name for name in symbols if name.isalpha()]
    if named and random.random() < 0.3:
        name, number = random.choice(named), random.randint(2, 6)
        where.append(
            random.choice(
                [
                    f"{name} % {number} == 0",
                    f"{name} >= {number}",
                    f"{name} in {number}..{number + 7}",
                    f"{name} != {number}",
                ]
            )
        )
    ending = f" where {', '.join(where)}" if where else ""
    return f"layout L({', '.join(declared)}) = [{', '.join(places)}]{start}{ending}"  # fmt: skip


def digits(random: Random, whole: str) -> list[str]:
    """Cut a whole by up to three radices; every digit in one of its spellings."""
    radices = [random.choice([2, 2, 3, 4]) for _ in range(random.choice([0, 1, 1, 2, 2]))]
    if not radices:
        return [whole]
    found, below = [], 1
    for radix in radices:
        cut = f"{whole}/{below}" if below > 1 else whole
        above = f"{whole}%{below * radix}"
        found.append(random.choice([f"{cut}%{radix}", f"{above}/{below}" if below > 1 else above]))
        below *= radix
    return [*found, f"{whole}/{below}"]


def fused(random: Random, places: list[str], block: bool) -> Iterator[str]:
    """Join neighbours to tuples, and cut some tuples again."""
    while places:
        first, *places = places
        if not (places and random.random() < 0.25 and (block or places[0][0] != first[0])):
            yield first
            continue
        second, *places = places
        whole = f"({first}, {second})"
        number = random.choice([2, 3, 4])
        cut = [f"{whole}/{number}", f"{whole}%{number}"]
        yield from random.choice([[whole], cut, cut[::-1]]) if block else [whole]


def padded(random: Random, place: str) -> Iterator[str]:
    """The same place with more room than it needs, where its extent is plain."""
    digit = re.fullmatch(r"(\w)(?:/\d+)?%(\d+)", place)
    if re.fullmatch(r"[abc]", place):
        extent = place.upper()
        yield random.choice([f"{place} : {extent} + 2", f"{place} : roundup({extent}, 4)",
                             f"{place} : max({extent}, 5)"])  # fmt: skip
    elif digit is not None:
        yield f"{place} : {int(digit[2]) + random.randint(1, 3)}"
    else:
        yield place


def mutated(random: Random, text: str) -> str:
    """The text with one number, operator or place changed."""
    head, body = text.split(" = ", 1)
    match random.randrange(5):
        case 0:
            step = random.choice([-1, 1])
            body = changed(random, body, r"\d+", lambda number: str(max(0, int(number) + step)))
        case 1:
            body = changed(random, body, "[/%]", lambda sign: "%" if sign == "/" else "/")
        case 2:
            body = changed(random, body, r"\b[abc]\b", lambda _: random.choice("abc"))
        case 3:
            body = changed(random, body, r" : [^,\]]+(?=[,\]])", lambda _: "")
        case _:
            body = changed(random, body, r"[^,\[\]()]+, ", lambda _: "")
    return f"{head} = {body}"  # fmt: skip


def changed(random: Random, text: str, pattern: str, change: Callable[[str], str]) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    chosen = random.choice(found)
    return text[: chosen.start()] + change(chosen[0]) + text[chosen.end() :]


def read(text: str) -> Layout | None:
    """The layout, also where its text alone shows that it is wrong; nothing where it is no text."""
    try:
        return module(f"{text}\nrefute L")["L"]
    except LayoutError:
        return None


def swizzled(random: Random) -> str:
    """A declaration of digits, some of which others move, turn round, mix with or step over."""
    fixed = random.random() < 0.5
    axes = {name: random.choice([2, 3, 4, 5, 6, 8, 9, 12]) for name in random.sample("abc", 2)}
    declared = [f"{name}: {extent}" if fixed else name for name, extent in axes.items()]
    places = [each for name in axes for each in digits(random, name)]
    random.shuffle(places)
    for _ in range(random.choice([1, 1, 2])):
        number = random.randrange(len(places))
        others = [each for place, each in enumerate(places) if place != number and ":" not in each]
        places[number] = moved(random, places[number], random.choice(others or ["1"]))
    start = f" offset {random.randint(1, 9)}" if random.random() < 0.2 else ""
    return f"layout L({', '.join(declared)}) = [{', '.join(places)}]{start}"


def moved(random: Random, place: str, other: str) -> str:
    """A digit, and what another one makes of it."""
    if ":" in place:
        return place
    axis = re.search("[abc]", place)
    extent = axis[0].upper() if axis else "1"
    block = random.choice([2, 3, 4, 5, 8])
    return random.choice(
        [
            f"{place} ^ {other}%{random.choice([2, 4, 8])}",
            f"{place} | {other}%{random.choice([2, 4, 8])}",
            f"{place}*{random.choice([2, 4, 8])} | {other}%{random.choice([2, 4, 5, 8])}",
            f"({place}%{block} + {other})%{block}",
            f"{place} + {other}",
            f"{place} + {random.randint(1, 5)}",
            f"{place} - {other} + {random.randint(0, 9)}",
            f"{place}*{random.randint(2, 3)} + {random.randint(0, 1)}",
            f"{extent} - 1 - {place}",
            f"{place} + {place}/{block}",
            f"{place} - {place}/{block}*{block}",
            f"min({place}, {other})",
            f"max({place}, {random.randint(0, 3)})",
            f"{place} : {random.randint(3, 14)}",
            f"{place} & {random.randint(1, 15)}",
        ]
    )


def any_arithmetic(random: Random) -> str:
    """A declaration of a few elements, each coordinate any expression at all."""
    axes = {name: random.randint(2, 6) for name in random.sample("abc", random.choice([1, 1, 2]))}
    declared = ", ".join(f"{name}: {extent}" for name, extent in axes.items())
    places = [arithmetic(random, [*axes], 3) for _ in range(random.choice([1, 2, 2, 3]))]
    if random.random() < 0.3:
        number = random.randrange(len(places))
        places[number] += f" : {random.randint(2, 12)}"
    return f"layout L({declared}) = [{', '.join(places)}]"


def arithmetic(random: Random, axes: list[str], depth: int) -> str:
    """An expression over axes and small numbers."""
    if depth == 0 or random.random() < 0.3:
        return random.choice([*axes, *axes, str(random.randint(1, 9))])
    left, right = (arithmetic(random, axes, depth - 1) for _ in "lr")
    number = random.randint(2, 7)
    return random.choice(
        [
            f"({left} + {right})",
            f"({left} - {right})",
            f"{left}*{random.choice([left, right, str(number)])}",
            f"({left})/{number}",
            f"({left})%{number}",
            f"({left} ^ ({right})%{random.choice([2, 4, 8])})",
            f"({left} & {number})",
            f"({left} | ({right})%{random.choice([2, 4, 8])})",
            f"({left} << 2 | ({right})%{random.choice([3, 4, 5])})",
            f"{random.choice(['min', 'max'])}({left}, {right})",
        ]
    )


def triangular(random: Random) -> str:
    """A declaration of digits that holds only part of a shape."""
    places = ["i", "j"] if random.random() < 0.4 else [*digits(random, "i"), *digits(random, "j")]
    random.shuffle(places)
    condition = random.choice(
        ["j <= i", "i < j", "i + j < N", "j <= i + 2", "i%2 == j%2", "i >= 1"]
    )
    return f"layout L(i: N, j: N) = [{', '.join(places)}] where {condition}"


def drawn(random: Random) -> str:
    """A declaration of any of these kinds."""
    makers = (
        lambda: right(random, block=False),
        lambda: right(random, block=True),
        lambda: swizzled(random),
        lambda: swizzled(random),
        lambda: any_arithmetic(random),
        lambda: triangular(random),
    )
    return random.choice(makers)()


def stands(made: Layout, most: int, elements: int) -> bool:
    """Whether a layout is right at every shape of so many elements, by plain integers."""
    return not any(wrong_at(made, values) for values in shapes(made, most, elements))
