"""Every layout of the library is found again under other names, orders, extents and spellings.

And of what is not found it is said whether it differs, with a shape, or is not known. `identify`
looks through the whole library, too slowly for drawn layouts, so `look` is given a few of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from cli_shell import Shell, shell
from texts import LIBRARY

import layoutdsl
from layoutdsl import Layout, Match, Untold
from layoutdsl.commands import translation
from layoutdsl.language.declaration import declaration
from layoutdsl.language.integers.expr import (
    Constant,
    Expr,
    Extent,
    Index,
    substitute,
    substitute_coordinate,
)
from layoutdsl.language.meaning.model import Axis
from layoutdsl.language.offsets.axes import fixed_parameters
from layoutdsl.view.compare.identify import look
from layoutdsl.view.compare.seen import Apart

__all__ = ["shell"]

NUMBERS = (1, 2, 3, 4, 5, 8, 12, 16, 20, 32, 33, 64, 128)


def given_numbers(layout: Layout, random: Random) -> tuple[Layout, str]:
    """The layout with numbers for its parameters, and what it is then called."""
    values = {name: random.choice((2, 4, 8)) for name in layout.parameters}
    shown = ", ".join(str(values[name]) for name in layout.parameters)
    return (fixed_parameters(layout, values), f"{layout.name}<{shown}>") if values else (layout, "")


def fixed(layout: Layout, random: Random, most: int) -> Layout | None:
    """The layout with a number for every extent, of no more than so many elements."""
    for _ in range(400):
        values = {name: random.choice(NUMBERS) for name in layout.symbols}
        total = 1
        for extent in layout.shape_of(values):
            total *= extent
        if total <= most and all(each.holds(values) for each in layout.where):
            given: dict[str, Expr] = {name: Constant(value) for name, value in values.items()}
            return replace(substituted(layout, given), where=())
    return None


def turned(layout: Layout, random: Random) -> Layout:
    """The layout with axes of other names, in another order."""
    names = {axis.name: f"{random.choice('pqrst')}{k}" for k, axis in enumerate(layout.axes)}
    values: dict[str, Expr] = {old: Index(new) for old, new in names.items()}
    extents = {a.extent.name for a in layout.axes if isinstance(a.extent, Extent)}
    values |= {name: Extent(f"{name}X{random.randint(0, 9)}") for name in sorted(extents)}
    found = substituted(layout, values)
    axes = [replace(axis, name=names[axis.name]) for axis in found.axes]
    copies = tuple(names[each] for each in layout.copies)
    return replace(found, axes=tuple(random.sample(axes, len(axes))), copies=copies)


def substituted(layout: Layout, values: dict[str, Expr]) -> Layout:
    extents = [substitute(axis.extent, values) for axis in layout.axes]
    assert all(isinstance(extent, Extent | Constant) for extent in extents)
    return replace(
        layout,
        axes=tuple(Axis(a.name, e) for a, e in zip(layout.axes, extents, strict=True)),  # type: ignore[arg-type]
        coordinates=tuple(substitute_coordinate(each, values) for each in layout.coordinates),
        start=substitute(layout.start, values),
        where=tuple(each.substituted(values) for each in layout.where),
        domain=tuple(each.substituted(values) for each in layout.domain),
    )


def respelled(text: str, random: Random) -> str:
    """The text with shifts and masks, and some coordinates put together as a tuple."""

    def shifted(found: re.Match[str]) -> str:
        name, sign, number = found[1], found[2], int(found[3])
        if number & (number - 1) or number < 2 or random.random() < 0.4:
            return found[0]
        bits = number.bit_length() - 1
        return f"({name} >> {bits})" if sign == "/" else f"({name} & {number - 1})"

    head, body, tail = re.fullmatch(r"(.*?= \[)(.*)(\].*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    body = re.sub(r"(?<![\w/%*])([a-z]\w*)([/%])(\d+)(?![\w/%*])", shifted, body)
    places = split(body)
    first = random.randrange(len(places))
    pair = places[first : first + 2]
    if len(pair) == 2 and not any(set(each) & set(":;") for each in pair):
        places[first : first + 2] = [f"({', '.join(pair)})"]
    return head + ", ".join(places) + tail


def split(body: str) -> list[str]:
    """The coordinates of a list: apart at the commas that no parentheses hold."""
    places, depth = [""], 0
    for character in body:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            places.append("")
        else:
            places[-1] += character
    return [place.strip() for place in places]


def agree(layout: Layout, known: Layout, match: Match, random: Random) -> None:
    """Compare some elements in plain integers, with the axes that were found."""
    small = fixed(layout, random, 3000)
    if small is None:
        return
    shape = small.shape_of({})
    theirs = dict(match.pairing.pairs)
    by_axis = {theirs[a.name]: extent for a, extent in zip(layout.axes, shape, strict=True)}
    other = tuple(by_axis[axis.name] for axis in known.axes)
    assert known.size(other) == layout.size(shape)
    indices = list(product(*map(range, shape)))
    for index in random.sample(indices, min(40, len(indices))):
        named = dict(zip((axis.name for axis in layout.axes), index, strict=True))
        if not layout.holds({**layout.bind(shape), **named}):
            continue
        there = {theirs[name]: number for name, number in named.items()}
        assert known.offset(there, other) == layout.offset(index, shape)


def says_its_size(layout: Layout) -> bool:
    """Whether its text says as much room: extents of `^` are others where numbers are small."""
    text = declaration(replace(layout, name="Said"))
    return layoutdsl.parse(text)["Said"].size({}) == layout.size({})


def found_again(name: str, random: Random) -> None:
    """Change a layout of the library, and look for it."""
    plain, called = given_numbers(LIBRARY[name], random)
    layout = turned(plain, random)
    if random.random() < 0.5:
        small = fixed(layout, random, random.choice((2000, 300_000)))
        layout = small if small is not None and says_its_size(small) else layout
    text = respelled(declaration(replace(layout, name="Changed")), random)
    changed = layoutdsl.parse(text)["Changed"]
    seen = list(look(changed, [(name, LIBRARY[name])]))
    matches = [each for each in seen if isinstance(each, Match) and each.everywhere]
    wanted = [each for each in matches if not called or each.name == called]
    assert wanted or (matches and not changed.symbols), (text, seen)
    match = wanted[0] if wanted else matches[0]
    if wanted:
        agree(changed, plain, match, random)


SAMPLE = Random(4).sample(sorted(LIBRARY), 40)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", SAMPLE)
def test_a_layout_of_the_library_is_found_again(name: str) -> None:
    found_again(name, Random(name))


@pytest.mark.campaign
@pytest.mark.parametrize("name", sorted(LIBRARY))
def test_every_layout_is_found_again(name: str) -> None:
    random = Random(f"{name} again")
    for _ in range(20):
        found_again(name, random)


@pytest.mark.campaign
@pytest.mark.parametrize("name", sorted(name for name, _ in translation._library()))
def test_every_layout_is_found_again_in_all_of_the_library(name: str) -> None:
    """As a user asks, of everything that there is."""
    random = Random(f"{name} among all")
    plain, called = given_numbers(LIBRARY[name], random)
    layout = turned(plain, random)
    changed = layoutdsl.parse(declaration(replace(layout, name="Changed")))["Changed"]
    found = {each.name for each in layoutdsl.identify(changed) if each.everywhere}
    assert (called or name) in found


# What is not found, and how sure that is.

UNKNOWN = (
    "layout Least(i: N, j: N) = [min(i*(i + 1)/2 + j, N*(N + 1)/2 - 1) : N*(N + 1)/2] where j <= i"
)


def seen_of(text: str, *names: str) -> dict[str, Match | Untold | Apart]:
    layout = list(layoutdsl.parse(text).layouts.values())[-1]
    return {each.name: each for each in look(layout, [(name, LIBRARY[name]) for name in names])}


def test_what_differs_is_shown() -> None:
    found = seen_of("layout Odd(y: 4, x: 6) = [x, y%2, y/2]", "XlaRowMajor", "NCHW", "GmmaKSw128")
    rows = found["XlaRowMajor"]
    assert isinstance(rows, Apart)
    assert (rows.tried, rows.complete, rows.reason) == (2, True, None)
    assert rows.mismatch is not None
    assert rows.mismatch.index == (("y", 0), ("x", 1))
    assert rows.mismatch.offsets == (4, 1)
    ranks = found["NCHW"]
    assert isinstance(ranks, Apart)
    assert (ranks.reason, ranks.complete) == ("they have 2 and 4 axes", True)
    extents = found["GmmaKSw128"]
    assert isinstance(extents, Apart)
    assert extents.reason == "axis `y` has 4 elements in one, 8 in the other"


def test_not_every_number_is_tried_for_a_parameter() -> None:
    found = seen_of("layout Odd(n, c, h, w) = [n, c, h, w : 2*W]", "NCHWc")["NCHWc"]
    assert isinstance(found, Apart)
    assert (found.mismatch is not None, found.complete) == (True, False)
    plain = seen_of("layout Odd(n, c) = [c, n]", "NCHWc")["NCHWc"]
    assert isinstance(plain, Apart)
    assert plain.complete


def test_many_axes_are_not_tried_in_every_order() -> None:
    axes = ", ".join(f"x{k}" for k in range(7))
    turned = ", ".join(f"x{k}" for k in (1, 0, 2, 3, 4, 5, 6))
    texts = f"layout One({axes}) = [{axes}] layout Two({axes}) = [x0*1, {axes[4:]} : 2*X6]"
    one, two = layoutdsl.parse(texts).values()
    (found,) = look(one, [("Two", two)])
    assert isinstance(found, Apart)
    assert (found.tried, found.complete) == (1, False)
    other = layoutdsl.parse(f"layout Three({turned}) = [{turned}]")["Three"]
    (same,) = look(one, [("Three", replace(other, axes=one.axes))])
    assert isinstance(same, Apart)


def test_what_is_neither_proved_nor_told_apart() -> None:
    found = seen_of(UNKNOWN, "LapackPackedUpper", "LapackPackedLower")
    upper = found["LapackPackedUpper"]
    assert isinstance(upper, Untold)
    assert (upper.axes, upper.everywhere) == ("i=j,j=i", False)
    assert "no proof was found" in upper.reason


def test_a_range_that_asks_for_least_is_told() -> None:
    """With r as the axis of one element it would be equal too, where both r and t have one."""
    text = "layout Mine(r, t, p, q) = [r/4, (t, p, q), r%4] where T == 1"
    found = seen_of(text, "MaceDepthwiseFilter")["MaceDepthwiseFilter"]
    assert isinstance(found, Match)
    assert [str(each) for each in found.where] == ["T == 1"]


def test_axes_of_one_element_are_left_out() -> None:
    text = "layout Mine(n: 1, k: 1, y: 20, x: 200) = [y/8, x/128, y%8, x%128]"
    found = seen_of(text, "XlaTile8x128")["XlaTile8x128"]
    assert isinstance(found, Match)
    assert found.pairing.left_out == ("n", "k")


@pytest.fixture
def little(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The shell, with a library of a few layouts."""
    names = ("XlaTile8x128", "GmmaKSw128", "LapackPackedUpper", "NCHWc", "XlaRowMajor")
    few = {name: LIBRARY[name] for name in names}
    monkeypatch.setattr(
        translation, "library_families", lambda: iter([layoutdsl.Module("few", few, (), {})])
    )
    Path("mine.layout").write_text(
        f"{UNKNOWN}\n"
        "layout Odd(y: 4, x: 6) = [x, y%2, y/2]\n"
        "layout Other(n, c, h, w) = [n, c, h, w : 2*W]\n"
    )
    return shell


