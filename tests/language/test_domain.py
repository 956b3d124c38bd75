"""Layouts that hold only part of a shape: what the language says, and what it means."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from cli_shell import Shell, shell
from proving import shapes
from texts import DOMAINS, layout, message, module

from layoutdsl import Layout

__all__ = ["shell"]

LOWER, UPPER = DOMAINS["Lower"], DOMAINS["Upper"]


def lapack_upper(i: int, j: int) -> int:
    """LAPACK Users' Guide, "Packed Storage", with indices from 1: UPLO = 'U'."""
    return i + j * (j - 1) // 2


def lapack_lower(i: int, j: int, n: int) -> int:
    """The same, UPLO = 'L'."""
    return i + (2 * n - j) * (j - 1) // 2


@pytest.mark.parametrize("n", range(1, 9))
def test_packed_triangles_are_lapack_s(n: int) -> None:
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            index, shape = (i - 1, j - 1), (n, n)
            if i <= j:
                assert UPPER.offset(index, shape) == lapack_upper(i, j) - 1
            if j <= i:
                columns = DOMAINS["LowerColumns"]
                assert columns.offset(index, shape) == lapack_lower(i, j, n) - 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("Lower", np.tril_indices),
        ("LowerNatural", np.tril_indices),
        ("UpperRows", np.triu_indices),
        ("Strict", lambda n: np.tril_indices(n, -1)),
        ("StrictUpper", lambda n: np.triu_indices(n, 1)),
        ("Trapezoid", lambda n: np.tril_indices(n, 2, n + 2)),
        ("Upper", lambda n: np.tril_indices(n)[::-1]),
        ("LowerColumns", lambda n: np.triu_indices(n)[::-1]),
        ("Diagonal", np.diag_indices),
    ],
)
def test_slots_are_in_the_order_of_numpy(name: str, order) -> None:  # type: ignore[no-untyped-def]
    for n in range(1, 8):
        shape = (n, n + 2) if name == "Trapezoid" else (n, n)
        rows, columns = order(n)
        slots = [DOMAINS[name].decode(slot, shape) for slot in range(DOMAINS[name].size(shape))]
        assert slots == list(zip(rows.tolist(), columns.tolist(), strict=True))


def box(layout: Layout, values: dict[str, int]) -> Iterator[tuple[int, ...]]:
    yield from np.ndindex(*layout.shape_of(values))


def in_domain(layout: Layout, index: tuple[int, ...], values: dict[str, int]) -> bool:
    try:
        layout.offset(index, values)
    except ValueError:
        return False
    return True


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", DOMAINS)
def test_slots_are_read_back_by_trying_every_index(name: str) -> None:
    layout = DOMAINS[name]
    for values in shapes(layout, 4, 40):
        held = [index for index in box(layout, values) if in_domain(layout, index, values)]
        slots = [layout.offset(index, values) for index in held]
        assert layout.elements(values) == len(held) == len(set(slots))
        assert layout.first(values) == (held[0] if held else None)
        start = layout.size(values) - int(np.prod(layout.box(values)))
        for slot in range(layout.size(values)):
            here = [index for index, at in zip(held, slots, strict=True) if at == slot]
            assert list(layout.holders(slot, values)) == here
            assert layout.decode(slot, values) == (here[0] if here else None)
            assert layout.is_padding(slot, values) == (slot >= start and not here)


@pytest.mark.slow
def test_elements_of_a_large_triangle_are_counted_without_trying_each() -> None:
    n = 4000
    assert LOWER.elements((n, n)) == n * (n + 1) // 2
    assert LOWER.decode(7_999_999, (n, n)) == (3999, 1999)


