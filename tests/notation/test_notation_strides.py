"""CuTe's layouts and numpy's strides: offsets against other packages, printing, and faults."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from texts import HERE, refusal

import layoutdsl
from layoutdsl import Layout, LayoutError

FACTS = [
    each
    for each in json.loads((HERE / "facts/notation_values.json").read_text())
    if each["notation"].startswith("cute")
]
SAME = {
    "cute": [
        "(4,8):(1,4)",
        "(2,(2,2)):(4,(2,1))",
        "((4,8),(2,2)):((32,1),(16,8))",
        "(4,8):(1,5)",
        "(3,4):(5,3)",
        "8:1",
        "S<3,4,3> o 0 o (8,64):(64,1)",
        "S<1,0,-2> o 4 o 8:1",
    ],
    "numpy": [
        "shape=(2, 3)",
        "shape=(2, 3), strides=(12, 4), dtype=float32",
        "shape=(4, 3), strides=(32, 4), dtype=float32",
        "shape=(5,), strides=(1,), dtype=int8",
        "shape=(), strides=(), dtype=int8",
    ],
}
MOST_ELEMENTS = 600
REFUSED = [
    ("cute", "((4,8),(2,4)):((32,1),(16,8))", "L406", 1),  # 8*2 is the stride of 2
    ("cute", "(4,8):(0,1)", "L406", 1),
    ("cute", "(3,4):(1,2)", "L406", 1),
    ("cute", "(4,8):(1,-4)", "L405", 10),
    ("cute", "(0,8):(1,4)", "L405", 2),
    ("cute", "(4,8):(1)", "L405", 1),
    ("cute", "((4,8),2):((1,4,2),2)", "L405", 1),
    ("cute", "S<3,4,1> o 0 o 8:1", "L405", 7),
    ("cute", "((4,8):1", "L401", 1),
    ("numpy", "shape=(2,3), strides=(4,4), dtype=float32", "L406", 14),
    ("numpy", "shape=(2,3), strides=(-12,4), dtype=float32", "L405", 23),
    ("numpy", "shape=(2,3), strides=(5,4), dtype=float32", "L405", 14),
    ("numpy", "shape=(2,3), strides=(12,4)", "L405", 14),
    ("numpy", "shape=(2,3), strides=(12,), dtype=float32", "L405", 14),
    ("numpy", "shape=(2,0)", "L405", 10),
    ("numpy", "shape=(2,3), dtype=float33", "L404", 14),
    ("numpy", "shape=(2,3), shape=(2,3)", "L404", 14),
    ("numpy", "strides=(4,)", "L401", 1),
]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact['spec']} {fact['flat_index']}")
def test_worked_values(fact):
    swizzle = fact["notation"] == "cute-swizzle"
    text = f"{fact['spec']} o 0 o 512:1" if swizzle else fact["spec"]
    layout = layoutdsl.from_notation("cute", text)
    shape, flat, index = layout.shape_of({}), fact["flat_index"], []
    for extent in shape:
        index.append(flat % extent)
        flat //= extent
    assert layout.offset(index, shape) == fact["offset"]


@pytest.mark.parametrize(
    ("notation", "text"), [(name, text) for name, texts in SAME.items() for text in texts]
)
def test_what_was_read_prints_back(notation, text):
    layout = layoutdsl.from_notation(notation, text)
    assert layoutdsl.to_notation(layout, notation) == text


@pytest.mark.parametrize(("notation", "text", "code", "column"), REFUSED)
def test_faults_point_into_the_text(notation, text, code, column):
    assert refusal(layoutdsl.from_notation, notation, text) == (code, column)


def test_the_colliding_pair_is_named():
    with pytest.raises(LayoutError, match=r"\(m=0, n=4\) and \(m=0, n=1\) share offset 16"):
        layoutdsl.from_notation("cute", "((4,8),(2,4)):((32,1),(16,8))")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("NCHW16c", "which is no number"), ("XlaPaddedExample", "defined only where")],
)
def test_what_cute_cannot_say_is_said(name, reason):
    with pytest.raises(ValueError, match=reason):
        layoutdsl.to_notation(layoutdsl.library(name), "cute")


def test_a_ragged_block_cannot_be_said():
    layout = layoutdsl.parse("layout L(c: 20) = [c/16, c%16]")["L"]
    with pytest.raises(ValueError, match="does not divide 20"):
        layoutdsl.to_notation(layout, "cute")


def _form(random: Random, depth: int) -> object:
    if depth == 0 or random.random() < 0.5:
        return random.choice([1, 2, 3, 4])
    return tuple(_form(random, depth - 1) for _ in range(random.randint(1, 3)))


def _strides(random: Random, form: object, steps: list[int]) -> object:
    if isinstance(form, tuple):
        return tuple(_strides(random, each, steps) for each in form)
    return steps.pop()


def _leaves(form: object) -> list[int]:
    return [n for each in form for n in _leaves(each)] if isinstance(form, tuple) else [form]


def _text(form: object) -> str:
    return f"({','.join(map(_text, form))})" if isinstance(form, tuple) else str(form)


@pytest.mark.slow
def test_offsets_are_those_of_another_package(record_property):
    """Meta's `tensor-layouts` gives the offset of every index; collisions are refused by both."""
    package = pytest.importorskip("tensor_layouts")
    random, compared, refused = Random(1), 0, 0
    while compared < 50:
        shape = tuple(_form(random, 2) for _ in range(random.randint(1, 3)))
        steps = [random.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]) for _ in _leaves(shape)]
        strides = _strides(random, shape, steps)
        if prod(_leaves(shape)) > MOST_ELEMENTS:
            continue
        text = f"{_text(shape)}:{_text(strides)}"
        theirs = package.Layout(shape, strides)
        sizes = [prod(_leaves(each)) for each in shape]
        offsets = [theirs(*index) for index in product(*map(range, sizes))]
        if len(set(offsets)) < len(offsets):
            with pytest.raises(LayoutError, match="share offset"):
                layoutdsl.from_notation("cute", text)
            refused += 1
            continue
        ours = layoutdsl.from_notation("cute", text)
        assert [ours.offset(index, sizes) for index in product(*map(range, sizes))] == offsets
        again = layoutdsl.from_notation("cute", layoutdsl.to_notation(ours, "cute"))
        assert [again.offset(index, sizes) for index in product(*map(range, sizes))] == offsets
        compared += 1
    record_property("compared", compared)
    assert refused > 5


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(some.data())
def test_arrays_lie_as_their_strides_say(data):
    """Writing an element's number through a view, and looking for it in the buffer."""
    shape = data.draw(some.lists(some.integers(1, 5), min_size=1, max_size=4))
    whole = np.arange(prod(shape), dtype=data.draw(some.sampled_from(["u1", "i4", "f8"])))
    array = whole.reshape(shape).transpose(data.draw(some.permutations(range(len(shape)))))
    cuts = [data.draw(some.integers(1, 3)) for _ in array.shape]
    view = array[tuple(slice(None, None, cut) for cut in cuts)]
    layout = Layout.of(view)
    first = int(view.ravel()[0])
    for index in product(*map(range, view.shape)):
        assert whole[first + layout.offset(index, view.shape)] == view[index]


def test_arrays_that_are_refused():
    array = np.zeros((4, 6), "f4")
    sliding = np.lib.stride_tricks.sliding_window_view(array, 3, axis=1)
    for wrong, reason in [
        (array[::-1], "stride 0 is -6"),
        (np.broadcast_to(array[0], (4, 6)), r"\(0, 0\) and \(1, 0\) share slot 0"),
        (sliding, "share slot 1"),
        (array.view("u1").reshape(4, 24)[:, :20].view("V5"), "no multiple of an element"),
    ]:
        with pytest.raises(ValueError, match=reason):
            Layout.of(wrong)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(some.text("()_:,-0123456789S<> ow?{}=@ptr[b]tensmaiv", max_size=30))
def test_no_text_breaks_cute(text):
    with suppress(LayoutError):
        assert layoutdsl.from_notation("cute", text).coordinates


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(some.text("()=,-0123456789 shapetridyfloan", max_size=40))
def test_no_text_breaks_numpy(text):
    with suppress(LayoutError):
        assert layoutdsl.from_notation("numpy", text).coordinates