SHOWN = [
    ("xla:f32[300,400]{1,0:T(8,128)}", 0,
     "`xla:f32[300,400]{1,0:T(8,128)}` is\n  equal  `XlaTile8x128`  where Y == 300, X == 400\n"),
    ("xla:f32[9000,9000]{1,0:T(8,128)}", 0,
     "`xla:f32[9000,9000]{1,0:T(8,128)}` is\n"
     "  equal  `XlaTile8x128`  where Y == 9000, X == 9000\n"),
    ("cute:S<3,3,3> o 0 o (8,64):(64,1)", 0,
     "`cute:S<3,3,3> o 0 o (8,64):(64,1)` is\n  equal  `GmmaKSw128`  for all shapes\n"),
    ("mine.layout:Least", 3,
     "`mine.layout:Least` is\n"
     "  undecided  `LapackPackedUpper`  with --axes i=j,j=i; "
     "no proof was found: the two sides have different normal forms\n"),
    ("mine.layout:Odd", 1,
     "`mine.layout:Odd` is none of the 5 layouts of the library: each differs from it\n"),
    ("mine.layout:Other", 1,
     "none found: each of the 5 layouts of the library differs from `mine.layout:Other`, "
     "as far as was tried\n"
     "  not every number for parameters, or order of axes, was tried of `NCHWc`\n"),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("written", "code", "told"), SHOWN)
