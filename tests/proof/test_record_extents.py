"""A record whose extents are beyond the terms of proofs is undecided."""

import pytest

import layoutdsl

MAXIMUM = """
record R(t, w) = {
  a(t, w) = [((t + w)%T)*W + w : max(T*W, 8)] of u1
  z(w) = [w] of f16 offset ((max(T*W, 8))*1 + 15)/16
}
"""


@pytest.mark.slow
def test_a_maximum_in_an_extent_is_undecided() -> None:
    report = layoutdsl.prove(layoutdsl.parse(MAXIMUM).records["R"])
    assert report.status in ("undecided", "refuted")
