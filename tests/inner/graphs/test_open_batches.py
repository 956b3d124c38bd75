"""Arithmetic on an open batch holds at every batch, and not only at those that are tried.

Few models ask such questions, and running them at some batches shows nothing of the others, so the
arithmetic is tested by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_models import written

from layoutdsl import propagate
from layoutdsl.graphs.emitting import opening
from layoutdsl.graphs.emitting.following import FixedBatchError, generalised, inferred
from layoutdsl.graphs.emitting.lines import Line, Number, UndecidedError, value_at
from layoutdsl.graphs.emitting.physical import Times


def test_what_is_right_for_the_planned_batch_alone_is_noticed_when_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned(extents: tuple[int | Times, ...]) -> tuple[int, ...]:
        return tuple(each if isinstance(each, int) else 2 * each.factor for each in extents)

    for package in ("onnx", "onnxruntime", "scipy"):
        pytest.importorskip(package)
    monkeypatch.setattr(opening, "inferred", planned)
    found = propagate(written(tmp_path, batch="n"), "blocked16")
    assert found.batch is not None
    assert str(getattr(found.batch, "reason", "")).startswith("it cannot be run at every batch: ")
    assert found.status == "done"


EXTENTS = (
    ([(2, 6, 7), (5, 15, 7)], (2, 5), (Times(1), Times(3), 7)),
    ([(3, 4), (6, 4)], (2, 5), None),
    ([(4, 4), (25, 4)], (2, 5), None),
    ([(2, 3), (5, 3, 1)], (2, 5), None),
    ([(1,), (3,)], (2, 5), None),
)


@pytest.mark.parametrize(("found", "batches", "expected"), EXTENTS)
def test_what_follows_the_batch(found: Any, batches: tuple[int, int], expected: Any) -> None:
    assert generalised(found, batches) == expected


def test_a_reshape_finds_one_extent() -> None:
    assert inferred((Times(3), 4)) == (-1, 4)
    for extents in ((Times(1), Times(2)), (Times(1), -1), (Times(1), 0)):
        with pytest.raises(FixedBatchError):
            inferred(extents)


ASKED = (
    (lambda a: a + 3, lambda n: n + 3),
    (lambda a: 3 - a, lambda n: 3 - n),
    (lambda a: -a * 2, lambda n: -n * 2),
    (lambda a: a - a, lambda n: n - n),
)


@pytest.mark.parametrize("slope", [-2, 1, 3])
@pytest.mark.parametrize("rest", [-7, -3, -1, 0, 2])
def test_lines_answer_as_their_numbers_do_at_every_batch(slope: int, rest: int) -> None:
    one, batches = Line(slope, rest), range(1, 40)
    for of_line, of_number in ASKED:
        made: Number = of_line(one)
        assert all(value_at(made, n) == of_number(one.at(n)) for n in batches)
    for other in range(-12, 13):
        for question in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
            answers = {getattr(one.at(n), question)(other) for n in batches}
            if len(answers) > 1:
                with pytest.raises(UndecidedError):
                    getattr(one, question)(other)
            else:
                assert {getattr(one, question)(other)} == answers
