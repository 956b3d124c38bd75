"""Generated modules of views: of every layout of the library, and of what arguments they take."""

from __future__ import annotations

import builtins
import re
from functools import cache
from random import Random
from types import ModuleType

import numpy as np
import pytest
from emitted_fuzz.modules import executed
from views_modules import check, shapes_of

import layoutdsl
from layoutdsl import Layout, generate, library
from layoutdsl.code.allowed import RESERVED
from layoutdsl.code.arrays import generate_views
from layoutdsl.code.validate.arrays import validate
from layoutdsl.code.validate.outcome import Validated

MOST_LINES = 156


def applied(name: str) -> Layout:
    """A layout of the library, each parameter 8, or 2 if 8 does not fit."""
    found = library(name)
    for value in (8, 2):
        try:
            return found(**dict.fromkeys(found.parameters, value))
        except (ValueError, layoutdsl.LayoutError):
            continue
    pytest.skip("neither 8 nor 2 is a value of its parameters")


NAMES = layoutdsl.library_names()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", NAMES)
def test_every_layout_of_the_library(name: str) -> None:
    layout = applied(name)
    text = generate(layout).text
    assert text.partition("\n_Array = ")[0].count("\n") <= MOST_LINES
    random = Random(name)
    check(layout, text, list(shapes_of(layout, random, 4)))


@cache
def module(text: str) -> ModuleType:
    layouts = layoutdsl.parse(text).layouts
    return generate(next(iter(layouts.values()))).load()


BLOCKED = "layout B(n, c) = [n, c/4, c%4]"


def test_nchw16c_is_one_page() -> None:
    text = generate(library("NCHW16c")).text
    assert text.count("\n") <= 110
    assert "lru_cache" not in text
    assert "perf_counter" not in text


def test_lists_are_tensors() -> None:
    packed = module(BLOCKED).pack([[1, 2, 3, 4, 5]], fill=9)
    assert packed.tolist() == [[[1, 2, 3, 4], [5, 9, 9, 9]]]
    assert module(BLOCKED).unpack(packed.tolist(), [1, 5]).tolist() == [[1, 2, 3, 4, 5]]


@pytest.mark.parametrize("shape", [(2,), (2, 3, 4), (-1, 3)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"the extents are \(N, C\), each at least 1"):
        module(BLOCKED).physical_shape(shape)


def test_an_extent_is_an_integer() -> None:
    with pytest.raises(TypeError):
        module(BLOCKED).physical_shape((2, 3.0))


def test_shapes_outside_the_range_are_refused() -> None:
    exact = module("layout E(c) = [c/4, c%4] where C%4 == 0")
    assert exact.physical_shape((8,)) == (2, 4)
    with pytest.raises(ValueError, match="defined where C%4 == 0, not at"):
        exact.pack(np.zeros(6))


@pytest.mark.parametrize("index", [(0, 5), (-1, 0), (0,), (0, 0, 0)])
def test_other_indices_are_refused(index: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"no index|unpack"):
        module(BLOCKED).offset(index, (2, 5))


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        *(("u1", 300), ("u1", -1), ("u1", 0.5), ("i2", np.nan), ("f2", 70000.5), ("f2", 2049)),
        *(("f4", 10**30), ("f8", 10**30), ("c8", 2**24 + 1)),
    ],
)
def test_a_fill_that_the_type_cannot_hold_is_refused(dtype: str, fill: float) -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        module(BLOCKED).pack(np.ones((1, 5), dtype), fill=fill)


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8"])
@pytest.mark.parametrize("fill", [0.1, np.inf, -np.inf, np.nan, -0.0])
def test_a_fill_is_rounded_to_the_type(fill: float, dtype: str) -> None:
    packed = module(BLOCKED).pack(np.ones((1, 5), dtype), fill=fill)
    assert packed[0, 1, 1:].tobytes() == np.full(3, fill, dtype).tobytes()


def test_void_items_are_filled_with_zero_bytes() -> None:
    packed = module(BLOCKED).pack(np.frombuffer(b"abcdefghij", "V2").reshape(1, 5))
    assert packed.tobytes() == b"abcdefghij" + bytes(6)


