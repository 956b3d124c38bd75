"""What is printed in another notation is taken by its package, and means the same there.

Layouts are drawn at random. Every text is read back on the axes of its layout, and asked of the
package that owns the notation: TVM, einops, numpy, libdnnl, MLIR's parser; HTP's pairs, affine maps
and strides are worked out here. The oracle is the definition in plain integers.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations, product
from math import prod
from random import Random
from typing import Any

import numpy as np
import onednn_library
import pytest
from cli_shell import Shell, shell
from random_layouts import drawn, shape_in

import layoutdsl
from layoutdsl import Layout, LayoutError

__all__ = ["shell"]

NOTATIONS = ("tvm", "einops", "onednn", "mlir", "numpy", "htp", "mace")
Shape = tuple[int, ...]
Places = dict[tuple[int, ...], int]
"""The offset of each index, as somebody else says it."""


class AbsentError(Exception):
    """The package is not installed, or has nothing to say of this text."""


def places_of(layout: Layout, shape: Shape) -> Places:
    return {index: layout.offset(index, shape) for index in product(*map(range, shape))}


def named_axes(layout: Layout) -> str:
    """The axes as a declaration has them, without what a text fixes."""
    return ", ".join(
        f"{a.name}: {getattr(a.extent, 'value', None) or a.extent.name}"  # type: ignore[union-attr]
        for a in layout.axes
    )


def read_again(layout: Layout, notation: str, text: str) -> Layout:
    """The text as the body of a declaration with the same axes; a, b and on are places."""
    try:
        source = f'layout Again({named_axes(layout)}) = {notation} "{text}"'
        return layoutdsl.parse(source)["Again"]
    except LayoutError as refused:
        if notation != "onednn" or "a to l are the axes in their order" not in str(refused):
            raise
    return layoutdsl.from_notation(notation, text)


# TVM, by `slayout` and `IndexMap`.


def tvm(layout: Layout, text: str, shape: Shape) -> Places:
    if importlib.util.find_spec("tvm") is None:
        raise AbsentError
    if not text.startswith("lambda"):
        package = importlib.import_module("tvm.s_tir")
        letters = "".join(axis.name.upper() for axis in layout.axes)
        found = package.sbijective_layout(letters, text)
        box = tuple(map(int, found.forward_shape(list(shape))))
        assert prod(box) == layout.size(shape), text

        def forward(index: Shape) -> list[int]:
            return list(map(int, found.forward_index(list(index))))
    else:
        package = importlib.import_module("tvm.tirx")
        mapped = package.IndexMap.from_func(eval(text))
        box = layout.box(shape)

        def forward(index: Shape) -> list[int]:
            return list(map(int, mapped.map_indices(list(index)))) if index else [0] * len(box)

    return {index: mixed(forward(index), box) for index in some(shape)}


def some(shape: Shape) -> Iterator[Shape]:
    """A few indices, as each is slow to ask for: the first and last, and those in between."""
    everything = list(product(*map(range, shape)))
    yield from everything[:: max(1, len(everything) // 12)]
    yield everything[-1]


def mixed(place: list[int], box: Shape) -> int:
    assert len(place) == len(box)
    total = 0
    for number, extent in zip(place, box, strict=True):
        assert 0 <= number < extent
        total = total * extent + number
    return total


def einops(layout: Layout, text: str, shape: Shape) -> Places:
    if importlib.util.find_spec("einops") is None:
        raise AbsentError
    package = importlib.import_module("einops")
    pattern, *sizes = text.split(", ")
    given = {name: int(size) for name, size in (each.split("=") for each in sizes)}
    tensor = np.arange(prod(shape)).reshape(shape)
    packed = package.rearrange(tensor, pattern, **given)
    assert packed.size == layout.size(shape)
    return by_contents(packed, shape)


def by_contents(packed: Any, shape: Shape) -> Places:
    slots = np.empty(prod(shape), dtype=int)
    slots[packed.reshape(-1)] = np.arange(prod(shape))
    return dict(zip(product(*map(range, shape)), map(int, slots), strict=True))


def numpy_(layout: Layout, text: str, shape: Shape) -> Places:
    words = eval("dict(" + re.sub(r"dtype=(\w+)", r"dtype=np.\1", text) + ")", {"np": np})
    kind = words.setdefault("dtype", np.dtype("u1"))
    size = np.dtype(kind).itemsize
    assert words["shape"] == shape
    array = np.ndarray(buffer=np.zeros(layout.size(shape), kind), **words)
    return {
        index: sum(i * s for i, s in zip(index, array.strides, strict=True)) // size
        for index in product(*map(range, shape))
    }


def onednn(layout: Layout, text: str, shape: Shape) -> Places:
    found = onednn_library.shared_library()
    if found is None or not shape:
        raise AbsentError
    library = onednn_library.Library(found)
    tensor = np.arange(1, prod(shape) + 1, dtype=np.float32).reshape(shape)
    packed = library.pack(tensor, onednn_library.F32, plain_letters(text))
    assert packed.size == layout.size(shape)
    held = {int(value): slot for slot, value in enumerate(packed.reshape(-1)) if value}
    return {index: held[int(tensor[index])] for index in product(*map(range, shape))}


def plain_letters(tag: str) -> str:
    """The library takes a to l alone; names are those of its list."""
    return ALIASES.get(tag, tag)


ALIASES = onednn_library.aliases()


def mlir(layout: Layout, text: str, shape: Shape) -> Places:
    parsed_by_mlir(text)
    if text.startswith("affine_map"):
        dims, values = re.fullmatch(r"affine_map<\((.*?)\) -> \((.*)\)>", text).groups()  # type: ignore[union-attr]
        body = values.replace("floordiv", "//").replace("mod", "%")
        mapped = eval(f"lambda {dims}: [{body}]")
        return {i: mixed(mapped(*i), layout.box(shape)) for i in product(*map(range, shape))}
    if "strided" in text:
        numbers, start = re.search(r"strided<\[(.*?)\](?:, offset: (\d+))?>", text).groups()  # type: ignore[union-attr]
        strides = [int(word) for word in numbers.split(",") if word]
        return {
            index: int(start or 0) + sum(i * s for i, s in zip(index, strides, strict=True))
            for index in product(*map(range, shape))
        }
    lists = [[int(n) for n in word.split(",") if n] for word in re.findall(r"\[(.*?)\]", text)]
    outer, inner, tiles = lists
    block = dict(zip(inner, tiles, strict=True))
    box = (*(-(-shape[d] // block.get(d, 1)) for d in outer), *tiles)
    return {
        i: mixed(
            [*(i[d] // block.get(d, 1) for d in outer), *(i[d] % block[d] for d in inner)], box
        )
        for i in product(*map(range, shape))
    }


def parsed_by_mlir(text: str) -> None:
    if importlib.util.find_spec("jaxlib") is None or "inner_tiles" in text:
        return
    ir = importlib.import_module("jaxlib.mlir.ir")
    ir.Attribute.parse(text, ir.Context())


def htp(layout: Layout, text: str, shape: Shape) -> Places:
    name, numbers = re.fullmatch(r"(\w+)<\d+(.*)>", text).groups()  # type: ignore[union-attr]
    given = [int(word) for word in numbers.split(",") if word.strip()]
    pairs = list(zip(given[::2], given[1::2], strict=True))
    if name == "FlatMemoryLayout":
        pairs = [(dimension, 0) for dimension in range(len(shape))]
    found = {}
    for index in product(*map(range, shape)):
        left, extents, offset, slots = list(index), list(shape), 0, 1
        for dimension, size in reversed(pairs):
            extent = size or extents[dimension]
            offset += (left[dimension] % extent) * slots
            left[dimension] //= extent
            extents[dimension] = -(-extents[dimension] // extent)
            slots *= extent
        found[index] = offset
    assert slots == layout.size(shape)
    return found


OWNERS: dict[str, Callable[[Layout, str, Shape], Places]] = {
    "tvm": tvm,
    "einops": einops,
    "numpy": numpy_,
    "onednn": onednn,
    "mlir": mlir,
    "htp": htp,
}


def compare(notation: str, layout: Layout, text: str, random: Random) -> bool:
    """Compare a text with its layout at a shape; returns whether its owner had a say."""
    again = read_again(layout, notation, text)
    shape = shape_in(layout, random)
    if shape is None:
        return False
    expected = places_of(layout, shape)
    assert again.size(shape) == layout.size(shape), (notation, text, layout)
    assert places_of(again, shape) == expected, (notation, text, layout)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            owner = OWNERS.get(notation)
            if owner is None:
                return False
            theirs = owner(layout, text, shape)
    except AbsentError:
        return False
    assert theirs == {index: expected[index] for index in theirs}, (notation, text, layout)
    return True


def translated(seed: int, count: int) -> Counter[str]:
    """Draw layouts, write them in every notation, and compare; returns who agreed how often."""
    random, agreed = Random(seed), Counter[str]()
    for _ in range(count):
        layout = drawn(random)
        for notation in NOTATIONS:
            try:
                text = layoutdsl.to_notation(layout, notation)
            except ValueError:
                continue
            agreed[f"{notation} read back"] += 1
            agreed[notation] += compare(notation, layout, text, random)
    return agreed


LEAST = {"tvm": 30, "einops": 30, "onednn": 15, "mlir": 30, "numpy": 10, "htp": 15}
"""How many texts of a hundred layouts are printed, read back and compared, at least."""


@pytest.mark.slow
def test_what_is_printed_is_read_and_taken_by_its_owner(
    record_property: Callable[[str, object], None],
) -> None:
    found = translated(1, 100)
    record_property("agreed", dict(found))
    assert all(found[f"{name} read back"] >= least for name, least in LEAST.items()), found


@pytest.mark.campaign
def test_much_that_is_printed_is_taken_by_its_owner() -> None:
    found = translated(2, 20_000)
    print(found)
    assert all(found[f"{name} read back"] >= 150 * least for name, least in LEAST.items()), found


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "kind",
    [
        *("conv2d_filter", "in_out_channel", "argument"),
        *("in_out_height", "in_out_width", "dw_conv2d_filter"),
    ],
)
def test_kinds_of_images_go_by_name(kind: str) -> None:
    """Whatever the order of the axes, the kind is found, and read again on the same axes."""
    random = Random(3)
    for names in permutations(axis.name for axis in layoutdsl.from_notation("mace", kind).axes):
        layout = layoutdsl.parse(f'layout Drawn({", ".join(names)}) = mace "{kind}"')["Drawn"]
        assert layoutdsl.to_notation(layout, "mace") == kind
        compare("mace", layout, kind, random)
    assert layoutdsl.translate(layout, "mace").proved


# What a layout is printed as, where a plainer text would not be taken.
AWKWARD = [
    # TVM makes no layout of a tag that cuts an axis twice, and keeps blocks in 32 bits.
    (
        "layout L(o, i, h, w) = [o/16, i/16, h, w, i%16/4, o%16, i%4]",
        "tvm",
        "lambda o, i, h, w: [o // 16, i // 16, h, w, i % 16 // 4, o % 16, i % 4]",
    ),
    (
        "layout L(c) = [c/4294967296, c%4294967296]",
        "tvm",
        "lambda c: [c // 4294967296, c % 4294967296]",
    ),
    ("layout L(n, c) = [c%8, n, c/8]", "tvm", "8cNC"),
    ("layout L(n, c) = [n/2, (n%2, c%8), c/8]", "tvm", "N[2n8c]C"),
    # Three blocks in one coordinate have wrong strides there.
    (
        "layout L(o, i, x) = [o/2, i/3, x/4, (o%2, i%3, x%4)]",
        "tvm",
        "lambda o, i, x: [o // 2, i // 3, x // 4, (o % 2 * 3 + i % 3) * 4 + x % 4]",
    ),
    # It takes no numbers for expressions, and has no separator of axes any more.
    ("layout L(n, c) = [0, n, c]", "tvm", "lambda n, c: [n * 0, n, c]"),
    ("layout L(n, c) = [n, 3, c]", "tvm", "lambda n, c: [n, n * 0 + 3, c]"),
    ("layout L(n, c) = [n, c/8; c%8]", "tvm", "NC8c"),
    ("layout L(n, c) = [n; (n + c)%4, c]", "tvm", "lambda n, c: [n, (n + c) % 4, c]"),
    # Words of Python name nothing in it.
    ("layout L(in, is) = [is, in]", "tvm", "lambda in_, is_: [is_, in_]"),
    ("layout L(in, in_) = [in_, in]", "tvm", "lambda in__, in_: [in_, in__]"),
    ("layout L(in, axis) = [axis, in]", "einops", "inx axisx -> axisx inx"),
    ("layout L(x_, x) = [x, x_]", "einops", "xx x -> x xx"),
    (
        "layout L(c, c0) = [c/4, c0, c%4] where C % 4 == 0",
        "einops",
        "(cx1 cx0) c0 -> cx1 c0 cx0, cx0=4",
    ),
    # einops has no piece that is on one side alone.
    ("layout L(n: 1, c: 6) = [c%2, n, c/2]", "einops", "1 (c1 c0) -> c0 1 c1, c1=3, c0=2"),
    ("layout L(c: 6) = [c%2, c/2%3]", "einops", "(c1 c0) -> c0 c1, c1=3, c0=2"),
    # oneDNN has a name for a block of 16 channels, and none for 3.
    ("layout L(n, c, h, w) = [n, c/16, h, w, c%16]", "onednn", "nChw16c"),
    ("layout L(n, c, h, w) = [n, c/3, h, w, c%3]", "onednn", "aBcd3b"),
    ("layout L(b, a) = [b, a]", "onednn", "ab"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("source", "notation", "text"), AWKWARD)
def test_what_is_printed_instead(source: str, notation: str, text: str) -> None:
    layout = layoutdsl.parse(source)["L"]
    found = layoutdsl.translate(layout, notation)
    assert (found.text, found.proved) == (text, True)
    compare(notation, layout, text, Random(5))


@pytest.mark.parametrize(
    ("source", "notation", "reason"),
    [
        ("layout L() = [3]", "tvm", "a number does not stand alone"),
        ("layout L() = [0]", "onednn", "it has no axes"),
        ("layout L() = [0]", "htp", "it has no axes"),
        ("layout L(c: 4) = [c, 3]", "einops", "`3` is padding of its own"),
        ("layout L(c) = [c, c*0 + (1 << 62)]", "tvm", "too large for an index map"),
        ("layout L(x: 2) = [x : 24] fill any", "numpy", "its buffer is larger"),
        ("layout L(x: 2) = [x : 24] fill any", "mlir", "`x` has the declared extent `24`"),
    ],
)
def test_what_is_not_printed(source: str, notation: str, reason: str) -> None:
    layout = layoutdsl.parse(source)["L"]
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layout, notation)


def test_a_separator_that_was_read_is_printed_back(shell: Shell) -> None:
    text = "lambda i, j: [i, IndexMap.AXIS_SEPARATOR, j]"
    layout = layoutdsl.from_notation("tvm", text)
    assert layout.chunk_rank == 1
    assert shell("translate", f"tvm:{text}", "--to", "tvm").out == f"{text}\n"
    assert layoutdsl.to_notation(layout, "tvm") == "IJ"


def test_the_owners_can_refute() -> None:
    """Each of them notices a text of another layout."""
    layout = layoutdsl.parse("layout L(n: 4, c: 6) = [n, c/2, c%2] fill any of f32")["L"]
    turned = {
        "tvm": "C2cN",
        "einops": "n (c1 c0) -> c1 n c0, c0=2, c1=3",
        "onednn": "Ba2b",
        "mlir": "affine_map<(d0, d1) -> (d0, d1 mod 3, d1 floordiv 3)>",
        "numpy": "shape=(4, 6), strides=(4, 16), dtype=float32",
        "htp": "ChunkedMemoryLayout<2, 1,0, 0,0, 1,2>",
    }
    shape = (4, 6)
    for notation, text in turned.items():
        try:
            theirs = OWNERS[notation](layout, text, shape)
        except AbsentError:
            continue
        assert theirs != {index: layout.offset(index, shape) for index in theirs}, notation
