"""`pack` and `unpack` of a layout, as functions and as methods."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import layoutdsl

TENSOR = np.arange(480, dtype="f4").reshape(2, 20, 3, 4)
SHAPE = TENSOR.shape
OPEN = layoutdsl.parse("layout Sparse(i, j: 2) = [(i*i + j)%100003, j]")["Sparse"]
WRONG = layoutdsl.parse("layout Lost(n, c) = [n, c%4]")["Lost"]
CODES = layoutdsl.parse("layout Codes(n, c) = [n, c/4, c%4] of u8 as scale_offset")["Codes"]


@pytest.mark.parametrize("name", ["NCHW16c", "NHWC", "NCHWc<8>"])
def test_there_and_back(name: str) -> None:
    layout = layoutdsl.library(name)
    expected = layoutdsl.compile(layout).pack(TENSOR)
    for packed in (layoutdsl.pack(name, TENSOR), layoutdsl.pack(layout, TENSOR)):
        assert np.array_equal(packed, expected)
    assert np.array_equal(layout.pack(TENSOR), expected)
    for back in (
        layoutdsl.unpack(name, expected, SHAPE),
        layout.unpack(expected, SHAPE),
        layout.unpack(expected.reshape(-1), list(SHAPE)),
    ):
        assert np.array_equal(back, TENSOR)


def test_into_an_array_that_is_there() -> None:
    layout = layoutdsl.library("NCHW16c")
    buffer, tensor = np.empty(layout.physical_shape(SHAPE), "f4"), np.empty(SHAPE, "f4")
    assert layout.pack(TENSOR, buffer, fill=7) is buffer
    assert buffer[0, 1, 0, 0, 15] == 7
    assert layout.unpack(buffer, SHAPE, tensor) is tensor
    assert np.array_equal(tensor, TENSOR)


def test_codes_take_a_scale() -> None:
    numbers = np.array([[0.0, 0.5, 1.0]], "f4")
    packed = CODES.pack(numbers, scale=0.5, zero_point=3)
    assert packed.ravel().tolist() == [3, 4, 5, 3]
    back = layoutdsl.unpack(CODES, packed, (1, 3), scale=0.5, zero_point=3, dtype="f8")
    assert (back.dtype, back.tolist()) == (np.dtype("f8"), numbers.tolist())


@pytest.mark.slow
def test_only_proved_layouts_move_data() -> None:
    tensor = np.zeros((3, 2))
    with pytest.raises(layoutdsl.UnprovedError, match="`Sparse` is undecided"):
        OPEN.pack(tensor)
    packed = OPEN.pack(tensor, unproved=True)
    assert OPEN.unpack(packed, (3, 2), unproved=True).shape == (3, 2)
    with pytest.raises(layoutdsl.RefusedError, match="`Sparse` is wrong at this shape"):
        layoutdsl.pack(OPEN, np.zeros((60000, 2)), unproved=True)
    with pytest.raises(layoutdsl.RefusedError, match="`Lost` is refuted"):
        WRONG.pack(np.zeros((2, 8)))


WRONG_CALLS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: layoutdsl.pack([1], TENSOR), TypeError, "`layout` is a list, and has to be a layout"),  # type: ignore[arg-type]
    (lambda: layoutdsl.pack("NHWC", [1]), TypeError, "`src` is a list, not a numpy array"),  # type: ignore[arg-type]
    (
        lambda: layoutdsl.pack("NHWC", TENSOR, scale=0.5),
        ValueError,
        "the elements of `NHWC` stand for themselves, and have no scale",
    ),
    (
        lambda: layoutdsl.unpack("NHWC", TENSOR, SHAPE, dtype="f4"),
        ValueError,
        "`dtype` is for codes, and the elements of `NHWC` are none",
    ),
]


@pytest.mark.parametrize(("call", "error", "said"), WRONG_CALLS)
def test_wrong_arguments(call: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_methods_take_what_functions_take(verb: str) -> None:
    own = list(inspect.signature(getattr(layoutdsl.Layout, verb)).parameters.values())[1:]
    function = list(inspect.signature(getattr(layoutdsl, verb)).parameters.values())[1:]
    assert own == function


@pytest.mark.slow
def test_a_process_that_only_unpickled_a_layout_packs() -> None:
    """Workers of dask or Ray import no more than what the pickle names."""
    program = (
        "import pickle, sys, numpy as np\n"
        "pack = pickle.loads(sys.stdin.buffer.read())\n"
        "print(pack(np.ones((2, 20, 3, 4))).shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(layoutdsl.library("NCHW16c").pack),
        capture_output=True,
        check=True,
    )
    assert done.stdout.split(b"\n")[0].rstrip() == b"(2, 2, 3, 4, 16)"
