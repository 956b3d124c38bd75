"""Layouts drawn in the spellings that engineers use, right ones and subtly wrong ones.

A layout is drawn from its digits: axes are cut, the digits are ordered and grouped, and each group
is written as a coordinate, a tuple, or a flat sum with weights. Extents are spelled as people do:
`(C + 15)/16`, `(C - 1)/16 + 1`, `W + (8 - W%8)%8`. About a third of the layouts have a slip: a
capacity that a long axis exceeds, a weight of the wrong axis, a floor in place of a ceiling, a
buffer that is one block too small. Other layouts are drawn from families such as paged caches, ring
buffers, hashes, triangles and serpentines.

None of the other generators of `tests` writes such texts: see `random_layouts` and
`random_declarations`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

NAMES = ("b", "c", "h", "w", "n", "t", "d", "k", "s", "g", "r", "e")
TYPES = (
    *("u1", "u2", "i3", "u4", "u4", "i4", "u5", "u8", "i8", "u16", "i16", "i32", "u64"),
    *("u10", "i12", "u24"),
    *("f4", "f8", "f8e4m3", "bf16", "f16", "f32", "f64", "c64", "bool"),
)
CAPACITIES = (3, 7, 8, 16, 20, 64, 100, 100, 200, 256, 500, 512, 1000, 1024, 4096)
COPIES = "q"


@dataclass(frozen=True)
class Axis:
    """An axis: its name, and its extent as a declaration and as other texts name it."""

    name: str
    declared: str
    extent: str
    fixed: int | None = None

    @property
    def text(self) -> str:
        return self.name if not self.declared else f"{self.name}: {self.declared}"


@dataclass(frozen=True)
class Digit:
    """A digit of an axis: what is written, and its extent; a number where it is one."""

    value: str
    extent: str
    axis: str
    number: int | None = None


@dataclass
class Draft:
    """The parts of a declaration that is about to be written."""

    axes: list[Axis]
    places: list[str] = field(default_factory=list)
    extents: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    clauses: list[str] = field(default_factory=list)
    parameters: dict[str, int] = field(default_factory=dict)
    cut: int = 0
    slips: int = 0


@dataclass(frozen=True)
class Drawn:
    """A layout as text, with the name to take it by, and texts to go with it.

    Attributes:
        text: declares the layout `L`.
        name: `L`, or `L<16>` where it has a parameter.
        other: declares a layout `M` of the same tensors, to convert to.
        record: declares a record `R` with a field laid out as `L` is; empty where there is none.
    """

    text: str
    name: str = "L"
    other: str = ""
    record: str = ""


def drawn(random: Random) -> Drawn:
    """A layout and what goes with it; the language may refuse its text."""
    draft = family(random) if random.random() < 0.3 else digits(random, axes(random))
    element = with_clauses(draft, random)
    numbers = ", ".join(map(str, draft.parameters.values()))
    return Drawn(
        written("L", draft),
        f"L<{numbers}>" if numbers else "L",
        other(random, draft, element),
        record(random, draft),
    )


def written(name: str, draft: Draft) -> str:
    """The declaration."""
    places = [
        f"{place} : {extent}" if extent else place
        for place, extent in zip(draft.places, draft.extents, strict=True)
    ]
    cut = draft.cut
    body = (
        "; ".join([", ".join(places[:cut]), ", ".join(places[cut:])]) if cut else ", ".join(places)
    )
    where = [f"where {', '.join(draft.where)}"] if draft.where else []
    parameters = f"<{', '.join(draft.parameters)}>" if draft.parameters else ""
    declared = ", ".join(axis.text for axis in draft.axes)
    return " ".join([f"layout {name}{parameters}({declared}) = [{body}]", *draft.clauses, *where])


# --- Axes and digits ---------------------------------------------------------


def axes(random: Random) -> list[Axis]:
    """One to four axes: open, fixed, or of one extent."""
    names = random.sample(NAMES, random.choice((1, 2, 2, 2, 3, 3, 4)))
    found = list[Axis]()
    for name in names:
        match random.randrange(8):
            case 0:
                number = random.choice((1, 2, 3, 4, 5, 8, 12, 16))
                found.append(Axis(name, str(number), str(number), number))
            case 1 if len(names) > 1:
                found.append(Axis(name, "P", "P"))
            case _:
                found.append(Axis(name, "", name.upper()))
    return found


def ceiling(random: Random, extent: str, by: int) -> str:
    """How often `by` goes into an extent, rounded up, in one of its spellings."""
    if extent.isdecimal():
        return str(-(-int(extent) // by))
    spellings = [
        f"({extent} + {by - 1})/{by}",
        f"({extent} + {by} - 1)//{by}",
        f"ceil({extent}/{by})",
        f"(({extent} - 1)/{by} + 1)",
        f"roundup({extent}, {by})/{by}",
    ]
    if is_power(by):
        spellings.append(f"(({extent} + {by - 1}) >> {by.bit_length() - 1})")
    return random.choice(spellings)


def is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def cut(random: Random, axis: Axis, draft: Draft) -> list[Digit]:
    """The digits of an axis, lowest first, each in a spelling of its own."""
    radices = random.choices((2, 3, 4, 8, 16, 32, 6, 5), k=random.choice((0, 0, 1, 1, 1, 2)))
    name, found, below = axis.name, list[Digit](), 1
    for radix in radices:
        found.append(Digit(low_digit(random, name, below, radix), str(radix), name, radix))
        below *= radix
    if below == 1:
        return [Digit(name, axis.extent, name, axis.fixed)]
    extent = ceiling(random, axis.extent, below)
    slip = random.random()
    if axis.fixed is None and slip < 0.12:  # right only where the blocks divide the axis
        extent = f"{axis.extent}/{below}"
        if random.random() < 0.6:
            draft.where.append(f"{axis.extent} % {below} == 0")
        else:
            draft.slips += 1
    top = random.choice((f"{name}/{below}", f"{name}//{below}", f"{name}/{below}"))
    if is_power(below) and random.random() < 0.3:
        top = f"({name} >> {below.bit_length() - 1})"
    if axis.fixed is None and 0.12 < slip < 0.24:  # right only while the axis is short
        capacity = random.choice(CAPACITIES)
        top, extent = f"{name}/{below}%{capacity}", str(capacity)
        if random.random() < 0.4:
            draft.where.append(f"{axis.extent} <= {capacity * below}")
        else:
            draft.slips += 1
    number = int(extent) if extent.isdecimal() else None
    return [*found, Digit(top, extent, name, number)]


def low_digit(random: Random, name: str, below: int, radix: int) -> str:
    """The digit `name/below%radix`, in one of its spellings."""
    whole = below * radix
    over = name if below == 1 else f"{name}/{below}"
    spellings = [f"{over}%{radix}", f"{over}%{radix}"]
    if below > 1:
        spellings += [f"{name}%{whole}/{below}", f"({name}/{below})%{radix}"]
    if random.random() < 0.3:
        spellings.append(f"({over} - {name}/{whole}*{radix})")
    if is_power(radix):
        spellings.append(f"({over} & {radix - 1})")
        if is_power(below) and below > 1:
            spellings.append(f"({name} >> {below.bit_length() - 1} & {radix - 1})")
    return random.choice(spellings)


# --- Digits to coordinates ---------------------------------------------------


def digits(random: Random, given: Sequence[Axis]) -> Draft:
    """A layout of the digits of axes, with swizzles, pitches, sums and slips."""
    draft = Draft(list(given))
    parts = [each for axis in given for each in cut(random, axis, draft)]
    if random.random() < 0.75:
        random.shuffle(parts)
    if random.random() < 0.3:
        parts = moved(random, parts, {axis.name: axis for axis in given}, draft)
    while parts:
        count = random.choice((1, 1, 1, 2, 2, 3, 4, 7))
        group, parts = parts[:count], parts[count:]
        place, extent = joined(random, group, draft)
        draft.places.append(place)
        draft.extents.append(extent)
    if random.random() < 0.35:
        pitched(random, draft, random.randrange(len(draft.places)))
    if len(draft.places) > 1 and random.random() < 0.08:
        draft.cut = random.randint(1, len(draft.places) - 1)
    return draft


def moved(
    random: Random, parts: list[Digit], by_name: dict[str, Axis], draft: Draft
) -> list[Digit]:
    """The same digits, one of them exclusive-ored, rotated, skewed or reversed."""
    number = random.randrange(len(parts))
    part, others = parts[number], [each for k, each in enumerate(parts) if k != number]
    other = random.choice(others).value if others else "1"
    axis, radix = by_name.get(part.axis), part.number
    ways: list[tuple[str, str, int | None]] = []
    if radix and is_power(radix) and radix > 1:
        mask = random.choice((f"%{radix}", f" & {radix - 1}"))
        ways += [(f"({part.value} ^ ({other}{mask}))", part.extent, radix)] * 3
    if radix and radix > 1:
        step = random.choice(("", "2*", "3*"))
        ways += [(f"({part.value} + {step}({other}))%{radix}", part.extent, radix)] * 2
        ways.append((f"({radix - 1} - {part.value})", part.extent, radix))
    if axis is not None and part.value == axis.name:
        ways.append((f"({part.extent} - 1 - {part.value})", part.extent, radix))
        ways.append((f"({part.value} + {other})%{part.extent}", part.extent, radix))
        if axis.fixed is None and random.random() < 0.3:  # right only for powers of two
            ways.append((f"({part.value} ^ ({other})%4)", f"roundup({part.extent}, 4)", None))
            draft.slips += 1
    if not ways:
        return parts
    value, extent, count = random.choice(ways)
    return [
        *parts[:number],
        replace(part, value=value, extent=extent, number=count),
        *parts[number + 1 :],
    ]


def joined(random: Random, group: Sequence[Digit], draft: Draft) -> tuple[str, str]:
    """A coordinate of several digits, as a tuple or a flat sum, and its declared extent or none."""
    whole = "*".join(atom(each.extent) for each in group)
    if len(group) == 1:
        alone = group[0]
        needed = "%" in alone.value or "^" in alone.value or " - " in alone.value
        declared = needed and random.random() < 0.6
        return (
            alone.value,
            alone.extent if declared or (needed and not alone.extent.isdecimal()) else "",
        )
    if random.random() < 0.3:
        inner = [
            f"{each.value} : {each.extent}"
            if needs_extent(each) or random.random() < 0.15
            else each.value
            for each in group
        ]
        return f"({', '.join(inner)})", ""
    weights = [atom(each.extent) for each in group[1:]]
    if random.random() < 0.12:  # the weight of another axis: right for squares only
        wrong = random.randrange(len(weights))
        weights[wrong] = atom(random.choice([axis.extent for axis in draft.axes]))
        draft.slips += 1
    sum_ = horner(group, weights) if random.random() < 0.5 else terms(random, group, weights)
    if random.random() < 0.06:
        draft.slips += 1
        whole = "*".join([f"({group[0].extent} - 1)", *(atom(each.extent) for each in group[1:])])
        return sum_, f"max(1, {whole})"
    return sum_, whole if random.random() < 0.7 else ""


def needs_extent(part: Digit) -> bool:
    return not part.extent.isdecimal() and any(sign in part.value for sign in ("%", "^", " - "))


def atom(text: str) -> str:
    """The same text as an operand of a product."""
    plain = text.isalnum() or (text[0] == "(" and text[-1] == ")" and balanced(text[1:-1]))
    return text if plain else f"({text})"


def balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def horner(group: Sequence[Digit], weights: Sequence[str]) -> str:
    found = group[0].value
    for each, weight in zip(group[1:], weights, strict=True):
        found = (
            f"({found})*{weight} + {each.value}"
            if " " in found or "/" in found
            else (f"{found}*{weight} + {each.value}")
        )
    return found


def terms(random: Random, group: Sequence[Digit], weights: Sequence[str]) -> str:
    found = ["*".join([atom(each.value), *weights[number:]]) for number, each in enumerate(group)]
    if random.random() < 0.4:
        random.shuffle(found)
    return " + ".join(found)


def pitched(random: Random, draft: Draft, number: int) -> None:
    """Give a coordinate more room than it needs, or room that a long axis exceeds."""
    extent = draft.extents[number]
    if not extent:
        axis = next((each for each in draft.axes if each.name == draft.places[number]), None)
        if axis is None:
            return
        extent = axis.extent
    k = random.choice((2, 3, 4, 8, 16, 64))
    ways = [
        f"{extent} + {random.choice((1, 2, 7))}",
        f"roundup({extent}, {k})",
        f"{extent} + ({k} - ({extent})%{k})%{k}",
        f"({extent} + {k - 1})/{k}*{k}",
        f"max({extent}, {k})",
        f"{extent} + ({extent})%2",
        f"({extent} + {k - 1}) & -{k}",
    ]
    if not extent.isdecimal() and random.random() < 0.25:
        ways = [str(random.choice((*CAPACITIES, 32, 128)))]
        if extent.isalpha() and random.random() < 0.5:
            draft.where.append(f"{extent} <= {ways[0]}")
        else:
            draft.slips += 1
    draft.extents[number] = random.choice(ways)


# --- Families ----------------------------------------------------------------


def opened(*names: str) -> list[Axis]:
    return [Axis(name, "", name.upper()) for name in names]


def shared(*names: str) -> list[Axis]:
    return [Axis(name, "N", "N") for name in names]


def fixed(name: str, extent: int) -> Axis:
    return Axis(name, str(extent), str(extent), extent)


def laid(given: list[Axis], places: Sequence[str], *where: str) -> Draft:
    """A draft of coordinates as they stand, with their extents behind a colon."""
    parts = [each.split(" : ") for each in places]
    return Draft(
        given, [each[0] for each in parts], [each[1] if len(each) > 1 else "" for each in parts],
        list(where),
    )  # fmt: skip


def paged(random: Random) -> Draft:
    """Caches of keys and values in pages, whose table holds so many."""
    page, pages = random.choice((4, 8, 16, 32)), random.choice((8, 64, 100, 256, 1000, 4096))
    t = random.choice((f"t/{page}", f"(t >> {page.bit_length() - 1})"))
    low = random.choice((f"t%{page}", f"(t & {page - 1})"))
    where = (f"T <= {page * pages}",) if random.random() < 0.4 else ()
    return random.choice(
        (
            lambda: laid(
                opened("b", "t", "h", "d"),
                ["b", f"({t}%{pages}*H + h)*D + d : {pages}*H*D", low], *where,
            ),
            lambda: laid(
                opened("b", "t", "h", "d"),
                [f"(b*{pages} + {t})*{page}*H*D + (h*D + d)*{page} + {low}"
                 f" : {random.choice(('B', '(B + 1)'))}*{pages}*{page}*H*D"], *where,
            ),
            lambda: laid(opened("b", "t", "d"), ["b", f"{t} : {pages}", "d", low], *where),
            lambda: laid(opened("b", "t", "d"), [f"(b, {t} : {pages})", low, "d"], *where),
            lambda: laid(
                opened("t", "d"), [f"{t}*D*{page} + d*{page} + {low} : {pages}*{page}*D"], *where
            ),
        )
    )()  # fmt: skip


def ring(random: Random) -> Draft:
    """Ring buffers: a window, slack, a capacity."""
    r = random.choice((4, 10, 16, 100, 300, 1000, 4096))
    return random.choice(
        (
            lambda: laid(opened("t", "d"), [f"t%{r}", "d"]),
            lambda: laid(opened("t", "d"), [f"t%{r}", "d"], f"T <= {r}"),
            lambda: laid(opened("t", "d"), [f"t%(T + {r})", "d"]),
            lambda: laid(opened("t", "d"), [f"(t + {r})%T : T", "d"]),
            lambda: laid(opened("t", "s"), ["(t + s)%(T + 2) : T + 2", "s"]),
            lambda: laid(opened("b", "t", "d"), [f"(b*{r} + t%{r})*D + d : B*{r}*D"], f"T <= {r}"),
            lambda: laid(opened("b", "t", "d"), [f"(b*{r} + t)*D + d : B*{r}*D"]),
            lambda: laid(opened("t", "d"), [f"(t & {r | 7})", "d"]),
            lambda: laid(opened("t", "d"), [f"(T - 1 - t)%{r}", f"t/{r}", "d"]),
        )
    )()


def hashed(random: Random) -> Draft:
    """Indices spread by products and moduli, which collide from some extent on."""
    p = random.choice((31, 97, 251, 509, 1009, 4093, 16381, 65537))
    a, b = random.choice((1, 2, 3, 5, 16)), random.choice((1, 3, 7))
    return random.choice(
        (
            lambda: laid([*opened("i"), fixed("j", 2)], [f"(i*i + j)%{p}", "j"]),
            lambda: laid(opened("i", "j"), [f"(i*{a} + j*{b})%{p}", "j"]),
            lambda: laid(opened("i"), [f"i*{a}%{p}"]),
            lambda: laid(opened("i"), [f"i*{a}%{p}"], f"I <= {p}"),
            lambda: laid(opened("i", "j"), [f"(i*{a} + j)%{p}", f"i/{p}", "j"]),
            lambda: laid(opened("i", "j"), [f"(i*J + j)*{a}%{p} : {p}"]),
            lambda: laid(opened("i", "j"), [f"(i*J + j) ^ (i%{random.choice((2, 4, 8))}) : roundup(I*J, 8)"]),  # noqa: E501
            lambda: laid(opened("i", "j"), ["i*(i + 1)/2 + j : I*(I + 1)/2 + J"]),
        )
    )()  # fmt: skip


def flat(random: Random) -> Draft:
    """Channels in blocks, as flat sums with a ceiling for a weight."""
    k = random.choice((2, 4, 4, 8, 16))
    blocks = ceiling(random, "C", k)
    w = random.choice(("W", "(W + (8 - W%8)%8)", "roundup(W, 4)", "(W + 1)", "(W + W%2)"))
    rows = random.choice(("H", "H", "W"))
    total = f"N*{atom(blocks)}*{rows}*{w}*{k}"
    return laid(
        opened("n", "c", "h", "w"),
        [f"((n*{atom(blocks)} + c/{k})*{rows}*{w} + h*{w} + w)*{k} + c%{k} : {total}"],
    )


def halves(random: Random) -> Draft:
    """Interleaved halves, shuffled channels, colours in reverse."""
    g = random.choice((2, 3, 4, 8))
    even = random.random() < 0.7
    where = [f"C % {g} == 0"] if even else []
    return random.choice(
        (
            lambda: laid(
                opened("h", "c"), ["h", f"c%(C/{g})*{g} + c/(C/{g}) : C"], *where, f"C >= {g}"
            ),
            lambda: laid(opened("h", "c"), ["h", f"c%{g}*(C/{g}) + c/{g} : C"], *where),
            lambda: laid([*opened("h", "w"), fixed("c", 3)], ["h", "w*3 + 2 - c : 3*W"]),
            lambda: laid([*opened("h", "w"), fixed("c", 3)], ["h", "(w, 2 - c)"]),
            lambda: laid(
                [*opened("h", "w"), fixed("c", 3)], ["H - 1 - h", "w*3 + c : roundup(3*W, 4)"]
            ),
            lambda: laid(opened("h", "w"), ["h", "w + (W - 1 - 2*w)*(h%2) : W"]),
            lambda: laid(opened("h", "w"), ["h/2", "w/2", "(h%2, w%2)"]),
            lambda: laid(opened("h", "w"), ["h/2", "w", "h%2 ^ w%2"]),
            lambda: laid(
                opened("r", "c"), [f"r*(C + C/{8 * g}) + c + c/{8 * g} : R*(C + C/{8 * g})"]
            ),
            lambda: laid(opened("r", "c"), [f"r*(C + {g}) + c : R*(C + {g}) - {g}"]),
            lambda: laid(opened("r", "c"), [f"r*(C + {g}) + c : R*(C + {g}) - {g + 1}"]),
        )
    )()  # fmt: skip


def triangle(random: Random) -> Draft:
    """Packed triangles, bands, symmetric matrices; some in a buffer that is too small."""
    k = random.choice((1, 2, 3))
    return random.choice(
        (
            lambda: laid(shared("i", "j"), ["i*(i + 1)/2 + j : N*(N + 1)/2"], "j <= i"),
            lambda: laid(shared("i", "j"), ["i*(i - 1)/2 + j : N*(N - 1)/2 + 1"], "j < i"),
            lambda: laid(shared("i", "j"), ["i*(i + 1)/2 + j : N*(N + 1)/2"], "j <= i + 1"),
            lambda: laid(shared("i", "j"), ["i + j*(j + 1)/2 : N*(N + 1)/2"], "i <= j"),
            lambda: laid(shared("i", "j"), ["j*(2*N - j - 1)/2 + i : N*(N + 1)/2"], "j <= i"),
            lambda: laid(shared("i", "j"), ["j", f"i - j + {k} : {2 * k + 1}"],
                         f"i <= j + {k}", f"j <= i + {k}"),
            lambda: laid(shared("i", "j"), ["j", f"i - j + {k} : {2 * k}"],
                         f"i <= j + {k}", f"j <= i + {k}"),
            lambda: laid(shared("i", "j"), ["max(i, j)", "min(i, j)"], "i <= j"),
            lambda: laid(shared("i", "j"), ["i + j", "j"]),
            lambda: laid(shared("i", "j"), ["(i + j)%N : N", "j"]),
            lambda: laid(shared("i", "j"), ["(j - i)%N : N", "i"], f"i + j < N + {k}"),
            lambda: laid(shared("i", "j"), ["i/2", "j", "i%2"], "i%2 == j%2"),
        )
    )()  # fmt: skip


def steps(random: Random) -> Draft:
    """Strides with gaps, and products of indices."""
    k, j = random.choice((2, 3, 4, 8)), random.choice((2, 3, 4))
    return random.choice(
        (
            lambda: laid([*opened("i"), fixed("j", j)], [f"i*{k} + j"]),
            lambda: laid([*opened("i"), fixed("j", j)], [f"i*{k} + j : I*{k}"]),
            lambda: laid([*opened("i"), fixed("j", j)], [f"i*{k} + j*I : {k}*I + {j}*I"]),
            lambda: laid(opened("i", "j"), [f"i*{k} + j : I*{k} + J"]),
            lambda: laid(opened("i", "j"), [f"i*J + j*{k}"]),
            lambda: laid(opened("i", "j"), [f"i/{k}", f"j*{k} + i%{k} : J*{k}"]),
            lambda: laid(opened("i", "j"), [f"i*J/{k} : I*J", "j"]),
            lambda: laid(opened("i", "j"), [f"(i, j)/{k}", f"(i, j)%{k}"]),
            lambda: laid(opened("i", "j"), [f"(i*J + j)/{k}", f"(i*J + j)%{k}"]),
            lambda: laid(opened("i", "j"), [f"(i*J + j)%{k}", f"(i*J + j)/{k}"]),
            lambda: laid(
                opened("i", "j"), [f"(i*J + j)%(I*J/{k} + 1)", f"(i*J + j)/(I*J/{k} + 1)"]
            ),
        )
    )()  # fmt: skip


FAMILIES: tuple[Callable[[Random], Draft], ...] = (
    *(paged, ring, hashed, flat, halves, triangle, steps),
)


def family(random: Random) -> Draft:
    """A layout of one of the families, half of them with an axis more."""
    draft = random.choice(FAMILIES)(random)
    if random.random() < 0.35:
        more = random.choice([axis for axis in axes(random) if axis.declared != "P"] or opened("x"))
        if more.name not in {axis.name for axis in draft.axes}:
            draft.axes.insert(random.randint(0, len(draft.axes)), more)
            at = random.randint(0, len(draft.places))
            draft.places.insert(at, more.name)
            draft.extents.insert(at, "")
    return draft


# --- Clauses, companions -----------------------------------------------------


def with_clauses(draft: Draft, random: Random) -> str:
    """Add clauses, copies, a parameter and bits; return the element type, or nothing."""
    named = [axis.extent for axis in draft.axes if axis.fixed is None]
    element = random.choice(TYPES) if random.random() < 0.45 else ""
    placed = False
    if element and random.random() < 0.15:
        placed = True
        at = random.randint(0, len(draft.places))
        draft.places.insert(at, "bit")
        draft.extents.insert(at, "")
    if random.random() < 0.1:
        with_copies(draft, random)
    if random.random() < 0.07:
        with_parameter(draft, random)
    if element:
        draft.clauses.append(f"of {element}")
    fills = (
        ("fill any", "fill 0")
        if placed
        else (
            "fill any",
            "fill 0",
            "fill 1",
            "fill 31",
            "fill -3",
            "fill 0.5",
            "fill -inf",
            "fill zero_point",
        )
    )
    if random.random() < 0.3:
        draft.clauses.append(random.choice(fills))
    if random.random() < 0.1:
        starts = ["3", "16", *(f"{name}%4" for name in named), *(f"max(0, 8 - {n})" for n in named)]
        draft.clauses.append(f"offset {random.choice([*starts, *named])}")
    if named and random.random() < 0.15:
        name, k = random.choice(named), random.choice((2, 3, 4, 8))
        ranges = (f"{name} % {k} == 0", f"{name} <= {8 * k}", f"{name} in {k}..{9 * k}",
                  f"{name} >= {k}", f"{k} <= {name} < {5 * k}", f"{name} != {k}")  # fmt: skip
        draft.where.append(random.choice(ranges))
    return element


def with_copies(draft: Draft, random: Random) -> None:
    """Add an axis of copies as a coordinate, or into a pair with one."""
    if any(axis.name == COPIES for axis in draft.axes):
        return
    count = random.choice(("2", "3", "4", "8"))
    draft.axes.insert(
        random.randint(0, len(draft.axes)), Axis(COPIES, f"{count} broadcast", count, int(count))
    )
    at = random.randrange(len(draft.places))
    if draft.extents[at] or random.random() < 0.5:
        draft.places.insert(at, COPIES)
        draft.extents.insert(at, "")
    else:
        draft.places[at] = f"({draft.places[at]}, {COPIES})"


def with_parameter(draft: Draft, random: Random) -> None:
    """Turn a number of the text into a parameter."""
    for number in random.sample(("16", "8", "4", "3", "2"), 5):
        whole = re.compile(rf"([/%]){number}(?![0-9])")
        places = [whole.sub(r"\1p", each) for each in draft.places]
        if places != draft.places:
            draft.places = places
            draft.parameters["p"] = int(number)
            return


def other(random: Random, draft: Draft, element: str) -> str:
    """A layout `M` of the same tensors; its fill and its range are its own."""
    given = [axis for axis in draft.axes if axis.name != COPIES]
    found = digits(random, given)
    if random.random() < 0.1:
        with_copies(found, random)
    if element and random.random() < 0.5:
        found.clauses.append(f"of {element}")
    if random.random() < 0.3:
        found.clauses.append(random.choice(("fill any", "fill 0", "fill 1")))
    return written("M", found)


def record(random: Random, draft: Draft) -> str:
    """A record with a field that is laid out as the draft, beside or behind another; or nothing."""
    if draft.parameters or draft.cut or any(axis.declared == "P" for axis in draft.axes):
        return ""
    indices = {axis.name for axis in draft.axes}
    if any(word in indices for each in draft.where for word in each.replace("%", " ").split()):
        return ""
    given = [axis for axis in draft.axes if axis.name != COPIES]
    if len(given) != len(draft.axes) or "bit" in draft.places:
        return ""
    names = [axis.name for axis in given if axis.fixed is None]
    if not names or len({axis.extent for axis in given}) < len(given):
        return ""
    places = [
        f"{place} : {extent}" if extent else place
        for place, extent in zip(draft.places, draft.extents, strict=True)
    ]
    one, two = (
        random.choice(("u4", "u8", "i8", "f16", "u16", "u1")),
        random.choice(("u8", "f16", "i32")),
    )
    axis = random.choice(names)
    listed = ", ".join(each.text for each in given)
    fields = [f"a({listed}) = [{', '.join(places)}] of {one}"]
    wide = {"u1": 1, "u4": 4, "u8": 8, "i8": 8, "f16": 16, "u16": 16, "i32": 32}
    if all(draft.extents) or random.random() < 0.3:
        size = "*".join(
            atom(extent or next((a.extent for a in given if a.name == place), "1"))
            for place, extent in zip(draft.places, draft.extents, strict=True)
        )
        start = f"({size}*{wide[one]} + {wide[two] - 1})/{wide[two]}"
        fields.append(f"z({axis}) = [{axis}] of {two} offset {start}")
    elif random.random() < 0.7:
        room = random.choice((2, 3, 4))
        fields[0] = f"a({listed}) = [{axis}, 0 : {room}, {', '.join(places)}] of {one}"
    where = f" where {', '.join(draft.where)}" if draft.where else ""
    held = ", ".join(names)
    return f"record R({held}) = {{ {' '.join(fields)} }}{where}"