@pytest.mark.parametrize("ask", ["offset", "place", "chunk"])
def test_an_index_outside_the_domain_is_refused(ask: str) -> None:
    words = "index i=0 j=1 has no slot: layout `Lower` holds elements where j <= i"
    with pytest.raises(ValueError, match="has no slot") as refused:
        getattr(LOWER, ask)((0, 1), (3, 3))
    assert str(refused.value) == words
    with pytest.raises(ValueError, match=r"index j=3 is outside 0\.\.2"):
        getattr(LOWER, ask)((0, 3), (3, 3))


@pytest.mark.parametrize("name", DOMAINS)
def test_the_declaration_means_the_same_again(name: str) -> None:
    again = layout(str(DOMAINS[name]))
    assert again.domain == DOMAINS[name].domain
    assert again.where == DOMAINS[name].where
    for values in shapes(again, 3, 60):
        for index in box(again, values):
            if in_domain(again, index, values):
                assert again.offset(index, values) == DOMAINS[name].offset(index, values)


def test_shapes_and_indices_are_told_apart_in_one_clause(shell: Shell) -> None:
    text = "layout L(i: N, j: M) = [i, j] where M == N + 2, 0 <= j - i <= 2, N in 1..9"
    found = layout(text)
    assert [str(each) for each in found.where] == ["M == N + 2", "N >= 1", "N <= 9"]
    assert [str(each) for each in found.domain] == ["0 <= j - i", "j - i <= 2"]
    (told,) = json.loads(shell("check", "-", "--json", stdin=text.encode()).out)["layouts"]
    assert told["domain"] == ["0 <= j - i", "j - i <= 2"]


def test_an_alias_adds_to_the_domain() -> None:
    found = module(
        "layout Full<k>(i: N, j: N) = [i, j] where j <= i + k\n"
        "layout Band = Full<2> where i <= j + 1\n"
    )["Band"]
    assert [str(each) for each in found.domain] == ["j <= i + 2", "i <= j + 1"]


def test_names_of_another_layout_are_put_into_its_domain() -> None:
    found = module(
        "layout A(i: N, j: N) = [i, j] where j <= i\n"
        "layout B(r: K, c: K) = [r, c] where c <= r\n"
        "prove A == B"
    ).claims[0]
    assert [str(each) for each in found.predicate.other.domain] == ["j <= i"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("layout L(i, j) = [i, j] where j <= k", "L201"),
        ("layout L(i, j) = [i, j] where j/i <= 1", "L204"),
        ("layout L(i, j) = [i, j] where j/(J - 1) <= 1", "L205"),
        ("layout L(i, j) = [i, j] where j <= i where i <= j", "L203"),
        ("layout L(i, j) = [i, j] where j <= i\nprove L where j <= 3", "L204"),
        ("layout L(i, j) = [i, j] where j <= i\nprove L aligns j to 4 bytes of f32", "L302"),
    ],
)
def test_what_a_domain_cannot_be_is_said(text: str, code: str) -> None:
    assert message(text).startswith(f"error[{code}]")


def test_the_grid_names_the_domain(shell: Shell) -> None:
    assert shell("show", "-", "--shape", "3,3", stdin=str(UPPER).encode()).out.splitlines() == [
        "`Upper` at shape N=3: 6 slots, 6 elements",
        "",
        "offset |   0   1   2   3   4   5",
        "     0 | 0,0 0,1 1,1 0,2 1,2 2,2",
        "",
        "cells: i, j",
        "columns: i + j*(j + 1)/2 : (N*N + N)/2",
        "elements where i <= j",
    ]


@pytest.mark.parametrize(
    ("name", "slot", "words"),
    [("Square", 3, "`j <= i` does not hold"), ("Sparse", 19, "no index where j <= i lies here")],
)
def test_padding_is_explained_by_the_domain(name: str, slot: int, words: str, shell: Shell) -> None:
    text = str(DOMAINS[name]).encode()
    told = shell("at", "-", "--shape", "4,4", str(slot), "--json", stdin=text)
    held = json.loads(told.out)
    assert held["holds"] == "padding"
    assert held["reasons"] == [words]
