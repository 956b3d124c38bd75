"""Triangles that are packed row by row, as the sums that people write, in any order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random

import pytest
from proving import sound
from texts import layout

LOWER, UPPER = "N*(N + 1)/2", "N*(N - 1)/2"
TRIANGLES = [
    (["+ i*(i + 1)/2", "+ j"], "j <= i", LOWER),
    (["+ i*(i - 1)/2", "+ j"], "j < i", UPPER),
    (["+ i*i", "+ i", "- i*(i + 1)/2", "+ j"], "j <= i", LOWER),
    (["+ i*N", "- i*(i + 1)/2", "+ j"], "i <= j", LOWER),
    (["+ N*i", "- (i*i + i)/2", "+ j"], "i <= j", "(N*N + N)/2"),
    (["+ i*N", "- i*(i - 1)/2", "+ j", "- i"], "j >= i", LOWER),
    (["+ i*N", "- i*(i + 1)/2", "+ j", "- i", "- 1"], "i < j", UPPER),
    # scipy.spatial.distance.pdist, notes: the index of the condensed distance matrix.
    (["+ N*i", "+ j", "- (i + 2)*(i + 1)/2"], "i < j", UPPER),
    # scipy.spatial.distance.squareform, counted from the end.
    (["+ N*(N - 1)/2", "- (N - i)*(N - i - 1)/2", "+ j", "- i", "- 1"], "i < j", UPPER),
    (["+ N*(N + 1)/2", "- (N - i)*(N - i + 1)/2", "+ j", "- i"], "i <= j", LOWER),
]


def spelled() -> Iterator[list[str]]:
    """Each triangle with its sum in every order."""
    for terms, domain, size in TRIANGLES:
        sums = (f"0 {' '.join(order)}".removeprefix("0 + ") for order in permutations(terms))
        yield [f"layout L(i: N, j: N) = [{each} : {size}] where {domain}" for each in sums]


@pytest.mark.sampled(18)
@pytest.mark.parametrize("texts", list(spelled()), ids=[" ".join(terms) for terms, *_ in TRIANGLES])
def test_an_order_of_each_is_proved(texts: list[str]) -> None:
    for text in {texts[0], Random(texts[0]).choice(texts)}:
        assert sound(layout(text)).status == "proved", text


@pytest.mark.campaign
def test_all_orders_are_proved() -> None:
    for texts in spelled():
        for text in texts:
            assert sound(layout(text)).status == "proved", text
