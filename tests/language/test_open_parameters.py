"""A layout with open parameters is reported if no number for them would make it right."""

import pytest

import layoutdsl


def test_a_fault_that_no_number_mends_is_reported() -> None:
    text = "layout L<p>(d, n) = [n & 3, n/p, (d - d/32*32)*7]"
    with pytest.raises(layoutdsl.LayoutError) as wrong:
        layoutdsl.parse(text)
    assert wrong.value.diagnostics[0].code == "L206"


def test_a_fault_that_a_number_mends_waits_for_it() -> None:
    text = "layout L<p>(c) = [c/p, c%p ^ c/p%p] layout M = L<4>"
    assert layoutdsl.parse(text)["M"].rank == 1
