"""CuTe's layouts against CuTe: pycute, and the Python DSL, which needs no GPU to print layouts.

`pytest -m campaign -k cute -s` with `pip install nvidia-cutlass nvidia-cutlass-dsl`. What programs
printed once is in `facts/cute_layouts.txt`, and read in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest
from cute_layouts import Drawn, draw
from thread_values import holders, steps, tv_text

import layoutdsl
from layoutdsl import Layout, LayoutError

COUNT = 1500


def drawn_layouts() -> Iterator[tuple[Drawn, dict[tuple[int, ...], int]]]:
    for seed in range(1000, 1000 + COUNT):
        drawn = draw(Random(seed))
        yield drawn, drawn.offsets()


def read(written: str) -> Layout:
    return layoutdsl.from_notation("cute", written)


def assert_read(written: str, drawn: Drawn, offsets: dict[tuple[int, ...], int]) -> int:
    """Ours puts every element where the package does, or names two at one offset."""
    if len(set(offsets.values())) < len(offsets):
        with pytest.raises(LayoutError, match="share offset"):
            read(written)
        return 0
    layout = read(written)
    for index, offset in offsets.items():
        assert layout.offset(index, drawn.extents) == offset, (written, index)
    return 1


@pytest.mark.campaign
def test_pycute_means_and_prints_cute_alike() -> None:
    pycute = pytest.importorskip("pycute")

    def made(drawn: Drawn) -> Any:
        found = pycute.Layout(drawn.shape, drawn.strides)
        offset = 0
        for function in reversed(drawn.before):
            match function:
                case int(number):
                    offset = number
                    continue
                case ("S", bits, base, shift):
                    outer = pycute.Swizzle(bits, base, shift)
                case (shape, strides):
                    outer = pycute.Layout(shape, strides)
            found, offset = pycute.ComposedLayout(outer, offset, found), 0
        return found

    compared = 0
    for drawn, offsets in drawn_layouts():
        theirs = made(drawn)
        assert {index: theirs(*index) for index in offsets} == offsets
        compared += assert_read(str(theirs), drawn, offsets)
    print(f"pycute: {compared} layouts, and {COUNT - compared} with two elements at one offset")
    assert compared > COUNT / 2


@pytest.fixture(scope="module")
def cute() -> Any:
    pytest.importorskip("cutlass.cute")
    from cutlass import cute

    return cute


def run(cute: Any, function: Any) -> None:
    """Run a function where the DSL can make layouts; what fails in it is raised again."""
    raised: list[BaseException] = []

    def guarded(n: Any) -> None:
        try:
            function(n)
        except BaseException as reason:
            raised.append(reason)

    import cutlass

    guarded.__annotations__["n"] = cutlass.Int32
    cute.jit(guarded)(12)
    if raised:
        raise raised[0]


@pytest.mark.campaign
def test_the_cute_dsl_means_and_prints_cute_alike(cute: Any) -> None:
    counts = {"compared": 0, "texts": 0}

    def compare(_: Any) -> None:
        for drawn, offsets in drawn_layouts():
            theirs = cute.make_layout(drawn.shape, stride=drawn.strides)
            match drawn.before:
                case ():
                    pass
                case (("S", bits, base, shift), int(offset)):
                    swizzle = cute.make_swizzle(bits, base, shift)
                    theirs = cute.make_composed_layout(swizzle, offset, theirs)
                case ((shape, strides), int(offset)):
                    outer = cute.make_layout(shape, stride=strides)
                    theirs = cute.make_composed_layout(outer, offset, theirs)
                case _:
                    continue
            # `str` cuts off the end of a swizzle that moves bits upwards.
            written = str(theirs.type).split('"')[1]
            found = {index: cute.crd2idx(index, theirs) for index in offsets}
            assert found == offsets, written
            counts["compared"] += assert_read(written, drawn, offsets)
            if len(set(offsets.values())) == len(offsets):
                assert layoutdsl.to_notation(read(written), "cute") == written
                counts["texts"] += 1

    run(cute, compare)
    print(f"the DSL: {counts}")
    assert counts["compared"] > COUNT / 3


@pytest.mark.campaign
def test_unknown_numbers_as_the_cute_dsl_prints_them(cute: Any) -> None:
    import cutlass

    printed: list[tuple[str, str]] = []

    def collect(n: Any) -> None:
        by = cute.assume(n, divby=8)
        wide = cute.assume(cutlass.Int64(n), divby=16)
        made = cute.make_layout
        printed.extend(
            (str(layout), code)
            for layout, code in [
                (made((n, 8)), "read"),
                (made((n, 8), stride=(8, 1)), "read"),
                (made((8, n), stride=(by, 1)), "read"),
                (made((by, 8)), "read"),
                (made((8, 4), stride=(wide, 1)), "read"),
                (made((cutlass.Int64(n), 8)), "read"),
                (made((n, n, 2)), "L407"),
                (cute.tiled_divide(made((n, 8)), (4, 4)), "L407"),
                (cute.make_identity_layout((4, 3)), "L409"),
                (made(()), "read"),
                (made(((3, 2),)), "read"),
                (made(5), "read"),
            ]
        )

    run(cute, collect)
    for written, code in printed:
        print(code, written)
        if code == "read":
            assert layoutdsl.to_notation(read(written), "cute") == written
        else:
            with pytest.raises(LayoutError) as raised:
                read(written)
            assert raised.value.diagnostics[0].code == code


@pytest.mark.campaign
def test_a_pointers_swizzle_counts_bytes_as_the_cute_dsl_recasts_it(cute: Any) -> None:
    pairs: list[tuple[str, str]] = []

    def collect(_: Any) -> None:
        for bits in (4, 8, 16, 32, 64):
            for swizzle in ((3, 4, 3), (2, 4, 3), (1, 4, 3), (2, 5, 2)):
                layout = cute.make_layout((8, 64), stride=(64, 1))
                bytes_ = cute.make_composed_layout(cute.make_swizzle(*swizzle), 0, layout)
                name = "S<{},{},{}>".format(*swizzle)
                pointer = f"tensor<ptr<i{bits}, smem, align<16>, {name}> o (8,64):(64,1)>"
                recast = cute.recast_layout(bits, 8, bytes_)
                elements = f"{str(recast).partition(' o ')[0]} o 0 o (8,64):(64,1)"
                pairs.append((pointer, elements))

    run(cute, collect)
    for pointer, elements in pairs:
        assert read(pointer).coordinates == read(elements).coordinates, (pointer, elements)


@pytest.mark.campaign
def test_pycute_numbers_the_elements_of_threads_alike() -> None:
    """A layout of threads and values is pycute's, whose offset is the number of an element."""
    pycute = pytest.importorskip("pycute")
    copies = 0
    for seed in range(400):
        tile, modes = steps(Random(seed))
        shape, strides = (tuple(tuple(s[k] for s in mode) for mode in modes) for k in (0, 1))
        theirs = pycute.Layout(shape, strides)
        layout = layoutdsl.from_notation("cute_tv", tv_text(tile, modes))
        counts = [prod(each) for each in shape]
        numbers = [
            theirs(thread, value) for thread in range(counts[0]) for value in range(counts[1])
        ]
        index = np.unravel_index(numbers, tile, order="F")
        assert np.array_equal(holders(layout), np.ravel_multi_index(index, tile)), (shape, strides)
        copies += bool(layout.copies)
    print(f"pycute: 400 layouts of threads and values, {copies} of them with copies")
    assert copies > 100