def test_in_the_shell(little: Shell, written: str, code: int, told: str) -> None:
    ended = little("identify", written)
    assert (ended.code, ended.out, ended.err) == (code, told, "")
    found = json.loads(little("identify", written, "--json").out)
    status = {0: "found", 1: "none", 3: "undecided"}[code]
    assert found["status"] == status
    assert len(found["matches"]) == (code == 0)
    assert len(found["undecided"]) == (code == 3)
    assert len(found["different"]) == (5 if code == 1 else 4)
    for each in found["different"]:
        assert (each["reason"] is None) != (each["mismatch"] is None)


def test_a_domain_is_part_of_a_layout(shell: Shell) -> None:
    """Elements that only one of two layouts holds are a difference."""
    Path("triangle.layout").write_text(
        "layout A(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j <= i\n"
        "layout B(i: N, j: N) = [i*(i + 1)/2 + j : N*(N + 1)/2] where j < i\n"
    )
    ended = shell("diff", "triangle.layout:A", "triangle.layout:B")
    assert (ended.code, ended.err) == (1, "")
    both = "offset 0 in `triangle.layout:A`, no slot in `triangle.layout:B`"
    assert f"    (i=0, j=0) -> {both}\n" in ended.out
    turned = json.loads(shell("diff", "triangle.layout:B", "triangle.layout:A", "--json").out)
    assert turned["mismatch"]["offsets"] == [None, 0]


def test_what_neither_holds_is_no_difference() -> None:
    """The second layout has other offsets where j is above i, and there it holds nothing."""
    texts = (
        "layout One(i: N, j: N) = [i*N + j : N*N] where j <= i\n"
        "layout Two(i: N, j: N) = [i*N + min(j, i) : N*N] where j <= i\n"
    )
    one, two = layoutdsl.parse(texts).values()
    (found,) = look(one, [("Two", two)])
    assert not isinstance(found, Apart)
    assert not isinstance(layoutdsl.diff(one, two), layoutdsl.Different)