def test_values_of_narrow_elements_are_looked_at() -> None:
    four = module("layout F(n, c) = [n, c/4, c%4] of u4 fill any")
    packed = four.pack(np.full((1, 5), 15, "u1"))
    with pytest.raises(ValueError, match="16 is outside 0 to 15, the range of the elements"):
        four.pack(np.full((1, 5), 16, "u1"))
    with pytest.raises(ValueError, match="16 is outside 0 to 15"):
        four.pack(np.full((1, 5), 15, "u1"), fill=16)
    packed[0, 1, 3] = 99
    assert (four.unpack(packed, (1, 5)) == 15).all()
    packed[0, 1, 0] = 99
    with pytest.raises(ValueError, match="99 is outside 0 to 15"):
        four.unpack(packed, (1, 5))


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1"])
def test_items_of_another_type_are_refused(dtype: str) -> None:
    half = module("layout H(n, c) = [n, c/4, c%4] of f16")
    with pytest.raises(TypeError, match="elements of f16 are items of float16, not of"):
        half.pack(np.ones((1, 5), dtype))


def test_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="no fixed number of bytes"):
        module(BLOCKED).pack(np.ones((1, 5), object))


def test_an_out_that_does_not_fit_is_refused() -> None:
    tensor, blocked = np.ones((2, 5), "f4"), module(BLOCKED)
    box = blocked.physical_shape(tensor.shape)
    for out in ([0], np.ones(3, "f4"), np.ones(box, "f8"), np.ones((2, 2, 8), "f4")[..., ::2]):
        with pytest.raises(ValueError, match="`out` has to be"):
            blocked.pack(tensor, out)
    sealed = np.ones(box, "f4")
    sealed.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        blocked.pack(tensor, sealed)
    memory = np.ones(16, "f4")
    with pytest.raises(ValueError, match="apart from"):
        blocked.pack(memory[:10].reshape(2, 5), memory.reshape(box))


def test_a_buffer_of_another_shape_is_refused() -> None:
    packed = module(BLOCKED).pack(np.ones((2, 5)))
    with pytest.raises(ValueError, match=r"has shape \(4, 4\), and \(2, 2, 4\) is needed"):
        module(BLOCKED).unpack(packed.reshape(4, 4), (2, 5))


def test_threads_are_no_argument() -> None:
    with pytest.raises(TypeError, match="threads"):
        module(BLOCKED).pack(np.ones((2, 5)), threads=2)


@pytest.mark.parametrize("shape", [(0, 5), (2, 0)])
def test_a_tensor_without_elements_is_refused(shape: tuple[int, ...]) -> None:
    """The proofs are of extents of at least 1."""
    with pytest.raises(ValueError, match="each at least 1"):
        module(BLOCKED).pack(np.empty(shape, "i4"))


@pytest.mark.slow
def test_names_of_anything_else_may_be_those_of_axes() -> None:
    """Of Python, of numpy, of modules, and of the functions and variables in the text itself."""
    spoken = set(re.findall(r"\w+", "".join(generate(library(n)).text for n in SPOKEN)))
    others = sorted((spoken | set(dir(builtins))) - RESERVED)
    names = [*RESERVED, *Random(3).sample(others, 60)]
    names = [each for each in names if re.match("[a-z]", each)]
    for kind in ("[{0}/4, {0}%4]", "[{0} ^ {0}/4 & 24]"):
        for name in names:
            try:
                layout = layoutdsl.parse(f"layout A({name}) = {kind.format(name)}")["A"]
            except layoutdsl.LayoutError:
                continue  # a word of the language
            made = generate_views(layout, source="", certificate=None)
            assert isinstance(validate(made.text, layout, source=""), Validated), name
            packed = executed(made.text).pack(np.arange(32, dtype="i4"))
            assert sorted(packed.reshape(-1)) == list(range(32)), name


SPOKEN = ("R4Crouton2x2Layout", "LapackPackedUpper", "GmmaKSw128", "MarlinWeights")
