"""MACE's image kinds: the kernels' maps transcribed, the library, and refusals."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import LIBRARY

import layoutdsl
from layoutdsl import LayoutError


def up(extent: int) -> int:
    return (extent + 3) // 4


# Kind, the width and height of the image, and the element of a lane, from the document; the rows
# and columns of the kernels where its table is wrong. An element outside the tensor is padding.
KERNELS = {
    "in_out_channel": (
        lambda s: (up(s.c) * s.w, s.n * s.h),
        lambda p, s: (p.y // s.h, p.y % s.h, p.x % s.w, p.x // s.w * 4 + p.k),
    ),
    "in_out_height": (
        lambda s: (s.w * s.c, s.n * up(s.h)),
        lambda p, s: (p.y // up(s.h), p.y % up(s.h) * 4 + p.k, p.x % s.w, p.x // s.w),
    ),
    "in_out_width": (
        lambda s: (up(s.w) * s.c, s.n * s.h),
        lambda p, s: (p.y // s.h, p.y % s.h, p.x % up(s.w) * 4 + p.k, p.x // up(s.w)),
    ),
    "conv2d_filter": (
        lambda s: (s.i, up(s.o) * s.h * s.w),
        lambda p, s: (
            p.y // (s.h * s.w) * 4 + p.k,
            p.x,
            p.y % (s.h * s.w) // s.w,
            p.y % (s.h * s.w) % s.w,
        ),
    ),
    "dw_conv2d_filter": (
        lambda s: (s.h * s.w * s.m, up(s.i)),
        lambda p, s: (0, p.y * 4 + p.k, p.x // s.w, p.x % s.w),
    ),
    "argument": (lambda s: (up(s.w), 1), lambda p, _: (p.x * 4 + p.k,)),
}
SHAPES = {1: [(1,), (4,), (6,)], 4: [(1, 2, 3, 5), (1, 5, 3, 2), (1, 4, 6, 3), (1, 6, 5, 7)]}
# Kinds that have a name, and no published map.
UNDOCUMENTED = ("winograd_filter", "weight_height", "weight_width")
RAGGED = {
    "in_out_height": (2, 7, 5, 6),
    "in_out_width": (1, 4, 4, 4),
    "conv2d_filter": (6, 2, 3, 2),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_kinds_put_elements_where_the_kernels_do(kind):
    layout = layoutdsl.from_notation("mace", kind)
    size, element = KERNELS[kind]
    shapes = [*SHAPES[layout.rank], *([RAGGED[kind]] if kind in RAGGED else [])]
    for shape in shapes:
        axes = [axis.name for axis in layout.axes]
        extents = SimpleNamespace(**dict(zip(axes, shape, strict=True)))
        width, height = size(extents)
        assert layout.physical_shape(shape) == (height, width, 4)
        inside = set(product(*map(range, shape)))
        for y, x, k in product(range(height), range(width), range(4)):
            index = element(SimpleNamespace(x=x, y=y, k=k), extents)
            if index in inside:
                assert layout.place(index, shape) == (y, x, k)
                inside.remove(index)
        assert not inside


@pytest.mark.parametrize("kind", KERNELS)
def test_what_was_read_prints_back(kind):
    for written in (kind, kind.upper()):
        layout = layoutdsl.from_notation("mace", written)
        assert layoutdsl.to_notation(layout, "mace") == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MaceChannelMajor", "in_out_channel"),
        ("MaceHeightMajor", "in_out_height"),
        ("MaceWidthMajor", "in_out_width"),
        ("MaceConvolutionFilter", "conv2d_filter"),
        ("MaceDepthwiseFilter", "dw_conv2d_filter"),
        ("MaceArgument", "argument"),
    ],
)
def test_the_library_is_recognised_and_recognises(name, kind):
    assert layoutdsl.to_notation(LIBRARY[name], "mace") == kind
    assert layoutdsl.from_notation("mace", kind).coordinates == LIBRARY[name].coordinates


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("(batch, y, x, k) = [(batch, y), (k/4, x), k%4]", "in_out_channel"),
        ("(m: 1, i, h, w) = [i/4, (h, w), i%4]", "dw_conv2d_filter"),
        ("(n, h, w, c) = [(n, h/4), (c, w), h%8%4]", "in_out_height"),
        ('(m: 1, i, h, w) = mace "dw_conv2d_filter"', "dw_conv2d_filter"),
        ('(m: K, i, h, w) = mace "dw_conv2d_filter"', "dw_conv2d_filter"),
    ],
)
def test_other_names_and_spellings_are_recognised(text, kind):
    layout = layoutdsl.parse(f"layout Demo{text}")["Demo"]
    assert layoutdsl.to_notation(layout, "mace") == kind


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(n, h, w, c) = [(n, h), (w, c/4), c%4]", "none of the documented images"),
        ("(n, h, w, c) = [n, h, (c/4, w), c%4]", "none of the documented images"),
        ("(m, i, h, w) = [i/4, (m, h, w), i%4]", "defined only where M == 1"),
        ("(w) = [0, w/4, w%4] where W <= 9", "defined only where W <= 9"),
        ("(w) = [0, w/4, w%4] fill 3", "padding holds 3"),
        ("(w) = [0, w/4, w%4] offset 4", "starts at the offset"),
    ],
)
def test_what_is_no_kind_is_said(text, reason):
    layout = layoutdsl.parse(f"layout Demo{text}")["Demo"]
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layout, "mace")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("in_out_chanel", "L401"),
        ("", "L401"),
        ("k" * 101, "L103"),
        *((kind, "L407") for kind in UNDOCUMENTED),
    ],
)
def test_faults_have_a_code(text, code):
    with pytest.raises(LayoutError) as raised:
        layoutdsl.from_notation("mace", text)
    assert [each.code for each in raised.value.diagnostics] == [code]


def test_only_one_multiplier_is_supported():
    with pytest.raises(LayoutError, match="has one element, not 2"):
        layoutdsl.parse('layout Demo(m: 2, i, h, w) = mace "dw_conv2d_filter"')
    layout = layoutdsl.from_notation("mace", "dw_conv2d_filter")
    with pytest.raises(ValueError, match="defined where M == 1"):
        layout.size((2, 3, 3, 3))


def test_kinds_are_proved_where_the_page_is_refuted():
    module = layoutdsl.parse(
        'prove MaceHeightMajor == mace "in_out_height"\n'
        'layout Read(n, h, w, c) = mace "in_out_height"\n'
        "prove Read == MaceHeightMajor\nprove Read keeps h%4 contiguous\n"
        "refute Read == [(h/4, n), (c, w), h%4]"
    )
    assert layoutdsl.prove(module).status == "proved"


@pytest.mark.slow
@given(st.text(max_size=20) | st.sampled_from([*KERNELS, *UNDOCUMENTED]))
def test_any_text_is_read_or_refused(text):
    codes = set()
    try:
        assert layoutdsl.from_notation("mace", text).rank in (1, 4)
    except LayoutError as error:
        codes = {each.code for each in error.diagnostics}
    assert codes <= {"L401", "L407"}
