"""Texts that name axes: each index goes where its name says, whatever the order of the layout's.

Texts are drawn in every notation that has names, with the digits that they mean; the oracle is
plain arithmetic over names. The axes of the declaration are the text's in another order, or called
otherwise, or only some of either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from random import Random

import pytest

import layoutdsl
from layoutdsl import Layout, LayoutError

Names = tuple[str, ...]
Cuts = tuple[tuple[str, int, int], ...]
"""Digits from the most major: an axis, what its index is divided by, and a modulus or 0."""


@dataclass(frozen=True)
class Text:
    """A text of a notation, the axes in its order, what it means, and what a size divides by."""

    notation: str
    written: str
    axes: Names
    cuts: Cuts
    blocks: dict[str, int]
    divisible: bool = False

    def offset(self, index: dict[str, int], shape: dict[str, int]) -> int:
        """Where the element lies, by the names of the text."""
        total = 0
        for axis, divisor, modulus in self.cuts:
            total *= modulus or -(-shape[axis] // divisor)
            total += index[axis] // divisor % (modulus or 1 << 62)
        return total


def blocks_of(axes: Names, random: Random) -> dict[str, int]:
    return {axis: random.randint(2, 5) for axis in axes if random.random() < 0.6}


def cuts_of(axes: Names, blocks: dict[str, int], random: Random) -> Cuts:
    """The rest of every axis in some order, then the blocks in some order."""
    cuts = [(axis, blocks.get(axis, 1), 0) for axis in random.sample(axes, len(axes))]
    inner = random.sample(sorted(blocks), len(blocks))
    return (*cuts, *((axis, 1, blocks[axis]) for axis in inner))


def python(cut: tuple[str, int, int], spelled: Callable[[str], str]) -> str:
    axis, divisor, modulus = cut
    quotient = spelled(axis) if divisor == 1 else f"{spelled(axis)} // {divisor}"
    return f"{quotient} % {modulus}" if modulus else quotient


def tvm_tag(random: Random) -> Text:
    axes = tuple(random.sample("nchwdoi", random.randint(2, 5)))
    blocks = blocks_of(axes, random)
    cuts = cuts_of(axes, blocks, random)
    words = [f"{modulus}{axis}" if modulus else axis.upper() for axis, _, modulus in cuts]
    random.shuffle(order := list(range(len(words))))
    cuts = tuple(cuts[place] for place in order)
    in_order = tuple(axis for axis, _, modulus in cuts if not modulus)
    return Text("tvm", "".join(words[place] for place in order), in_order, cuts, blocks)


def tvm_map(random: Random) -> Text:
    axes = tuple(random.sample(("n", "row", "col", "k2", "w_"), random.randint(2, 5)))
    blocks = blocks_of(axes, random)
    cuts = cuts_of(axes, blocks, random)
    spelled = str.upper if random.random() < 0.3 else str
    values = ", ".join(python(cut, spelled) for cut in cuts)
    written = f"lambda {', '.join(map(spelled, axes))}: [{values}]"
    return Text("tvm", written, axes, cuts, blocks)


def mlir_map(random: Random) -> Text:
    names = ("i", "j", "k", "l") if random.random() < 0.5 else ("d0", "d1", "d2", "d3")
    axes = tuple(random.sample(names, random.randint(2, 4)))
    blocks = blocks_of(axes, random)
    cuts = cuts_of(axes, blocks, random)
    values = ", ".join(python(cut, str) for cut in cuts)
    values = values.replace("//", "floordiv").replace("%", "mod")
    return Text("mlir", f"affine_map<({', '.join(axes)}) -> ({values})>", axes, cuts, blocks)


def einops(random: Random) -> Text:
    axes = tuple(random.sample(("n", "c", "h", "w", "seq"), random.randint(2, 5)))
    blocks = blocks_of(axes, random)
    cuts = cuts_of(axes, blocks, random)
    left = " ".join(f"({a}o {a}i)" if a in blocks else a for a in axes)
    right = " ".join(f"{a}{'i' if m else 'o'}" if a in blocks else a for a, _, m in cuts)
    sizes = "".join(f", {axis}i={size}" for axis, size in blocks.items())
    return Text("einops", f"{left} -> {right}{sizes}", axes, cuts, blocks, divisible=True)


def onednn(random: Random) -> Text:
    axes = tuple(random.choice(("nchw", "ncw", "ncdhw", "oihw", "goihw", "tnc", "ldigo")))
    blocks = blocks_of(axes, random)
    cuts = cuts_of(axes, blocks, random)
    rest = (a.upper() if a in blocks else a for a, _, modulus in cuts if not modulus)
    tag = "".join((*rest, *(f"{modulus}{a}" for a, _, modulus in cuts if modulus)))
    return Text("onednn", tag, axes, cuts, blocks)


KINDS = {
    "in_out_channel": ("nhwc", (("n", 1, 0), ("h", 1, 0), ("c", 4, 0), ("w", 1, 0), ("c", 1, 4))),
    "in_out_height": ("nhwc", (("n", 1, 0), ("h", 4, 0), ("c", 1, 0), ("w", 1, 0), ("h", 1, 4))),
    "conv2d_filter": ("oihw", (("o", 4, 0), ("h", 1, 0), ("w", 1, 0), ("i", 1, 0), ("o", 1, 4))),
}
TYPES = {
    "R4CroutonLayout": "b h/8 w/8 d/32 h%8 w%8 d%32",
    "R4NCHWMemoryLayout": "b d w h",
    "R4Depth32MemoryLayout": "b h d/32 w/4 w%4 d%32",
}


def mace(random: Random) -> Text:
    kind = random.choice(sorted(KINDS))
    axes, cuts = KINDS[kind]
    return Text("mace", kind, tuple(axes), cuts, {axis: 4 for axis, _, m in cuts if m})


def htp(random: Random) -> Text:
    name = random.choice(sorted(TYPES))
    words = TYPES[name].split()
    blocks = {word[0]: int(word[2:]) for word in words if "%" in word}
    cuts = tuple(
        (w[0], 1, int(w[2:])) if "%" in w else (w[0], blocks.get(w[0], 1), 0) for w in words
    )
    return Text("htp", name, tuple("bhwd"), cuts, blocks)


MAKERS = (tvm_tag, tvm_map, mlir_map, einops, onednn, mace, htp)


def named(text: Text, random: Random) -> Names:
    """The axes of the text in another order."""
    return tuple(random.sample(text.axes, len(text.axes)))


def renamed(text: Text, random: Random) -> Names:
    """Names that the text has not, or at most those that stand where the text has them."""
    kept = random.choice((0.0, 0.5))
    return tuple(a if random.random() < kept and n else f"q{n}" for n, a in enumerate(text.axes))


def crossed(text: Text, random: Random) -> Names:
    """Names of the text, at least one of which stands where the text has another, and a new one.

    In einops an axis that is cut has no name of its own, so another one is called anew.
    """
    for _ in range(50):
        names = list(named(text, random))
        gone = random.randrange(len(names))
        whole = text.notation != "einops" or names[gone] not in text.blocks
        names[gone] = "q"
        pairs = zip(names, text.axes, strict=True)
        if whole and any(a != b and a in text.axes for a, b in pairs):
            return tuple(names)
    return ()


def shape_of(text: Text, random: Random) -> dict[str, int]:
    """Extents by the names of the text; they are divisible where the notation asks for that."""
    found = {}
    for axis in text.axes:
        block = text.blocks.get(axis, 1)
        found[axis] = block * random.randint(1, 3) if text.divisible else random.randint(1, 9)
    return found


def agrees(layout: Layout, text: Text, called: dict[str, str], random: Random) -> None:
    """Compare offsets; ``called`` says what the text calls each axis of the layout."""
    fixed = {a.name: a.extent.value for a in layout.axes if hasattr(a.extent, "value")}
    for _ in range(3):
        shape = shape_of(text, random)
        shape |= {called[name]: value for name, value in fixed.items()}
        mine = tuple(shape[called[axis.name]] for axis in layout.axes)
        slots = prod(m if m else -(-shape[a] // d) for a, d, m in text.cuts)
        assert layout.size(mine) == slots, (text, layout)
        for _ in range(8):
            index = {axis: random.randrange(extent) for axis, extent in shape.items()}
            given = tuple(index[called[axis.name]] for axis in layout.axes)
            assert layout.offset(given, mine) == text.offset(index, shape), (text, layout)


def declared(names: Names, fixed: dict[str, int]) -> str:
    return ", ".join(f"{name}: {fixed[name]}" if name in fixed else name for name in names)


def cases(seed: int, count: int) -> Iterator[tuple[Text, Random]]:
    random = Random(seed)
    for number in range(count):
        yield MAKERS[number % len(MAKERS)](random), random


def matched_cases(seed: int, count: int) -> int:
    """Draw texts and declarations, and compare; returns how many."""
    for done, (text, random) in enumerate(cases(seed, count)):
        names = (named if done % 3 else renamed)(text, random)
        by_name = set(names) == set(text.axes)
        called = {name: name if by_name else text.axes[k] for k, name in enumerate(names)}
        extents = shape_of(text, random)
        fixed = {name: extents[called[name]] for name in names if random.random() < 0.2}
        quoted = f'{text.notation} "{text.written}"'
        source = f"layout Demo({declared(names, fixed)}) = {quoted}\nprove Demo == {quoted}\n"
        lower = text.written.islower() or text.notation != "tvm" or "lambda" not in text.written
        if by_name and lower and not fixed:
            source += f"layout Own = {quoted}\nprove Demo == Own\n"
        try:
            found = layoutdsl.parse(source)
        except LayoutError as error:
            raise AssertionError(f"{text}\n{error}") from None
        agrees(found["Demo"], text, called, random)
        report = layoutdsl.prove(found.claims)
        assert report.passed, f"{source}\n{report}"
    return count


@pytest.mark.slow
def test_axes_go_by_name_or_by_place(record_property: Callable[[str, object], None]) -> None:
    record_property("compared", matched_cases(1, 210))


@pytest.mark.campaign
def test_many_axes_go_by_name_or_by_place() -> None:
    assert matched_cases(2, 20_000) == 20_000


@pytest.mark.slow
def test_crossed_names_are_refused_and_both_ways_out_are_right() -> None:
    for text, random in cases(3, 105):
        names = crossed(text, random)
        if not names:
            continue
        quoted = f'{text.notation} "{text.written}"'
        with pytest.raises(LayoutError) as raised:
            layoutdsl.parse(f"layout Demo({', '.join(names)}) = {quoted}")
        (found,) = raised.value.diagnostics
        assert (found.code, found.primary.span.text) == ("L408", text.written), (text, names)
        assert found.help is not None
        by_name, in_order = (
            tuple(word.split(")")[0].split(", ")) for word in found.help.split("(")[1:]
        )
        assert set(by_name) == set(text.axes)
        for way, called in (
            (by_name, {name: name for name in by_name}),
            (in_order, dict(zip(in_order, text.axes, strict=True))),
        ):
            layout = layoutdsl.parse(f"layout Demo({', '.join(way)}) = {quoted}")["Demo"]
            agrees(layout, text, called, random)
        body = ", ".join(names)
        with pytest.raises(LayoutError, match="L408"):
            layoutdsl.parse(f"layout Demo({body}) = [{body}]\nprove Demo == {quoted}")


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("<a, b>", {"a": 3, "b": 5}),
        ("<b, a>", {"b": 5, "a": 3}),
        ("<p, q>", {"p": 5, "q": 3}),
        ("<b, q>", {"b": 5, "q": 3}),
        ("", {"b": 5, "a": 3}),
    ],
)
def test_symbols_of_a_map_are_parameters(text: str, parameters: dict[str, int]) -> None:
    """In the text `b` cuts the first axis; a declaration says in which order numbers are given."""
    written = "affine_map<(d0, d1)[b, a] -> (d0 floordiv b, d1 floordiv a, d0 mod b, d1 mod a)>"
    source = f'layout Cut{text}(y, x) = mlir "{written}"\n'
    given = ", ".join(map(str, parameters.values()))
    module = layoutdsl.parse(f"{source}layout Fixed = Cut<{given}>\nprove Cut<{given}>")
    assert module["Cut"].parameters == tuple(parameters)
    for y, x in ((4, 7), (9, 1), (5, 3)):
        wanted = ((y // 5 * 4 + x // 3) * 5 + y % 5) * 3 + x % 3
        assert module["Cut"].offset((y, x), (10, 11, *parameters.values())) == wanted
        assert module["Fixed"].offset((y, x), (10, 11)) == wanted
        assert module.claims[0].layout.offset((y, x), (10, 11)) == wanted


@pytest.mark.parametrize(
    ("axes", "text", "shape"),
    [
        ("n, c, h, w", 'einops "n h w c -> n c h w, h=3, c=5"', ("N", 5, 3, "W")),
        ("w, c, n", 'einops "n (co ci) w -> co w n ci, co=2, ci=4, n=7"', ("W", 8, 7)),
        ("j, i", 'numpy "shape=(4, 9)"', (4, 9)),
        ("b, a", 'mlir "memref<4x?xf32>"', (4, "A")),
        ("y, x", 'cute "(4,9):(9,1)"', (4, 9)),
    ],
)
def test_extents_of_a_text_go_with_their_axes(
    axes: str, text: str, shape: tuple[int | str, ...]
) -> None:
    layout = layoutdsl.parse(f"layout Demo({axes}) = {text}")["Demo"]
    assert ", ".join(axis.name for axis in layout.axes) == axes
    found = (getattr(axis.extent, "value", None) or axis.extent.name for axis in layout.axes)
    assert tuple(found) == shape


def test_names_of_their_own_axes() -> None:
    """A single name comes before what pieces begin with, wherever it stands."""
    found = layoutdsl.from_notation("einops", "(kh kw) c k -> k c (kh kw), kh=2, kw=3")
    assert [axis.name for axis in found.axes] == ["d0", "c", "k"]
