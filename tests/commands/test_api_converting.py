"""`convert` in Python: which axes are which, what it carries, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import layoutdsl

SPECS = layoutdsl.parse("""
layout Blocks(n, c, h, w) = [n, c/16, h, w, c%16]
layout Last(n, c, h, w) = [n, h, w, c]
layout Turned(n, h, w, c) = [n, h, w, c]
layout Other(b, y, x, d) = [b, y, x, d]
layout Crossed(b, h, w, d) = [b, h, w, d]
layout Three(n, c: 3, h, w) = [n, h, w, c]
layout Twelve(n, c, h, w) = [n, c/12, h, w, c%12]
layout Narrow(n, c, h, w) = [n, h, w, c] where C <= 20
layout Manual(n, c, h, w) = [n, c/16 : ceil(C/16), h, w, c%16 : 16] fill 3
""")
SHAPE = (2, 20, 3, 4)
TENSOR = np.arange(480, dtype="f4").reshape(SHAPE)
BUFFER = layoutdsl.compile(SPECS["Blocks"], "numpy").pack(TENSOR)
LAST = TENSOR.transpose(0, 2, 3, 1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("Last", None),
        ("Turned", None),
        ("Other", "n=b, c=d, h=y, w=x"),
        ("Other", ("b", "d", "y", "x")),
        ("Other", {"c": "d", "h": "y", "w": "x"}),
    ],
)
def test_axes(name: str, axes: object) -> None:
    for compiled in ("auto", "numpy"):
        conversion = layoutdsl.convert(SPECS["Blocks"], SPECS[name], axes, compiled=compiled)  # type: ignore[arg-type]
        assert np.array_equal(conversion(BUFFER, SHAPE), LAST)


def test_by_their_order_where_names_differ() -> None:
    conversion = layoutdsl.convert(SPECS["Blocks"], SPECS["Other"])
    assert np.array_equal(conversion(BUFFER, SHAPE), TENSOR)


@pytest.mark.slow
def test_a_name_that_is_another_axis_there_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"`h` is axis 3 of `Blocks`, and 2 of `Crossed`: .*'b, h, w, d'"
    ):
        layoutdsl.convert(SPECS["Blocks"], SPECS["Crossed"])
    conversion = layoutdsl.convert(SPECS["Blocks"], SPECS["Crossed"], "b, h, w, d")
    assert np.array_equal(conversion(BUFFER, SHAPE), TENSOR)
    conversion = layoutdsl.convert(SPECS["Blocks"], SPECS["Crossed"], "h=h, w=w, c=d")
    assert np.array_equal(conversion(BUFFER, SHAPE), LAST)


def test_what_it_carries() -> None:
    conversion = layoutdsl.convert(SPECS["Blocks"], SPECS["Last"], compiled="numpy")
    assert (conversion.fallback, conversion.native) == (None, None)
    assert len(conversion.plain.VALIDATED) == 64
    assert conversion.plain.TARGET.startswith("layout Last(n, c, h, w)")
    assert layoutdsl.convert(SPECS["Blocks"], SPECS["Last"], compiled="numpy") is conversion
    loose = layoutdsl.convert(SPECS["Blocks"], SPECS["Last"], compiled="numpy", validate=False)
    assert loose.plain.VALIDATED is False


def test_through_the_tensor() -> None:
    conversion = layoutdsl.convert(SPECS["Blocks"], SPECS["Twelve"])
    assert conversion.fallback == "axis `c`: blocks of 12 and 16 have no common digits"
    want = layoutdsl.compile(SPECS["Twelve"], "numpy").pack(TENSOR, fill=7)
    out = np.zeros_like(want)
    assert conversion(BUFFER, SHAPE, out, 7, threads=2) is out
    assert np.array_equal(out, want)


def test_extents_that_one_layout_has_fixed() -> None:
    conversion = layoutdsl.convert(SPECS["Blocks"], SPECS["Three"])
    small = np.ascontiguousarray(TENSOR[:, :3])
    buffer = layoutdsl.compile(SPECS["Blocks"], "numpy").pack(small)
    assert np.array_equal(conversion(buffer, (2, 3, 3, 4)), small.transpose(0, 2, 3, 1))
    with pytest.raises(ValueError, match="axis `c` of layout `Blocks` has 3 elements"):
        conversion(BUFFER, SHAPE)


def test_only_in_the_range_of_both() -> None:
    conversion = layoutdsl.convert(SPECS["Blocks"], SPECS["Narrow"])
    assert np.array_equal(conversion(BUFFER, SHAPE), LAST)
    with pytest.raises(ValueError, match="defined where C <= 20"):
        conversion(BUFFER, (2, 21, 3, 4))


@pytest.mark.slow
def test_what_it_refuses() -> None:
    blocks = SPECS["Blocks"]
    with pytest.raises(ValueError, match="different ranks: they have 4 and 2 axes"):
        layoutdsl.convert(blocks, layoutdsl.library("XlaTile2x2"))
    with pytest.raises(ValueError, match="3 elements in one, 4 in the other"):
        layoutdsl.convert(
            SPECS["Three"], layoutdsl.parse("layout F(n, c: 4, h, w) = [n, c, h, w]")["F"]
        )
    with pytest.raises(ValueError, match="no target `c`"):
        layoutdsl.convert(blocks, SPECS["Last"], compiled="c")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no axis `q`"):
        layoutdsl.convert(blocks, SPECS["Last"], "n=q")
    with pytest.raises(ValueError, match="parameters without a value"):
        layoutdsl.convert(blocks, layoutdsl.library("NCHWc"))
    wrong = layoutdsl.parse("layout Wrong(n, c, h, w) = [n, c/16, h, w, c%16, 2 : 2]")["Wrong"]
    for both in ((blocks, wrong), (wrong, blocks)):
        with pytest.raises(layoutdsl.RefusedError, match="`Wrong` is refuted"):
            layoutdsl.convert(*both)


# Both are right, and no proof is found that the code between them is. Once one is found, take
# another pair: `tests/fuzz/test_conversions_drawn.py` draws some.
HARD = layoutdsl.parse("""
layout From(w: 4, c) = [(w%6, w/24) : 24, c/2, c%2, w/6%4]
layout To(w: 4, c) = [w, c%6, c/6] fill 31
""")


@pytest.mark.slow
@pytest.mark.parametrize("validate", [True, False])
def test_a_way_that_is_not_proved_is_not_taken(validate: bool) -> None:
    one, other = HARD["From"], HARD["To"]
    conversion = layoutdsl.convert(one, other, compiled="numpy", validate=validate)
    reason = str(getattr(conversion, "fallback", None))
    assert reason.startswith("no straight way is proved: " if validate else "None")
    tensor = np.arange(4 * 13, dtype="u2").reshape(4, 13)
    first, last = (layoutdsl.compile(each, "numpy") for each in (one, other))
    assert np.array_equal(conversion(first.pack(tensor), tensor.shape), last.pack(tensor))
