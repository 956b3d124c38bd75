"""`layoutdsl.tune`: what serves afterwards is right, and what cannot be tuned is refused."""

from __future__ import annotations

import numpy as np
import pytest
from native_cases import needs_compiler

import layoutdsl

pytestmark = [needs_compiler, pytest.mark.usefixtures("place")]


@pytest.mark.slow
def test_a_tuned_module_moves_as_before() -> None:
    layout = layoutdsl.parse("layout Tuned(n, c, w) = [n, c/4, w, c%4]")["Tuned"]
    module, shape = layoutdsl.compile(layout, "native"), (2, 6, 100)
    tensor = np.arange(1200, dtype="u4").reshape(shape)
    want = layoutdsl.compile(layout, "numpy").pack(tensor)
    assert np.array_equal(module.pack(tensor), want)
    found = layoutdsl.tune(module, shape, "u4")
    assert [each.verb for each in found] == ["pack", "unpack"]
    for each in found:
        assert each.tried > 1
        assert 0 < each.after <= each.before
        assert (each.rank > 0) == (each.after < each.before)
    assert np.array_equal(module.pack(tensor), want)
    assert np.array_equal(module.unpack(want, shape), tensor)


@pytest.mark.slow
def test_what_there_is_one_way_of() -> None:
    numpy = layoutdsl.compile(layoutdsl.library("NCHW16c"), "numpy")
    with pytest.raises(ValueError, match="there is one way that these are moved"):
        layoutdsl.tune(numpy, (2, 20, 3, 4))
    record = layoutdsl.compile(layoutdsl.library_record("Q4_0"))
    with pytest.raises(ValueError, match="of records and numpy there are not"):
        layoutdsl.tune(record, (1, 256))  # type: ignore[arg-type]
    moves = layoutdsl.compile(layoutdsl.library("NCHW16c"), "native")
    with pytest.raises(ValueError, match="there is one way: numpy serves such tensors"):
        layoutdsl.tune(moves, (2, 20, 3, 4), "c16")
    with pytest.raises(ValueError, match="the shape has 3 extents, and 4 are needed"):
        layoutdsl.tune(moves, (2, 20, 3))
