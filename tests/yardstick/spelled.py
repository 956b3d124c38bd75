"""Right layouts in the spellings that engineers use.

A layout is drawn as digits: axes are cut into blocks, the digits are ordered, and each run of
digits is written as coordinates, a tuple, or a flat sum with strides. Each digit, ceiling, pitch
and condition is written in one of its usual spellings. By construction each element has a slot of
its own, and the declared extents hold all coordinates; `judging.fault_of` counts that again.

The texts are a yardstick, so this generator does not change: the same seed gives the same texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

AXES = ("n", "c", "h", "w", "k", "t", "d", "b")
MOST_DIGITS = 6
BLOCKS = (2, 3, 4, 4, 8, 8, 16, 16, 32, 64)


@dataclass(frozen=True)
class Axis:
    """An axis: its name, its extent as texts name it, and that extent where it is a number."""

    name: str
    extent: str
    number: int | None = None

    @property
    def declared(self) -> str:
        return self.name if self.extent == self.name.upper() else f"{self.name}: {self.extent}"


@dataclass(frozen=True)
class Digit:
    """A digit: its value and extent as they are written, and its extent where it is a number.

    ``natural`` says that the extent of the value needs no declaration.
    """

    value: str
    extent: str
    number: int | None = None
    natural: bool = True


@dataclass
class Draft:
    """Axes, coordinates as they are written, and conditions on extents."""

    axes: list[Axis]
    coordinates: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        axes = ", ".join(axis.declared for axis in self.axes)
        where = f" where {', '.join(dict.fromkeys(self.where))}" if self.where else ""
        return f"layout L({axes}) = [{', '.join(self.coordinates)}]{where}"


def spelled(random: Random) -> str:
    """Draw a layout `L`."""
    if random.random() < 0.06:
        return picked(random).text
    digits = list[Digit]()
    while not 1 < len(digits) <= MOST_DIGITS:
        draft = Draft(axes(random))
        digits = [each for axis in draft.axes for each in cut(random, axis, draft)]
    if random.random() < 0.7:
        random.shuffle(digits)
    if random.random() < 0.08:
        digits = moved(random, digits)
    flat = random.random() < 0.1
    while digits:
        count = len(digits) if flat else random.choice((1, 1, 1, 1, 1, 2, 2, 3))
        group, digits = digits[:count], digits[count:]
        draft.coordinates.append(coordinate(random, group))
    return draft.text


# --- Axes and digits ---------------------------------------------------------


def axes(random: Random) -> list[Axis]:
    """Draw one to four axes; about one in six has a fixed extent."""
    found = list[Axis]()
    for name in random.sample(AXES, random.choice((1, 2, 2, 3, 3, 4))):
        if random.random() < 0.15:
            number = random.choice((2, 3, 4, 5, 8, 16))
            found.append(Axis(name, str(number), number))
        else:
            found.append(Axis(name, name.upper()))
    return found


def is_power(number: int) -> bool:
    return number > 1 and number & (number - 1) == 0


def cut(random: Random, axis: Axis, draft: Draft) -> list[Digit]:
    """Cut an axis into digits, most significant first."""
    blocks = random.choices(BLOCKS, k=random.choice((0, 0, 1, 1, 1, 2)))
    if axis.number is not None:
        blocks = [each for each in blocks if axis.number % each == 0 and axis.number > each][:1]
    if not blocks:
        return [Digit(axis.name, axis.extent, axis.number)]
    whole = 1
    found = list[Digit]()
    for block in blocks:
        value, natural = low_digit(random, axis.name, whole, block)
        found.insert(0, Digit(value, str(block), block, natural))
        whole *= block
    if axis.number is not None:
        extent, number = str(axis.number // whole), axis.number // whole
    elif random.random() < 0.25:
        draft.where.append(f"{axis.extent} % {whole} == 0")
        extent, number = f"{axis.extent}/{whole}", None
    else:
        extent, number = ceiling(random, axis.extent, whole), None
    found.insert(0, Digit(top_digit(random, axis.name, whole), extent, number))
    return found


def top_digit(random: Random, name: str, whole: int) -> str:
    if is_power(whole) and random.random() < 0.25:
        return f"(c >> {whole.bit_length() - 1})".replace("c", name)
    return random.choice((f"{name}/{whole}", f"{name}/{whole}", f"{name}//{whole}"))


def low_digit(random: Random, name: str, below: int, block: int) -> tuple[str, bool]:
    """Write ``name/below%block``; also whether its extent is natural."""
    whole = below * block
    over = name if below == 1 else f"{name}/{below}"
    plain = [f"{over}%{block}"] * 4
    if below > 1:
        plain += [f"{name}%{whole}/{below}", f"({name}/{below})%{block}"]
    if is_power(block):
        plain += [f"({over} & {block - 1})"]
        if is_power(below):
            plain += [f"({name} >> {below.bit_length() - 1} & {block - 1})"]
    if random.random() < 0.05:
        return f"({over} - {name}/{whole}*{block})", False
    return random.choice(plain), True


def ceiling(random: Random, extent: str, by: int) -> str:
    """Write how many blocks hold an extent."""
    found = [
        *[f"ceil({extent}/{by})"] * 20,
        f"(({extent} + {by - 1})/{by})",
        f"(({extent} + {by} - 1)/{by})",
        f"(({extent} - 1)/{by} + 1)",
    ]
    if is_power(by):
        found.append(f"(({extent} + {by - 1}) >> {by.bit_length() - 1})")
    return random.choice(found)


def moved(random: Random, digits: list[Digit]) -> list[Digit]:
    """Swizzle, rotate or reverse one digit, which stays below its extent."""
    place = random.randrange(len(digits))
    digit = digits[place]
    others = [each for each in digits if each is not digit]
    other = random.choice(others).value if others else None
    ways = [f"({digit.extent} - 1 - {digit.value})"]
    if digit.number is not None:
        ways = [f"({digit.number - 1} - {digit.value})"]
        if other is not None:
            ways.append(f"(({digit.value} + {other})%{digit.number})")
            if is_power(digit.number):
                ways += [f"({digit.value} ^ {other}%{digit.number})"] * 2
                ways += [f"({digit.value} ^ ({other} & {digit.number - 1}))"]
    value = random.choice(ways)
    return [*digits[:place], Digit(value, digit.extent, digit.number, False), *digits[place + 1 :]]


# --- Coordinates -------------------------------------------------------------


def coordinate(random: Random, group: Sequence[Digit]) -> str:
    """Write digits, most significant first, as one coordinate."""
    if len(group) == 1:
        digit = group[0]
        if random.random() < 0.1:
            return f"{digit.value} : {pitch(random, digit.extent)}"
        declared = not digit.natural and random.random() < 0.5
        return f"{digit.value} : {digit.extent}" if declared else digit.value
    if random.random() < 0.28:
        parts = [each.value if each.natural else f"{each.value} : {each.extent}" for each in group]
        return f"({', '.join(parts)})"
    extents = [each.extent for each in group]
    if random.random() < 0.15:
        place = random.randrange(1, len(group))
        extents[place] = f"({pitch(random, extents[place])})"
    strides = [atom(each) for each in extents[1:]]
    total = "*".join(atom(each) for each in extents)
    sum_ = horner(group, strides) if random.random() < 0.5 else weighted(random, group, strides)
    return f"{sum_} : {total}"


def pitch(random: Random, extent: str) -> str:
    """Write an extent with some slack: rounded up, or a few more."""
    k = random.choice((2, 4, 8, 16))
    return random.choice(
        (
            *[f"roundup({extent}, {k})"] * 4,
            f"({extent} + {k - 1})/{k}*{k}",
            f"({extent} + {k - 1}) & -{k}",
            f"{extent} + {k}",
            f"{extent} + 1",
            f"{extent} + ({k} - {extent}%{k})%{k}",
            f"{extent} + 1 - {extent}%2",
        )
    )


def atom(text: str) -> str:
    """Put parentheses round a text that is no operand of a product."""
    if text.isalnum() or (text.startswith(("ceil(", "roundup(")) and text.count("(") == 1):
        return text
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and place + 1 < len(text):
            return f"({text})"
    return text


def horner(group: Sequence[Digit], strides: Sequence[str]) -> str:
    found = group[0].value
    for digit, stride in zip(group[1:], strides, strict=True):
        found = f"{atom(found)}*{stride} + {digit.value}"
    return found


def weighted(random: Random, group: Sequence[Digit], strides: Sequence[str]) -> str:
    found = [
        "*".join([atom(digit.value), *strides[place:]]) if strides[place:] else digit.value
        for place, digit in enumerate(group)
    ]
    if random.random() < 0.3:
        random.shuffle(found)
    return " + ".join(found)


# --- Layouts of their own kind -----------------------------------------------


def opened(*names: str) -> list[Axis]:
    return [Axis(name, name.upper()) for name in names]


def picked(random: Random) -> Draft:
    """Draw a layout that is no order of digits: colours, halves, rings, triangles, shuffles."""
    k = random.choice((2, 4, 8, 16))
    r = random.choice((8, 64, 100, 1024))
    pixels = [*opened("h", "w"), Axis("c", "3", 3)]
    return random.choice(
        (
            lambda: Draft(pixels, ["h", "w*3 + 2 - c : W*3"]),
            lambda: Draft(pixels, ["(h*W + w)*3 + 2 - c : H*W*3"]),
            lambda: Draft(pixels, ["(H - 1 - h)*W*3 + w*3 + c : H*W*3"]),
            lambda: Draft(opened("s", "d"), ["s", "d%(D/2)*2 + d/(D/2) : D"], ["D % 2 == 0"]),
            lambda: Draft(opened("s", "d"), ["s", "d%2*(D/2) + d/2 : D"], ["D % 2 == 0"]),
            lambda: Draft(
                opened("n", "c", "h"), ["n", f"c%{k}*(C/{k}) + c/{k} : C", "h"], [f"C % {k} == 0"]
            ),
            lambda: Draft(opened("t", "d"), [f"t%{r}", "d"], [f"T <= {r}"]),
            lambda: Draft(opened("t", "s"), [f"(t + s)%(T + {k}) : T + {k}", "s"]),
            lambda: Draft(
                [Axis("i", "N"), Axis("j", "N")], ["i*(i + 1)/2 + j : N*(N + 1)/2"], ["j <= i"]
            ),
            lambda: Draft([Axis("i", "N"), Axis("j", "N")], ["i", "(j + i)%N : N"], []),
            lambda: Draft(
                opened("m", "k"), [f"(m*roundup(K, {k}) + k) ^ m%{k} : M*roundup(K, {k})"]
            ),
            lambda: Draft(opened("h", "w"), [f"h*max(W, {k}) + w : H*max(W, {k})"]),
        )
    )()
