"""Two layouts next to each other: what is said of them holds in plain integers, shape by shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from texts import layout as parsed

import layoutdsl
from layoutdsl import (
    Different,
    Equal,
    EqualWhere,
    Layout,
    Match,
    Unknown,
    diff,
    from_notation,
    library,
)

Shape = dict[str, int]


def layout(text: str) -> Layout:
    """A layout from ``n, c = [...]``, a name of the library, or ``notation:text``."""
    word, colon, foreign = text.partition(":")
    if colon and word in layoutdsl.notations():
        return from_notation(word, foreign)
    if "=" not in text:
        return library(text)
    axes, _, body = text.partition("=")
    head, angle, parameters = axes.partition("<")
    given = f"<{parameters.strip()}" if angle else ""
    return parsed(f"layout Demo{given}({head.strip()}) = {body}")


def shapes(one: Layout, most: int) -> Iterator[Shape]:
    """Every shape with extents and parameters up to ``most``, in the range or not."""
    for extents in product(range(1, most + 1), repeat=len(one.symbols)):
        yield dict(zip(one.symbols, extents, strict=True))


def defined(one: Layout, values: Shape) -> bool:
    return all(condition.holds(values) for condition in one.where)


def alike(one: Layout, other: Layout, values: Shape) -> bool:
    """Whether two layouts over the same axes agree, by the definition of the offset."""
    theirs = {name: values[name] for name in other.symbols}
    for index in product(*(range(extent) for extent in one.shape_of(values))):
        named = {a.name: i for a, i in zip(one.axes, index, strict=True)}
        if one.offset_at({**values, **named}) != other.offset_at({**theirs, **named}):
            return False
    return one.size(values) == other.size(theirs)


EQUAL = [
    ("tvm:NCHW16c", "onednn:aBcd16b", None, "position"),
    ("NCHW16c", "onednn:nChw16c", None, "name"),
    ("NHWC", "tvm:NHWC", None, "name"),
    ("n, c = [n, c]", "c, n = [n, c]", None, "name"),
    ("n, c = [n, c]", "c, n = [c, n]", "c,n", "given"),
    ("n, c = [n, c]", "x, y = [y, x]", "n=y", "given"),
    ("n, c = [n, c]", "x, y = [y, x]", {"n": "y", "c": "x"}, "given"),
    ("n, c = [n, c]", "x, y = [y, x]", ["y", "x"], "given"),
    ("n, c = [n, c/4, c%4]", "n, c = [n, c/4, c%4/2, c%2]", None, "name"),
    ("HtpNCHW", "R4NCHWMemoryLayout", "h=w,w=h", "given"),
    ("onednn:acdb", "onednn:abcd", "a,d,b,c", "given"),
    ("ChannelMajorCrouton", "R4CroutonLayout", None, "name"),
    ("y: 3, x = [y, x]", "y: 3, x = [y, x]", None, "name"),
    ("c <k> = [c/k, c%k]", "c <k> = [c/k, c%k]", None, "name"),
    ("h, m: 1, w = [m, h, w]", "h, w = [h, w]", None, "name"),
    ("c = [c] where C % 4 == 0", "c = [c/4, c%4] where C % 4 == 0", None, "name"),
]


@pytest.mark.parametrize(("one", "other", "axes", "how"), EQUAL)
def test_equal(one: str, other: str, axes: str | None, how: str) -> None:
    found = diff(layout(one), layout(other), axes)
    assert isinstance(found, Equal)
    assert found.same
    assert found.pairing.how == how
    assert found.certificate


def test_a_proof_that_was_not_found_is_no_equality() -> None:
    """Both have the same offsets, which only a case split over i and j could show."""
    least = layoutdsl.parse(
        "layout Least(i: N, j: N) = [min(i*(i + 1)/2 + j, N*(N + 1)/2 - 1) : N*(N + 1)/2] "
        "where j <= i"
    )["Least"]
    found = diff(least, library("LapackPackedUpper"), "i=j,j=i")
    assert isinstance(found, Unknown)
    assert not found.same
    assert found.reason.startswith("no proof was found: ")


DEFINED = [
    ("NCHW16c", "einops:n (co ci) h w -> n co h w ci, ci=16", "C%16 == 0"),
    ("c = [c] where C < 5", "c = [c]", "C < 5"),
    ("y, x = [y, x]", "y: 3, x: 4 = [y, x]", "Y == 3, X == 4"),
    ("y: 3, x: 4 = [y, x]", "y, x = [y, x]", "Y == 3, X == 4"),
    ("y, x = [y, x]", "i: N, j: N = [i, j]", "X == Y"),
    ("i: N, j: N = [i, j]", "y, x = [y, x]", "Y == X"),
    ("y: 2, x = [y, x]", "y, x: 3 = [y, x]", "Y == 2, X == 3"),
]


@pytest.mark.parametrize(("one", "other", "where"), DEFINED)
def test_equal_where_both_are_defined(one: str, other: str, where: str) -> None:
    found = diff(layout(one), layout(other))
    assert isinstance(found, EqualWhere)
    assert found.same
    assert found.mismatch is None
    assert [str(each) for each in found.agreements] == [where]


# The ranges in which both agree; the sample of shapes is no part of the oracle.
RANGES = [
    ("c, h = [c/4, h, c%4]", "c, h = [h, c]", ["C == 4", "C%4 == 0, H == 1"]),
    ("c, h = [c/4, h, c%4]", "c, h = [c, h]", ["C%4 == 0, H == 1"]),
    ("c, h = [c/4, h, c%4]", "c, h = [h, c : 4]", ["C <= 4"]),
    ("c, h = [c/4, h, c%4]", "c, h = [c/2, h, c%2]", ["C%4 == 0, H == 1"]),
    ("c <k> = [c/k, c%k]", "c = [c/3, c%3]", ["k == 3", "C%3 == 0, k == 1", "C == k, k%3 == 0"]),
    ("y, x <P> = [x, y : P]", "y, x = [x, y]", ["Y == P"]),
    ("c, d = [c/2, d%3 : min(D, 3), d/3, c%2]", "c, d = [c/2, d%3, d/3, c%2]", ["D >= 3"]),
    ("n, h = [n, h]", "n, h = [h, n]", ["N == 1", "H == 1"]),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("one", "other", "where"), RANGES)
def test_ranges_are_those_of_every_small_shape(one: str, other: str, where: list[str]) -> None:
    first, second = layout(one), layout(other)
    found = diff(first, second)
    assert isinstance(found, EqualWhere | Different)
    assert not found.same
    assert isinstance(found, Different) is all(part.endswith("== 1") for each in where
                                               for part in each.split(", "))  # fmt: skip
    assert [str(each) for each in found.agreements] == where
    within = outside = 0
    for values in shapes(first, 9):
        agreed = any(
            all(condition.holds(values) for condition in each.conditions)
            for each in found.agreements
        )
        same = alike(first, second, values)
        assert same or not agreed
        within += agreed
        outside += same and not agreed
    assert within
    assert outside == 0 or not found.exact


def mismatch_is_smallest(one: Layout, other: Layout, found: EqualWhere | Different) -> None:
    mismatch = found.mismatch
    assert mismatch is not None
    values = dict(mismatch.shape)
    theirs = {name: values[name] for name in other.symbols}
    assert mismatch.sizes == (one.size(values), other.size(theirs))
    if mismatch.index is None:
        assert mismatch.sizes[0] != mismatch.sizes[1]
    else:
        index = dict(mismatch.index)
        assert mismatch.offsets == (one.offset(index, values), other.offset(index, theirs))
        assert mismatch.offsets[0] != mismatch.offsets[1]
    volume = prod(values.values())
    smaller = (each for each in shapes(one, volume) if prod(each.values()) < volume)
    assert all(
        alike(one, other, each) for each in smaller if defined(one, each) and defined(other, each)
    )


@pytest.mark.parametrize(("one", "other"), [each[:2] for each in RANGES])
def test_the_difference_is_a_smallest_one(one: str, other: str) -> None:
    found = diff(layout(one), layout(other))
    assert isinstance(found, EqualWhere | Different)
    mismatch_is_smallest(layout(one), layout(other), found)


def axes_of(hint: Any) -> str:
    """What `diff` is told, so that the axes of a hint are taken for each other."""
    assert hint.kind == "axes"
    return str(hint.axes)


def random_layout(random: Random) -> str:
    coordinates = ["n"]
    for axis in "ch":
        block = random.choice((0, 2, 3, 4))
        if block:
            coordinates += [f"{axis}/{block}", f"{axis}%{block}"]
        else:
            coordinates.append(axis)
    random.shuffle(coordinates)
    return f"n, c, h = [{', '.join(coordinates)}]"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(25))
def test_random_pairs(seed: int) -> None:
    random = Random(seed)
    one, other = layout(random_layout(random)), layout(random_layout(random))
    found = diff(one, other)
    assert not isinstance(found, Unknown)
    small = list(shapes(one, 5))
    if isinstance(found, Equal):
        assert all(alike(one, other, values) for values in small)
        return
    mismatch_is_smallest(one, other, found)
    for values in small:
        for each in found.agreements:
            if all(condition.holds(values) for condition in each.conditions):
                assert alike(one, other, values)
    for hint in found.hints:
        assert hint.proved
        if hint.kind == "axes":
            assert isinstance(diff(one, other, axes_of(hint)), Equal)


def test_axes_swapped() -> None:
    """Both are called NCHW by their source."""
    one, other = library("HtpNCHW"), library("R4NCHWMemoryLayout")
    found = diff(one, other)
    assert isinstance(found, Different)
    axes, coordinates = map(astuple, found.hints)
    assert axes == ((("b", "b"), ("h", "w"), ("w", "h"), ("d", "d")), "h=w,w=h", True)
    assert coordinates == (("b", "d", "h", "w"), ("b", "d", "w", "h"), True)
    assert [each.kind for each in found.hints] == ["axes", "coordinates"]
    assert found.mismatch is not None
    assert dict(found.mismatch.shape) == {"B": 1, "H": 2, "W": 2, "D": 1}
    assert found.mismatch.offsets == (1, 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("one", "other", "axes"),
    [
        ("NCHW", "NHWC", "c=h,h=w,w=c"),
        ("n, c, h, w = [n, c/4, h, w, c%4]", "a, b, x, y = [a, b/4, y, x, b%4]", "h=y,w=x"),
        # What is left of c, n, x, y has the names of the first layout, so all are named.
        ("n, c, h, w = [n, c, h/2, w, h%2]", "c, n, x, y = [c, n, y/2, x, y%2]", "c,n,y,x"),
    ],
)
def test_the_axes_of_a_hint_make_layouts_equal(one: str, other: str, axes: str) -> None:
    found = diff(layout(one), layout(other))
    assert isinstance(found, Different | EqualWhere)
    (hint,) = (each for each in found.hints if each.kind == "axes")
    assert axes_of(hint) == axes
    assert diff(layout(one), layout(other), axes_of(hint)).same


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("onednn:gOIhw16i16o", "onednn:gOIhw16o16i"),
        ("onednn:ABcd8b8a", "onednn:ABcd8a8b"),
        ("c, h = [c/4, h/4, c%4, h%4]", "c, h = [c/4, h/4, h%4, c%4]"),
    ],
)
def test_what_is_alike_in_one_block_is_no_permutation_of_axes(one: str, other: str) -> None:
    found = diff(layout(one), layout(other))
    assert isinstance(found, Different | EqualWhere)
    assert [each.kind for each in found.hints] == ["coordinates"]


MARLIN = (0, 2, 4, 6, 1, 3, 5, 7)
INVERSE = (0, 4, 1, 5, 2, 6, 3, 7)
PLAIN = tuple(range(8))

LANES = [
    ("k, n = [k/8, n, k%2, k%8/2]", "k, n = [k/8, n, k%4, k%8/4]", "inverse", MARLIN, INVERSE),
    ("k, n = [k/8, n, k%8]", "k, n = [k/8, n, k%2, k%8/2]", "digits", PLAIN, MARLIN),
    ("k, n = [k/8, n, k%4, k%8/4]", "k, n = [k/8, n, k%8]", "digits", INVERSE, PLAIN),
    ("k, n = [k/8, n, k%8 ^ 1 : 8]", "k, n = [k/8, n, k%8]", "order",
     (1, 0, 3, 2, 5, 4, 7, 6), PLAIN),
    ("k, n = [k/3, n, k%3]", "k, n = [k/3, n, k*2%3]", "order", PLAIN, (0, 2, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "kind", "first", "second"), LANES)
def test_lanes(
    one: str, other: str, kind: str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    found = diff(layout(one), layout(other))
    assert isinstance(found, Different | EqualWhere)
    hint: Any
    (hint,) = found.hints
    assert (hint.axis, hint.kind) == ("k", kind)
    assert hint.full_kind == f"lanes: {kind}"
    size = hint.block
    assert hint.one == first[:size]
    assert hint.other == second[:size]
    # The orders are those of the offsets, and exchanging them makes the layouts equal.
    a, b = layout(one), layout(other)
    for extents in ((size, 1), (2 * size, 3)):
        lanes = {k: a.offset((k, 0), extents) for k in range(size)}
        assert sorted(lanes, key=lambda k: lanes[k]) == list(hint.one)
        taken = dict(zip(hint.one, hint.other, strict=True))
        for k, n in product(*map(range, extents)):
            instead = k // size * size + taken[k % size]
            assert a.offset((k, n), extents) == b.offset((instead, n), extents)
    if kind == "inverse":
        assert hint.proved
        assert all(first[second[k]] == k for k in range(size))


def test_large_fixed_extents_are_looked_at() -> None:
    found = diff(layout("y: 1024, x: 1024 = [y, x]"), layout("y: 1024, x: 1024 = [x, y]"))
    assert isinstance(found, Different)
    assert found.mismatch is not None
    assert found.mismatch.offsets == (1, 1024)


def test_only_small_things() -> None:
    cases = [
        ("n, c = [n, c] offset 3", "n, c = [n, c]", ("starts", ("3", "0", True))),
        ("n, c = [n : N + 1, c]", "n, c = [n, c]", ("sizes", ("C*N + C", "C*N", True))),
    ]
    for one, other, hint in cases:
        found = diff(layout(one), layout(other))
        assert isinstance(found, Different)
        assert [(each.kind, astuple(each)) for each in found.hints] == [hint]
    exchanged = diff(
        layout("c, h = [c/16, h, c%16/4, c%4]"), layout("c, h = [c/16, h, c%4, c%16/4]")
    )
    assert isinstance(exchanged, Different)
    reordered: Any
    (reordered,) = exchanged.hints
    assert reordered.kind == "coordinates"
    assert reordered.exchanged == ("c%16/4", "c%4")


def test_fill_chunks_and_elements_are_noted() -> None:
    one = layout("c = [c/4; c%4] fill 31 of u8")
    found = diff(one, layout("c = [c/4, c%4]"))
    assert isinstance(found, Equal)
    assert [(each.subject, each.one, each.other) for each in found.notes] == [
        ("fill", "padding holds 31", "padding holds 0"),
        ("chunks", "a chunk has 4 elements", "there are no chunks"),
        ("element", "of u8", "elements are of any type"),
    ]
    assert diff(one, one).notes == ()


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("n = [n]", "n, c = [n, c]", "they have 1 and 2 axes"),
        ("y: 3 = [y]", "y: 4 = [y]", "axis `y` has 3 elements in one, 4 in the other"),
        ("y, x = [y, x]", "i: 3, j: 4 = [i, j] where 3 < 2", None),
        ("y = [y] where Y > 5", "y: 4 = [y]", "`Demo` is defined where Y > 5, and never here"),
    ],
)
def test_layouts_with_no_common_shape(one: str, other: str, reason: str | None) -> None:
    found = diff(layout(one), layout(other))
    if reason is None:
        assert not found.same
    else:
        assert isinstance(found, Different)
        assert found.reason == reason


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ("n=q", "the second layout has no axis `q`; it has x, y"),
        ("q=x", "the first layout has no axis `q`; it has n, c"),
        ("n=x,n=y", "axis `n` is named twice"),
        ("n=x,c=x", "an axis of the second layout is named twice"),
        ("x=n", "in `x=n` the first layout's axis comes first: `n=x`"),
        ("n=x,y", "axes are either pairs, `n=b, h=y`, or all of the second layout's"),
        ("x", "there are 2 axes, and 1 are named"),
        ("", "there are 2 axes, and 1 are named"),
    ],
)
def test_axes_that_are_not_there(axes: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        diff(layout("n, c = [n, c]"), layout("x, y = [x, y]"), axes)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "h, w = [h, w ^ h%4 : roundup(W, 4)]",
        "h, w = [h & 3 : 4, min(h, w) : 9, max(h, w) : 9]",
        "h, w = [(h, w)/4, (h, w)%4] offset 2*H",
    ],
)
def test_any_operation_is_compared(text: str) -> None:
    one, other = layout(text), layout("h, w = [w, h]")
    found = diff(one, other)
    assert isinstance(found, EqualWhere | Different)
    mismatch_is_smallest(one, other, found)


KNOWN = ("NCHWc", "NCHW16c", "NHWC", "HtpNCHW", "R4CroutonLayout", "XlaRowMajor")

IDENTIFIED = [
    ("onednn:aBcd8b", {("NCHWc<8>", None)}),
    ("einops:b h w c -> b c h w", {("HtpNCHW", None)}),
    ("a, b, c, d = [a, d/16, b, c, d%16]", {("NCHW16c", "b=h,c=w,d=c"),
                                            ("NCHWc<16>", "b=h,c=w,d=c")}),
    ("k, n = [k/8, n, k%2, k%8/2]", set()),
]  # fmt: skip


@pytest.mark.ci(1)
@pytest.mark.slow
@pytest.mark.parametrize(("text", "names"), IDENTIFIED)
def test_identify(text: str, names: set[tuple[str, str | None]]) -> None:
    one = layout(text)
    found = [each for each in layoutdsl.identify(one) if each.name.partition("<")[0] in KNOWN]
    everywhere = {(each.name, each.axes) for each in found if each.everywhere}
    assert names <= everywhere
    assert names or not everywhere
    for each in found:
        if "<" not in each.name:
            other = library(each.name)
            assert diff(one, other, dict(each.pairing.pairs)).same is each.everywhere


@pytest.mark.slow
def test_near_misses_name_their_range() -> None:
    found = {each.name: each for each in layoutdsl.identify(layout("onednn:acdb"))}
    assert found["NHWC"].everywhere
    near = found["NCHW16c"]
    assert isinstance(near, Match)
    assert [str(each) for each in near.agreements] == ["B == 16"]
    one, other = layout("onednn:acdb"), library("NCHW16c")
    extents = (2, 16, 3, 2)
    for index in product(*map(range, extents)):
        assert one.offset(index, extents) == other.offset(index, extents)


@pytest.mark.parametrize("notation", [*layoutdsl.notations(), "layout"])
def test_translations_of_the_library_are_proved(notation: str) -> None:
    """What is printed is read again, and is the layout; what is not printed has a reason."""
    for name in ("NCHW16c", "NHWC", "R4CroutonLayout", "MaceChannelMajor", "XlaColumnMajor"):
        found = layoutdsl.translate(library(name), notation)
        assert (found.text is None) is (found.reason is not None)
        assert found.proved is (found.text is not None)
        assert found.reason is None or "read again" not in found.reason


def test_a_text_that_is_another_layout_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layoutdsl.notation.notation.write", lambda *_: "NHWC")
    found = layoutdsl.translate(library("NCHW"), "tvm")
    assert found.text is None
    assert found.reason == "`NHWC`, read again, is another layout"


def test_tvm_writes_exchanged_blocks_as_a_map() -> None:
    """`KN2k4k` would be read as `k%8/4, k%4`."""
    found = layoutdsl.translate(layout("k, n = [k/8, n, k%2, k%8/2]"), "tvm")
    assert found.text == "lambda k, n: [k // 8, n, k % 2, k % 8 // 2]"
    assert found.proved
