"""C is planned from the digits of a layout; that these are its digits is proved, not believed."""

from __future__ import annotations

import pytest
from texts import layout

import layoutdsl
from layoutdsl.code.emitting import read_back
from layoutdsl.code.loops.moves import move_of
from layoutdsl.code.native.program import moved
from layoutdsl.code.validate.outcome import NotValidated

FLAT = "layout L(n, c, h) = [(n*C + c)*4 + h%4 : N*C*4, h/4]"
WRONG = (
    "layout L(n, c, h) = [c, n, h%4, h/4]",  # two digits exchanged
    "layout L(n, c, h) = [n, c, 3 - h%4, h/4]",  # one counts down
    "layout L(n, c, h) = [n, c, h%4 : 5, h/4]",  # more room than there is
    "layout L(n, c, h) = [n, c, h%4, h/4] offset 1",
)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_digits_of_another_layout_are_refused(
    wrong: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = layout(FLAT)
    right = moved("l", move_of(written, verb), 4)
    assert right.planned != right.move  # type: ignore[union-attr]
    assert not isinstance(read_back(right), NotValidated)  # type: ignore[arg-type]
    monkeypatch.setattr("layoutdsl.code.native.program.by_digits", lambda _: layout(wrong))
    found = read_back(moved("l", move_of(written, verb), 4))  # type: ignore[arg-type]
    assert found == NotValidated("`L` was not proved to be its own digits")


@pytest.mark.slow
def test_c_is_planned_as_it_is_written_where_digits_are_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("layoutdsl.code.native.program.by_digits", lambda _: layout(WRONG[0]))
    plain = layout("layout L(n, c, h) = [n, c, h]")
    program = layoutdsl.generate_c(plain, widths=(4,)).program
    assert all(each.planned == each.move for each in program.moves)
    assert program.seal is not None
