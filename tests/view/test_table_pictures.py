"""Pictures of tables, right and damaged: a cell says what `Table.decode` says, none is missing."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest
from cli_shell import Shell, shell
from picture_pages import Page, index_of, read
from proving import shapes
from random_tables import written
from texts import module

import layoutdsl
from layoutdsl import Table

__all__ = ["shell"]


def slots_of(table: Table, shape: dict[str, int]) -> dict[int, tuple[int, ...] | None]:
    """What each slot holds, by its number."""
    return {k: table.decode(each, shape) for k, each in enumerate(table.every_slot(shape))}


def is_told(table: Table, shape: dict[str, int], page: Page) -> None:
    held = slots_of(table, shape)
    (_, axes, _) = page.data["fields"][0]
    assert [name for name, _ in axes] == [axis.name for axis in table.axes]
    assert [cell.numbers for cell in page.buffer] == [[slot] for slot in held]
    for cell, (slot, index) in zip(page.buffer, held.items(), strict=True):
        several = index is not None and [*held.values()].count(index) > 1
        assert cell.kinds & {"p", "s"} == ({"p"} if index is None else {"s"} if several else set())
        assert [index_of(key, axes) for key in cell.keys] == [index] * (index is not None), slot
    elements = {index_of(cell.keys[0], axes): cell.numbers for cell in page.tensor}
    assert len(elements) == len(page.tensor)
    extents = [extent for _, extent in axes]
    assert elements == {
        index: [slot for slot, found in held.items() if found == index]
        for index in product(*map(range, extents))
    }


@pytest.mark.slow
@pytest.mark.sampled(12)
@pytest.mark.parametrize("first", range(0, 120, 10))
def test_cells_say_what_the_meaning_says(first: int) -> None:
    seen = 0
    for seed in range(first, first + 10):
        table = module(written(seed)).tables["T"]
        fitting = [each for each in shapes(table.frame, 10, 10) if 0 < table.size(each) <= 200]
        for shape in Random(seed).sample(fitting, min(3, len(fitting))):
            is_told(table, shape, read(layoutdsl.show(table, shape).html()))
            seen += 1
    assert seen > 10


LOST = module("table T(c)[i: C] = (c = i/2*2)").tables["T"]


def test_what_is_held_twice_and_what_is_lost_is_told() -> None:
    page = read(layoutdsl.show(LOST, {"C": 4}).html())
    assert "4 slots, 4 elements, 0 of padding, 2 in no slot" in page.text
    assert [cell.label for cell in page.tensor] == ["0 +1", "none", "2 +1", "none"]
    assert "Red slots hold an element that another slot holds as well." in page.text
    assert "An element that no slot holds shows none." in page.text


def test_padding_says_why() -> None:
    table = module("table T(c)[i: C/4 + 1, k: 4] = (c = i*4 + k)").tables["T"]
    page = read(layoutdsl.show(table, {"C": 3}).html())
    assert page.data["reasons"] == ["c = i*4 + k = 3 is outside 0..2"]


def test_what_is_too_large_is_folded() -> None:
    table = module("table T(h, w)[j: H, i: W] = (h = j, w = W - 1 - i)").tables["T"]
    shape = {"H": 900, "W": 700}
    page = read(layoutdsl.show(table, shape).html())
    assert 100 < len(page.buffer) <= 512
    assert page.tensor == []
    assert "of 630000 slots are shown, and of the tensor nothing." in page.text
    (_, axes, _) = page.data["fields"][0]
    for cell in page.buffer:
        slot = divmod(cell.numbers[0], 700)
        assert index_of(cell.keys[0], axes) == table.decode(slot, shape)


def test_the_shell_draws_them(shell: Shell) -> None:
    line = ("show", "MaceHeightMajorTable", "--shape", "2,3,2,2", "--as")
    for form in ("html", "svg"):
        assert shell(*line, form, "-o", f"a.{form}").out == f"wrote a.{form}\n"
    assert "w=0" in Path("a.svg").read_text(encoding="utf-8")
    done = shell(*line, "html", "--colour", "n")
    assert (done.code, "its colours are those of its runs" in done.err) == (2, True)
    done = shell(*line[:-1])
    assert done.code == 2
    assert done.err.endswith("add --as html -o OUT.html, or --as svg\n")
